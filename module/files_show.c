// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text files `log`, `stats` and `targets`: everything that can be read without a tool. They
 * read the rings, the tallies and the target lists, and change nothing.
 */
#include <linux/cpumask.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "access.h"
#include "calibrate.h"
#include "compat.h"
#include "files_show.h"
#include "follow.h"
#include "in_flight.h"
#include "mm_counts.h"
#include "mm_fault.h"
#include "mm_thread.h"
#include "retry.h"
#include "ring.h"
#include "session.h"
#include "shadow.h"
#include "tally.h"
#include "target.h"

static const char *const class_names[] = PFSTAT_CLASS_NAMES;
static const char *const op_names[] = PFSTAT_OP_NAMES;
static const char *const kind_names[] = PFSTAT_FAULT_KIND_NAMES;

static_assert(ARRAY_SIZE(class_names) == PFSTAT_NR_CLASSES);
static_assert(ARRAY_SIZE(op_names) == PFSTAT_NR_OPS);

/*
 * log: the records held by the rings when the reading started, merged by the calls' end times.
 * Reading removes nothing from the rings. The rings are held from start to stop in each chunk, not
 * in between.
 */
#define LOG_STRIDE 4096 /* records to skip at once */

struct log_cursor {
	u64 next; /* position of `record` */
	u64 end;  /* head when the reading began */
	bool loaded;
	struct pfstat_record record;
};

struct log_reader {
	u64 records, lost;	     /* when the reading started, records including the lost ones */
	bool frames;		     /* the opener may see page frame numbers */
	struct log_cursor cursors[]; /* one a possible CPU */
};

static void log_cursor_load(struct log_cursor *cursor, unsigned int cpu)
{
	/* Overwritten records are skipped. The head line has their number. */
	while (!cursor->loaded && cursor->next < cursor->end) {
		cursor->loaded = pfstat_ring_copy(cpu, cursor->next, &cursor->record);
		if (cursor->loaded)
			return;
		if (++cursor->next % LOG_STRIDE == 0)
			cond_resched(); /* there may be ten million */
	}
}

static void log_begin(struct log_reader *reader)
{
	struct log_cursor *cursor;
	struct ring_writer *ring;
	int cpu;

	reader->records = 0;
	reader->lost = 0;
	for_each_possible_cpu(cpu) {
		ring = per_cpu_ptr(&pfstat_rings, cpu);
		cursor = &reader->cursors[cpu];
		cursor->end = pfstat_ring_head(ring);
		cursor->next = cursor->end > ring->capacity ? cursor->end - ring->capacity : 0;
		cursor->loaded = false;
		reader->lost += READ_ONCE(ring->lost) + cursor->next;
		reader->records += READ_ONCE(ring->lost) + cursor->end;
	}
}

static struct log_cursor *log_oldest(struct log_reader *reader)
{
	struct log_cursor *cursor, *oldest = NULL;
	u64 ended, oldest_ended = U64_MAX;
	int cpu;

	for_each_possible_cpu(cpu) {
		cursor = &reader->cursors[cpu];
		log_cursor_load(cursor, cpu);
		if (!cursor->loaded)
			continue;
		ended = cursor->record.start_ns + cursor->record.duration_ns;
		if (!oldest || ended < oldest_ended) {
			oldest = cursor;
			oldest_ended = ended;
		}
	}
	return oldest;
}

static void *log_start(struct seq_file *m, loff_t *pos)
{
	struct log_reader *reader = m->private;

	pfstat_ring_hold();
	if (*pos == 0) {
		log_begin(reader);
		return SEQ_START_TOKEN;
	}
	return log_oldest(reader);
}

static void *log_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct log_reader *reader = m->private;
	struct log_cursor *cursor = v;

	++*pos;
	if (v != SEQ_START_TOKEN) {
		cursor->loaded = false;
		cursor->next++;
	}
	return log_oldest(reader);
}

static void log_stop(struct seq_file *m, void *v)
{
	pfstat_ring_release();
}

static void log_show_head(struct seq_file *m, const struct log_reader *reader)
{
	seq_printf(m, "# pfstat log %d: records %llu, here %llu, lost %llu\n", PFSTAT_ABI_VERSION,
		   reader->records, reader->records - reader->lost, reader->lost);
	seq_puts(m, "# start_ns duration_ns pid tid cpu op class address pgoff(page) pfn");
	seq_puts(m, " order(log2_pages) dev inode flags(FAULT_FLAG) result(VM_FAULT)");
	seq_puts(m, " facts(s=slept,p=preempted,S=shared,c=cow,f=folio) earlier_ns\n");
}

static const char *op_name(const struct pfstat_record *record)
{
	if (record->op == PFSTAT_OP_MM_FAULT)
		return "mm_fault";
	return record->op < PFSTAT_NR_OPS ? op_names[record->op] : "?";
}

static const char *class_name(const struct pfstat_record *record)
{
	if (record->op == PFSTAT_OP_MM_FAULT)
		return record->class < PFSTAT_NR_FAULT_KINDS ? kind_names[record->class] : "?";
	return record->class < PFSTAT_NR_CLASSES ? class_names[record->class] : "?";
}

static int log_show(struct seq_file *m, void *v)
{
	const struct log_reader *reader;
	const struct pfstat_record *r;

	if (v == SEQ_START_TOKEN) {
		log_show_head(m, m->private);
		return 0;
	}
	r = &((struct log_cursor *)v)->record;
	reader = m->private;
	seq_printf(m, "%llu %llu %u %u %u %s %s 0x%llx %llu ", r->start_ns, r->duration_ns, r->pid,
		   r->tid, r->cpu, op_name(r), class_name(r), r->address, r->pgoff);
	if (r->pfn == PFSTAT_NO_PFN || !reader->frames)
		seq_puts(m, "-");
	else
		seq_printf(m, "0x%llx", r->pfn);
	seq_printf(m, " %u %u:%u %llu 0x%x 0x%x %c%c%c%c%c %llu\n",
		   r->op == PFSTAT_OP_MM_FAULT ? 0 : r->order, r->dev >> 20, r->dev & 0xfffff,
		   r->inode, r->flags, r->result, r->facts & PFSTAT_FACT_SLEPT ? 's' : '-',
		   r->facts & PFSTAT_FACT_PREEMPTED ? 'p' : '-',
		   r->facts & PFSTAT_FACT_SHARED ? 'S' : '-',
		   r->facts & PFSTAT_FACT_COW ? 'c' : '-', r->facts & PFSTAT_FACT_FOLIO ? 'f' : '-',
		   r->earlier_ns);
	return 0;
}

static const struct seq_operations log_seq = {
	.start = log_start,
	.next = log_next,
	.stop = log_stop,
	.show = log_show,
};

static int log_open(struct inode *inode, struct file *file)
{
	size_t size = struct_size((struct log_reader *)0, cursors, nr_cpu_ids);
	struct log_reader *reader;
	int err = pfstat_access_may_open();

	if (err)
		return err;
	reader = __seq_open_private(file, &log_seq, size);
	if (!reader)
		return -ENOMEM;
	reader->frames = pfstat_access_may_see_frames(file);
	return 0;
}

const struct file_operations pfstat_log_fops = {
	.owner = THIS_MODULE,
	.open = log_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = seq_release_private,
};

static void show_us(struct seq_file *m, u64 ns, unsigned int width)
{
	u32 rest;
	u64 us = div_u64_rem(ns, NSEC_PER_USEC, &rest);

	seq_printf(m, " %*llu.%03u", width - 5, us, rest);
}

static void show_classes(struct seq_file *m, const struct call_tally *tally, u64 calls)
{
	u64 count;
	int class;

	seq_puts(m, "class          count percent      mean_us       max_us       total_us\n");
	for (class = 0; class < PFSTAT_NR_CLASSES; class++) {
		count = pfstat_tally_count(tally, class);
		seq_printf(m, "%-9s %10llu %7llu", class_names[class], count,
			   calls ? div64_u64(count * 100 + calls / 2, calls) : 0);
		if (count) {
			show_us(m, div64_u64(tally->total_ns[class], count), 12);
			show_us(m, tally->max_ns[class], 12);
		} else {
			seq_printf(m, " %12s %12s", "-", "-");
		}
		show_us(m, tally->total_ns[class], 14);
		seq_putc(m, '\n');
	}
}

static void show_histograms(struct seq_file *m, const struct call_tally *tally)
{
	int class, i;

	seq_puts(m, "\nhistogram, calls by duration: below_ns");
	for (class = 0; class < PFSTAT_NR_CLASSES; class++)
		seq_printf(m, " %s", class_names[class]);
	seq_putc(m, '\n');
	for (i = 0; i < TALLY_BUCKETS; i++) {
		u64 any = 0;

		for (class = 0; class < PFSTAT_NR_CLASSES; class++)
			any |= tally->histogram[class][i];
		if (!any)
			continue;
		if (i == TALLY_BUCKETS - 1) /* the last has no upper end */
			seq_printf(m, "%16s", "longer");
		else
			seq_printf(m, "%16llu", 1ULL << i);
		for (class = 0; class < PFSTAT_NR_CLASSES; class++)
			seq_printf(m, " %10llu", tally->histogram[class][i]);
		seq_putc(m, '\n');
	}
}

static void show_cost(struct seq_file *m, const char *name, u64 ps)
{
	if (ps)
		seq_printf(m, "%-13s %llu\n", name, ps);
	else
		seq_printf(m, "%-13s n/a\n", name);
}

/* All module memory. A thread takes none, and a VMA has no separate memory. */
static void show_memory(struct seq_file *m)
{
	seq_printf(m, "module_bytes  %zu\n", compat_module_bytes(THIS_MODULE));
	seq_printf(m, "percpu_bytes  %zu\n",
		   pfstat_tally_bytes() + pfstat_mm_counts_bytes() + sizeof(struct ring_writer) +
			   sizeof(pfstat_in_flight));
	seq_printf(m, "ring_bytes    %zu\n", pfstat_ring_bytes());
	seq_printf(m, "shadow_bytes  %zu\n", pfstat_shadow_bytes());
	seq_printf(m, "target_bytes  %zu\n", pfstat_target_bytes());
	seq_printf(m, "thread_bytes  %zu\n\n", pfstat_mm_thread_bytes());
}

/*
 * Number of call records: for the handle_mm_fault() records, `faults` has the number. Each of these
 * is in the ring before it is counted, so their number is read first. `clear` may come in between.
 */
static u64 calls_stored(void)
{
	const u64 faults = pfstat_mm_counts_stored();
	u64 stored;

	smp_rmb(); /* the count, then the rings */
	stored = pfstat_ring_stored();
	return stored > faults ? stored - faults : 0;
}

static void show_state(struct seq_file *m, u64 calls)
{
	struct session_state state;

	pfstat_session_state(&state);
	seq_printf(m, "recording     %s\n", state.recording ? "yes" : "no");
	seq_printf(m, "calls         %llu\n", calls);
	seq_printf(m, "stored        %llu\n", calls_stored());
	seq_printf(m, "lost          %llu\n", pfstat_ring_lost());
	seq_printf(m, "in_flight     %ld\n", pfstat_in_flight_sum());
	seq_printf(m, "suspended     %u\n", pfstat_mm_thread_suspended());
	seq_printf(m, "links_lost    %llu\n", pfstat_mm_thread_links_lost());
	seq_printf(m, "follow_missed %llu\n", pfstat_follow_missed());
	show_cost(m, "call_cost_ps", pfstat_calibrated().call_ps);
	show_cost(m, "inside_ps", pfstat_calibrated().inside_ps);
	show_memory(m);
}

static int stats_show(struct seq_file *m, void *v)
{
	struct call_tally *tally = kmalloc(sizeof(*tally), GFP_KERNEL);
	u64 calls = 0;
	int i;

	if (!tally)
		return -ENOMEM;
	pfstat_tally_sum(tally);
	for (i = 0; i < PFSTAT_NR_OPS; i++)
		calls += tally->op[i];
	show_state(m, calls);
	for (i = 0; i < PFSTAT_NR_OPS; i++)
		seq_printf(m, "%-13s %llu\n", op_names[i], tally->op[i]);
	seq_printf(m, "retried       %llu\n", tally->retried);
	seq_printf(m, "unnoted       %llu\n\n", pfstat_retry_unknown());
	show_classes(m, tally, calls);
	show_histograms(m, tally);
	kfree(tally);
	return 0;
}

static int stats_open(struct inode *inode, struct file *file)
{
	return pfstat_access_may_open() ?: single_open(file, stats_show, NULL);
}

const struct file_operations pfstat_stats_fops = {
	.owner = THIS_MODULE,
	.open = stats_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

/* The mmap lock is held. The read-ahead state changes without it. */
static void show_readahead(struct seq_file *m, const struct vm_area_struct *vma)
{
	const struct file_ra_state *ra = &vma->vm_file->f_ra;
	const char *advice = "normal";

	if (vma->vm_flags & VM_RAND_READ)
		advice = "random";
	else if (vma->vm_flags & VM_SEQ_READ)
		advice = "sequential";
	/* The counter is shorter in later kernels. */
	seq_printf(m, "advice %s readahead_pages %u mmap_miss %u ", advice, READ_ONCE(ra->ra_pages),
		   (unsigned int)READ_ONCE(ra->mmap_miss));
}

static void show_vma(struct seq_file *m, const struct watched_mm *watched,
		     const struct vm_area_struct *vma)
{
	const struct inode *inode = file_inode(vma->vm_file);

	seq_printf(m, "vma pid %d 0x%lx-0x%lx pgoff %lu dev %u:%u inode %llu ", watched->pid,
		   vma->vm_start, vma->vm_end, vma->vm_pgoff, MAJOR(inode->i_sb->s_dev),
		   MINOR(inode->i_sb->s_dev), (u64)inode->i_ino); /* 7.2: a u64 */
	show_readahead(m, vma);
	seq_file_path(m, vma->vm_file, " \t\n\\");
	seq_putc(m, '\n');
}

static void show_mm(struct watched_mm *watched, void *data)
{
	struct seq_file *m = data;
	struct vm_area_struct *vma;

	seq_printf(m, "mm pid %d%s%s\n", watched->pid, watched->future ? " future" : "",
		   watched->follow ? " follow" : "");
	if (mmap_read_lock_killable(watched->mm))
		return; /* killed */
	VMA_ITERATOR(vmi, watched->mm, 0);
	for_each_vma(vmi, vma) {
		if (xa_is_zero(vma))
			break;
		if (pfstat_shadow_hooked(vma))
			show_vma(m, watched, vma);
	}
	mmap_read_unlock(watched->mm);
}

static int targets_show(struct seq_file *m, void *v)
{
	struct session_state state;

	pfstat_session_state(&state);
	switch (state.user) {
	case SESSION_NOBODY:
		seq_puts(m, "recorder none\n");
		break;
	case SESSION_CONTROL:
		seq_puts(m, "recorder control\n");
		break;
	case SESSION_PROGRAM:
		seq_printf(m, "recorder %d %s\n", state.pid, state.comm);
		break;
	}
	seq_printf(m, "options fault_around %s, mode %s, ring_size %zu\n",
		   state.fault_around ? "keep" : "off", state.overwrite ? "overwrite" : "drop",
		   state.ring_size);
	/* Address spaces from ended sessions. */
	if (pfstat_target_retired())
		seq_printf(m, "unhooking %u\n", pfstat_target_retired());
	pfstat_target_visit_mms(show_mm, m);
	return 0;
}

static int targets_open(struct inode *inode, struct file *file)
{
	return pfstat_access_may_open() ?: single_open(file, targets_show, NULL);
}

const struct file_operations pfstat_targets_fops = {
	.owner = THIS_MODULE,
	.open = targets_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up the verdict's evidence not covered by the figures by class and by group. Input: logical
 * faults in approximate order of their ends, tasks, reclaims, and madvise(2) calls.
 */
#include <errno.h>

#include "analyze/evidence.h"
#include "analyze/pages/page_history.h"
#include "model/counters.h"
#include "util/array.h"

/* Pages of a file with a number of their own in the history of all files. */
#define FILE_PAGES  (1ULL << 36)
#define MAPPED_MAX  64 /* pages that one fault maps, of which all are kept */
#define ANY_PROCESS 0  /* no process that faults has this number */

void evidence_sum_add(struct evidence_sum *sum, const struct explained *fault)
{
	const uint64_t whole_ns = fault->end_ns - fault->start_ns;

	sum->count++;
	sum->total_ns += whole_ns;
	sum->off_cpu_ns += whole_ns - explained_cpu_ns(fault);
}

/*
 * Sleeps whose reason the kernel stacks show, and which are no read. A fault that sleeps may be
 * counted as major for the retry after the sleep.
 */
static uint64_t evidence_named_ns(const struct explained *fault)
{
	return fault->parts_ns[PART_BLOCKED] + fault->parts_ns[PART_HANDLER];
}

static void evidence_add_perf(struct evidence_perf *perf, const struct explained *fault)
{
	const uint64_t named_ns = evidence_named_ns(fault);

	if (!fault->major) {
		evidence_sum_add(&perf->minor, fault);
		perf->minor_named_ns += named_ns + fault->parts_ns[PART_RECLAIM];
	}
	perf->history_known |= fault->perf & PFSTAT_PERF_HISTORY;
	if (fault->perf & PFSTAT_PERF_OFTEN)
		evidence_sum_add(&perf->often, fault);
	if (fault->class == FAULT_ANON && fault->perf & PFSTAT_PERF_REMAPPED)
		evidence_sum_add(&perf->remapped, fault);
	if (fault->major && named_ns > fault->parts_ns[PART_ASLEEP])
		return;
	if (fault->major && !fault->inode && fault->class != FAULT_OTHER)
		evidence_sum_add(&perf->swapped, fault);
	if (fault->major && !fault->inode && fault->class == FAULT_AGAIN)
		evidence_sum_add(&perf->swapped_again, fault);
	if (fault->class != FAULT_FILE)
		return;
	evidence_sum_add(fault->major ? &perf->read : &perf->cached, fault);
	if (fault->major)
		perf->read.off_cpu_ns -= fault->parts_ns[PART_RECLAIM];
	if (fault->major && fault->perf & PFSTAT_PERF_AGAIN)
		evidence_sum_add(&perf->read_again, fault);
	if (!fault->major && fault->perf & PFSTAT_PERF_MAPPED)
		evidence_sum_add(&perf->mapped, fault);
	if (!fault->major && fault->perf & PFSTAT_PERF_WRITABLE)
		evidence_sum_add(&perf->writable, fault);
}

static void evidence_add_cpu_waits(struct evidence_cpu_wait *waits, const struct explained *fault)
{
	unsigned int i;

	for (i = 0; i < NR_CPU_WAITS; i++) {
		waits[i].count += fault->cpu_waits[i];
		waits[i].total_ns += fault->cpu_waits_ns[i];
	}
}

void evidence_exit(struct evidence *evidence)
{
	fault_overlap_exit(&evidence->busy);
	activity_exit(&evidence->activity);
	standstill_exit(&evidence->standstill);
	handlers_exit(&evidence->handlers);
	page_history_free(evidence->file_pages);
	page_history_free(evidence->addresses);
	page_history_free(evidence->faulted);
	hash_exit(&evidence->file_numbers, NULL);
}

void evidence_make_small(struct evidence *evidence)
{
	evidence->small = true;
	evidence->busy.chunks_max = FAULT_OVERLAP_CHUNKS / 8;
}

static uint64_t file_key(uint32_t dev, uint64_t inode)
{
	const uint64_t key[] = { dev, inode };

	return hash_of(key, sizeof(key));
}

/* Numbers the files from 1 on. Returns 0 or -ENOMEM. */
static int file_number(struct evidence *evidence, const struct explained *fault, uint64_t *number)
{
	const uint64_t key = file_key(fault->dev, fault->inode);

	*number = (uintptr_t)hash_find(&evidence->file_numbers, key);
	if (*number)
		return 0;
	*number = ++evidence->nr_files;
	return hash_add(&evidence->file_numbers, key, (void *)(uintptr_t)*number);
}

void evidence_end_file(struct evidence *evidence, uint32_t dev, uint64_t inode)
{
	hash_take(&evidence->file_numbers, file_key(dev, inode));
}

/* The pages that the fault mapped: a folio of this size, or the window of fault-around. */
static void mapped_range(const struct explained *fault, uint64_t *first, uint64_t *pages)
{
	*pages = fault->around_pages ?: 1ULL << fault->order;
	*first = fault->pgoff -
		 (fault->around_before < fault->pgoff ? fault->around_before : fault->pgoff);
	if (!fault->around_pages)
		*first = fault->pgoff & ~(*pages - 1);
}

static int open_histories(struct evidence *evidence)
{
	struct page_history **histories[] = { &evidence->file_pages, &evidence->addresses,
					      &evidence->faulted };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(histories); i++) {
		if (!*histories[i])
			*histories[i] = page_history_new(1);
		if (!*histories[i])
			return -ENOMEM;
	}
	return 0;
}

static int add_mapped_page(struct evidence *evidence, uint32_t pid, uint64_t number, uint64_t pgoff,
			   uint64_t page, struct page_past *in_file, struct page_past *here)
{
	int err = page_history_add(evidence->file_pages, pid, number * FILE_PAGES + pgoff, false,
				   in_file);

	return err ? err : page_history_add(evidence->addresses, pid, page, false, here);
}

/* @before: for a page that was mapped before, in another mapping */
static int evidence_add_mapped(struct evidence *evidence, const struct explained *fault,
			       struct evidence_sum *before)
{
	const uint64_t page = fault->address / evidence->handlers.page_bytes;
	struct page_past in_file, here, exact;
	uint64_t number, first, pages;
	int err;

	if (evidence->small || !fault->inode || fault->pgoff >= FILE_PAGES / 2 ||
	    fault->flags & PFSTAT_FLAG_REMOTE)
		return 0;
	err = open_histories(evidence);
	if (!err)
		err = page_history_add(evidence->faulted, fault->pid, page, false, &exact);
	if (err)
		return err;
	/* The others have it since then. */
	if (exact.before) {
		evidence_sum_add(&evidence->figures.mapped_here, fault);
		return 0;
	}
	err = file_number(evidence, fault, &number);
	if (!err)
		err = add_mapped_page(evidence, fault->pid, number, fault->pgoff, page, &in_file,
				      &here);
	if (err)
		return err;
	if (in_file.before && !here.before)
		evidence_sum_add(before, fault);
	mapped_range(fault, &first, &pages);
	/* Larger folios, and damaged recordings, would take long. The fault's own page is there. */
	if (pages == 1 || pages > MAPPED_MAX)
		return 0;
	for (; pages && !err; pages--, first++)
		err = add_mapped_page(evidence, fault->pid, number, first,
				      page + first - fault->pgoff, &in_file, &here);
	return err;
}

/*
 * Of threads that fault on the same page at once, one makes the page, and the others may have tried
 * to. Returns true if the fault is such a one.
 */
static bool races_for_shared(struct evidence *evidence, const struct explained *fault,
			     uint64_t page)
{
	const struct evidence_shared *other;
	bool races = false;

	for (other = evidence->shared; other < evidence->shared + EVIDENCE_SHARED; other++)
		races |= other->page == page && other->end_ns > fault->start_ns;
	evidence->shared[evidence->nr_shared++ % EVIDENCE_SHARED] =
		(struct evidence_shared){ page, fault->end_ns };
	return races;
}

/*
 * A fault makes a page of shared memory only if the file has none, in memory or in swap. If any
 * process had the page before, a punched hole or a truncation took the page away.
 */
static int evidence_add_shared(struct evidence *evidence, const struct explained *fault)
{
	struct page_past past;
	uint64_t number;
	bool races;
	int err;

	if (evidence->small || !fault->inode || !fault->solved || fault->pgoff >= FILE_PAGES / 2)
		return 0;
	err = open_histories(evidence) ?: file_number(evidence, fault, &number);
	if (err)
		return err;
	number = number * FILE_PAGES + fault->pgoff;
	err = page_history_add(evidence->file_pages, ANY_PROCESS, number, false, &past);
	races = races_for_shared(evidence, fault, number);
	if (!err && past.before && !races && fault->content == PFSTAT_CONTENT_NEW)
		evidence_sum_add(&evidence->figures.shared_removed, fault);
	return err;
}

/* Faults that only mapped a page, or found none. */
static int evidence_add_file(struct evidence *evidence, const struct explained *fault)
{
	struct evidence_figures *figures = &evidence->figures;
	const bool write = fault->flags & PFSTAT_FLAG_WRITE;
	int err = 0;

	if ((fault->class == FAULT_LONG || fault->class == FAULT_AROUND) && !write) {
		evidence_sum_add(&figures->cached_reads, fault);
		return evidence_add_mapped(evidence, fault, &figures->mapped_before);
	}
	if (fault->class == FAULT_FILE &&
	    (fault->content == PFSTAT_CONTENT_PRESENT || fault->content == PFSTAT_CONTENT_NEW))
		err = evidence_add_shared(evidence, fault);
	if (err)
		return err;
	if (fault->class == FAULT_FILE && fault->content == PFSTAT_CONTENT_PRESENT)
		return evidence_add_mapped(evidence, fault, &figures->shared_before);
	if ((fault->class == FAULT_DISK || fault->class == FAULT_READAHEAD) && write)
		figures->missing_stores++;
	return 0;
}

void evidence_add_inherited(struct evidence *evidence, const struct explained *fault)
{
	if (!fault->solved || fault->major)
		return;
	if (fault->class == FAULT_FILE && !fault->perf)
		evidence->figures.shared_inherited++;
	else if (fault->perf || !(fault->flags & PFSTAT_FLAG_WRITE))
		evidence_sum_add(&evidence->figures.inherited, fault);
}

int evidence_add_fault(struct evidence *evidence, const struct explained *fault)
{
	int err = evidence_add_file(evidence, fault);

	if (fault->perf && fault->solved)
		evidence_add_perf(&evidence->figures.perf, fault);
	evidence_add_cpu_waits(evidence->figures.cpu_waits, fault);
	handlers_add_fault(&evidence->handlers, fault);
	fault_times_add(&evidence->figures.times, fault);
	if (fault->class == FAULT_ANON && !fault->perf && !(fault->flags & PFSTAT_FLAG_WRITE))
		evidence_sum_add(&evidence->figures.anon_reads, fault);
	if (!(fault->flags & PFSTAT_FLAG_USER)) {
		evidence->figures.kernel_faults++;
		evidence->figures.kernel_ns += fault->end_ns - fault->start_ns;
	}
	if (fault->flags & PFSTAT_FLAG_GUEST) {
		evidence->figures.guest_faults++;
		evidence->figures.guest_ns += fault->end_ns - fault->start_ns;
	}
	return err									  ?:
		       fault_overlap_add(&evidence->busy, fault->start_ns, fault->end_ns) ?:
		       activity_add_fault(&evidence->activity, fault)			  ?:
		       (evidence->small ? 0 : standstill_add_fault(&evidence->standstill, fault));
}

int evidence_add_off_cpu(struct evidence *evidence, const struct pfstat_off_cpu *interval)
{
	int err;

	if (interval->event.flags & PFSTAT_OFF_CPU_LIMITS)
		evidence->figures.limits_known = true;
	if (interval->event.flags & PFSTAT_OFF_CPU_THROTTLED) {
		evidence->figures.throttled.count++;
		evidence->figures.throttled.total_ns +=
			item_elapsed(interval->off_ns, interval->event.ns);
	}
	err = activity_add_off_cpu(&evidence->activity, interval);
	if (err || evidence->small)
		return err;
	return standstill_add_off_cpu(&evidence->standstill, interval);
}

int evidence_add_map(struct evidence *evidence, const struct item_map *map)
{
	const uint64_t page_bytes = evidence->handlers.page_bytes;
	uint64_t first, end;
	int err;

	if (map->ns && map->bytes && map->inode)
		evidence->figures.file_maps++;
	if (!evidence->faulted || !map->bytes)
		return 0;
	first = map->address / page_bytes;
	end = (map->address + map->bytes) / page_bytes;
	err = page_history_remove(evidence->addresses, map->pid, first, end);
	return err ? err : page_history_remove(evidence->faulted, map->pid, first, end);
}

static void end_process(struct evidence *evidence, uint32_t pid)
{
	page_history_end(evidence->file_pages, pid);
	page_history_end(evidence->addresses, pid);
	page_history_end(evidence->faulted, pid);
}

int evidence_add_task(struct evidence *evidence, const struct pfstat_task *task)
{
	if (task->event.flags & PFSTAT_TASK_FORK && task->event.pid == task->event.tid)
		evidence->figures.forks++;
	if (task->event.flags & PFSTAT_TASK_EXEC)
		evidence->figures.execs++;
	if (evidence->faulted &&
	    (task->event.flags & PFSTAT_TASK_EXEC ||
	     (task->event.flags & PFSTAT_TASK_EXIT && task->event.pid == task->event.tid)))
		end_process(evidence, task->event.pid);
	return activity_add_task(&evidence->activity, task) ?:
		       (evidence->small ? 0 : standstill_add_task(&evidence->standstill, task));
}

void evidence_add_advice(struct evidence *evidence, const struct pfstat_advice *advice)
{
	if (advice->advice < EVIDENCE_ADVICES)
		evidence->figures.advices[advice->advice]++;
}

void evidence_add_reclaim(struct evidence *evidence, const struct pfstat_reclaim *reclaim)
{
	struct evidence_reclaims *reclaims = &evidence->figures.reclaims[reclaim->event.flags];

	reclaims->count++;
	reclaims->total_ns += item_elapsed(reclaim->start_ns, reclaim->event.ns);
	reclaims->pages += reclaim->pages;
}

int evidence_finish(struct evidence *evidence)
{
	return standstill_finish(&evidence->standstill);
}

void evidence_figures(const struct evidence *evidence, struct evidence_figures *figures)
{
	struct overlap_figures overlap;

	*figures = evidence->figures;
	figures->failed_faults = COUNT_NA;
	fault_overlap_figures(&evidence->busy, 0, UINT64_MAX, &overlap);
	figures->busy_ns = overlap.faults.min_ns;
	figures->busy_max_ns = overlap.faults.max_ns;
	figures->depth = overlap.depth;
	figures->depth_max = overlap.depth_max;
	standstill_figures(&evidence->standstill, &figures->standstill);
	handlers_figures(&evidence->handlers, &figures->handlers);
}

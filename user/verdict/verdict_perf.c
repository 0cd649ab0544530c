// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules for faults recorded by perf. perf distinguishes major and minor faults, files and
 * anonymous memory, time on and off the CPU. Requests and calls are not known. A cause is certain
 * only if all faults it claims have the same kind.
 */
#include <inttypes.h>
#include <string.h>

#include "model/wait_cause.h"
#include "verdict/verdict_rules.h"
#include "report/view.h"

#define FEW_ORDERED  64
#define FEW_SMALL    1000
#define FEW_AGAIN    256
#define MOST	     0.9 /* of a claim's time */
#define MAIN	     0.5 /* of the read time */
#define NEXT_SHARE   0.5 /* of the major faults, on the page after another */
#define FEW_SHARE    0.1 /* too small to be an alternative */
#define UNSEEN_SHARE 0.5 /* of the faults seen */

#define MIB	     (1024.0 * 1024)
#define SECTOR_BYTES 512 /* of getrusage(2) */

#define PERF_READ_BEFORE                                           \
	"read it before it is needed, with MADV_POPULATE_READ or " \
	"POSIX_FADV_WILLNEED; pfdrive advise RECORDING predicts the saving."

static double perf_share(const struct report *run, const struct evidence_sum *sum)
{
	const uint64_t all_ns = run->faults.all.whole.total_ns;

	return all_ns ? (double)sum->total_ns / all_ns : 0;
}

static double perf_mean_us(const struct evidence_sum *sum)
{
	return sum->count ? sum->total_ns / 1e3 / sum->count : 0;
}

/* The file with most major fault time. NULL if several files share it. */
static const struct group *perf_read_file(const struct report *run, uint64_t read_ns)
{
	const struct report_places *files = &run->places[GROUP_BY_FILE];
	size_t i;

	for (i = 0; i < files->nr; i++)
		if (files->rows[i].inode && files->rows[i].reads.major_ns >= MAIN * read_ns)
			return &files->rows[i];
	return NULL;
}

/* A few reads have no order. */
static bool perf_is_ordered(const struct group *file)
{
	return file->major >= FEW_ORDERED;
}

static bool perf_is_adjacent(const struct group *file)
{
	return perf_is_ordered(file) && file->reads.adjacent >= NEXT_SHARE * file->major;
}

/* The mapping with nearly all of the file's faults, if its advice is known. */
static const struct group *perf_mapping(const struct report *run, const struct group *file)
{
	const struct group *mapping = verdict_read_mapping(run, file);

	return mapping && mapping->total_ns >= MOST * file->total_ns ? mapping : NULL;
}

static void perf_state_adjacent(const struct report *run, const struct group *file,
				struct verdict_cause *cause)
{
	const struct group *mapping = perf_mapping(run, file);

	verdict_add(cause,
		    "; %.0f %% of them were on the page after another's, which read-ahead should "
		    "have brought",
		    100.0 * file->reads.adjacent / file->major);
	if (mapping && mapping->state.advice != MAPPING_RANDOM) {
		verdict_add(cause, ", and MADV_RANDOM was not in force.");
		verdict_advise(cause, "MADV_SEQUENTIAL or MADV_POPULATE_READ for the range, or a "
				      "larger read_ahead_kb of the device; pfdrive advise "
				      "RECORDING compares them.");
		return;
	}
	verdict_add(cause, ".");
	verdict_advise(cause, "pfdrive replay --advise normal RECORDING shows the saving; then "
			      "remove MADV_RANDOM, or raise the device's read_ahead_kb.");
}

static void perf_state_order(const struct report *run, const struct group *file,
			     struct verdict_cause *cause)
{
	const bool ordered = perf_is_ordered(file);

	if (perf_is_adjacent(file)) {
		perf_state_adjacent(run, file, cause);
		return;
	}
	if (!ordered || file->reads.next >= NEXT_SHARE * file->major) {
		verdict_add(cause, ordered ? "; it was read mostly in order." : ".");
		verdict_advise(cause, PERF_READ_BEFORE);
		return;
	}
	verdict_add(cause, "; it was not read in order.");
	verdict_advise(cause, "pfdrive advise RECORDING compares MADV_RANDOM, which reads single "
			      "pages, with MADV_POPULATE_READ, which reads all before.");
}

/* Time asleep in faults on files of servers, if it is worth a cause. */
static bool perf_served(const struct report *run, struct verdict_served *served)
{
	*served = verdict_wait_served(run, PART_ASLEEP);
	return view_source_is_perf(run) &&
	       verdict_share_of(run, served->waited_ns) >= VERDICT_CAUSE_SHARE;
}

/* Pressure stall information shows that next to none of this time waited for memory. */
static bool perf_had_memory(const struct report *run, uint64_t ns)
{
	const uint64_t waited_ns = run->cgroup.pressure.memory_some_ns;

	return run->cgroup.path[0] && waited_ns != COUNT_NA && waited_ns <= FEW_SHARE * ns;
}

/*
 * A sleep in a major fault waited for the page, and only the server has it, or for memory. One in
 * a minor fault may have waited for a lock.
 */
bool verdict_perf_server(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	struct verdict_served served;

	(void)verdict;
	if (!perf_served(run, &served))
		return false;
	cause->weight = verdict_share_of(run, served.waited_ns);
	cause->certain = served.major_ns >= MOST * served.total_ns &&
			 perf_had_memory(run, served.waited_ns);
	verdict_state(cause, "for %.0f %% of the faults' time threads slept in faults that %s %s",
		      100 * cause->weight, cause->certain ? "waited for" : "most likely waited for",
		      served.name);
	verdict_add_filesystem(cause, ": ", NULL, served.most);
	verdict_add(cause, ".");
	verdict_advise(cause, "%s", served.remedy);
	return true;
}

/* True if the order of the reads and evicted pages add nothing to the server's rule. */
static bool perf_is_server_alone(const struct report *run, const struct group *file)
{
	const struct evidence_perf *perf = &run->evidence.perf;
	struct verdict_served served;

	return perf_served(run, &served) &&
	       perf->read.total_ns - served.major_ns <
		       VERDICT_CAUSE_SHARE * run->faults.all.whole.total_ns &&
	       perf->read_again.count * 2 < perf->read.count && !(file && perf_is_adjacent(file));
}

/* The kernel found no page, and got one without a wait. */
static void perf_state_no_wait(const struct report *run, const struct group *file,
			       struct verdict_cause *cause)
{
	const struct evidence_sum *read = &run->evidence.perf.read;

	verdict_state(cause,
		      "%" PRIu64 " major faults found no page of %s%.160s in memory, %.2f µs each, "
		      "but nearly none of them waited: holes of the file, for which the kernel "
		      "clears pages, or a device in memory, or pages that the thread decompressed "
		      "itself.",
		      read->count, file ? "" : "several files", file ? file->name : "",
		      perf_mean_us(read));
	verdict_advise(cause, "filefrag -v FILE shows holes; lseek(SEEK_DATA) skips them, and "
			      "without MADV_RANDOM one fault fills more pages.");
}

/*
 * A fault that waits for a page of another reader, or for a lock of a page, may count as major.
 * getrusage(2) shows what the program read from disks itself.
 */
static bool perf_has_read(const struct report *run, const struct group *file)
{
	const uint64_t faults = run->evidence.perf.read.count;
	const struct usage *usage = &run->usage;

	if (!file || !file->filesystem || filesystem_kind(file->filesystem) != FILESYSTEM_DISK ||
	    usage->inblock == COUNT_NA || usage->majflt == COUNT_NA ||
	    usage->majflt < MOST * faults)
		return true;
	return usage->inblock * SECTOR_BYTES >= MAIN * faults * run->environment.page_bytes;
}

static void perf_state_unread(struct verdict_cause *cause, const struct report *run,
			      const struct group *file)
{
	const struct evidence_sum *read = &run->evidence.perf.read;

	cause->certain = false;
	verdict_state(
		cause,
		"%" PRIu64
		" major fault%s on pages of %.160s took %.0f µs each (%.0f %% of the faults' "
		"time), but the program read next to nothing from a disk: most likely another "
		"process read the pages, or had locked them, or they are holes of the file.",
		read->count, read->count == 1 ? "" : "s", file->name, perf_mean_us(read),
		100 * perf_share(run, read));
	verdict_advise(cause, "iotop names the process that reads.");
}

/* Pages in order, one at a time, in a mapping whose advice is known to forbid more. */
static bool perf_is_advised(const struct report *run, const struct group *file)
{
	const struct group *mapping = perf_mapping(run, file);

	return mapping && perf_is_adjacent(file) && mapping->state.advice == MAPPING_RANDOM;
}

bool verdict_perf_no_readahead(const struct verdict *verdict, const struct report *run,
			       struct verdict_cause *cause)
{
	const struct evidence_perf *perf = &run->evidence.perf;
	const struct group *file = perf_read_file(run, perf->read.total_ns);

	(void)verdict;
	if (!file || verdict_share_of(run, file->reads.major_ns) < VERDICT_CAUSE_SHARE ||
	    !perf_is_advised(run, file) || !perf_has_read(run, file) ||
	    perf->read_again.count >= FEW_SHARE * perf->read.count ||
	    perf->read.off_cpu_ns < VERDICT_CAUSE_SHARE * perf->read.total_ns)
		return false;
	cause->weight = verdict_share_of(run, file->reads.major_ns);
	verdict_state(cause,
		      "%.160s was read one page at a time by %" PRIu64
		      " major faults, %.0f µs each (%.0f %% of the faults' time), although %.0f %% "
		      "of them went on to a next page: read-ahead is off, by madvise(MADV_RANDOM).",
		      file->name, file->major, file->reads.major_ns / 1e3 / file->major,
		      100 * cause->weight, 100.0 * file->reads.adjacent / file->major);
	verdict_advise(cause, VERDICT_NO_RANDOM);
	return true;
}

bool verdict_perf_cold(const struct verdict *verdict, const struct report *run,
		       struct verdict_cause *cause)
{
	const struct evidence_perf *perf = &run->evidence.perf;
	const double share = perf_share(run, &perf->read);
	const struct group *file;

	(void)verdict;
	if (share < VERDICT_CAUSE_SHARE)
		return false;
	cause->weight = share;
	/* Pages that return were evicted or dropped. A hole is not read, so nothing waits. */
	cause->certain = perf->read_again.count * 2 < perf->read.count &&
			 perf->read.off_cpu_ns >= VERDICT_CAUSE_SHARE * perf->read.total_ns;
	file = perf_read_file(run, perf->read.total_ns);
	if (perf_is_server_alone(run, file))
		return false;
	if (perf->read.off_cpu_ns < FEW_SHARE * perf->read.total_ns) {
		perf_state_no_wait(run, file, cause);
		return true;
	}
	if (!perf_has_read(run, file)) {
		perf_state_unread(cause, run, file);
		return true;
	}
	verdict_state(cause,
		      "pages of %s%.160s were not in memory: %" PRIu64
		      " major fault%s read them, %.0f µs each (%.0f %% of the faults' time)",
		      file ? "" : "several files", file ? file->name : "", perf->read.count,
		      perf->read.count == 1 ? "" : "s", perf_mean_us(&perf->read), 100 * share);
	if (file && file->major < perf->read.count)
		verdict_add(cause, ", %" PRIu64 " of them in other files",
			    perf->read.count - file->major);
	if (perf->read_again.count * 2 >= perf->read.count) {
		verdict_add(cause,
			    "; most of these pages had been there before: they were evicted, "
			    "or dropped.");
		verdict_advise(cause, "memory.events of the cgroup counts how often memory.max was "
				      "met; pfdrive with eBPF (as root) names the evictor.");
	} else if (perf->read_again.count >= FEW_SHARE * perf->read.count) {
		verdict_add(cause,
			    "; %" PRIu64 " of them read a page that had been there before: "
			    "it was evicted, or dropped.",
			    perf->read_again.count);
		verdict_advise(cause,
			       "memory.events of the cgroup counts how often memory.max was "
			       "met: if it was, first the memory, since reads in advance evict "
			       "other pages.");
	} else if (file) {
		perf_state_order(run, file, cause);
	} else {
		verdict_add(cause, ".");
		verdict_advise(cause,
			       "pfdrive prefetch make RECORDING -o LIST lists the pages, and "
			       "pfdrive prefetch apply LIST reads them before the next start.");
	}
	return true;
}

bool verdict_perf_cached(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const struct evidence_perf *perf = &run->evidence.perf;
	const struct evidence_sum *cached = &perf->cached;
	const double share = perf_share(run, cached);

	(void)verdict;
	if (share < VERDICT_CAUSE_SHARE || cached->count < FEW_SMALL ||
	    cached->off_cpu_ns > VERDICT_CAUSE_SHARE * cached->total_ns)
		return false;
	cause->weight = share;
	cause->certain = perf->writable.total_ns <= (1 - MOST) * cached->total_ns;
	verdict_state(cause, "%" PRIu64 " minor faults %s, %.2f µs each", cached->count,
		      cause->certain ? "mapped pages of files that were in memory" :
				       "in mappings of files",
		      perf_mean_us(cached));
	if (cause->certain) {
		verdict_add(cause, ".");
		verdict_write_add_maps(cause, run, cached->count,
				       perf->history_known ? perf->mapped.count : 0);
		return true;
	}
	verdict_add(
		cause,
		"; %.0f %% of that in mappings that may be written: a fault maps a page that was "
		"in memory, fills a new page of the file, copies a private one, or makes one "
		"writable.",
		100.0 * perf->writable.total_ns / cached->total_ns);
	verdict_advise(cause, "pfdrive record --by vma names the mappings; eBPF or the module (as "
			      "root) distinguishes reads and writes.");
	return true;
}

/*
 * A page of anonymous memory that the process had touched before is in swap, if a fault on it is
 * major. In a run that was recorded from its start, others cannot be there.
 */
static const struct evidence_sum *perf_swapped(const struct report *run)
{
	const struct evidence_perf *perf = &run->evidence.perf;

	return run->environment.command[0] ? &perf->swapped_again : &perf->swapped;
}

/*
 * The kernel counts a fault as major, too, if it is repeated after a sleep for a handler of
 * userfaultfd. With their reasons such sleeps are not among these faults.
 */
bool verdict_perf_swap(const struct verdict *verdict, const struct report *run,
		       struct verdict_cause *cause)
{
	const struct evidence_sum *swapped = perf_swapped(run);

	(void)verdict;
	if (!view_source_is_perf(run) || swapped->count < FEW_AGAIN ||
	    perf_share(run, swapped) < VERDICT_CAUSE_SHARE)
		return false;
	cause->weight = perf_share(run, swapped);
	cause->certain = view_has_hook(run, HOOK_WAIT_STACK) ||
			 swapped->off_cpu_ns <= FEW_SHARE * swapped->total_ns;
	verdict_state(cause,
		      "%" PRIu64 " major faults, %.0f µs each (%.0f %% of the faults' time), read "
		      "pages of anonymous memory (%.0f MiB) back from swap%s.",
		      swapped->count, perf_mean_us(swapped), 100 * cause->weight,
		      swapped->count * run->environment.page_bytes / MIB,
		      cause->certain ? "" : ", or waited for a handler of userfaultfd");
	verdict_advise(cause,
		       "memory.events of the cgroup%s%.200s counts how often memory.max was met: "
		       "then raise it, or use less memory. Otherwise pfdrive with eBPF (as root) "
		       "names who pushed the pages out.",
		       run->environment.cgroup[0] ? " " : "", run->environment.cgroup);
	return true;
}

/* Faults on pages that had faulted before, in mappings of files. */
static uint64_t perf_again_in_files(const struct report *run)
{
	const struct report_places *files = &run->places[GROUP_BY_FILE];
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < files->nr; i++)
		if (files->rows[i].inode)
			count += files->rows[i].classes[FAULT_AGAIN];
	return count;
}

/* Adds "a, b or c". */
static void perf_add_list(struct verdict_cause *cause, const char *const *list, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		verdict_add(cause, "%s%s", list[i], i + 2 < nr ? ", " : i + 2 == nr ? " or " : "");
}

/* A read and a write are two faults on a page. More show that something removed or protected it. */
static bool perf_mostly_often(const struct report *run)
{
	return run->evidence.perf.often.count >= MAIN * run->faults.classes[FAULT_AGAIN].count;
}

/*
 * What the recording does not exclude. A fork write-protects only anonymous memory, write-back only
 * shared mappings of files.
 */
static void perf_add_again(struct verdict_cause *cause, const struct report *run,
			   const struct evidence_sum *again, uint64_t major)
{
	const uint64_t in_files = perf_again_in_files(run);
	const bool files = in_files > FEW_SHARE * again->count;
	const bool memory = again->count - in_files > FEW_SHARE * again->count;
	const char *list[8];
	size_t nr = 0;

	if (!perf_mostly_often(run))
		list[nr++] = memory && run->evidence.forks ?
				     "written again after a fork or a read" :
				     "written again after a read";
	else if (run->evidence.forks)
		list[nr++] = "written again after a fork";
	if (files)
		list[nr++] = "written again after write-back (msync(), fsync() or the kernel's "
			     "own)";
	if (files && run->evidence.perf.read_again.count)
		list[nr++] = "evicted and brought back by read-ahead";
	if (files)
		list[nr++] = "taken out of the file (a truncation, a punched hole, fadvise, direct "
			     "I/O)";
	list[nr++] = "given back with madvise() (MADV_DONTNEED or MADV_FREE), munmap(), "
		     "mmap(MAP_FIXED) or mremap(), and touched again";
	if (perf_mostly_often(run))
		list[nr++] = "protected in between (mprotect(), userfaultfd, soft-dirty, NUMA "
			     "balancing)";
	if (major)
		list[nr++] = "swapped out";
	perf_add_list(cause, list, nr);
	if (major)
		verdict_add(cause, " (%" PRIu64 " of them are major)", major);
	verdict_add(cause, ".");
	verdict_advise(cause,
		       "eBPF (pfdrive as root) distinguishes copies, first touches%s; strace -f "
		       "-e madvise,mmap,munmap,mremap%s%s shows the calls.",
		       major ? " and swap-ins" : " and writes to pages that were read",
		       memory && run->evidence.forks ? ",fork,clone" : "",
		       files ? ",msync,fsync,fdatasync,fallocate,ftruncate,fadvise64" : "");
}

/* Swap-ins have a rule of their own. */
bool verdict_perf_again(const struct verdict *verdict, const struct report *run,
			struct verdict_cause *cause)
{
	const struct fault_figures *class = &run->faults.classes[FAULT_AGAIN];
	struct evidence_sum again = { class->count, class->whole.total_ns, 0 };
	struct verdict_cause swap = { 0 };
	uint64_t major = class->major;

	if (verdict_perf_swap(verdict, run, &swap)) {
		again.count -= run->evidence.perf.swapped_again.count;
		again.total_ns -= run->evidence.perf.swapped_again.total_ns;
		major -= run->evidence.perf.swapped_again.count;
	}
	if (perf_share(run, &again) < VERDICT_CAUSE_SHARE || again.count < FEW_AGAIN)
		return false;
	cause->weight = perf_share(run, &again);
	cause->certain = false;
	verdict_state(cause,
		      "%" PRIu64 " faults, %.2f µs each, were on pages that the process%s had "
		      "faulted before: ",
		      again.count, perf_mean_us(&again),
		      run->evidence.forks ? ", or its parent before a fork," : "");
	perf_add_again(cause, run, &again, major);
	return true;
}

/* What a recording without kernel stacks does not exclude. */
static void perf_add_sleeps(struct verdict_cause *cause, const struct report *run)
{
	const struct evidence_perf *perf = &run->evidence.perf;
	const double least_ns = FEW_SHARE * perf->minor.off_cpu_ns;
	const bool again = verdict_off_cpu_ns(&run->faults.classes[FAULT_AGAIN]) >= least_ns;
	const char *list[6];
	size_t nr = 0;

	list[nr++] = "a lock";
	if (perf->cached.off_cpu_ns >= least_ns || (again && perf_again_in_files(run))) {
		list[nr++] = "the file system";
		list[nr++] = "a read that read-ahead or MADV_WILLNEED had begun";
	}
	list[nr++] = "a handler of userfaultfd";
	list[nr++] = "free memory";
	if (run->faults.all.parts[PART_RUNQUEUE].total_ns >= least_ns)
		list[nr++] = "a CPU";
	perf_add_list(cause, list, nr);
	verdict_add(cause, ".");
}

/* The kernel counts a fault as major if it starts a read, so a minor one did not start this one. */
static void perf_state_sleeps(struct verdict_cause *cause, const char *waited_for)
{
	const bool page = waited_for && !strcmp(waited_for, WAIT_OWN_PAGE);

	if (page)
		verdict_add(cause, "they waited mostly for reads of pages, by read-ahead or by "
				   "others, or for locked pages, as their kernel stacks show.");
	else if (waited_for)
		verdict_add(cause, "they waited mostly for %s, as their kernel stacks show.",
			    waited_for);
	else
		verdict_add(cause, "their kernel stacks show no main reason.");
	if (page)
		verdict_advise(cause, "read the pages earlier, with MADV_WILLNEED or "
				      "MADV_POPULATE_READ; eBPF (pfdrive as root) names the "
				      "thread that read them.");
	else
		verdict_advise(cause, "pfdrive report --full RECORDING lists the kernel stacks of "
				      "these sleeps.");
	cause->certain = waited_for && !page;
}

bool verdict_perf_asleep(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const struct evidence_perf *perf = &run->evidence.perf;
	const uint64_t all_ns = run->faults.all.whole.total_ns;
	const uint64_t ns = perf->minor.off_cpu_ns - perf->minor_named_ns;
	const char *waited_for = verdict_minor_wait_cause(run);
	double asleep = verdict_part_share(run, PART_ASLEEP);
	struct verdict_served served;

	(void)verdict;
	if (perf_served(run, &served))
		asleep -= verdict_share_of(run, served.waited_ns);
	if (!all_ns || ns < VERDICT_CAUSE_SHARE * all_ns || asleep < VERDICT_CAUSE_SHARE ||
	    (waited_for && verdict_wait_has_rule(waited_for)))
		return false;
	cause->weight = (double)ns / all_ns;
	cause->certain = false;
	verdict_state(cause,
		      "for %.0f %% of the faults' time threads were off the CPU in minor faults: ",
		      100 * cause->weight);
	if (view_has_hook(run, HOOK_WAIT_STACK)) {
		perf_state_sleeps(cause, waited_for);
		return true;
	}
	verdict_add(cause, "they waited for ");
	perf_add_sleeps(cause, run);
	verdict_advise(cause, "kernel.perf_event_paranoid 1 or less, or pfdrive as root, names the "
			      "reasons of these waits.");
	return true;
}

/* Only mremap(2) makes a mapping not reported by perf. */
bool verdict_perf_moved(const struct verdict *verdict, const struct report *run,
			struct verdict_cause *cause)
{
	const struct fault_figures *other = &run->faults.classes[FAULT_OTHER];
	const double share = verdict_class_share(run, FAULT_OTHER);

	(void)verdict;
	if (!view_source_is_perf(run) || share < VERDICT_CAUSE_SHARE || other->count < FEW_AGAIN)
		return false;
	cause->weight = share;
	cause->certain = false;
	verdict_state(
		cause,
		"%" PRIu64 " faults, %.2f µs each, were in memory that mremap() has moved "
		"or extended, as realloc() does with large blocks; most likely they are first "
		"touches.",
		other->count, verdict_mean_us(run, FAULT_OTHER));
	verdict_advise(cause,
		       "allocate the final size at once, or reserve it; eBPF (pfdrive as root) "
		       "sees the kinds of these faults.");
	return true;
}

bool verdict_perf_unseen(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const uint64_t unseen = view_faults_unseen(run);

	(void)verdict;
	if (!unseen || unseen < UNSEEN_SHARE * run->faults.all.count || view_perf_ended(run))
		return false;
	cause->last = true;
	cause->weight = 0;
	cause->certain = false;
	verdict_state(cause,
		      "perf shows %" PRIu64 " faults, but the kernel counted %" PRIu64
		      " more, whose time is not known. Perf has no event for faults in "
		      "get_user_pages(), as for io_uring's buffers, O_DIRECT, "
		      "process_vm_readv(), mlock() or MADV_POPULATE_WRITE",
		      run->faults.all.count, unseen);
	if (view_sees_all_faults(run)) {
		verdict_add(cause, ".");
		verdict_advise(cause, "eBPF (pfdrive as root) times these faults; strace -c shows "
				      "the calls.");
	} else {
		verdict_add(cause, ", and shows this user no faults in system calls.");
		verdict_advise(cause, "record as root, or with kernel.perf_event_paranoid=1; "
				      "strace -c shows the calls.");
	}
	return true;
}

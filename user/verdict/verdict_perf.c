// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules for faults recorded by perf. perf distinguishes major and minor faults, files and
 * anonymous memory, time on and off the CPU. Requests and calls are not known. A cause is certain
 * only if all faults it claims have the same kind.
 */
#include <inttypes.h>
#include <string.h>

#include "verdict/verdict_rules.h"
#include "report/view.h"

#define FEW_ORDERED 64
#define FEW_SMALL   1000
#define FEW_AGAIN   256
#define MOST	    0.9 /* of a claim's time */
#define MAIN	    0.5 /* of the read time */
#define NEXT_SHARE  0.5 /* of the major faults, on the page after another */
#define FEW_SHARE   0.1 /* too small to be an alternative */

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

static void perf_state_order(const struct group *file, struct verdict_cause *cause)
{
	const bool ordered = perf_is_ordered(file);

	if (perf_is_adjacent(file)) {
		verdict_add(cause,
			    "; %.0f %% of them were on the page after another's, which read-ahead "
			    "should have brought.",
			    100.0 * file->reads.adjacent / file->major);
		verdict_advise(cause, "pfdrive replay --advise normal RECORDING shows the saving; "
				      "then remove MADV_RANDOM, or raise the device's "
				      "read_ahead_kb.");
		return;
	}
	if (!ordered || file->reads.next >= NEXT_SHARE * file->major) {
		verdict_add(cause, ordered ? "; it was read mostly in order." : ".");
		verdict_advise(cause, PERF_READ_BEFORE);
		return;
	}
	verdict_add(cause, "; it was read at random.");
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
		perf_state_order(file, cause);
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
static void perf_add_again(struct verdict_cause *cause, const struct report *run)
{
	const struct fault_figures *again = &run->faults.classes[FAULT_AGAIN];
	const uint64_t in_files = perf_again_in_files(run);
	const bool files = in_files > FEW_SHARE * again->count;
	const bool memory = again->count - in_files > FEW_SHARE * again->count;
	const char *list[7];
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
	list[nr++] = "given back with madvise() (MADV_DONTNEED or MADV_FREE) and touched again";
	if (perf_mostly_often(run))
		list[nr++] = "protected in between (mprotect(), soft-dirty, NUMA balancing)";
	if (run->faults.classes[FAULT_OTHER].count)
		list[nr++] = "replaced by mremap()";
	if (again->major)
		list[nr++] = "swapped out";
	perf_add_list(cause, list, nr);
	if (again->major)
		verdict_add(cause, " (%" PRIu64 " of them are major)", again->major);
	verdict_add(cause, ".");
	verdict_advise(cause,
		       "eBPF (pfdrive as root) distinguishes copies, first touches%s; strace -f "
		       "-e madvise%s%s shows the calls.",
		       again->major ? " and swap-ins" : " and writes to pages that were read",
		       memory && run->evidence.forks ? ",fork,clone" : "",
		       files ? ",msync,fsync,fdatasync" : "");
}

bool verdict_perf_again(const struct verdict *verdict, const struct report *run,
			struct verdict_cause *cause)
{
	const struct fault_figures *again = &run->faults.classes[FAULT_AGAIN];
	const double share = verdict_class_share(run, FAULT_AGAIN);

	(void)verdict;
	if (share < VERDICT_CAUSE_SHARE || again->count < FEW_AGAIN)
		return false;
	cause->weight = share;
	cause->certain = false;
	verdict_state(cause,
		      "%" PRIu64 " faults, %.2f µs each, were on pages that the process%s had "
		      "faulted before: ",
		      again->count, verdict_mean_us(run, FAULT_AGAIN),
		      run->evidence.forks ? ", or its parent before a fork," : "");
	perf_add_again(cause, run);
	return true;
}

/* What the recording does not exclude. */
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

bool verdict_perf_asleep(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const struct evidence_sum *minor = &run->evidence.perf.minor;
	const uint64_t all_ns = run->faults.all.whole.total_ns;
	double asleep = verdict_part_share(run, PART_ASLEEP);
	struct verdict_served served;

	(void)verdict;
	if (perf_served(run, &served))
		asleep -= verdict_share_of(run, served.waited_ns);
	if (!all_ns || minor->off_cpu_ns < VERDICT_CAUSE_SHARE * all_ns ||
	    asleep < VERDICT_CAUSE_SHARE)
		return false;
	cause->weight = (double)minor->off_cpu_ns / all_ns;
	cause->certain = false;
	verdict_state(cause,
		      "for %.0f %% of the faults' time threads were off the CPU in minor faults: "
		      "they waited for ",
		      100 * cause->weight);
	perf_add_sleeps(cause, run);
	verdict_advise(cause, "eBPF (pfdrive as root) names the locks, reads and handlers behind "
			      "these waits.");
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

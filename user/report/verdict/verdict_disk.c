// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules about files: read-ahead, the device, page_mkwrite and pages that are in the page
 * cache. Their evidence is the reads of each file, the requests and the fate of pages.
 */
#include <inttypes.h>
#include <sys/mman.h>

#include "report/verdict/verdict_rules.h"
#include "report/view.h"

#define KIB 1024.0
#define MIB (1024.0 * 1024)

#define FEW_FAULTS	64  /* fewer prove nothing about the order of pages */
#define FEW_PAGES	2   /* a request of this size is not a read-ahead */
#define NEXT_SHARE	0.5 /* of the disk faults, on the page after another */
#define AROUND_PAGES	4   /* a request of this size brings pages that no fault waits for */
#define WAITED_SHARE	0.6 /* of a file's faults: these pages served few others */
#define AMPLIFIED_PAGES 1024
#define AMPLIFICATION	2.0  /* pages read for each page mapped */
#define EVICTED_SHARE	0.25 /* of the pages read, evicted unused */
#define FEW_CACHED	1000
#define READ_PAGES	0.5 /* for each fault that must find a page */
#define AHEAD_PAGES	2   /* for each fault that submits a read-ahead */

/* The time of faults that a read of a file caused. */
static double read_share(const struct report *run)
{
	return verdict_class_share(run, FAULT_DISK) + verdict_class_share(run, FAULT_WAIT);
}

static bool is_read_page_by_page(const struct report *run, const struct group *file)
{
	const uint64_t faults = file->classes[FAULT_DISK];
	const uint64_t page_bytes = run->environment.page_bytes;

	return file->inode && faults >= FEW_FAULTS && file->reads.next >= NEXT_SHARE * faults &&
	       file->reads.requests >= FEW_FAULTS &&
	       file->reads.bytes <= FEW_PAGES * page_bytes * file->reads.requests;
}

/* Most faults of the file waited, although each of them had read pages around its own. */
static bool is_read_at_random(const struct report *run, const struct group *file)
{
	const uint64_t faults = file->classes[FAULT_DISK];
	const uint64_t page_bytes = run->environment.page_bytes;

	return file->inode && faults >= FEW_FAULTS && file->reads.next < NEXT_SHARE * faults &&
	       file->reads.requests >= FEW_FAULTS &&
	       file->reads.bytes >= AROUND_PAGES * page_bytes * file->reads.requests &&
	       faults >= WAITED_SHARE * file->faults;
}

/* The costliest file that is read in this way. */
static const struct group *file_that(const struct report *run,
				     bool (*is_read)(const struct report *run,
						     const struct group *file))
{
	const struct report_places *files = &run->places[GROUP_BY_FILE];
	size_t i;

	for (i = 0; i < files->nr; i++)
		if (is_read(run, &files->rows[i]))
			return &files->rows[i];
	return NULL;
}

static const struct group *page_by_page_file(const struct report *run)
{
	return file_that(run, is_read_page_by_page);
}

static uint64_t madvise_calls(const struct report *run)
{
	const int madvise_number = view_syscall_number(run, "madvise");
	size_t i;

	for (i = 0; i < run->extras.nr_syscalls; i++)
		if (run->extras.syscalls[i].number == (uint32_t)madvise_number)
			return run->extras.syscalls[i].calls;
	return 0;
}

static void state_who_advised(const struct report *run, const struct group *file,
			      struct verdict_cause *cause)
{
	const uint64_t calls = madvise_calls(run);
	struct verdict_callers found;
	uint64_t advised;

	verdict_advisers(run, file->name, &found);
	advised = found.calls ?: run->evidence.advices[MADV_RANDOM];
	if (advised) {
		verdict_add(cause, ", by madvise(MADV_RANDOM), %" PRIu64 " call%s", advised,
			    advised == 1 ? "" : "s");
		verdict_add_place(cause, &found);
		verdict_add(cause, ".");
	} else if (calls) {
		verdict_add(cause,
			    ", likely by MADV_RANDOM: madvise was called %" PRIu64 " time%s.",
			    calls, calls == 1 ? "" : "s");
	} else {
		verdict_add(cause, ", by MADV_RANDOM, or a read-ahead of 0 of the device.");
	}
}

bool verdict_no_readahead(const struct verdict *verdict, const struct report *run,
			  struct verdict_cause *cause)
{
	const struct group *file = page_by_page_file(run);
	const uint64_t all_ns = run->faults.all.whole.total_ns;

	(void)verdict;
	if (!file || file->total_ns < VERDICT_CAUSE_SHARE * all_ns ||
	    verdict_class_share(run, FAULT_DISK) < VERDICT_CAUSE_SHARE)
		return false;
	cause->weight = (double)file->total_ns / all_ns;
	verdict_state(cause,
		      "%.160s was read %.1f KiB at a time, although %.0f %% of its %" PRIu64
		      " disk faults went on to a next page: read-ahead is off",
		      file->name, file->reads.bytes / KIB / file->reads.requests,
		      100.0 * file->reads.next / file->classes[FAULT_DISK],
		      file->classes[FAULT_DISK]);
	state_who_advised(run, file, cause);
	verdict_advise(cause, "pfdrive replay --advise normal RECORDING shows the saving; then "
			      "remove MADV_RANDOM, or raise the device's read_ahead_kb.");
	return true;
}

bool verdict_read_around(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const struct group *file = file_that(run, is_read_at_random);
	const uint64_t all_ns = run->faults.all.whole.total_ns;

	(void)verdict;
	if (!file || file->total_ns < VERDICT_CAUSE_SHARE * all_ns)
		return false;
	cause->weight = (double)file->total_ns / all_ns;
	verdict_state(cause,
		      "%.160s was read at random: %" PRIu64 " of its %" PRIu64
		      " faults waited for the disk. A request read %.0f KiB around its page, which "
		      "served few other faults.",
		      file->name, file->classes[FAULT_DISK], file->faults,
		      file->reads.bytes / KIB / file->reads.requests);
	verdict_advise(cause, "pfdrive replay --advise random RECORDING shows if single pages are "
			      "faster; then MADV_RANDOM (LMDB: MDB_NORDAHEAD), or pread() without "
			      "a mapping.");
	return true;
}

bool verdict_amplified(const struct verdict *verdict, const struct report *run,
		       struct verdict_cause *cause)
{
	const struct readahead_figures *pages = &run->pages.readahead;

	(void)verdict;
	if (!(run->bpf.hooks & 1U << HOOK_PAGE_DELETE) || pages->faulted_read < AMPLIFIED_PAGES ||
	    pages->faulted_read < AMPLIFICATION * pages->mapped ||
	    read_share(run) < VERDICT_CAUSE_SHARE)
		return false;
	cause->weight = read_share(run) * (1 - (double)pages->mapped / pages->faulted_read);
	cause->certain = pages->faulted_evicted >= EVICTED_SHARE * pages->faulted_read;
	verdict_state(cause,
		      "%.1f MiB of mapped files were read into the page cache, and faults mapped "
		      "%.1f MiB",
		      pages->faulted_read * 4 / KIB, pages->mapped * 4 / KIB);
	if (cause->certain) {
		verdict_add(cause, "; %.1f MiB were evicted unused: read-ahead is too large.",
			    pages->faulted_evicted * 4 / KIB);
		verdict_advise(cause, "pfdrive advise RECORDING ranks MADV_RANDOM and smaller "
				      "values of read_ahead_kb.");
	} else {
		verdict_add(cause, ": read-ahead may be too large, or read(2) used the rest.");
		verdict_advise(cause, "pfdrive advise RECORDING shows if less read-ahead is "
				      "faster.");
	}
	return true;
}

/* The device delivered the pages that these faults had to find. */
static bool pages_were_read(const struct report *run)
{
	return run->blocks.reads &&
	       (double)run->blocks.bytes_read / run->environment.page_bytes >=
		       READ_PAGES * run->faults.classes[FAULT_DISK].count +
			       AHEAD_PAGES * run->faults.classes[FAULT_READAHEAD].count;
}

/* True if another rule names why pages are not in the page cache, or why the reads are many. */
static bool cold_has_a_reason(const struct verdict *verdict, const struct report *run, double share)
{
	struct verdict_cause other = { .certain = true };

	return page_by_page_file(run) || verdict_read_around(verdict, run, &other) ||
	       (verdict_amplified(verdict, run, &other) && other.certain) ||
	       (verdict_refault(verdict, run, &other) && other.weight >= share / 2);
}

/* A more specific cause comes first, so this one has half of its weight. */
bool verdict_cold(const struct verdict *verdict, const struct report *run,
		  struct verdict_cause *cause)
{
	const double share = read_share(run) + verdict_class_share(run, FAULT_READAHEAD);
	const struct block_figures *blocks = &run->blocks;

	if (share < VERDICT_CAUSE_SHARE || !pages_were_read(run) ||
	    cold_has_a_reason(verdict, run, share))
		return false;
	cause->weight = share / 2;
	verdict_state(cause,
		      "pages were not in the page cache: faults that read them have %.0f %% of the "
		      "time. %" PRIu64
		      " read%s of %.0f KiB took %.0f µs each at the device, %.1f MiB "
		      "in all.",
		      100 * share, blocks->reads, blocks->reads == 1 ? "" : "s",
		      blocks->bytes_read / KIB / blocks->reads,
		      blocks->device.total_ns / 1e3 / blocks->reads, blocks->bytes_read / MIB);
	verdict_advise(cause, "read the file before it is needed, with MADV_POPULATE_READ or "
			      "POSIX_FADV_WILLNEED; pfdrive advise RECORDING predicts the saving.");
	return true;
}

/* Share of the time of both classes off the CPU. A file of a server sleeps; a hole does not. */
static double sleep_share(const struct report *run)
{
	const double disk = verdict_class_share(run, FAULT_DISK);
	const double ahead = verdict_class_share(run, FAULT_READAHEAD);

	return (disk * verdict_off_cpu_share(run, FAULT_DISK) +
		ahead * verdict_off_cpu_share(run, FAULT_READAHEAD)) /
	       (disk + ahead);
}

bool verdict_holes(const struct verdict *verdict, const struct report *run,
		   struct verdict_cause *cause)
{
	const double share =
		verdict_class_share(run, FAULT_DISK) + verdict_class_share(run, FAULT_READAHEAD);
	const uint64_t faults =
		run->faults.classes[FAULT_DISK].count + run->faults.classes[FAULT_READAHEAD].count;

	(void)verdict;
	if (share < VERDICT_CAUSE_SHARE || faults < FEW_FAULTS || pages_were_read(run) ||
	    !(run->bpf.hooks & 1U << HOOK_BLOCK) || sleep_share(run) >= VERDICT_CAUSE_SHARE)
		return false;
	cause->weight = share;
	verdict_state(cause,
		      "%" PRIu64
		      " faults found no page of the file, but nearly nothing was read from "
		      "a device: the file is new or has holes, and the kernel clears pages for it.",
		      faults);
	verdict_advise(cause, "write the file with pwrite(), or call MADV_POPULATE_WRITE for the "
			      "whole range.");
	return true;
}

bool verdict_queue(const struct verdict *verdict, const struct report *run,
		   struct verdict_cause *cause)
{
	const struct block_figures *blocks = &run->blocks;
	const double share = verdict_part_share(run, PART_QUEUE);

	(void)verdict;
	if (!(run->bpf.hooks & 1U << HOOK_BLOCK_INSERT) || !blocks->reads ||
	    share < VERDICT_CAUSE_SHARE)
		return false;
	cause->weight = share;
	verdict_state(
		cause,
		"the device is saturated: reads waited %.0f µs in its queue, and took %.0f µs "
		"at the device; the queue is %.0f %% of the faults' time.",
		blocks->queue.total_ns / 1e3 / blocks->reads,
		blocks->device.total_ns / 1e3 / blocks->reads, 100 * share);
	verdict_advise(cause, "iostat -x 1 names the other load; read less at a time, or in fewer "
			      "threads.");
	return true;
}

bool verdict_page_mkwrite(const struct verdict *verdict, const struct report *run,
			  struct verdict_cause *cause)
{
	const double share = verdict_class_share(run, FAULT_MKWRITE);
	const char *waited_for = verdict_class_wait_cause(run, FAULT_MKWRITE);

	(void)verdict;
	if (share < VERDICT_CAUSE_SHARE)
		return false;
	cause->weight = share;
	verdict_state(
		cause,
		"%" PRIu64 " pages of shared file mappings became writable (page_mkwrite), "
		"%.1f µs each; %.0f %% of that waited for the file system%s%s, the rest was its "
		"work on the CPU.",
		run->faults.classes[FAULT_MKWRITE].count, verdict_mean_us(run, FAULT_MKWRITE),
		100 * verdict_off_cpu_share(run, FAULT_MKWRITE), waited_for ? ", mostly for " : "",
		waited_for ?: "");
	verdict_advise(cause, "fallocate() the file first, call msync() less often, or write with "
			      "pwrite().");
	return true;
}

bool verdict_cached(const struct verdict *verdict, const struct report *run,
		    struct verdict_cause *cause)
{
	const double share =
		verdict_class_share(run, FAULT_LONG) + verdict_class_share(run, FAULT_AROUND);
	const uint64_t faults =
		run->faults.classes[FAULT_LONG].count + run->faults.classes[FAULT_AROUND].count;

	(void)verdict;
	if (share < VERDICT_CAUSE_SHARE || faults < FEW_CACHED)
		return false;
	cause->weight = share;
	verdict_state(cause,
		      "%" PRIu64 " small faults mapped pages that were in the page cache, %.2f µs "
		      "each",
		      faults, share * run->faults.all.whole.total_ns / 1e3 / faults);
	verdict_add(cause, run->environment.fault_around ?
				   "." :
				   "; fault-around was off in this recording.");
	verdict_advise(cause,
		       "MAP_POPULATE or MADV_POPULATE_READ maps a range in one call; "
		       "%sread() needs no mapping.",
		       run->environment.fault_around ? "" : "record without --fault-around off; ");
	return true;
}

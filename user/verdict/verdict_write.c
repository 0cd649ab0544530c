// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules about file pages stored to, or present in memory: holes, page_mkwrite, writeback, and
 * small faults on cached pages. Evidence: the classes, the page_mkwrite calls, and the kind of
 * access.
 */
#include <inttypes.h>
#include <sys/mman.h>

#include "model/wait_cause.h"
#include "verdict/verdict_rules.h"

#define FEW_FAULTS  64
#define FEW_CACHED  1000
#define FEW_MAPS    256
#define FEW_EXECS   16
#define EXEC_MAPS   64 /* mappings of a program's start */
#define SHORT_MAP   4  /* faults */
#define MAIN_SHARE  0.5
#define FEW_SHARE   0.1
#define READ_PAGES  0.5 /* for each fault required to find a page */
#define AHEAD_PAGES 2	/* for each fault submitting a read-ahead */

/* The device delivered the pages these faults had to find. */
static bool pages_were_read(const struct report *run)
{
	return run->blocks.reads &&
	       (double)run->blocks.bytes_read / run->environment.page_bytes >=
		       READ_PAGES * run->faults.classes[FAULT_DISK].count +
			       AHEAD_PAGES * run->faults.classes[FAULT_READAHEAD].count;
}

/* The off-CPU share of both classes' time. A server's file sleeps, but a hole does not. */
static double sleep_share(const struct report *run)
{
	const double disk = verdict_class_share(run, FAULT_DISK);
	const double ahead = verdict_class_share(run, FAULT_READAHEAD);

	return (disk * verdict_off_cpu_share(run, FAULT_DISK) +
		ahead * verdict_off_cpu_share(run, FAULT_READAHEAD)) /
	       (disk + ahead);
}

static void advise_holes(struct verdict_cause *cause, const struct report *run, uint64_t faults)
{
	const bool random = run->evidence.advices[MADV_RANDOM];

	if (run->evidence.missing_stores > FEW_SHARE * faults) {
		verdict_advise(cause, "write the file with pwrite(), or call MADV_POPULATE_WRITE "
				      "for the whole range.");
		return;
	}
	verdict_add(cause, " The program only read these pages.");
	verdict_advise(cause, "skip the holes: lseek(SEEK_DATA) finds the next data%s.",
		       random ? "; without MADV_RANDOM one fault fills more pages" : "");
}

bool verdict_write_holes(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const uint32_t classes = VERDICT_CLASS(FAULT_DISK) | VERDICT_CLASS(FAULT_READAHEAD);
	const uint64_t faults =
		run->faults.classes[FAULT_DISK].count + run->faults.classes[FAULT_READAHEAD].count;

	(void)verdict;
	if (!verdict_claim_time(cause, run, classes, parts_with(PART_ON_CPU)) ||
	    faults < FEW_FAULTS || pages_were_read(run) || !(run->bpf.hooks & 1U << HOOK_BLOCK) ||
	    sleep_share(run) >= VERDICT_CAUSE_SHARE)
		return false;
	verdict_state(cause,
		      "%" PRIu64
		      " faults found no page of the file, but nearly nothing was read from "
		      "a device: the file is new or has holes, and the kernel clears pages for it.",
		      faults);
	advise_holes(cause, run, faults);
	return true;
}

/* A store to an unmapped page is one fault, but page_mkwrite() is a separate call. */
static uint64_t mkwrite_ns(const struct report *run, uint64_t *calls)
{
	const struct fault_figures *class = &run->faults.classes[FAULT_MKWRITE];
	struct summary_figures figures = { 0 };
	const struct class_figures *call = &figures.classes[PFSTAT_CLASS_MKWRITE];

	if (run->summary)
		summary_figures(run->summary, &figures);
	*calls = call->count > class->count ? call->count : class->count;
	return call->total_ns > class->whole.total_ns ? call->total_ns : class->whole.total_ns;
}

static bool claim_writeback(struct verdict_cause *cause, const struct report *run)
{
	return verdict_wait_claim(cause, run, (const char *const[]){ WAIT_WRITEBACK, NULL });
}

bool verdict_write_page_mkwrite(const struct verdict *verdict, const struct report *run,
				struct verdict_cause *cause)
{
	const char *waited_for = verdict_class_wait_cause(run, FAULT_MKWRITE);
	const uint64_t again = run->contents.mechanisms[MECHANISM_SHARED_AGAIN].count;
	struct verdict_cause writeback = { 0 };
	uint64_t calls;
	const uint64_t ns = mkwrite_ns(run, &calls);

	(void)verdict;
	verdict_claim_time(cause, run, VERDICT_CLASS(FAULT_MKWRITE), VERDICT_ALL);
	cause->weight = verdict_share_of(run, ns);
	if (claim_writeback(&writeback, run))
		cause->weight -= writeback.weight;
	if (!verdict_is_worth(run, cause->weight) || verdict_touch_is_dax(run))
		return false;
	verdict_state(cause,
		      "%" PRIu64
		      " pages of shared file mappings became writable (page_mkwrite), %.1f µs "
		      "each, %.0f %% of the faults' time",
		      calls, ns / 1e3 / calls, 100 * verdict_share_of(run, ns));
	if (verdict_off_cpu_share(run, FAULT_MKWRITE) >= VERDICT_CAUSE_SHARE)
		verdict_add(cause, "; %.0f %% of that waited%s%s",
			    100 * verdict_off_cpu_share(run, FAULT_MKWRITE),
			    waited_for ? ", mostly for " : " for the file system",
			    waited_for ?: "");
	verdict_add(cause, ". The file system makes room for each page that is stored to first.");
	if (again >= MAIN_SHARE * calls)
		verdict_add(cause,
			    " %" PRIu64 " of them were written before, and protected again "
			    "by write-back or mprotect().",
			    again);
	verdict_advise(cause, "write with pwrite(), or store to pages in few passes and call "
			      "msync() less often; fallocate() saves the search for blocks of a "
			      "new file.");
	return true;
}

bool verdict_write_writeback(const struct verdict *verdict, const struct report *run,
			     struct verdict_cause *cause)
{
	(void)verdict;
	if (!claim_writeback(cause, run))
		return false;
	verdict_state(cause,
		      "too many pages are dirty: for %.0f %% of the faults' time the kernel put "
		      "threads to sleep that store to mapped files, until writeback catches up "
		      "(balance_dirty_pages).",
		      100 * cause->weight);
	verdict_advise(cause, "lower vm.dirty_background_bytes, so that writeback starts earlier; "
			      "sync_file_range() or msync() as the data is written; raise "
			      "vm.dirty_bytes only for bursts.");
	return true;
}

/*
 * MAP_POPULATE pays if a mapping is used as a whole. It does not if the mapping lives for a few
 * faults, or if the pages are mapped again and again.
 */
void verdict_write_add_maps(struct verdict_cause *cause, const struct report *run, uint64_t faults,
			    uint64_t before)
{
	const uint64_t maps = run->evidence.file_maps;
	const bool again = before >= MAIN_SHARE * faults;
	/* Each program maps its libraries, and needs a part of them. */
	const bool starts = run->evidence.execs >= FEW_EXECS &&
			    maps <= EXEC_MAPS * run->evidence.execs;
	const bool inherited = run->evidence.inherited.count >= MAIN_SHARE * faults;
	const bool is_short = !starts && maps >= FEW_MAPS && faults <= SHORT_MAP * maps;

	if (again)
		verdict_add(cause,
			    " %" PRIu64 " of them were on pages that the process had mapped "
			    "before, in another mapping.",
			    before);
	if (starts)
		verdict_add(cause,
			    " %" PRIu64 " programs were started, and each maps its own files anew.",
			    run->evidence.execs);
	if (is_short)
		verdict_add(cause,
			    " The program made %" PRIu64 " mappings of files; each cost its calls "
			    "and %.1f of these faults.",
			    maps, (double)faults / maps);
	if (inherited)
		verdict_add(cause,
			    " %" PRIu64 " of them were in mappings that the process has from its "
			    "parent: fork() copies no page-table entries of files.",
			    run->evidence.inherited.count);
	if (starts)
		verdict_advise(cause, "start fewer programs (one process for many tasks), or link "
				      "them statically.");
	else if (again)
		verdict_advise(cause, "keep one mapping and use it again; for a few bytes of each "
				      "file, pread() needs no mapping.");
	else if (is_short)
		verdict_advise(cause, "read() or pread() small files and small ranges; or keep "
				      "the mappings.");
	else if (inherited)
		verdict_advise(cause,
			       "MADV_POPULATE_READ in each child maps a range in one call; threads "
			       "instead of processes have one page table.");
	else
		verdict_advise(cause,
			       "MAP_POPULATE or MADV_POPULATE_READ maps a range in one call; "
			       "read() needs no mapping.");
}

/* Pages that were taken out of the mapping that has them again. */
static bool state_taken_away(struct verdict_cause *cause, const struct report *run)
{
	const uint64_t here = run->evidence.mapped_here.count;
	struct verdict_callers callers;

	if (here < MAIN_SHARE * run->evidence.cached_reads.count)
		return false;
	verdict_code_advisers(run, NULL, MADV_DONTNEED, &callers);
	cause->certain = callers.bytes / run->environment.page_bytes >= MAIN_SHARE * here;
	verdict_add(cause,
		    " %" PRIu64 " of them were on pages that the process had mapped before, in the "
		    "same mapping",
		    here);
	if (!cause->certain) {
		verdict_add(cause, ": reclaim, a move of the page or a truncation took them away.");
		verdict_advise(cause,
			       "/proc/vmstat (pgscan_direct, pgmigrate_success) shows which.");
		return true;
	}
	verdict_add(cause, "; madvise(MADV_DONTNEED) took them away");
	verdict_code_add_place(cause, &callers);
	verdict_add(cause, ".");
	verdict_advise(cause, "do not give MADV_DONTNEED for pages in use.");
	return true;
}

bool verdict_write_cached(const struct verdict *verdict, const struct report *run,
			  struct verdict_cause *cause)
{
	const struct evidence_sum *reads = &run->evidence.cached_reads;
	const bool exact = run->environment.exact;
	const bool around = run->environment.fault_around && !exact;

	(void)verdict;
	cause->claim =
		(struct verdict_claim){ VERDICT_CLASS(FAULT_LONG) | VERDICT_CLASS(FAULT_AROUND),
					parts_with(PART_ON_CPU) };
	cause->weight = verdict_share_of(run, reads->total_ns - reads->off_cpu_ns);
	if (!verdict_is_worth(run, cause->weight) || reads->count < FEW_CACHED ||
	    verdict_touch_is_dax(run))
		return false;
	verdict_state(cause,
		      "%" PRIu64 " small faults mapped pages that were in the page cache, %.2f µs "
		      "each",
		      reads->count, reads->total_ns / 1e3 / reads->count);
	verdict_add(cause, around ? "." : "; fault-around was off in this recording.");
	if (around && state_taken_away(cause, run))
		return true;
	if (around)
		verdict_write_add_maps(cause, run, reads->count, run->evidence.mapped_before.count);
	else
		verdict_advise(cause, exact ? "record without --exact." :
					      "record without --fault-around off.");
	return true;
}

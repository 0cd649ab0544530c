// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules about file reads: read-ahead, the device, and work on the CPU after a read. The
 * evidence is each file's reads, the state of the file's mappings, the requests and the pages'
 * fate.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "verdict/verdict_rules.h"
#include "report/view.h"

#define KIB 1024.0
#define MIB (1024.0 * 1024)

#define FEW_FAULTS	64  /* fewer prove nothing about the page order */
#define FEW_PAGES	2   /* a request with this size is not a read-ahead */
#define NEXT_SHARE	0.5 /* of the disk faults, on the page after another */
#define AROUND_PAGES	4   /* a request with this size brings pages no fault waits for */
#define WAITED_SHARE	0.6 /* of a file's faults: these pages served few others */
#define AMPLIFIED_PAGES 1024
#define AMPLIFICATION	2.0  /* pages read for each page mapped */
#define EVICTED_SHARE	0.25 /* of the pages read, evicted unused */
#define REQUEST_SHARE	0.5  /* of a file's disk faults waiting for a request */
#define DEVICE_SHARE	0.25 /* of a file's read time, in the queue and at the device */
#define MAIN_SHARE	0.5  /* of the time a rule claims */
#define LEAST_PERCENT	0.5  /* less is printed as 0 % */
#define UNKNOWN_SHARE	0.1  /* of the evicted pages, whose fate is not known */
#define FEW_MAPPED	16
#define LONG_WORK	8.0 /* after a read, for each fault mapping a page */
#define LOTS_OF_MISSES	100 /* MMAP_LOTSAMISS in mm/filemap.c */

/* The work on a page after the device has delivered it: by the thread, or by another one for it. */
#define AFTER_PARTS (VERDICT_PART(PART_CPU_AFTER) | VERDICT_PART(PART_COMPLETION))
#define WAIT_PARTS  (VERDICT_PART(PART_QUEUE) | VERDICT_PART(PART_DEVICE))
#define READ_PARTS  (parts_with(PART_ON_CPU) | AFTER_PARTS | WAIT_PARTS)

static double read_share(const struct report *run)
{
	return verdict_class_share(run, FAULT_DISK) + verdict_class_share(run, FAULT_WAIT);
}

bool verdict_read_is_program(const struct group *file)
{
	return file->inode && file->fetches >= MAIN_SHARE * file->faults;
}

static bool is_read_page_by_page(const struct report *run, const struct group *file)
{
	const uint64_t faults = file->classes[FAULT_DISK];
	const uint64_t page_bytes = run->environment.page_bytes;

	return file->inode && faults >= FEW_FAULTS && file->reads.next >= NEXT_SHARE * faults &&
	       file->reads.requests >= FEW_FAULTS &&
	       file->reads.bytes <= FEW_PAGES * page_bytes * file->reads.requests;
}

/* True if most faults on the file waited, although each had read pages around the faulting one. */
static bool is_read_at_random(const struct report *run, const struct group *file)
{
	const uint64_t faults = file->classes[FAULT_DISK];
	const uint64_t page_bytes = run->environment.page_bytes;

	return file->inode && faults >= FEW_FAULTS && file->reads.next < NEXT_SHARE * faults &&
	       file->reads.requests >= FEW_FAULTS &&
	       file->reads.bytes >= AROUND_PAGES * page_bytes * file->reads.requests &&
	       faults >= WAITED_SHARE * file->faults;
}

/* The costliest file read in this way. */
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

/* A mapping's name ends with the file's name. */
static bool is_mapping_of(const struct group *mapping, const struct group *file)
{
	const size_t length = strlen(mapping->name), tail = strlen(file->name);

	return length > tail && mapping->name[length - tail - 1] == ' ' &&
	       !strcmp(mapping->name + length - tail, file->name);
}

const struct group *verdict_read_mapping(const struct report *run, const struct group *file)
{
	const struct report_places *mappings = &run->places[GROUP_BY_VMA];
	size_t i;

	for (i = 0; i < mappings->nr; i++)
		if (mappings->rows[i].state.known && is_mapping_of(&mappings->rows[i], file))
			return &mappings->rows[i];
	return NULL;
}

static void add_advisers(const struct report *run, const struct group *file,
			 struct verdict_cause *cause)
{
	struct verdict_callers found;

	verdict_code_advisers(run, file->name, MADV_RANDOM, &found);
	verdict_add(cause, ", by madvise(MADV_RANDOM)");
	if (found.calls) {
		verdict_add(cause, ", %" PRIu64 " call%s", found.calls,
			    found.calls == 1 ? "" : "s");
		verdict_code_add_place(cause, &found);
	}
	verdict_add(cause, ".");
}

/*
 * The kernel obeys these three, in this order, when a mapped page is not in memory. Without the
 * mapping's state, only a call for this file is evidence.
 */
static void state_why_off(const struct report *run, const struct group *file,
			  struct verdict_cause *cause)
{
	const struct group *mapping = verdict_read_mapping(run, file);
	const struct mapping_state *state = mapping ? &mapping->state : NULL;
	struct verdict_callers found;

	verdict_code_advisers(run, file->name, MADV_RANDOM, &found);
	if (found.calls || (state && state->advice == MAPPING_RANDOM)) {
		add_advisers(run, file, cause);
		verdict_advise(cause, VERDICT_NO_RANDOM);
		return;
	}
	if (state && !state->ra_pages) {
		verdict_add(cause, ": the device's read_ahead_kb is 0");
		verdict_add_filesystem(cause, ", and ", "the file", file);
		verdict_add(cause, ".");
		verdict_advise(cause, "echo 128 > /sys/block/DEVICE/queue/read_ahead_kb%s.",
			       file->filesystem ? "" : "; findmnt -T FILE names the device");
		return;
	}
	if (state && state->mmap_miss > LOTS_OF_MISSES)
		verdict_add(cause,
			    ": the kernel had given up reading around, after %" PRIu32 " misses.",
			    state->mmap_miss);
	else
		verdict_add(cause, ", by MADV_RANDOM, or a read-ahead of 0 of the device.");
	verdict_advise(cause, "pfdrive replay --advise normal RECORDING shows the saving; then "
			      "remove MADV_RANDOM, or call MADV_SEQUENTIAL or MADV_POPULATE_READ "
			      "for the range.");
}

bool verdict_read_no_readahead(const struct verdict *verdict, const struct report *run,
			       struct verdict_cause *cause)
{
	const struct group *file = page_by_page_file(run);

	(void)verdict;
	if (!file || verdict_share_of(run, file->total_ns) < VERDICT_CAUSE_SHARE ||
	    verdict_class_share(run, FAULT_DISK) < VERDICT_CAUSE_SHARE)
		return false;
	cause->claim = (struct verdict_claim){ VERDICT_READ_CLASSES, READ_PARTS };
	cause->weight = verdict_share_of(run, file->total_ns);
	verdict_state(cause,
		      "%.160s was read %.1f KiB at a time, although %.0f %% of its %" PRIu64
		      " disk faults went on to a next page: read-ahead is off",
		      file->name, file->reads.bytes / KIB / file->reads.requests,
		      100.0 * file->reads.next / file->classes[FAULT_DISK],
		      file->classes[FAULT_DISK]);
	state_why_off(run, file, cause);
	return true;
}

/* Pages that were there before: to read less around them does not keep them. */
static double returned_share(const struct report *run)
{
	return verdict_memory_returned(run, false) + verdict_memory_returned(run, true);
}

/* Of pages whose fate is not known, it is not known either whether they return. */
static bool returns_are_known(const struct report *run)
{
	return run->pages.evictions.overflow <= UNKNOWN_SHARE * run->pages.evictions.evicted;
}

bool verdict_read_around(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const struct group *file = file_that(run, is_read_at_random);

	(void)verdict;
	if (!file || verdict_share_of(run, file->total_ns) < VERDICT_CAUSE_SHARE)
		return false;
	cause->claim = (struct verdict_claim){ VERDICT_READ_CLASSES, READ_PARTS };
	cause->weight = verdict_share_of(run, file->total_ns);
	if (returned_share(run) >= MAIN_SHARE * cause->weight)
		return false;
	cause->certain = returns_are_known(run);
	verdict_state(cause,
		      "%.160s was read at random: %" PRIu64 " of its %" PRIu64
		      " faults waited for the disk. A request read %.0f KiB around its page, which "
		      "served few other faults.",
		      file->name, file->classes[FAULT_DISK], file->faults,
		      file->reads.bytes / KIB / file->reads.requests);
	if (verdict_read_is_program(file))
		verdict_advise(cause,
			       "pfdrive prefetch make RECORDING -o LIST lists these pages of "
			       "the program; pfdrive prefetch apply LIST reads them in one "
			       "go before it starts.");
	else
		verdict_advise(cause,
			       "pfdrive replay --advise random RECORDING shows if single pages are "
			       "faster; then MADV_RANDOM (LMDB: MDB_NORDAHEAD), or pread() without "
			       "a mapping.");
	return true;
}

static double mib_of_pages(const struct report *run, uint64_t pages)
{
	return pages * (double)run->environment.page_bytes / MIB;
}

bool verdict_read_amplified(const struct verdict *verdict, const struct report *run,
			    struct verdict_cause *cause)
{
	const struct readahead_figures *pages = &run->pages.readahead;

	(void)verdict;
	if (!(run->bpf.hooks & 1U << HOOK_PAGE_DELETE) || pages->faulted_read < AMPLIFIED_PAGES ||
	    pages->faulted_read < AMPLIFICATION * pages->mapped ||
	    read_share(run) < VERDICT_CAUSE_SHARE)
		return false;
	cause->claim = (struct verdict_claim){ VERDICT_READ_CLASSES, READ_PARTS };
	cause->weight = read_share(run) * (1 - (double)pages->mapped / pages->faulted_read);
	cause->certain = pages->faulted_evicted >= EVICTED_SHARE * pages->faulted_read;
	verdict_state(cause,
		      "%.1f MiB of mapped files were read into the page cache, and faults mapped "
		      "%.1f MiB",
		      mib_of_pages(run, pages->faulted_read), mib_of_pages(run, pages->mapped));
	if (cause->certain) {
		verdict_add(cause, "; %.1f MiB were evicted unused: read-ahead is too large.",
			    mib_of_pages(run, pages->faulted_evicted));
		verdict_advise(cause, "pfdrive advise RECORDING ranks MADV_RANDOM and smaller "
				      "values of read_ahead_kb.");
	} else {
		verdict_add(cause, ": read-ahead may be too large, or read(2) used the rest.");
		verdict_advise(cause, "pfdrive advise RECORDING shows if less read-ahead is "
				      "faster.");
	}
	return true;
}

/* Requests for this file prove that the pages were not in memory. Holes and servers have none. */
static bool was_read(const struct group *file)
{
	const struct group_reads *reads = &file->reads;

	return (reads->requests && reads->requests >= REQUEST_SHARE * file->classes[FAULT_DISK]) ||
	       (reads->waited_ns && reads->waited_ns >= DEVICE_SHARE * reads->total_ns);
}

/* The files whose reads are proved. */
struct cold_files {
	const struct group *most; /* the file with most time */
	uint64_t total_ns;	  /* time for reading faults */
	uint64_t unproved_ns;	  /* time for files without such a proof */
};

static struct cold_files cold_files(const struct report *run)
{
	const struct report_places *files = &run->places[GROUP_BY_FILE];
	struct cold_files cold = { 0 };
	const struct group *file;

	for (file = files->rows; file < files->rows + files->nr; file++) {
		if (!file->inode || !was_read(file)) {
			cold.unproved_ns += file->reads.total_ns;
			continue;
		}
		cold.total_ns += file->reads.total_ns;
		if (!cold.most || file->reads.total_ns > cold.most->reads.total_ns)
			cold.most = file;
	}
	return cold;
}

/* Nanoseconds for a fault that only maps what is in memory. 0 if not known */
static double mapping_ns(const struct report *run)
{
	const struct evidence_sum *cached = &run->evidence.cached_reads;
	const struct fault_figures *anon = &run->faults.classes[FAULT_ANON];

	if (cached->count >= FEW_MAPPED)
		return (double)cached->total_ns / cached->count;
	return anon->count >= FEW_MAPPED ? (double)anon->whole.total_ns / anon->count : 0;
}

static uint64_t verdict_read_faults(const struct report *run)
{
	return run->faults.classes[FAULT_DISK].count + run->faults.classes[FAULT_WAIT].count +
	       run->faults.classes[FAULT_READAHEAD].count;
}

/*
 * The kernel worked on the pages after the device had delivered them, for much longer than it takes
 * to map them.
 */
static bool is_after_the_read(const struct report *run)
{
	const struct verdict_claim after = { VERDICT_READ_CLASSES, AFTER_PARTS };
	const struct verdict_claim waited = { VERDICT_READ_CLASSES, WAIT_PARTS };
	const struct verdict_claim all = { VERDICT_READ_CLASSES, VERDICT_ALL };
	const uint64_t all_ns = verdict_claimed_ns(run, all);
	const uint64_t after_ns = verdict_claimed_ns(run, after);

	return run->faults.parts_known && mapping_ns(run) > 0 &&
	       after_ns >= LONG_WORK * mapping_ns(run) * verdict_read_faults(run) &&
	       after_ns >= MAIN_SHARE * all_ns &&
	       verdict_claimed_ns(run, waited) < DEVICE_SHARE * all_ns;
}

static void state_reads(const struct report *run, struct verdict_cause *cause)
{
	const struct block_figures *blocks = &run->blocks;

	if (!blocks->reads)
		return;
	verdict_add(cause,
		    " All reads of the run: %" PRIu64 " of %.0f KiB, %.0f µs each at the device, "
		    "%.1f MiB.",
		    blocks->reads, blocks->bytes_read / KIB / blocks->reads,
		    blocks->device.total_ns / 1e3 / blocks->reads, blocks->bytes_read / MIB);
}

/* If a file has most of the cold time, but not all, the other files' share is stated too. */
static void state_cold(const struct cold_files *cold, struct verdict_cause *cause)
{
	const double percent = 100 * cause->weight;
	const double most = percent * cold->most->reads.total_ns / cold->total_ns;

	if (cold->most->reads.total_ns < MAIN_SHARE * cold->total_ns) {
		verdict_state(cause,
			      "several files, most of all %.160s, were not in the page cache: the "
			      "faults that read them have %.0f %% of the time",
			      cold->most->name, percent);
		verdict_add(cause, ", %.0f %% those that read this one.", most);
		return;
	}
	verdict_state(cause,
		      "%.160s was not in the page cache: the faults that read it have %.0f %% of "
		      "the time",
		      cold->most->name, most);
	if (percent - most >= LEAST_PERCENT)
		verdict_add(cause, ", and those that read other files %.0f %%", percent - most);
	verdict_add(cause, ".");
}

static bool claim_queue(struct verdict_cause *cause, const struct report *run)
{
	return run->bpf.hooks & 1U << HOOK_BLOCK_INSERT && run->blocks.reads &&
	       verdict_claim_time(cause, run, VERDICT_ALL, VERDICT_PART(PART_QUEUE));
}

bool verdict_read_cold(const struct verdict *verdict, const struct report *run,
		       struct verdict_cause *cause)
{
	const struct cold_files cold = cold_files(run);
	const double returned = returned_share(run);
	struct verdict_cause queue = { 0 };
	uint32_t parts = READ_PARTS;

	(void)verdict;
	if (!cold.total_ns || is_after_the_read(run))
		return false;
	if (claim_queue(&queue, run))
		parts &= ~VERDICT_PART(PART_QUEUE);
	verdict_claim_time(cause, run, VERDICT_READ_CLASSES, parts);
	cause->weight = cause->weight * cold.total_ns / (cold.total_ns + cold.unproved_ns);
	cause->weight -= returned;
	if (!verdict_is_worth(run, cause->weight) || returned > cause->weight)
		return false;
	cause->certain = returns_are_known(run);
	state_cold(&cold, cause);
	state_reads(run, cause);
	if (!cause->certain)
		verdict_add(cause,
			    " Some pages may have been evicted before: the fate of %" PRIu64
			    " is not known.",
			    run->pages.evictions.overflow);
	cause->last = verdict_memory_is_short(run);
	if (cause->last)
		verdict_advise(
			cause,
			"first the memory: while it is short, pages that are read before they "
			"are needed evict others. pfdrive advise RECORDING predicts the "
			"saving of other reads.");
	else if (verdict_read_is_program(cold.most))
		verdict_advise(cause,
			       "pfdrive prefetch make RECORDING -o LIST lists the pages, and "
			       "pfdrive prefetch apply LIST reads them before the program "
			       "starts.");
	else
		verdict_advise(cause, "read the file before it is needed, with MADV_POPULATE_READ "
				      "or POSIX_FADV_WILLNEED; pfdrive advise RECORDING predicts "
				      "the saving.");
	return true;
}

/* States the work on the pages of a file after its reads. NULL: there is none to speak of. */
static const struct group *state_work(const struct report *run, struct verdict_cause *cause)
{
	const struct verdict_claim own = { VERDICT_READ_CLASSES, VERDICT_PART(PART_CPU_AFTER) };
	const struct cold_files cold = cold_files(run);

	if (!cold.most || !is_after_the_read(run) ||
	    !verdict_claim_time(cause, run, VERDICT_READ_CLASSES, AFTER_PARTS))
		return NULL;
	cause->certain = false;
	verdict_state(cause,
		      "%.160s was not in the page cache, but its device was not the wait: %.0f %% "
		      "of the faults' time is after the reads, %.0f %% on the thread's own CPU.",
		      cold.most->name, 100 * cause->weight,
		      100 * verdict_share_of(run, verdict_claimed_ns(run, own)));
	return cold.most;
}

/* It holds nothing else than compressed files, or was mounted to compress. */
static bool compresses(const struct filesystem *filesystem)
{
	return filesystem && (filesystem->compress || !strcmp(filesystem->type, "squashfs") ||
			      !strcmp(filesystem->type, "cramfs"));
}

bool verdict_read_cpu(const struct verdict *verdict, const struct report *run,
		      struct verdict_cause *cause)
{
	const struct group *file = state_work(run, cause);

	(void)verdict;
	if (!file || filesystem_kind(file->filesystem) == FILESYSTEM_DISK)
		return false;
	verdict_add(cause, " Most likely the kernel %s the pages",
		    compresses(file->filesystem) ? "decompresses" :
						   "decompresses, decrypts or verifies");
	verdict_add_filesystem(cause, ": ", "it", file);
	verdict_add(cause, ".");
	verdict_advise(cause,
		       "%sperf top -g shows its functions. A copy on another file system, or a "
		       "faster compressor (lz4, zstd; smaller blocks) avoids the work.",
		       file->filesystem ? "" :
					  "findmnt -T FILE names the file system and device "
					  "(squashfs, erofs, btrfs, dm-crypt); ");
	return true;
}

bool verdict_read_uncompressed(const struct verdict *verdict, const struct report *run,
			       struct verdict_cause *cause)
{
	const struct group *file = state_work(run, cause);

	(void)verdict;
	if (!file || filesystem_kind(file->filesystem) != FILESYSTEM_DISK)
		return false;
	verdict_add(cause, " Most likely the kernel decrypts or verifies the pages");
	verdict_add_filesystem(cause, ": ", "it", file);
	verdict_add(cause, ", which does not compress.");
	verdict_advise(cause, "lsblk -s names the devices below the file system (dm-crypt, "
			      "dm-verity); perf top -g shows the functions.");
	return true;
}

bool verdict_read_queue(const struct verdict *verdict, const struct report *run,
			struct verdict_cause *cause)
{
	const struct block_figures *blocks = &run->blocks;

	(void)verdict;
	if (!claim_queue(cause, run))
		return false;
	verdict_state(
		cause,
		"requests waited for the device: reads were %.0f µs in its queue, and %.0f µs at "
		"the device; the queue is %.0f %% of the faults' time.",
		blocks->queue.total_ns / 1e3 / blocks->reads,
		blocks->device.total_ns / 1e3 / blocks->reads, 100 * cause->weight);
	verdict_advise(cause, "iostat -x 1 names the other load; read less at a time, or in fewer "
			      "threads. An I/O scheduler that idles (bfq) also holds requests.");
	return true;
}

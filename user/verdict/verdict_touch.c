// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules about new pages: anonymous memory touched first, or given back and touched again, huge
 * pages, and shared memory. They claim only on-CPU time. Evidence: the classes, the peak resident
 * memory, madvise(2) calls, and new pages.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "model/call_kind.h"
#include "verdict/verdict_rules.h"
#include "util/array.h"

#define KIB 1024.0
#define MIB (1024.0 * 1024)

#define FEW_TOUCHES  256
#define LARGE_US     50.0 /* to clear a page: 4 KiB take about 1 */
#define LARGE_PAGES  16
#define AGAIN	     2.0 /* touches for each page resident at once */
#define KEPT_MIB     32	 /* glibc keeps freed blocks up to this size: DEFAULT_MMAP_THRESHOLD_MAX */
#define MAIN_SHARE   0.5
#define FEW_SHARE    0.1
#define MOST_SHARE   0.8
#define AROUND_PAGES 16 /* fault_around_bytes, by default */

/*
 * perf's history knows the pages that faulted while it watched. Pages touched before, or by the
 * kernel unseen, may be copied after a fork.
 */
static bool knows_first_touches(const struct report *run)
{
	const bool whole = run->environment.command[0] &&
			   (!run->bpf.user_only || !run->evidence.forks);

	return !(run->bpf.hooks & 1U << HOOK_PERF) ||
	       (whole && !run->faults.classes[FAULT_ANON].major);
}

/* Microseconds on the CPU for each fault in the class. */
static double cpu_us(const struct report *run, enum fault_class class)
{
	const struct verdict_claim claim = { VERDICT_CLASS(class), parts_with(PART_ON_CPU) };

	return verdict_claimed_ns(run, claim) / 1e3 / run->faults.classes[class].count;
}

/* perf's events tell which pages the program had unmapped. Older recordings lack it. */
static bool knows_unmapped(const struct report *run)
{
	return run->evidence.perf.history_known;
}

/*
 * Anonymous memory touched by faults, in bytes, and how much of it was in huge pages. A read of the
 * zero page takes no memory.
 */
static uint64_t touched_bytes(const struct report *run, uint64_t *huge_bytes)
{
	const uint64_t page_bytes = run->environment.page_bytes;
	const struct contents_huge *huge;
	uint64_t small = run->faults.classes[FAULT_ANON].count;

	*huge_bytes = 0;
	for (huge = run->contents.huge; huge < run->contents.huge + CONTENTS_HUGE && huge->order;
	     huge++) {
		*huge_bytes += (huge->anon.count * page_bytes) << huge->order;
		small -= huge->anon.count < small ? huge->anon.count : small;
	}
	small -= run->evidence.anon_reads.count < small ? run->evidence.anon_reads.count : small;
	return *huge_bytes + small * page_bytes;
}

static bool claim_touches(struct verdict_cause *cause, const struct report *run,
			  enum fault_class class)
{
	const uint64_t least_bytes = FEW_TOUCHES * run->environment.page_bytes;
	uint64_t huge_bytes;

	if (class == FAULT_ANON ? touched_bytes(run, &huge_bytes) < least_bytes &&
					  run->evidence.anon_reads.count < FEW_TOUCHES :
				  run->faults.classes[class].count < FEW_TOUCHES)
		return false;
	return verdict_claim_time(cause, run, VERDICT_CLASS(class), parts_with(PART_ON_CPU));
}

static void state_unseen_touches(const struct report *run, struct verdict_cause *cause)
{
	cause->certain = false;
	verdict_state(cause,
		      "%" PRIu64 " faults of anonymous memory, %.2f µs each, on pages that were "
		      "not seen to fault before: first touches, or copies after a fork of pages "
		      "that were touched unseen.",
		      run->faults.classes[FAULT_ANON].count, verdict_mean_us(run, FAULT_ANON));
	verdict_advise(cause, "record as root, from the start of the program.");
}

/* One process touched more pages than it ever had at once. */
static double touches_a_page(const struct report *run)
{
	uint64_t huge_bytes;
	const uint64_t bytes = touched_bytes(run, &huge_bytes);

	if (run->evidence.forks || run->usage.maxrss_bytes == COUNT_NA || !run->usage.maxrss_bytes)
		return 0;
	return (double)bytes / run->usage.maxrss_bytes;
}

/* Mappings touched more often than they have pages. */
struct again {
	uint64_t touched, size; /* bytes */
};

static struct again touched_mappings(const struct report *run)
{
	const struct report_places *mappings = &run->places[GROUP_BY_VMA];
	struct again again = { 0 };
	const struct group *row;
	uint64_t from, to, touched;

	for (row = mappings->rows; row < mappings->rows + mappings->nr; row++) {
		touched = row->classes[FAULT_ANON] * run->environment.page_bytes;
		if (sscanf(row->name, "%*u %" SCNx64 "-%" SCNx64, &from, &to) != 2 || to <= from ||
		    touched < AGAIN * (to - from))
			continue;
		again.touched += touched;
		again.size += to - from;
	}
	return again;
}

/* Pages given back by calls, and the faults that needed as many again: see struct given_back. */
struct price {
	uint64_t given_pages, pages, faults, ns;
	const struct report_call *most; /* NULL: none */
};

static struct price price_of_calls(const struct report *run)
{
	struct price price = { 0 };
	const struct report_call *row;

	for (row = run->calls.rows; row < run->calls.rows + run->calls.nr; row++) {
		price.given_pages += row->sum.given_pages;
		price.pages += row->sum.again_pages;
		price.faults += row->sum.again_faults;
		price.ns += row->sum.again_ns;
		if (row->sum.again_ns &&
		    (!price.most || row->sum.again_ns > price.most->sum.again_ns))
			price.most = row;
	}
	return price;
}

/* The memory that the program gave back, and touched again. */
struct returned {
	uint64_t bytes, huge_bytes; /* touched, in all */
	uint64_t unmapped_bytes;    /* in these, where the program had unmapped other pages */
	struct again mappings;
	struct price price;
	bool certain, likely;
};

/* False without eBPF, and for recordings before ABI version 12. */
static bool knows_unmapping_calls(const struct report *run)
{
	const struct report_call *row;

	for (row = run->calls.rows; row < run->calls.rows + run->calls.nr; row++)
		if (row->sum.kind >= PFSTAT_CALL_MUNMAP)
			return true;
	return false;
}

static struct returned find_returned(const struct report *run)
{
	struct returned back = { .mappings = touched_mappings(run), .price = price_of_calls(run) };

	back.bytes = touched_bytes(run, &back.huge_bytes);
	back.unmapped_bytes = run->evidence.perf.remapped.count * run->environment.page_bytes;
	if (knows_unmapped(run))
		back.certain = back.unmapped_bytes >= MAIN_SHARE * back.bytes;
	else
		back.certain = back.price.most &&
			       back.price.ns >=
				       MAIN_SHARE * run->faults.classes[FAULT_ANON].whole.total_ns;
	if (back.certain || knows_unmapped(run))
		return back;
	/* Pages that were there may have class anon, too: NUMA hints, other threads. */
	back.likely = back.bytes && back.mappings.touched >= MAIN_SHARE * back.bytes;
	if (!knows_unmapping_calls(run))
		back.likely |= touches_a_page(run) >= AGAIN;
	return back;
}

/* The memory is still there, but not at its place: see mremap(2). */
static bool moves_away(const struct price *price)
{
	return price->most && price->most->sum.kind == PFSTAT_CALL_MREMAP &&
	       price->most->sum.detail & MREMAP_DONTUNMAP;
}

static void add_price(struct verdict_cause *cause, const struct report *run,
		      const struct price *price)
{
	const double mib_pages = MIB / run->environment.page_bytes;
	const struct shaping_call *most = &price->most->sum;

	verdict_add(cause, " %s(%s) %s %.0f MiB", call_kind_name(most->kind),
		    moves_away(price) ? "MREMAP_DONTUNMAP" : "",
		    moves_away(price) ? "moved" : "gave back", most->given_pages / mib_pages);
	verdict_code_add_place(cause, &(struct verdict_callers){
					      .calls = 1,
					      .most = 1,
					      .place = most->place ? price->most->caller : NULL });
	verdict_add(cause, ": %.0f faults and %.2f ms for each MiB.",
		    most->again_faults * mib_pages / most->given_pages,
		    most->again_ns / 1e6 * mib_pages / most->given_pages);
}

static void add_returned(struct verdict_cause *cause, const struct report *run,
			 const struct returned *back)
{
	const struct again *mappings = &back->mappings;

	if (mappings->touched >= MAIN_SHARE * back->bytes)
		verdict_add(cause, "; %.0f MiB of it in mappings of %.1f %s",
			    mappings->touched / MIB,
			    mappings->size / (mappings->size < MIB ? KIB : MIB),
			    mappings->size < MIB ? "KiB" : "MiB");
	else if (touches_a_page(run) >= AGAIN)
		verdict_add(cause, "; at most %.0f MiB were resident at once",
			    run->usage.maxrss_bytes / MIB);
	if (back->huge_bytes >= MAIN_SHARE * back->bytes)
		verdict_add(cause, "; %.0f MiB of it were huge pages", back->huge_bytes / MIB);
	if (knows_unmapped(run))
		verdict_add(cause, "; %.0f %% of it where it had unmapped memory",
			    100.0 * back->unmapped_bytes / back->bytes);
	verdict_add(cause, ".");
	if (back->price.most)
		add_price(cause, run, &back->price);
}

/* A runtime that gives memory back, known by an object that it maps, and how to make it stop. */
struct runtime {
	const char *object; /* in its path */
	const char *remedy;
};

static const struct runtime runtimes[] = {
	{ "libjvm.so", "give the JVM one heap size: -Xms as large as -Xmx." },
	{ "libjemalloc", "let jemalloc keep memory: MALLOC_CONF=dirty_decay_ms:-1 (for ever), or "
			 "more milliseconds than pass between the uses." },
};

static const char *runtime_remedy(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (strstr(name, runtimes[i].object))
			return runtimes[i].remedy;
	return NULL;
}

/* Without calls: the runtime whose files the process has faulted on. */
static const char *mapped_remedy(const struct report *run)
{
	const struct report_places *files = &run->places[GROUP_BY_FILE];
	const char *remedy = NULL;
	size_t i;

	for (i = 0; i < files->nr && !remedy; i++)
		remedy = strstr(files->rows[i].name, ".so") ? runtime_remedy(files->rows[i].name) :
							      NULL;
	return remedy;
}

/*
 * glibc's malloc() gives back the end of the heap, and blocks above 32 MiB. A smaller block it
 * keeps, from the first free() on. A thread that ends gives its stack back.
 */
static const char *glibc_remedy(enum pfstat_call_kind kind, const char *caller)
{
	if (kind == PFSTAT_CALL_BRK)
		return "keep the heap: GLIBC_TUNABLES=glibc.malloc.trim_threshold=N, with N above "
		       "the size that comes and goes, unless the program calls malloc_trim().";
	if (kind == PFSTAT_CALL_MUNMAP)
		return "let malloc() keep large blocks: GLIBC_TUNABLES=glibc.malloc.trim_threshold="
		       "N:glibc.malloc.mmap_threshold=N, with N above their size; keep threads.";
	if (strstr(caller, "start_thread"))
		return "keep threads: each one that ends gives its stack back.";
	return "do not call malloc_trim(), and keep threads: each one that ends gives its stack "
	       "back.";
}

static void advise_caller(struct verdict_cause *cause, const struct report_call *most)
{
	const char *remedy = runtime_remedy(most->caller);

	if (!strncmp(most->caller, "runtime.", strlen("runtime.")))
		remedy = "do not call debug.FreeOSMemory() of Go.";
	else if (!remedy && strstr(most->caller, "/libc.so"))
		remedy = glibc_remedy(most->sum.kind, most->caller);
	if (remedy)
		verdict_advise(cause, "%s", remedy);
	else
		verdict_advise(cause,
			       "keep the memory and use it again, instead of %s(); if it grows, "
			       "reserve the final size at once, or use mremap().",
			       call_kind_name(most->sum.kind));
}

static void advise_keeping(struct verdict_cause *cause, const struct report *run,
			   const struct returned *back)
{
	const struct group *place = verdict_top(run, GROUP_BY_VMA);
	const char *remedy = mapped_remedy(run);

	if (moves_away(&back->price))
		verdict_advise(cause, "move memory that is in use less often; MADV_POPULATE_WRITE "
				      "fills its place in one call.");
	else if (back->price.most)
		advise_caller(cause, back->price.most);
	else if (place && strstr(place->name, "[heap]"))
		verdict_advise(cause, "%s", glibc_remedy(PFSTAT_CALL_BRK, ""));
	else if (remedy)
		verdict_advise(cause, "%s", remedy);
	else if (knows_unmapped(run) && back->mappings.size <= KEPT_MIB * MIB)
		verdict_advise(cause,
			       "keep the mapping and use it again, instead of munmap() and mmap(); "
			       "strace -k -f -e mmap,munmap -- COMMAND shows the callers.");
	else if (knows_unmapped(run))
		verdict_advise(
			cause,
			"reserve the final size at once, grow with mremap(), or keep the "
			"mapping; strace -k -f -e mmap,munmap -- COMMAND shows the callers.");
	else if (knows_unmapping_calls(run))
		verdict_advise(cause, "the recorded calls are not the reason; strace -k -f -e "
				      "madvise,mmap,mremap,munmap -- COMMAND shows all of them.");
	else
		verdict_advise(cause,
			       "eBPF (pfdrive as root) names the calls giving memory back, and "
			       "their place in the code.");
}

bool verdict_touch_again(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const struct returned back = find_returned(run);
	const uint64_t count = back.price.most ? back.price.faults :
						 run->faults.classes[FAULT_ANON].count;

	(void)verdict;
	if (!claim_touches(cause, run, FAULT_ANON) ||
	    (!knows_unmapped(run) && !knows_first_touches(run)) || (!back.certain && !back.likely))
		return false;
	cause->certain = back.certain;
	verdict_state(cause,
		      "the program %s and%s touches it again: %" PRIu64
		      " faults of anonymous memory (%s%.0f MiB), %.2f µs each on the CPU",
		      moves_away(&back.price) ? "moves memory away" : "gives memory back",
		      back.certain ? "" : ", it seems,", count,
		      knows_unmapped(run) && cpu_us(run, FAULT_ANON) >= LARGE_US ? "at least " : "",
		      (back.price.most ? back.price.pages * run->environment.page_bytes :
					 back.bytes) /
			      MIB,
		      cpu_us(run, FAULT_ANON));
	if (run->evidence.anon_reads.count <= FEW_SHARE * run->faults.classes[FAULT_ANON].count)
		verdict_add(cause, ", where the kernel clears each page anew");
	add_returned(cause, run, &back);
	advise_keeping(cause, run, &back);
	return true;
}

/*
 * perf does not tell a read from a write. Pages that were written, and are not gone, were resident
 * together. What fault-around mapped was resident, too.
 */
static bool were_resident(const struct report *run)
{
	const uint64_t mapped_bytes =
		run->faults.classes[FAULT_FILE].count * AROUND_PAGES * run->environment.page_bytes;
	uint64_t huge_bytes;

	return run->usage.maxrss_bytes != COUNT_NA && run->usage.maxrss_bytes > mapped_bytes &&
	       run->usage.maxrss_bytes - mapped_bytes >=
		       MOST_SHARE * touched_bytes(run, &huge_bytes);
}

static void state_vanished(const struct report *run, struct verdict_cause *cause)
{
	uint64_t huge_bytes;
	const uint64_t bytes = touched_bytes(run, &huge_bytes);

	cause->certain = false;
	verdict_state(cause,
		      "%" PRIu64
		      " first touches of anonymous memory (%.0f MiB), %.2f µs each, but ",
		      run->faults.classes[FAULT_ANON].count, bytes / MIB, cpu_us(run, FAULT_ANON));
	if (run->usage.maxrss_bytes == COUNT_NA)
		verdict_add(cause, "how much was resident is not known");
	else
		verdict_add(cause, "at most %.0f MiB were resident at once%s%s",
			    run->usage.maxrss_bytes / MIB,
			    run->evidence.forks ? " in one process" : "",
			    run->usage.maxrss_bytes >= bytes ? ", pages of files among them" : "");
	verdict_add(cause,
		    ": reads of memory that was never written, for which the kernel maps its zero "
		    "page, or memory that was given back later (munmap(), madvise()), as when an "
		    "array grows and is copied%s.",
		    run->evidence.forks ? ", or the memory of several processes" : "");
	verdict_advise(cause,
		       "strace -f -c -e mmap,munmap,mremap,brk,madvise -- COMMAND counts the calls "
		       "that give memory back: none, if these are reads (MADV_HUGEPAGE's zero page "
		       "is 2 MiB); eBPF (pfdrive as root) distinguishes reads and writes.");
}

/* A read from memory never written maps the zero page. Nothing is cleared. */
static void state_reads_of_nothing(const struct report *run, struct verdict_cause *cause)
{
	const struct evidence_sum *reads = &run->evidence.anon_reads;

	verdict_state(cause,
		      "%" PRIu64 " reads of anonymous memory that was not written before, %.2f µs "
		      "each: the kernel maps the zero page for each of them.",
		      reads->count, reads->total_ns / 1e3 / reads->count);
	verdict_advise(cause,
		       "do not read memory before it is written; MADV_POPULATE_WRITE for the "
		       "range, or MADV_HUGEPAGE, whose zero page is 2 MiB.");
}

/*
 * perf does not know a page's size. Large pages take long to clear, and there are few faults for
 * the resident memory. Memory that system calls populate only has the second sign.
 */
static bool may_be_huge(const struct report *run)
{
	const uint64_t maxrss_bytes = run->usage.maxrss_bytes;

	return run->bpf.hooks & 1U << HOOK_PERF && maxrss_bytes != COUNT_NA &&
	       cpu_us(run, FAULT_ANON) >= LARGE_US &&
	       maxrss_bytes >= LARGE_PAGES * run->environment.page_bytes * run->faults.all.count;
}

bool verdict_touch_first(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const struct fault_figures *anon = &run->faults.classes[FAULT_ANON];

	if (!claim_touches(cause, run, FAULT_ANON))
		return false;
	if (!knows_first_touches(run)) {
		state_unseen_touches(run, cause);
		return true;
	}
	if (run->evidence.anon_reads.count >= MAIN_SHARE * anon->count) {
		state_reads_of_nothing(run, cause);
		return true;
	}
	if (knows_unmapped(run) && !were_resident(run)) {
		state_vanished(run, cause);
		return true;
	}
	verdict_state(cause,
		      "%" PRIu64 " first touches of anonymous memory, %.2f µs each on the CPU: "
		      "the kernel clears each new page.",
		      anon->count, cpu_us(run, FAULT_ANON));
	if (verdict->place && strstr(verdict->place->name, "[stack]")) {
		verdict_advise(cause, "use less stack (smaller frames, less recursion), or touch "
				      "it before the work begins.");
		return true;
	}
	if (may_be_huge(run)) {
		verdict_add(cause, " The time for each, and the resident memory, show that most of "
				   "them are large pages already.");
		verdict_advise(cause,
			       "keep and reuse memory, or touch it in several threads, each a "
			       "range of its own; MADV_POPULATE_WRITE moves the faults to one "
			       "call.");
		return true;
	}
	verdict_advise(cause,
		       "keep and reuse memory; %sMADV_HUGEPAGE or "
		       "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 make fewer and larger faults; "
		       "MADV_POPULATE_WRITE moves them to one call.",
		       run->bpf.hooks & 1U << HOOK_PERF ?
			       "if they are not huge pages already (AnonHugePages in "
			       "/proc/PID/smaps_rollup), " :
			       "");
	return true;
}

/* The size with most time. NULL without huge pages */
static const struct contents_huge *main_huge(const struct report *run, bool hugetlb,
					     const struct evidence_sum **sum)
{
	const struct contents_huge *huge = run->contents.huge, *most = NULL;
	const struct evidence_sum *of;

	for (; huge < run->contents.huge + CONTENTS_HUGE && huge->order; huge++) {
		of = hugetlb ? &huge->hugetlb : &huge->anon;
		if (!of->count || (most && of->total_ns <= (*sum)->total_ns))
			continue;
		most = huge;
		*sum = of;
	}
	return most;
}

static void state_huge(const struct report *run, const struct contents_huge *huge,
		       const struct evidence_sum *sum, struct verdict_cause *cause)
{
	const double mib = (run->environment.page_bytes << huge->order) / MIB;

	verdict_state(cause,
		      "%" PRIu64 " faults of huge pages of %.0f MiB (%.0f MiB), %.1f µs each: the "
		      "kernel clears a whole one in each.",
		      sum->count, mib, mib * sum->count, sum->total_ns / 1e3 / sum->count);
	verdict_advise(cause, "touch the memory in several threads, each a range of its own (QEMU: "
			      "prealloc-threads), before it is needed; keep and reuse it.");
}

/* Transparent huge pages in anonymous memory. */
bool verdict_touch_huge_pages(const struct verdict *verdict, const struct report *run,
			      struct verdict_cause *cause)
{
	const struct evidence_sum *sum;
	const struct contents_huge *huge = main_huge(run, false, &sum);

	(void)verdict;
	if (!huge || sum->total_ns < MAIN_SHARE * run->faults.classes[FAULT_ANON].whole.total_ns ||
	    !claim_touches(cause, run, FAULT_ANON))
		return false;
	state_huge(run, huge, sum, cause);
	return true;
}

bool verdict_touch_hugetlb(const struct verdict *verdict, const struct report *run,
			   struct verdict_cause *cause)
{
	const struct evidence_sum *sum;
	const struct contents_huge *huge = main_huge(run, true, &sum);

	(void)verdict;
	if (!huge)
		return false;
	cause->claim =
		(struct verdict_claim){ VERDICT_CLASS(FAULT_OTHER), parts_with(PART_ON_CPU) };
	cause->weight = verdict_share_of(run, sum->total_ns - sum->off_cpu_ns);
	if (cause->weight < VERDICT_CAUSE_SHARE)
		return false;
	state_huge(run, huge, sum, cause);
	return true;
}

bool verdict_touch_is_dax(const struct report *run)
{
	return run->contents.dax_small &&
	       run->contents.dax_small >= FEW_SHARE * run->faults.all.count;
}

bool verdict_touch_dax(const struct verdict *verdict, const struct report *run,
		       struct verdict_cause *cause)
{
	if (!verdict_touch_is_dax(run) || !verdict->place)
		return false;
	cause->weight = verdict_share_of(run, verdict->place->total_ns);
	if (cause->weight < VERDICT_CAUSE_SHARE)
		return false;
	verdict_state(cause,
		      "%.160s is on DAX, and %" PRIu64
		      " faults mapped single pages of it: huge pages "
		      "(2 MiB) need blocks and a mapping that are aligned and in one piece.",
		      verdict->place->name, run->contents.dax_small);
	verdict_advise(cause, "align the file system (mkfs.ext4 -b 4096 -E stride=512,stripe_width="
			      "512; mkfs.xfs -d su=2m,sw=1), write the file in one piece, and "
			      "map it at an offset and address of 2 MiB.");
	return true;
}

/* The kernel's shared memory files: MAP_SHARED without a file, tmpfs, memfd, System V. */
bool verdict_touch_is_shared_memory(const struct group *file)
{
	static const char *const names[] = { "/dev/zero", "/dev/shm/", "/memfd:", "/SYSV" };
	size_t i;

	for (i = 0; file && i < ARRAY_SIZE(names); i++)
		if (!strncmp(file->name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Faults on pages that the same process had mapped before, in another mapping, if most are. */
static uint64_t mapped_again(const struct report *run)
{
	const struct evidence_perf *perf = &run->evidence.perf;
	const uint64_t again = perf->history_known ? perf->mapped.count :
						     run->evidence.shared_before.count;

	return again >= MAIN_SHARE * run->faults.classes[FAULT_FILE].count ? again : 0;
}

/* New pages of shared memory where a page had been before, if they are more than a few. */
static uint64_t removed_pages(const struct report *run)
{
	const uint64_t known = run->contents.by[PFSTAT_CONTENT_NEW].count +
			       run->contents.by[PFSTAT_CONTENT_PRESENT].count;
	const uint64_t removed = run->evidence.shared_removed.count;

	return removed > FEW_SHARE * known ? removed : 0;
}

/* Who punched the hole is only known for the program's own calls. */
static void add_removed(const struct report *run, struct verdict_cause *cause)
{
	struct verdict_callers found;

	verdict_add(cause,
		    " %" PRIu64 " of the new pages are where a page had been before: a hole was "
		    "punched (fallocate(), MADV_REMOVE), or the file was truncated",
		    removed_pages(run));
	verdict_code_advisers(run, NULL, MADV_REMOVE, &found);
	if (found.calls) {
		verdict_add(cause, "; the program called madvise(MADV_REMOVE) %" PRIu64 " time%s",
			    found.calls, found.calls == 1 ? "" : "s");
		verdict_code_add_place(cause, &found);
	}
	verdict_add(cause, ".");
}

static void state_shared_touches(const struct report *run, struct verdict_cause *cause)
{
	const struct evidence_sum *made = &run->contents.by[PFSTAT_CONTENT_NEW];
	const struct evidence_sum *present = &run->contents.by[PFSTAT_CONTENT_PRESENT];
	const uint64_t known = made->count + present->count, again = mapped_again(run);
	const uint64_t removed = removed_pages(run);

	if (again) {
		cause->rule = "shared-memory-mapped";
		verdict_add(cause,
			    ": %" PRIu64 " of them were on pages that the process had mapped "
			    "before, in another mapping.",
			    again);
		return;
	}
	if (!known) {
		cause->certain = false;
		verdict_add(cause, ": first touches, for which the kernel clears a page, or pages "
				   "that another process had touched, and that were only mapped.");
		return;
	}
	if (present->count <= FEW_SHARE * known) {
		verdict_add(cause, ": %sfor each of %s the kernel clears a page.",
			    removed ? "" : "first touches, ", removed ? "them" : "which");
	} else if (made->count <= FEW_SHARE * known) {
		cause->rule = "shared-memory-mapped";
		verdict_add(cause, ": the pages existed, and were only mapped into this process, "
				   "one by one.");
	} else {
		if (present->count >= made->count)
			cause->rule = "shared-memory-mapped";
		verdict_add(cause,
			    ": %" PRIu64 " cleared a new page, %" PRIu64
			    " only mapped one that existed.",
			    made->count, present->count);
	}
	if (!removed)
		return;
	if (removed >= MAIN_SHARE * known)
		cause->rule = "shared-memory-removed";
	add_removed(run, cause);
}

bool verdict_touch_shared_memory(const struct verdict *verdict, const struct report *run,
				 struct verdict_cause *cause)
{
	const struct evidence_sum *made = &run->contents.by[PFSTAT_CONTENT_NEW];
	const struct evidence_sum *present = &run->contents.by[PFSTAT_CONTENT_PRESENT];
	const uint64_t known = made->count + present->count;

	if ((!verdict_touch_is_shared_memory(verdict->place) &&
	     known < MAIN_SHARE * run->faults.classes[FAULT_FILE].count) ||
	    !claim_touches(cause, run, FAULT_FILE))
		return false;
	verdict_state(cause, "%" PRIu64 " faults of shared memory, %.2f µs each on the CPU",
		      run->faults.classes[FAULT_FILE].count, cpu_us(run, FAULT_FILE));
	state_shared_touches(run, cause);
	if (mapped_again(run))
		verdict_advise(cause, "keep one mapping and use it again.");
	else if (removed_pages(run) && removed_pages(run) >= MAIN_SHARE * known)
		verdict_advise(cause, "do not punch holes into pages in use, and do not truncate "
				      "the file; strace -f -e fallocate,ftruncate,madvise -p PID, "
				      "for each process that shares it, shows the calls.");
	else if (made->count > present->count)
		verdict_advise(cause, "keep and reuse the memory, or MADV_POPULATE_WRITE for the "
				      "range; huge pages: shmem_enabled, MAP_HUGETLB.");
	else
		verdict_advise(cause,
			       "%s maps a range in one call; huge pages (MAP_HUGETLB, "
			       "huge_pages=on of PostgreSQL, shmem_enabled) need 512 times fewer; "
			       "keep processes, so that they map once.",
			       run->evidence.inherited.count || run->evidence.shared_inherited ?
				       "MADV_POPULATE_READ in each process" :
				       "MAP_POPULATE or MADV_POPULATE_READ");
	return true;
}

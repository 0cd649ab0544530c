// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verdict rules about memory: for each, evidence that proves the cause, and evidence that just
 * does not.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "sample_verdict.h"
#include "util/array.h"

static void add_copies(struct sample *s, enum pfstat_content content, uint64_t count,
		       uint64_t total_ns)
{
	add_class(s, FAULT_COW, count, PART_CPU_BEFORE, total_ns);
	s->report.contents.by[content].count += count;
	s->report.contents.by[content].total_ns += total_ns;
}

TEST(test_copies_after_forks)
{
	struct sample s;

	sample_begin(&s);
	add_copies(&s, PFSTAT_CONTENT_FORK, 26400, 500 * MS);
	s.report.contents.after_fork.count = 26400;
	s.report.evidence.forks = 40;
	check_cause(&s, "copy-after-fork", true,
		    "26400 pages (103 MiB), 18.94 µs each, 660 after each of 40 forks");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "copy-after-fork")->remedy,
				     "gc.freeze() of Python, which does not keep the counts"));
	s.report.evidence.forks = 0; /* before the recording */
	s.report.contents.after_fork.count = 0;
	check_cause(&s, "copy-after-fork", true, "most of them after a fork before the recording");
	s.report.contents.after_fork.count = 26400;
	s.report.evidence.forks = 500; /* few copies each: a shell starting programs */
	check_no_cause(&s, "copy-after-fork");
	sample_begin(&s);
	add_copies(&s, PFSTAT_CONTENT_FORK, 255, 500 * MS);
	s.report.evidence.forks = 1;
	check_no_cause(&s, "copy-after-fork");
}

TEST(test_pages_that_a_fork_left_write_protected)
{
	struct sample s;

	sample_begin(&s);
	add_copies(&s, PFSTAT_CONTENT_REUSED, 25600, 500 * MS);
	s.report.contents.reused_after_fork.count = 25600;
	s.report.evidence.forks = 2;
	check_cause(&s, "writable-after-fork", true,
		    "a fork write-protected 25600 pages (100 MiB), and the first write to each is "
		    "a fault, 19.53 µs each");
	s.report.faults.classes[FAULT_SWAP].count = 12800; /* read from swap, then written */
	check_cause(&s, "writable-after-fork", false, "a fork write-protected 25600 pages");
	s.report.faults.classes[FAULT_SWAP].count = 0;
	s.report.contents.reused_after_fork.count = 12000;
	check_no_cause(&s, "writable-after-fork");
	s.report.contents.reused_after_fork.count = 25600;
	s.report.evidence.forks = 401; /* few pages each: a shell starting programs */
	check_no_cause(&s, "writable-after-fork");
	/* A fork before a tracker of writes: the notes name its pages, and none is of the fork. */
	s.report.evidence.forks = 1;
	s.report.contents.notes = true;
	s.report.contents.mechanisms[MECHANISM_WRITABLE_SOFT_DIRTY] =
		s.report.contents.by[PFSTAT_CONTENT_REUSED];
	check_no_cause(&s, "writable-after-fork");
	check_cause(&s, "soft-dirty", true, "25600 pages");
	/* eBPF does not know the owner. */
	s.report.contents.mechanisms[MECHANISM_WRITABLE_UNKNOWN] =
		s.report.contents.by[PFSTAT_CONTENT_REUSED];
	check_cause(&s, "writable-after-fork", true, "a fork write-protected 25600 pages");
	s.report.contents.mechanisms[MECHANISM_NUMA_MOVED].count = 12800;
	check_cause(&s, "writable-after-fork", false, "a fork write-protected 25600 pages");
}

TEST(test_time_of_forks_is_that_of_calls_that_copy_the_address_space)
{
	struct report_call calls[] = {
		{ .sum = { .kind = PFSTAT_CALL_CLONE,
			   .detail = SIGCHLD,
			   .count = 2,
			   .total_ns = 80 * MS } },
		{ .sum = { .kind = PFSTAT_CALL_CLONE,
			   .detail = CLONE_VM | CLONE_THREAD,
			   .count = 9,
			   .total_ns = 500 * MS } },
		{ .sum = { .kind = PFSTAT_CALL_FORK, .count = 1, .total_ns = 10 * MS } },
		{ .sum = { .kind = PFSTAT_CALL_VFORK, .count = 1, .total_ns = 700 * MS } },
	};
	struct sample s;

	sample_begin(&s);
	add_copies(&s, PFSTAT_CONTENT_FORK, 26400, 500 * MS);
	s.report.contents.after_fork.count = 26400;
	s.report.evidence.forks = 3;
	s.report.calls = (struct report_calls){ .rows = calls, .nr = 4 };
	check_cause(&s, "copy-after-fork", true, " The calls of fork() took 90.0 ms.");
	calls[0].sum.total_ns = 1000;
	calls[2].sum.total_ns = 1000;
	judge(&s);
	ck_assert_ptr_null(strstr(cause_of(&s, "copy-after-fork")->text, "took"));
}

TEST(test_copies_of_pages_that_no_fork_shared)
{
	static const struct {
		enum pfstat_content content;
		const char *rule, *text;
	} copies[] = {
		{ PFSTAT_CONTENT_ZERO, "copy-zero-page", "were read before they were written" },
		{ PFSTAT_CONTENT_KSM, "copy-ksm", "KSM had merged equal pages" },
		{ PFSTAT_CONTENT_FILE, "private-copy", "stores to a private mapping of a file" },
	};
	struct sample s;
	size_t i;

	for (i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		sample_begin(&s);
		s.report.evidence.forks = 1; /* by another program */
		add_copies(&s, copies[i].content, 16400, 100 * MS);
		check_cause(&s, copies[i].rule, true, copies[i].text);
		check_cause(&s, copies[i].rule, true, "64 MiB");
		check_no_cause(&s, "copy-after-fork");
		check_no_cause(&s, "copy");
		add_class(&s, FAULT_ANON, 10, PART_CPU_BEFORE, 301 * MS);
		check_no_cause(&s, copies[i].rule);
	}
	sample_begin(&s);
	add_copies(&s, PFSTAT_CONTENT_UNKNOWN, 16400, 100 * MS);
	check_cause(&s, "copy", false, "origin is not known");
}

TEST(test_relocations_have_a_remedy_of_their_own)
{
	struct sample s;

	sample_begin(&s);
	add_copies(&s, PFSTAT_CONTENT_FILE, 16400, 100 * MS);
	s.codes[0] =
		(struct group){ .name = "_dl_relocate_object+0x9 (/usr/lib/ld-linux-x86-64.so.2)",
				.total_ns = 60 * MS };
	s.report.places[GROUP_BY_CODE] = (struct report_places){ s.codes, 1 };
	check_cause(&s, "private-copy", true, "stores to a private mapping of a file");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "private-copy")->remedy, "link without -pie"));
	s.codes[0].name = "main+0x9 (/usr/bin/program)";
	check_cause(&s, "private-copy", true, "stores to a private mapping of a file");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "private-copy")->remedy, "MAP_SHARED"));
}

TEST(test_swap_in_memory_and_on_a_device)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_SWAP, 10000, PART_CPU_BEFORE, 900 * MS);
	s.report.faults.classes[FAULT_SWAP].major = 1000;
	strcpy(s.report.environment.cgroup, "/sys/fs/cgroup/fight");
	check_cause(&s, "swap", true,
		    "10000 swap-ins of anonymous memory, 90 µs each; nearly none");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "swap")->remedy, "/sys/fs/cgroup/fight"));
	add_class(&s, FAULT_SWAP, 0, PART_DEVICE, 900 * MS);
	check_cause(&s, "swap", true, "50 % of it waited for the swap device");
	/* Swap cache pages, or pages being migrated. */
	s.report.faults.classes[FAULT_SWAP].major = 999;
	check_cause(&s, "swap", false, "10000 faults on pages that were being migrated, or in the");
	s.report.contents.mechanisms[MECHANISM_MIGRATION] =
		(struct evidence_sum){ .count = 5000, .total_ns = 500 * MS };
	check_cause(&s, "swap", true, "5000 faults, 100 µs each, waited for pages that were");
	add_class(&s, FAULT_ANON, 1, PART_CPU_BEFORE, 5401 * MS);
	check_no_cause(&s, "swap");
}

TEST(test_memory_that_went_to_swap_before_the_recording)
{
	struct swap_outs_figures *swaps;
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_SWAP, 10000, PART_CPU_BEFORE, 900 * MS);
	s.report.faults.classes[FAULT_SWAP].major = 10000;
	swaps = &s.report.pages.evictions.swaps;
	swaps->unknown = 9000;
	swaps->pages = 899;
	s.report.bpf.hooks |= 1U << HOOK_SWAP_OUT;
	check_cause(&s, "swap", true,
		    "9000 pages of anonymous memory (35 MiB) had gone to swap before the "
		    "recording, and were read back, 90 µs each; 899 pages went there during it.");
	swaps->pages = 900;
	check_cause(&s, "swap", true, "memory was too small");
	swaps->pages = 0;
	swaps->unknown = 8999;
	check_cause(&s, "swap", true, "memory was too small");
	swaps->unknown = 9000;
	s.report.bpf.hooks &= ~(1U << HOOK_SWAP_OUT);
	check_cause(&s, "swap", true, "memory was too small");
}

TEST(test_limit_of_memory_is_named_if_the_program_met_it)
{
	struct evidence_reclaims *reclaims;
	struct sample s;

	sample_begin(&s);
	reclaims = s.report.evidence.reclaims;
	add_class(&s, FAULT_SWAP, 10000, PART_CPU_BEFORE, 900 * MS);
	s.report.faults.classes[FAULT_SWAP].major = 1000;
	judge(&s);
	ck_assert_ptr_null(strstr(cause_of(&s, "swap")->text, "limit"));
	reclaims[PFSTAT_RECLAIM_CGROUP] = (struct evidence_reclaims){ .count = 128, .pages = 8192 };
	check_cause(&s, "swap", true,
		    "The limit is that of its cgroup: it was met 128 times, and the program had "
		    "to free 8192 pages (32 MiB).");
	reclaims[PFSTAT_RECLAIM_DIRECT] = (struct evidence_reclaims){ .count = 1, .pages = 8193 };
	check_cause(&s, "swap", true,
		    "The limit is the memory of the machine: the program had to free 8193 pages");
}

static void add_return(struct sample *s, enum evictions_reason reason, uint64_t total_ns)
{
	s->pairs[0] = (struct evictions_pair){ .reason = reason,
					       .victim = 7,
					       .evictor = 8,
					       .evictor_name = "hog",
					       .pages = 3000,
					       .faults = 500,
					       .total_ns = total_ns };
	s->report.pages.pairs = s->pairs;
	s->report.pages.nr_pairs = 1;
}

TEST(test_evicted_pages_that_are_read_again)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 1000, PART_CPU_BEFORE, 1000 * MS);
	add_return(&s, EVICTIONS_RECLAIMED, 110 * MS);
	check_cause(&s, "refaults", true,
		    "memory was too small: 3000 pages of files were evicted and read again by 500 "
		    "faults (11 % of the faults' time), most of them evicted by hog (8).");
	s.report.pages.evictions = (struct evictions_figures){ .evicted = 4000, .overflow = 401 };
	check_cause(&s, "refaults", true, "The fate of 401 more evicted pages is not known");
	s.pairs[0].total_ns = 99 * MS;
	check_no_cause(&s, "refaults");
	/* A recording from before this version has no reason. */
	add_return(&s, EVICTIONS_UNKNOWN, 110 * MS);
	check_cause(&s, "refaults", false, "memory was too small, or another program dropped");
}

TEST(test_dropped_pages_are_no_lack_of_memory)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 1000, PART_CPU_BEFORE, 1000 * MS);
	add_return(&s, EVICTIONS_DROPPED, 900 * MS);
	check_cause(&s, "dropped-pages", true,
		    "hog (8) dropped pages, and 3000 pages of files were read again, by 500 faults "
		    "(90 % of the faults' time). Memory was not short.");
	check_no_cause(&s, "refaults");
	s.pairs[0].reason = EVICTIONS_PROACTIVE;
	check_cause(&s, "dropped-pages", true,
		    "hog (8) requested reclaim (a write to memory.reclaim), and 3000 pages");
	/* An old recording: the process evicted pages of its own, without a reclaim. */
	add_return(&s, EVICTIONS_UNKNOWN, 900 * MS);
	s.pairs[0].victim = 8;
	check_cause(&s, "dropped-pages", true, "the program itself dropped pages");
	s.report.evidence.reclaims[PFSTAT_RECLAIM_CGROUP].count = 1;
	check_no_cause(&s, "dropped-pages");
}

/* MADV_PAGEOUT, or an agent that has idle processes paged out. */
TEST(test_swap_ins_of_pages_that_a_request_paged_out_are_no_lack_of_memory)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_SWAP, 500, PART_DEVICE, 1000 * MS);
	s.report.faults.classes[FAULT_SWAP].major = 500;
	add_return(&s, EVICTIONS_PROACTIVE, 500 * MS);
	check_cause(&s, "swap", true, "memory was too small"); /* pages of files */
	s.pairs[0].anon = true;
	check_cause(&s, "swap", true,
		    "hog (8) requested reclaim (a write to memory.reclaim), and 500 pages of "
		    "anonymous memory (2 MiB) were read back from swap, 1000 µs each.");
	s.pairs[0].total_ns = 499 * MS;
	check_cause(&s, "swap", true, "memory was too small");
	add_return(&s, EVICTIONS_DROPPED, 900 * MS);
	s.pairs[0].anon = true;
	s.pairs[0].victim = 8;
	check_cause(&s, "swap", true, "the program itself dropped pages");
	add_return(&s, EVICTIONS_RECLAIMED, 900 * MS);
	s.pairs[0].anon = true;
	check_cause(&s, "swap", true, "memory was too small");
}

/* A file that was evicted is not in the page cache, but to read it before does not help. */
TEST(test_pages_that_return_are_not_a_cold_file)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 1000, PART_DEVICE, 1000 * MS);
	s.files[0] = (struct group){
		.name = "/data/big",
		.inode = 5,
		.faults = 1000,
		.total_ns = 1000 * MS,
		.classes = { [FAULT_DISK] = 1000 },
		.reads = { .total_ns = 1000 * MS, .waited_ns = 1000 * MS, .requests = 1000 }
	};
	s.report.places[GROUP_BY_FILE] = (struct report_places){ s.files, 1 };
	add_return(&s, EVICTIONS_RECLAIMED, 499 * MS);
	check_cause(&s, "cold-file", true, "the faults that read it have 50 % of the time");
	check_cause(&s, "refaults", true, "50 % of the faults' time");
	/* Reads in advance evict more pages while memory is short, so memory comes first. */
	s.pairs[0].total_ns = 200 * MS;
	check_cause(&s, "cold-file", true, "the faults that read it have 80 % of the time");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "cold-file")->remedy, "first the memory"));
	ck_assert_str_eq(s.verdict.causes[0].rule, "refaults");
	s.pairs[0].total_ns = 99 * MS;
	check_cause(&s, "cold-file", true, "the faults that read it have 100 % of the time");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "cold-file")->remedy, "MADV_POPULATE_READ"));
	s.pairs[0].total_ns = 501 * MS;
	check_no_cause(&s, "cold-file");
}

TEST(test_first_touches)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100000, PART_CPU_BEFORE, 100 * MS);
	check_cause(&s, "first-touch", true,
		    "100000 first touches of anonymous memory, 1.00 µs each on the CPU");
	/* Reading memory never written clears nothing. */
	s.report.evidence.anon_reads = (struct evidence_sum){ 50000, 50 * MS, 0 };
	check_cause(&s, "first-touch", true,
		    "50000 reads of anonymous memory that was not written");
	s.files[0] = (struct group){ .name = "7 1000-2000 [stack]", .total_ns = 100 * MS };
	s.report.places[GROUP_BY_VMA] = (struct report_places){ s.files, 1 };
	check_cause(&s, "first-touch", true, "50000 reads of anonymous memory");
	s.report.places[GROUP_BY_VMA].nr = 0;
	/* Reads of the zero page touch no memory. */
	s.report.evidence.anon_reads.count = 100000;
	check_cause(&s, "first-touch", true, "100000 reads of anonymous memory");
	s.report.evidence.anon_reads = (struct evidence_sum){ 49999, 50 * MS, 0 };
	/* Waits are separate causes, and the rest is certain. */
	add_class(&s, FAULT_ANON, 0, PART_RUNQUEUE, 100 * MS);
	check_cause(&s, "first-touch", true, "1.00 µs each on the CPU");
	check_cause(&s, "cpu-wait", true, "for 50 % of the faults' time");
	add_class(&s, FAULT_ANON, 0, PART_RUNQUEUE, 800 * MS);
	check_cause(&s, "first-touch", true, "1.00 µs each on the CPU"); /* all but the waits */
	add_class(&s, FAULT_ANON, 0, PART_RUNQUEUE, MS);
	check_no_cause(&s, "first-touch");
	sample_begin(&s);
	add_class(&s, FAULT_ANON, 255, PART_CPU_BEFORE, 100 * MS);
	check_no_cause(&s, "first-touch");
}

/* eBPF sends the calls that give memory back, and the analysis finds the faults that follow. */
TEST(test_memory_that_is_given_back_and_touched_again)
{
	struct report_call calls[] = {
		{ { .kind = PFSTAT_CALL_MUNMAP,
		    .place = 1,
		    .given_pages = 25600,
		    .again_pages = 25600,
		    .again_faults = 25600,
		    .again_ns = 50 * MS },
		  "purge+0x12 (/bin/server)",
		  "" },
		{ { .kind = PFSTAT_CALL_BRK }, "(not known)", "" },
	};
	struct report_call *most = &calls[0];
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 51200, PART_CPU_BEFORE, 100 * MS);
	s.report.usage.maxrss_bytes = 10 << 20;
	s.report.calls = (struct report_calls){ calls, ARRAY_SIZE(calls), 0 };
	check_cause(&s, "touched-again", true,
		    "25600 faults of anonymous memory (100 MiB), 1.95 µs each on the CPU");
	check_cause(&s, "touched-again", true,
		    "munmap() gave back 100 MiB in purge+0x12 (server): 256 faults and 0.50 ms for "
		    "each MiB.");
	check_no_cause(&s, "first-touch");
	most->sum.given_pages = 51200; /* half of it was needed again */
	check_cause(&s, "touched-again", true,
		    "munmap() gave back 200 MiB in purge+0x12 (server): 128 faults and 0.25 ms");
	s.report.evidence.anon_reads.count = 25600; /* nothing is cleared for a read */
	check_cause(&s, "touched-again", true, "1.95 µs each on the CPU; at most");
	s.report.evidence.anon_reads.count = 0;
	/* Less than half of the time, however little was resident at once. */
	most->sum.again_ns--;
	check_no_cause(&s, "touched-again");
	check_cause(&s, "first-touch", true, "51200 first touches");
}

TEST(test_memory_that_is_moved_away_is_not_given_back)
{
	struct report_call call = { { .kind = PFSTAT_CALL_MREMAP,
				      .detail = MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
				      .given_pages = 25600,
				      .again_pages = 25600,
				      .again_faults = 25600,
				      .again_ns = 90 * MS },
				    "(not known)",
				    "" };
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 25600, PART_CPU_BEFORE, 100 * MS);
	s.report.calls = (struct report_calls){ &call, 1, 0 };
	check_cause(&s, "touched-again", true,
		    "the program moves memory away and touches it again: 25600 faults");
	check_cause(&s, "touched-again", true,
		    " mremap(MREMAP_DONTUNMAP) moved 100 MiB: 256 faults and 0.90 ms for each MiB");
	call.sum.detail = MREMAP_MAYMOVE;
	check_cause(&s, "touched-again", true, " mremap() gave back 100 MiB: 256 faults");
}

/* The calls are known, and they do not explain it. */
TEST(test_mappings_touched_twice_may_be_memory_given_back_unseen)
{
	struct report_call call = { { .kind = PFSTAT_CALL_MUNMAP }, "(not known)", "" };
	struct group mapping = { .name = "100 7f0000000000-7f0001000000 (anonymous memory)",
				 .total_ns = 100 * MS,
				 .classes = { [FAULT_ANON] = 204800 } };
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 204800, PART_CPU_BEFORE, 100 * MS);
	s.report.calls = (struct report_calls){ &call, 1, 0 };
	check_cause(&s, "first-touch", true, "204800 first touches");
	s.report.places[GROUP_BY_VMA].rows = &mapping;
	s.report.places[GROUP_BY_VMA].nr = 1;
	check_cause(&s, "touched-again", false, "800 MiB of it in mappings of 16.0 MiB.");
	check_no_cause(&s, "first-touch");
}

TEST(test_who_gives_memory_back_decides_the_remedy)
{
	static const struct {
		enum pfstat_call_kind kind;
		char *caller;
		const char *remedy;
	} callers[] = {
		{ PFSTAT_CALL_MUNMAP, "purge+0x1 (/bin/server)", "instead of munmap()" },
		{ PFSTAT_CALL_MADVISE, "purge+0x1 (/bin/server)", "instead of madvise()" },
		{ PFSTAT_CALL_BRK, "sbrk+0x1 (/usr/lib/libc.so.6)", "trim_threshold=N," },
		{ PFSTAT_CALL_MUNMAP, "free+0x1 (/usr/lib/libc.so.6)", "mmap_threshold=N" },
		{ PFSTAT_CALL_MADVISE, "start_thread+0x1 (/lib/libc.so.6)", "keep threads" },
		{ PFSTAT_CALL_MMAP, "os::pd_uncommit_memory+0x1 (/jvm/lib/server/libjvm.so)",
		  "-Xms" },
		{ PFSTAT_CALL_MADVISE, "0x1 (/usr/lib/libjemalloc.so.2)", "dirty_decay_ms" },
		{ PFSTAT_CALL_MUNMAP, "0x1 (/usr/lib/libmimalloc.so.2)", "instead of munmap()" },
		{ PFSTAT_CALL_MADVISE, "runtime.sysUnusedOS+0x1 (/bin/server)", "FreeOSMemory" },
	};
	struct report_call call = { .file = "" };
	struct sample s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(callers); i++) {
		sample_begin(&s);
		add_class(&s, FAULT_ANON, 25600, PART_CPU_BEFORE, 100 * MS);
		call.sum = (struct shaping_call){ .kind = callers[i].kind,
						  .place = 1,
						  .given_pages = 25600,
						  .again_pages = 25600,
						  .again_faults = 25600,
						  .again_ns = 100 * MS };
		call.caller = callers[i].caller;
		s.report.calls = (struct report_calls){ &call, 1, 0 };
		check_cause(&s, "touched-again", true, "gave back 100 MiB in ");
		ck_assert_ptr_nonnull(strstr(cause_of(&s, "touched-again")->remedy,
					     callers[i].remedy));
	}
}

/* Without the calls, pages that were there may have met a hint, or another thread's fault. */
TEST(test_without_calls_memory_given_back_is_not_certain)
{
	struct report_call call = { { .kind = PFSTAT_CALL_MMAP }, "(not known)", "" };
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 51200, PART_CPU_BEFORE, 100 * MS);
	s.report.usage.maxrss_bytes = 100 << 20;
	s.report.contents.notes = true;
	check_cause(&s, "touched-again", false, "at most 100 MiB were resident at once");
	/* An older recording lacks the calls that unmap memory. */
	s.report.calls = (struct report_calls){ &call, 1, 0 };
	check_cause(&s, "touched-again", false, "at most 100 MiB were resident at once");
	call.sum.kind = PFSTAT_CALL_MUNMAP;
	check_no_cause(&s, "touched-again");
	s.report.calls.nr = 0;
	s.report.evidence.forks = 1; /* several processes touched them */
	check_no_cause(&s, "touched-again");
	check_cause(&s, "first-touch", true, "51200 first touches");
	s.report.evidence.forks = 0;
	s.report.usage.maxrss_bytes = 101 << 20;
	check_no_cause(&s, "touched-again");
	/* A mapping was touched more often than it has pages. */
	s.files[0] = (struct group){ .name = "7 10000000-13200000 (anonymous memory)",
				     .classes = { [FAULT_ANON] = 25600 } };
	s.report.places[GROUP_BY_VMA] = (struct report_places){ s.files, 1 };
	check_cause(&s, "touched-again", false, "100 MiB of it in mappings of 50.0 MiB.");
	s.files[0].name = "7 10000000-10002000 (anonymous memory)";
	check_cause(&s, "touched-again", false, "100 MiB of it in mappings of 8.0 KiB.");
	s.files[0].name = "7 10000000-13201000 (anonymous memory)";
	check_no_cause(&s, "touched-again");
}

TEST(test_time_above_memory_high_is_not_dismissed)
{
	struct evidence_reclaims *throttled;
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 10 * MS);
	throttled = &s.report.evidence.reclaims[PFSTAT_RECLAIM_THROTTLE];
	*throttled = (struct evidence_reclaims){ .count = 18, .total_ns = 50 * MS };
	check_cause(&s, "memory-throttle", true,
		    "above memory.high: its threads were slowed down 18 times for 50.0 ms in all");
	check_no_cause(&s, "nothing-wrong");
	/* The throttled threads only seem to be idle. */
	s.report.evidence.activity.active_ns = 20 * MS;
	check_cause(&s, "memory-throttle", true, "above memory.high");
	s.report.evidence.activity.active_ns = COUNT_NA;
	throttled->total_ns = 49 * MS;
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
}

TEST(test_huge_pages_are_few_faults)
{
	struct sample s;

	/* hugetlbfs */
	sample_begin(&s);
	add_class(&s, FAULT_OTHER, 50, PART_CPU_BEFORE, 100 * MS);
	s.report.contents.huge[0] =
		(struct contents_huge){ .order = 9, .hugetlb = { 50, 100 * MS, 0 } };
	check_cause(
		&s, "huge-pages", true,
		"50 faults of huge pages of 2 MiB (100 MiB), 2000.0 µs each: the kernel clears");
	s.report.contents.huge[0].hugetlb.off_cpu_ns = 76 * MS;
	check_no_cause(&s, "huge-pages");
	/* Transparent ones, with a few small faults. */
	sample_begin(&s);
	add_class(&s, FAULT_ANON, 60, PART_CPU_BEFORE, 100 * MS);
	s.report.contents.huge[0] =
		(struct contents_huge){ .order = 9, .anon = { 50, 90 * MS, 0 } };
	check_cause(&s, "huge-pages", true, "50 faults of huge pages of 2 MiB (100 MiB)");
	check_no_cause(&s, "first-touch");
	s.report.usage.maxrss_bytes = 50 << 20;
	check_cause(&s, "touched-again", false, "100 MiB of it were huge pages");
	check_no_cause(&s, "huge-pages");
	s.report.usage.maxrss_bytes = COUNT_NA;
	s.report.contents.huge[0].anon.total_ns = 49 * MS;
	check_cause(&s, "first-touch", true, "60 first touches");
}

/* Faults of a mechanism, with half of the faults' time. */
static const struct {
	enum mechanism mechanism;
	const char *rule;
	bool certain;
	const char *text;
} met[] = {
	{ MECHANISM_NUMA_STAYED, "numa-hints", true,
	  "300 faults, 166.67 µs each. In 0 of them the kernel moved" },
	{ MECHANISM_NUMA_MOVED, "numa-hints", true, "In 300 of them the kernel moved the page" },
	{ MECHANISM_WRITABLE_SOFT_DIRTY, "soft-dirty", true,
	  "cleared the soft-dirty bits of 300 pages (1 MiB)" },
	{ MECHANISM_WRITABLE_UFFD, "write-protected", true,
	  "userfaultfd had write-protected 300 pages" },
	{ MECHANISM_PRESENT, "present-pages", false,
	  "another thread's fault on the same page was first" },
	{ MECHANISM_WRITABLE_FORK, "writable-after-fork", true,
	  "a fork write-protected 300 pages" },
};

static void check_met(size_t i)
{
	struct evidence_sum *sum;
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_OTHER, 600, PART_CPU_BEFORE, 100 * MS);
	sum = &s.report.contents.mechanisms[met[i].mechanism];
	*sum = (struct evidence_sum){ .count = 300, .total_ns = 50 * MS };
	check_cause(&s, met[i].rule, met[i].certain, met[i].text);
	sum->count = 255;
	check_no_cause(&s, met[i].rule);
	*sum = (struct evidence_sum){ .count = 300, .total_ns = 24 * MS };
	check_no_cause(&s, met[i].rule);
	*sum = (struct evidence_sum){ .count = 300, .total_ns = 50 * MS, .off_cpu_ns = 26 * MS };
	check_no_cause(&s, met[i].rule);
}

TEST(test_faults_on_pages_that_were_mapped)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(met); i++)
		check_met(i);
}

TEST(test_dax_file_that_cannot_have_huge_pages)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_LONG, 5000, PART_CPU_BEFORE, 100 * MS);
	s.report.evidence.cached_reads = (struct evidence_sum){ 5000, 100 * MS, 0 };
	s.files[0] = (struct group){ .name = "/mnt/pmem/pool", .inode = 3, .total_ns = 100 * MS };
	s.report.places[GROUP_BY_FILE] = (struct report_places){ s.files, 1 };
	s.report.contents.dax_small = 500;
	check_cause(&s, "dax-fallback", true,
		    "/mnt/pmem/pool is on DAX, and 500 faults mapped single pages");
	check_no_cause(&s, "cached-pages"); /* there is no page cache */
	s.report.contents.dax_small = 499;
	check_no_cause(&s, "dax-fallback");
}

TEST(test_shared_memory_is_touched_mapped_or_swapped_in)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_FILE, 4096, PART_CPU_BEFORE, 100 * MS);
	s.files[0] =
		(struct group){ .name = "/dev/zero (deleted)", .inode = 3, .total_ns = 100 * MS };
	s.report.places[GROUP_BY_FILE].rows = s.files;
	s.report.places[GROUP_BY_FILE].nr = 1;
	check_cause(&s, "shared-memory", false,
		    "4096 faults of shared memory, 24.41 µs each on the CPU: first touches, for "
		    "which the kernel clears a page, or");
	s.report.contents.by[PFSTAT_CONTENT_NEW].count = 4096;
	check_cause(&s, "shared-memory", true, ": first touches, for each of which the kernel");
	s.report.evidence.shared_removed.count = 1000;
	check_cause(
		&s, "shared-memory", true,
		": for each of them the kernel clears a page. 1000 of the new pages are where a "
		"page had been before: a hole was punched");
	s.report.evidence.shared_removed.count = 4000;
	check_cause(&s, "shared-memory-removed", true, " 4000 of the new pages are where");
	s.report.evidence.shared_removed.count = 0;
	s.report.contents.by[PFSTAT_CONTENT_NEW].count = 100;
	s.report.contents.by[PFSTAT_CONTENT_PRESENT].count = 3996;
	check_cause(&s, "shared-memory-mapped", true, ": the pages existed, and were only mapped");
	s.report.contents.by[PFSTAT_CONTENT_PRESENT].count = 200;
	check_cause(&s, "shared-memory-mapped", true,
		    ": 100 cleared a new page, 200 only mapped one");
	s.report.faults.classes[FAULT_FILE].major = 64;
	check_cause(&s, "swap", false,
		    "64 swap-ins of shared memory, among 4096 faults of 24 µs each. Memory was too "
		    "small, or a call pushed");
	s.report.evidence.reclaims[PFSTAT_RECLAIM_CGROUP].count = 1;
	check_cause(&s, "swap", true, "memory was too small: 64 swap-ins of shared memory, among");
	check_no_cause(&s, "shared-memory");
	s.files[0].name = "/mnt/data/file";
	check_no_cause(&s, "swap");
	check_no_cause(&s, "shared-memory-mapped");
	/* A tmpfs may be mounted anywhere. The kernel side knows it. */
	s.report.contents.by[PFSTAT_CONTENT_NEW].count = 2048;
	s.report.faults.classes[FAULT_FILE].major = 0;
	check_cause(&s, "shared-memory", true, ": first touches, for each of which");
}

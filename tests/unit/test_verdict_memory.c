// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of the verdict about memory: evidence that proves the cause of each, and evidence that
 * just does not.
 */
#include <string.h>

#include "sample_verdict.h"

START_TEST(test_copies_after_forks)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_COW, 26400, PART_CPU_BEFORE, 500 * MS);
	s.report.evidence.forks = 40;
	check_cause(&s, "copy-after-fork", true,
		    "26400 pages (103 MiB), 660 after each of 40 forks");
	s.report.evidence.forks = 0;
	check_no_cause(&s, "copy-after-fork");
	s.report.evidence.forks = 500; /* few copies each: a shell that starts programs */
	check_no_cause(&s, "copy-after-fork");
	sample_begin(&s);
	add_class(&s, FAULT_COW, 255, PART_CPU_BEFORE, 500 * MS);
	s.report.evidence.forks = 1;
	check_no_cause(&s, "copy-after-fork");
}
END_TEST

START_TEST(test_swap_in_memory_and_on_a_device)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_SWAP, 10000, PART_CPU_BEFORE, 900 * MS);
	strcpy(s.report.environment.cgroup, "/sys/fs/cgroup/fight");
	check_cause(&s, "swap", true,
		    "10000 swap-ins of anonymous memory, 90 µs each; nearly none");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "swap")->remedy, "/sys/fs/cgroup/fight"));
	add_class(&s, FAULT_SWAP, 0, PART_DEVICE, 900 * MS);
	check_cause(&s, "swap", true, "50 % of it waited for the swap device");
	add_class(&s, FAULT_ANON, 1, PART_CPU_BEFORE, 5401 * MS);
	check_no_cause(&s, "swap");
}
END_TEST

START_TEST(test_limit_of_memory_is_named_if_the_program_met_it)
{
	struct evidence_reclaims *reclaims;
	struct sample s;

	sample_begin(&s);
	reclaims = s.report.evidence.reclaims;
	add_class(&s, FAULT_SWAP, 10000, PART_CPU_BEFORE, 900 * MS);
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
END_TEST

START_TEST(test_evicted_pages_that_are_read_again)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 1000, PART_CPU_BEFORE, 1000 * MS);
	s.pairs[0] = (struct evictions_pair){ .victim = 7,
					      .evictor = 8,
					      .evictor_name = "hog",
					      .pages = 3000,
					      .faults = 500,
					      .total_ns = 110 * MS };
	s.report.pages.pairs = s.pairs;
	s.report.pages.nr_pairs = 1;
	check_cause(&s, "refaults", true,
		    "3000 pages of files were evicted and read again by 500 faults (11 % of the "
		    "faults' time), most of them evicted by hog (8).");
	/* The process evicted its own pages, without a reclaim. */
	s.pairs[0].victim = 8;
	s.report.bpf.hooks = 0;
	check_cause(&s, "refaults", true, "memory was too small: 3000");
	s.report.bpf.hooks = 1U << HOOK_RECLAIM;
	check_cause(&s, "refaults", true,
		    "hog (8) dropped pages of files that it read again: 3000");
	s.report.evidence.reclaims[PFSTAT_RECLAIM_CGROUP].count = 1;
	check_cause(&s, "refaults", true, "memory was too small: 3000");
	s.report.evidence.reclaims[PFSTAT_RECLAIM_CGROUP].count = 0;
	s.pairs[0].victim = 7;
	s.pairs[0].total_ns = 99 * MS;
	check_no_cause(&s, "refaults");
	/* A file that was evicted is not in the page cache, but to read it before does not help. */
	s.report.blocks = (struct block_figures){ .reads = 1000, .bytes_read = 4096000 };
	s.pairs[0].total_ns = 499 * MS;
	check_cause(&s, "cold-file", true, "1000 reads of 4 KiB");
	s.pairs[0].total_ns = 501 * MS;
	check_no_cause(&s, "cold-file");
	check_cause(&s, "refaults", true, "50 % of the faults' time");
}
END_TEST

START_TEST(test_first_touches)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100000, PART_CPU_BEFORE, 100 * MS);
	check_cause(&s, "first-touch", true,
		    "100000 first touches of anonymous memory, 1.00 µs each");
	add_class(&s, FAULT_ANON, 0, PART_BLOCKED, 100 * MS);
	check_cause(&s, "first-touch", false, "50 % of it was off the CPU");
	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100000, PART_CPU_BEFORE, 60 * MS);
	add_class(&s, FAULT_ANON, 0, PART_RECLAIM, 40 * MS); /* 10 ms of it asleep */
	s.report.faults.classes[FAULT_ANON].reclaim_cpu_ns = 30 * MS;
	check_cause(&s, "first-touch", false, "40 % of it was off the CPU or in reclaim");
	sample_begin(&s);
	add_class(&s, FAULT_ANON, 255, PART_CPU_BEFORE, 100 * MS);
	check_no_cause(&s, "first-touch");
}
END_TEST

START_TEST(test_shared_memory_is_touched_or_swapped_in)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_FILE, 4096, PART_CPU_BEFORE, 100 * MS);
	s.files[0] =
		(struct group){ .name = "/dev/zero (deleted)", .inode = 3, .total_ns = 100 * MS };
	s.report.places[GROUP_BY_FILE].rows = s.files;
	s.report.places[GROUP_BY_FILE].nr = 1;
	check_cause(&s, "shared-memory", true,
		    "4096 first touches of shared memory, 24.41 µs each");
	s.report.faults.classes[FAULT_FILE].major = 64;
	check_cause(&s, "shared-memory", true, "64 swap-ins of shared memory, among 4096 faults");
	s.files[0].name = "/dev/fuse";
	check_no_cause(&s, "shared-memory");
}
END_TEST

RUN_TESTS("verdict_memory", test_copies_after_forks, test_swap_in_memory_and_on_a_device,
	  test_limit_of_memory_is_named_if_the_program_met_it,
	  test_evicted_pages_that_are_read_again, test_first_touches,
	  test_shared_memory_is_touched_or_swapped_in)

// SPDX-License-Identifier: GPL-2.0-only
/* Each rule of the verdict: evidence that proves its cause, and evidence that just does not. */
#include <string.h>
#include <sys/mman.h>

#include "sample_verdict.h"

START_TEST(test_few_faults_are_not_the_cause)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 49 * MS);
	check_cause(&s, "nothing-wrong", true, "nothing is wrong");
	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 51 * MS);
	check_no_cause(&s, "nothing-wrong");
}
END_TEST

START_TEST(test_faults_of_an_idle_program_are_not_dismissed)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 10, PART_DEVICE, 40 * MS);
	s.report.usage.utime_ns = 20 * MS;
	s.report.usage.stime_ns = 20 * MS;
	check_cause(&s, "nothing-wrong", false, "page faults were 50 % of its activity");
	/* Reclaim on the CPU is in the system time already. */
	add_class(&s, FAULT_ANON, 10, PART_RECLAIM, 8 * MS);
	s.report.faults.all.reclaim_cpu_ns = 8 * MS;
	check_cause(&s, "nothing-wrong", false, "page faults were 60 % of its activity");
	s.report.usage.utime_ns = 200 * MS;
	check_cause(&s, "nothing-wrong", true, "nothing is wrong");
	/* It had little of a CPU, because others ran there. */
	s.report.usage.utime_ns = 20 * MS;
	s.report.evidence.waiting_ns = 500 * MS;
	check_cause(&s, "nothing-wrong", true, "nothing is wrong");
}
END_TEST

START_TEST(test_unseen_faults_make_the_verdict_uncertain)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 10, PART_CPU_BEFORE, MS);
	s.report.bpf.hooks = 0;
	check_cause(&s, "nothing-wrong", false, "only faults of hooked files are known");
}
END_TEST

static void read_in_order(struct sample *s, uint64_t next, uint64_t bytes)
{
	sample_begin(s);
	add_class(s, FAULT_DISK, 1000, PART_DEVICE, 400 * MS);
	s->files[0] = (struct group){
		.name = "/data/big.bin",
		.inode = 5,
		.faults = 1000,
		.total_ns = 400 * MS,
		.classes[FAULT_DISK] = 1000,
		.reads = { .next = next, .requests = 1000, .bytes = 1000 * bytes },
	};
	s->report.places[GROUP_BY_FILE].rows = s->files;
	s->report.places[GROUP_BY_FILE].nr = 1;
}

START_TEST(test_pages_in_order_without_read_ahead)
{
	struct report_call calls[] = {
		{ { .kind = PFSTAT_CALL_MADVISE, .detail = MADV_NORMAL, .count = 9, .place = 1 },
		  "other",
		  "/data/big.bin" },
		{ { .kind = PFSTAT_CALL_MADVISE, .detail = MADV_RANDOM, .count = 2, .place = 1 },
		  "hint+0x9 (/bin/a)",
		  "/data/big.bin" },
		{ { .kind = PFSTAT_CALL_MADVISE,
		    .detail = MADV_RANDOM,
		    .count = 4,
		    .failed = 3,
		    .place = 1 },
		  "fails",
		  "/data/big.bin" },
		{ { .kind = PFSTAT_CALL_MADVISE, .detail = MADV_RANDOM, .count = 8, .place = 1 },
		  "another",
		  "/d/other" },
	};
	struct sample s;

	read_in_order(&s, 940, 16384);
	check_no_cause(&s, "no-read-ahead");
	s.report.environment.page_bytes = 16384; /* of arm64 */
	check_cause(&s, "no-read-ahead", true, "/data/big.bin was read 16.0 KiB at a time");
	read_in_order(&s, 940, 4096);
	check_cause(&s, "no-read-ahead", true,
		    "/data/big.bin was read 4.0 KiB at a time, although 94 % of its 1000 disk "
		    "faults went on to a next page: read-ahead is off, by MADV_RANDOM, or");
	s.report.evidence.advices[MADV_RANDOM] = 3;
	check_cause(&s, "no-read-ahead", true, "by madvise(MADV_RANDOM), 3 calls.");
	s.report.calls.rows = calls;
	s.report.calls.nr = 4;
	check_cause(&s, "no-read-ahead", true,
		    "by madvise(MADV_RANDOM), 3 calls, 2 of them in hint+0x9 (a).");
	calls[2].sum.failed = 4;
	check_cause(&s, "no-read-ahead", true, "by madvise(MADV_RANDOM), 2 calls in hint+0x9 (a).");
	calls[1].sum.place = 0; /* not known */
	check_cause(&s, "no-read-ahead", true, "by madvise(MADV_RANDOM), 2 calls.");
	read_in_order(&s, 400, 4096);
	check_no_cause(&s, "no-read-ahead");
	read_in_order(&s, 940, 131072);
	check_no_cause(&s, "no-read-ahead");
}
END_TEST

START_TEST(test_read_pages_that_are_not_mapped)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 1000, PART_CPU_BEFORE, 400 * MS);
	s.report.pages.readahead = (struct readahead_figures){ .read = 25600,
							       .mapped = 2560,
							       .evicted_unused = 20000,
							       .faulted_read = 25600,
							       .faulted_evicted = 20000 };
	check_cause(&s, "read-amplification", true,
		    "100.0 MiB of mapped files were read into the page cache, and faults mapped "
		    "10.0 MiB; 78.1 MiB were evicted unused");
	s.report.pages.readahead.faulted_evicted = 100;
	check_cause(&s, "read-amplification", false, "or read(2) used the rest");
	s.report.pages.readahead.mapped = 13000;
	check_no_cause(&s, "read-amplification");
}
END_TEST

START_TEST(test_files_that_only_read_uses_prove_nothing)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 1000, PART_CPU_BEFORE, 400 * MS);
	s.report.pages.readahead = (struct readahead_figures){
		.read = 25600, .mapped = 2560, .evicted_unused = 20000, .faulted_read = 2600
	};
	check_no_cause(&s, "read-amplification");
	s.report.pages.readahead.faulted_read = 5200;
	check_cause(&s, "read-amplification", false, "20.3 MiB of mapped files were read");
}
END_TEST

static void read_at_random(struct sample *s, uint64_t next, uint64_t bytes, uint64_t faults)
{
	read_in_order(s, next, bytes);
	s->files[0].faults = faults;
	s->report.blocks = (struct block_figures){ .reads = 1000, .bytes_read = 1000 * bytes };
}

START_TEST(test_pages_around_random_faults)
{
	struct sample s;

	read_at_random(&s, 10, 65536, 1600);
	check_cause(
		&s, "read-around", true,
		"/data/big.bin was read at random: 1000 of its 1600 faults waited for the disk. "
		"A request read 64 KiB around its page");
	check_no_cause(&s, "cold-file");     /* which says less */
	read_at_random(&s, 10, 65536, 1700); /* the pages around serve other faults */
	check_no_cause(&s, "read-around");
	check_cause(&s, "cold-file", true, "1000 reads of 64 KiB");
	read_at_random(&s, 10, 4096, 1600);
	check_no_cause(&s, "read-around");
	read_at_random(&s, 10, 16384, 1600);
	check_cause(&s, "read-around", true, "A request read 16 KiB around its page");
	s.report.environment.page_bytes = 16384; /* now it is the page alone */
	check_no_cause(&s, "read-around");
	read_at_random(&s, 500, 65536, 1600);
	check_no_cause(&s, "read-around");
}
END_TEST

START_TEST(test_files_that_are_not_in_the_page_cache)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 1000, PART_DEVICE, 300 * MS);
	add_class(&s, FAULT_READAHEAD, 1000, PART_CPU_BEFORE, 100 * MS);
	s.report.blocks = (struct block_figures){ .reads = 1000,
						  .bytes_read = 131072000,
						  .device = { .total_ns = 300 * MS } };
	check_cause(&s, "cold-file", true, "faults that read them have 100 % of the time");
	check_cause(&s, "cold-file", true,
		    "1000 reads of 128 KiB took 300 µs each at the device, 125.0 MiB in all");
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 1201 * MS);
	check_no_cause(&s, "cold-file");
	read_in_order(&s, 940, 4096); /* a cause that says more */
	s.report.blocks.reads = 1000;
	check_no_cause(&s, "cold-file");
}
END_TEST

START_TEST(test_pages_of_a_hole_are_not_read)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_READAHEAD, 128, PART_CPU_BEFORE, 100 * MS);
	add_class(&s, FAULT_DISK, 3, PART_DEVICE, MS);
	s.report.blocks = (struct block_figures){ .reads = 3, .bytes_read = 257 * 4096 };
	check_cause(&s, "file-holes", true, "131 faults found no page of the file");
	check_no_cause(&s, "cold-file");
	/* Two pages for each of 128 read-aheads, and one for two of the disk faults. */
	s.report.blocks.bytes_read = 258 * 4096;
	check_no_cause(&s, "file-holes");
	check_cause(&s, "cold-file", true, "3 reads of 344 KiB");
	s.report.blocks.bytes_read = 0;
	add_class(&s, FAULT_READAHEAD, 0, PART_FOREIGN, 100 * MS); /* a server */
	check_no_cause(&s, "file-holes");
}
END_TEST

START_TEST(test_waits_in_the_queue_of_the_device)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_DISK, 1000, PART_QUEUE, 300 * MS);
	s.report.blocks = (struct block_figures){ .reads = 1000,
						  .queue = { .total_ns = 900 * MS },
						  .device = { .total_ns = 100 * MS } };
	check_cause(&s, "device-queue", true,
		    "reads waited 900 µs in its queue, and took 100 µs at the device");
	add_class(&s, FAULT_DISK, 1000, PART_DEVICE, 901 * MS);
	check_no_cause(&s, "device-queue");
}
END_TEST

START_TEST(test_pages_that_become_writable)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_MKWRITE, 1000, PART_BLOCKED, 60 * MS);
	add_class(&s, FAULT_MKWRITE, 1000, PART_CPU_BEFORE, 40 * MS);
	check_cause(&s, "page-mkwrite", true, "2000 pages of shared file mappings");
	check_cause(&s, "page-mkwrite", true, "50.0 µs each; 60 % of that waited");
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 301 * MS);
	check_no_cause(&s, "page-mkwrite");
}
END_TEST

START_TEST(test_many_faults_of_cached_pages)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_LONG, 50000, PART_CPU_BEFORE, 100 * MS);
	check_cause(&s, "cached-pages", true,
		    "50000 small faults mapped pages that were in the page cache, 2.00 µs each.");
	s.report.environment.fault_around = false;
	check_cause(&s, "cached-pages", true, "fault-around was off");
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 301 * MS);
	check_no_cause(&s, "cached-pages");
}
END_TEST

START_TEST(test_waits_for_a_cpu)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_RUNQUEUE, 100 * MS);
	check_cause(&s, "cpu-wait", true, "for 100 % of the faults' time the thread could run");
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 301 * MS);
	check_no_cause(&s, "cpu-wait");
}
END_TEST

START_TEST(test_locks_are_not_certain)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_LOCK, 100, PART_FOREIGN, 100 * MS);
	check_cause(&s, "contention", false, "another thread had locked the page");
	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_BLOCKED, 100 * MS);
	check_cause(&s, "contention", false, "the thread was blocked");
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 301 * MS);
	check_no_cause(&s, "contention");
}
END_TEST

START_TEST(test_kernel_stacks_name_the_lock_or_the_server)
{
	struct wait_row rows[] = {
		{ .cause = "a mutex", .parts_ns = { [PART_BLOCKED] = 20 * MS } },
		{ .cause = "the journal", .parts_ns = { [PART_BLOCKED] = 30 * MS } },
		{ .cause = "the journal",
		  .parts_ns = { [PART_BLOCKED] = 25 * MS, [PART_FOREIGN] = 40 * MS } },
	};
	struct sample s;

	sample_begin(&s);
	s.report.waits = (struct report_waits){ .rows = rows, .nr = 3 };
	add_class(&s, FAULT_ANON, 100, PART_BLOCKED, 100 * MS);
	check_cause(&s, "contention", true, "mostly waiting for the journal");
	rows[1].parts_ns[PART_BLOCKED] = 24 * MS;
	check_cause(&s, "contention", false, "by a lock or a FUSE server");
	rows[1].parts_ns[PART_BLOCKED] = 30 * MS;
	rows[1].cause = NULL;
	check_cause(&s, "contention", false, "by a lock or a FUSE server");
	sample_begin(&s);
	s.report.waits = (struct report_waits){ .rows = rows, .nr = 3 };
	add_class(&s, FAULT_WAIT, 100, PART_FOREIGN, 80 * MS);
	check_cause(&s, "foreign-read", false, "mostly for the journal");
	rows[0].classes_ns[FAULT_MKWRITE] = 50 * MS;
	rows[1].classes_ns[FAULT_MKWRITE] = 51 * MS;
	sample_begin(&s);
	s.report.waits = (struct report_waits){ .rows = rows, .nr = 3 };
	add_class(&s, FAULT_MKWRITE, 100, PART_FOREIGN, 102 * MS);
	rows[1].cause = "the journal";
	check_cause(&s, "page-mkwrite", true, "file system, mostly for the journal, the rest");
	rows[1].classes_ns[FAULT_MKWRITE] = 50 * MS;
	rows[0].classes_ns[FAULT_MKWRITE] = 0;
	check_cause(&s, "page-mkwrite", true, "for the file system, the rest");
	sample_begin(&s);
	s.report.waits = (struct report_waits){ .rows = rows, .nr = 3 };
	add_class(&s, FAULT_WAIT, 100, PART_FOREIGN, 80 * MS);
	rows[2].parts_ns[PART_FOREIGN] = 39 * MS;
	check_cause(&s, "foreign-read", false, "a kernel thread or a server");
}
END_TEST

START_TEST(test_reclaim_names_its_kind)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_RECLAIM, 100 * MS);
	s.report.evidence.reclaims[PFSTAT_RECLAIM_CGROUP].count = 40;
	s.report.evidence.reclaims[PFSTAT_RECLAIM_CGROUP].total_ns = 90 * MS;
	s.report.evidence.reclaims[PFSTAT_RECLAIM_CGROUP].pages = 1280;
	check_cause(&s, "reclaim", true, "40 times at a cgroup's limit (1280 pages)");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "reclaim")->remedy, "memory.max"));
	s.report.evidence.reclaims[PFSTAT_RECLAIM_COMPACTION].total_ns = 91 * MS;
	judge(&s);
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "reclaim")->remedy, "defrag"));
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 301 * MS);
	check_no_cause(&s, "reclaim");
	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_RECLAIM, 100 * MS);
	s.report.bpf.hooks &= ~(1U << HOOK_RECLAIM);
	check_no_cause(&s, "reclaim");
}
END_TEST

START_TEST(test_reads_of_others_and_of_servers)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_WAIT, 100, PART_FOREIGN, 100 * MS);
	check_cause(&s, "foreign-read", false, "no watched thread had submitted");
	strcpy(s.report.environment.filesystem, "nfs4");
	check_cause(&s, "foreign-read", true, "the server of nfs4");
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 301 * MS);
	check_no_cause(&s, "foreign-read");
}
END_TEST

START_TEST(test_faults_in_system_calls)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_CPU_BEFORE, 100 * MS);
	s.report.evidence.kernel_ns = 51 * MS;
	check_cause(&s, "kernel-mode", true, "51 % of the faults' time was taken in system calls");
	s.report.evidence.kernel_ns = 49 * MS;
	check_no_cause(&s, "kernel-mode");
	/* A start of a program that is not in the page cache faults in execve(2). */
	s.report.evidence.kernel_ns = 149 * MS;
	add_class(&s, FAULT_DISK, 10, PART_DEVICE, 100 * MS);
	check_no_cause(&s, "kernel-mode");
	s.report.evidence.kernel_ns = 200 * MS;
	check_cause(&s, "kernel-mode", true, "100 % of the faults' time");
}
END_TEST

START_TEST(test_no_rule_is_an_uncertain_verdict)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_OTHER, 100, PART_CPU_BEFORE, 100 * MS);
	check_cause(&s, "unknown", false,
		    "most of the time is class other (100 %) and part cpu_before (100 %)");
}
END_TEST

START_TEST(test_lost_events_make_no_cause_certain)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_SWAP, 10000, PART_CPU_BEFORE, 900 * MS);
	s.report.losses.events = 1;
	check_cause(&s, "swap", false, "swap-ins");
}
END_TEST

START_TEST(test_the_heaviest_causes_are_kept)
{
	struct sample s;

	sample_begin(&s);
	add_class(&s, FAULT_ANON, 1000, PART_RUNQUEUE, 300 * MS);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 200 * MS);
	s.report.evidence.kernel_ns = 280 * MS;
	judge(&s);
	ck_assert_uint_eq(s.verdict.nr_causes, 2);
	ck_assert_str_eq(s.verdict.causes[0].rule, "first-touch");
	ck_assert_str_eq(s.verdict.causes[1].rule, "cpu-wait");
}
END_TEST

static char *print(const struct sample *s)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	verdict_print(out, &s->verdict, &s->report);
	fclose(out);
	return text;
}

START_TEST(test_the_verdict_is_printed_as_sentences)
{
	struct sample s;
	char *text;

	read_in_order(&s, 940, 4096);
	s.threads[0] = (struct group){ .name = "py\nthon (3)", .tid = 3, .total_ns = 400 * MS };
	s.report.places[GROUP_BY_THREAD].rows = s.threads;
	s.report.places[GROUP_BY_THREAD].nr = 1;
	judge(&s);
	text = print(&s);
	ck_assert_ptr_eq(strstr(text, "40 % of the run's 1.00 s had page faults in progress: 1000, "
				      "400.0 ms.\nMost of it: class disk 100 %; file /data/big.bin "
				      "100 %; thread py?thon (3) 100 %.\nCause: "),
			 text);
	ck_assert_ptr_nonnull(strstr(text, "\nTry: pfdrive replay"));
	free(text);
	s.report.evidence.busy_ns = 200 * MS; /* two threads at once */
	judge(&s);
	text = print(&s);
	ck_assert_ptr_nonnull(strstr(text, "1000, 400.0 ms of the threads' time."));
	free(text);
}
END_TEST

START_TEST(test_without_a_duration_there_is_no_verdict)
{
	struct sample s;
	char *text;

	sample_begin(&s);
	s.report.time.counted_ns = COUNT_NA;
	verdict_make(&s.verdict, &s.report);
	ck_assert(!s.verdict.known);
	text = print(&s);
	ck_assert_str_eq(text, "No verdict: the duration of the run is not known.\n");
	free(text);
}
END_TEST

RUN_TESTS("verdict", test_few_faults_are_not_the_cause,
	  test_faults_of_an_idle_program_are_not_dismissed,
	  test_unseen_faults_make_the_verdict_uncertain, test_pages_in_order_without_read_ahead,
	  test_read_pages_that_are_not_mapped, test_files_that_only_read_uses_prove_nothing,
	  test_pages_around_random_faults, test_files_that_are_not_in_the_page_cache,
	  test_waits_in_the_queue_of_the_device, test_pages_of_a_hole_are_not_read,
	  test_pages_that_become_writable, test_many_faults_of_cached_pages, test_waits_for_a_cpu,
	  test_locks_are_not_certain, test_reclaim_names_its_kind,
	  test_kernel_stacks_name_the_lock_or_the_server, test_reads_of_others_and_of_servers,
	  test_faults_in_system_calls, test_no_rule_is_an_uncertain_verdict,
	  test_lost_events_make_no_cause_certain, test_the_heaviest_causes_are_kept,
	  test_the_verdict_is_printed_as_sentences, test_without_a_duration_there_is_no_verdict)

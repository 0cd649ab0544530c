// SPDX-License-Identifier: GPL-2.0-only
/* Each rule of the verdict: evidence that proves its cause, and evidence that just does not. */
#include <string.h>
#include <sys/mman.h>

#include "runner.h"
#include "user/report/verdict/verdict.h"

#define MS 1000000ULL

struct sample {
	struct report report;
	struct verdict verdict;
	struct group files[2], threads[1];
	struct evictions_pair pairs[2];
	struct syscall_total totals[1];
};

static void sample_begin(struct sample *s)
{
	memset(s, 0, sizeof(*s));
	report_init(&s->report);
	s->report.time.counted_ns = 1000 * MS;
	s->report.bpf.known = true;
	s->report.bpf.hooks = (1U << NR_HOOKS) - 1;
	s->report.faults.parts_known = true;
	s->report.environment.fault_around = true;
	s->report.losses.records = 0;
	s->report.losses.events = 0;
}

/* Adds faults whose whole time is of one part. */
static void add_class(struct sample *s, enum fault_class class, uint64_t count, enum part part,
		      uint64_t total_ns)
{
	struct fault_figures *figures[] = { &s->report.faults.classes[class],
					    &s->report.faults.all };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		figures[i]->count += count;
		figures[i]->whole.total_ns += total_ns;
		figures[i]->parts[part].total_ns += total_ns;
	}
	s->report.evidence.busy_ns += total_ns;
}

static void judge(struct sample *s)
{
	verdict_make(&s->verdict, &s->report);
	ck_assert_uint_ge(s->verdict.nr_causes, 1);
}

static const struct verdict_cause *cause_of(const struct sample *s, const char *rule)
{
	size_t i;

	for (i = 0; i < s->verdict.nr_causes; i++)
		if (!strcmp(s->verdict.causes[i].rule, rule))
			return &s->verdict.causes[i];
	return NULL;
}

static void check_cause(struct sample *s, const char *rule, bool certain, const char *text)
{
	const struct verdict_cause *cause;

	judge(s);
	cause = cause_of(s, rule);
	ck_assert_msg(cause, "%s is not found, but %s: %s", rule, s->verdict.causes[0].rule,
		      s->verdict.causes[0].text);
	ck_assert_msg(strstr(cause->text, text), "\"%s\" is not in: %s", text, cause->text);
	ck_assert_int_eq(cause->certain, certain);
	ck_assert_uint_gt(strlen(cause->remedy), 10);
}

static void check_no_cause(struct sample *s, const char *rule)
{
	judge(s);
	ck_assert_msg(!cause_of(s, rule), "%s is found: %s", rule, s->verdict.causes[0].text);
}

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
	struct sample s;

	read_in_order(&s, 940, 4096);
	check_cause(&s, "no-read-ahead", true,
		    "/data/big.bin was read 4.0 KiB at a time, although 94 % of its 1000 disk "
		    "faults went on to a next page: read-ahead is off, by MADV_RANDOM, or");
	s.report.evidence.advices[MADV_RANDOM] = 3;
	check_cause(&s, "no-read-ahead", true, "by madvise(MADV_RANDOM), 3 calls.");
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
	  test_shared_memory_is_touched_or_swapped_in, test_pages_that_become_writable,
	  test_many_faults_of_cached_pages, test_copies_after_forks,
	  test_swap_in_memory_and_on_a_device, test_evicted_pages_that_are_read_again,
	  test_first_touches, test_waits_for_a_cpu, test_locks_are_not_certain,
	  test_reclaim_names_its_kind, test_reads_of_others_and_of_servers,
	  test_faults_in_system_calls, test_no_rule_is_an_uncertain_verdict,
	  test_lost_events_make_no_cause_certain, test_the_heaviest_causes_are_kept,
	  test_the_verdict_is_printed_as_sentences, test_without_a_duration_there_is_no_verdict)

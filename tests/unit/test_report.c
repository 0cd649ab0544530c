// SPDX-License-Identifier: GPL-2.0-only
/* The contents of the printed table and CSV, not the layout. */
#include <ctype.h>
#include <locale.h>
#include <stdbool.h>

#include "print/print_report.h"
#include "runner.h"
#include "sample_run.h"

#define MAX_WIDTH  100
#define MAX_FIELDS 16

/* The text line starting with `start`, without the newline. The caller frees it. */
static char *line_of(const char *text, const char *start)
{
	const size_t length = strlen(start);

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (!strncmp(text, start, length))
			return strndup(text, strcspn(text, "\n"));
	ck_abort_msg("no line starts with \"%s\"", start);
}

/* A line's words, separated by single spaces: "Count 6198 6198". */
static void check_line(const char *text, const char *start, const char *words)
{
	char *line = line_of(text, start), *from = line, *to = line;

	for (; *from; from++)
		if (*from != ' ' || (to > line && to[-1] != ' '))
			*to++ = *from;
	while (to > line && to[-1] == ' ')
		to--;
	*to = '\0';
	ck_assert_str_eq(line, words);
	free(line);
}

static void check_width(const char *at)
{
	unsigned int width = 0;
	char before = '\n';

	for (; *at; before = *at++) {
		ck_assert_msg(*at != '\n' || before != ' ', "blanks end a line:\n%s", at);
		width = *at == '\n' ? 0 : width + ((*at & 0xc0) != 0x80);
		ck_assert_msg(width <= MAX_WIDTH, "wider than %d columns:\n%s", MAX_WIDTH, at);
	}
}

/* Each test has a run whose disk faults took 150 µs, and the text it printed last. */
static struct sample_run run;
static char *text;

static void open_run(void)
{
	sample_open(&run, 150000);
}

static void close_run(void)
{
	free(text);
	sample_close(&run);
}

FIXTURE(open_run, close_run);

static void open_another(uint64_t disk_ns)
{
	sample_close(&run);
	sample_open(&run, disk_ns);
}

static void open_empty(void)
{
	sample_close(&run);
	sample_open_empty(&run);
}

static void print_table(void)
{
	free(text);
	text = sample_print(REPORT_TABLE, &run.report, 1);
	check_width(text);
}

static void print_csv(void)
{
	free(text);
	text = sample_print(REPORT_CSV, &run.report, 1);
}

static void shows(const char *part)
{
	ck_assert_msg(strstr(text, part), "\"%s\" is not in:\n%s", part, text);
}

static void lacks(const char *part)
{
	ck_assert_msg(!strstr(text, part), "\"%s\" is in:\n%s", part, text);
}

static void starts(const char *part)
{
	ck_assert_msg(!strncmp(text, part, strlen(part)), "\"%s\" does not begin:\n%s", part, text);
}

/* The first line if it is a warning, that is, all in capitals. */
static bool starts_loud(void)
{
	const char *at;

	for (at = text; *at && *at != '\n'; at++)
		if (islower((unsigned char)*at))
			return false;
	return true;
}

static void add_record(const struct pfstat_record *record)
{
	ck_assert_int_eq(explain_record(run.calls, record), 0);
}

TEST(test_table_matches_the_study)
{
	print_table();
	shows("Disk faults  Non-disk short  Non-disk long  All faults\n");
	check_line(text, "Count ", "Count 6198 6198 5101 17497");
	check_line(text, "Percentage ", "Percentage 35.4% 35.4% 29.2% 100.0%");
	check_line(text, "Average ", "Average fault cost (µs) 150.0 0.30 6.50 55.1");
	check_line(text, "Total fault", "Total fault cost (ms) 929.7 1.86 33.2 964.7");
}

TEST(test_table_prints_a_dash_for_averages_of_nothing)
{
	open_empty();
	print_table();
	check_line(text, "Count ", "Count 0 0 0 0");
	check_line(text, "Percentage ", "Percentage - - - -");
	check_line(text, "Average ", "Average fault cost (µs) - - - -");
	check_line(text, "Total fault", "Total fault cost (ms) 0.00 0.00 0.00 0.00");
	lacks("nan");
	lacks(" inf");
}

TEST(test_small_share_is_not_printed_as_zero)
{
	struct pfstat_record record = { .tid = 1, .duration_ns = 10, .class = PFSTAT_CLASS_LONG };

	/* The study's sequential experiment: one disk fault among 11301 faults. */
	open_empty();
	for (record.start_ns = 1; record.start_ns <= 11300; record.start_ns++)
		add_record(&record);
	record.class = PFSTAT_CLASS_DISK;
	add_record(&record);
	print_table();
	check_line(text, "Percentage ", "Percentage <0.1% 0.0% 100.0% 100.0%");
}

TEST(test_table_of_classes_omits_those_that_did_not_occur)
{
	print_table();
	check_line(text, "disk ", "disk 6000 34.3% 150.0 150.0 150.0 150.0 900.0 96.7%");
	check_line(text, "wait ", "wait 150 0.9% 150.0 150.0 150.0 150.0 22.5 96.7%");
	check_line(text, "short ", "short 6198 35.4% 0.30 0.30 0.30 0.30 1.86 0.0%");
	check_line(text, "around ", "around 101 0.6% 6.50 6.50 6.50 6.50 0.66 0.0%");
	shows("\nall calls ");
	lacks("\nmkwrite ");
	lacks("\npass ");
	lacks("\nerror ");
}

TEST(test_table_shows_mkwrite_pass_and_error_when_they_occurred)
{
	struct pfstat_record record = { .tid = 1, .start_ns = 1, .duration_ns = 10 };

	open_empty();
	for (record.class = PFSTAT_CLASS_MKWRITE; record.class < PFSTAT_NR_CLASSES; record.class++)
		add_record(&record);
	print_table();
	shows("\nmkwrite ");
	shows("\npass ");
	shows("\nerror ");
}

TEST(test_table_without_ebpf_prints_na_and_the_reason)
{
	sample_without_bpf(&run.report);
	print_table();
	check_line(text, "disk ", "disk 6000 34.3% 150.0 150.0 150.0 150.0 900.0 n/a");
	check_line(text, "System calls",
		   "System calls and off-CPU times: n/a (not permitted: run as root)");
	lacks("clock_nanosleep");
	shows("   6150       0            n/a  ");
	shows("\nParts: n/a (not permitted: run as root)\n");
	lacks("  cpu_before");
	lacks("Residue");
	lacks("Block requests");
	lacks("Page cache");
}

TEST(test_table_prints_the_conditions_of_the_run)
{
	static const char *const parts[] = {
		"6.1.0-32-amd64",
		"QEMU Virtual CPU version 2.5+",
		"1 CPU,",
		"1 GiB",
		"tsc",
		"virtualization: qemu",
		"/mnt/disk/demo.bin",
		"11299 pages",
		"ext4",
		"nullb0",
		"cold: 0 of 11299 pages resident",
		"read-ahead 128 KiB",
		"random: 46280704",
		"1234.568 ms",
		"seed 1",
		"on CPU 0",
		"off: each page faults separately",
	};
	size_t i;

	print_table();
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		shows(parts[i]);
}

TEST(test_table_prints_na_for_unknown_properties_of_the_machine)
{
	open_empty();
	run.report.environment.resident_pages = COUNT_NA;
	print_table();
	shows("n/a: n/a of 0 pages resident before");
	check_line(text, "Machine", "Machine n/a; CPUs n/a, memory n/a; virtualization: n/a");
	check_line(text, "Kernel", "Kernel n/a; clock source: n/a");
	shows("read-ahead n/a");
	shows("not pinned");
}

TEST(test_table_puts_counts_side_by_side)
{
	print_table();
	shows("\nPages touched  Faults  Major  minflt  majflt  nvcsw  nivcsw"
	      "  Off-CPU count  Records lost\n");
	shows("\n        11299   11299   6198    5104    6195   6150       0"
	      "           6198             0\n");
}

TEST(test_table_states_the_source_and_its_cost)
{
	open_another(123456);
	print_table();
	check_line(text, "Source", "Source the pfstat module; adds 260 ns to a call");
	strcpy(run.report.environment.source, "ebpf");
	run.report.cost.call_cost_ps = COUNT_NA;
	print_table();
	check_width(text);
	check_line(text, "Source",
		   "Source eBPF, without the pfstat module; adds 1693 ns to a fault");
	starts("Measured with eBPF, without the pfstat module: ");
	shows("\nEach call's time contains 27.5 ns of eBPF's own.\n");
	lacks("the module records calls");
	shows("\n  27.5 ns of each call's time are eBPF's own\n");
	shows("\n  2250 ns for each fault that calls no file operation\n");
}

static void open_costly(void)
{
	open_another(123456);
	run.report.cost.calls = 10000;
	run.report.faults.all.whole.total_ns = 666666666;
}

static void check_cost(const char *line)
{
	print_table();
	check_line(text, "Own cost", line);
}

TEST(test_own_cost_is_one_figure)
{
	open_costly();
	check_cost("Own cost: 21.8 ms added to the faults, about 3.3% of their time; "
		   "without system calls and sleeps");
	/* How long the run took does not matter: the threads may have been idle. */
	run.report.time.elapsed_ns *= 100;
	run.report.time.counted_ns *= 100;
	check_cost("Own cost: 21.8 ms added to the faults, about 3.3% of their time; "
		   "without system calls and sleeps");
	run.report.bpf.known = false;
	check_cost("Own cost: 2.6 ms added to the faults, about 0.4% of their time; "
		   "without system calls and sleeps");
	run.report.faults.all.whole.total_ns = 0;
	check_cost("Own cost: 2.6 ms added to the faults; without system calls and sleeps");
	run.report.cost.calls *= 1000;
	check_cost("Own cost: 2603 ms added to the faults; without system calls and sleeps");
	run.report.cost.calls = 1;
	check_cost("Own cost: 0.000260 ms added to the faults; without system calls and sleeps");
}

TEST(test_own_cost_that_is_not_known_has_its_reason)
{
	open_costly();
	run.report.cost.bpf_other_ps = COUNT_NA;
	check_cost("Own cost: n/a, this machine's timing varied by more than that when measured");
	run.report.cost.bpf_other = COUNT_NA;
	check_cost("Own cost: n/a, it is not known how many faults there were");
	run.report.cost.calls = COUNT_NA;
	check_cost("Own cost: n/a, it is not known how many calls there were");
	run.report.cost.call_cost_ps = COUNT_NA;
	check_cost("Own cost: n/a, the module could not measure the call cost");
}

TEST(test_own_cost_names_what_counts_all_faults)
{
	open_costly();
	print_table();
	shows("\n  the module records calls: 260 ns per call, 2.6 ms in total\n");
	shows("\n  all faults counted by eBPF: 1693 ns each, 19.2 ms in "
	      "total; not in call times\n");
	shows("\n  2250 ns for each fault that the module does not record\n");
	shows("\n  27.5 ns of each call's time are the module's own\n");
	lacks("for each retry");
	run.report.cost.bpf_again = 1000;
	print_table();
	shows("by eBPF: 1693 ns each, 19.6 ms in total");
	shows("\n  423 ns for each fault retry by the kernel\n");
	run.report.cost.bpf_again_ps = COUNT_NA;
	print_table();
	shows("by eBPF: 1693 ns each, 20.9 ms in total");
	shows("\n  an upper bound: each retry by the kernel is counted as a whole fault\n");
	strcpy(run.report.bpf.module_faults_missing, "another tool holds handle_mm_fault()");
	print_table();
	shows("\n  eBPF counts all faults, not the module: another tool holds handle_mm_fault()\n");
	run.report.cost.bpf_other_ps = COUNT_NA; /* the reason does not depend on the cost */
	print_table();
	shows("\n  all faults counted by eBPF: n/a\n  eBPF counts all faults, not the "
	      "module: another tool holds handle_mm_fault()\n");
	run.report.cost.bpf_other_ps = 2250000;
	run.report.bpf.module_faults_missing[0] = '\0';
	run.report.bpf.module_faults = true;
	print_table();
	shows("\n  all faults counted by the module: 1693 ns each");
	run.report.bpf.known = false;
	print_table();
	lacks("all faults counted");
}

TEST(test_parts_of_each_class_add_up)
{
	char *class;

	print_table();
	class = strstr(text, "\nWhere a logical fault's time went\nClass ");
	ck_assert_ptr_nonnull(class);
	check_line(class, "disk ", "disk 6000 6000 902.4 93.5% 150.4 150.4 150.4 150.4");
	check_line(class, "  cpu_before", "cpu_before 6000 30.0 3.1% 3.3% 5.00 5.00 5.00 5.00");
	check_line(class, "  queue", "queue 6000 0.60 0.1% 0.1% 0.10 0.10 0.10 0.10");
	check_line(class, "  device", "device 6000 780.0 80.8% 86.4% 130.0 130.0 130.0 130.0");
	check_line(class, "  runqueue", "runqueue 6000 90.0 9.3% 10.0% 15.0 15.0 15.0 15.0");
	check_line(class, "  cpu_after", "cpu_after 6000 1.80 0.2% 0.2% 0.30 0.30 0.30 0.30");
	class = strstr(class, "\nwait ");
	check_line(class, "  foreign", "foreign 150 21.8 2.3% 96.4% 145.0 145.0 145.0 145.0");
	class = strstr(class, "\nall faults ");
	check_line(class, "all faults", "all faults 11319 6198 965.4 100.0% 85.3 1.00 1.00 1.00");
}

TEST(test_parts_that_a_class_lacks_are_omitted)
{
	print_table();
	lacks("\n  blocked ");
	lacks("\nswap ");
	shows("0.30    0.30\nwait ");
	shows("\nA part's row counts the faults that spent time in it. The mean, p50 "
	      "and p99 are\nover all faults in the class.\n");
	shows("6.50    6.50    6.50\naround ");
}

TEST(test_time_outside_of_the_calls_has_a_row)
{
	struct part_figures *mm;

	mm = &run.report.faults.classes[FAULT_LONG].parts[PART_MM];
	*mm = (struct part_figures){ 5000, 5000 * 4000, 4000, 4000, 4000, 4000, COUNT_NA };
	print_table();
	check_line(text, "  mm", "mm 5000 20.0 2.1% 61.5% 4.00 4.00 4.00 4.00");
	lacks("With their call time only");
}

TEST(test_faults_with_the_time_of_their_calls_only_are_counted)
{
	run.report.faults.all.calls_only = 12;
	print_table();
	shows("\nWith their call time only, without mm: 12 faults (no handle_mm_fault() record)\n");
	run.report.faults.has_spans = false;
	print_table();
	check_line(strstr(text, "\nWhere a logical"), "  mm", "mm n/a n/a n/a n/a n/a n/a n/a");
	shows("without mm: 12 faults (an older recording)\n");
	lacks("because eBPF had no hook");
	run.report.faults.has_spans = true;
	run.report.faults.all.calls_only = 1;
	run.report.bpf.hooks &= ~(1U << HOOK_FAULT);
	print_table();
	shows("without mm: 1 fault (not all faults were counted)\n");
}

TEST(test_full_report_names_the_origin_of_pages)
{
	print_table();
	lacks("Copied when written");
	lacks("Huge pages");
	run.report.environment.page_bytes = 4096;
	run.report.contents = (struct contents_figures){
		.mechanisms = {
			[MECHANISM_COPY_ZERO] = { .count = 7, .total_ns = 70000 },
			[MECHANISM_COPY_FORK] = { .count = 9, .total_ns = 90000 },
			[MECHANISM_WRITABLE_UNKNOWN] = { .count = 3, .total_ns = 30000 },
			[MECHANISM_NUMA_MOVED] = { .count = 6, .total_ns = 60000 },
			[MECHANISM_PRESENT] = { .count = 2, .total_ns = 20000 },
			[MECHANISM_USERFAULT] = { .count = 1, .total_ns = 10000 },
		},
		.by = {
			[PFSTAT_CONTENT_NEW] = { .count = 11, .total_ns = 110000 },
			[PFSTAT_CONTENT_PRESENT] = { .count = 13, .total_ns = 130000 },
		},
		.after_fork = { .count = 5 },
		.fork_pid = 77,
		.fork_pid_count = 4,
		.huge[0] = {
			.order = 9,
			.anon = { .count = 2, .total_ns = 600000 },
			.hugetlb = { .count = 1, .total_ns = 400000 },
		},
		.dax_small = 3,
	};
	print_table();
	shows("\nCopied when written: 7 of the zero page (0.07 ms); "
	      "9 of pages shared by a fork (0.09 ms)\n");
	shows("\nWritten without a copy: 3 that no other process has any more (0.03 ms)\n");
	shows("\nAfter a fork in this run: 5 of the pages shared by a fork; "
	      "4 after forks by process 77\n");
	shows("\nShared memory pages: 11 new (0.11 ms); 13 there before (0.13 ms)\n");
	shows("\nHuge pages: 2 of 2048 KiB, anonymous (0.60 ms); "
	      "1 of 2048 KiB, hugetlbfs (0.40 ms)\n");
	shows("\nMapped before the fault: 6 NUMA hints, moved (0.06 ms); "
	      "2 by another thread (0.02 ms)\n");
	shows("\nWaited: 1 for a handler of userfaultfd (0.01 ms)\n");
	shows("\nDAX: 3 faults mapped a single page\n");
}

TEST(test_parts_without_their_hook_are_na)
{
	char *class;

	run.report.bpf.hooks &= ~(1U << HOOK_WAKEUP | 1U << HOOK_BLOCK_INSERT | 1U << HOOK_SWAP);
	print_table();
	class = strstr(text, "\nWhere a logical");
	check_line(class, "  queue", "queue n/a n/a n/a n/a n/a n/a n/a");
	check_line(class, "  device", "device 6000 780.0 80.8% 86.4% 130.0 130.0 130.0 130.0");
	check_line(class, "  runqueue", "runqueue n/a n/a n/a n/a n/a n/a n/a");
	shows("\nn/a, because eBPF had no hook: queue, completion, runqueue, swap\n");
	check_line(strstr(text, "\nBlock requests"), "  queue", "queue n/a n/a n/a n/a n/a");
	shows("\nall faults ");
	run.report.bpf.hooks &= ~(1U << HOOK_FAULT);
	print_table();
	shows("\nall hooked "); /* no hook counts the other faults */
	lacks("\nall faults ");
	run.report.bpf.hooks = 1U << HOOK_WAKEUP | 1U << HOOK_BLOCK_INSERT | 1U << HOOK_FAULT;
	print_table();
	class = strstr(text, "\nWhere a logical");
	check_line(class, "  queue", "queue n/a n/a n/a n/a n/a n/a n/a");
	check_line(class, "  device", "device n/a n/a n/a n/a n/a n/a n/a");
	shows("\nn/a, because eBPF had no hook: queue, device, completion, handler, reclaim, "
	      "swap, cow\n");
	shows("\nBlock requests: n/a\n");
	shows("\nPages read into the page cache: n/a\n");
}

TEST(test_all_hooks_leave_nothing_na)
{
	print_table();
	lacks("because eBPF had no hook");
}

TEST(test_kernel_stacks_of_sleeps_are_printed)
{
	struct wait_row rows[] = {
		{ .cause = "the NFS server",
		  .functions =
			  "rpc_wait_bit_killable<__rpc_execute<nfs4_do_call_sync<nfs4_proc_getattr",
		  .sleeps = 4,
		  .total_ns = 80000000,
		  .max_ns = 50000000 },
		{ .functions = "some_function<its_caller", .sleeps = 1, .total_ns = 900000 },
	};

	run.report.waits = (struct report_waits){ rows, 2, 0 };
	print_table();
	check_line(strstr(text, "\nSleeps in faults"), "     4",
		   "4 80.0 8.3% 20000.0 50000.0 the NFS server");
	shows(" rpc_wait_bit_killable < __rpc_execute <\n");
	shows(" unknown\n");
	shows(" some_function < its_caller\n");
	lacks("without a known kernel stack");
	run.report.full = false;
	print_table();
	shows("\nSlept 80.00 ms, 4 times, for the NFS server: "
	      "rpc_wait_bit_killable < __rpc_execute < ...\n");
	lacks("some_function"); /* too short */
	rows[1].total_ns = 60000000;
	run.report.waits.unknown_ns = 70000000;
	print_table();
	shows("\nSlept 60.00 ms, 1 time, in some_function < its_caller\n");
	shows("\nSlept 70.00 ms in foreign and blocked without a known kernel stack\n");
	run.report.bpf.hooks &= ~(1U << HOOK_WAIT_STACK);
	print_table();
	shows("because eBPF had no hook: handler, kernel stacks of sleeps\n");
	lacks("Slept ");
}

TEST(test_a_wait_for_a_cpu_is_the_last_tasks_only_while_it_ran)
{
	struct cpu_task_row rows[] = {
		{ .pid = 77, .comm = "compiler", .total_ns = 50000000, .ran_ns = 4000000 },
		{ .pid = 78, .comm = "hog", .total_ns = 40000000, .ran_ns = 39000000 },
		{ .pid = 9, .comm = "audio", .total_ns = 30000000 },
	};

	run.report.cpu_tasks = (struct report_cpu_tasks){ rows, 3 };
	print_table();
	shows("\nWaited 50.00 ms for a CPU; compiler (pid 77) had it longest, and ran "
	      "for at least 4.00 ms of them\n"
	      "  No running task is known for the other 46.00 ms\n"
	      "Waited 40.00 ms for a CPU; hog (pid 78) had it longest, and ran for at "
	      "least 39.00 ms of them\n"
	      "Waited 30.00 ms for a CPU; audio (pid 9) had it longest, for an unknown time\n");
}

TEST(test_residue_above_2_percent_is_a_warning)
{
	struct fault_figures *all = &run.report.faults.all;

	print_table();
	shows("\nUnexplained: <0.01% of the time\n");
	all->whole.total_ns = 1000000;
	all->parts[PART_RESIDUE].total_ns = 20000;
	print_table();
	shows("\nUnexplained: 2.00% of the time\n");
	lacks("RESIDUE");
	all->parts[PART_RESIDUE].total_ns = 20100;
	print_table();
	starts("UNEXPLAINED: 2.01% OF THE TIME OF FAULTS\n");
	all->parts[PART_RESIDUE].total_ns = 0;
	print_table();
	shows("\nUnexplained: 0.00% of the time\n");
}

TEST(test_lost_events_make_the_time_on_the_cpu_a_maximum)
{
	struct fault_figures *all = &run.report.faults.all;

	run.report.losses.events = 20;
	all->whole.total_ns = 1000000;
	all->parts[PART_CPU_AFTER].total_ns = 1000000;
	all->parts[PART_RESIDUE].total_ns = 0;
	print_table();
	shows("cpu_after, at most");
	shows("\nUnexplained: not known, because 20 events were lost\n");
	all->parts[PART_RESIDUE].total_ns = 10000;
	print_table();
	shows("\nUnexplained: at least 1.00% of the time; 20 events were lost\n");
	run.report.losses.events = 0;
	print_table();
	lacks("at most");
}

TEST(test_unsolved_faults_are_printed)
{
	print_table();
	lacks("ended with an error");
	run.report.faults.all.unsolved = 7;
	print_table();
	shows("\nFaults that ended with an error or a signal: 7\n");
}

TEST(test_requests_and_pages_have_their_figures)
{
	char *from;

	print_table();
	from = strstr(text, "\nBlock requests ");
	check_line(from, "reads", "reads 6048 23.6");
	check_line(from, "  queue", "queue 0.60 0.10 0.10 0.20 0.30");
	check_line(from, "  device", "device 786.2 130.0 130.0 140.0 150.0");
	check_line(from, "writes", "writes 2 1.00");
	lacks("\nerrors");
	from = strstr(text, "\nPage cache ");
	check_line(from, "read ", "read 8000 100.0% from block devices into the page cache");
	check_line(from, "mapped", "mapped 7000 87.5% by a fault, afterwards");
	check_line(from, "evicted unused",
		   "evicted unused 100 1.2% removed before a fault mapped them");
	check_line(from, "never used",
		   "never used 900 11.2% still there; read(2) may have used them");
	lacks("\nnot tracked");
}

TEST(test_table_prints_rare_counts_only_if_not_0)
{
	run.report.blocks.errors = 3;
	run.report.pages.readahead.overflow = 12;
	run.report.bpf.hooks &= ~(1U << HOOK_PAGE_DELETE);
	print_table();
	check_line(text, "errors", "errors 3");
	check_line(text, "not tracked",
		   "not tracked 12 - dropped before their fate was known; not counted above");
	check_line(text, "evicted", "evicted unused n/a n/a removed before a fault mapped them");
	run.report.bpf.hooks |= 1U << HOOK_PAGE_DELETE;
	run.report.pages.evictions = (struct evictions_figures){ .evicted = 5000, .overflow = 904 };
	run.report.pages.untracked = 84;
	print_table();
	shows("\nPages evicted and read again: none of 4096 evicted\n"
	      "Not tracked: 904 evicted pages, because the memory for them was used up\n"
	      "Not tracked: the pages of 84 requests, for files beyond eBPF's limit\n");
	lacks("LOST");
	run.report.bpf.hooks &= ~(1U << HOOK_PAGE_DELETE);
	run.report.blocks = (struct block_figures){ 0 };
	run.report.pages.readahead = (struct readahead_figures){ 0 };
	print_table();
	shows("\nBlock requests: none\n");
	shows("\nPages read into the page cache: none\n");
}

TEST(test_evictions_have_a_row_for_each_pair_and_the_sum_of_the_rest)
{
	struct evictions_pair pairs[] = {
		{ .reason = EVICTIONS_RECLAIMED,
		  .evictor = 36,
		  .evictor_name = "kswapd0",
		  .victim = 7,
		  .pages = 900,
		  .faults = 600,
		  .total_ns = 200000000 },
		{ .reason = EVICTIONS_RECLAIMED,
		  .evictor = 7,
		  .evictor_name = "own",
		  .victim = 7,
		  .pages = 30,
		  .faults = 20,
		  .total_ns = 4000000 },
		{ .reason = EVICTIONS_RECLAIMED,
		  .evictor_name = EVICTIONS_OTHERS,
		  .pages = 5,
		  .faults = 4,
		  .total_ns = 1000000 },
	};

	run.report.pages.evictions.evicted = 5000;
	run.report.pages.pairs = pairs;
	run.report.pages.nr_pairs = 3;
	print_table();
	shows("\nPages evicted and read again, of 5000 evicted\n");
	check_line(text, "  900 ", "900 600 200.0 reclaimed 7 kswapd0 (36)");
	check_line(text, "   30 ", "30 20 4.00 reclaimed 7 itself");
	check_line(text, "    5 ", "5 4 1.00 reclaimed (others) (others)");
	lacks("Not shown");
	run.report.syscalls.nr = 1;
	run.report.top = 1;
	print_table();
	shows("kswapd0 (36)\nNot shown: 2 more rows, with 35 pages and 24 faults\n");
	lacks("itself");
}

TEST(test_ledger_has_each_count_and_its_source)
{
	char *ledger;

	print_table();
	ledger = strstr(text, "\nLedger ");
	ck_assert_ptr_nonnull(ledger);
	check_line(ledger, "wrapper calls", "wrapper calls 17497 module");
	check_line(ledger, "page-faults", "page-faults n/a perf");
}

TEST(test_ledger_names_the_reasons_of_every_difference)
{
	print_table();
	check_line(text, "wrapper calls -",
		   "wrapper calls - logical faults +6198 +6200 calls that the kernel retried");
	check_line(text, "handle_mm_fault()", "handle_mm_fault() minor, hooked - 0 they agree");
	check_line(text, "page-faults -", "page-faults - (minor-faults + n/a");
	lacks("UNEXPLAINED");
}

TEST(test_unexplained_difference_is_a_warning)
{
	struct ledger *ledger = &run.report.ledger;

	ledger->differences[0].amount -= 5;
	ledger->differences[0].unexplained = -5;
	ledger->differences[1].amount = 2;
	ledger->differences[1].unexplained = 2;
	ledger->unexplained = 7;
	print_table();
	ck_assert(starts_loud());
	starts("7 FAULTS DIFFER BETWEEN THE COUNTERS");
	shows("     -5  UNEXPLAINED\n");
	check_line(text, "handle_mm_fault()",
		   "handle_mm_fault() minor, hooked - +2 +2 UNEXPLAINED");
	lacks("they agree");
}

TEST(test_lost_records_of_the_module_are_not_lost_events_of_ebpf)
{
	run.report.losses.faults = 78611;
	print_table();
	shows("LOST 78611 FAULT RECORDS OF THE MODULE: ");
	shows("LARGER --ring-size\n");
	shows("in progress for at least ");
	lacks("EBPF");
	run.report.losses.faults = 0;
	run.report.losses.unwatched = 3;
	print_table();
	shows("3 FAULTS OR CHILDREN HAD NO ROOM ");
	lacks("LOST");
}

TEST(test_execution_that_ended_perf_is_a_warning_with_its_name)
{
	run.report.losses.ended = 1;
	strcpy(run.report.losses.ended_name, "a\nb");
	print_table();
	shows("EVENTS ENDED WHEN A PROCESS EXECUTED a?b: LATER FAULTS ARE MISSING\n");
	run.report.losses.ended = 4;
	print_table();
	shows("a?b, AND 3 TIMES MORE: LATER FAULTS ARE MISSING\n");
}

TEST(test_wrapped_text_is_complete_and_in_its_column)
{
	print_table();
	shows("     -2  an error that was counted twice, for the\n"
	      "                                                  sake of a long line\n"
	      "handle_mm_fault() minor, hooked -       0         they agree\n"
	      "logical faults, minor\n");
}

TEST(test_groups_are_printed_with_their_main_part)
{
	print_table();
	lacks("costliest first");
	sample_groups(&run, GROUP_BY_FILE);
	print_table();
	shows("\nFaults by file, costliest first\n");
	check_line(text, "  6000   6000",
		   "6000 6000 900.0 93.2% 150.0 160.0 device 90% /mnt/disk/demo.bin");
	check_line(text, "    20      0",
		   "20 0 0.02 <0.1% 1.00 1.00 cpu_before 100% (anonymous memory)");
	shows("/lib/a,b\"\\x0a.so");
	lacks("Not shown");
	run.report.syscalls.nr = 1;
	run.report.top = 1;
	print_table();
	lacks("(anonymous memory)");
	shows("\nNot shown: 2 more rows, with 22 faults and 0.03 ms\n");
	run.report.top = 0;
	print_table();
	lacks("Not shown");
}

TEST(test_main_part_without_its_hook_is_na)
{
	sample_groups(&run, GROUP_BY_VMA);
	run.report.bpf.hooks &= ~(1U << HOOK_BLOCK);
	print_table();
	shows("  n/a              /mnt/disk/demo.bin\n");
	shows("  cpu_before 100%  (anonymous memory)\n");
	sample_without_bpf(&run.report);
	print_table();
	shows("  n/a     (anonymous memory)\n");
}

TEST(test_readahead_is_below_its_mapping)
{
	sample_groups(&run, GROUP_BY_VMA);
	run.report.groups.rows[0].state = (struct mapping_state){ true, MAPPING_RANDOM, 32, 5 };
	print_table();
	shows(" random, 128 KiB ahead, 5 misses\n");
	shows("/mnt/disk/demo.bin\n        ");
	run.report.groups.rows[0].state.known = false;
	print_table();
	lacks("KiB ahead");
}

TEST(test_empty_groups_are_printed_as_none)
{
	run.report.groups.wanted = true;
	run.report.groups.by = GROUP_BY_CODE;
	print_table();
	shows("\nFaults by code, costliest first\nnone\n");
}

TEST(test_table_of_a_recording_names_the_watched_command)
{
	struct environment *e = &run.report.environment;

	strcpy(e->kind, "record");
	strcpy(e->command, "python3 -c 'import this'");
	strcpy(e->only_file, "/mnt/disk/data");
	e->started_s = 1700000000;
	print_table();
	check_line(text, "Recorded", "Recorded 2023-11-14 22:13:20 UTC, by pfdrive 0.1");
	check_line(text, "Command", "Command python3 -c 'import this'");
	check_line(text, "Only file", "Only file /mnt/disk/data");
	check_line(text, "Watched", "Watched for 1234.568 ms");
	lacks("Pages touched");
	shows("\n 11299   6198    5104    6195   6150       0           6198             0\n");
	lacks("\nAccesses");
	lacks("\nCache");
	lacks("\nFile ");
	e->command[0] = '\0';
	e->only_file[0] = '\0';
	e->pid = 4711;
	run.report.time.elapsed_ns = COUNT_NA;
	print_table();
	check_line(text, "Process", "Process 4711");
	check_line(text, "Watched", "Watched for n/a");
	lacks("\nCommand");
	lacks("\nOnly file");
}

TEST(test_damage_is_a_warning_and_unknown_counts_are_na)
{
	run.report.losses.damage = "it ends after 12 blocks";
	run.report.cost.calls = COUNT_NA;
	run.report.losses.records = COUNT_NA;
	run.report.usage.minflt = COUNT_NA;
	run.report.bpf.have_counts = false;
	run.report.losses.events = COUNT_NA;
	run.report.bpf.off_cpu_count = COUNT_NA;
	print_table();
	starts("THE RECORDING IS INCOMPLETE; THE FIGURES COVER WHAT COULD BE "
	       "READ: it ends after 12 blocks\n");
	shows("\n        11299   11299   6198     n/a    6195   6150       0"
	      "            n/a           n/a\n");
	shows("\nSystem calls: n/a\n");
}

TEST(test_table_names_system_calls_and_errors)
{
	print_table();
	check_line(strstr(text, "\nSystem call "), "read ", "read ok 12 10.3 0.12");
	check_line(text, "clock_nanosleep", "clock_nanosleep EINTR 1 1.00 0.00");
	check_line(text, "99999", "99999 errno 12345 1 0.00 0.00");
	lacks("Not shown");
	run.report.top = 1;
	print_table();
	shows("\nNot shown: 2 more rows, with 2 calls and 0.00 ms\n");
	lacks("clock_nanosleep");
	run.report.syscalls.nr = 0;
	print_table();
	shows("System calls: none\n");
}

static const struct {
	const char *claim;
	struct {
		uint64_t *field, value;
	} settings[2];
	const char *first; /* how the report begins, or NULL: not with a warning */
	const char *also;
} warnings[] = {
	{ "no loss gives no warning", .first = NULL },
	{ "lost records are a warning",
	  { { &run.report.losses.records, 7 }, { &run.report.cost.calls, SAMPLE_CALLS + 7 } },
	  .first = "LOST 7 OF 17504 RECORDS" },
	{ "lost records are a warning when one file's calls are unknown",
	  { { &run.report.losses.records, 7 }, { &run.report.cost.calls, COUNT_NA } },
	  .first = "LOST 7 RECORDS: " },
	{ "unknown calls are no warning", { { &run.report.cost.calls, COUNT_NA } }, .first = NULL },
	{ "omitted names are a warning",
	  { { &run.report.losses.names_left_out, 12 } },
	  .first = "12 SYMBOLS OR LINES ARE NOT IN THE RECORDING: " },
	{ "no omitted name gives no warning",
	  { { &run.report.losses.names_left_out, 0 } },
	  .first = NULL },
	{ "calls that do not add up are a warning",
	  { { &run.report.cost.calls, SAMPLE_CALLS + 1 } },
	  .first = "17498 CALLS, BUT 17497 RECORDS READ AND 0 LOST" },
	{ "lost events are a warning",
	  { { &run.report.losses.events, 3 } },
	  .first = "LOST 3 EVENTS" },
	{ "events that were sent but not read are a warning",
	  { { &run.report.losses.events_sent, 7001 },
	    { &run.report.losses.events_received, 7000 } },
	  .first = "EBPF SENT 7001 EVENTS, BUT 7000 WERE READ: " },
	{ "events skipped by the kernel are reported separately",
	  { { &run.report.losses.events, 3 }, { &run.report.losses.events_skipped, 2 } },
	  .first = "LOST 3 EVENTS",
	  .also = "\nTHE KERNEL SKIPPED 2 OF THESE; " },
};

TEST_ROWS(test_warning, row, warnings)
{
	size_t i;

	for (i = 0; i < 2 && row->settings[i].field; i++)
		*row->settings[i].field = row->settings[i].value;
	print_table();
	ck_assert_int_eq(starts_loud(), row->first != NULL);
	starts(row->first ? row->first : "");
	shows(row->also ? row->also : "");
	if (!row->first) {
		lacks("LOST");
		lacks("LINES ARE NOT");
	}
}

/* For output other than a table, for example figures. */
TEST(test_warnings_are_printed_without_a_table)
{
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(print_report_warnings(out, &run.report), 0);
	ck_assert_int_eq(ftell(out), 0);
	run.report.losses.events = 3;
	ck_assert_int_eq(print_report_warnings(out, &run.report), 0);
	fclose(out);
	starts("LOST 3 EVENTS");
}

TEST(test_late_records_are_a_warning)
{
	const struct pfstat_record record = { .tid = 1, .duration_ns = 10 };

	add_record(&record);
	run.report.cost.calls += 1;
	print_table();
	ck_assert(starts_loud());
	starts("1 RECORDS OUT OF ORDER");
}

TEST(test_partial_off_cpu_times_are_a_warning)
{
	struct pfstat_off_cpu stay = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU, .tid = 2, .ns = 10 },
	};
	const struct pfstat_record record = { .tid = 2, .duration_ns = 10 };
	unsigned int i;

	for (i = 0; i < 70000; i++)
		ck_assert_int_eq(explain_event(run.calls, &stay.event), 0);
	add_record(&record);
	run.report.cost.calls += 1;
	print_table();
	ck_assert(starts_loud());
	shows("FOR UP TO 1 CALLS");
}

TEST(test_file_name_cannot_break_the_table)
{
	strcpy(run.report.environment.file, "/a\nCount 1\x1b[31m\xff");
	print_table();
	check_line(text, "Count ", "Count 6198 6198 5101 17497");
	lacks("\x1b");
	lacks("\xff");
}

TEST(test_several_runs_have_a_table_each_and_their_mean)
{
	struct sample_run runs[2];
	struct report reports[2];
	char *mean;

	sample_open(&runs[0], 100000);
	sample_open(&runs[1], 200000);
	runs[1].report.ledger.unexplained = 7;
	runs[1].report.losses.records = 1;
	runs[1].report.cost.calls += 1;
	reports[0] = runs[0].report;
	reports[1] = runs[1].report;
	text = sample_print(REPORT_TABLE, reports, 2);
	check_width(text);
	starts("RUN 2: LOST 1 OF 17498 RECORDS");
	shows("\nRun 1 of 2: ");
	shows("\nRun 2 of 2: ");
	shows("; 7 UNEXPLAINED\n");
	mean = strstr(text, "\nMean ± standard deviation of 2 runs\n");
	ck_assert_ptr_nonnull(mean);
	check_line(mean, "Count ", "Count 6198.0 ± 0.0 6198.0 ± 0.0 5101.0 ± 0.0 17497.0 ± 0.0");
	check_line(mean, "Average ",
		   "Average fault cost (µs) 150.0 ± 70.7 0.30 ± 0.00 6.50 ± 0.00 55.1 ± 25.0");
	check_line(mean, "Total fault",
		   "Total fault cost (ms) 929.7 ± 438.3 1.86 ± 0.00 33.16 ± 0.00 964.7 ± 438.3");
	sample_close(&runs[0]);
	sample_close(&runs[1]);
}

/* Splits a CSV line without quotes. Returns the number of fields. */
static size_t split(char *line, char *fields[MAX_FIELDS])
{
	size_t nr = 0;

	while (line) {
		ck_assert_uint_lt(nr, MAX_FIELDS);
		fields[nr++] = strsep(&line, ",");
	}
	return nr;
}

static void check_csv_line(char *line, size_t number, size_t nr_fields)
{
	static const char *const names[PFSTAT_NR_CLASSES] = PFSTAT_CLASS_NAMES;
	char *fields[MAX_FIELDS];

	ck_assert_uint_eq(split(line, fields), nr_fields);
	ck_assert_int_eq(atoi(fields[0]), number / PFSTAT_NR_CLASSES + 1);
	ck_assert_str_eq(fields[3], names[number % PFSTAT_NR_CLASSES]);
}

static unsigned int nr_lines(void)
{
	unsigned int lines = 0;
	const char *at;

	for (at = text; *at; at++)
		lines += *at == '\n';
	return lines;
}

static struct group places[3];

/* A program's recording, with groups in each dimension of the verdict. */
static void make_short(void)
{
	enum group_by by;

	run.report.full = false;
	sample_groups(&run, GROUP_BY_FILE);
	run.report.groups.wanted = false;
	memcpy(places, run.groups, sizeof(places));
	for (by = 0; by < NR_GROUP_BY; by++)
		run.report.places[by] = (struct report_places){ places, 3 };
	strcpy(run.report.environment.kind, "record");
	strcpy(run.report.environment.command, "python3 x.py");
	run.report.evidence.busy_ns = 900000000;
}

TEST(test_short_report_has_the_verdict_first_and_few_lines)
{
	make_short();
	print_table();
	starts("Page faults were in progress for 73 % of the run (1.23 s): ");
	shows("\nMost of it: class disk 9");
	shows("\nCause: ");
	shows("\nWhere ");
	check_line(text, "file ", "file 900.0 93.2% 6000 150.0 device 90% /mnt/disk/demo.bin");
	shows("\nCommand       python3 x.py\n");
	shows("\n  device ");
	lacks("\n  queue "); /* too small */
	shows("\nRequests: 6048 reads, 23.6 MiB, 4.0 KiB each; queue 0.1 µs, "
	      "device 130.0 µs; 2 writes, 1.0 MiB\n");
	shows("\nPages read: 8000; 87.5% mapped by a fault, 1.2% evicted unused\n");
	shows("; 2 comparisons agree\n");
	lacks("Ledger");
	lacks("Disk faults"); /* the study's table is for patterns */
	lacks("System call");
	ck_assert_uint_le(nr_lines(), 45);
}

TEST(test_short_report_of_a_pattern_has_the_studys_tables)
{
	make_short();
	strcpy(run.report.environment.kind, "drive");
	print_table();
	check_line(text, "Count ", "Count 6198 6198 5101 17497");
	shows("\nall calls");
}

TEST(test_short_report_prints_a_ledger_that_does_not_close)
{
	make_short();
	run.report.ledger.unexplained = 3;
	run.report.blocks = (struct block_figures){ 0 };
	run.report.pages.readahead = (struct readahead_figures){ 0 };
	print_table();
	shows("\nLedger");
	lacks("Requests");
	lacks("Pages read");
}

TEST(test_short_report_of_no_faults)
{
	open_empty();
	run.report.full = false;
	print_table();
	shows("\nNo page faults\n");
	lacks("nan");
}

TEST(test_csv_has_a_header_and_a_line_for_each_class_and_run)
{
	struct report reports[2];
	char *rest, *line, *fields[MAX_FIELDS];
	size_t nr_fields, number = 0;

	reports[0] = run.report;
	reports[1] = run.report;
	text = sample_print(REPORT_CSV, reports, 2);
	rest = text;
	line = strsep(&rest, "\n");
	ck_assert_str_eq(line,
			 "run,pattern,cache,class,count,mean_ns,p50_ns,p99_ns,max_ns,total_ns,"
			 "off_cpu_ns,lost_records,lost_events");
	nr_fields = split(line, fields);
	while ((line = strsep(&rest, "\n")) && *line)
		check_csv_line(line, number++, nr_fields);
	ck_assert_uint_eq(number, 2 * PFSTAT_NR_CLASSES);
}

TEST(test_csv_has_the_figures_and_na)
{
	run.report.losses.records = 7;
	print_csv();
	shows("\n1,random,cold,wait,150,150000.000,150000,150000,150000,22500000,21750000,7,0\n");
	shows("\n1,random,cold,error,0,n/a,n/a,n/a,n/a,0,0,7,0\n");
	sample_without_bpf(&run.report);
	print_csv();
	shows("\n1,random,cold,error,0,n/a,n/a,n/a,n/a,0,n/a,7,n/a\n");
}

TEST(test_csv_quotes_text_that_holds_a_comma)
{
	strcpy(run.report.environment.pattern, "zipf:0,\"5\"");
	print_csv();
	shows("\n1,\"zipf:0,\"\"5\"\"\",cold,disk,");
}

TEST(test_csv_of_groups_has_a_row_each_and_one_of_the_rest)
{
	sample_groups(&run, GROUP_BY_FILE);
	run.report.bpf.hooks &= ~(1U << HOOK_SWAP | 1U << HOOK_WAKEUP);
	print_csv();
	check_line(
		text, "by,",
		"by,name,pid,tid,address,inode,dev,faults,major,total_ns,mean_ns,"
		"max_ns,disk,wait,readahead,short,long,around,mkwrite,pass,error,lock,raced,"
		"file,anon,swap,cow,other,again,cpu_before_ns,queue_ns,device_ns,completion_ns,foreign_ns,"
		"blocked_ns,handler_ns,reclaim_ns,asleep_ns,runqueue_ns,cpu_after_ns,mm_ns,residue_ns,"
		"lost_records,lost_events");
	shows("\nfile,/mnt/disk/demo.bin,77,n/a,139637976727552,12,8388609,6000,"
	      "6000,900000000,150000.000,160000,6000,0,0,0,0,0,0,0,0,0,0,0,0,n/a,0,0,"
	      "n/a,90000000,0,810000000,n/a,0,0,0,0,0,n/a,0,0,0,0,0\n");
	shows("\nfile,\"/lib/a,b\"\"\n.so\",n/a,n/a,n/a,18446744073709551615,0,2,1,5000,");
	run.report.top = 1;
	print_csv();
	lacks("anonymous memory");
	shows("\nfile,(left out),n/a,n/a,n/a,n/a,n/a,22,1,25000,1136.364,4000,0,");
}

TEST(test_locale_of_the_caller_is_unchanged)
{
	locale_t before = uselocale((locale_t)0);

	/* The tests run in the C locale. µ is printed nevertheless. */
	print_table();
	shows("µs");
	ck_assert(uselocale((locale_t)0) == before);
}

TEST(test_output_that_cannot_be_written_is_an_error)
{
	enum report_format format;
	FILE *full;

	for (format = REPORT_TABLE; format <= REPORT_JSON; format++) {
		full = fopen("/dev/full", "w");
		ck_assert_ptr_nonnull(full);
		ck_assert_int_eq(print_report(full, format, &run.report, 1), -ENOSPC);
		fclose(full);
	}
}

TEST(test_missing_run_and_missing_format_are_refused)
{
	open_empty();
	ck_assert_int_eq(print_report(stdout, REPORT_TABLE, &run.report, 0), -EINVAL);
	ck_assert_int_eq(print_report(stdout, (enum report_format)4, &run.report, 1), -EINVAL);
}

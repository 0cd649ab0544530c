// SPDX-License-Identifier: GPL-2.0-only
/* The sentences about the standstill. Each states only the bounds supported by the evidence. */
#include "runner.h"
#include "user/model/counters.h"
#include "user/print/standstill_text.h"

#define MS 1000000ULL

static struct report report;
static char *printed;

static void prepare(void)
{
	report_init(&report);
	report.bpf.known = true;
	report.bpf.hooks = BPF_HOOKS;
	report.losses.records = 0;
	report.losses.events = 0;
	report.faults.all.count = 100;
	report.faults.all.whole.total_ns = 3200 * MS;
	report.evidence.busy_ns = 1000 * MS;
	report.evidence.busy_max_ns = 1000 * MS;
	report.evidence.depth = 4;
	report.evidence.depth_max = 4;
	report.evidence.standstill = (struct standstill_figures){
		.most = {
			.pid = 1234, .name = "sorter", .threads = 4,
			.still = { 900 * MS, 905 * MS }, .several = { 700 * MS, 700 * MS },
		},
		.processes = 1, .complete = true, .wakeups_known = true,
	};
}

static void finish(void)
{
	report_exit(&report);
	free(printed);
}
FIXTURE(prepare, finish);

static void check_printed(const char *verdict, const char *notes)
{
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	standstill_text_verdict(out, &report, 3000 * MS);
	fputs("--\n", out);
	standstill_text_notes(out, &report);
	fclose(out);
	ck_assert_msg(strstr(printed, "--\n") == printed + strlen(verdict) &&
			      !strncmp(printed, verdict, strlen(verdict)),
		      "not '%s', but %s", verdict, printed);
	ck_assert_str_eq(strstr(printed, "--\n") + 3, notes);
}

TEST(test_close_bounds_print_as_one_time)
{
	check_printed("For 905.0 ms sorter (1234) stood still: its threads were in faults, or "
		      "slept outside them; for 700.0 ms two or more were in faults. 3.2 faults "
		      "were in flight on average, 4 at most.\n",
		      "Faults in flight: 3.2 on average while there was any, 4 at most\n"
		      "Stood still: sorter (1234) for 905.0 ms, two or more in faults for "
		      "700.0 ms\n");
}

TEST(test_a_thread_that_may_have_run_makes_two_bounds)
{
	report.evidence.standstill.most.still.min_ns = 400 * MS;
	report.evidence.standstill.most.several.min_ns = 0;
	check_printed("For 400.0 ms to 905.0 ms sorter (1234) stood still: its threads were in "
		      "faults, or slept outside them; for 0.0 ms to 700.0 ms two or more were "
		      "in faults. 3.2 faults were in flight on average, 4 at most.\n",
		      "Faults in flight: 3.2 on average while there was any, 4 at most\n"
		      "Stood still: sorter (1234) for 400.0 ms to 905.0 ms, two or more in "
		      "faults for 0.0 ms to 700.0 ms\n");
}

TEST(test_a_small_share_by_the_lower_bound_is_no_verdict)
{
	report.evidence.standstill.most.still.min_ns = 200 * MS;
	report.evidence.standstill.most.several.max_ns = 0;
	check_printed("", "Faults in flight: 3.2 on average while there was any, 4 at most\n"
			  "Stood still: sorter (1234) for 200.0 ms to 905.0 ms\n");
}

TEST(test_perf_knows_an_upper_bound)
{
	report.bpf.hooks = 1U << HOOK_PERF | 1U << HOOK_FAULT;
	report.evidence.standstill.wakeups_known = false;
	report.evidence.standstill.most.still.min_ns = 0;
	report.evidence.standstill.most.several.min_ns = 0;
	report.evidence.standstill.most.name[0] = '\0';
	check_printed("For at most 905.0 ms process 1234 stood still: its threads were in faults, "
		      "or slept outside them; for at most 700.0 ms two or more were in faults. "
		      "3.2 faults were in flight on average, 4 at most.\n",
		      "Faults in flight: 3.2 on average while there was any, 4 at most\n"
		      "Stood still: process 1234 for at most 905.0 ms, two or more in "
		      "faults for at most 700.0 ms\n");
}

TEST(test_lost_events_leave_a_lower_bound)
{
	report.losses.events = 5;
	check_printed("For at least 900.0 ms sorter (1234) stood still: its threads were in "
		      "faults, or slept outside them; for at least 700.0 ms two or more were in "
		      "faults.\n",
		      "Faults in flight: at least 4 at once; some were lost\n"
		      "Stood still: sorter (1234) for at least 900.0 ms, two or more in "
		      "faults for at least 700.0 ms\n");
	report.bpf.hooks = 1U << HOOK_PERF;
	free(printed);
	check_printed("", "Faults in flight: at least 4 at once; some were lost\n");
}

TEST(test_one_thread_says_no_more_than_its_faults)
{
	report.evidence.standstill.most.threads = 1;
	report.evidence.depth = 1;
	report.evidence.depth_max = 1;
	check_printed("", "");
}

TEST(test_without_the_scheduler_only_faults_in_flight_are_known)
{
	report.bpf.known = false;
	check_printed("", "Faults in flight: 3.2 on average while there was any, 4 at most\n");
}

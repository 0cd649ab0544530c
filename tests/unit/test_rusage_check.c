// SPDX-License-Identifier: GPL-2.0-only
/* getrusage(2) compared with eBPF, and system calls summed by name. */
#include <errno.h>
#include <string.h>

#include "runner.h"
#include "user/analyze/accounts/rusage_check.h"

struct fixture {
	struct run_counters counters;
	struct usage_seen seen;
	struct usage_line lines[USAGE_NR];
	struct syscall_row calls[2];
};

static void open_fixture(struct fixture *fixture)
{
	*fixture = (struct fixture){ 0 };
	run_counters_init(&fixture->counters);
	fixture->counters.have_bpf = true;
	fixture->counters.hooked_only = true;
	fixture->counters.hooks = (1U << HOOK_PERF) - 1;
	memset(fixture->counters.faults, 0, sizeof(fixture->counters.faults));
	fixture->counters
		.faults[PFSTAT_FAULT_INDEX(PFSTAT_FAULT_HOOKED, PFSTAT_ORIGIN_USER,
					   PFSTAT_OUTCOME_MINOR)]
		.count = 60;
	fixture->counters
		.faults[PFSTAT_FAULT_INDEX(PFSTAT_FAULT_ANON, PFSTAT_ORIGIN_KERNEL,
					   PFSTAT_OUTCOME_MINOR)]
		.count = 3;
	fixture->counters
		.faults[PFSTAT_FAULT_INDEX(PFSTAT_FAULT_FILE, PFSTAT_ORIGIN_GUP,
					   PFSTAT_OUTCOME_MAJOR)]
		.count = 4;
	fixture->counters
		.faults[PFSTAT_FAULT_INDEX(PFSTAT_FAULT_HOOKED, PFSTAT_ORIGIN_USER,
					   PFSTAT_OUTCOME_RETRY)]
		.count = 50;
	memset(fixture->counters.counts, 0, sizeof(fixture->counters.counts));
	fixture->counters.events_skipped = 0;
	fixture->counters.usage.minflt = 63;
	fixture->counters.usage.majflt = 4;
	fixture->counters.usage.inblock = 16;
	fixture->counters.usage.oublock = 8;
	fixture->counters.usage.nvcsw = 7;
	fixture->counters.usage.nivcsw = 1;
	fixture->counters.usage.utime_ns = 3000000;
	fixture->counters.usage.stime_ns = 2000000;
	fixture->calls[0].value.count = 5;
	fixture->calls[1].value.count = 6;
	fixture->counters.syscalls = fixture->calls;
	fixture->counters.nr_syscalls = 2;
	fixture->seen = (struct usage_seen){
		.voluntary = 7,
		.preempted = 1,
		.off_cpu_ns = 4000000,
		.elapsed_ns = 9100000,
		.bytes_read = 8192,
		.one_thread = true,
	};
}

static void compare(struct fixture *fixture)
{
	rusage_check_compare(fixture->lines, &fixture->counters, &fixture->seen);
}

static int64_t difference_of(const struct fixture *fixture, enum usage_name name)
{
	int64_t difference = INT64_MAX;

	ck_assert(rusage_check_difference(&fixture->lines[name], &difference));
	return difference;
}

TEST(test_lost_events_are_the_reason_for_differences)
{
	struct fixture f;

	open_fixture(&f);
	f.counters.counts[PFSTAT_COUNT_EVENTS_LOST] = 3;
	compare(&f);
	ck_assert_str_eq(f.lines[USAGE_NVCSW].reason, "eBPF events were lost");
	ck_assert_str_eq(f.lines[USAGE_NIVCSW].reason, "eBPF events were lost");
	ck_assert_str_eq(f.lines[USAGE_INBLOCK].reason, "eBPF events were lost");
	ck_assert_str_eq(f.lines[USAGE_CPU].reason, "eBPF events were lost");
	ck_assert_ptr_null(f.lines[USAGE_MINFLT].reason); /* counted, not sent as events */
	f.counters.events_skipped = 1;
	compare(&f);
	ck_assert_str_eq(f.lines[USAGE_MINFLT].reason, "the kernel skipped eBPF programs");
	ck_assert_str_eq(f.lines[USAGE_MAJFLT].reason, "the kernel skipped eBPF programs");
}

/* perf counts equal the number of perf samples. */
TEST(test_faults_without_a_perf_event_are_the_reason_if_no_sample_is_lost)
{
	struct fixture f;

	open_fixture(&f);
	f.counters.hooks = 1U << HOOK_FAULT | 1U << HOOK_PERF;
	f.counters.usage.minflt += 3;
	f.counters.perf_exec_pages = 3;
	f.counters.perf_ended = 0;
	compare(&f);
	ck_assert_str_eq(f.lines[USAGE_MINFLT].reason, "execve(2) wrote a program's arguments");
	ck_assert_ptr_null(f.lines[USAGE_MAJFLT].reason);
	f.counters.usage.minflt++;
	compare(&f);
	ck_assert_ptr_null(f.lines[USAGE_MINFLT].reason);
	f.counters.perf_user_only = true;
	compare(&f);
	ck_assert_str_eq(f.lines[USAGE_MAJFLT].reason,
			 "perf does not show faults in system calls to this user");
	f.counters.perf_ended = 1;
	compare(&f);
	ck_assert_str_eq(f.lines[USAGE_MINFLT].reason, "the kernel ended perf's events");
	f.counters.counts[PFSTAT_COUNT_EVENTS_LOST] = 3;
	compare(&f);
	ck_assert_ptr_null(f.lines[USAGE_MINFLT].reason);
}

TEST(test_each_figure_is_compared_with_its_counterpart)
{
	struct fixture f;

	open_fixture(&f);
	compare(&f);
	ck_assert_int_eq(difference_of(&f, USAGE_MINFLT), 0); /* retries do not count */
	ck_assert_int_eq(difference_of(&f, USAGE_MAJFLT), 0);
	ck_assert_int_eq(difference_of(&f, USAGE_INBLOCK), 0);
	ck_assert_int_eq(difference_of(&f, USAGE_OUBLOCK), 8);
	ck_assert_int_eq(difference_of(&f, USAGE_NVCSW), 0);
	ck_assert_int_eq(difference_of(&f, USAGE_NIVCSW), 0);
	ck_assert_int_eq(difference_of(&f, USAGE_CPU), 5000 - 5100);
	ck_assert_uint_eq(f.lines[USAGE_SYSCALLS].ebpf, 11);
	ck_assert_uint_eq(f.lines[USAGE_SYSCALLS].rusage, COUNT_NA);
	ck_assert_uint_eq(f.lines[USAGE_UTIME].rusage, 3000);
	ck_assert_uint_eq(f.lines[USAGE_UTIME].ebpf, COUNT_NA);
}

TEST(test_every_line_has_a_name_a_key_and_a_source)
{
	struct fixture f;
	size_t i;

	open_fixture(&f);
	compare(&f);
	for (i = 0; i < USAGE_NR; i++) {
		ck_assert_str_ne(f.lines[i].name, "");
		ck_assert_str_ne(f.lines[i].key, "");
		ck_assert_str_ne(f.lines[i].source, "");
	}
}

TEST(test_values_of_ebpf_are_na_without_it)
{
	struct fixture f;
	int64_t difference;
	size_t i;

	open_fixture(&f);
	f.counters.have_bpf = false;
	compare(&f);
	for (i = 0; i < USAGE_NR; i++) {
		ck_assert_uint_eq(f.lines[i].ebpf, COUNT_NA);
		ck_assert(!rusage_check_difference(&f.lines[i], &difference));
	}
}

TEST(test_a_missing_hook_makes_its_lines_na)
{
	struct fixture f;

	open_fixture(&f);
	f.counters.hooks &= ~(1U << HOOK_FAULT | 1U << HOOK_BLOCK);
	compare(&f);
	ck_assert_uint_eq(f.lines[USAGE_MINFLT].ebpf, COUNT_NA);
	ck_assert_uint_eq(f.lines[USAGE_INBLOCK].ebpf, COUNT_NA);
	ck_assert_uint_eq(f.lines[USAGE_NVCSW].ebpf, 7);
}

TEST(test_cpu_time_is_known_only_for_a_single_thread)
{
	struct fixture f;

	open_fixture(&f);
	f.seen.one_thread = false;
	compare(&f);
	ck_assert_uint_eq(f.lines[USAGE_CPU].ebpf, COUNT_NA);
	open_fixture(&f);
	f.seen.off_cpu_ns = f.seen.elapsed_ns + 1; /* an impossible value is not a figure */
	compare(&f);
	ck_assert_uint_eq(f.lines[USAGE_CPU].ebpf, COUNT_NA);
}

TEST(test_differences_of_faults_are_explained_only_at_the_edges)
{
	struct fixture f;

	open_fixture(&f);
	compare(&f);
	ck_assert_ptr_null(f.lines[USAGE_MINFLT].reason);
	f.counters.edges = true;
	compare(&f);
	ck_assert_ptr_nonnull(f.lines[USAGE_MINFLT].reason);
}

TEST(test_calls_are_summed_whatever_their_result)
{
	const struct syscall_row rows[] = {
		{ .number = 3, .value = { .count = 10, .total_ns = 500 } },
		{ .number = 1, .error = EAGAIN, .value = { .count = 2, .total_ns = 400 } },
		{ .number = 7, .error = EINTR, .value = { .count = 1, .total_ns = 900 } },
		{ .number = 1, .value = { .count = 4, .total_ns = 300 } },
		{ .number = 1, .error = EPIPE, .value = { .count = 3, .total_ns = 200 } },
		{ .number = 2, .value = { .count = 1, .total_ns = 500 } },
	};
	struct syscall_total *totals, sum;
	size_t nr;

	ck_assert_int_eq(syscall_totals(rows, 6, &totals, &nr), 0);
	ck_assert_uint_eq(nr, 4);
	ck_assert_uint_eq(totals[0].number, 1); /* at equal times, the smaller number comes first */
	ck_assert_uint_eq(totals[0].calls, 9);
	ck_assert_uint_eq(totals[0].errors, 5);
	ck_assert_uint_eq(totals[0].total_ns, 900);
	ck_assert_uint_eq(totals[1].number, 7);
	ck_assert_uint_eq(totals[1].errors, 1);
	ck_assert_uint_eq(totals[2].number, 2);
	ck_assert_uint_eq(totals[3].number, 3);
	ck_assert_uint_eq(totals[3].errors, 0);
	sum = syscall_totals_sum(totals, nr);
	ck_assert_uint_eq(sum.calls, 21);
	ck_assert_uint_eq(sum.errors, 6);
	ck_assert_uint_eq(sum.total_ns, 2800);
	free(totals);
}

TEST(test_no_calls_give_no_totals)
{
	struct syscall_total *totals;
	size_t nr;

	ck_assert_int_eq(syscall_totals(NULL, 0, &totals, &nr), 0);
	ck_assert_ptr_null(totals);
	ck_assert_uint_eq(nr, 0);
	ck_assert_uint_eq(syscall_totals_sum(totals, nr).calls, 0);
}

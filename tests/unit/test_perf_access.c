// SPDX-License-Identifier: GPL-2.0-only
/* The sentence for a user to whom the kernel refuses perf's page-fault events. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "runner.h"
#include "user/system/perf.h"
#include "util/why.h"

TEST(test_each_refusal_has_its_reason_and_remedy)
{
	static const struct {
		struct perf_trial trial;
		const char *why;
	} cases[] = {
		{ { PERF_ACCESS_ALL, 0, 2, false }, "" },
		{ { PERF_ACCESS_USER, -EACCES, 2, false },
		  "cannot see the faults in system calls: kernel.perf_event_paranoid is 2, which "
		  "hides the kernel from users without CAP_PERFMON; run pfdrive with sudo, or sysctl "
		  "kernel.perf_event_paranoid=1 as root" },
		{ { PERF_ACCESS_NONE, -EACCES, 3, false },
		  "cannot open perf's page-fault events: kernel.perf_event_paranoid is 3, with which "
		  "this kernel refuses perf events to users without CAP_SYS_ADMIN; run pfdrive with "
		  "sudo, or sysctl kernel.perf_event_paranoid=2 as root" },
		{ { PERF_ACCESS_NONE, -EACCES, 4, true },
		  "cannot open perf's page-fault events: kernel.perf_event_paranoid is 4, with which "
		  "this kernel refuses perf events to users without CAP_SYS_ADMIN; run pfdrive with "
		  "sudo, or sysctl kernel.perf_event_paranoid=2 as root" },
		{ { PERF_ACCESS_NONE, -EPERM, 2, true },
		  "cannot open perf's page-fault events: a system call filter (seccomp) "
		  "refuses perf_event_open(2); start the container with --security-opt "
		  "seccomp=unconfined" },
		{ { PERF_ACCESS_NONE, -ENOSYS, 2, true },
		  "cannot open perf's page-fault events: a system call filter (seccomp) "
		  "refuses perf_event_open(2); start the container with --security-opt "
		  "seccomp=unconfined" },
		{ { PERF_ACCESS_NONE, -ENOSYS, INT_MAX, false },
		  "cannot open perf's page-fault events: this kernel has no perf_event_open(2) "
		  "(CONFIG_PERF_EVENTS)" },
		{ { PERF_ACCESS_NONE, -EACCES, 1, false },
		  "cannot open perf's page-fault events: Permission denied, although "
		  "kernel.perf_event_paranoid is 1: a kernel security module refuses it" },
		{ { PERF_ACCESS_NONE, -EMFILE, 2, false },
		  "cannot open perf's page-fault events: Too many open files" },
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		perf_access_explain(&cases[i].trial, &why);
		ck_assert_str_eq(why.text, cases[i].why);
	}
}

TEST(test_a_trial_has_an_error_unless_all_faults_are_seen)
{
	struct perf_trial trial;

	perf_access_try(&trial);
	ck_assert_int_eq(trial.access == PERF_ACCESS_ALL, trial.err == 0);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs' share in a call's duration: the same two clock reads around a kernel function that
 * only adds 1. pfdrive runs it (BPF_PROG_TEST_RUN) before anything is watched.
 */
#include "common.bpf.h"

__u64 calibration_ns, calibrated_ns, calibrations;

SEC("?fentry/bpf_fentry_test1")
int BPF_PROG(on_calibrate)
{
	calibration_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("?fexit/bpf_fentry_test1")
int BPF_PROG(on_calibrate_done)
{
	const __u64 now = bpf_ktime_get_ns();

	calibrated_ns += now - calibration_ns;
	calibrations++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

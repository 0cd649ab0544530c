// SPDX-License-Identifier: GPL-2.0-only
/* Another tool's program at the function where pfstat counts all faults. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("fentry/handle_mm_fault")
int on_fault(void *context)
{
	return 0;
}

char _license[] SEC("license") = "GPL";

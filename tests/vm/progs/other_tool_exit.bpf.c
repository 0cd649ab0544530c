// SPDX-License-Identifier: GPL-2.0-only
/* As other_tool.bpf.c, at the function's end: newer kernels jump to such a program. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("fexit/handle_mm_fault")
int on_fault_done(void *context)
{
	return 0;
}

char _license[] SEC("license") = "GPL";

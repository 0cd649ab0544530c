/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FENTRY_REFERENCE_H
#define FENTRY_REFERENCE_H

#include <linux/types.h>

/* A typical fault record from a purely eBPF-based tool. */
struct reference_fault {
	__u64 start_ns;
	__u64 duration_ns;
	__u64 address;
	__u64 pgoff;
	__u32 pid;
	__u32 tid;
	__u32 result;
	__u32 reserved;
};

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names an address of the kernel. It is attached to no event: pfdrive runs it once for each new
 * address (user/collect/kernel_symbols.c).
 */
#include "common.bpf.h"

SEC("syscall")
int find_symbol(struct pfstat_symbol_query *query)
{
	static const char format[] = "%ps";
	__u64 arguments[1] = { query->address };
	struct pfstat_symbol_query found = { .address = query->address };

	bpf_snprintf(found.name, sizeof(found.name), format, arguments, sizeof(arguments));
	*query = found;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names the addresses in kernel stacks. The kernel itself looks them up, in an eBPF program that
 * pfdrive runs once per address, so no symbol table is read and no privilege is needed.
 */
#ifndef PFSTAT_USER_KERNEL_SYMBOLS_H
#define PFSTAT_USER_KERNEL_SYMBOLS_H

#include <pfstat/event.h>

#include "util/hash.h"

/* All zero but the program is empty. */
struct kernel_symbols {
	int program; /* find_symbol descriptor */
	struct hash names;
	struct hash stacks;
	bool incomplete;	  /* the last stack: the kernel did not answer */
	struct pfstat_wait named; /* the event returned last */
};

void kernel_symbols_exit(struct kernel_symbols *symbols);

/*
 * Returns the event. If it is a kernel stack, returns a copy with function names, valid until the
 * next call. The copy omits eBPF and scheduler functions, and all callers of handle_mm_fault(). An
 * address without a name has none in the copy either.
 */
const struct pfstat_event *kernel_symbols_apply(struct kernel_symbols *symbols,
						const struct pfstat_event *event);

#endif

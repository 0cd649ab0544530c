/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names the addresses of kernel stacks. The kernel itself looks them up, in an eBPF program that
 * pfdrive runs once for each address, so that no table of symbols is read and no right is needed.
 */
#ifndef PFSTAT_USER_KERNEL_SYMBOLS_H
#define PFSTAT_USER_KERNEL_SYMBOLS_H

#include <pfstat/event.h>

#include "util/hash.h"

/* All zero but the program is empty. */
struct kernel_symbols {
	int program; /* descriptor of find_symbol */
	struct hash names;
	struct hash stacks;
	bool incomplete;	  /* the last stack: the kernel did not answer */
	struct pfstat_wait named; /* the event that was returned last */
};

void kernel_symbols_exit(struct kernel_symbols *symbols);

/*
 * Returns the event; if it is a kernel stack, a copy with the names of its functions, valid until
 * the next call. Functions of eBPF and of the scheduler are left out, and so is all that called
 * handle_mm_fault(). An address without a name has none in the copy either.
 */
const struct pfstat_event *kernel_symbols_apply(struct kernel_symbols *symbols,
						const struct pfstat_event *event);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names the addresses in kernel stacks. The names come from eBPF, where the kernel itself looks
 * them up and no privilege is needed, or from /proc/kallsyms.
 */
#ifndef PFSTAT_USER_KERNEL_SYMBOLS_H
#define PFSTAT_USER_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

#include "util/hash.h"

/* Fills in the name of the function at query->address. false: there was no answer. */
typedef bool (*kernel_symbols_lookup)(void *context, struct pfstat_symbol_query *query);

/* All zero but the lookup is empty. */
struct kernel_symbols {
	kernel_symbols_lookup lookup;
	void *context; /* for the lookup */
	struct hash names;
	struct hash stacks;
	bool incomplete;	  /* the last stack: the lookup did not answer */
	struct pfstat_wait named; /* the event returned last */
};

void kernel_symbols_exit(struct kernel_symbols *symbols);

/*
 * Returns the event. If it is a kernel stack, returns a copy with function names, valid until the
 * next call. The copy omits eBPF, perf and scheduler functions, and all callers of
 * handle_mm_fault(). An address without a name has none in the copy either.
 */
const struct pfstat_event *kernel_symbols_apply(struct kernel_symbols *symbols,
						const struct pfstat_event *event);

/* The functions in /proc/kallsyms. All zero is empty. */

struct kallsyms_function {
	uint64_t address;
	uint32_t name; /* position in `names` */
};

struct kallsyms {
	struct kallsyms_function *functions; /* by address */
	size_t nr, room;
	char *names;
	size_t names_bytes, names_room;
};

/*
 * 0, -EACCES if the kernel hides the addresses from this process, or another negative errno. The
 * path is for tests.
 */
int kallsyms_read(struct kallsyms *kallsyms, const char *path);
void kallsyms_exit(struct kallsyms *kallsyms);
/* A kernel_symbols_lookup, with a struct kallsyms as context. */
bool kallsyms_lookup(void *context, struct pfstat_symbol_query *query);
/* The range [*from, *to) of a function. false: there is none with this name. */
bool kallsyms_range(const struct kallsyms *kallsyms, const char *name, uint64_t *from,
		    uint64_t *to);

#endif

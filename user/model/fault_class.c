// SPDX-License-Identifier: GPL-2.0-only
/*
 * The only table of fault classes in user space. Names come from <pfstat/record.h> and
 * <pfstat/event.h>, and all other properties are here. Each class has one row, and one place in
 * each of the two orders.
 */
#include <string.h>

#include "model/colour.h"
#include "model/counters.h"
#include "model/fault_class.h"

/* Disk faults are black, as in the study. Classes of one colour differ in point and dash. */
const struct fault_class_traits fault_classes[NR_FAULT_CLASSES] = {
	[FAULT_DISK] = {
		.title = "started a read",
		.rgb = COLOUR_BLACK, .point = 7, .size = 0.48, .dash = "solid", .ascii = '#',
	},
	[FAULT_WAIT] = {
		.title = "met a page being read",
		.rgb = COLOUR_BLACK, .point = 9, .size = 0.60, .dash = "(18,6)", .ascii = '#',
	},
	[FAULT_READAHEAD] = {
		.title = "met the read-ahead mark",
		.rgb = COLOUR_BLACK, .point = 5, .size = 0.40, .dash = "(6,4)", .ascii = '#',
	},
	[FAULT_SHORT] = {
		.title = "retry after the wait",
		.rgb = COLOUR_GREY, .point = 7, .size = 0.30, .dash = "solid", .ascii = '.',
	},
	[FAULT_LONG] = {
		.title = "in the cache",
		.rgb = COLOUR_SKY, .point = 5, .size = 0.36, .dash = "solid", .ascii = '.',
	},
	[FAULT_AROUND] = {
		.title = "in the cache, by fault-around",
		.rgb = COLOUR_GREEN, .point = 13, .size = 0.48, .dash = "(18,5,4,5)", .ascii = '.',
	},
	[FAULT_MKWRITE] = {
		.title = "page becomes writable",
		.rgb = COLOUR_VERMILLION, .point = 1, .size = 0.60, .dash = "solid", .ascii = '.',
	},
	[FAULT_PASS] = {
		.title = "solved by a later call",
		.rgb = COLOUR_GREY, .point = 1, .size = 0.36, .dash = "(2,4)", .ascii = '.',
	},
	[FAULT_ERROR] = {
		.title = "failed",
		.rgb = COLOUR_VERMILLION, .point = 2, .size = 0.72, .dash = "(2,4)", .ascii = '.',
	},
	[FAULT_LOCK] = {
		.title = "page locked by another thread",
		.rgb = COLOUR_ORANGE, .point = 4, .size = 0.54, .dash = "solid", .ascii = '.',
	},
	[FAULT_RACED] = {
		.title = "another thread was first",
		.rgb = COLOUR_GREY, .point = 6, .size = 0.42, .dash = "(18,6)", .ascii = '.',
	},
	[FAULT_FILE] = {
		.title = "in a file, details not known",
		.rgb = COLOUR_BLUE, .point = 15, .size = 0.45, .dash = "(18,6)", .ascii = '.',
		.reason = "files not hooked",
		.hooks = 1U << HOOK_FAULT,
	},
	[FAULT_ANON] = {
		.title = "new anonymous page",
		.rgb = COLOUR_ORANGE, .point = 11, .size = 0.42, .dash = "(18,5,4,5)", .ascii = '.',
		.reason = "anonymous memory",
		.hooks = 1U << HOOK_FAULT,
	},
	[FAULT_SWAP] = {
		.title = "swapped out or migrating",
		.rgb = COLOUR_VERMILLION, .point = 8, .size = 0.54, .dash = "(6,4)", .ascii = '.',
		.reason = "swapped out",
		.hooks = 1U << HOOK_FAULT | 1U << HOOK_SWAP,
	},
	[FAULT_COW] = {
		.title = "copy on write",
		.rgb = COLOUR_PURPLE, .point = 9, .size = 0.45, .dash = "(6,4)", .ascii = '.',
		.reason = "copy on write",
		.hooks = 1U << HOOK_FAULT | 1U << HOOK_WP,
	},
	[FAULT_OTHER] = {
		.title = "other, or not known",
		.rgb = COLOUR_GREY, .point = 10, .size = 0.48, .dash = "(18,5,4,5)", .ascii = '.',
		.reason = "resolved in the meantime, or a NUMA balancing hint",
		.hooks = 1U << HOOK_FAULT,
	},
	[FAULT_AGAIN] = {
		.title = "faulted before",
		.rgb = COLOUR_WINE, .point = 9, .size = 0.45, .dash = "solid", .ascii = '.',
		.reason = "faulted before",
		.hooks = 1U << HOOK_FAULT | 1U << HOOK_PERF,
	},
};

/* The last rows are module classes that begin a fault only if a record was lost. */
const enum fault_class fault_class_rows[] = {
	FAULT_DISK, FAULT_WAIT,	 FAULT_READAHEAD, FAULT_LONG, FAULT_AROUND, FAULT_MKWRITE,
	FAULT_LOCK, FAULT_RACED, FAULT_ANON,	  FAULT_SWAP, FAULT_COW,    FAULT_AGAIN,
	FAULT_FILE, FAULT_OTHER, FAULT_SHORT,	  FAULT_PASS, FAULT_ERROR,
};

const enum fault_class fault_class_layers[] = {
	FAULT_PASS, FAULT_RACED,     FAULT_OTHER,  FAULT_ANON,	FAULT_COW,     FAULT_AGAIN,
	FAULT_FILE, FAULT_LONG,	     FAULT_AROUND, FAULT_SHORT, FAULT_MKWRITE, FAULT_LOCK,
	FAULT_SWAP, FAULT_READAHEAD, FAULT_WAIT,   FAULT_DISK,	FAULT_ERROR,
};

_Static_assert(sizeof(fault_class_rows) / sizeof(fault_class_rows[0]) == NR_FAULT_CLASSES &&
		       sizeof(fault_class_layers) / sizeof(fault_class_layers[0]) ==
			       NR_FAULT_CLASSES,
	       "an order lacks a class");

const char *fault_class_name(enum fault_class class)
{
	static const char *const names[] = {
		PFSTAT_CLASSES(PFSTAT_CLASS_SPELLING)
			PFSTAT_OTHER_FAULT_KINDS(PFSTAT_FAULT_KIND_SPELLING)
	};

	return class < NR_FAULT_CLASSES ? names[class] : "unknown";
}

enum fault_class fault_class_find(const char *name)
{
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++)
		if (!strcmp(fault_class_name(class), name))
			break;
	return class;
}

enum fault_class fault_class_of_kind(uint32_t kind)
{
	return kind < PFSTAT_NR_FAULT_KINDS ? FAULT_FIRST_OTHER + kind - PFSTAT_FAULT_FILE :
					      FAULT_OTHER;
}

/* perf does not report file operation calls. */
bool fault_class_known(enum fault_class class, uint32_t hooks)
{
	const uint32_t needed = fault_classes[class].hooks;

	return class < FAULT_FIRST_OTHER ? !(hooks & 1U << HOOK_PERF) : !(needed & ~hooks);
}

enum pfstat_column fault_class_column(enum pfstat_class class)
{
	static const enum pfstat_column columns[] = PFSTAT_CLASS_COLUMNS;

	return columns[class];
}

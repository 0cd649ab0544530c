// SPDX-License-Identifier: GPL-2.0-only
/*
 * The only table of fault classes in user space. Names come from <pfstat/record.h> and
 * <pfstat/event.h>, and all other properties stand here. Each class has one row, and one place
 * in each of the two orders.
 */
#include "model/colour.h"
#include "model/counters.h"
#include "model/fault_class.h"

/* Disk faults are black, as in the study. */
const struct fault_class_traits fault_classes[NR_FAULT_CLASSES] = {
	[FAULT_DISK] = { .rgb = COLOUR_BLACK, .point = 7, .size = 0.48, .ascii = '#' },
	[FAULT_WAIT] = { .rgb = COLOUR_BLACK, .point = 9, .size = 0.60, .ascii = '#' },
	[FAULT_READAHEAD] = { .rgb = COLOUR_BLACK, .point = 5, .size = 0.40, .ascii = '#' },
	[FAULT_SHORT] = { .rgb = COLOUR_GREY, .point = 7, .size = 0.30, .ascii = '.' },
	[FAULT_LONG] = { .rgb = COLOUR_SKY, .point = 5, .size = 0.36, .ascii = '.' },
	[FAULT_AROUND] = { .rgb = COLOUR_GREEN, .point = 13, .size = 0.48, .ascii = '.' },
	[FAULT_MKWRITE] = { .rgb = COLOUR_VERMILLION, .point = 1, .size = 0.60, .ascii = '.' },
	[FAULT_PASS] = { .rgb = COLOUR_GREY, .point = 1, .size = 0.36, .ascii = '.' },
	[FAULT_ERROR] = { .rgb = COLOUR_VERMILLION, .point = 2, .size = 0.72, .ascii = '.' },
	[FAULT_LOCK] = { .rgb = COLOUR_ORANGE, .point = 4, .size = 0.54, .ascii = '.' },
	[FAULT_RACED] = { .rgb = COLOUR_GREY, .point = 6, .size = 0.42, .ascii = '.' },
	[FAULT_FILE] = {
		.rgb = COLOUR_BLUE, .point = 15, .size = 0.45, .ascii = '.',
		.reason = "files not hooked",
		.hooks = 1U << HOOK_FAULT,
	},
	[FAULT_ANON] = {
		.rgb = COLOUR_ORANGE, .point = 11, .size = 0.42, .ascii = '.',
		.reason = "anonymous memory",
		.hooks = 1U << HOOK_FAULT,
	},
	[FAULT_SWAP] = {
		.rgb = COLOUR_VERMILLION, .point = 8, .size = 0.54, .ascii = '.',
		.reason = "swapped out",
		.hooks = 1U << HOOK_FAULT | 1U << HOOK_SWAP,
	},
	[FAULT_COW] = {
		.rgb = COLOUR_PURPLE, .point = 9, .size = 0.45, .ascii = '.',
		.reason = "copy on write",
		.hooks = 1U << HOOK_FAULT | 1U << HOOK_WP,
	},
	[FAULT_OTHER] = {
		.rgb = COLOUR_GREY, .point = 10, .size = 0.48, .ascii = '.',
		.reason = "resolved in the meantime, or a hint of NUMA balancing",
		.hooks = 1U << HOOK_FAULT,
	},
	[FAULT_AGAIN] = {
		.rgb = COLOUR_PURPLE, .point = 9, .size = 0.45, .ascii = '.',
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

enum fault_class fault_class_of_kind(uint32_t kind)
{
	return kind < PFSTAT_NR_FAULT_KINDS ? FAULT_FIRST_OTHER + kind - PFSTAT_FAULT_FILE :
					      FAULT_OTHER;
}

/* perf reports no calls of file operations. */
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

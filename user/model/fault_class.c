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
	[FAULT_DISK] = { COLOUR_BLACK, 7, 0.48, '#' },
	[FAULT_WAIT] = { COLOUR_BLACK, 9, 0.60, '#' },
	[FAULT_READAHEAD] = { COLOUR_BLACK, 5, 0.40, '#' },
	[FAULT_SHORT] = { COLOUR_GREY, 7, 0.30, '.' },
	[FAULT_LONG] = { COLOUR_SKY, 5, 0.36, '.' },
	[FAULT_AROUND] = { COLOUR_GREEN, 13, 0.48, '.' },
	[FAULT_MKWRITE] = { COLOUR_VERMILLION, 1, 0.60, '.' },
	[FAULT_PASS] = { COLOUR_GREY, 1, 0.36, '.' },
	[FAULT_ERROR] = { COLOUR_VERMILLION, 2, 0.72, '.' },
	[FAULT_LOCK] = { COLOUR_ORANGE, 4, 0.54, '.' },
	[FAULT_RACED] = { COLOUR_GREY, 6, 0.42, '.' },
	[FAULT_FILE] = { COLOUR_BLUE, 15, 0.45, '.', "files not hooked", 1U << HOOK_FAULT },
	[FAULT_ANON] = { COLOUR_ORANGE, 11, 0.42, '.', "anonymous memory", 1U << HOOK_FAULT },
	[FAULT_SWAP] = { COLOUR_VERMILLION, 8, 0.54, '.', "swapped out",
			 1U << HOOK_FAULT | 1U << HOOK_SWAP },
	[FAULT_COW] = { COLOUR_PURPLE, 9, 0.45, '.', "copy on write",
			1U << HOOK_FAULT | 1U << HOOK_WP },
	[FAULT_OTHER] = { COLOUR_GREY, 10, 0.48, '.',
			  "solved meanwhile, or a hint of NUMA balancing", 1U << HOOK_FAULT },
};

/* The last rows are module classes that begin a fault only if a record was lost. */
const enum fault_class fault_class_rows[] = {
	FAULT_DISK,  FAULT_WAIT,  FAULT_READAHEAD, FAULT_LONG,	FAULT_AROUND, FAULT_MKWRITE,
	FAULT_LOCK,  FAULT_RACED, FAULT_ANON,	   FAULT_SWAP,	FAULT_COW,    FAULT_FILE,
	FAULT_OTHER, FAULT_SHORT, FAULT_PASS,	   FAULT_ERROR,
};

const enum fault_class fault_class_layers[] = {
	FAULT_PASS,	 FAULT_RACED,  FAULT_OTHER, FAULT_ANON,	   FAULT_COW,  FAULT_FILE,
	FAULT_LONG,	 FAULT_AROUND, FAULT_SHORT, FAULT_MKWRITE, FAULT_LOCK, FAULT_SWAP,
	FAULT_READAHEAD, FAULT_WAIT,   FAULT_DISK,  FAULT_ERROR,
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

enum pfstat_column fault_class_column(enum pfstat_class class)
{
	static const enum pfstat_column columns[] = PFSTAT_CLASS_COLUMNS;

	return columns[class];
}

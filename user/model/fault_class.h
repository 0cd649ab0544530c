/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A logical fault's class, and each class's properties in user space: the name, the eBPF hooks that
 * reveal it, the mark in figures and the place in tables.
 */
#ifndef PFSTAT_USER_FAULT_CLASS_H
#define PFSTAT_USER_FAULT_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/event.h>
#include <pfstat/record.h>

/*
 * A fault recorded by the module has the enum pfstat_class of the first call that was not a pass.
 * Any other fault has an enum pfstat_fault_kind.
 */
#define FAULT_CLASS_OF_RECORD(name, spelling, column) FAULT_##name,
#define FAULT_CLASS_OF_EVENT(name, spelling)	      FAULT_##name,
enum fault_class {
	PFSTAT_CLASSES(FAULT_CLASS_OF_RECORD) PFSTAT_OTHER_FAULT_KINDS(FAULT_CLASS_OF_EVENT)
		NR_FAULT_CLASSES
};

/* The first class not recorded by the module. */
#define FAULT_FIRST_OTHER FAULT_FILE

struct fault_class_traits {
	const char *title; /* the class in words: "a fault that …" */
	/* In figures. */
	uint32_t rgb;
	unsigned int point; /* gnuplot's point type */
	double size;
	const char *dash; /* gnuplot's dash type */
	char ascii;	  /* in a terminal */
	/* Only for classes not recorded by the module. */
	const char *reason; /* for the ledger: why getrusage(2) counts more */
	uint32_t hooks;	    /* 1 << enum bpf_hook for all hooks that reveal the class's faults */
};

extern const struct fault_class_traits fault_classes[NR_FAULT_CLASSES];

/* The row order in tables. */
extern const enum fault_class fault_class_rows[NR_FAULT_CLASSES];
/* The order in which figures draw them. The last one is on top. */
extern const enum fault_class fault_class_layers[NR_FAULT_CLASSES];

/* The spelling in every format; "unknown" if there is no such class. */
const char *fault_class_name(enum fault_class class);

/* The class with this name, or NR_FAULT_CLASSES. */
enum fault_class fault_class_find(const char *name);

/*
 * kind: enum pfstat_fault_kind except PFSTAT_FAULT_HOOKED. Returns FAULT_OTHER for an unknown kind.
 */
enum fault_class fault_class_of_kind(uint32_t kind);

/* Whether faults in the class are recorded. @hooks: from eBPF or perf, 0 for the module alone. */
bool fault_class_known(enum fault_class class, uint32_t hooks);

enum pfstat_column fault_class_column(enum pfstat_class class);

#endif

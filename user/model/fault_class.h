/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The class of a logical fault, and the properties of each class in user space: its name, the
 * eBPF hooks that reveal it, its mark in figures and its place in tables.
 */
#ifndef PFSTAT_USER_FAULT_CLASS_H
#define PFSTAT_USER_FAULT_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/event.h>
#include <pfstat/record.h>

/*
 * A fault that the module records has the enum pfstat_class of its first call that was not a
 * pass. Any other fault has its enum pfstat_fault_kind.
 */
#define FAULT_CLASS_OF_RECORD(name, spelling, column) FAULT_##name,
#define FAULT_CLASS_OF_EVENT(name, spelling)	      FAULT_##name,
enum fault_class {
	PFSTAT_CLASSES(FAULT_CLASS_OF_RECORD) PFSTAT_OTHER_FAULT_KINDS(FAULT_CLASS_OF_EVENT)
		NR_FAULT_CLASSES
};

/* The first class that the module does not record. */
#define FAULT_FIRST_OTHER FAULT_FILE

struct fault_class_traits {
	const char *title; /* the class in words: "a fault that …" */
	/* In figures. */
	uint32_t rgb;
	unsigned int point; /* gnuplot's point type */
	double size;
	const char *dash; /* gnuplot's dash type */
	char ascii;	  /* in a terminal */
	/* Only for classes that the module does not record. */
	const char *reason; /* for the ledger: why getrusage(2) counts more */
	uint32_t hooks;	    /* 1 << enum bpf_hook: all hooks that reveal its faults */
};

extern const struct fault_class_traits fault_classes[NR_FAULT_CLASSES];

/* The order of rows in tables. */
extern const enum fault_class fault_class_rows[NR_FAULT_CLASSES];
/* The order in which figures draw them. The last one is on top. */
extern const enum fault_class fault_class_layers[NR_FAULT_CLASSES];

/* The spelling in every format; "unknown" if there is no such class. */
const char *fault_class_name(enum fault_class class);

/* The class of that name, or NR_FAULT_CLASSES. */
enum fault_class fault_class_find(const char *name);

/* kind: enum pfstat_fault_kind, but not PFSTAT_FAULT_HOOKED; FAULT_OTHER if it is unknown. */
enum fault_class fault_class_of_kind(uint32_t kind);

/* Whether faults of the class are recorded. @hooks: of eBPF or perf; 0: the module alone. */
bool fault_class_known(enum fault_class class, uint32_t hooks);

enum pfstat_column fault_class_column(enum pfstat_class class);

#endif

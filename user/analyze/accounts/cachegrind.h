/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a file of valgrind's cachegrind says: references and misses, by function.
 *
 *	desc: …, cmd: …		skipped
 *	events: Ir I1mr …	the order of the figures
 *	fl=FILE, fn=FUNCTION	whose are the lines that follow
 *	LINE N N N …		a source line's figures, in that order
 *	summary: N N N …	their sum
 */
#ifndef PFSTAT_USER_CACHEGRIND_H
#define PFSTAT_USER_CACHEGRIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order and the names are those of cachegrind. */
enum cachegrind_event {
	CACHEGRIND_IR,
	CACHEGRIND_I1MR,
	CACHEGRIND_ILMR,
	CACHEGRIND_DR,
	CACHEGRIND_D1MR,
	CACHEGRIND_DLMR,
	CACHEGRIND_DW,
	CACHEGRIND_D1MW,
	CACHEGRIND_DLMW,
	CACHEGRIND_NR_EVENTS
};

#define CACHEGRIND_EVENT_NAMES { "Ir", "I1mr", "ILmr", "Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw" }

struct cachegrind_function {
	char *name;
	int64_t events[CACHEGRIND_NR_EVENTS]; /* of a difference they may be below 0 */
};

/* All zero is none. */
struct cachegrind {
	struct cachegrind_function *functions;
	size_t nr, room;
	size_t current; /* whose lines are read; nr: nobody's */
	enum cachegrind_event columns[CACHEGRIND_NR_EVENTS];
	size_t nr_columns;
	bool have_summary;
	int64_t summary[CACHEGRIND_NR_EVENTS];
};

/* One line of the file; -EPROTO: it is none, -ENOMEM. */
int cachegrind_add_line(struct cachegrind *cachegrind, const char *line);
/* The file has ended: -EPROTO when it is cut, or its lines do not add up to its summary. */
int cachegrind_check(const struct cachegrind *cachegrind);
/* Takes away what another run of the same program did, function by function. -ENOMEM. */
int cachegrind_subtract(struct cachegrind *whole, const struct cachegrind *part);
/* Most data references first; those without any figure go. */
void cachegrind_order(struct cachegrind *cachegrind);
void cachegrind_exit(struct cachegrind *cachegrind);

int64_t cachegrind_data_refs(const int64_t *events);
int64_t cachegrind_d1_misses(const int64_t *events);
int64_t cachegrind_ll_misses(const int64_t *events); /* of data */

#endif

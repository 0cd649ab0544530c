/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An output file from valgrind's cachegrind: references and misses by function.
 *
 *	desc: …, cmd: …		skipped
 *	events: Ir I1mr …	the order of the figures
 *	fl=FILE, fn=FUNCTION	file and function of the following lines
 *	LINE N N N …		figures of a source line, in that order
 *	summary: N N N …	their sum
 */
#ifndef PFSTAT_USER_CACHEGRIND_H
#define PFSTAT_USER_CACHEGRIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Order and names follow cachegrind. */
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
	int64_t events[CACHEGRIND_NR_EVENTS]; /* may be negative in a difference */
};

/* All zero is an empty one. */
struct cachegrind {
	struct cachegrind_function *functions;
	size_t nr, room;
	size_t current; /* function the lines belong to, nr if none */
	enum cachegrind_event columns[CACHEGRIND_NR_EVENTS];
	size_t nr_columns;
	bool have_summary;
	int64_t summary[CACHEGRIND_NR_EVENTS];
};

/* Adds one line of the file. Returns 0, -EPROTO if it is not valid, or -ENOMEM. */
int cachegrind_add_line(struct cachegrind *cachegrind, const char *line);
/* Checks a whole file. Returns -EPROTO if it is truncated or the lines do not add up. */
int cachegrind_check(const struct cachegrind *cachegrind);
/* Subtracts another run of the same program, function by function. Returns 0 or -ENOMEM. */
int cachegrind_subtract(struct cachegrind *whole, const struct cachegrind *part);
/* Sorts by data references, most first, and drops functions without any figure. */
void cachegrind_order(struct cachegrind *cachegrind);
void cachegrind_exit(struct cachegrind *cachegrind);

int64_t cachegrind_data_refs(const int64_t *events);
int64_t cachegrind_d1_misses(const int64_t *events);
int64_t cachegrind_ll_misses(const int64_t *events); /* data misses */

/* Cachegrind's result for the access loop, for the printers. cachegrind_run.c produces it. */

struct cache_geometry {
	const char *name;
	uint64_t bytes;
	unsigned int ways, line;
};

struct cache_simulation {
	char version[64];	/* from valgrind */
	struct cachegrind loop; /* figures with accesses minus figures without, ordered */
};

/*
 * I1, D1 and LL from the mmap measurement study, an i7-6800K. This CPU's last level is 15 MiB with
 * 20 ways, 12288 sets. Cachegrind accepts only powers of two, so here the last level has 30 ways
 * and 8192 sets. Cachegrind has no second level, no prefetcher and no TLB.
 */
#define CACHE_SIMULATION_GEOMETRY \
	{ { "I1", 32768, 8, 64 }, { "D1", 32768, 8, 64 }, { "LL", 15728640, 30, 64 } }
#define CACHE_SIMULATION_LEVELS 3

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order in which a file's bytes are accessed. A pattern is pure: it is parsed, fitted to a file
 * size, and then runs over the mapping, or counts the pages it visits.
 *
 * PATTERNS is the table of all patterns. A new one is a file pattern_NAME.c, which defines
 * pattern_NAME (see pattern_engine.h), and one line here. The name, the option's help, the messages
 * and the shell completion come from this line. Each pattern describes itself at the top of its
 * file. A share of the accesses may store (struct stores).
 */
#ifndef PFSTAT_USER_PATTERN_H
#define PFSTAT_USER_PATTERN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Name, and the notation with the argument. */
#define PATTERNS(X)                 \
	X(random, "random")         \
	X(sequential, "sequential") \
	X(stride, "stride:SIZE")    \
	X(locality, "locality[:random|:sequential]")

/* "random, sequential, ...", followed by the given text. */
#define PATTERN_NAMES_AND(text)		 (&(PATTERNS(PATTERN_COMMA_USAGE) text)[2])
#define PATTERN_NAMES			 PATTERN_NAMES_AND("")
#define PATTERN_COMMA_USAGE(name, usage) ", " usage

struct pattern_engine;

/* Shared by a run and the thread waiting for it. */
struct pattern_watch {
	const volatile sig_atomic_t *stop; /* nonzero: stop soon */
	volatile uint64_t done;		   /* accesses made so far */
};

struct pattern {
	const struct pattern_engine *engine;
	uint64_t argument; /* only the engine knows the meaning */
	const void *data;  /* also private to the engine; owned by the pattern's creator */
	uint64_t seed;
	uint64_t bytes;	     /* file size */
	uint64_t page_bytes; /* this machine's, unless the owner sets another size */
	uint64_t accesses;
	uint64_t store_share; /* accesses with a store, in units of 1 / STORES_ALL, 0 if none */
};

/* Parses "NAME[:ARGUMENT]". -ENOENT: no such pattern, -EINVAL: invalid argument. */
int pattern_parse(struct pattern *pattern, const char *text);
/*
 * Fits the pattern to a file.
 * @accesses: 0 for the pattern's default, mostly one per byte of the file. -ERANGE: the stride is
 * longer than the file; -EMSGSIZE: fewer bytes than pattern_min_bytes().
 */
int pattern_fit(struct pattern *pattern, uint64_t bytes, uint64_t accesses, uint64_t seed);
/* Minimum file size, 0 for any. */
uint64_t pattern_min_bytes(const struct pattern *pattern);
/* The default number of runs: 1, or the number in the study that introduced the pattern. */
unsigned int pattern_repeats(const struct pattern *pattern);

/*
 * Accesses one byte at a time. Returns the sum of the bytes read. watch->done is the number of
 * accesses. It is lower than requested only after a stop. With stores, @data must be writable.
 */
uint64_t pattern_run(const struct pattern *pattern, const volatile uint8_t *data,
		     struct pattern_watch *watch);

/*
 * Runs the same code over a small buffer, so that code and stack are mapped and their
 * faults are not counted in the run.
 */
void pattern_warm_up(const struct pattern *pattern);

/* Counts exactly the distinct pages that a whole run visits. Returns 0, -ENOMEM or -EINTR. */
int pattern_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
		  uint64_t *pages);
/*
 * The same, and writes the page numbers into @order, which has room for all pages in the file, in
 * the order of their first visits.
 */
int pattern_page_order(const struct pattern *pattern, const volatile sig_atomic_t *stop,
		       uint32_t *order, uint64_t *pages);
/* Counts only the pages to which it stores. */
int pattern_pages_written(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			  uint64_t *pages);

/*
 * Which accesses in a pattern store: a given share, spread evenly, starting with a store. A share
 * of one eighth stores at accesses 0, 8, 16, ... Of n accesses 1 + floor((n - 1) * share) are
 * stores, unless the share is 0.
 */

/* Unit for shares: this value means every access. */
#define STORES_ALL (1ULL << 32)

struct stores {
	uint64_t share;
	uint64_t sum;
};

/* Parses "0.125", "12.5%", "1", "0": from 0 to 1, in decimal digits. -EINVAL, -ERANGE. */
int stores_parse(const char *text, uint64_t *share);

static inline struct stores stores_begin(uint64_t share)
{
	return (struct stores){ .share = share, .sum = share ? STORES_ALL - share : 0 };
}

/* True if the next access is a store. */
static inline __attribute__((always_inline)) bool stores_next(struct stores *stores)
{
	stores->sum += stores->share;
	if (stores->sum < STORES_ALL)
		return false;
	stores->sum -= STORES_ALL;
	return true;
}

/* The figures of pattern_locality.c, for the test. */
#define LOCALITY_LINE	    64U
#define LOCALITY_LINES	    512U
#define LOCALITY_PASSES	    16U
#define LOCALITY_STORE_EACH 8U						 /* lines */
#define LOCALITY_ROUND	    ((uint64_t)LOCALITY_LINES * LOCALITY_PASSES) /* accesses */
#define LOCALITY_ROUNDS	    (1ULL << 20)
#define LOCALITY_REPEATS    5 /* runs in the study */
/* One line more than a working set. */
#define LOCALITY_MIN_BYTES ((LOCALITY_LINES + 1ULL) * LOCALITY_LINE)

#endif

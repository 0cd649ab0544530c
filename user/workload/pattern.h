/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In which order the bytes of a file are touched. A pattern is pure: parsed,
 * fitted to a file's size, then asked to run over the mapping, or how many
 * pages it visits.
 *
 *	random		each access falls on any byte with the same probability
 *	sequential	0, 1, 2, …
 *	stride:SIZE	0, S, 2S, … to the end of the file; then a sweep that starts
 *			one page later within the stride, until every page of it
 *			has been a start; then one byte later, and so on: the starts
 *			are p * page + b for b = 0 … page - 1, for p = 0, 1, … while
 *			the start is less than S. After S sweeps each byte has been
 *			touched exactly once, whatever S is. A stride below a page
 *			has one p; then the sweeps start one byte apart.
 *
 * After the last byte of the file (or of the last sweep) they begin again. A share of
 * their accesses may store (store_mix.h); `locality` has its own (pattern_locality.h).
 */
#ifndef PFSTAT_USER_PATTERN_H
#define PFSTAT_USER_PATTERN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define PATTERN_PAGE 4096U
#define PATTERN_NAMES "random, sequential, stride:SIZE, locality[:random|:sequential]"

struct pattern;
struct replay;

/* What a run and those who wait for it tell each other. */
struct pattern_watch {
	const volatile sig_atomic_t *stop;	/* not 0: end soon */
	volatile uint64_t done;			/* accesses made so far */
};

struct pattern_engine {
	const char *name;
	/* argument: what follows the colon, or NULL. -EINVAL. */
	int (*parse)(struct pattern *pattern, const char *argument);
	/* Makes no system call and touches nothing but data, its stack and the watch. */
	uint64_t (*run)(const struct pattern *pattern, const volatile uint8_t *data,
			struct pattern_watch *watch);
	/* Those that are visited, or of these those that are stored to. */
	int (*pages)(const struct pattern *pattern, const volatile sig_atomic_t *stop,
		     bool written, uint64_t *pages);
	uint64_t accesses;	/* unless said otherwise; 0: as many as there are bytes */
	uint64_t min_bytes;	/* what it is of use for; 0: any */
};

struct pattern {
	const struct pattern_engine *engine;
	uint64_t stride;	/* bytes */
	uint64_t seed;
	uint64_t bytes;		/* of the file */
	uint64_t accesses;
	uint64_t store_share;	/* of STORES_ALL: accesses that store; 0: none (store_mix.h) */
	bool in_order;		/* of locality: the working sets */
	const struct replay *replay;	/* of a replay: the pages, in order (pattern_replay.h) */
	bool paced;		/* of a replay: keep the recorded gaps */
};

/* "NAME[:ARGUMENT]". -ENOENT: no such pattern, -EINVAL: its argument. */
int pattern_parse(struct pattern *pattern, const char *text);
/*
 * accesses 0: the pattern's own number, mostly as many as the file has bytes.
 * -ERANGE: a stride longer than the file, -EMSGSIZE: fewer bytes than min_bytes.
 */
int pattern_fit(struct pattern *pattern, uint64_t bytes, uint64_t accesses, uint64_t seed);

/*
 * One byte an access. Returns the sum of the bytes that were read; watch->done is how
 * many accesses were made, fewer than asked for only when told to stop. With stores, data
 * must be writable.
 */
uint64_t pattern_run(const struct pattern *pattern, const volatile uint8_t *data,
		     struct pattern_watch *watch);

/*
 * Runs the same code over a small buffer, so that code and stack are mapped
 * and their faults are not counted in the run.
 */
void pattern_warm_up(const struct pattern *pattern);

/* The distinct pages that the whole run visits, exactly. -ENOMEM, -EINTR, else 0. */
int pattern_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
		  uint64_t *pages);
/* Of these, the ones that it stores to. */
int pattern_pages_written(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			  uint64_t *pages);

#endif

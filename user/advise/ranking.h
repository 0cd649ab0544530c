/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranks candidates by predicted saving. Pure.
 *
 * A round replays each candidate once. saving = replayed time of the control - that of the
 * candidate, of the same round, so that slow drift of the machine cancels. Times are trimmed means
 * over the rounds. The intervals of all candidates contain their true savings together with 95 %
 * probability (Bonferroni).
 */
#ifndef PFSTAT_USER_RANKING_H
#define PFSTAT_USER_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANKING_CONFIDENCE 0.95

/* One replay. UINT64_MAX: not known. */
struct repetition_figures {
	uint64_t elapsed_ns; /* from the release of the threads to the last one's end */
	uint64_t fault_ns;   /* of the touches and the advice of all threads */
	uint64_t minor, major;
	uint64_t read_bytes;
	uint64_t refused; /* calls of madvise(2) that failed */
	int refused_errno;
};

struct ranking_row {
	size_t candidate;
	bool at_most;	      /* the saving is an upper bound, see candidate.maps_less */
	double saving_ns;     /* mean of the rounds */
	double half_width_ns; /* NAN: one round */
	double predicted_ns;  /* recorded time - (replay of the recorded conditions - this) */
	/* Means of the rounds, and the last error of madvise(2). NAN: not known. */
	double elapsed_ns, fault_ns, minor, major, read_bytes;
	uint64_t refused;
	int refused_errno;
};

struct ranking {
	struct ranking_row *rows; /* largest saving first; the control is among them */
	size_t nr;
	double anchor_ns; /* replay of the recorded conditions */
	size_t best;	  /* index of a row whose saving exceeds its interval; nr: there is none */
};

/*
 * @figures: [round * nr_candidates + candidate]; candidate 0 is the control
 * @tried, @at_most: one for each candidate
 * @anchor: the candidate that repeats the recorded conditions; it gets no row unless it is 0
 * Returns 0 or -ENOMEM.
 */
int ranking_make(struct ranking *ranking, const struct repetition_figures *figures,
		 size_t nr_candidates, size_t rounds, const bool *tried, const bool *at_most,
		 size_t anchor, uint64_t recorded_ns);
void ranking_exit(struct ranking *ranking);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The policies that pfdrive advise compares, and their ranking by predicted saving. */
#ifndef PFSTAT_USER_RANKING_H
#define PFSTAT_USER_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The policies that pfdrive advise compares, and how a program or a machine is given each. */

#define CANDIDATES_MAX 20
#define CANDIDATE_NAME 32
#define CANDIDATE_KEEP (-1) /* advice: the recorded one, a setting: as it is */

struct candidate {
	char name[CANDIDATE_NAME]; /* "random", "read-ahead 512K" */
	int advice;		   /* MADV_*, or CANDIDATE_KEEP */
	int64_t readahead_bytes;
	int64_t around_bytes;
	/* It maps fewer pages than the recorded policy, so the program may fault more often. */
	bool maps_less;
	char untried[160]; /* the reason, one clause, or "" if it can be tried */
};

/* The machine's settings, 0 if not known. */
struct candidate_settings {
	uint64_t readahead_bytes; /* for the costliest advised file */
	uint64_t around_bytes;
};

/* The first one is the control. Returns the number. */
size_t candidates_make(struct candidate *candidates, const struct candidate_settings *settings);

/*
 * The call or command that applies the candidate. @file: an advised file, @setting: path to the
 * file's read-ahead setting. "": nothing needs changing.
 */
void candidate_remedy(const struct candidate *candidate, const char *file, const char *setting,
		      char *text, size_t size);

/*
 * Ranks candidates by predicted saving. Pure.
 *
 * A round replays each candidate once. saving = the control's replayed time - the candidate's, in
 * the same round, so slow machine drift cancels. Times are trimmed means over the rounds. The
 * intervals of all candidates contain their true savings together with 95 % probability
 * (Bonferroni).
 */

/* One replay. UINT64_MAX: not known. */
struct repetition_figures {
	uint64_t elapsed_ns; /* from releasing the threads to the last one's end */
	uint64_t fault_ns;   /* all threads' touches and advice */
	uint64_t minor, major;
	uint64_t read_bytes;
	uint64_t refused; /* failed madvise(2) calls */
	int refused_errno;
};

struct ranking_row {
	size_t candidate;
	bool at_most;	      /* the saving is an upper bound, see candidate.maps_less */
	double saving_ns;     /* mean over the rounds */
	double half_width_ns; /* NAN: one round */
	double predicted_ns;  /* recorded time - (recorded conditions' replay - this) */
	/* Means over the rounds, and the last madvise(2) error. NAN: not known. */
	double elapsed_ns, fault_ns, minor, major, read_bytes;
	uint64_t refused;
	int refused_errno;
};

struct ranking {
	struct ranking_row *rows; /* largest saving first, including the control */
	size_t nr;
	double anchor_ns; /* recorded conditions' replay */
	size_t best;	  /* index of a row whose saving exceeds the interval, nr if none */
};

/*
 * @figures: [round * nr_candidates + candidate], where candidate 0 is the control
 * @tried, @at_most: one for each candidate
 * @anchor: the candidate repeating the recorded conditions, without a row unless it is 0
 * Returns 0 or -ENOMEM.
 */
int ranking_make(struct ranking *ranking, const struct repetition_figures *figures,
		 size_t nr_candidates, size_t rounds, const bool *tried, const bool *at_most,
		 size_t anchor, uint64_t recorded_ns);
void ranking_exit(struct ranking *ranking);

#endif

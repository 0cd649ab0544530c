/* SPDX-License-Identifier: GPL-2.0-only */
/* All replays of a recording: rounds with every candidate, and a ranking. */
#ifndef PFSTAT_USER_ADVISE_H
#define PFSTAT_USER_ADVISE_H

#include "advise/candidate.h"
#include "advise/ranking.h"
#include "advise/recorded_accesses.h"
#include "util/subcommand.h"

struct advise_options {
	const char *recording;
	const char *path; /* only this file is advised, or all data files (NULL) */
	unsigned int rounds;
};

struct advise {
	struct advise_options options;
	struct recorded_accesses accesses;
	struct candidate candidates[CANDIDATES_MAX];
	bool tried[CANDIDATES_MAX], at_most[CANDIDATES_MAX];
	size_t nr_candidates;
	size_t anchor;		  /* the candidate repeating the recorded conditions */
	const char *anchor_lacks; /* reason why these cannot be repeated, or NULL */
	struct repetition_figures *figures;
	struct ranking ranking;
};

/* Returns STATUS_OK, or the exit status after a message or for a signal. */
int advise_run(struct advise *advise, const struct advise_options *options);
void advise_exit(struct advise *advise);

extern const struct subcommand replay_command, advise_command;

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* pfdrive advise: all replays of a recording, in rounds with every candidate, and their ranking. */
#ifndef PFSTAT_USER_ADVISE_H
#define PFSTAT_USER_ADVISE_H

#include <stdio.h>

#include "advise/ranking.h"
#include "advise/recorded_accesses.h"
#include "util/subcommand.h"
#include "util/why.h"

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

/* The recorded files as they are now, and their page cache before a replay. */

/*
 * Marks the files that cannot be replayed, with the reason, and the files candidates advise: the
 * file @path, or all files not executed by a mapping (NULL). Then makes the plan's steps.
 * Returns STATUS_OK, or the exit status after a message.
 */
int advise_files_check(struct recorded_accesses *accesses, const char *path);

/* The advised file with the longest fault time, or NULL if there is none. */
const struct accessed_file *advise_files_main(const struct recorded_accesses *accesses);

/* Replays an access plan once under a candidate, in a child process. */

/*
 * The child has a thread for each recorded one, and a mapping for each recorded mapping. A device's
 * read-ahead setting is changed only while the child opens a file on this device.
 * Returns 0, a positive signal number, or a negative errno with a clause in why: the operation and
 * its object.
 */
int repetition_run(const struct recorded_accesses *accesses, const struct candidate *candidate,
		   struct repetition_figures *figures, struct why *why);

/* Prints the ranking as a table. Returns 0 or a negative errno. */
int advise_print_table(FILE *out, const struct advise *advise);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The policies that pfdrive advise compares, and how a program or a machine is given each. */
#ifndef PFSTAT_USER_CANDIDATE_H
#define PFSTAT_USER_CANDIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif

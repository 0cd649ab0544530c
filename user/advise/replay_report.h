/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints a file's recorded faults next to the replayed ones. */
#ifndef PFSTAT_USER_REPLAY_REPORT_H
#define PFSTAT_USER_REPLAY_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "advise/recorded_file.h"
#include "drive/run.h"

struct replayed {
	const char *path;			       /* for the touched file */
	struct class_totals classes[NR_FAULT_CLASSES]; /* the file's faults */
	struct result result;
	bool advised;	   /* by an option: nothing was repeated */
	size_t nr_advices; /* repeated madvise(2) calls */
	size_t nr_refused; /* failed ones, and the last errno */
	int refused_errno;
};

/* The replay's time is from the policy's advice to the last access. */
int replay_report_print(FILE *out, const struct recorded_file *file,
			const struct replayed *replayed, bool json);

#endif

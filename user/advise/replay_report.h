/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the recorded faults of a file next to the replayed ones. */
#ifndef PFSTAT_USER_REPLAY_REPORT_H
#define PFSTAT_USER_REPLAY_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "advise/recorded_file.h"
#include "drive/run.h"

struct replayed {
	const char *path;			       /* of the file that was touched */
	struct class_totals classes[NR_FAULT_CLASSES]; /* its faults */
	struct result result;
	bool advised;	   /* by an option: nothing was repeated */
	size_t nr_advices; /* calls of madvise(2) that were repeated */
	size_t nr_refused; /* of these; errno of the last */
	int refused_errno;
};

/* The replay's time is from the policy's advice to the last access. */
int replay_report_print(FILE *out, const struct recorded_file *file,
			const struct replayed *replayed, bool json);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What a replay changed: the recorded faults of the file next to the replayed ones. */
#ifndef PFSTAT_USER_REPLAY_REPORT_H
#define PFSTAT_USER_REPLAY_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "correlate/analysis.h"
#include "recorded_file.h"

struct result;

/* The replay's time is from the policy's advice to the last access. */
int replay_report_print(FILE *out, const struct recorded_file *file,
			const struct result *replayed, bool json);

#endif

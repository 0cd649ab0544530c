/* SPDX-License-Identifier: GPL-2.0-only */
/* Printers of a finished profile for viewers. Each returns 0 or a negative errno. */
#ifndef PFSTAT_USER_PROFILE_FORMATS_H
#define PFSTAT_USER_PROFILE_FORMATS_H

#include <stdio.h>

#include "analyze/profile.h"

struct profile_head {
	const char *command; /* of the measured program; "": not known */
	const char *version; /* of pfdrive */
	int64_t started_s;   /* since 1970, UTC; 0: n/a */
	uint64_t origin_ns;  /* CLOCK_MONOTONIC at the start of the recording, or 0: n/a */
	const char *missing; /* warnings about lost data, in one line; "": none */
};

/* pprof: a message Profile of profile.proto, compressed by gzip. */
int pprof_print(FILE *out, const struct profile *profile, const struct profile_head *head);
/* Firefox Profiler: JSON, its processed format. */
int firefox_print(FILE *out, const struct profile *profile, const struct profile_head *head);

#endif

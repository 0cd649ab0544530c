/* SPDX-License-Identifier: GPL-2.0-only */
/* pfdrive record --keep: only the last part is kept, and written when it is asked for. */
#ifndef PFSTAT_USER_RECORD_KEEP_H
#define PFSTAT_USER_RECORD_KEEP_H

#include "limits/limits.h"
#include "run/result.h"
#include "run/watch.h"

struct keep_options {
	uint64_t keep_ns;     /* 0: all is recorded */
	uint64_t bytes;	      /* 0: KEEP_BYTES */
	uint64_t longer_ns;   /* a call or fault taking longer, COUNT_NA if none */
	struct limits limits; /* for the faults within keep_ns */
};

#define KEEP_BYTES     (64U << 20)
#define KEEP_BYTES_MIN (1U << 20)

/* No recording is kept, and nothing is limited. */
void keep_options_init(struct keep_options *options);

/*
 * Watches, and writes a recording at SIGUSR1, after a fault that was too long, if the last faults
 * exceed a limit, and at the end.
 * @pattern: the file name, for strftime(3)
 * result: as for watch_open(). Returns the exit status.
 */
int record_keep(const struct keep_options *options, const struct watch_options *watch_options,
		const char *pattern, struct result *result);

#endif

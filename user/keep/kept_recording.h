/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes what recording/recent.c keeps as a recording of its own, while the watching goes on. */
#ifndef PFSTAT_USER_KEPT_RECORDING_H
#define PFSTAT_USER_KEPT_RECORDING_H

#include "keep/recent.h"
#include "report/report.h"

struct kept_recording {
	struct recent_items *recent;
	const char *pattern;	     /* name of the file, with the conversions of strftime(3) */
	const struct report *report; /* for the head */
	uint32_t hooks;		     /* of eBPF, as run_counters.hooks */
	uint64_t start_ns, end_ns;   /* of the watching; end 0: it goes on */
};

/*
 * Prints the name of the file and how much it holds. An older file of that name is kept as
 * PATH.old. Returns an exit status, after a message.
 */
int kept_recording_write(const struct kept_recording *kept);

#endif

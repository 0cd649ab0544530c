/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The longest fault in words. The place is noted when the fault ends, because mappings and thread
 * names change. Code and files get their names at the end of the run.
 */
#ifndef PFSTAT_USER_LONGEST_NAMES_H
#define PFSTAT_USER_LONGEST_NAMES_H

#include <stdint.h>

#include "analyze/fault/explain.h"
#include "analyze/fault/waits.h"
#include "analyze/fault_tail.h"
#include "analyze/groups/grouping.h"

struct longest_place {
	struct group_key code;
	uint32_t mapping; /* path number, see address_spaces.h, 0 if none or not known */
	char thread[16];
};

struct longest_names {
	char *file;    /* as in the groups by file */
	char *mapping; /* the mapping's path or kernel name, "" if none or not known */
	char *code;    /* as in the groups by code */
	char thread[16];
	const char *cause; /* see model/wait_cause.h, NULL if not known */
	char *functions;   /* the kernel stack, as in struct pfstat_wait, "" if not known */
};

void longest_place_set(struct longest_place *place, const struct grouping *grouping,
		       const struct explained *fault);
/*
 * Without a fault all names are NULL, and the place may be NULL. Returns 0 or -ENOMEM.
 * longest_names_exit() frees them.
 */
int longest_names_fill(struct longest_names *names, const struct longest_fault *fault,
		       const struct longest_place *place, const struct grouping *grouping,
		       const struct waits *waits);
void longest_names_exit(struct longest_names *names);

#endif

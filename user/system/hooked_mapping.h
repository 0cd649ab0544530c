/* SPDX-License-Identifier: GPL-2.0-only */
/* A line in the module's file `targets`: a hooked mapping and the mapping's read-ahead state. */
#ifndef PFSTAT_USER_HOOKED_MAPPING_H
#define PFSTAT_USER_HOOKED_MAPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/mapping_state.h"

struct hooked_mapping {
	pid_t pid;
	uint64_t start, end;
	struct mapping_state state;
};

/*
 * Returns false if the line is about something else. Without the mapping's state, `state.known` is
 * false.
 */
bool hooked_mapping_parse(struct hooked_mapping *mapping, const char *line);

#endif

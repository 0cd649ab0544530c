/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory named by the `pfdrive run' arguments, and the pattern fitted to it. */
#ifndef PFSTAT_USER_RUN_MEMORY_H
#define PFSTAT_USER_RUN_MEMORY_H

#include "drive/run_options.h"
#include "workload/mapping.h"
#include "workload/pattern.h"

struct run_memory {
	struct mapping mapping; /* open, not mapped */
	char name[4096];	/* for messages */
	struct pattern pattern;
};

#define RUN_MEMORY_NONE ((struct run_memory){ .mapping = MAPPING_NONE })

/* The exit status, after a message. */
int run_memory_open(struct run_memory *memory, const struct options *options);
void run_memory_close(struct run_memory *memory);

#endif

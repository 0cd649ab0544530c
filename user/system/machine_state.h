/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine and the file's place on it, as far as the kernel tells. */
#ifndef PFSTAT_USER_ENVIRONMENT_H
#define PFSTAT_USER_ENVIRONMENT_H

#include "report/report.h"
#include "workload/mapping.h"

/* The machine's part, and fault_around_bytes; of no file, on no CPU in particular. */
void environment_read_machine(struct environment *environment);

/*
 * Fills everything up to readahead_bytes, and fault_around_bytes; what cannot
 * be found out stays "" or n/a. The rest is the run's to fill.
 */
void environment_read(struct environment *environment, const char *path,
		      const struct mapping *mapping);

#endif

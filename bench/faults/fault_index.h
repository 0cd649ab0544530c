/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The index page of the demo: for each experiment of the page-fault study its published counts,
 * those of this run, and those that the kernel's read-ahead rule predicts.
 */
#ifndef PFSTAT_USER_FAULT_INDEX_H
#define PFSTAT_USER_FAULT_INDEX_H

#include <stdio.h>

#include "bench/faults/fault_experiments.h"
#include "bench/faults/fault_variations.h"

struct fault_index {
	struct {
		struct fault_run run;
		struct fault_counts rule;
	} rows[NR_FAULT_EXPERIMENTS];
	struct fault_variation variations[NR_FAULT_VARIATIONS];
};

/*
 * Reads the runs in a folder and simulates them and the variations. On an error @failed is the name
 * of the run that could not be read or simulated.
 */
int fault_index_make(struct fault_index *index, const char *folder, const char **failed);

/* Prints the page whole or not at all. 0 or a negative errno. */
int fault_index_print(FILE *out, const struct fault_index *index);

#endif

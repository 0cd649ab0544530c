/* SPDX-License-Identifier: GPL-2.0-only */
/* What memory a drive touches, and whether it stores there: its part of the command line. */
#ifndef PFSTAT_USER_WORKLOAD_H
#define PFSTAT_USER_WORKLOAD_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "workload/mapping.h"

struct workload {
	enum mapping_kind kind;
	bool populate;
	bool fill;		 /* memset and msync before the accesses */
	bool allow_write;	 /* to the FILE that was named */
	bool have_share;	 /* --write was given: */
	uint64_t store_share;	 /* of STORES_ALL */
	uint64_t size;		 /* of anonymous memory; 0: not given */
	uint64_t scratch;	 /* bytes of a file that pfdrive makes; 0: none */
	const char *scratch_dir; /* NULL: the current folder */
};

extern const struct argp workload_argp; /* input: a struct workload */

/*
 * Do these go together, with a FILE or without (NULL)? stores: the pattern does by
 * itself. Else a sentence, and the end of the program with STATUS_USAGE.
 */
void workload_check(const struct argp_state *state, const struct workload *workload,
		    const char *file, bool stores);

/* "private+populate": as it is given, and shown. */
void workload_name(const struct workload *workload, char *text, size_t size);

/* Why mapping_open() could not open it, and what to do; STATUS_FAILED. */
int workload_file_message(const char *file, int err);

/*
 * Opens what it names. Complains; STATUS_OK, or the exit status. name is what to
 * call it in sentences and in the report.
 */
int workload_open(const struct workload *workload, const char *file, bool stores,
		  struct mapping *mapping, char *name, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Command-line options for the memory a drive accesses, and for stores to it. */
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
	bool allow_write;	 /* to the FILE on the command line */
	bool have_share;	 /* --write was given */
	uint64_t store_share;	 /* in units of 1 / STORES_ALL */
	uint64_t size;		 /* for anonymous memory, 0 if not given */
	uint64_t scratch;	 /* size of the scratch file in bytes, 0 if none */
	const char *scratch_dir; /* NULL: the current folder */
};

extern const struct argp workload_argp; /* input: a struct workload */

/*
 * Checks the combination of options, with @file or without it (NULL). On an error prints a
 * message and exits with STATUS_USAGE.
 * @stores: the pattern itself stores
 */
void workload_check(const struct argp_state *state, const struct workload *workload,
		    const char *file, bool stores);

/* Prints "private+populate", as in the option and the report. */
void workload_name(const struct workload *workload, char *text, size_t size);

/* Prints why mapping_open() failed and the remedy. Returns STATUS_FAILED. */
int workload_file_message(const char *file, int err);

/*
 * Opens the memory. Returns STATUS_OK, or prints a message and returns the exit status.
 * @name: receives the name for messages and the report
 */
int workload_open(const struct workload *workload, const char *file, bool stores,
		  struct mapping *mapping, char *name, size_t size);

#endif

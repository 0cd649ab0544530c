/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory that a drive accesses, from the options to the open mapping, and scratch files for it.
 */
#ifndef PFSTAT_USER_WORKLOAD_H
#define PFSTAT_USER_WORKLOAD_H

#include <argp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "workload/mapping.h"

/*
 * A file to write to, without a name, so the disk space is freed however the program ends. The
 * blocks are allocated first, to detect a full disk here. They are also written once, so a cold
 * read goes to the disk (a file system fills unwritten blocks with zeros without reading).
 */

/* The file content. */
#define SCRATCH_BYTE 0x5a

/*
 * Creates the file in @folder. It is on disk on return. Returns a descriptor, -ENOSPC, -EINTR after
 * @stop, or an error from open(2), posix_fallocate(3), write(2) or fsync(2).
 */
int scratch_file_make(const char *folder, uint64_t bytes, const volatile sig_atomic_t *stop);

/* Command-line options for the memory a drive accesses, and for stores to it. */

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

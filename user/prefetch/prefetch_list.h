/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text format for prefetch lists: files with their identity, and the file extents that a start
 * needs, in order of first use. Documentation/formats/prefetch.rst describes it.
 */
#ifndef PFSTAT_USER_PREFETCH_LIST_H
#define PFSTAT_USER_PREFETCH_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/why.h"

#define PREFETCH_LIST_HEAD	"pfstat-prefetch 1"
#define PREFETCH_LIST_BYTES_MAX (64U << 20)
#define PREFETCH_LIST_FILES_MAX 65536U
#define PREFETCH_LIST_PATH_MAX	4096U /* with the final 0 */

struct prefetch_file {
	char *path; /* absolute */
	uint64_t inode, bytes;
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint32_t dev_major, dev_minor;
};

struct prefetch_read {
	uint64_t offset, bytes; /* bytes > 0; ends within the file */
	uint32_t file;		/* index in files */
};

struct prefetch_list {
	struct prefetch_file *files;
	size_t nr_files;
	struct prefetch_read *reads; /* in order of first use */
	size_t nr_reads;
};

/* All zero is an empty list. */
void prefetch_list_exit(struct prefetch_list *list);
/* Both copy the entry. Return 0, -ENOMEM, or -E2BIG: too many files. */
int prefetch_list_add_file(struct prefetch_list *list, const struct prefetch_file *file);
int prefetch_list_add_read(struct prefetch_list *list, const struct prefetch_read *read);
/* Errors remain in the stream. */
void prefetch_list_write(FILE *out, const struct prefetch_list *list);
/*
 * Parses and validates a whole list. @text is a string with @size bytes and a final 0. On -EINVAL
 * stores the line number and the reason, one clause. The list is then empty, as it is for -ENOMEM.
 */
int prefetch_list_parse(struct prefetch_list *list, const char *text, size_t size, size_t *line,
			struct why *why);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfdrive layout: the functions of an ELF file, the order in which a recorded run first touched
 * their pages, and what a relinked file would save.
 */
#ifndef PFSTAT_APPS_LAYOUT_H
#define PFSTAT_APPS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/recorded_touches.h"
#include "util/subcommand.h"
#include "util/why.h"

/* The functions in the section .text of an ELF file. Nothing in the file is trusted. */

struct elf_function {
	uint64_t offset, bytes; /* in the file; it is all within .text */
	const char *name;	/* printable, without blanks */
	uint64_t place;		/* in the relinked file, UINT64_MAX: not ordered */
};

struct elf_functions {
	struct elf_function *functions; /* by offset */
	size_t nr;
	uint64_t text, text_bytes; /* .text, in the file */
	uint64_t alignment;	   /* of most functions */
	char *file;		   /* its bytes, in which the names are */
};

/* Returns 0, or a negative errno and a clause in why. @inode: the file must have it. */
int elf_functions_read(struct elf_functions *read, const char *path, uint64_t inode,
		       struct why *why);
void elf_functions_exit(struct elf_functions *read);

/* The order. */

struct layout_options {
	const char *recording;
	const char *file;   /* NULL: the program */
	const char *output; /* NULL: standard output */
	uint64_t readahead; /* bytes, UINT64_MAX: as recorded */
	unsigned int format;
};

struct layout {
	struct layout_options options;
	struct recorded_touches touches;
	struct touched_file *file;
	struct elf_functions elf;
	/* In order, each name once. */
	const char **names;
	size_t nr_names;
	size_t nr_ordered;	/* functions */
	uint64_t ordered_bytes; /* in the relinked file */
	uint64_t code_pages;	/* touched pages of .text */
	uint64_t unnamed_pages; /* of these, the touched byte is in no function */
	const char *cannot;	/* why nothing is predicted, one clause, or NULL */
	struct fault_prediction present;
	struct fault_prediction fewest,
		most; /* relinked: little, or all of a touched page is used */
};

/* Returns STATUS_OK, or the exit status after a message or for a signal. */
int layout_make(struct layout *layout);
void layout_exit(struct layout *layout);

extern const struct subcommand layout_command;

#endif

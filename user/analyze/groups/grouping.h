/* SPDX-License-Identifier: GPL-2.0-only */
/* A run's faults by file, mapping, thread, code and stack, with the names of all these. */
#ifndef PFSTAT_USER_GROUPING_H
#define PFSTAT_USER_GROUPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/explain.h"
#include "analyze/groups/address_spaces.h"
#include "analyze/groups/groups.h"
#include "analyze/groups/stacks.h"
#include "util/hash.h"

/* The names and source lines of code addresses, which a recording has at its end. */

/*
 * A code address in a known file, from a fault or from a call on the way to one. Or a fault's code
 * address outside any file, such as JIT code.
 */
struct code_place {
	const char *path;
	uint64_t inode;	 /* see address_spaces_path_inode() */
	uint64_t offset; /* in the file, in bytes */
	uint32_t pid; /* 0; for code in no file its pid, with path "" and the address as offset */
	bool faults;  /* when visited: an instruction that had faults, not only a caller */
};

/* What is known of a place. The texts belong to the table. */
struct code_name {
	const char *symbol;   /* "name+0x1f", NULL: not known */
	const char *function; /* the symbol without the offset, NULL: not known */
	const char *source;   /* source file, NULL: not known */
	uint32_t line;	      /* in the source file, from 1 */
};

struct code_table_path;

/* All zero is empty. */
struct code_table {
	struct hash entries;
	struct code_table_path *paths; /* the last added first */
};

void code_table_exit(struct code_table *table);
/* Copy a place's symbol, or source line. The inode is not used. Return 0 or -ENOMEM. */
int code_table_set_symbol(struct code_table *table, const struct code_place *place,
			  const char *symbol);
int code_table_set_line(struct code_table *table, const struct code_place *place,
			const char *source, uint32_t line);
/* Returns the place's names, all NULL if none is known. */
const struct code_name *code_table_find(const struct code_table *table,
					const struct code_place *place);

/* The owner adds mappings and tasks to `spaces`, and stacks to `stacks`. */
struct grouping {
	struct spaces *spaces;
	struct stacks *stacks;
	struct groups *groups[NR_GROUP_BY]; /* NULL: not requested */
	struct code_table code;
};

/*
 * @dimensions: 1 << enum group_by. @max: groups per dimension, see GROUPS_MAX. Returns 0 or
 * -ENOMEM. Both require grouping_exit().
 */
int grouping_init(struct grouping *grouping, uint64_t page_bytes, unsigned int dimensions,
		  size_t max);
void grouping_exit(struct grouping *grouping);

/* NULL: not known, as for a fault on another process's memory (process_vm_readv(), ptrace()). */
const struct space_map *grouping_map(const struct grouping *grouping,
				     const struct explained *fault);
int grouping_add_fault(struct grouping *grouping, const struct explained *fault);
/* Notes the state of all or part of a mapping. Call it before the mapping changes. */
void grouping_add_mapping(struct grouping *grouping, const struct pfstat_mapping *mapping);
/* Closes the group of a thread that exited, or whose number another thread takes. */
int grouping_close_thread(struct grouping *grouping, const struct pfstat_task *task);
/*
 * Closes the group of a file whose inode belongs to another file from now on. Call it before
 * address_spaces_add_map().
 */
int grouping_end_file(struct grouping *grouping, uint32_t dev, uint64_t inode);
/* Renames a thread with a new name. Call it after address_spaces_add_task(). */
void grouping_rename_thread(struct grouping *grouping, const struct pfstat_task *task);

/* See analysis_groups() and analysis_file_name(). */
int grouping_list(const struct grouping *grouping, enum group_by by, struct group **groups,
		  size_t *nr);
/*
 * The key for the fault's code, and the code's name by this key. The caller frees the name. NULL:
 * no memory.
 */
struct group_key grouping_code_key(const struct grouping *grouping, const struct explained *fault);
char *grouping_code_name(const struct grouping *grouping, const struct group_key *key);
char *grouping_file_name(const struct grouping *grouping, uint32_t dev, uint64_t inode);

typedef int (*code_visitor)(void *context, const struct code_place *place);
int grouping_visit_code(const struct grouping *grouping, code_visitor visit, void *context);
/* Copies a place's symbol. A place may be named before the first fault there. */
int grouping_name_code(struct grouping *grouping, const struct code_place *place,
		       const char *symbol);
/* What is known of the fault's code. *object: the path of the code's file, NULL if in none. */
const struct code_name *grouping_code_at(const struct grouping *grouping,
					 const struct explained *fault, const char **object);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* A run's faults by file, mapping, thread, code and stack, with the names of all these. */
#ifndef PFSTAT_USER_GROUPING_H
#define PFSTAT_USER_GROUPING_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/explain.h"
#include "analyze/groups/address_spaces.h"
#include "analyze/groups/groups.h"
#include "analyze/groups/stacks.h"

/* The owner adds mappings and tasks to `spaces`, and stacks to `stacks`. */
struct grouping {
	struct spaces *spaces;
	struct stacks *stacks;
	struct groups *groups[NR_GROUP_BY]; /* NULL: not requested */
};

/*
 * @dimensions: 1 << enum group_by. @max: groups per dimension, see GROUPS_MAX. Returns 0 or
 * -ENOMEM. Both require grouping_exit().
 */
int grouping_init(struct grouping *grouping, uint64_t page_bytes, unsigned int dimensions,
		  size_t max);
void grouping_exit(struct grouping *grouping);

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

/*
 * A code address in a known file, from a fault or from a call on the way to one. Or a fault's code
 * address outside any file, such as JIT code.
 */
struct code_place {
	const char *path;
	uint64_t inode;	 /* see address_spaces_path_inode() */
	uint64_t offset; /* in the file, in bytes */
	uint32_t pid; /* 0; for code in no file its pid, with path "" and the address as offset */
};
typedef int (*code_visitor)(void *context, const struct code_place *place);
int grouping_visit_code(const struct grouping *grouping, code_visitor visit, void *context);
/* Copies the symbol for an address, or for an offset in path. */
int grouping_name_address(struct grouping *grouping, uint32_t pid, uint64_t address,
			  const char *symbol);
int grouping_name_code(struct grouping *grouping, const char *path, uint64_t offset,
		       const char *symbol);

#endif

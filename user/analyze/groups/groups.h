/* SPDX-License-Identifier: GPL-2.0-only */
/* Fault sums by file, VMA, thread, code, stack, name, function or source line. */
#ifndef PFSTAT_USER_GROUPS_H
#define PFSTAT_USER_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analyze/fault/explain.h"
#include "model/filesystem.h"
#include "model/mapping_state.h"

enum group_by {
	GROUP_BY_FILE,
	GROUP_BY_VMA,
	GROUP_BY_THREAD,
	GROUP_BY_CODE,	   /* the instruction: pid and address */
	GROUP_BY_STACK,	   /* the call path: user stack number */
	GROUP_BY_COMM,	   /* the thread name, over all processes */
	GROUP_BY_FUNCTION, /* the groups by code with the same function, added up for a list */
	GROUP_BY_LINE,	   /* the same with the same source line */
	NR_GROUP_BY
};

#define GROUP_BY_ALL   ((1U << NR_GROUP_BY) - 1)
#define GROUP_BY_NAMES { "file", "vma", "thread", "code", "stack", "comm", "function", "line" }

/* The dimension whose groups are kept for a list. */
static inline enum group_by group_by_kept(enum group_by by)
{
	return by == GROUP_BY_FUNCTION || by == GROUP_BY_LINE ? GROUP_BY_CODE : by;
}

#define GROUP_OTHERS "(others)"

/* A group's reading faults. Meaningful for files and mappings. */
struct group_reads {
	uint64_t total_ns;     /* faults in class disk, wait and readahead */
	uint64_t waited_ns;    /* in these: for a request in the queue, or at the device */
	uint64_t cpu_after_ns; /* in these: on the CPU in calls, after the first sleep */
	uint64_t major_ns;     /* in major faults, if perf recorded them */
	uint64_t adjacent;     /* perf: on the very next page, which the last read did not bring */
	uint64_t next;	       /* were on the page after one of the last four */
	uint64_t requests;     /* waited for a known request */
	uint64_t bytes;	       /* in these requests */
};

struct group {
	/*
	 * path, "PID START-END path", "comm (tid)", "symbol (object)", "outer;…;innermost",
	 * "source:line (object)"
	 */
	const char *name;
	uint32_t pid, tid; /* 0: does not apply */
	uint64_t address;  /* start of the VMA or code, 0 if it does not apply */
	uint64_t number;   /* from 1, by first fault, the same in each list */
	uint64_t inode;
	uint32_t dev;
	const struct filesystem *filesystem; /* of a file; NULL: not known */
	uint64_t faults;
	uint64_t major;
	uint64_t fetches; /* instruction fetch faults: the page is program text */
	uint64_t total_ns, max_ns;
	uint64_t kernel_ns;		    /* faults the kernel took itself */
	uint64_t read_bytes;		    /* see struct explained */
	uint64_t classes[NR_FAULT_CLASSES]; /* faults per class */
	uint64_t parts_ns[NR_PARTS];
	struct group_reads reads;
	struct mapping_state state; /* VMA: the last known one */
	uint64_t folded;	    /* "(others)": number of folded groups, else 0 */
	/*
	 * Limit on the group's time in "(others)". In the "(others)" row, the limit for each group.
	 */
	uint64_t others_max_ns;
};

/* Adds a group's figures to another one's. The names and the rest of @sum stay. */
void group_add(struct group *sum, const struct group *group);

/* True for the sum of the folded groups. */
static inline bool group_is_others(const struct group *group)
{
	return !strcmp(group->name, GROUP_OTHERS);
}

/*
 * Groups kept for one dimension, an even number. If there are more, the cheapest half is folded
 * into one group named "(others)". Each group with more than 2 / max of the total fault time has a
 * row, and at most that part of its time is in "(others)".
 */
#define GROUPS_MAX 16384

/* Identifies a group within one dimension. Unused members are 0. No padding. */
struct group_key {
	uint64_t address; /* VMA: start; code: offset in the file, or the address itself; */
			  /* stack: number, see stacks.h; comm: first 8 bytes; */
			  /* thread, file: 0 until it is closed */
	uint64_t end;	  /* VMA, comm: last 8 bytes */
	uint64_t inode;	  /* file */
	uint32_t dev;	  /* file */
	uint32_t pid;	  /* VMA, thread, code outside known files */
	uint32_t tid;	  /* thread */
	uint32_t path;	  /* VMA, code: name's number, see address_spaces.h */
};

/* A group's stored form. */
struct cell {
	struct group_key key;
	struct cell *next; /* another cell with the same hash */
	uint64_t number;   /* from 1 */
	uint64_t floor_ns; /* limit on the time in "(others)" */
	bool closed;	   /* thread: it exited; file: another file has this inode */
	uint32_t path;	   /* file: first seen name, or the last one when closed */
	char comm[16];	   /* thread name */
	uint64_t faults, major, fetches, total_ns, max_ns, kernel_ns, read_bytes;
	uint64_t parts_ns[NR_PARTS];
	uint64_t classes[NR_FAULT_CLASSES];
	struct group_reads reads;
	uint64_t next_pages[4]; /* pages after the last disk faults, 0 if none */
	struct mapping_state state;
	uint64_t state_address; /* VMA: address of the part in this state */
	struct {
		uint64_t base;	      /* address of the file's first byte, 0 if no file */
		uint64_t latest;      /* see joined_vmas() */
		uint32_t prot, flags; /* from struct item_map */
		bool has_file;
	} vma;
};

struct groups;

/* @max: see GROUPS_MAX */
struct groups *groups_new(size_t max);
void groups_free(struct groups *groups);
/*
 * Adds a fault to the group of the key. *made: the group if it is new, else NULL. A new group may
 * end others, whose pointers become invalid. Returns 0 or -ENOMEM.
 */
int groups_add(struct groups *groups, const struct group_key *key, const struct explained *fault,
	       struct cell **made);
/*
 * Closes the group for a thread that exited, or for a deleted file. The group keeps its sums. If
 * the kernel reuses the thread or inode number, the new one gets a separate group.
 * Returns 0 or -ENOMEM.
 */
int groups_close(struct groups *groups, const struct group_key *key);
/* NULL: not found. */
struct cell *groups_find(const struct groups *groups, const struct group_key *key);
int groups_visit(const struct groups *groups, int (*visit)(void *context, struct cell *cell),
		 void *context);
/* The number of groups, and the group with all folded ones (NULL if none). */
size_t groups_count(const struct groups *groups);
const struct cell *groups_others(const struct groups *groups);

struct groups_folded {
	uint64_t groups; /* a group counts as often as it was folded */
	uint64_t max_ns; /* time limit for each folded group */
};

void groups_folded(const struct groups *groups, struct groups_folded *folded);

/*
 * The mapping groups, joined if they are one mapping that grew or was merged. Returns copies of the
 * cells in *cells, which the caller frees. Returns 0 or -ENOMEM.
 */
int joined_vmas(const struct groups *groups, struct cell **cells, size_t *nr);

#endif

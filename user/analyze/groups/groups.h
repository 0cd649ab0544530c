/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums of faults by file, VMA, thread, code, stack or name. */
#ifndef PFSTAT_USER_GROUPS_H
#define PFSTAT_USER_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analyze/fault/explain.h"
#include "model/mapping_state.h"

enum group_by {
	GROUP_BY_FILE,
	GROUP_BY_VMA,
	GROUP_BY_THREAD,
	GROUP_BY_CODE,	/* the instruction: pid and address */
	GROUP_BY_STACK, /* the call path: number of the user stack */
	GROUP_BY_COMM,	/* the name of the thread, over all processes */
	NR_GROUP_BY
};

#define GROUP_BY_ALL   ((1U << NR_GROUP_BY) - 1)
#define GROUP_BY_NAMES { "file", "vma", "thread", "code", "stack", "comm" }

#define GROUP_OTHERS "(others)"

/* The faults of a group that read. Meaningful for files and mappings. */
struct group_reads {
	uint64_t total_ns;     /* of faults of class disk, wait and readahead */
	uint64_t waited_ns;    /* of these: for a request in the queue, or at the device */
	uint64_t cpu_after_ns; /* of these: on the CPU in calls, after the first sleep */
	uint64_t major_ns;     /* of major faults, if perf recorded them */
	uint64_t adjacent;     /* perf: on the very next page, which the last read did not bring */
	uint64_t next;	       /* were on the page after one of the last four */
	uint64_t requests;     /* waited for a request that is known */
	uint64_t bytes;	       /* of these requests */
};

struct group {
	/* path, "PID START-END path", "comm (tid)", "symbol (object)", "outer;…;innermost" */
	const char *name;
	uint32_t pid, tid; /* 0: does not apply */
	uint64_t address;  /* VMA's start, or the code's; 0: does not apply */
	uint64_t number;   /* from 1, by first fault; the same in each list */
	uint64_t inode;
	uint32_t dev;
	uint64_t faults;
	uint64_t major;
	uint64_t fetches; /* faults of an instruction fetch: the page is program text */
	uint64_t total_ns, max_ns;
	uint64_t kernel_ns;		    /* of faults that the kernel took itself */
	uint64_t read_bytes;		    /* see struct explained */
	uint64_t classes[NR_FAULT_CLASSES]; /* faults of each class */
	uint64_t parts_ns[NR_PARTS];
	struct group_reads reads;
	struct mapping_state state; /* VMA: the last that is known */
	uint64_t folded;	    /* "(others)": number of folded groups; else 0 */
	/* Limit on the time of the group that is in "(others)"; there, on that of each group. */
	uint64_t others_max_ns;
};

/* True for the sum of the groups that were folded. */
static inline bool group_is_others(const struct group *group)
{
	return !strcmp(group->name, GROUP_OTHERS);
}

/*
 * Groups kept for one dimension, an even number. If there are more, the cheapest half is folded
 * into one group that is named "(others)". Each group with more than 2 / max of the time of all
 * faults has a row, and at most that part of its time is in "(others)".
 */
#define GROUPS_MAX 16384

/* Identifies a group within its dimension. Unused members are 0. No padding. */
struct group_key {
	uint64_t address; /* VMA: start; code: offset in the file, or the address itself; */
			  /* stack: its number, see stacks.h; comm: its first 8 bytes; */
			  /* thread, file: 0 until it is closed */
	uint64_t end;	  /* VMA; comm: its last 8 bytes */
	uint64_t inode;	  /* file */
	uint32_t dev;	  /* file */
	uint32_t pid;	  /* VMA, thread; code outside of known files */
	uint32_t tid;	  /* thread */
	uint32_t path;	  /* VMA, code: number of the name, see address_spaces.h */
};

/* The stored form of a group. */
struct cell {
	struct group_key key;
	struct cell *next; /* another cell with the same hash */
	uint64_t number;   /* from 1 */
	uint64_t floor_ns; /* limit on its time in "(others)" */
	bool closed;	   /* thread: it exited; file: another file has its inode */
	uint32_t path;	   /* file: its name when it was first seen; closed: the last one */
	char comm[16];	   /* thread: its name */
	char *symbol;	   /* code address: its name, or NULL */
	uint64_t faults, major, fetches, total_ns, max_ns, kernel_ns, read_bytes;
	uint64_t parts_ns[NR_PARTS];
	uint64_t classes[NR_FAULT_CLASSES];
	struct group_reads reads;
	uint64_t next_pages[4]; /* the pages after the last disk faults; 0: none */
	struct mapping_state state;
	uint64_t state_address; /* VMA: of the part with that state */
	struct {
		uint64_t base;	      /* address of the file's first byte; 0: no file */
		uint64_t latest;      /* see joined_vmas.c */
		uint32_t prot, flags; /* of struct item_map */
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
 * Closes the group of a thread that exited, or of a file that was deleted. It keeps its sums. If
 * the kernel reuses the thread's or the inode's number, the new one gets a group of its own.
 * Returns 0 or -ENOMEM.
 */
int groups_close(struct groups *groups, const struct group_key *key);
/* Adds the sums of a cell to those of another. */
void groups_sum(struct cell *sum, const struct cell *cell);
/* NULL: not found. */
struct cell *groups_find(const struct groups *groups, const struct group_key *key);
int groups_visit(const struct groups *groups, int (*visit)(void *context, struct cell *cell),
		 void *context);
/* The number of groups, and the group of all folded ones (NULL: none). */
size_t groups_count(const struct groups *groups);
const struct cell *groups_others(const struct groups *groups);

struct groups_folded {
	uint64_t groups; /* a group counts as often as it was folded */
	uint64_t max_ns; /* limit on the time of each folded group */
};

void groups_folded(const struct groups *groups, struct groups_folded *folded);

#endif

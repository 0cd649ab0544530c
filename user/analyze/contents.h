/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the pages came from that faults mapped or made writable: copies and their origins, new
 * shared memory pages, huge pages. Pure, in bounded memory.
 */
#ifndef PFSTAT_USER_CONTENTS_H
#define PFSTAT_USER_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/evidence.h"
#include "analyze/fault/mechanism.h"

/* Huge page sizes with separate figures. A machine has two or three. */
#define CONTENTS_HUGE 4

struct contents_huge {
	uint8_t order;		     /* log2 of the page count, 0 if no more sizes */
	struct evidence_sum anon;    /* new anonymous huge pages (THP) */
	struct evidence_sum hugetlb; /* hugetlbfs faults */
};

struct contents_figures {
	struct evidence_sum mechanisms[NR_MECHANISMS]; /* they add up to all faults */
	bool notes;				       /* some of the faults have a note */
	/*
	 * Solved faults. PFSTAT_CONTENT_UNKNOWN: only class cow, so the rest is complete if this
	 * count is 0.
	 */
	struct evidence_sum by[PFSTAT_NR_CONTENTS];
	/*
	 * Part of PFSTAT_CONTENT_FORK: the process had forked before, or been forked, in the run.
	 */
	struct evidence_sum after_fork;
	/* The same for PFSTAT_CONTENT_REUSED; the other process may also have executed a program. */
	struct evidence_sum reused_after_fork;
	uint32_t fork_pid;	 /* most of these followed this process's forks, 0 if none */
	uint64_t fork_pid_count; /* how many */
	struct contents_huge huge[CONTENTS_HUGE]; /* smallest first */
	uint64_t dax_small;			  /* faults mapping a single page from a DAX file */
};

#define CONTENTS_FORKS	 256
#define CONTENTS_FORKERS 32

/* A fork whose processes may still share memory. A number that is in use again is 0. */
struct contents_fork {
	uint64_t ns;
	uint32_t parent;     /* also after the exit: it names the fork */
	uint32_t child;	     /* 0: it has ended, and the parent may still have pages to copy */
	bool child_executed; /* child is 0, and the parent's pages are not shared any more */
	bool has_parent;     /* it is running, without exec */
};

struct contents_forker {
	uint32_t pid;
	uint64_t copies;
};

struct contents {
	struct contents_figures figures;	    /* without fork_pid and fork_pid_count */
	struct contents_fork forks[CONTENTS_FORKS]; /* oldest first */
	size_t nr_forks;
	struct contents_forker forkers[CONTENTS_FORKERS];
	size_t nr_forkers;
};

/* A zeroed struct is empty. Faults and tasks come in time order. */
void contents_add_fault(struct contents *contents, const struct explained *fault);
void contents_add_task(struct contents *contents, const struct pfstat_task *task);
void contents_add_record(struct contents *contents, const struct pfstat_record *record);
void contents_figures(const struct contents *contents, struct contents_figures *figures);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The system calls that shape mappings (advice, mmap, mlock, fork), summed by call, advice,
 * mapped file and caller. Pure, in bounded memory.
 */
#ifndef PFSTAT_USER_SHAPING_CALLS_H
#define PFSTAT_USER_SHAPING_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/fault/explain.h"
#include "analyze/groups/address_spaces.h"
#include "analyze/groups/grouping.h"

/* Maximum number of rows. Calls that would need another one are counted in `left_out`. */
#define SHAPING_CALLS_MAX 1024
#define SHAPING_NO_ROW	  SIZE_MAX

/* Forks of calls that have not returned, at most. */
#define SHAPING_FORKS_MAX 64

struct shaping_call {
	enum pfstat_call_kind kind;
	uint32_t pid;	 /* 0, or the pid of a caller outside any file */
	uint64_t detail; /* advice or flags, 0 for calls without any */
	uint32_t target; /* path of the file mapped in the call's range, 0 if none or not known */
	/* The caller: an offset in a file, or an address without a file. 0 if not known. */
	uint32_t path; /* see address_spaces.h */
	uint64_t place;
	char *symbol; /* NULL: no name */
	uint64_t count, failed;
	uint64_t bytes;		/* total of the ranges, for successful calls */
	uint64_t total_ns;	/* in the calls */
	uint64_t forks;		/* that copied page tables */
	uint64_t forks_counted; /* of these, with the number of pages */
	uint64_t fork_pages;	/* whose entries were copied, see struct pfstat_fork */
	uint64_t fork_table_bytes;
	uint64_t first_ns, last_ns; /* their returns, CLOCK_MONOTONIC */
	/* Anonymous memory given back, and needed again: see struct given_back. */
	uint64_t given_pages, again_pages;
	uint64_t again_faults, again_ns;
};

struct shaping_calls {
	struct shaping_call *rows; /* by first call */
	size_t nr, last;
	size_t added; /* the row of the latest call, or SHAPING_NO_ROW */
	uint64_t left_out;
	struct pfstat_fork forks[SHAPING_FORKS_MAX]; /* the newest, number n in n % MAX */
	uint64_t nr_forks;
};

void shaping_calls_exit(struct shaping_calls *calls);
/* The call comes later. */
void shaping_calls_add_fork(struct shaping_calls *calls, const struct pfstat_fork *fork);
/* Returns 0 or -ENOMEM. */
int shaping_calls_add(struct shaping_calls *calls, struct spaces *spaces,
		      const struct pfstat_call *call);
/* Visits the callers. Their addresses are return addresses, less one. */
int shaping_calls_visit(const struct shaping_calls *calls, const struct spaces *spaces,
			code_visitor visit, void *context);
/* @path: 0: a place in process pid outside any file. Returns 0 or -ENOMEM. */
int shaping_calls_name(struct shaping_calls *calls, uint32_t path, uint32_t pid, uint64_t place,
		       const char *symbol);
/*
 * Returns "function+0x1f (path)", "0x1f (path)" or "(not known)". The caller frees it. NULL: no
 * memory.
 */
char *shaping_call_caller(const struct shaping_call *call, const struct spaces *spaces);

/* The file ranges an madvise(2) call was for, by the mappings at that time. */

/* A file range passed to madvise(2). */
struct file_advice {
	const char *path;
	uint64_t inode;
	uint64_t page, pages;
	uint64_t start_ns, end_ns;
	int advice; /* MADV_* */
};
typedef int (*advice_sink)(void *context, const struct file_advice *advice);

/*
 * Calls the sink for each range. A call may span several mappings, and succeeds only without gaps
 * between them. Returns 0 or the sink's error.
 */
int file_advice_visit(struct spaces *spaces, const struct pfstat_advice *advice, advice_sink sink,
		      void *context);

/*
 * The price of memory that a process gives back: the calls that unmap or discard anonymous pages,
 * and the faults that need as much memory again. A call's debt are the pages that faults had
 * touched in its range. A later fault on new anonymous memory of the process, at any address, is
 * paid from the debt of the latest call that has one: if that call had kept the memory, the process
 * could have used it again without a fault.
 *
 * The process touched some pages before the recording, or a fork shared them: these are unknown, and
 * never part of a debt. MADV_FREE is not a debt, because the kernel may leave the pages.
 * mremap(MREMAP_DONTUNMAP) moves pages away: only a fault at their old address pays for them.
 *
 * Pure, in bounded memory.
 */

struct given_back;

/* @memory: limit in bytes on the state of pages. NULL: no memory. */
struct given_back *given_back_new(uint64_t page_bytes, size_t memory);
void given_back_free(struct given_back *given_back);

/* Adds items in time order. Each returns 0 or -ENOMEM. */
/* The call was just added to @calls. */
int given_back_add_call(struct given_back *given_back, const struct pfstat_call *call,
			struct shaping_calls *calls);
int given_back_add_fault(struct given_back *given_back, const struct explained *fault,
			 struct shaping_calls *calls);
int given_back_add_task(struct given_back *given_back, const struct pfstat_task *task);

#endif

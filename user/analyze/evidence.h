/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whole-run figures that only the verdict needs: the time with a fault in progress, the kernel's
 * own faults, forks and advice. Pure, in bounded memory.
 */
#ifndef PFSTAT_USER_EVIDENCE_H
#define PFSTAT_USER_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/activity.h"
#include "analyze/fault/explain.h"
#include "analyze/fault_overlap.h"
#include "analyze/fault_tail.h"
#include "analyze/fault_times.h"
#include "analyze/handlers.h"
#include "analyze/standstill.h"
#include "util/hash.h"

/* The counted kernel advices: MADV_NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED. */
#define EVIDENCE_ADVICES 5

/* Direct reclaims, or compactions, by target threads, in and outside faults. */
struct evidence_reclaims {
	uint64_t count, total_ns, pages;
};

/* Threads could run in a fault, and had no CPU: the part runqueue. */
struct evidence_cpu_wait {
	uint64_t count, total_ns;
};

/* Whole faults. */
struct evidence_sum {
	uint64_t count, total_ns, off_cpu_ns;
};

/* Faults recorded by perf. */
struct evidence_perf {
	/* Major faults on files, but not those that slept mostly for a lock or a handler. */
	struct evidence_sum read;
	struct evidence_sum read_again; /* among these, the process had faulted the page before */
	/* Major faults on anonymous memory, but not those that slept mostly for a handler. */
	struct evidence_sum swapped;
	struct evidence_sum
		swapped_again;	      /* among these, the process had faulted the page before */
	struct evidence_sum cached;   /* minor faults on files */
	struct evidence_sum writable; /* among these, in writable mappings */
	struct evidence_sum minor;    /* all minor faults */
	/* Among these, in reclaim, or asleep for a lock, a server or a handler. */
	uint64_t minor_named_ns;
	/* What the process had done to the pages. Only known if the flag is set. */
	bool history_known;
	struct evidence_sum mapped;   /* among cached: the file's page was mapped elsewhere */
	struct evidence_sum remapped; /* new anonymous pages where it had unmapped others */
	struct evidence_sum often;    /* on pages that had faulted twice or more */
};

struct evidence_figures {
	/*
	 * At least one thread was in a fault: between busy_ns and busy_max_ns, which differ by at
	 * most about 1/64, if small by 1/8, see fault_overlap.h.
	 */
	uint64_t busy_ns, busy_max_ns;
	uint32_t depth, depth_max; /* bounds for the most faults at once */
	/* In a report: since the run's start, empty if that is not known. */
	struct fault_times times;
	/* Faults taken by the kernel in a system call, or in get_user_pages(). */
	uint64_t kernel_faults, kernel_ns;
	uint64_t guest_faults, guest_ns; /* of these, on the memory of a guest of KVM */
	uint64_t forks;			 /* new processes, not threads */
	uint64_t execs;
	uint64_t file_maps;	/* mappings of files made during the recording */
	uint64_t failed_faults; /* from run_counters_failed(), by report_fill() */
	struct evidence_cpu_wait cpu_waits[NR_CPU_WAITS]; /* in faults */
	struct evidence_cpu_wait throttled; /* preempted and held back, in and outside faults */
	bool limits_known;		    /* the recording can have throttled waits */
	struct evidence_reclaims reclaims[PFSTAT_NR_RECLAIM_KINDS];
	uint64_t advices[EVIDENCE_ADVICES]; /* successful madvise(2) calls, by advice */
	struct evidence_sum cached_reads;   /* long and around faults without a store */
	struct evidence_sum mapped_before;  /* among these: mapped before, in another mapping */
	struct evidence_sum mapped_here;    /* among these: mapped before, in this mapping */
	struct evidence_sum shared_before;  /* shared memory: mapped before, in another mapping */
	struct evidence_sum shared_removed; /* new shared memory pages where a page had been */
	struct evidence_sum inherited;	/* among these, or perf's cached: an ancestor's mapping */
	uint64_t shared_inherited;	/* the same of shared memory, not with perf */
	uint64_t missing_stores;	/* to pages of a file that were not in memory */
	struct evidence_sum anon_reads; /* anon faults without a store */
	struct evidence_perf perf;
	struct standstill_figures standstill;
	struct handlers_figures handlers;
	struct fault_tail tail;		  /* filled in by the owner */
	struct activity_figures activity; /* filled in by the owner, see activity_figures() */
};

/* Threads in a fault on the same page of shared memory at once, at most. */
#define EVIDENCE_SHARED 32

void evidence_sum_add(struct evidence_sum *sum, const struct explained *fault);

/* A zeroed struct has no evidence. */
struct evidence {
	struct evidence_figures figures; /* without busy_ns and busy_max_ns */
	struct fault_overlap busy;
	struct activity activity;
	struct standstill standstill;
	struct handlers handlers; /* its page_bytes are set before the first item */
	/*
	 * Pages of files that read faults mapped: by number of the file, and by address. The pages
	 * around a fault may be missing. `faulted` has only the pages of the faults, by address.
	 * Process 0 has the pages of shared memory that faults found in any process.
	 */
	struct page_history *file_pages, *addresses, *faulted;
	struct hash file_numbers; /* by device and inode */
	uint64_t nr_files;
	struct evidence_shared {
		uint64_t page, end_ns;
	} shared[EVIDENCE_SHARED]; /* the latest faults of shared memory, number n in n % SHARED */
	uint64_t nr_shared;
	bool small;
};

/* Keeps no standstill and no pages, and the rest in less memory. Before the first item. */
void evidence_make_small(struct evidence *evidence);
void evidence_exit(struct evidence *evidence);
/* These return 0 or -ENOMEM. Add the exit of a thread after the thread's last fault. */
int evidence_add_fault(struct evidence *evidence, const struct explained *fault);
/* A fault whose page is in a mapping that another process had made, before a fork. */
void evidence_add_inherited(struct evidence *evidence, const struct explained *fault);
int evidence_add_off_cpu(struct evidence *evidence, const struct pfstat_off_cpu *interval);
int evidence_add_map(struct evidence *evidence, const struct item_map *map);
int evidence_add_task(struct evidence *evidence, const struct pfstat_task *task);
/* Another file has the inode from now on. */
void evidence_end_file(struct evidence *evidence, uint32_t dev, uint64_t inode);
void evidence_add_advice(struct evidence *evidence, const struct pfstat_advice *advice);
void evidence_add_reclaim(struct evidence *evidence, const struct pfstat_reclaim *reclaim);
/* No item follows. */
int evidence_finish(struct evidence *evidence);
void evidence_figures(const struct evidence *evidence, struct evidence_figures *figures);

#endif

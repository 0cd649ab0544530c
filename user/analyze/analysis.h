/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that is made of the items of a run, as they stream by; memory does
 * not grow with their number.
 *
 *	item -> explain (chains, parts) -> explained fault -> figures by class,
 *					groups, readahead, and who else listens
 */
#ifndef PFSTAT_USER_ANALYSIS_H
#define PFSTAT_USER_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/explain.h"
#include "analyze/groups/grouping.h"
#include "analyze/groups/groups.h"
#include "analyze/pages/evictions.h"
#include "analyze/pages/readahead.h"
#include "analyze/stats/quantile.h"
#include "analyze/summary.h"
#include "model/counters.h"
#include "model/item.h"

struct analysis;

/*
 * have_bpf: eBPF's events are among the items. groups: 1 << enum group_by of each
 * dimension that will be asked for; each costs a look-up a fault. NULL: no memory.
 */
struct analysis *analysis_new(bool have_bpf, unsigned int groups);
void analysis_free(struct analysis *analysis);

/* Calls sink for every logical fault too; one more listener each time. At most 4. */
int analysis_listen(struct analysis *analysis, explain_sink sink, void *context);

/* Calls sink, of which there is only one, for pages that are read, mapped, or evicted unused. */
void analysis_listen_pages(struct analysis *analysis, readahead_sink sink, void *context);

/* madvise(2) for pages of a file. */
struct file_advice {
	const char *path;
	uint64_t inode;
	uint64_t page, pages;
	uint64_t start_ns, end_ns;
	int advice; /* MADV_* */
};
typedef int (*advice_sink)(void *context, const struct file_advice *advice);
/* Calls sink, one only, for each range of a file that madvise(2) was called for. */
void analysis_listen_advice(struct analysis *analysis, advice_sink sink, void *context);

/* Feed in time order. -ENOMEM; -EINVAL: an item that this version does not know. An item_sink. */
int analysis_add(void *analysis, const struct item *item);
/* No more items: faults still open are handed on as unsolved. Figures are right before, too. */
int analysis_finish(struct analysis *analysis);

/* By class of call, as the module counts. */
const struct summary *analysis_summary(const struct analysis *analysis);

struct part_figures {
	uint64_t faults; /* that had some of it; all, if it is the whole; or reads */
	uint64_t total_ns;
	uint64_t p50_ns, p99_ns; /* of the faults of the class, 0 included */
	uint64_t max_ns;
};

/* Of logical faults of one class. */
struct fault_figures {
	uint64_t count;
	uint64_t major;
	uint64_t unsolved;	   /* of count */
	uint64_t pages;		   /* mapped, as far as it is known */
	struct part_figures whole; /* end - start */
	struct part_figures parts[NR_PARTS];
};

void analysis_faults(const struct analysis *analysis, enum fault_class class,
		     struct fault_figures *figures);
/* All classes as one. */
void analysis_all_faults(const struct analysis *analysis, struct fault_figures *figures);
/*
 * Histogram of a part, or of the whole (NR_PARTS): for compare. NULL: no fault of
 * the class. Faults without that part are in it, as 0, after analysis_finish().
 */
const struct quantiles *analysis_histogram(const struct analysis *analysis, enum fault_class class,
					   enum part part);

void analysis_readahead(const struct analysis *analysis, struct readahead_figures *figures);

/* See address_spaces_dropped(). */
uint64_t analysis_dropped(const struct analysis *analysis);

void analysis_evictions(const struct analysis *analysis, struct evictions_figures *figures);
/* See evictions_pairs(). */
int analysis_eviction_pairs(const struct analysis *analysis, struct evictions_pair **pairs,
			    size_t *nr);

/* Service time (issue to completion) of the requests of targets. */
struct block_figures {
	uint64_t reads, writes, errors;
	uint64_t bytes_read, bytes_written;
	struct part_figures queue, device; /* of reads */
};

/* Stays off the CPU: asleep, or runnable, and how long all of them were. */
void analysis_off_cpu(const struct analysis *analysis, uint64_t *voluntary, uint64_t *preempted,
		      uint64_t *total_ns);
void analysis_blocks(const struct analysis *analysis, struct block_figures *figures);

/*
 * Groups of one dimension (-EINVAL: not one of those that the analysis was made for),
 * costliest (total_ns) first; the caller frees *groups, names and all. Names of code addresses come
 * from analysis_name_code(), else "0x… (object)".
 */
int analysis_groups(const struct analysis *analysis, enum group_by by, struct group **groups,
		    size_t *nr);

/* As a group by file is named; the caller frees it. NULL: no memory. */
char *analysis_file_name(const struct analysis *analysis, uint32_t dev, uint64_t inode);

/* Visits the code of faults, see struct code_place. */
int analysis_visit_code(const struct analysis *analysis, code_visitor visit, void *context);
/* The symbol of an address, or of path at offset; copied. */
int analysis_name_address(struct analysis *analysis, uint32_t pid, uint64_t address,
			  const char *symbol);
int analysis_name_code(struct analysis *analysis, const char *path, uint64_t offset,
		       const char *symbol);

#endif

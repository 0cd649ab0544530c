/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All results computed from a run's items as they stream by. Memory does not grow with the number
 * of items.
 *
 *	item -> explain (chains, parts) -> explained fault -> figures by class,
 *					groups, readahead, other listeners
 */
#ifndef PFSTAT_USER_ANALYSIS_H
#define PFSTAT_USER_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/class_faults.h"
#include "analyze/contents.h"
#include "analyze/evidence.h"
#include "analyze/fault/explain.h"
#include "analyze/fault/waits.h"
#include "analyze/groups/grouping.h"
#include "analyze/groups/groups.h"
#include "analyze/pages/evictions.h"
#include "analyze/pages/readahead.h"
#include "analyze/shaping_calls.h"
#include "analyze/slowest.h"
#include "analyze/fault/summary.h"
#include "model/counters.h"
#include "model/item.h"
#include "util/statistics.h"

struct analysis;

/*
 * @have_bpf: eBPF's events are among the items
 * @page_bytes: page size on the measured machine
 * @groups: 1 << enum group_by for each dimension needed, at a look-up per fault each
 * Returns NULL without memory.
 */
struct analysis *analysis_new(bool have_bpf, uint64_t page_bytes, unsigned int groups);

/*
 * Like analysis_new(), with small tables. They take at most 2.6 MB. The living processes take
 * 2 KiB more for each thread, and 120 bytes for each mapping.
 */
struct analysis *analysis_new_small(bool have_bpf, uint64_t page_bytes, unsigned int groups);
void analysis_free(struct analysis *analysis);
/* The items describe each handle_mm_fault(), see explain_expect_spans(). Before the first item. */
void analysis_expect_spans(struct analysis *analysis, bool expected);
bool analysis_has_spans(const struct analysis *analysis);
uint64_t analysis_page_bytes(const struct analysis *analysis);

/* Adds a listener, whose sink is called for every logical fault. At most 4. */
int analysis_listen(struct analysis *analysis, explain_sink sink, void *context);

/* Sets the only sink for pages that are read, mapped, or evicted unused. */
void analysis_listen_pages(struct analysis *analysis, readahead_sink sink, void *context);

/* Sets the only sink for file ranges passed to madvise(2). */
void analysis_listen_advice(struct analysis *analysis, advice_sink sink, void *context);

/* Adds an item, in time order. An item_sink. -ENOMEM, or -EINVAL if unknown to this version. */
int analysis_add(void *analysis, const struct item *item);
/* Adds a request from a process not analysed here: faults may wait for it. 0 or -ENOMEM. */
int analysis_add_foreign(struct analysis *analysis, const struct pfstat_block *block);
/* Ends the items and emits open faults as unsolved. Figures are also valid before. */
int analysis_finish(struct analysis *analysis);

/* The figures by call class, as the module counts. */
const struct summary *analysis_summary(const struct analysis *analysis);

void analysis_faults(const struct analysis *analysis, enum fault_class class,
		     struct fault_figures *figures);
/* The same over all classes. */
void analysis_all_faults(const struct analysis *analysis, struct fault_figures *figures);
/*
 * Returns the histogram for a part, or for the whole (NR_PARTS), for compare. NULL: no fault in the
 * class. After analysis_finish() the histogram includes faults without this part, as 0.
 */
const struct quantiles *analysis_histogram(const struct analysis *analysis, enum fault_class class,
					   enum part part);

void analysis_readahead(const struct analysis *analysis, struct readahead_figures *figures);

/* The mappings from the items added so far, see address_spaces.h. */
struct spaces *analysis_spaces(const struct analysis *analysis);

void analysis_evictions(const struct analysis *analysis, struct evictions_figures *figures);
/* See evictions_pairs(). */
int analysis_eviction_pairs(const struct analysis *analysis, struct evictions_pair **pairs,
			    size_t *nr);

/* Without the activity, which is relative to the run's bounds: see activity_figures(). */
void analysis_evidence(const struct analysis *analysis, struct evidence_figures *figures);
void analysis_contents(const struct analysis *analysis, struct contents_figures *figures);
void analysis_activity(const struct analysis *analysis, uint64_t from_ns, uint64_t to_ns,
		       struct activity_figures *figures);

/* How many longest faults to keep. Call this before the first item: see slowest.h. */
void analysis_keep_slowest(struct analysis *analysis, unsigned int nr);
const struct slowest *analysis_slowest(const struct analysis *analysis);
/* See slow_names_fill(). */
int analysis_slow_names(const struct analysis *analysis, const struct slow_fault *slow,
			struct slow_names *names);

/* The kernel stacks of sleeps in faults, and the tasks before waits for a CPU. */
const struct waits *analysis_waits(const struct analysis *analysis);

/* For a listener during its call, see handlers_find(). */
const struct handler_row *analysis_handler(const struct analysis *analysis,
					   const struct explained *fault,
					   const struct explain_span *span);

/* The numbers of off-CPU intervals, asleep and runnable, and their total duration. */
void analysis_off_cpu(const struct analysis *analysis, uint64_t *voluntary, uint64_t *preempted,
		      uint64_t *total_ns);
void analysis_blocks(const struct analysis *analysis, struct block_figures *figures);

/*
 * Returns the groups in one dimension, costliest (total_ns) first. -EINVAL: the dimension was not
 * requested. The caller frees *groups, which includes the names. analysis_name_code() names code
 * addresses. Others are "0x… (object)".
 */
int analysis_groups(const struct analysis *analysis, enum group_by by, struct group **groups,
		    size_t *nr);

/* 1 << enum group_by for each grouped dimension. */
unsigned int analysis_dimensions(const struct analysis *analysis);

/* A thread's current name, "" if not known. */
const char *analysis_thread_name(const struct analysis *analysis, uint32_t tid);

/* Returns the name of a file's group, which the caller frees. NULL: no memory. */
char *analysis_file_name(const struct analysis *analysis, uint32_t dev, uint64_t inode);

/*
 * Sets *number to the number of the fault's stack, see stacks.h, or of its code if there is no
 * stack. For listeners, during the call. Returns 0 or -ENOMEM.
 */
int analysis_stack(struct analysis *analysis, const struct explained *fault, uint64_t *number);
/* See stacks_frames(). */
size_t analysis_frames(const struct analysis *analysis, uint64_t number,
		       struct stack_frame frames[STACKS_MAX_FRAMES]);

/* The calls shaping mappings. */
const struct shaping_calls *analysis_calls(const struct analysis *analysis);
/* See shaping_call_caller(). */
char *analysis_caller(const struct analysis *analysis, const struct shaping_call *call);
/* Returns the path of the file in the call's range, "" if none. */
const char *analysis_call_file(const struct analysis *analysis, const struct shaping_call *call);

/* Visits the code addresses of faults, and of callers of such calls, see struct code_place. */
int analysis_visit_code(const struct analysis *analysis, code_visitor visit, void *context);
/* Copies the symbol for an address, or for an offset in path. It may come before the items. */
int analysis_name_address(struct analysis *analysis, uint32_t pid, uint64_t address,
			  const char *symbol);
int analysis_name_code(struct analysis *analysis, const char *path, uint64_t offset,
		       const char *symbol);
/* Copies the source line for an offset in path. It may come before the items. */
int analysis_name_line(struct analysis *analysis, const char *path, uint64_t offset,
		       const char *source, uint32_t line);
/* See grouping_code_at(). For listeners, during the call. */
const struct code_name *analysis_code_at(const struct analysis *analysis,
					 const struct explained *fault, const char **object);

#endif

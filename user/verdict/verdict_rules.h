/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verdict's rules. A rule checks a report's evidence against thresholds. If they are met, the
 * rule writes the sentence with the numbers, and the remedy.
 *
 * A rule claims the time covered by the rule's evidence: parts in classes. The rule is certain only
 * if nothing else leaves this evidence.
 */
#ifndef PFSTAT_USER_VERDICT_RULES_H
#define PFSTAT_USER_VERDICT_RULES_H

#include "verdict/verdict.h"

/* A cause concerns at least this share of the fault time. */
#define VERDICT_CAUSE_SHARE 0.25
/*
 * In threads waiting for a CPU, the rest of the faults is a small share of the time. Then the limit
 * is VERDICT_CAUSE_SHARE of the rest, and at least this share of all.
 */
#define VERDICT_LEAST_SHARE 0.1

/* A wait's cause explains at least this share of the part. */
#define VERDICT_WAIT_SHARE 0.5

typedef bool verdict_applies(const struct verdict *verdict, const struct report *run,
			     struct verdict_cause *cause);

/* No rule calls another one. A row has the other rules' functions, since rows may share a name. */
struct verdict_rule {
	const char *name;
	verdict_applies *applies;
	verdict_applies *unless[2];	 /* the rule gives way to these, if they apply */
	verdict_applies *unless_certain; /* and to this one, if it is certain */
	unsigned int settings;		 /* of the remedy: 1 << enum predicted_setting */
	bool always;			 /* also checked if the faults' share of the run is small */
};

/* One function for each row in the verdict_rules.c table. */
#define VERDICT_RULE(function) verdict_applies function
VERDICT_RULE(verdict_read_no_readahead);
VERDICT_RULE(verdict_read_around);
VERDICT_RULE(verdict_read_amplified);
VERDICT_RULE(verdict_read_cold);
VERDICT_RULE(verdict_read_cpu);
VERDICT_RULE(verdict_read_uncompressed);
VERDICT_RULE(verdict_read_queue);
VERDICT_RULE(verdict_write_holes);
VERDICT_RULE(verdict_write_page_mkwrite);
VERDICT_RULE(verdict_write_cached);
VERDICT_RULE(verdict_copy_private);
VERDICT_RULE(verdict_copy_after_fork);
VERDICT_RULE(verdict_copy_reused);
VERDICT_RULE(verdict_copy_zero);
VERDICT_RULE(verdict_copy_ksm);
VERDICT_RULE(verdict_copy_unknown);
VERDICT_RULE(verdict_met_numa);
VERDICT_RULE(verdict_met_soft_dirty);
VERDICT_RULE(verdict_met_uffd);
VERDICT_RULE(verdict_met_present);
VERDICT_RULE(verdict_memory_swap);
VERDICT_RULE(verdict_memory_refault);
VERDICT_RULE(verdict_memory_dropped);
VERDICT_RULE(verdict_touch_again);
VERDICT_RULE(verdict_touch_first);
VERDICT_RULE(verdict_touch_huge_pages);
VERDICT_RULE(verdict_touch_hugetlb);
VERDICT_RULE(verdict_touch_dax);
VERDICT_RULE(verdict_touch_shared_memory);
VERDICT_RULE(verdict_memory_shared_swap);
VERDICT_RULE(verdict_wait_runqueue);
VERDICT_RULE(verdict_userfault_handler);
VERDICT_RULE(verdict_lock_mmap);
VERDICT_RULE(verdict_write_writeback);
VERDICT_RULE(verdict_wait_server);
VERDICT_RULE(verdict_wait_contention);
VERDICT_RULE(verdict_wait_page_lock);
VERDICT_RULE(verdict_memory_reclaim);
VERDICT_RULE(verdict_wait_foreign);
VERDICT_RULE(verdict_wait_kernel);
VERDICT_RULE(verdict_nothing_failed);
VERDICT_RULE(verdict_memory_throttled);
VERDICT_RULE(verdict_wait_limit);
VERDICT_RULE(verdict_nothing_slow_tail);
VERDICT_RULE(verdict_nothing_stalled);
VERDICT_RULE(verdict_nothing_populating);
/* Only for perf's faults. */
VERDICT_RULE(verdict_perf_server);
VERDICT_RULE(verdict_perf_no_readahead);
VERDICT_RULE(verdict_perf_cold);
VERDICT_RULE(verdict_perf_cached);
VERDICT_RULE(verdict_perf_swap);
VERDICT_RULE(verdict_perf_again);
VERDICT_RULE(verdict_perf_asleep);
VERDICT_RULE(verdict_perf_moved);
VERDICT_RULE(verdict_perf_unseen);

/* True if pages were evicted for lack of memory, and more than a few were needed again. */
bool verdict_memory_is_short(const struct report *run);
/* The fault time share of pages that were evicted, or dropped, and needed again. 0 if small */
double verdict_memory_returned(const struct report *run, bool dropped);

/* Applies all rules to a report whose shares are in the verdict, and keeps the causes. */
void verdict_find_causes(struct verdict *verdict, const struct report *run);
/* States what the remedy's setting saves, if the report has a prediction. */
void verdict_state_saving(struct verdict_cause *cause, const struct report *run);
/* No rule applies to a run in which faults took little time. */
void verdict_nothing_state(const struct verdict *verdict, const struct report *run,
			   struct verdict_cause *cause);

void verdict_state(struct verdict_cause *cause, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* States that the threads were idle, and the faults' share of their activity. */
void verdict_add_idle(struct verdict_cause *cause, const struct verdict *verdict);
void verdict_add(struct verdict_cause *cause, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void verdict_advise(struct verdict_cause *cause, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define VERDICT_CLASS(class) (1U << (class))
#define VERDICT_PART(part)   (1U << (part))
#define VERDICT_ALL	     (~0U)
/* Faults in these classes read a file, or wait for a read. */
#define VERDICT_READ_CLASSES \
	(VERDICT_CLASS(FAULT_DISK) | VERDICT_CLASS(FAULT_WAIT) | VERDICT_CLASS(FAULT_READAHEAD))

/* A share of all fault time, 0 … 1. */
double verdict_share_of(const struct report *run, uint64_t ns);
/* The time for the parts in the classes, or for the classes if there are no parts. */
uint64_t verdict_claimed_ns(const struct report *run, struct verdict_claim claim);

/* True if a fault time share is worth a cause. */
bool verdict_is_worth(const struct report *run, double share);
/*
 * Sets the claim, and the claim's share of the fault time as weight. Returns true if it is worth a
 * cause.
 */
bool verdict_claim_time(struct verdict_cause *cause, const struct report *run, uint32_t classes,
			uint32_t parts);

/*
 * The same for sleeps whose kernel stacks show one of these causes, see model/wait_cause.h. The
 * list ends with NULL. The claim has the parts in which these sleeps are the majority.
 */
bool verdict_wait_claim(struct verdict_cause *cause, const struct report *run,
			const char *const *waits);
/*
 * For a time outside the faults, the sum over all threads. Sets this time's share of the run as
 * weight, 1 at most.
 */
void verdict_claim_outside(struct verdict_cause *cause, const struct verdict *verdict, uint64_t ns);

/* Shares of the total fault time, 0 if the part or the class is not known. */
double verdict_class_share(const struct report *run, enum fault_class class);
double verdict_part_share(const struct report *run, enum part part);
/* The off-CPU time, without the reclaim time on the CPU. */
uint64_t verdict_off_cpu_ns(const struct fault_figures *faults);
/* How much of a class's own time was off the CPU, as a share. */
double verdict_off_cpu_share(const struct report *run, enum fault_class class);
/*
 * The cause for at least VERDICT_WAIT_SHARE of a part, according to the kernel stacks. NULL if not
 * known.
 */
const char *verdict_wait_cause(const struct report *run, enum part part);
/* The same for the off-CPU time in a class's faults. */
const char *verdict_class_wait_cause(const struct report *run, enum fault_class class);
/* The same for perf's PART_ASLEEP in minor faults. */
const char *verdict_minor_wait_cause(const struct report *run);
/* True if a rule of its own names this cause of a wait. */
bool verdict_wait_has_rule(const char *wait);
/* Microseconds per fault in the class. */
double verdict_mean_us(const struct report *run, enum fault_class class);

/* A thread's group. NULL if not known */
const struct group *verdict_code_thread(const struct report *run, uint32_t tid);
void verdict_code_find(struct verdict_code *code, const struct report *run);
/*
 * Adds the system call in which the kernel faulted, and the function that made it, as far as they
 * are known.
 */
void verdict_code_add_caller(struct verdict_cause *cause, const struct report *run);

/* Successful calls of one kind, and where in the code most of them were made. */
struct verdict_callers {
	uint64_t calls, most, bytes;
	const char *place; /* NULL: not known, or no calls */
	bool more;	   /* there may be more calls */
};

/* Finds the madvise() calls with an advice. @file: NULL for any memory */
void verdict_code_advisers(const struct report *run, const char *file, int advice,
			   struct verdict_callers *found);
/* Adds " in PLACE", or ", 3 of them in PLACE", if the place is known. */
void verdict_code_add_place(struct verdict_cause *cause, const struct verdict_callers *found);

/*
 * Names mappings that live for few faults, and pages that were mapped again and again, and advises
 * what to do. @faults: on pages in memory. @before: among these, on pages mapped before
 */
void verdict_write_add_maps(struct verdict_cause *cause, const struct report *run, uint64_t faults,
			    uint64_t before);

/* True if most faults on the file fetched instructions, so it is a program's text. */
bool verdict_read_is_program(const struct group *file);
/* The file's costliest mapping with a known state, see mapping_state.h. NULL if there is none. */
const struct group *verdict_read_mapping(const struct report *run, const struct group *file);

#define VERDICT_NO_RANDOM \
	"pfdrive replay --advise normal RECORDING shows the saving; then remove MADV_RANDOM."

/* Memory that is shared without a file on a disk. @file: NULL: none */
bool verdict_touch_is_shared_memory(const struct group *file);
/* Most faults are those of a DAX file, which has no page cache, and got no huge page. */
bool verdict_touch_is_dax(const struct report *run);

/* The files on file systems of one kind whose pages a server brings. */
struct verdict_served {
	const struct group *most; /* waited longest; NULL: there is none */
	uint64_t waited_ns;	  /* time of their faults in the part asked for */
	uint64_t total_ns;	  /* all of their time */
	uint64_t major_ns;	  /* perf: in major faults */
	const char *name, *remedy;
};

/* Returns the kind with most of the time in the part. */
struct verdict_served verdict_wait_served(const struct report *run, enum part part);
/*
 * Adds "@before@subject is on TYPE (SOURCE)". Nothing if the file is NULL, or on a file system that
 * is not known. @subject: NULL: the file's name
 */
void verdict_add_filesystem(struct verdict_cause *cause, const char *before, const char *subject,
			    const struct group *file);

#endif

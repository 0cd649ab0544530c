/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules of the verdict. A rule checks the evidence of a report against its thresholds. If they
 * are met, it writes the sentence with its numbers, and the remedy.
 */
#ifndef PFSTAT_USER_VERDICT_RULES_H
#define PFSTAT_USER_VERDICT_RULES_H

#include "report/verdict/verdict.h"

/* Below this share of the run, faults are not worth a look. */
#define VERDICT_WRONG_SHARE 0.05
/* A cause concerns at least this share of the faults' time. */
#define VERDICT_CAUSE_SHARE 0.25

/* A cause of waits explains at least this share of the part. */
#define VERDICT_WAIT_SHARE 0.5

struct verdict_rule {
	const char *name;
	bool (*applies)(const struct verdict *verdict, const struct report *run,
			struct verdict_cause *cause);
};

/* One function for each row of the table in verdict_rules.c. */
#define VERDICT_RULE(function)                                                 \
	bool function(const struct verdict *verdict, const struct report *run, \
		      struct verdict_cause *cause)
VERDICT_RULE(verdict_no_readahead);
VERDICT_RULE(verdict_read_around);
VERDICT_RULE(verdict_amplified);
VERDICT_RULE(verdict_cold);
VERDICT_RULE(verdict_holes);
VERDICT_RULE(verdict_queue);
VERDICT_RULE(verdict_page_mkwrite);
VERDICT_RULE(verdict_cached);
VERDICT_RULE(verdict_fork);
VERDICT_RULE(verdict_swap);
VERDICT_RULE(verdict_refault);
VERDICT_RULE(verdict_first_touch);
VERDICT_RULE(verdict_shared_memory);
VERDICT_RULE(verdict_runqueue);
VERDICT_RULE(verdict_contention);
VERDICT_RULE(verdict_reclaim);
VERDICT_RULE(verdict_foreign);
VERDICT_RULE(verdict_kernel);
/* Only for perf's faults. */
VERDICT_RULE(verdict_perf_cold);
VERDICT_RULE(verdict_perf_cached);
VERDICT_RULE(verdict_perf_again);
VERDICT_RULE(verdict_perf_asleep);
VERDICT_RULE(verdict_perf_moved);

/* Applies all rules to a report whose shares are in the verdict, and keeps the heaviest causes. */
void verdict_find_causes(struct verdict *verdict, const struct report *run);

void verdict_state(struct verdict_cause *cause, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void verdict_add(struct verdict_cause *cause, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void verdict_advise(struct verdict_cause *cause, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Shares of all faults' time; 0 if the part or the class is not known. */
double verdict_class_share(const struct report *run, enum fault_class class);
double verdict_part_share(const struct report *run, enum part part);
/* The share of a class's own time off the CPU. */
double verdict_off_cpu_share(const struct report *run, enum fault_class class);
/* The cause of at least VERDICT_WAIT_SHARE of a part, by the kernel stacks. NULL: not known. */
const char *verdict_wait_cause(const struct report *run, enum part part);
/* The same of the time that faults of a class were off the CPU. */
const char *verdict_class_wait_cause(const struct report *run, enum fault_class class);
/* Microseconds per fault of the class. */
double verdict_mean_us(const struct report *run, enum fault_class class);

/* Calls of a kind that succeeded, and the place in the code that made most of them. */
struct verdict_callers {
	uint64_t calls, most;
	const char *place; /* NULL: not known, or no calls */
	bool more;	   /* there may be more calls */
};

/* Finds the calls of madvise(MADV_RANDOM) for a file. */
void verdict_advisers(const struct report *run, const char *file, struct verdict_callers *found);
/* Adds " in PLACE", or ", 3 of them in PLACE", if the place is known. */
void verdict_add_place(struct verdict_cause *cause, const struct verdict_callers *found);

#define VERDICT_SPAN 32
/* "3.21 s", "12.3 ms". Returns text, which has VERDICT_SPAN bytes. */
const char *verdict_span(char *text, uint64_t ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Call records for which only the summary matters. */
#ifndef PFSTAT_TESTS_SAMPLE_CALLS_H
#define PFSTAT_TESTS_SAMPLE_CALLS_H

#include <check.h>

#include "user/analyze/fault/explain.h"
#include "user/analyze/fault/summary.h"

static inline int calls_ignore_fault(void *context, const struct explained *fault)
{
	(void)context;
	(void)fault;
	return 0;
}

static inline struct explain *calls_new(void)
{
	struct explain *calls = explain_new(true, 4096, calls_ignore_fault, NULL);

	ck_assert_ptr_nonnull(calls);
	return calls;
}

static inline void calls_figures(const struct explain *calls, struct summary_figures *figures)
{
	summary_figures(explain_summary(calls), figures);
}

#endif

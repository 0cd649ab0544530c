/* SPDX-License-Identifier: GPL-2.0-only */
/* A report filled by the verdict tests, and their checks for the causes found. */
#ifndef PFSTAT_TESTS_SAMPLE_VERDICT_H
#define PFSTAT_TESTS_SAMPLE_VERDICT_H

#include <string.h>

#include "golden.h"
#include "runner.h"
#include "user/verdict/verdict.h"

#define MS 1000000ULL

struct sample {
	struct report report;
	struct verdict verdict;
	struct group files[2], threads[1], codes[4];
	struct evictions_pair pairs[2];
	struct syscall_total totals[1];
};

static inline void sample_begin(struct sample *s)
{
	memset(s, 0, sizeof(*s));
	report_init(&s->report);
	s->report.time.counted_ns = 1000 * MS;
	s->report.bpf.known = true;
	s->report.bpf.hooks = (1U << HOOK_PERF) - 1;
	s->report.faults.parts_known = true;
	s->report.environment.fault_around = true;
	s->report.environment.page_bytes = 4096;
	s->report.evidence.activity.waiting_ns = 0;
	s->report.evidence.activity.active_ns = 1000 * MS;
	s->report.evidence.activity.active_max_ns = 1000 * MS;
	s->report.losses.records = 0;
	s->report.losses.events = 0;
}

/* Adds faults whose whole time is in one part. */
static inline void add_class(struct sample *s, enum fault_class class, uint64_t count,
			     enum part part, uint64_t total_ns)
{
	struct fault_figures *figures[] = { &s->report.faults.classes[class],
					    &s->report.faults.all };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		figures[i]->count += count;
		figures[i]->whole.total_ns += total_ns;
		figures[i]->parts[part].total_ns += total_ns;
	}
	s->report.evidence.busy_ns += total_ns;
}

static inline void judge(struct sample *s)
{
	verdict_make(&s->verdict, &s->report);
	ck_assert_uint_ge(s->verdict.nr_causes, 1);
}

static inline const struct verdict_cause *cause_of(const struct sample *s, const char *rule)
{
	size_t i;

	for (i = 0; i < s->verdict.nr_causes; i++)
		if (!strcmp(s->verdict.causes[i].rule, rule))
			return &s->verdict.causes[i];
	return NULL;
}

/* The cause and the remedy are also in the verdict's golden file. */
#define check_cause(s, rule, certain, text) check_cause_of(s, rule, certain, text, __func__)

static inline void check_cause_of(struct sample *s, const char *rule, bool certain,
				  const char *text, const char *test)
{
	const struct verdict_cause *cause;
	char *printed;

	judge(s);
	cause = cause_of(s, rule);
	ck_assert_msg(cause, "%s is not found, but %s: %s", rule, s->verdict.causes[0].rule,
		      s->verdict.causes[0].text);
	ck_assert_msg(strstr(cause->text, text), "\"%s\" is not in: %s", text, cause->text);
	ck_assert_int_eq(cause->certain, certain);
	ck_assert_uint_gt(strlen(cause->remedy), 10);
	ck_assert_int_ge(asprintf(&printed, "%s, %s\n%s\n%s\n", rule,
				  certain ? "certain" : "not certain", cause->text, cause->remedy),
			 0);
	golden_check_of("verdict", test, printed);
	free(printed);
}

static inline void check_no_cause(struct sample *s, const char *rule)
{
	judge(s);
	ck_assert_msg(!cause_of(s, rule), "%s is found: %s", rule, s->verdict.causes[0].text);
}

#endif

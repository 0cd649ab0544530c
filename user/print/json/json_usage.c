// SPDX-License-Identifier: GPL-2.0-only
#include "print/json/json_usage.h"
#include "util/json_value.h"

/* In units of so many. */
static json_t *fact_in(uint64_t fact, uint64_t unit)
{
	return value_count_if(fact != COUNT_NA, fact / unit);
}

json_t *json_usage(const struct usage *usage)
{
	return json_pack("{so so so so so so so so so}",
		"utime_us", fact_in(usage->utime_ns, 1000),
		"stime_us", fact_in(usage->stime_ns, 1000),
		"maxrss_kb", fact_in(usage->maxrss_bytes, 1024),
		"minflt", value_known(usage->minflt),
		"majflt", value_known(usage->majflt),
		"inblock", value_known(usage->inblock),
		"oublock", value_known(usage->oublock),
		"nvcsw", value_known(usage->nvcsw),
		"nivcsw", value_known(usage->nivcsw));
}

static json_t *step_of(const struct step_figures *step)
{
	if (!step->made)
		return json_null();
	return json_pack("{so so so}",
		"elapsed_ns", value_count(step->elapsed_ns),
		"bytes", value_known(step->bytes),
		"rusage", json_usage(&step->usage));
}

json_t *json_steps(const struct report *run)
{
	static const char *const names[NR_STEPS] = STEP_NAMES;
	json_t *steps = json_object();
	enum step step;

	for (step = 0; step < NR_STEPS; step++)
		steps = value_with(steps, names[step], step_of(&run->drive.steps[step]));
	return steps;
}

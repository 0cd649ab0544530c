// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run's accounts in JSON: getrusage(2), also for each step; the ledger; pfstat's own cost. All
 * figures come from the report. Unknown ones are null.
 */
#include "print/json/json_accounts.h"
#include "print/json/json_spread.h"
#include "util/json_value.h"

/* @unit: divisor for the count. */
static json_t *usage_in(uint64_t count, uint64_t unit)
{
	return value_count_if(count != COUNT_NA, count / unit);
}

json_t *json_usage(const struct usage *usage)
{
	const struct value_member members[] = {
		{ "utime_us", usage_in(usage->utime_ns, 1000) },
		{ "stime_us", usage_in(usage->stime_ns, 1000) },
		{ "maxrss_kb", usage_in(usage->maxrss_bytes, 1024) },
		{ "minflt", value_known(usage->minflt) },
		{ "majflt", value_known(usage->majflt) },
		{ "inblock", value_known(usage->inblock) },
		{ "oublock", value_known(usage->oublock) },
		{ "nvcsw", value_known(usage->nvcsw) },
		{ "nivcsw", value_known(usage->nivcsw) },
		{ NULL, NULL },
	};

	return value_object(members);
}

static json_t *usage_of_step(const struct step_figures *step)
{
	if (!step->made)
		return json_null();
	return json_pack("{so so so}", "elapsed_ns", value_count(step->elapsed_ns), "bytes",
			 value_known(step->bytes), "rusage", json_usage(&step->usage));
}

json_t *json_steps(const struct report_drive *drive)
{
	static const char *const names[NR_STEPS] = STEP_NAMES;
	json_t *steps = json_object();
	enum step step;

	for (step = 0; step < NR_STEPS; step++)
		steps = value_with(steps, names[step], usage_of_step(&drive->steps[step]));
	return steps;
}

static json_t *ledger_count(const struct ledger_count *count)
{
	return json_pack("{ss ss so}", "name", count->name, "source", count->source, "value",
			 value_known(count->value));
}

static json_t *ledger_counts(const struct ledger *ledger)
{
	json_t *counts = json_array();
	size_t i;

	for (i = 0; i < ledger->nr_counts; i++)
		counts = value_appended(counts, ledger_count(&ledger->counts[i]));
	return counts;
}

static json_t *ledger_reason(const struct ledger_reason *reason)
{
	return json_pack("{ss sI}", "name", reason->name, "amount", (json_int_t)reason->amount);
}

static json_t *ledger_reasons(const struct ledger_difference *difference)
{
	json_t *reasons = json_array();
	size_t i;

	for (i = 0; i < difference->nr_reasons; i++)
		reasons = value_appended(reasons, ledger_reason(&difference->reasons[i]));
	return reasons;
}

static json_t *amount_if(bool known, int64_t amount)
{
	return known ? json_integer(amount) : json_null();
}

static json_t *ledger_difference(const struct ledger_difference *difference)
{
	return json_pack("{ss ss so so so}", "left", difference->left, "right", difference->right,
			 "amount", amount_if(difference->known, difference->amount), "reasons",
			 ledger_reasons(difference), "unexplained",
			 amount_if(difference->known, difference->unexplained));
}

json_t *json_ledger(const struct ledger *ledger)
{
	json_t *differences = json_array();
	size_t i;

	for (i = 0; i < ledger->nr_differences; i++)
		differences =
			value_appended(differences, ledger_difference(&ledger->differences[i]));
	return json_pack("{so so so}", "counts", ledger_counts(ledger), "differences", differences,
			 "unexplained", value_count(ledger->unexplained));
}

json_t *json_cost(const struct report *run)
{
	const struct report_cost *cost = &run->cost;
	const struct own_cost own = view_own_cost(run);
	const struct value_member members[] = {
		{ "call_ns", json_real_or_null(own.call_ns) },
		{ "inside_ns", json_real_or_null(own.inside_ns) },
		{ "total_ns", json_real_or_null(own.total_ns) },
		{ "bpf_hooked_ns", json_real_or_null(own.hooked_ns) },
		{ "bpf_again_ns", json_real_or_null(own.again_ns) },
		{ "bpf_other_ns", json_real_or_null(own.other_ns) },
		{ "bpf_hooked", value_known(cost->bpf_hooked) },
		{ "bpf_again", value_known(cost->bpf_again) },
		{ "bpf_other", value_known(cost->bpf_other) },
		{ "bpf_total_ns", json_real_or_null(own.bpf_total_ns) },
		{ "added_ns", json_real_or_null(own.added_ns) },
		{ "added_percent", json_real_or_null(100 * own.added_share) },
		{ "missing", own.missing ? json_string(own.missing) : json_null() },
		{ "subtracted", json_boolean(cost->subtract && cost->inside_ps != COUNT_NA) },
		{ NULL, NULL },
	};

	return value_object(members);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run's accounts in JSON: getrusage(2), also for each step; the ledger; pfstat's own cost. All
 * figures come from the report. Unknown ones are null.
 */
#include "analyze/accounts/ledger.h"
#include "fields/tables.h"
#include "print/json/json_accounts.h"
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

static const struct field ledger_count_rows[] = {
	FIELD(STRING, ledger_count, name, NULL),
	FIELD(STRING, ledger_count, source, "Counted by module, eBPF, task, getrusage or perf."),
	FIELD(KNOWN, ledger_count, value, NULL),
};

static const struct fields ledger_count_fields =
	FIELDS("ledger_count", "One count.", ledger_count, ledger_count_rows);

static const struct field ledger_reason_rows[] = {
	FIELD(STRING, ledger_reason, name, NULL),
	FIELD(SIGNED, ledger_reason, amount, NULL),
};

static const struct fields ledger_reason_fields =
	FIELDS("ledger_reason", "A reason that explains a difference in part.", ledger_reason,
	       ledger_reason_rows);

static bool difference_is_known(const struct report *run __attribute__((unused)),
				const void *object)
{
	return ((const struct ledger_difference *)object)->known;
}

static const struct field ledger_difference_rows[] = {
	FIELD(STRING, ledger_difference, left, "A count's name, or a sum."),
	FIELD(STRING, ledger_difference, right, "Likewise."),
	FIELD(SIGNED, ledger_difference, amount, "null: one count is n/a.",
	      .known = difference_is_known),
	FIELD(ARRAY, ledger_difference, reasons, NULL, .of = &ledger_reason_fields,
	      FIELD_NR(ledger_difference, nr_reasons)),
	FIELD(SIGNED, ledger_difference, unexplained,
	      "Left without a reason; null if amount is null.", .known = difference_is_known),
};

static const struct fields ledger_difference_fields =
	FIELDS("ledger_difference", "left - right = all reasons + unexplained.", ledger_difference,
	       ledger_difference_rows);

static const struct field ledger_rows[] = {
	FIELD(ARRAY, ledger, counts, NULL, .of = &ledger_count_fields, FIELD_NR(ledger, nr_counts)),
	FIELD(ARRAY, ledger, differences, NULL, .of = &ledger_difference_fields,
	      FIELD_NR(ledger, nr_differences)),
	FIELD(COUNT, ledger, unexplained,
	      "Sum over the absolute amounts without a reason. Not 0: do not trust the "
	      "figures."),
};

const struct fields ledger_fields =
	FIELDS("ledger", "The same faults, as counted in several places.", ledger, ledger_rows);

json_t *json_ledger(const struct ledger *ledger)
{
	const struct fields_run none = { 0 };

	return fields_json(&ledger_fields, &none, ledger);
}

json_t *json_cost(const struct report *run)
{
	const struct report_cost *cost = &run->cost;
	const struct own_cost own = view_own_cost(run);
	const struct value_member members[] = {
		{ "call_ns", value_real(own.call_ns) },
		{ "inside_ns", value_real(own.inside_ns) },
		{ "total_ns", value_real(own.total_ns) },
		{ "bpf_hooked_ns", value_real(own.hooked_ns) },
		{ "bpf_again_ns", value_real(own.again_ns) },
		{ "bpf_other_ns", value_real(own.other_ns) },
		{ "bpf_hooked", value_known(cost->bpf_hooked) },
		{ "bpf_again", value_known(cost->bpf_again) },
		{ "bpf_other", value_known(cost->bpf_other) },
		{ "bpf_total_ns", value_real(own.bpf_total_ns) },
		{ "added_ns", value_real(own.added_ns) },
		{ "added_percent", value_real(100 * own.added_share) },
		{ "missing", own.missing ? json_string(own.missing) : json_null() },
		{ "subtracted", json_boolean(cost->subtract && cost->inside_ps != COUNT_NA) },
		{ NULL, NULL },
	};

	return value_object(members);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "print/json/json_parts.h"
#include "util/json_value.h"

static json_t *count_of(const struct ledger_count *count)
{
	return json_pack("{ss ss so}", "name", count->name, "source", count->source,
			 "value", value_known(count->value));
}

static json_t *counts_of(const struct ledger *ledger)
{
	json_t *counts = json_array();
	size_t i;

	for (i = 0; i < ledger->nr_counts; i++)
		counts = value_appended(counts, count_of(&ledger->counts[i]));
	return counts;
}

static json_t *reason_of(const struct ledger_reason *reason)
{
	return json_pack("{ss sI}", "name", reason->name, "amount", (json_int_t)reason->amount);
}

static json_t *reasons_of(const struct ledger_difference *difference)
{
	json_t *reasons = json_array();
	size_t i;

	for (i = 0; i < difference->nr_reasons; i++)
		reasons = value_appended(reasons, reason_of(&difference->reasons[i]));
	return reasons;
}

static json_t *amount_if(bool known, int64_t amount)
{
	return known ? json_integer(amount) : json_null();
}

static json_t *difference_of(const struct ledger_difference *difference)
{
	return json_pack("{ss ss so so so}",
		"left", difference->left,
		"right", difference->right,
		"amount", amount_if(difference->known, difference->amount),
		"reasons", reasons_of(difference),
		"unexplained", amount_if(difference->known, difference->unexplained));
}

json_t *json_ledger(const struct ledger *ledger)
{
	json_t *differences = json_array();
	size_t i;

	for (i = 0; i < ledger->nr_differences; i++)
		differences = value_appended(differences, difference_of(&ledger->differences[i]));
	return json_pack("{so so so}",
		"counts", counts_of(ledger),
		"differences", differences,
		"unexplained", value_count(ledger->unexplained));
}

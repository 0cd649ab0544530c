// SPDX-License-Identifier: GPL-2.0-only
/*
 * What recordings have in common: the parts and classes that all of them know, and how their heads
 * differ. Pure: no I/O.
 */
#include <math.h>
#include <string.h>

#include "compare/compare.h"
#include "model/counters.h"
#include "model/fault_class.h"
#include "model/part.h"
#include "util/array.h"
#include "util/json_value.h"

/*
 * A recording's hooks, which are in the counters, decide which parts and classes it has.
 * cmd_compare.c asks for each recording.
 */

static bool comparable_has_hook(struct comparable seen, enum bpf_hook hook)
{
	return seen.hooks & 1U << hook;
}

bool comparable_is_whole(struct comparable seen)
{
	return comparable_has_hook(seen, HOOK_FAULT) &&
	       (seen.has_spans || comparable_has_hook(seen, HOOK_PERF));
}

static bool comparable_part(struct comparable seen, enum part part)
{
	const uint32_t hooks = part_rows[part].hooks |
			       (part_has(part, PART_TAKES_REQUESTS) ? 1U << HOOK_BLOCK : 0);

	if (part_has(part, PART_OUTSIDE_CALLS) &&
	    (!seen.has_spans || comparable_has_hook(seen, HOOK_PERF)))
		return false;
	return !(hooks & ~seen.hooks);
}

unsigned int comparable_parts(struct comparable seen)
{
	unsigned int parts = 0;
	enum part part;

	for (part = 0; part < NR_PARTS && seen.have_bpf; part++)
		if (comparable_part(seen, part))
			parts |= 1U << part;
	return parts;
}

unsigned int comparable_classes(struct comparable seen)
{
	const unsigned int every_class = (1U << NR_FAULT_CLASSES) - 1;
	unsigned int classes = every_class & ~(1U << FAULT_OTHER);
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++)
		if (fault_classes[class].hooks & ~seen.hooks)
			classes &= ~(1U << class);
	/* Faults with an unknown class are counted among the others. */
	if (classes == (every_class & ~(1U << FAULT_OTHER)))
		classes = every_class;
	return classes;
}

static double lost_share_of(uint64_t lost, uint64_t seen)
{
	return lost ? (double)lost / ((double)lost + seen) : 0;
}

double comparable_lost_share(const struct compare_side *side)
{
	const struct compare_run *run;
	double lost = 0;

	for (run = side->runs; run < side->runs + side->nr; run++) {
		if (run->damage || run->lost_records == COUNT_NA || run->lost_events == COUNT_NA)
			return INFINITY;
		lost = fmax(lost, lost_share_of(run->lost_records, run->records));
		lost = fmax(lost, lost_share_of(run->lost_events, run->events));
	}
	return lost;
}

/*
 * Compares the heads in two sets of recordings key by key. The input is both sides' JSON. The
 * result goes to the comparison printers. Keys that differ even between equal runs are left out.
 * Pure: no I/O.
 */

struct heads {
	const json_t *const *heads;
	size_t nr;
};

static bool is_left_out(const char *key)
{
	static const char *const keys[] = { "started", "pid", "invocation", "environment" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/* Looks the key up in the head, then in the head's environment. */
static const json_t *value_in(const json_t *head, const char *key)
{
	const json_t *value = json_object_get(head, key);

	return value ?: json_object_get(json_object_get(head, "environment"), key);
}

static bool is_same(const json_t *a, const json_t *b)
{
	if (!a || !b)
		return (!a || json_is_null(a)) && (!b || json_is_null(b));
	return json_equal(a, b);
}

static bool all_same(const struct heads *heads, const json_t *value, const char *key)
{
	size_t i;

	for (i = 0; i < heads->nr; i++)
		if (!is_same(value_in(heads->heads[i], key), value))
			return false;
	return true;
}

static json_t *text_of(const json_t *value)
{
	char *dump;
	json_t *text;

	if (!value || json_is_null(value))
		return json_string("n/a");
	if (json_is_string(value))
		return json_string(json_string_value(value));
	dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	text = dump ? json_string(dump) : NULL;
	free(dump);
	return text;
}

static bool occurs_before(const struct heads *heads, size_t at, const char *key)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (is_same(value_in(heads->heads[i], key), value_in(heads->heads[at], key)))
			return true;
	return false;
}

static json_t *distinct_of(const struct heads *heads, const char *key)
{
	json_t *values = json_array();
	size_t i;

	for (i = 0; i < heads->nr; i++)
		if (!occurs_before(heads, i, key))
			values = value_appended(values, text_of(value_in(heads->heads[i], key)));
	return values;
}

static bool is_listed(const json_t *differences, const char *key)
{
	const json_t *difference;
	size_t i;

	json_array_foreach(differences, i, difference)
		if (!strcmp(json_string_value(json_object_get(difference, "key")), key))
			return true;
	return false;
}

static json_t *add_keys(json_t *differences, const json_t *object, const struct heads *a,
			const struct heads *b)
{
	const json_t *value;
	const char *key;

	json_object_foreach((json_t *)object, key, value) {
		if (is_left_out(key) || is_listed(differences, key) ||
		    (all_same(a, value, key) && all_same(b, value, key)))
			continue;
		differences = value_appended(differences, json_pack("{ss so so}", "key", key, "a",
								    distinct_of(a, key), "b",
								    distinct_of(b, key)));
	}
	return differences;
}

/* Visits every head's keys, to include a key that only an older pfdrive wrote. */
static json_t *add_heads(json_t *differences, const struct heads *from, const struct heads *a,
			 const struct heads *b)
{
	size_t i;

	for (i = 0; i < from->nr && differences; i++) {
		differences =
			add_keys(differences, json_object_get(from->heads[i], "environment"), a, b);
		differences = add_keys(differences, from->heads[i], a, b);
	}
	return differences;
}

json_t *compare_heads(const json_t *const *a, size_t nr_a, const json_t *const *b, size_t nr_b)
{
	const struct heads of_a = { a, nr_a }, of_b = { b, nr_b };
	json_t *differences = add_heads(json_array(), &of_a, &of_a, &of_b);

	return add_heads(differences, &of_b, &of_a, &of_b);
}

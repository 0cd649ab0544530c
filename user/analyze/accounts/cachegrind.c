// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses a cachegrind output file line by line, subtracts one run from another and sorts the
 * functions. pfdrive feeds the lines, and the printers read the result. The file is not trusted:
 * any unknown line, and a sum that differs from the summary, is -EPROTO.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/accounts/cachegrind.h"
#include "util/array.h"

void cachegrind_exit(struct cachegrind *cachegrind)
{
	size_t i;

	for (i = 0; i < cachegrind->nr; i++)
		free(cachegrind->functions[i].name);
	free(cachegrind->functions);
	*cachegrind = (struct cachegrind){ 0 };
}

/* Sets current. A name occurs again if code from another file is inlined. */
static int find_function(struct cachegrind *cachegrind, const char *name, size_t length)
{
	struct cachegrind_function *grown;
	size_t i;

	for (i = 0; i < cachegrind->nr; i++)
		if (strlen(cachegrind->functions[i].name) == length &&
		    !memcmp(cachegrind->functions[i].name, name, length))
			break;
	cachegrind->current = i;
	if (i < cachegrind->nr)
		return 0;
	if (array_reserve((void **)&cachegrind->functions, cachegrind->nr, &cachegrind->room,
			  sizeof(*cachegrind->functions)))
		return -ENOMEM;
	grown = &cachegrind->functions[i];
	*grown = (struct cachegrind_function){ .name = strndup(name, length) };
	if (!grown->name)
		return -ENOMEM;
	cachegrind->nr++;
	return 0;
}

static int read_columns(struct cachegrind *cachegrind, const char *text)
{
	static const char *const names[] = CACHEGRIND_EVENT_NAMES;
	size_t length, i;

	cachegrind->nr_columns = 0;
	for (text += strspn(text, " \n"); *text; text += length, text += strspn(text, " \n")) {
		length = strcspn(text, " \n");
		for (i = 0; i < CACHEGRIND_NR_EVENTS; i++)
			if (strlen(names[i]) == length && !memcmp(names[i], text, length))
				break;
		if (i == CACHEGRIND_NR_EVENTS || cachegrind->nr_columns == CACHEGRIND_NR_EVENTS)
			return -EPROTO;
		cachegrind->columns[cachegrind->nr_columns++] = i;
	}
	/* Without --cache-sim there is only Ir. */
	return cachegrind->nr_columns == CACHEGRIND_NR_EVENTS ? 0 : -EPROTO;
}

/* Trailing zeros may be missing from a line. */
static int add_figures(const struct cachegrind *cachegrind, const char *text, int64_t *events)
{
	char *end;
	uint64_t value;
	size_t i;

	for (i = 0; i < cachegrind->nr_columns; i++) {
		text += strspn(text, " ");
		if (!*text || *text == '\n')
			return i ? 0 : -EPROTO;
		if (*text < '0' || *text > '9')
			return -EPROTO;
		errno = 0;
		value = strtoull(text, &end, 10);
		if (errno || value > INT64_MAX)
			return -EPROTO;
		events[cachegrind->columns[i]] += value;
		text = end;
	}
	return text[strspn(text, " \n")] ? -EPROTO : 0;
}

static int add_source_line(struct cachegrind *cachegrind, const char *line)
{
	const size_t digits = strspn(line, "0123456789");

	if (!digits || cachegrind->current >= cachegrind->nr)
		return -EPROTO;
	return add_figures(cachegrind, line + digits,
			   cachegrind->functions[cachegrind->current].events);
}

static const char *after(const char *line, const char *word)
{
	const size_t length = strlen(word);

	return strncmp(line, word, length) ? NULL : line + length;
}

int cachegrind_add_line(struct cachegrind *cachegrind, const char *line)
{
	const char *rest;

	if (line[0] == '\n' || !line[0] || after(line, "desc:") || after(line, "cmd:") ||
	    after(line, "fl="))
		return 0;
	rest = after(line, "events:");
	if (rest)
		return read_columns(cachegrind, rest);
	rest = after(line, "fn=");
	if (rest)
		return find_function(cachegrind, rest, strcspn(rest, "\n"));
	rest = after(line, "summary:");
	if (!rest)
		return add_source_line(cachegrind, line);
	if (cachegrind->have_summary)
		return -EPROTO;
	cachegrind->have_summary = true;
	return add_figures(cachegrind, rest, cachegrind->summary);
}

int cachegrind_check(const struct cachegrind *cachegrind)
{
	int64_t sum[CACHEGRIND_NR_EVENTS] = { 0 };
	size_t i, event;

	if (!cachegrind->have_summary)
		return -EPROTO;
	for (i = 0; i < cachegrind->nr; i++)
		for (event = 0; event < CACHEGRIND_NR_EVENTS; event++)
			sum[event] += cachegrind->functions[i].events[event];
	return memcmp(sum, cachegrind->summary, sizeof(sum)) ? -EPROTO : 0;
}

int cachegrind_subtract(struct cachegrind *whole, const struct cachegrind *part)
{
	const struct cachegrind_function *function;
	size_t i, event;
	int err;

	for (i = 0; i < part->nr; i++) {
		function = &part->functions[i];
		err = find_function(whole, function->name, strlen(function->name));
		if (err)
			return err;
		for (event = 0; event < CACHEGRIND_NR_EVENTS; event++)
			whole->functions[whole->current].events[event] -= function->events[event];
	}
	for (event = 0; event < CACHEGRIND_NR_EVENTS; event++)
		whole->summary[event] -= part->summary[event];
	return 0;
}

int64_t cachegrind_data_refs(const int64_t *events)
{
	return events[CACHEGRIND_DR] + events[CACHEGRIND_DW];
}

int64_t cachegrind_d1_misses(const int64_t *events)
{
	return events[CACHEGRIND_D1MR] + events[CACHEGRIND_D1MW];
}

int64_t cachegrind_ll_misses(const int64_t *events)
{
	return events[CACHEGRIND_DLMR] + events[CACHEGRIND_DLMW];
}

static int most_first(const void *a, const void *b)
{
	const struct cachegrind_function *left = a, *right = b;
	const int64_t left_refs = llabs(cachegrind_data_refs(left->events));
	const int64_t right_refs = llabs(cachegrind_data_refs(right->events));

	if (left_refs != right_refs)
		return left_refs < right_refs ? 1 : -1;
	return strcmp(left->name, right->name);
}

static bool is_empty(const struct cachegrind_function *function)
{
	size_t event;

	for (event = 0; event < CACHEGRIND_NR_EVENTS; event++)
		if (function->events[event])
			return false;
	return true;
}

void cachegrind_order(struct cachegrind *cachegrind)
{
	size_t i, kept = 0;

	for (i = 0; i < cachegrind->nr; i++) {
		if (is_empty(&cachegrind->functions[i]))
			free(cachegrind->functions[i].name);
		else
			cachegrind->functions[kept++] = cachegrind->functions[i];
	}
	cachegrind->nr = kept;
	if (kept)
		qsort(cachegrind->functions, kept, sizeof(*cachegrind->functions), most_first);
}

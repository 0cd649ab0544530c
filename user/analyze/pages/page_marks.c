// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs of pages with equal marks. evictions.c stores each page's evictor in them. A change joins
 * the pages with neighbours that have the same mark, so runs are as few as possible.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pages/page_marks.h"

void page_marks_exit(struct page_marks *marks)
{
	free(marks->runs);
	*marks = (struct page_marks){ 0 };
}

/* Returns the index of the run with the page. */
static uint32_t page_marks_find(const struct page_marks *marks, uint32_t page)
{
	uint32_t low = 0, high = marks->nr, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (marks->runs[middle].from <= page)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint32_t page_marks_run(const struct page_marks *marks, uint32_t at, uint32_t nr, uint16_t *mark)
{
	uint32_t run, length;

	*mark = 0;
	if (!marks->nr)
		return nr;
	run = page_marks_find(marks, at);
	*mark = marks->runs[run].mark;
	if (run + 1 == marks->nr)
		return nr;
	length = marks->runs[run + 1].from - at;
	return length < nr ? length : nr;
}

/* Makes room for two more runs, and for the first one. */
static int page_marks_make_room(struct page_marks *marks)
{
	uint32_t capacity = marks->capacity ?: 2;
	struct page_run *runs;

	while (capacity < (marks->nr ?: 1) + 2)
		capacity *= 2;
	if (capacity > marks->capacity) {
		runs = reallocarray(marks->runs, capacity, sizeof(*runs));
		if (!runs)
			return -ENOMEM;
		marks->runs = runs;
		marks->capacity = capacity;
	}
	if (!marks->nr)
		marks->runs[marks->nr++] = (struct page_run){ 0 };
	return 0;
}

int page_marks_set(struct page_marks *marks, uint32_t at, uint32_t nr, uint32_t all, uint16_t mark)
{
	const uint32_t end = at + nr;
	struct page_run made[2];
	uint32_t first, rest, nr_made = 0;
	uint16_t after = mark;

	if (!nr || (!marks->nr && !mark))
		return 0;
	if (page_marks_make_room(marks))
		return -ENOMEM;
	/* Runs before `first` stay, as do those from `rest` on. */
	first = page_marks_find(marks, at);
	rest = marks->nr;
	if (end < all) {
		rest = page_marks_find(marks, end);
		after = marks->runs[rest].mark;
		rest++;
	}
	if (marks->runs[first].from < at)
		first++;
	if (!first || marks->runs[first - 1].mark != mark)
		made[nr_made++] = (struct page_run){ at, mark };
	if (after != mark)
		made[nr_made++] = (struct page_run){ end, after };
	memmove(&marks->runs[first + nr_made], &marks->runs[rest],
		(marks->nr - rest) * sizeof(*marks->runs));
	memcpy(&marks->runs[first], made, nr_made * sizeof(*made));
	marks->nr = first + nr_made + marks->nr - rest;
	return 0;
}

void page_marks_change(struct page_marks *marks,
		       uint16_t (*change)(const void *context, uint16_t mark), const void *context)
{
	uint32_t i, nr = 0;
	uint16_t mark;

	for (i = 0; i < marks->nr; i++) {
		mark = change(context, marks->runs[i].mark);
		if (!nr || marks->runs[nr - 1].mark != mark)
			marks->runs[nr++] = (struct page_run){ marks->runs[i].from, mark };
	}
	marks->nr = nr;
}

size_t page_marks_bytes(const struct page_marks *marks)
{
	return marks->capacity * sizeof(*marks->runs);
}

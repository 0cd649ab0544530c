/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A mark for each page in a chunk, stored as runs of pages with equal marks: a chunk whose pages
 * were all evicted at once takes one run. All zero is a chunk without marks.
 */
#ifndef PFSTAT_USER_PAGE_MARKS_H
#define PFSTAT_USER_PAGE_MARKS_H

#include <stddef.h>
#include <stdint.h>

/* The pages from `from` up to the next run have the mark. */
struct page_run {
	uint16_t from, mark;
};

struct page_marks {
	struct page_run *runs; /* ordered, with different marks on neighbours */
	uint32_t nr, capacity; /* 0: all marks are 0, else the first run starts at page 0 */
};

void page_marks_exit(struct page_marks *marks);
/* Returns how many pages, from page `at` on, have the same mark, at most nr. Sets *mark. */
uint32_t page_marks_run(const struct page_marks *marks, uint32_t at, uint32_t nr, uint16_t *mark);
/* Sets the marks on nr pages. all = pages per chunk, at most 65536. Returns 0 or -ENOMEM. */
int page_marks_set(struct page_marks *marks, uint32_t at, uint32_t nr, uint32_t all, uint16_t mark);
/* Replaces each mark by change(). */
void page_marks_change(struct page_marks *marks,
		       uint16_t (*change)(const void *context, uint16_t mark), const void *context);
/* Bytes taken by the runs. */
size_t page_marks_bytes(const struct page_marks *marks);

#endif

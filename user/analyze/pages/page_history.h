/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages that faults in each process have mapped. A child inherits the parent's pages. Pure, in
 * bounded memory: three bits per page, and 512 pages take some 230 bytes.
 */
#ifndef PFSTAT_USER_PAGE_HISTORY_H
#define PFSTAT_USER_PAGE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

struct page_history;

/* NULL: no memory. @page_bytes: the machine's page size */
struct page_history *page_history_new(uint64_t page_bytes);
void page_history_free(struct page_history *history);

struct page_past {
	bool before;  /* it was there */
	bool often;   /* it was there, and had been added twice or more */
	bool removed; /* it was not there, but anonymous memory had been, before a removal */
};

/* Adds the page of an address. @anon: it is anonymous memory. 0 or -ENOMEM. */
int page_history_add(struct page_history *history, uint32_t pid, uint64_t address, bool anon,
		     struct page_past *past);
/* Removes the pages from start to end: other memory is mapped there now. 0 or -ENOMEM. */
int page_history_remove(struct page_history *history, uint32_t pid, uint64_t start, uint64_t end);
/* The child has the parent's pages from now on. 0 or -ENOMEM. */
int page_history_fork(struct page_history *history, uint32_t parent, uint32_t child);
/* The process has ended, or executes another program. */
void page_history_end(struct page_history *history, uint32_t pid);
/* Pages not added because of the memory limit. */
uint64_t page_history_dropped(const struct page_history *history);

#endif

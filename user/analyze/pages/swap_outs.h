/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Anonymous pages that reclaim swapped out, and the faults that read them again: they take part in
 * the curve of more memory next to the pages of files. A page is known by its process and address.
 */
#ifndef PFSTAT_USER_SWAP_OUTS_H
#define PFSTAT_USER_SWAP_OUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/fault/explain.h"
#include "analyze/pages/memory_curve.h"

struct swap_outs_figures {
	uint64_t pages;	    /* that reclaim swapped out */
	uint64_t by_others; /* of these, by processes without faults on reclaimed pages */
	uint64_t faults;    /* swap-ins of the curve; an estimate if it has a sample */
	uint64_t unknown;   /* swap-ins of pages that were not seen to leave */
};

struct swap_outs;

/* The pages are added to @curve, which must live longer. NULL: no memory */
struct swap_outs *swap_outs_new(struct memory_curve *curve, uint64_t page_bytes);
void swap_outs_free(struct swap_outs *swaps);

/* @page: with PFSTAT_PAGE_ANON. Returns 0 or -ENOMEM. */
int swap_outs_add(struct swap_outs *swaps, const struct pfstat_page *page);
/* A handle_mm_fault() returned; only those of kind swap count. In time order with the pages. */
void swap_outs_add_return(struct swap_outs *swaps, const struct pfstat_fault *fault);
/* @fault: of class swap, after its return */
void swap_outs_add_fault(struct swap_outs *swaps, const struct explained *fault);
/* The process ends, or executes another program: its pages do not return. */
void swap_outs_add_task(struct swap_outs *swaps, const struct pfstat_task *task);

/* True if pages of the process were swapped out. */
bool swap_outs_has(const struct swap_outs *swaps, uint32_t pid);
/* @is_victim: true if a process faulted on reclaimed pages of files */
void swap_outs_figures(const struct swap_outs *swaps,
		       bool (*is_victim)(const void *context, uint32_t pid), const void *context,
		       struct swap_outs_figures *figures);

#endif

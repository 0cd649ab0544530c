// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives the swapped-out pages and the swap-ins of processes to the curve, and counts the pages by
 * evictor. Items come from evictions.c. Memory is bounded: evictors beyond a limit count as others.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/pages/evictions.h"
#include "analyze/pages/memory_curve.h"
#include "util/hash.h"

#define EVICTORS_MAX 1024
/* The largest anonymous folio. More pages, in a damaged recording, would take minutes. */
#define FOLIO_MAX 2048U
/* Of memory_curve_page.dev: no device, whose numbers have 32 bits. */
#define DEV_ANON UINT64_MAX

struct swap_evictor {
	uint32_t pid;
	uint64_t pages;
};

struct swap_outs {
	struct memory_curve *curve;
	uint64_t page_bytes;
	struct hash evictors; /* struct swap_evictor by pid */
	struct swap_outs_figures figures;
};

struct swap_outs *swap_outs_new(struct memory_curve *curve, uint64_t page_bytes)
{
	struct swap_outs *swaps = calloc(1, sizeof(*swaps));

	if (!swaps)
		return NULL;
	swaps->curve = curve;
	swaps->page_bytes = page_bytes;
	return swaps;
}

void swap_outs_free(struct swap_outs *swaps)
{
	if (!swaps)
		return;
	hash_exit(&swaps->evictors, free);
	free(swaps);
}

static int add_evictor(struct swap_outs *swaps, uint32_t pid, uint64_t pages)
{
	struct swap_evictor *evictor = hash_find(&swaps->evictors, pid);
	int err;

	if (!evictor && swaps->evictors.count == EVICTORS_MAX) {
		swaps->figures.by_others += pages;
		return 0;
	}
	if (!evictor) {
		evictor = calloc(1, sizeof(*evictor));
		err = evictor ? hash_add(&swaps->evictors, pid, evictor) : -ENOMEM;
		if (err) {
			free(evictor);
			return err;
		}
		evictor->pid = pid;
	}
	evictor->pages += pages;
	return 0;
}

int swap_outs_add(struct swap_outs *swaps, const struct pfstat_page *page)
{
	const struct memory_curve_page first = { DEV_ANON, page->inode, page->pgoff };
	int err;

	if (!(page->event.flags & PFSTAT_PAGE_RECLAIMED) || page->pages > FOLIO_MAX)
		return 0;
	swaps->figures.pages += page->pages;
	err = memory_curve_evict_range(swaps->curve, &first, page->pages);
	return err ? err : add_evictor(swaps, page->event.pid, page->pages);
}

static struct memory_curve_page page_at(const struct swap_outs *swaps, uint32_t pid,
					uint64_t address)
{
	return (struct memory_curve_page){ DEV_ANON, pid, address / swaps->page_bytes };
}

void swap_outs_add_return(struct swap_outs *swaps, const struct pfstat_fault *fault)
{
	const struct memory_curve_page page = page_at(swaps, fault->event.pid, fault->address);

	if (PFSTAT_FAULT_KIND(fault->event.flags) == PFSTAT_FAULT_SWAP &&
	    fault->outcome != PFSTAT_OUTCOME_ERROR)
		memory_curve_return(swaps->curve, &page);
}

/* A minor fault found its page in the swap cache, so nothing was read. */
void swap_outs_add_fault(struct swap_outs *swaps, const struct explained *fault)
{
	const struct memory_curve_page page = page_at(swaps, fault->pid, fault->address);
	int64_t faults;

	if (!fault->major)
		return;
	faults = memory_curve_fault(swaps->curve, &page, fault->end_ns - fault->start_ns);
	if (faults < 0)
		swaps->figures.unknown++;
	else
		swaps->figures.faults += faults;
}

void swap_outs_end(struct swap_outs *swaps, uint32_t pid)
{
	memory_curve_end_file(swaps->curve, DEV_ANON, pid);
}

bool swap_outs_has(const struct swap_outs *swaps, uint32_t pid)
{
	return memory_curve_has_file(swaps->curve, DEV_ANON, pid);
}

struct others {
	const struct swap_outs *swaps;
	bool (*is_victim)(const void *context, uint32_t pid);
	const void *context;
	uint64_t pages;
};

static int add_other(void *context, void *value)
{
	const struct swap_evictor *evictor = value;
	struct others *others = context;

	if (!swap_outs_has(others->swaps, evictor->pid) &&
	    !others->is_victim(others->context, evictor->pid))
		others->pages += evictor->pages;
	return 0;
}

void swap_outs_figures(const struct swap_outs *swaps,
		       bool (*is_victim)(const void *context, uint32_t pid), const void *context,
		       struct swap_outs_figures *figures)
{
	struct others others = { swaps, is_victim, context, 0 };

	*figures = swaps->figures;
	hash_visit(&swaps->evictors, add_other, &others);
	figures->by_others += others.pages;
}

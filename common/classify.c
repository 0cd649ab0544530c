// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides the class of one file operation call, from facts gathered by the caller.
 *
 * The filemap_fault() results for each page state (mm/filemap.c, 6.1 to 7.3):
 *
 *	page absent, first try		started the read	MAJOR | RETRY
 *	page absent, may not retry	started, waited		MAJOR | LOCKED
 *	readahead mark			submitted more		RETRY
 *	page in flight			slept			RETRY (LOCKED when TRIED)
 *	present, its read had failed	read it, waited		RETRY (LOCKED when TRIED)
 *	page up to date			-			LOCKED
 *	up to date, locked		slept			RETRY (LOCKED when TRIED)
 *	up to date, PG_reclaim		-			RETRY
 *	another page mapped meanwhile	-			NOPAGE
 *
 * PG_reclaim, on a page under writeback, shares a bit with the mark: the kernel drops the mmap lock
 * to read ahead, and only then finds that it must not.
 *
 * A page can be in flight and carry the mark: then the handler submits first,
 * and sleeps only if the read has not ended by then.
 */
#include "common/classify.h"

static int in_flight(const struct pfstat_facts *facts)
{
	return facts->before == PFSTAT_BEFORE_IN_FLIGHT ||
	       facts->before == PFSTAT_BEFORE_IN_FLIGHT_MARKED;
}

static enum pfstat_class classify_retry(const struct pfstat_facts *facts)
{
	/* It may have read a page, but without evidence it is not called a disk fault. */
	if (facts->before == PFSTAT_BEFORE_UNKNOWN)
		return facts->slept ? PFSTAT_CLASS_WAIT : PFSTAT_CLASS_PASS;
	if (facts->before == PFSTAT_BEFORE_MARKED)
		return PFSTAT_CLASS_READAHEAD;
	if (facts->before == PFSTAT_BEFORE_IN_FLIGHT_MARKED && !facts->slept)
		return PFSTAT_CLASS_READAHEAD;
	if (facts->before == PFSTAT_BEFORE_ABSENT || in_flight(facts))
		return PFSTAT_CLASS_WAIT;
	if (facts->before == PFSTAT_BEFORE_RECLAIM && !facts->slept)
		return PFSTAT_CLASS_PASS;
	return PFSTAT_CLASS_LOCK;
}

/* The page cache was consulted, and the call ended the fault without a page of it. */
static int is_raced(const struct pfstat_facts *facts)
{
	return facts->before != PFSTAT_BEFORE_UNKNOWN && facts->result & PFSTAT_RESULT_NOPAGE;
}

static enum pfstat_class classify_map_pages(const struct pfstat_facts *facts)
{
	if (!(facts->result & PFSTAT_RESULT_NOPAGE))
		return PFSTAT_CLASS_PASS;
	if (facts->cause != PFSTAT_NR_CLASSES)
		return PFSTAT_CLASS_SHORT;
	return PFSTAT_CLASS_AROUND;
}

static enum pfstat_class classify_fault(const struct pfstat_facts *facts)
{
	if (facts->result & PFSTAT_RESULT_FALLBACK)
		return PFSTAT_CLASS_PASS;
	/* The kernel does not count the second read of a page whose first one failed as major. */
	if (facts->result & PFSTAT_RESULT_MAJOR || facts->before == PFSTAT_BEFORE_STALE)
		return PFSTAT_CLASS_DISK;
	if (facts->result & PFSTAT_RESULT_RETRY)
		return classify_retry(facts);
	/* Without a page in flight a sleep may have been for a lock or for memory. */
	if (in_flight(facts) && facts->slept)
		return PFSTAT_CLASS_WAIT;
	if (is_raced(facts))
		return PFSTAT_CLASS_RACED;
	if (facts->cause != PFSTAT_NR_CLASSES)
		return PFSTAT_CLASS_SHORT;
	return PFSTAT_CLASS_LONG;
}

enum pfstat_class pfstat_classify(const struct pfstat_facts *facts)
{
	if (facts->result & PFSTAT_RESULT_ERROR)
		return PFSTAT_CLASS_ERROR;

	switch (facts->op) {
	case PFSTAT_OP_PAGE_MKWRITE:
	case PFSTAT_OP_PFN_MKWRITE:
		return PFSTAT_CLASS_MKWRITE;
	case PFSTAT_OP_MAP_PAGES:
		return classify_map_pages(facts);
	default:
		return classify_fault(facts);
	}
}

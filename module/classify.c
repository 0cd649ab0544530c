// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decision what a wrapper call was, from facts that the caller gathered.
 *
 * What filemap_fault() returns, and what it did (mm/filemap.c, 6.1 to 7.2):
 *
 *	page absent, first try		started the read	MAJOR | RETRY
 *	page absent, may not retry	started, waited		MAJOR | LOCKED
 *	readahead mark			submitted more		RETRY
 *	page in flight			slept			RETRY (LOCKED when TRIED)
 *	page up to date			-			LOCKED
 *
 * A page can be in flight and carry the mark: then the handler submits first,
 * and sleeps only if the read has not ended by then.
 */
#include "classify.h"

static int in_flight(const struct pfstat_facts *facts)
{
	return facts->before == PFSTAT_BEFORE_IN_FLIGHT ||
	       facts->before == PFSTAT_BEFORE_IN_FLIGHT_MARKED;
}

static enum pfstat_class classify_retry(const struct pfstat_facts *facts)
{
	if (facts->before == PFSTAT_BEFORE_MARKED)
		return PFSTAT_CLASS_READAHEAD;
	if (facts->before == PFSTAT_BEFORE_IN_FLIGHT_MARKED && !facts->slept)
		return PFSTAT_CLASS_READAHEAD;
	return PFSTAT_CLASS_WAIT;
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
	if (facts->result & PFSTAT_RESULT_MAJOR)
		return PFSTAT_CLASS_DISK;
	if (facts->result & PFSTAT_RESULT_RETRY)
		return classify_retry(facts);
	/* A sleep alone may have been for a lock or for memory. */
	if (in_flight(facts) && facts->slept)
		return PFSTAT_CLASS_WAIT;
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

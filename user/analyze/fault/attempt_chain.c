// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/fault/attempt_chain.h"

#define PAGE_SHIFT 12

/* map_pages is told the page's address, ->fault the byte's. */
static uint64_t page_of(const struct pfstat_record *record)
{
	return record->address >> PAGE_SHIFT;
}

/*
 * A retry is recognised by the module, which sees the task. After a pass there
 * is no doubt: the same call of the fault handler goes on.
 */
static bool continues(const struct chain *chain, const struct pfstat_record *record)
{
	return chain->open && chain->page == page_of(record) &&
	       (record->earlier_ns || chain->passed);
}

/*
 * do_shared_fault() calls page_mkwrite right after ->fault. Any other
 * page_mkwrite is do_wp_page()'s: the page was mapped read-only before, and
 * that is a fault of its own.
 */
static bool belongs_to_last(const struct chain *chain, const struct pfstat_record *record)
{
	return record->op == PFSTAT_OP_PAGE_MKWRITE && chain->shared_write &&
	       chain->page == page_of(record);
}

static bool is_shared_write(const struct pfstat_record *record)
{
	return record->op == PFSTAT_OP_FAULT && (record->flags & PFSTAT_FLAG_WRITE) &&
	       (record->facts & PFSTAT_FACT_SHARED);
}

static void complete(struct chain *chain, const struct pfstat_record *record,
		     struct chain_counts *counts)
{
	chain->major = (record->result & PFSTAT_RESULT_MAJOR) ||
		       (record->flags & PFSTAT_FLAG_TRIED);
	chain->shared_write = is_shared_write(record);
	counts->faults++;
	counts->major += chain->major;
}

/*
 * do_shared_fault() returns page_mkwrite's result alone when that did not make
 * the page writable; the fault that seemed solved is then judged by it.
 */
static void take_back(struct chain *chain, struct chain_counts *counts)
{
	counts->faults--;
	counts->major -= chain->major;
}

enum chain_role chain_add(struct chain *chain, const struct pfstat_record *record,
			  struct chain_counts *counts)
{
	const bool retry = record->result & PFSTAT_RESULT_RETRY;
	const bool error = record->result & PFSTAT_RESULT_ERROR;
	const bool pass = record->class == PFSTAT_CLASS_PASS;
	enum chain_role role = CHAIN_FIRST;

	if (belongs_to_last(chain, record)) {
		role = CHAIN_SEQUEL;
		counts->sequels++;
		chain->shared_write = false;
		if (!retry && !error && !(record->result & PFSTAT_RESULT_NOPAGE))
			return role;
		take_back(chain, counts);
	}
	if (continues(chain, record)) {
		role = CHAIN_NEXT;
		counts->unfinished--;
	}

	chain->page = page_of(record);
	chain->shared_write = false;
	chain->passed = pass && !retry;
	chain->open = retry || pass;
	if (chain->open)
		counts->unfinished++;
	else if (!error)
		complete(chain, record, counts);
	return role;
}

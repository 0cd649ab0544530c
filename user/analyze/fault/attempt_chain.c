// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides from a record and the same thread's previous record whether both are attempts for one
 * fault. explain.c has a chain per thread.
 */
#include "analyze/fault/attempt_chain.h"

/* ->map_pages is called with the page address, ->fault with the byte address. */
static uint64_t attempt_chain_page(const struct pfstat_record *record, uint64_t page_bytes)
{
	return record->address / page_bytes;
}

/*
 * The module recognises a retry, because it sees the task. An attempt after a pass on the same
 * page always belongs to the same call of the fault handler.
 */
static bool is_next_attempt(const struct attempt_chain *chain, const struct pfstat_record *record,
			    uint64_t page)
{
	return chain->open && chain->page == page && (record->earlier_ns || chain->passed);
}

/*
 * do_shared_fault() calls page_mkwrite right after ->fault, in the same handle_mm_fault(). Any
 * other page_mkwrite call comes from do_wp_page(): the page was mapped read-only before, and this
 * is a separate fault.
 */
static bool is_sequel(const struct attempt_chain *chain, const struct pfstat_record *record,
		      uint64_t page)
{
	return record->op == PFSTAT_OP_PAGE_MKWRITE && chain->shared_write && chain->page == page;
}

/* The record for the last call in a handle_mm_fault() has fault_ns. */
static bool is_shared_write(const struct pfstat_record *record)
{
	return record->op == PFSTAT_OP_FAULT && (record->flags & PFSTAT_FLAG_WRITE) &&
	       (record->facts & PFSTAT_FACT_SHARED) && !record->fault_ns;
}

static void attempt_chain_complete(struct attempt_chain *chain, const struct pfstat_record *record,
				   struct attempt_chain_counts *counts)
{
	chain->major = (record->result & PFSTAT_RESULT_MAJOR) ||
		       (record->flags & PFSTAT_FLAG_TRIED);
	chain->shared_write = is_shared_write(record);
	counts->faults++;
	counts->major += chain->major;
}

/*
 * If page_mkwrite did not make the page writable, do_shared_fault() returns only page_mkwrite's
 * result. The kernel then judges the fault by this result, so the fault that seemed solved is taken
 * back.
 */
static void attempt_chain_revoke(struct attempt_chain *chain, struct attempt_chain_counts *counts)
{
	counts->faults--;
	counts->major -= chain->major;
}

enum attempt_role attempt_chain_add(struct attempt_chain *chain, const struct pfstat_record *record,
				    uint64_t page_bytes, struct attempt_chain_counts *counts)
{
	const uint64_t page = attempt_chain_page(record, page_bytes);
	const bool retry = record->result & PFSTAT_RESULT_RETRY;
	const bool error = record->result & PFSTAT_RESULT_ERROR;
	const bool pass = record->class == PFSTAT_CLASS_PASS;
	enum attempt_role role = CHAIN_FIRST;

	if (is_sequel(chain, record, page)) {
		role = CHAIN_SEQUEL;
		counts->sequels++;
		chain->shared_write = false;
		if (!retry && !error && !(record->result & PFSTAT_RESULT_NOPAGE))
			return role;
		attempt_chain_revoke(chain, counts);
	}
	if (is_next_attempt(chain, record, page)) {
		role = CHAIN_NEXT;
		counts->unfinished--;
	}

	chain->page = page;
	chain->shared_write = false;
	chain->passed = pass && !retry;
	chain->open = retry || pass;
	if (chain->open)
		counts->unfinished++;
	else if (!error)
		attempt_chain_complete(chain, record, counts);
	return role;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Joins attempts to logical faults, one thread at a time.
 *
 * The attempts for one fault make a chain:
 *
 *	map_pages -> PASS	the kernel goes on to ->fault
 *	fault -> RETRY		the lock was dropped, the kernel calls again
 *	fault -> solved		one logical fault
 *	page_mkwrite		part of that fault if it was the first write to
 *				a page of a shared mapping
 *
 * The counts follow the kernel, mm_account_fault() in mm/memory.c. A call that returns RETRY or an
 * error is not counted. Any other is one fault, major if the last result has VM_FAULT_MAJOR or the
 * last flags have FAULT_FLAG_TRIED.
 */
#ifndef PFSTAT_USER_ATTEMPT_CHAIN_H
#define PFSTAT_USER_ATTEMPT_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/record.h>

/* A thread's chain, all zero before the thread's first record. */
struct attempt_chain {
	uint64_t page;	   /* virtual address / page_bytes */
	bool open;	   /* the last attempt did not end the fault */
	bool passed;	   /* the last attempt was a pass on to ->fault */
	bool shared_write; /* the last attempt ended a first write: page_mkwrite may follow it */
	bool major;	   /* the fault ended by the last attempt was counted as major */
};

struct attempt_chain_counts {
	uint64_t faults;     /* logical faults */
	uint64_t major;	     /* only the major ones */
	uint64_t unfinished; /* chains begun but not ended so far */
	uint64_t sequels;    /* page_mkwrite calls belonging to the fault before them */
};

/* How an attempt relates to the fault of the thread's previous attempt. */
enum attempt_role {
	CHAIN_FIRST,  /* belongs to another fault */
	CHAIN_NEXT,   /* belongs to the same fault, which was still open */
	CHAIN_SEQUEL, /* belongs to the same fault, which seemed complete: page_mkwrite */
};

/* The last attempt's handle_mm_fault() has returned: no page_mkwrite follows in it. */
static inline void attempt_chain_returned(struct attempt_chain *chain)
{
	chain->shared_write = false;
}

/*
 * Adds a record. A thread's records must come in time order. Afterwards chain->open is true if
 * another attempt must follow. @page_bytes: for the recorded machine
 */
enum attempt_role attempt_chain_add(struct attempt_chain *chain, const struct pfstat_record *record,
				    uint64_t page_bytes, struct attempt_chain_counts *counts);

#endif

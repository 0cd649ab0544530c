/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Joins attempts to logical faults, one thread at a time.
 *
 * The attempts of one fault make a chain:
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

/* A thread's chain; all zero before its first record. */
struct attempt_chain {
	uint64_t page;	   /* virtual address / page_bytes */
	bool open;	   /* the last attempt did not end the fault */
	bool passed;	   /* the last attempt was a pass on to ->fault */
	bool shared_write; /* the last attempt ended a first write: page_mkwrite may follow it */
	bool major;	   /* the fault that the last attempt ended was counted as major */
};

struct attempt_chain_counts {
	uint64_t faults;     /* logical faults */
	uint64_t major;	     /* of these, major ones */
	uint64_t unfinished; /* chains that began and did not end so far */
	uint64_t sequels;    /* page_mkwrite calls that are a part of the fault before them */
};

/* The relation of an attempt to the fault of the thread's previous attempt. */
enum attempt_role {
	CHAIN_FIRST,  /* part of another fault */
	CHAIN_NEXT,   /* part of the same fault, which was still open */
	CHAIN_SEQUEL, /* part of the same fault, which had seemed complete: page_mkwrite */
};

/* The handle_mm_fault() of the last attempt has returned: no page_mkwrite follows in it. */
static inline void attempt_chain_returned(struct attempt_chain *chain)
{
	chain->shared_write = false;
}

/*
 * Adds a record. The records of a thread must come in time order. Afterwards chain->open
 * is true if another attempt must follow. @page_bytes: of the recorded machine
 */
enum attempt_role attempt_chain_add(struct attempt_chain *chain, const struct pfstat_record *record,
				    uint64_t page_bytes, struct attempt_chain_counts *counts);

#endif

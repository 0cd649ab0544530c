/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From attempts to logical faults, one thread at a time.
 *
 * The attempts of one fault make a chain:
 *
 *	map_pages -> PASS	the kernel goes on to ->fault
 *	fault -> RETRY		the lock was dropped, the kernel comes again
 *	fault -> solved		one logical fault
 *	page_mkwrite		a part of it, when the fault was the first write to
 *				a page of a shared mapping
 *
 * What counts is what the kernel counts, mm_account_fault() in mm/memory.c:
 * nothing for a call that ends in RETRY or in an error; else one fault, major
 * when the last result has VM_FAULT_MAJOR or the last flags FAULT_FLAG_TRIED.
 */
#ifndef PFSTAT_USER_ATTEMPT_CHAIN_H
#define PFSTAT_USER_ATTEMPT_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/record.h>

/* A thread's chain; all zero before its first record. */
struct attempt_chain {
	uint64_t page;	   /* virtual address >> 12 */
	bool open;	   /* the last attempt did not end the fault */
	bool passed;	   /* it was one that passes on to ->fault */
	bool shared_write; /* the last attempt ended a first write: mkwrite may follow */
	bool major;	   /* the fault that it ended was counted as major */
};

struct attempt_chain_counts {
	uint64_t faults;     /* logical faults */
	uint64_t major;	     /* of these */
	uint64_t unfinished; /* chains begun and (so far) not ended */
	uint64_t sequels;    /* page_mkwrite calls that are a part of the fault before them */
};

/* What an attempt is to the fault that the thread's attempt before belonged to. */
enum attempt_role {
	CHAIN_FIRST,  /* of another fault */
	CHAIN_NEXT,   /* of the same: that was still open */
	CHAIN_SEQUEL, /* of the same, which had seemed complete: page_mkwrite */
};

/* Records of a thread in time order. chain->open says afterwards whether more will come. */
enum attempt_role attempt_chain_add(struct attempt_chain *chain, const struct pfstat_record *record,
				    struct attempt_chain_counts *counts);

#endif

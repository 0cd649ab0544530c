/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Links the attempts of one logical fault.
 *
 * A wrapper call that did not solve its fault (RETRY, or map_pages that found
 * nothing) suspends it here; the same thread's next call resumes it. The
 * kernel's TRIED flag cannot tell: it is missing after a wait under the VMA
 * lock, and for MAP_POPULATE.
 */
#ifndef PFSTAT_CHAIN_H
#define PFSTAT_CHAIN_H

#include <linux/types.h>

struct chain {
	u64 earlier_ns;		/* start of the previous attempt; 0: there was none */
	u8 cause;		/* the class that made the fault wait (see pfstat_facts) */
};

int pfstat_chain_init(void);
void pfstat_chain_exit(void);
void pfstat_chain_reset(void);
u64 pfstat_chain_evicted(void);	/* links given up for want of room */

/* What current left behind for this page, and forgets it. */
struct chain pfstat_chain_resume(unsigned long page_address);
/* Current's attempt that began at start_ns will be followed by another. */
void pfstat_chain_suspend(unsigned long page_address, u64 start_ns, u8 cause);

#endif

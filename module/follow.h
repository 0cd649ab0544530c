/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeps up with targets: new mappings, copies, forks, execs, exits. */
#ifndef PFSTAT_FOLLOW_H
#define PFSTAT_FOLLOW_H

#include <linux/types.h>

struct vm_area_struct;

int pfstat_follow_init(void); /* 0 or -ENOMEM */

/* The ->open in every shadow: a hooked VMA was copied. */
void pfstat_follow_open(struct vm_area_struct *vma);

/*
 * Probes do_mmap and the fork event, and looks after targets every second:
 * `idle` is called from a work item when none is left (it must not stop us
 * from there). Starting twice is fine. Shut the list of targets before stop.
 */
int pfstat_follow_start(void (*idle)(void));
void pfstat_follow_stop(void);
/* Soon hooks all VMAs not hooked yet in targets. */
void pfstat_follow_again(void);
void pfstat_follow_exit(void); /* once nothing leads to ->open any more */

/* Mappings and forks that could not be followed at once, but within a tick. */
u64 pfstat_follow_missed(void);

#endif

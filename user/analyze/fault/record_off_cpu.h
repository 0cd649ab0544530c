/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One thread's stays off the CPU, kept until the records that they fall into
 * have come, and how much of a record they cover.
 */
#ifndef PFSTAT_USER_RECORD_OFF_CPU_H
#define PFSTAT_USER_RECORD_OFF_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Stays a thread may have waiting; one more drops the oldest. A thread that
 * sleeps and never faults must not collect stays for ever: 16 KiB.
 */
#define OFFCPU_MAX_STAYS (1U << 10)

struct offcpu_stay {
	uint64_t off_ns, on_ns;
};

/* All zero is an empty one. */
struct offcpu {
	struct offcpu_stay *stays;	/* a ring, oldest at `first` */
	size_t capacity;		/* 0 or a power of two */
	size_t first, count;
	uint64_t gone_ns;		/* stays that ended up to here are no longer kept */
};

void offcpu_exit(struct offcpu *offcpu);

/* Stays of a thread come in time order. -ENOMEM, else 0. */
int offcpu_add(struct offcpu *offcpu, uint64_t off_ns, uint64_t on_ns);

/*
 * How long the thread was off the CPU within [start_ns, end_ns); a stay that
 * lies partly outside counts with the part inside. Then forgets the stays that
 * ended before end_ns: a thread's records come in time order too, and do not
 * overlap. *partial says that stays which may have lain in this record were
 * dropped or forgotten before, so that the result is a lower bound.
 */
uint64_t offcpu_take(struct offcpu *offcpu, uint64_t start_ns, uint64_t end_ns, bool *partial);

/* When the latest stay it ever had was over; 0: there was none. */
uint64_t offcpu_latest_ns(const struct offcpu *offcpu);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread's stays off the CPU that wait for the fault that they fall into. */
#ifndef PFSTAT_USER_STAYS_H
#define PFSTAT_USER_STAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

/* A thread that sleeps and never faults must not collect stays for ever: 12 KiB. */
#define STAYS_MAX 256U

/* All zero is none. */
struct stays {
	struct pfstat_off_cpu *ring;	/* oldest at `first` */
	size_t capacity;		/* 0 or a power of two */
	size_t first, count;
	uint64_t forgotten_ns;		/* stays up to here were given up: what they said is lost */
};

void stays_exit(struct stays *stays);
/* In time order. -ENOMEM. */
int stays_add(struct stays *stays, const struct pfstat_off_cpu *stay);
/* The oldest; NULL: none. It stays until the next call. */
const struct pfstat_off_cpu *stays_oldest(const struct stays *stays);
void stays_drop(struct stays *stays);
/* Whether one of them is a sleep, not a preemption, that lies at least partly in there. */
bool stays_sleep_within(const struct stays *stays, uint64_t from_ns, uint64_t to_ns);
/* When the latest of those it ever had was over; 0: none. */
uint64_t stays_latest_ns(const struct stays *stays);

#endif

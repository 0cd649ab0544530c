/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread's stays off the CPU that wait for the fault that they fall into. */
#ifndef PFSTAT_USER_OFF_CPU_QUEUE_H
#define PFSTAT_USER_OFF_CPU_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

/* A thread that sleeps and never faults must not collect stays for ever: 18 KiB. */
#define STAYS_MAX 256U

struct stay {
	struct pfstat_off_cpu event;
	uint64_t lost_ns;	/* off the CPU before it, by its total_ns, in no event */
	uint64_t lost_from_ns;	/* these lie somewhere between there and event.off_ns */
};

/* All zero is none. */
struct stays {
	struct stay *ring;		/* oldest at `first` */
	size_t capacity;		/* 0 or a power of two */
	size_t first, count;
	uint64_t forgotten_ns;		/* stays up to here were given up: what they said is lost */
	uint64_t last_ns;		/* the last one that was added ended there */
	uint64_t total_ns;		/* its total_ns */
	bool total_unknown;		/* there were others before the first one added */
};

void stays_exit(struct stays *stays);
/* In time order. -ENOMEM. */
int stays_add(struct stays *stays, const struct pfstat_off_cpu *stay);
/* The oldest; NULL: none. It stays until the next call. */
const struct stay *stays_oldest(const struct stays *stays);
void stays_drop(struct stays *stays);
/* Whether one of them is a sleep, not a preemption, that lies at least partly in there. */
bool stays_sleep_within(const struct stays *stays, uint64_t from_ns, uint64_t to_ns);
/* When the latest of those it ever had was over; 0: none. */
uint64_t stays_latest_ns(const struct stays *stays);

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring of the off-CPU intervals of one thread. summary.c adds the intervals that eBPF sends, and
 * takes the off-CPU time of each record. A dropped interval always leaves its end in gone_ns.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/record_off_cpu.h"

#define FIRST_CAPACITY 16

void record_off_cpu_exit(struct record_off_cpu *off_cpu)
{
	free(off_cpu->intervals);
	*off_cpu = (struct record_off_cpu){ 0 };
}

static struct off_cpu_span *record_off_cpu_at(const struct record_off_cpu *off_cpu, size_t index)
{
	return &off_cpu->intervals[(off_cpu->first + index) & (off_cpu->capacity - 1)];
}

static void record_off_cpu_forget(struct record_off_cpu *off_cpu)
{
	const struct off_cpu_span *oldest = record_off_cpu_at(off_cpu, 0);

	if (oldest->on_ns > off_cpu->gone_ns)
		off_cpu->gone_ns = oldest->on_ns;
	off_cpu->first = (off_cpu->first + 1) & (off_cpu->capacity - 1);
	off_cpu->count--;
}

static int record_off_cpu_grow(struct record_off_cpu *off_cpu)
{
	size_t capacity = off_cpu->capacity ? 2 * off_cpu->capacity : FIRST_CAPACITY;
	struct off_cpu_span *intervals = malloc(capacity * sizeof(*intervals));
	size_t i;

	if (!intervals)
		return -ENOMEM;
	for (i = 0; i < off_cpu->count; i++)
		intervals[i] = *record_off_cpu_at(off_cpu, i);
	free(off_cpu->intervals);
	off_cpu->intervals = intervals;
	off_cpu->capacity = capacity;
	off_cpu->first = 0;
	return 0;
}

int record_off_cpu_add(struct record_off_cpu *off_cpu, uint64_t off_ns, uint64_t on_ns)
{
	int err;

	if (off_cpu->count == RECORD_OFF_CPU_MAX) {
		record_off_cpu_forget(off_cpu);
	} else if (off_cpu->count == off_cpu->capacity) {
		err = record_off_cpu_grow(off_cpu);
		if (err)
			return err;
	}
	*record_off_cpu_at(off_cpu, off_cpu->count++) = (struct off_cpu_span){ off_ns, on_ns };
	return 0;
}

static uint64_t record_off_cpu_overlap(const struct off_cpu_span *interval, uint64_t start_ns,
				       uint64_t end_ns)
{
	uint64_t from = interval->off_ns > start_ns ? interval->off_ns : start_ns;
	uint64_t to = interval->on_ns < end_ns ? interval->on_ns : end_ns;

	return to > from ? to - from : 0;
}

uint64_t record_off_cpu_take(struct record_off_cpu *off_cpu, uint64_t start_ns, uint64_t end_ns,
			     bool *partial)
{
	uint64_t sum = 0;
	size_t i;

	*partial = start_ns < off_cpu->gone_ns;
	for (i = 0; i < off_cpu->count && record_off_cpu_at(off_cpu, i)->off_ns < end_ns; i++)
		sum += record_off_cpu_overlap(record_off_cpu_at(off_cpu, i), start_ns, end_ns);
	while (off_cpu->count && record_off_cpu_at(off_cpu, 0)->on_ns <= end_ns)
		record_off_cpu_forget(off_cpu);
	return sum;
}

uint64_t record_off_cpu_latest_ns(const struct record_off_cpu *off_cpu)
{
	return off_cpu->count ? record_off_cpu_at(off_cpu, off_cpu->count - 1)->on_ns :
				off_cpu->gone_ns;
}

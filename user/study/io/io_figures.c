// SPDX-License-Identifier: GPL-2.0-only
/* The figures that more than one printer has. */
#include <math.h>
#include <sys/syscall.h>

#include "study/io/io_report.h"

#define MIB (1024.0 * 1024)

double via_rate(const struct via_row *row, const struct pass *pass)
{
	const double seconds = pass_ns(pass) / 1e9;
	const double bytes = (double)row->nr_files * row->bytes;

	return seconds > 0 ? bytes / MIB / seconds : NAN;
}

/* What the pass itself calls to be timed. */
static bool is_own(uint32_t number)
{
	return number == SYS_getrusage || number == SYS_clock_gettime;
}

uint64_t via_syscalls(const struct report *seen)
{
	uint64_t sum = 0;
	size_t i;

	if (!seen->have_counts)
		return COUNT_NA;
	for (i = 0; i < seen->nr_syscalls; i++)
		if (!is_own(seen->syscalls[i].number))
			sum += seen->syscalls[i].value.count;
	return sum;
}

double via_overhead(const struct via_row *row)
{
	double mean = 0;
	unsigned int i;

	for (i = 0; i < row->nr_passes; i++)
		mean += (double)pass_ns(&row->passes[i]) / row->nr_passes;
	return mean > 0 ? pass_ns(&row->watched) / mean - 1 : NAN;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Row figures printed by both the table and the JSON, which are computed only here. */
#include <math.h>
#include <sys/syscall.h>

#include "bench/io/io_report.h"

#define MIB (1024.0 * 1024)

double io_report_rate(const struct io_row *row, const struct io_pass *pass)
{
	const double seconds = io_pass_ns(pass) / 1e9;
	const double bytes = (double)row->nr_files * row->bytes;

	return seconds > 0 ? bytes / MIB / seconds : NAN;
}

/* System calls by which a pass times itself. */
static bool io_is_own_syscall(uint32_t number)
{
	return number == SYS_getrusage || number == SYS_clock_gettime;
}

uint64_t io_report_syscalls(const struct report *seen)
{
	uint64_t sum = 0;
	size_t i;

	if (!seen->bpf.have_counts)
		return COUNT_NA;
	for (i = 0; i < seen->syscalls.nr; i++)
		if (!io_is_own_syscall(seen->syscalls.rows[i].number))
			sum += seen->syscalls.rows[i].value.count;
	return sum;
}

double io_report_overhead(const struct io_row *row)
{
	double mean = 0;
	unsigned int i;

	for (i = 0; i < row->nr_passes; i++)
		mean += (double)io_pass_ns(&row->passes[i]) / row->nr_passes;
	return mean > 0 ? io_pass_ns(&row->watched) / mean - 1 : NAN;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines about sleeps for mmap_lock, and the threads that passed the lock on. A fault mostly waits
 * for the lock before its start. The figures come from the report.
 */
#include <inttypes.h>

#include "print/text/table.h"

#define SHORT_ROWS 3
#define SMALL_LOCK 0.01 /* of the faults' time, omitted in the short report */

static void lock_waker_line(FILE *out, const struct report *run, const struct lock_waker_row *row)
{
	char name[VIEW_WAKER], call[VIEW_WAKER];

	fprintf(out, "  %.2f ms until ", row->total_ns / 1e6);
	if (row->doing == PFSTAT_WAKER_KILL) {
		fputs("a signal ended the waiting thread\n", out);
		return;
	}
	fprintf(out, "%s passed it on", view_waker_name(name, row));
	if (row->doing == PFSTAT_WAKER_EXCEPTION)
		fputs(", in no system call", out);
	else if (view_waker_call(call, run, row->doing)[0])
		fprintf(out, " in %s", call);
	fputc('\n', out);
}

void table_lock_notes(FILE *out, const struct report *run)
{
	const uint64_t least_ns = run->full ? 0 : SMALL_LOCK * run->faults.all.whole.total_ns;
	const struct report_mmap_lock *lock = &run->mmap_lock;
	size_t i;

	if (!lock->sleeps || lock->total_ns < least_ns)
		return;
	fprintf(out, "Slept %.2f ms for mmap_lock, %" PRIu64 " time%s", lock->total_ns / 1e6,
		lock->sleeps, lock->sleeps == 1 ? "" : "s");
	if (lock->total_ns > lock->in_faults_ns)
		fprintf(out, "; %.2f ms of it before the faults, not in their time",
			(lock->total_ns - lock->in_faults_ns) / 1e6);
	fputc('\n', out);
	for (i = 0; i < lock->nr && (run->full || i < SHORT_ROWS); i++)
		if (lock->rows[i].total_ns >= least_ns)
			lock_waker_line(out, run, &lock->rows[i]);
}

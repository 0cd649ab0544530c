// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdarg.h>

#include "table.h"

static void warn(FILE *out, size_t number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void warn(FILE *out, size_t number, const char *format, ...)
{
	va_list arguments;

	if (number)
		fprintf(out, "RUN %zu: ", number);
	va_start(arguments, format);
	vfprintf(out, format, arguments);
	va_end(arguments);
	fputc('\n', out);
}

void table_warnings(FILE *out, const struct view *view, size_t number)
{
	const struct summary_figures *figures = &view->figures;
	const struct report *run = view->run;

	if (run->lost)
		warn(out, number, "LOST %" PRIu64 " OF %" PRIu64 " RECORDS: "
		     "COUNTS AND TIMES ARE TOO LOW", run->lost, run->calls);
	if (run->calls != figures->calls + run->lost)
		warn(out, number, "%" PRIu64 " CALLS, BUT %" PRIu64 " RECORDS READ AND %" PRIu64
		     " LOST: THE FIGURES CANNOT BE TRUSTED", run->calls, figures->calls,
		     run->lost);
	if (figures->late)
		warn(out, number, "%" PRIu64 " RECORDS OUT OF ORDER: "
		     "LOGICAL FAULTS AND OFF-CPU TIMES MAY BE WRONG", figures->late);
	if (!run->have_bpf)
		return;
	if (run->events_lost)
		warn(out, number, "LOST %" PRIu64 " EVENTS OF EBPF: "
		     "OFF-CPU TIMES AND SYSTEM CALLS ARE TOO LOW", run->events_lost);
	if (figures->off_cpu_partial)
		warn(out, number, "OFF-CPU TIMES ARE TOO LOW FOR UP TO %" PRIu64 " CALLS",
		     figures->off_cpu_partial);
}

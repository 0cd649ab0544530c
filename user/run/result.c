// SPDX-License-Identifier: GPL-2.0-only
/*
 * The outcome of one measurement. A run, a watch or a study fills it through run/measurement.c, and
 * the printers read the report.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "run/result.h"
#include "util/message.h"

void result_init(struct result *result)
{
	*result = (struct result){ 0 };
	report_init(&result->report);
	run_counters_init(&result->counters);
}

int result_check(const struct result *result, unsigned int number)
{
	const struct report *report = &result->report;
	struct summary_figures figures;

	summary_figures(report->summary, &figures);
	/* perf counts no calls. */
	if (report->cost.calls == COUNT_NA ||
	    figures.calls + report->losses.records == report->cost.calls)
		return STATUS_OK;
	return message(STATUS_FAILED,
		       "run %u: the module counted %" PRIu64 " calls, but %" PRIu64
		       " records were read and %" PRIu64
		       " lost; do not trust these figures, and report a bug",
		       number, report->cost.calls, figures.calls, report->losses.records);
}

int result_status(const struct result *result)
{
	return result->recording_failed ? STATUS_FAILED : STATUS_OK;
}

void result_free(struct result *result)
{
	report_exit(&result->report);
	if (result->study)
		result->study->free(result->study);
	extras_close(&result->extras);
	analysis_free(result->analysis);
	run_counters_exit(&result->counters);
}

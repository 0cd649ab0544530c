// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a run twice under the same memory limit, without and with competing processes, and puts the
 * figures of both into one result.
 */
#include <stdlib.h>
#include <unistd.h>

#include "bench/pressure/json_competition.h"
#include "bench/pressure/pressure.h"
#include "bench/pressure/run_pressure.h"
#include "report/view.h"
#include "util/message.h"

static uint64_t run_pressure_pages_read_again(const struct report *report)
{
	uint64_t pages = 0;
	size_t i;

	if (!view_has_hook(report, HOOK_PAGE_DELETE) || !view_has_hook(report, HOOK_BLOCK))
		return COUNT_NA;
	for (i = 0; i < report->pages.nr_pairs; i++)
		pages += report->pages.pairs[i].pages;
	return pages;
}

/* The figures of the kernel's files are there already. */
static void run_pressure_fill_side(struct competition_side *side, const struct result *result)
{
	const struct report *report = &result->report;
	const struct usage *usage = &report->usage;
	uint64_t *figures = side->figures;
	enum fault_class class;

	figures[COMPETITION_ELAPSED] = report->time.elapsed_ns;
	figures[COMPETITION_MINFLT] = usage->minflt;
	figures[COMPETITION_MAJFLT] = usage->majflt;
	figures[COMPETITION_INBLOCK] = usage->inblock;
	figures[COMPETITION_OUBLOCK] = usage->oublock;
	figures[COMPETITION_NVCSW] = usage->nvcsw;
	figures[COMPETITION_NIVCSW] = usage->nivcsw;
	figures[COMPETITION_READ_AGAIN] = run_pressure_pages_read_again(report);
	if (view_has_hook(report, HOOK_SWAP_IO)) {
		figures[COMPETITION_SWAP_READ] = result->counters.swap.read;
		figures[COMPETITION_SWAP_EVICTED] = result->counters.swap.evicted;
	}
	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		if (!view_class_known(report, class))
			continue;
		side->faults[class] = report->faults.classes[class].count;
		side->major[class] = report->faults.classes[class].major;
	}
}

static void run_pressure_fill_matrix(struct competition *competition,
				     const struct pressure *pressure, const struct result *result)
{
	competition->have_matrix = view_has_hook(&result->report, HOOK_SWAP_IO);
	if (competition->have_matrix)
		swap_matrix_make(&competition->matrix, &result->counters, getpid(), pressure->pids,
				 competition->nr);
}

/* One of the two runs. Afterwards the cgroup and the processes are gone, also after an error. */
static int run_pressure_run_one(struct run_plan *plan, struct result *result,
				const struct compete_options *options, bool alone,
				struct competition *competition)
{
	struct pressure pressure;
	int status, closed;

	pressure_init(&pressure, options, alone);
	pressure.cpus = plan->cpus;
	if (plan->mapping->kind == MAPPING_ANON ||
	    (plan->mapping->kind == MAPPING_PRIVATE && plan->mapping->writable))
		pressure.bytes = plan->mapping->bytes;
	if (plan->mapping->kind != MAPPING_ANON)
		pressure.file_bytes = plan->mapping->bytes;
	plan->load = &pressure.load;
	status = run_once(plan, result);
	plan->load = NULL;
	closed = pressure_close(&pressure);
	if (!status)
		status = closed;
	if (status)
		return status;
	*competition = pressure.competition;
	run_pressure_fill_side(&competition->with, result);
	run_pressure_fill_matrix(competition, &pressure, result);
	return STATUS_OK;
}

static void run_pressure_free(struct report_study *study)
{
	free(study);
}

int run_pressure(struct run_plan *plan, struct result *result, const void *options)
{
	struct competition alone, *both;
	int status;

	status = run_pressure_run_one(plan, result, options, true, &alone);
	if (status)
		return status;
	result_free(result);
	both = calloc(1, sizeof(*both));
	if (!both) {
		*result = (struct result){ 0 };
		return message(STATUS_FAILED, "out of memory");
	}
	status = run_pressure_run_one(plan, result, options, false, both);
	both->alone = alone.with;
	both->study = (struct report_study){
		.print_table = table_competition,
		.json = json_competition,
		.json_figures = json_competition_figures,
		.free = run_pressure_free,
	};
	result->study = &both->study;
	result->report.extras.study = &both->study;
	return status;
}

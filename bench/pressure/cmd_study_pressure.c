// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfbench pressure: the arguments, the two runs under the same memory limit (without and with
 * competing processes), and the processes started by pfbench.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/pfbench.h"
#include "bench/pressure/compete_options.h"
#include "bench/pressure/competitor.h"
#include "bench/pressure/json_competition.h"
#include "bench/pressure/pressure.h"
#include "drive/drive.h"
#include "drive/run.h"
#include "report/view.h"
#include "util/argument.h"
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

/* The figures from the kernel's files are already there. */
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

/*
 * Calls run_once() twice under the same limit, without and with competitors. The result is the
 * second run's, with the figures from both runs in its study. @options: a struct compete_options.
 * For struct drive_plan.
 */
static int run_pressure(struct run_plan *plan, struct result *result, const void *options)
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

struct pressure_arguments {
	struct options run;
	struct compete_options compete;
};

static error_t study_pressure_parse_option(int key, char *text, struct argp_state *state)
{
	struct pressure_arguments *arguments = state->input;

	(void)text;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->run;
		state->child_inputs[1] = &arguments->compete;
		return 0;
	case ARGP_KEY_SUCCESS:
		compete_options_check(state, &arguments->compete);
		if (arguments->run.record)
			usage(state,
			      "--record: a recording holds one run, and a study makes two; use "
			      "'pfdrive run'");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child study_pressure_children[] = {
	{ &run_arguments_argp, 0, NULL, 0 },
	{ &compete_argp, 0, NULL, 0 },
	{ 0 },
};

static const struct argp study_pressure_argp = {
	.parser = study_pressure_parse_option,
	.children = study_pressure_children,
	.args_doc = "[FILE]",
	.doc = "Makes each run twice, alone and with processes that compete for memory, and "
	       "compares the page faults.\vNumbers take the suffixes K, M and G (1024). FILE is "
	       "only read unless --allow-write is given. Requires root, the pfstat module or "
	       "eBPF, and swap for the memory above the limit.",
};

static void pressure_parse(struct pressure_arguments *arguments, int argc, char **argv)
{
	*arguments = (struct pressure_arguments){ 0 };
	run_arguments_init(&arguments->run);
	compete_options_parse(COMPETE_DEFAULT, &arguments->compete);
	argp_parse(&study_pressure_argp, argc, argv, 0, NULL, arguments);
}

static int cmd_study_pressure(int argc, char **argv)
{
	struct pressure_arguments arguments;

	pressure_parse(&arguments, argc, argv);
	return drive_main(&(struct drive_plan){
		.options = &arguments.run,
		.arguments = argv + 1,
		.make = run_pressure,
		.context = &arguments.compete,
	});
}

int pressure_accesses(int argc, char **argv, bool bare)
{
	struct pressure_arguments arguments;

	pressure_parse(&arguments, argc, argv);
	return drive_accesses(&arguments.run, bare);
}

/* BYTES random|sequential NUMBER PARENT USER */
int pressure_compete(int argc, char **argv)
{
	struct competitor_plan plan;

	if (argc != 6)
		return STATUS_USAGE;
	plan = (struct competitor_plan){
		.bytes = strtoull(argv[1], NULL, 10),
		.random = !strcmp(argv[2], "random"),
		.number = strtoul(argv[3], NULL, 10),
	};
	return competitor_live(&plan, atoi(argv[4]), argv[5]);
}

const struct subcommand pressure_command = {
	.name = "study pressure",
	.title = "pfdrive study pressure",
	.group = COMMAND_STUDY,
	.summary = "run beside processes that compete for memory",
	.run = cmd_study_pressure,
	.argp = &study_pressure_argp,
};

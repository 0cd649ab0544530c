// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "cmd_compare.h"
#include "complain.h"
#include "correlate/analysis.h"
#include "correlate/event_hooks.h"
#include "figures/compare_figure.h"
#include "interrupt.h"
#include "named_files.h"
#include "recording/facts_json.h"
#include "recording/reader.h"
#include "report/compare.h"
#include "report/html.h"
#include "report_figures.h"

struct compare_options {
	const char *files[2];
	unsigned int nr_files;
	double threshold, confidence;	/* percent */
	enum report_format format;
	struct figures_options figures;
	uint64_t seed;
};

/* The faults of one class in one run, or of all classes, as comparison.h wants them. */
struct side {
	struct comparison_side side;
	const struct quantiles *histograms[NR_PARTS + 1][NR_FAULT_CLASSES];
};

/* One recording, read. */
struct run {
	struct recording_reader *reader;
	struct analysis *analysis;
	struct facts facts;
	bool have_facts;	/* the recording has its end */
	bool have_bpf;
	uint32_t hooks;		/* 1 << enum fact_hook; of a cut recording, those proven */
	struct side classes[NR_FAULT_CLASSES];
	struct side all;
};

static const struct argp_option argp_options[] = {
	{ "threshold", 't', "PERCENT", 0, "a smaller difference is no change (default 5)", 0 },
	{ "confidence", 'c', "PERCENT", 0, "that all intervals hold, together (default 95)", 0 },
	{ "format", 'f', "table|csv|json", 0, "on standard output (default table)", 0 },
	{ "seed", 's', "N", 0, "of the bootstrap (default 1)", 0 },
	FIGURES_OPTIONS_HTML,
	FIGURES_OPTIONS_PLOT,
	{ 0 },
};

static const char doc[] =
	"Compares two recordings: how many faults of each class, how long they took, and what "
	"part of it, with bootstrap confidence intervals.\v"
	"Exit status: 0 no change, 3 a change, 1 and 2 errors.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const formats[] = {
		[REPORT_TABLE] = "table", [REPORT_CSV] = "csv", [REPORT_JSON] = "json", NULL
	};
	static const char percentage[] = "a percentage";
	struct compare_options *options = state->input;

	switch (key) {
	case 't':
		options->threshold = argument_decimal(state, "threshold", text, percentage,
						      0, 1e6);
		return 0;
	case 'c':
		options->confidence = argument_decimal(state, "confidence", text, percentage,
						       50, 99);
		return 0;
	case 'f':
		options->format = argument_word(state, "format", text, formats);
		return 0;
	case 's':
		options->seed = argument_number(state, "seed", text, 0, UINT64_MAX);
		return 0;
	case FIGURES_KEY_HTML:
		options->figures.html = text;
		return 0;
	case FIGURES_KEY_PLOT:
		options->figures.plot = text;
		if (figures_as_text(&options->figures))
			usage(state, "--plot: a comparison is not drawn as text: name a folder");
		return 0;
	case ARGP_KEY_ARG:
		if (options->nr_files == 2)
			usage(state, "two recordings at a time: '%s' is too many", text);
		options->files[options->nr_files++] = text;
		return 0;
	case ARGP_KEY_END:
		if (options->nr_files < 2)
			usage(state, "two recordings are needed: pfdrive compare A.pfs B.pfs");
		if (!strcmp(options->files[0], "-") && !strcmp(options->files[1], "-"))
			usage(state, "standard input is one recording: name a file for the other");
		return 0;
	case ARGP_KEY_SUCCESS:
		named_files_input(state, "the first recording", options->files[0]);
		named_files_input(state, "the second recording", options->files[1]);
		named_files_output(state, "--html", options->figures.html);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void options_read(struct compare_options *options, int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options, .parser = parse_option, .args_doc = "A.pfs B.pfs",
		.doc = doc,
	};

	*options = (struct compare_options){ .threshold = 5, .confidence = 95, .seed = 1 };
	argp_err_exit_status = STATUS_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, options);
}

static int take_item(void *context, const struct item *item)
{
	struct run *run = context;

	if (item->type == ITEM_EVENT) {
		run->have_bpf = true;
		run->hooks |= event_hooks(item->event);
	}
	return analysis_add(run->analysis, item);
}

static int read_items(struct run *run)
{
	int err = recording_feed(run->reader, take_item, run, &interrupt_signal);

	return err ? err : analysis_finish(run->analysis);
}

static int read_facts(struct run *run)
{
	const json_t *tail = recording_tail(run->reader);
	int err;

	if (!tail)
		return 0;
	err = facts_from_json(&run->facts, tail);
	if (err)
		return err;
	run->have_facts = true;
	run->have_bpf = run->facts.have_bpf;
	run->hooks = run->facts.have_bpf ? run->facts.hooks : 0;
	return 0;
}

static int run_read(struct run *run, const char *path)
{
	char why[256];
	int err;

	facts_init(&run->facts);
	err = recording_open(&run->reader, path, why, sizeof(why));
	if (err && interrupt_signal)
		return 128 + interrupt_signal;
	if (err)
		return complain(STATUS_FAILED, "cannot compare: %s", why);
	/* Without eBPF all is on the CPU; what is not known is not compared below. */
	run->analysis = analysis_new(true, 0);
	if (!run->analysis)
		return complain(STATUS_FAILED, "out of memory");
	err = read_items(run);
	if (interrupt_signal)
		return 128 + interrupt_signal;
	if (!err)
		err = read_facts(run);
	if (err)
		return complain(STATUS_FAILED, "cannot read %s: %s", path, strerror(-err));
	return STATUS_OK;
}

static void run_exit(struct run *run)
{
	analysis_free(run->analysis);
	facts_exit(&run->facts);
	recording_close(run->reader);
}

static bool has_hook(const struct run *run, enum fact_hook hook)
{
	return run->hooks & 1U << hook;
}

/* Parts that this run can know: 1 << enum part. */
static unsigned int parts_of(const struct run *run)
{
	unsigned int parts = (1U << NR_PARTS) - 1;

	if (!run->have_bpf)
		return 0;
	if (!has_hook(run, HOOK_BLOCK))
		parts &= ~(1U << PART_QUEUE | 1U << PART_DEVICE | 1U << PART_FOREIGN);
	if (!has_hook(run, HOOK_BLOCK_INSERT))
		parts &= ~(1U << PART_QUEUE);
	if (!has_hook(run, HOOK_WAKEUP))
		parts &= ~(1U << PART_RUNQUEUE);
	return parts;
}

/* Classes whose faults this run can tell: 1 << enum fault_class. */
static unsigned int classes_of(const struct run *run)
{
	unsigned int classes = (1U << FAULT_FILE) - 1;	/* the module's own */

	if (!has_hook(run, HOOK_FAULT))
		return classes;
	classes |= 1U << FAULT_FILE | 1U << FAULT_ANON;
	if (has_hook(run, HOOK_SWAP))
		classes |= 1U << FAULT_SWAP;
	if (has_hook(run, HOOK_WP))
		classes |= 1U << FAULT_COW;
	/* Else those are among them. */
	if (has_hook(run, HOOK_SWAP) && has_hook(run, HOOK_WP))
		classes |= 1U << FAULT_OTHER;
	return classes;
}

static uint64_t total_of(const struct fault_figures *figures, enum part part)
{
	return part == NR_PARTS ? figures->whole.total_ns : figures->parts[part].total_ns;
}

/* Of the classes from … to - 1, those that occurred, taken as one. */
static void side_fill(struct side *side, const struct analysis *analysis,
		      const struct fault_figures *figures, enum fault_class from,
		      enum fault_class to)
{
	const struct quantiles *histogram;
	struct bootstrap_times *times;
	enum fault_class class;
	unsigned int part;

	side->side.count = figures->count;
	side->side.major = figures->major;
	for (part = 0; part <= NR_PARTS; part++) {
		times = &side->side.times[part];
		times->several = side->histograms[part];
		times->total_ns = total_of(figures, part);
		for (class = from; class < to; class++) {
			histogram = analysis_histogram(analysis, class, part);
			if (histogram)
				side->histograms[part][times->nr++] = histogram;
		}
	}
}

static void run_sides(struct run *run)
{
	struct fault_figures figures;
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		analysis_faults(run->analysis, class, &figures);
		side_fill(&run->classes[class], run->analysis, &figures, class, class + 1);
	}
	analysis_all_faults(run->analysis, &figures);
	side_fill(&run->all, run->analysis, &figures, 0, NR_FAULT_CLASSES);
}

static struct compare_run facts_of(const struct run *run, const char *file)
{
	const struct facts *facts = &run->facts;

	return (struct compare_run){
		.file = file,
		.faults = run->all.side.count,
		.lost_records = run->have_facts ? facts->lost : FACT_NONE,
		/* Without eBPF there is none to lose. */
		.lost_events = !run->have_facts ? FACT_NONE :
			       facts->have_bpf ? facts->counts[PFSTAT_COUNT_EVENTS_LOST] : 0,
		.damage = recording_damage(run->reader),
	};
}

static int print_page(FILE *out, void *context, char *const *svgs)
{
	struct html_page *page = context;

	page->svgs = svgs;
	return html_print_report(out, page);
}

static int write_figure(const struct compare_options *options, const struct compare_report *report)
{
	struct drawing drawing;
	struct html_page page = { .comparison = report, .drawings = &drawing, .nr = 1 };
	int status;

	if (!options->figures.html && !options->figures.plot)
		return STATUS_OK;
	status = compare_figure(&drawing, report) ? complain(STATUS_FAILED, "out of memory") :
		 figures_write(&options->figures, &drawing, 1, print_page, &page);
	drawing_free(&drawing);
	return status;
}

/* Figures do not wait for somebody to read standard output. */
static int show(const struct compare_options *options, const struct compare_report *report)
{
	int err = compare_print(stdout, options->format, report);
	int printed = err ? complain_of_stdout(err, "the comparison") : STATUS_OK;
	int drawn = write_figure(options, report);

	return printed ? printed : drawn;
}

/* The class, or all, if both runs can tell its faults. */
static void add_sides(struct comparison *comparison, const char *class, const struct side *a,
		      const struct side *b, bool class_known, unsigned int parts)
{
	if (class_known)
		comparison_add(comparison, class, &a->side, &b->side, parts);
	else if (a->side.count || b->side.count)
		comparison_add_unknown(comparison, class);
}

static void add_all(struct comparison *comparison, const struct run runs[2])
{
	const unsigned int parts = parts_of(&runs[0]) & parts_of(&runs[1]);
	const unsigned int classes = classes_of(&runs[0]) & classes_of(&runs[1]);
	/* All are the same, whatever classes they are told apart by. */
	const bool all = has_hook(&runs[0], HOOK_FAULT) == has_hook(&runs[1], HOOK_FAULT);
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++)
		add_sides(comparison, fault_class_name(class), &runs[0].classes[class],
			  &runs[1].classes[class], classes & 1U << class, parts);
	add_sides(comparison, "all", &runs[0].all, &runs[1].all, all, parts);
}

static int compare_runs(const struct compare_options *options, struct run runs[2])
{
	struct comparison comparison = { 0 };
	struct compare_report report = {
		.comparison = &comparison,
		.confidence = options->confidence,
		.threshold = options->threshold,
	};
	int err, status;

	run_sides(&runs[0]);
	run_sides(&runs[1]);
	add_all(&comparison, runs);
	err = comparison_judge(&comparison, options->confidence / 100, options->threshold / 100,
			       options->seed, &interrupt_signal);
	if (err == -EINTR)
		return 128 + interrupt_signal;
	if (err)
		return complain(STATUS_FAILED, "cannot compare: %s", strerror(-err));
	report.a = facts_of(&runs[0], options->files[0]);
	report.b = facts_of(&runs[1], options->files[1]);
	status = show(options, &report);
	if (status)
		return status;
	return comparison.change ? STATUS_CHANGE : STATUS_OK;
}

int cmd_compare(int argc, char **argv)
{
	struct compare_options options;
	struct run *runs;
	int status;

	options_read(&options, argc, argv);
	interrupt_init();
	runs = calloc(2, sizeof(*runs));
	if (!runs)
		return complain(STATUS_FAILED, "out of memory");
	status = run_read(&runs[0], options.files[0]);
	if (!status)
		status = run_read(&runs[1], options.files[1]);
	if (!status)
		status = compare_runs(&options, runs);
	run_exit(&runs[0]);
	run_exit(&runs[1]);
	free(runs);
	return status;
}

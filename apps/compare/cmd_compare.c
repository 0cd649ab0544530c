// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive compare: reads the recordings on two sides, keeps only sums over fault batches, and
 * prints which differences are larger than the noise.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/required_hooks.h"
#include "compare/compare.h"
#include "compare/compare_print.h"
#include "figures/figures.h"
#include "print/print_report.h"
#include "privilege/named_files.h"
#include "recording/counters_json.h"
#include "recording/reader.h"
#include "util/argument.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/why.h"

struct compare_options {
	const char *files[2][COMPARISON_MAX_RUNS];
	size_t nr[2];
	bool quoted;	/* after --: a file may begin with a dash */
	bool separated; /* by -- after the first side's files */
	bool stdin_used;
	double threshold, confidence; /* percent */
	bool has_threshold;
	enum report_format format;
	struct figures_options figures;
};

/* A recording already read: only sums over fault batches are kept. */
struct compared_run {
	const char *path;
	struct recording_reader *reader; /* keeps the head, and the damage if any */
	struct analysis *analysis;	 /* NULL once the recording was read */
	struct run_counters counters;
	bool have_counters; /* the recording has an end */
	bool have_bpf;
	uint32_t hooks; /* 1 << enum bpf_hook, only proven ones for a cut recording */
	bool begun;
	uint64_t start_ns, end_ns; /* for the items, later for the watching, if known */
	uint64_t records, events;  /* that it has */
	struct fault_batches classes[NR_FAULT_CLASSES], all;
	struct read_batches reads;
};

struct compare_input {
	struct compared_run *runs[2];
	size_t nr[2];
	bool rates; /* a program was watched for a length of time */
	json_t *differences;
	struct compare_run *printed[2];
};

static const struct argp_option argp_options[] = {
	{ "threshold", 't', "PERCENT", 0,
	  "treat a smaller difference as no change (default 5); judge one run on each side, too",
	  0 },
	{ "confidence", 'c', "PERCENT", 0,
	  "confidence that a change is none by chance (default 95)", 0 },
	{ "format", 'f', "table|csv|json", 0, "standard output format (default table)", 0 },
	FIGURES_OPTIONS_HTML,
	FIGURES_OPTIONS_PLOT,
	{ 0 },
};

static const char doc[] =
	"Compares two recordings, or two sides with several recordings each: the total time in "
	"faults, the bytes read, the number of faults per class, their mean time and its "
	"parts, with confidence intervals.\vExit status: 0 no change, or one run on each side and no "
	"--threshold; 3 a change; 4 a recording is incomplete; 1 and 2 errors.";

static void compare_add_file(struct compare_options *options, const struct argp_state *state,
			     const char *text)
{
	const bool dashes = state->quoted && !strcmp(text, "--");
	unsigned int side;

	/* A second -- separates the sides if the first one only ended the options. */
	if (state->quoted && !options->quoted) {
		options->quoted = true;
		options->separated = options->nr[0] > 0;
	} else if (dashes && !options->separated && options->nr[0]) {
		options->separated = true;
		return;
	}
	side = options->separated;
	if (options->nr[side] == COMPARISON_MAX_RUNS)
		usage(state, "one side has at most %d recordings; leave out '%s'",
		      COMPARISON_MAX_RUNS, text);
	if (!strcmp(text, "-") && options->stdin_used)
		usage(state, "only one recording can be standard input; name a file for the other");
	options->stdin_used |= !strcmp(text, "-");
	options->files[side][options->nr[side]++] = text;
}

static void check_files(struct compare_options *options, const struct argp_state *state)
{
	if (!options->separated && options->nr[0] > 2)
		usage(state,
		      "unexpected argument '%s'; separate the sides by --: "
		      "pfdrive compare A1.pfs A2.pfs -- B1.pfs B2.pfs",
		      options->files[0][2]);
	if (!options->separated && options->nr[0] == 2) {
		options->files[1][0] = options->files[0][1];
		options->nr[0] = 1;
		options->nr[1] = 1;
	}
	if (!options->nr[0] || !options->nr[1])
		usage(state, "two recordings are required; usage: pfdrive compare A.pfs B.pfs");
}

static void compare_name_files(const struct compare_options *options,
			       const struct argp_state *state)
{
	static const char *const names[] = { "the first recording", "the second recording" };
	static const char *const several[] = { "a recording of side A", "a recording of side B" };
	unsigned int side;
	size_t i;

	for (side = 0; side < 2; side++)
		for (i = 0; i < options->nr[side]; i++)
			named_files_input(state,
					  options->nr[side] > 1 ? several[side] : names[side],
					  options->files[side][i]);
	named_files_output(state, "--html", options->figures.html);
}

static error_t compare_parse_option(int key, char *text, struct argp_state *state)
{
	static const char percentage[] = "a percentage";
	struct compare_options *options = state->input;

	switch (key) {
	case 't':
		options->threshold = argument_decimal(state, "threshold", text, percentage, 0, 1e6);
		options->has_threshold = true;
		return 0;
	case 'c':
		options->confidence =
			argument_decimal(state, "confidence", text, percentage, 50, 99);
		return 0;
	case 'f':
		options->format = argument_word(state, "format", text, result_format_words);
		return 0;
	case FIGURES_KEY_HTML:
		options->figures.html = text;
		return 0;
	case FIGURES_KEY_PLOT:
		options->figures.plot = text;
		if (report_figures_as_text(&options->figures))
			usage(state, "--plot: cannot draw a comparison as text; name a folder");
		return 0;
	case ARGP_KEY_ARG:
		compare_add_file(options, state, text);
		return 0;
	case ARGP_KEY_END:
		check_files(options, state);
		return 0;
	case ARGP_KEY_SUCCESS:
		compare_name_files(options, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp compare_argp = {
	.options = argp_options,
	.parser = compare_parse_option,
	.args_doc = "A.pfs B.pfs\nA.pfs... -- B.pfs...",
	.doc = doc,
};

static void compare_parse(struct compare_options *options, int argc, char **argv)
{
	*options = (struct compare_options){ .threshold = 5, .confidence = 95 };
	/* In order, or argp would move the files before -- behind it. */
	argp_parse(&compare_argp, argc, argv, ARGP_IN_ORDER, NULL, options);
}

static int compare_add_fault(void *context, const struct explained *fault)
{
	struct compared_run *run = context;

	fault_batches_add(&run->classes[fault->class], fault, run->start_ns);
	fault_batches_add(&run->all, fault, run->start_ns);
	return 0;
}

static void compare_add_event(struct compared_run *run, const struct pfstat_event *event)
{
	run->events++;
	run->have_bpf = true;
	run->hooks |= required_hooks(event);
	if (event->type == PFSTAT_EVENT_BLOCK && !(event->flags & PFSTAT_BLOCK_WRITE))
		read_batches_add(&run->reads, ((const struct pfstat_block *)event)->bytes,
				 event->ns, run->start_ns);
}

static int compare_add_item(void *context, const struct item *item)
{
	struct compared_run *run = context;

	/* Mappings and items without a time are older than the recording. */
	if (!run->begun && item->ns && item->type != ITEM_MAP) {
		run->start_ns = item->ns;
		run->begun = true;
	}
	if (item->ns > run->end_ns)
		run->end_ns = item->ns;
	run->records += item->type == ITEM_RECORD;
	if (item->type == ITEM_EVENT && item->ns)
		compare_add_event(run, item->event);
	return analysis_add(run->analysis, item);
}

static int compare_read_items(struct compared_run *run)
{
	int err = analysis_listen(run->analysis, compare_add_fault, run);

	if (!err)
		err = recording_feed(run->reader, compare_add_item, run, &signals_caught);
	return err ? err : analysis_finish(run->analysis);
}

static int compare_read_counters(struct compared_run *run)
{
	const json_t *tail = recording_tail(run->reader);
	int err;

	if (!tail)
		return 0;
	err = counters_json_parse(&run->counters, tail);
	if (err)
		return err;
	run->have_counters = true;
	run->have_bpf = run->counters.have_bpf;
	run->hooks = run->counters.have_bpf ? run->counters.hooks : 0;
	return 0;
}

/* A recording without an end lasted as long as the items. */
static void take_duration(struct compared_run *run)
{
	const struct run_counters *counters = &run->counters;
	const uint64_t first_ns = run->start_ns;
	enum fault_class class;

	if (run->have_counters && counters->start_ns != COUNT_NA && counters->end_ns != COUNT_NA &&
	    counters->start_ns < counters->end_ns) {
		run->start_ns = counters->start_ns;
		run->end_ns = counters->end_ns;
	}
	for (class = 0; class < NR_FAULT_CLASSES; class++)
		fault_batches_end(&run->classes[class], first_ns, run->end_ns);
	fault_batches_end(&run->all, first_ns, run->end_ns);
	read_batches_end(&run->reads, first_ns, run->end_ns);
}

static int compared_run_read(struct compared_run *run, const char *path)
{
	struct why why;
	int err;

	run->path = path;
	run_counters_init(&run->counters);
	err = recording_open(&run->reader, path, &why);
	if (err && signals_caught)
		return 128 + signals_caught;
	if (err)
		return message(STATUS_FAILED, "%s", why.text);
	/* Without eBPF all time is on the CPU, and parts are not compared. */
	run->analysis = analysis_new(true, recording_page_bytes(run->reader), 0);
	if (!run->analysis)
		return message(STATUS_FAILED, "out of memory");
	analysis_expect_spans(run->analysis, recording_has_spans(run->reader));
	err = compare_read_items(run);
	if (signals_caught)
		return 128 + signals_caught;
	if (!err)
		err = compare_read_counters(run);
	if (err)
		return message(STATUS_FAILED, "cannot read %s: %s", path, strerror(-err));
	take_duration(run);
	/* The next recordings need the memory. */
	analysis_free(run->analysis);
	run->analysis = NULL;
	return STATUS_OK;
}

static void compared_run_exit(struct compared_run *run)
{
	analysis_free(run->analysis);
	run_counters_exit(&run->counters);
	recording_close(run->reader);
}

static struct comparable compared_run_seen(const struct compared_run *run)
{
	return (struct comparable){ run->hooks, run->have_bpf, recording_has_spans(run->reader) };
}

static bool compared_run_has_hook(const struct compared_run *run, enum bpf_hook hook)
{
	return run->hooks & 1U << hook;
}

/* Whether a process or cgroup was watched, or a COMMAND that --duration left running. */
static bool was_watched(const struct compared_run *run)
{
	const json_t *environment = json_object_get(recording_head(run->reader), "environment");
	const char *kind = json_string_value(json_object_get(environment, "kind"));

	if (kind && !strcmp(kind, "drive"))
		return false;
	return (run->have_counters && run->counters.edges) ||
	       json_is_integer(json_object_get(environment, "pid")) ||
	       json_is_string(json_object_get(environment, "cgroup"));
}

static double seconds_of(const struct compared_run *run)
{
	return run->end_ns > run->start_ns ? (run->end_ns - run->start_ns) / 1e9 : 0;
}

static struct compare_run printed_run(const struct compared_run *run)
{
	const struct run_counters *counters = &run->counters;

	return (struct compare_run){
		.file = run->path,
		.faults = run->all.sums[BATCH_FAULTS],
		.records = run->records,
		.events = run->events,
		.seconds = seconds_of(run),
		/* perf has no call records. perf samples are events. */
		.lost_records = !run->have_counters		  ? COUNT_NA :
				counters->hooks & 1U << HOOK_PERF ? 0 :
								    counters->lost,
		/* Without eBPF no event can be lost. */
		.lost_events = !run->have_counters ? COUNT_NA :
			       counters->have_bpf  ? run_counters_events_lost(counters) :
						     0,
		.damage = recording_damage(run->reader),
	};
}

static int compare_print_page(FILE *out, void *context, char *const *svgs)
{
	struct compare_page *page = context;

	page->svgs = svgs;
	return compare_page_print(out, page);
}

static int compare_write_figure(const struct compare_options *options,
				const struct compare_report *report)
{
	struct drawing drawing;
	struct compare_page page = { .report = report, .drawing = &drawing };
	char *sentence;
	int status;

	if (!options->figures.html && !options->figures.plot)
		return STATUS_OK;
	sentence = compare_print_sentence(report);
	if (!sentence)
		return message(STATUS_FAILED, "out of memory");
	status = fig_compare_draw(&drawing, report, sentence) ?
			 message(STATUS_FAILED, "out of memory") :
			 report_figures_write(&options->figures, &drawing, 1, compare_print_page,
					      &page);
	drawing_free(&drawing);
	free(sentence);
	return status;
}

/* Writes the figures even if standard output cannot be written. */
static int compare_show(const struct compare_options *options, const struct compare_report *report)
{
	int err = compare_print(stdout, options->format, report);
	int printed = err ? message_of_stdout(err, "the comparison") : STATUS_OK;
	int drawn = compare_write_figure(options, report);

	return printed ? printed : drawn;
}

/* class: NR_FAULT_CLASSES for all. */
static void side_fill(struct comparison_side *side, const struct compare_input *input,
		      unsigned int number, enum fault_class class, bool reads)
{
	const struct compared_run *run = input->runs[number];

	for (side->nr = 0; side->nr < input->nr[number]; side->nr++, run++)
		side->runs[side->nr] = (struct comparison_run){
			.faults = class == NR_FAULT_CLASSES ? &run->all : &run->classes[class],
			.reads = reads ? &run->reads : NULL,
			.seconds = input->rates ? seconds_of(run) : 0,
		};
}

static uint64_t side_faults(const struct comparison_side *side)
{
	uint64_t faults = 0;
	size_t i;

	for (i = 0; i < side->nr; i++)
		faults += side->runs[i].faults->sums[BATCH_FAULTS];
	return faults;
}

/* The parts and classes known to all runs. */
struct known {
	unsigned int parts, classes;
	bool all;   /* all runs see the same faults, in whatever classes */
	bool whole; /* all runs have the same time for faults with calls */
	bool reads;
};

static struct known known_by(const struct compare_input *input)
{
	const bool fault_hook = compared_run_has_hook(input->runs[0], HOOK_FAULT);
	const bool is_whole = comparable_is_whole(compared_run_seen(input->runs[0]));
	struct known known = { ~0U, ~0U, true, true, true };
	const struct compared_run *run;
	struct comparable seen;
	bool has_reclaim = false;
	unsigned int side;

	for (side = 0; side < 2; side++)
		for (run = input->runs[side]; run < input->runs[side] + input->nr[side]; run++) {
			seen = compared_run_seen(run);
			has_reclaim |= run->all.sums[BATCH_TIME + PART_RECLAIM];
			known.parts &= comparable_parts(seen);
			known.classes &= comparable_classes(seen);
			known.all &= compared_run_has_hook(run, HOOK_FAULT) == fault_hook;
			known.whole &= comparable_is_whole(seen) == is_whole;
			known.reads &= compared_run_has_hook(run, HOOK_BLOCK);
		}
	if (has_reclaim && !(known.parts & 1U << PART_RECLAIM))
		known.parts &= ~parts_with(PART_TAKES_RECLAIM);
	return known;
}

/* Adds the class, or the row of all faults, if every run can count it. */
static void add_class(struct comparison *comparison, const struct compare_input *input,
		      enum fault_class class, const struct known *known)
{
	const bool all = class == NR_FAULT_CLASSES;
	const char *name = all ? "all" : fault_class_name(class);
	struct comparison_side a, b;

	side_fill(&a, input, 0, class, all && known->reads);
	side_fill(&b, input, 1, class, all && known->reads);
	if (all ? known->all : known->classes & 1U << class)
		comparison_add(comparison, name, &a, &b,
			       known->whole || (class >= FAULT_FIRST_OTHER && !all) ?
				       known->parts | COMPARISON_WHOLE :
				       0);
	else if (side_faults(&a) || side_faults(&b))
		comparison_add_unknown(comparison, name);
}

static void add_all(struct comparison *comparison, const struct compare_input *input)
{
	const struct known known = known_by(input);
	enum fault_class class;

	add_class(comparison, input, NR_FAULT_CLASSES, &known);
	for (class = 0; class < NR_FAULT_CLASSES; class++)
		add_class(comparison, input, class, &known);
}

static int input_finish(struct compare_input *input)
{
	const json_t *heads[2][COMPARISON_MAX_RUNS];
	unsigned int side;
	size_t i;

	for (side = 0; side < 2; side++) {
		input->printed[side] = calloc(input->nr[side], sizeof(*input->printed[side]));
		if (!input->printed[side])
			return -ENOMEM;
		for (i = 0; i < input->nr[side]; i++) {
			heads[side][i] = recording_head(input->runs[side][i].reader);
			input->printed[side][i] = printed_run(&input->runs[side][i]);
			input->rates |= was_watched(&input->runs[side][i]);
		}
	}
	input->differences = compare_heads(heads[0], input->nr[0], heads[1], input->nr[1]);
	return input->differences ? 0 : -ENOMEM;
}

static int compare_runs(const struct compare_options *options, struct compare_input *input)
{
	struct comparison comparison = { 0 };
	struct comparison_rules rules = {
		.confidence = options->confidence / 100,
		.threshold = options->threshold / 100,
		.single = options->has_threshold,
	};
	struct compare_report report = {
		.comparison = &comparison,
		.confidence = options->confidence,
		.threshold = options->threshold,
	};
	int status;

	if (input_finish(input))
		return message(STATUS_FAILED, "out of memory");
	add_all(&comparison, input);
	report.a = (struct compare_side){ input->printed[0], input->nr[0] };
	report.b = (struct compare_side){ input->printed[1], input->nr[1] };
	rules.lost[0] = comparable_lost_share(&report.a);
	rules.lost[1] = comparable_lost_share(&report.b);
	comparison_judge(&comparison, &rules);
	report.rates = input->rates;
	report.differences = input->differences;
	status = compare_show(options, &report);
	if (status)
		return status;
	if (comparison.incomplete)
		return STATUS_INCOMPLETE;
	return comparison.change ? STATUS_CHANGE : STATUS_OK;
}

static int input_read(struct compare_input *input, const struct compare_options *options)
{
	unsigned int side;
	int status = STATUS_OK;
	size_t i;

	for (side = 0; side < 2; side++) {
		input->runs[side] = calloc(options->nr[side], sizeof(*input->runs[side]));
		if (!input->runs[side])
			return message(STATUS_FAILED, "out of memory");
		for (i = 0; i < options->nr[side] && !status; i++) {
			input->nr[side] = i + 1;
			status = compared_run_read(&input->runs[side][i], options->files[side][i]);
		}
		if (status)
			return status;
	}
	return STATUS_OK;
}

static void input_exit(struct compare_input *input)
{
	unsigned int side;
	size_t i;

	for (side = 0; side < 2; side++) {
		for (i = 0; i < input->nr[side]; i++)
			compared_run_exit(&input->runs[side][i]);
		free(input->runs[side]);
		free(input->printed[side]);
	}
	json_decref(input->differences);
}

static int cmd_compare(int argc, char **argv)
{
	struct compare_options options;
	struct compare_input input = { 0 };
	int status;

	compare_parse(&options, argc, argv);
	signals_init();
	status = input_read(&input, &options);
	if (!status)
		status = compare_runs(&options, &input);
	input_exit(&input);
	return status;
}

const struct subcommand compare_command = {
	.name = "compare",
	.title = "pfdrive compare",
	.group = COMMAND_EXPLAIN,
	.summary = "compare the faults in two recordings",
	.run = cmd_compare,
	.argp = &compare_argp,
};

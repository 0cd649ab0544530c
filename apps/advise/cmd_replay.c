// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive replay: reads the faults of one file from a recording, touches the same pages again under
 * another policy, and prints both.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advise.h"
#include "advise/replay.h"
#include "drive/run.h"
#include "privilege/named_files.h"
#include "report/view.h"
#include "system/cpus.h"
#include "util/argument.h"
#include "util/array.h"
#include "util/grid.h"
#include "util/json_value.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/text.h"

/*
 * Prints a file's recorded faults next to the replayed ones, as a table or as JSON. The sums omit a
 * class that one side could not see.
 */

/* Faults in a class, recorded or replayed. known: false if this side could not see them. */
struct side {
	struct class_totals totals;
	bool known;
};

static struct side replayed_of(const struct replayed *replayed, enum fault_class class)
{
	return (struct side){ replayed->classes[class],
			      view_class_known(&replayed->result.report, class) };
}

static struct side recorded_of(const struct recorded_file *file, enum fault_class class)
{
	return (struct side){ file->classes[class], fault_class_known(class, file->hooks) };
}

static void replay_report_add(struct side *sum, const struct side *side)
{
	sum->totals.count += side->totals.count;
	sum->totals.total_ns += side->totals.total_ns;
}

static void side_cells(struct grid *grid, const struct side *of)
{
	const struct class_totals side = of->totals;

	if (!of->known) {
		grid_cell(grid, "n/a");
		grid_cell(grid, "n/a");
		grid_cell(grid, "n/a");
		return;
	}
	grid_cell(grid, "%" PRIu64, side.count);
	if (side.count)
		grid_cell(grid, "%.2f", side.total_ns / 1e3 / side.count);
	else
		grid_cell(grid, "-");
	grid_cell(grid, "%.3f", side.total_ns / 1e6);
}

static void replay_report_row(struct grid *grid, const char *name, const struct side *before,
			      const struct side *after)
{
	const double before_ns = before->totals.total_ns;
	const double change_ns = after->totals.total_ns - before_ns;

	grid_row(grid);
	grid_cell(grid, "%s", name);
	side_cells(grid, before);
	side_cells(grid, after);
	if (before->known && after->known)
		grid_cell(grid, "%+.3f", change_ns / 1e6);
	else
		grid_cell(grid, "n/a");
	if (before->known && after->known && before_ns > 0)
		grid_cell(grid, "%+.1f%%", 100 * change_ns / before_ns);
	else
		grid_cell(grid, "n/a");
}

static void replay_report_rows(struct grid *grid, const struct recorded_file *file,
			       const struct replayed *replayed)
{
	struct side before, after, all_before = { .known = true }, all_after = { .known = true };
	enum fault_class class;
	bool all = true;

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		before = recorded_of(file, class);
		after = replayed_of(replayed, class);
		if (before.known && after.known) {
			replay_report_add(&all_before, &before);
			replay_report_add(&all_after, &after);
		} else if (before.known || after.known) {
			all = false;
		}
		if (before.totals.count || after.totals.count)
			replay_report_row(grid, fault_class_name(class), &before, &after);
	}
	/* A class that one side could not see would look like a change. */
	replay_report_row(grid, all ? "all faults" : "all known to both", &all_before, &all_after);
}

static void warn_of(FILE *out, const char *when, uint64_t lost, const char *what)
{
	if (lost != COUNT_NA && lost)
		fprintf(out, "%s: LOST %" PRIu64 " %s: COUNTS AND TIMES MAY BE TOO LOW\n", when,
			lost, what);
}

/* Losses on one side would look like a change. */
static void replay_report_warnings(FILE *out, const struct recorded_file *file,
				   const struct report *replayed)
{
	warn_of(out, "RECORDED", file->lost, "RECORDS");
	warn_of(out, "RECORDED", file->events_lost, "EVENTS");
	warn_of(out, "REPLAYED", replayed->losses.records, "RECORDS");
	warn_of(out, "REPLAYED", view_events_lost(replayed), "EVENTS");
}

static void print_path(FILE *out, const char *what, const char *path)
{
	fprintf(out, "%s: ", what);
	utf8_print(out, path);
	fputc('\n', out);
}

static void print_advice(FILE *out, const struct recorded_file *file,
			 const struct replayed *replayed)
{
	if (replayed->advised)
		fputs("Advice: from --advise, instead of the program's\n", out);
	else if (!file->have_advice)
		fputs("Advice: the program's advice is not known (recorded without eBPF, or by an "
		      "older pfdrive); if the program called madvise(2), this is not a control\n",
		      out);
	else
		fprintf(out,
			"Advice: %zu recorded madvise(2) calls and mapping flags "
			"repeated\n",
			replayed->nr_advices);
	if (!replayed->advised && file->no_advice)
		fprintf(out,
			"Advice: not known for %zu mappings from before the recording; if "
			"they had any, this is not a control\n",
			file->no_advice);
	if (replayed->nr_refused)
		fprintf(out, "ADVICE: %zu OF THEM REFUSED: %s\n", replayed->nr_refused,
			strerror(replayed->refused_errno));
}

static int replay_report_table(FILE *out, const struct recorded_file *file,
			       const struct replayed *replayed)
{
	static const char *const headings[] = { "<Fault",    ">Recorded",  ">Mean µs",
						">Total ms", ">Replayed",  ">Mean µs",
						">Total ms", ">Change ms", ">Change" };
	const struct report *run = &replayed->result.report;
	struct grid grid;

	replay_report_warnings(out, file, run);
	print_path(out, "File", file->path);
	if (strcmp(replayed->path, file->path))
		print_path(out, "Replayed on", replayed->path);
	print_advice(out, file, replayed);
	fprintf(out, "Recorded: %.3f ms from the first fault to the last; replayed: %.3f ms\n\n",
		(file->last_ns - file->first_ns) / 1e6, run->time.elapsed_ns / 1e6);
	grid_open(&grid, headings, ARRAY_SIZE(headings));
	replay_report_rows(&grid, file, replayed);
	return grid_close(&grid, out);
}

static json_t *replay_report_side(struct side side)
{
	return json_pack("{so so}", "count", value_known(side.known ? side.totals.count : COUNT_NA),
			 "total_ns", value_known(side.known ? side.totals.total_ns : COUNT_NA));
}

static json_t *losses_of(uint64_t records, uint64_t events)
{
	return json_pack("{so so}", "records", value_known(records), "events", value_known(events));
}

/* null: the program's advice is unknown. */
static json_t *advice_of(const struct recorded_file *file, const struct replayed *replayed)
{
	if (!file->have_advice)
		return json_null();
	return json_pack("{sI sI}", "repeated", (json_int_t)replayed->nr_advices, "refused",
			 (json_int_t)replayed->nr_refused);
}

static int replay_report_json(FILE *out, const struct recorded_file *file,
			      const struct replayed *replayed)
{
	const struct report *run = &replayed->result.report;
	json_t *recorded = json_object(), *again = json_object(), *object;
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		json_object_set_new(recorded, fault_class_name(class),
				    replay_report_side(recorded_of(file, class)));
		json_object_set_new(again, fault_class_name(class),
				    replay_report_side(replayed_of(replayed, class)));
	}
	object = json_pack("{so so sI sI so so so so so}", "file", value_text(file->path),
			   "replayed_on", value_text(replayed->path), "recorded_ns",
			   (json_int_t)(file->last_ns - file->first_ns), "replayed_ns",
			   (json_int_t)run->time.elapsed_ns, "recorded", recorded, "replayed",
			   again, "advice", advice_of(file, replayed), "recorded_lost",
			   losses_of(file->lost, file->events_lost), "replayed_lost",
			   losses_of(run->losses.records, view_events_lost(run)));
	return value_print(out, object);
}

/* The replay's time is from the policy's advice to the last access. */
static int replay_report_print(FILE *out, const struct recorded_file *file,
			       const struct replayed *replayed, bool json)
{
	int err = json ? replay_report_json(out, file, replayed) :
			 replay_report_table(out, file, replayed);

	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	return err;
}

struct replay_options {
	const char *recording;
	const char *path;   /* NULL: the costliest file */
	const char *target; /* NULL: the same */
	struct policy policy;
	bool paced;
	bool json;
	struct options run;
};

enum key {
	KEY_ADVISE = 'a',
	KEY_CACHE = 'c',
	KEY_FORMAT = 'f',
	KEY_READAHEAD = 'r',
	KEY_POPULATE = 1000,
	KEY_FILE,
	KEY_ON,
	KEY_PACE,
	KEY_FAULT_AROUND,
	KEY_NO_BPF,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Replay:", 1 },
	{ "file", KEY_FILE, "PATH", 0,
	  "replay the faults on this recorded file (default: the one whose faults took longest)",
	  1 },
	{ "on", KEY_ON, "PATH", 0, "touch this file instead of the recorded one", 1 },
	{ "pace", KEY_PACE, "recorded|none", 0,
	  "keep the recorded time between faults, or none (default recorded)", 1 },
	{ "cache", KEY_CACHE, "cold|warm", 0, "page cache state before the replay (default cold)",
	  1 },
	{ NULL, 0, NULL, 0, "Policy:", 2 },
	{ "advise", KEY_ADVISE, "ADVICE", 0, "madvise(2): " POLICY_ADVICE_NAMES, 2 },
	{ "read-ahead", KEY_READAHEAD, "SIZE", 0,
	  "read-ahead for this file, instead of the device's", 2 },
	{ "populate", KEY_POPULATE, NULL, 0, "read and map the whole file first", 2 },
	{ "fault-around", KEY_FAULT_AROUND, "keep|off", 0,
	  "off: each page faults separately (default keep)", 2 },
	{ NULL, 0, NULL, 0, "Output:", 3 },
	{ "format", KEY_FORMAT, "table|json", 0, "standard output format (default table)", 3 },
	{ "no-bpf", KEY_NO_BPF, NULL, 0, "run without eBPF", 3 },
	{ 0 },
};

static int64_t readahead_of(const struct argp_state *state, const char *text)
{
	uint64_t bytes = 0;

	if (size_parse(text, &bytes) || bytes % page_size() || bytes > 1ULL << 30)
		usage(state, "--read-ahead: '%s' is not a multiple of %" PRIu64 "K up to 1G", text,
		      page_size() / 1024);
	return bytes;
}

static error_t replay_parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const paces[] = { "recorded", "none", NULL };
	static const char *const caches[] = { "cold", "warm", NULL };
	static const char *const around[] = { "keep", "off", NULL };
	static const char *const formats[] = { "table", "json", NULL };
	struct replay_options *options = state->input;

	switch (key) {
	case KEY_FILE:
		options->path = text;
		return 0;
	case KEY_ON:
		options->target = text;
		return 0;
	case KEY_PACE:
		options->paced = !argument_word(state, "pace", text, paces);
		return 0;
	case KEY_CACHE:
		options->run.warm = argument_word(state, "cache", text, caches);
		return 0;
	case KEY_ADVISE:
		if (policy_parse_advice(&options->policy, text))
			usage(state, "--advise: '%s' is not one of " POLICY_ADVICE_NAMES, text);
		return 0;
	case KEY_READAHEAD:
		options->policy.readahead_bytes = readahead_of(state, text);
		return 0;
	case KEY_POPULATE:
		options->policy.populate = true;
		return 0;
	case KEY_FAULT_AROUND:
		options->run.fault_around = !argument_word(state, "fault-around", text, around);
		return 0;
	case KEY_FORMAT:
		options->json = argument_word(state, "format", text, formats);
		return 0;
	case KEY_NO_BPF:
		options->run.bpf = false;
		return 0;
	case ARGP_KEY_ARG:
		if (options->recording)
			usage(state, "unexpected argument '%s'; give one RECORDING", text);
		if (!strcmp(text, "-"))
			usage(state,
			      "cannot replay standard input: the recording is read more than "
			      "once; name a file");
		options->recording = text;
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage(state, "no RECORDING was given; see --help");
		return 0;
	case ARGP_KEY_SUCCESS:
		named_files_input(state, "the recording", options->recording);
		named_files_input(state, "--on", options->target);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp replay_argp = {
	.options = argp_options,
	.parser = replay_parse_option,
	.args_doc = "RECORDING",
	.doc = "Touches the pages of a recorded file in the recorded order and pace under another "
	       "policy, and prints the difference.\vA recording has only the pages that faulted; "
	       "pages that fault-around had mapped are not touched. The file is only read. "
	       "Without root, perf records the replayed faults, in fewer classes.",
};

static void replay_parse(struct replay_options *options, int argc, char **argv)
{
	*options = (struct replay_options){
		.policy = POLICY_NONE,
		.paced = true,
		.run = {
			.pattern_text = "replay", .fault_around = true, .bpf = true, .repeats = 1,
			.cpu = -1,
		},
	};
	argp_parse(&replay_argp, argc, argv, 0, NULL, options);
}

/* Counts only faults in the replayed mapping. */
struct listening {
	const struct mapping *mapping;
	struct class_totals *classes;
};

static int replay_take_fault(void *context, const struct explained *fault)
{
	struct listening *listening = context;
	const uint64_t start = (uintptr_t)listening->mapping->data;

	if (fault->address < start || fault->address - start >= listening->mapping->bytes)
		return 0;
	listening->classes[fault->class].count++;
	listening->classes[fault->class].total_ns += fault->end_ns - fault->start_ns;
	return 0;
}

static int message_of_readahead(const char *path, int err)
{
	if (err == -EOPNOTSUPP)
		return message(STATUS_FAILED,
			       "--read-ahead: the file system of %s has no "
			       "separate read-ahead setting",
			       path);
	return workload_file_message(path, err);
}

/* A file takes the device's read-ahead when it is opened, see struct policy. */
static int open_target(const struct policy *policy, const char *path, struct mapping *mapping)
{
	const int64_t bytes = policy->readahead_bytes;
	struct policy_readahead readahead = POLICY_READAHEAD_NONE;
	int err = 0, end_err;

	if (bytes >= 0)
		err = policy_readahead_begin(&readahead, path, bytes);
	if (err)
		return message_of_readahead(path, err);
	err = mapping_open(mapping, path, false);
	end_err = policy_readahead_end(&readahead);
	if (end_err)
		return message(STATUS_FAILED, "--read-ahead: cannot restore %s to %s: %s",
			       readahead.path, strtok(readahead.before, "\n"), strerror(-end_err));
	return err ? workload_file_message(path, err) : STATUS_OK;
}

static int replay_touch(const struct replay_options *options, const struct recorded_file *file,
			struct replayed *replayed)
{
	struct mapping mapping = MAPPING_NONE;
	struct options run = options->run;
	struct pattern pattern;
	struct listening listening = { &mapping, replayed->classes };
	struct cpus cpus;
	struct run_plan plan = {
		.last = true,
		.options = &run,
		.pattern = &pattern,
		.mapping = &mapping,
		.policy = &options->policy,
		.cpus = &cpus,
		.number = 1,
		.listener = replay_take_fault,
		.listener_context = &listening,
	};
	int status, err;

	run.file = options->target ?: file->path;
	plan.name = run.file;
	replayed->path = run.file;
	err = cpus_read(&cpus);
	if (err)
		return message(STATUS_FAILED, "cannot read the CPU affinity: %s", strerror(-err));
	status = open_target(&options->policy, run.file, &mapping);
	if (status)
		return status;
	replay_pattern(&pattern, &file->replay, mapping.bytes, options->paced);
	status = run_once(&plan, &replayed->result);
	replayed->nr_advices = file->replay.nr_advices;
	replayed->nr_refused = replay_refused(&replayed->refused_errno);
	mapping_close(&mapping);
	return status;
}

static int replay_print(const struct replay_options *options, const struct recorded_file *file,
			const struct replayed *replayed)
{
	int err = replay_report_print(stdout, file, replayed, options->json);
	int status = err ? message_of_stdout(err, "the result") : STATUS_OK;
	int accounts = result_check(&replayed->result, 1);

	return status ? status : accounts;
}

static int cmd_replay(int argc, char **argv)
{
	struct recorded_file file = { 0 };
	struct replay_options options;
	struct replayed replayed = { 0 };
	int status;

	replay_parse(&options, argc, argv);
	signals_init();
	status = recorded_file_read(&file, options.recording, options.path);
	replayed.advised = options.policy.advice >= 0;
	if (replayed.advised)
		replay_forget_advice(&file.replay);
	if (!status)
		status = replay_touch(&options, &file, &replayed);
	if (!status)
		status = replay_print(&options, &file, &replayed);
	result_free(&replayed.result);
	recorded_file_exit(&file);
	return status;
}

const struct subcommand replay_command = {
	.name = "replay",
	.title = "pfdrive replay",
	.group = COMMAND_MEASURE,
	.summary = "touch a recorded file's pages under another policy",
	.run = cmd_replay,
	.argp = &replay_argp,
};

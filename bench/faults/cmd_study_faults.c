// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfbench faults FOLDER: the index page for the experiments run by make demo.
 *
 * The demo's index page: for each experiment in the page-fault study, the published counts, this
 * run's counts and the counts predicted by the kernel's read-ahead rule.
 *
 * Fills part "index" of page.html. The first paragraph is the verdict: whether run and rule agree.
 * If they disagree, each row shows the difference and the reason.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/faults/fault_experiments.h"
#include "bench/faults/fault_variations.h"
#include "bench/pfbench.h"
#include "print/html/html.h"
#include "print/html/html_template.h"
#include "util/array.h"
#include "util/message.h"

#define TEXT_SIZE 512

struct fault_index {
	struct {
		struct fault_run run;
		struct fault_counts rule;
	} rows[NR_FAULT_EXPERIMENTS];
	struct fault_variation variations[NR_FAULT_VARIATIONS];
};

/*
 * Reads the runs in a folder, then simulates the runs and the variations. On an error @failed names
 * the run that could not be read or simulated.
 */
static int fault_index_make(struct fault_index *index, const char *folder, const char **failed)
{
	const char *kernel;
	size_t i;
	int err = 0;

	*index = (struct fault_index){ 0 };
	for (i = 0; i < NR_FAULT_EXPERIMENTS && !err; i++) {
		*failed = fault_experiments[i].name;
		err = fault_run_load(&index->rows[i].run, folder, fault_experiments[i].name);
		err = err ?: fault_run_simulate(&index->rows[i].run, &index->rows[i].rule);
	}
	kernel = index->rows[0].run.environment.kernel;
	for (i = 0; i < NR_FAULT_VARIATIONS && !err; i++) {
		index->variations[i] = fault_variations[i];
		err = fault_variation_run(&index->variations[i], kernel);
	}
	return err;
}

static void fill_text(FILE *out, struct html_part *part, const char *slot, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void fill_text(FILE *out, struct html_part *part, const char *slot, const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	html_part_to(out, part, slot);
	html_text(out, text);
}

static bool agrees(const struct fault_index *index, size_t row)
{
	const struct fault_counts *run = &index->rows[row].run.counts;
	const struct fault_counts *rule = &index->rows[row].rule;

	return run->disk == rule->disk && run->marks == rule->marks && run->longs == rule->longs;
}

/* The reason is measured, or the difference is reported as not explained. */
static void state_difference(char *text, const struct fault_run *run,
			     const struct fault_counts *rule)
{
	const int64_t disk = run->counts.disk - rule->disk;
	const int64_t longs = run->counts.longs - rule->longs;
	const int64_t marks = run->counts.marks - rule->marks;
	size_t used, room;
	char *reason;

	if (disk || longs)
		used = snprintf(text, TEXT_SIZE,
				"differ by %+" PRId64 " disk and %+" PRId64 " long: ", disk, longs);
	else
		used = snprintf(text, TEXT_SIZE, "differ by %+" PRId64 " calls at a mark: ", marks);
	reason = text + used;
	room = TEXT_SIZE - used;
	if (run->lost)
		snprintf(reason, room, "%" PRIu64 " records of this run are lost", run->lost);
	else if (run->faults < run->environment.file_pages)
		snprintf(reason, room,
			 "%" PRIu64 " faults mapped %" PRIu64
			 " pages, so the file system has large folios",
			 run->faults, run->environment.file_pages);
	else if (run->waits && disk >= 0 && longs == -disk && marks <= 0 &&
		 (uint64_t)(disk - marks) <= run->waits)
		/* The rule has such a fault as long, or as a call at a mark. */
		snprintf(reason, room,
			 "%" PRIu64 " faults met a page that was still being read, and the rule "
			 "has no time",
			 run->waits);
	else
		snprintf(reason, room, "not explained");
}

static void print_experiment(FILE *out, const struct fault_index *index, size_t row)
{
	const struct fault_experiment *experiment = &fault_experiments[row];
	const struct fault_run *run = &index->rows[row].run;
	const struct fault_counts *rule = &index->rows[row].rule;
	struct html_part part = html_part("index_row");
	char agreement[TEXT_SIZE] = "equal";

	if (!agrees(index, row))
		state_difference(agreement, run, rule);
	fill_text(out, &part, "link", "%s.html", experiment->name);
	fill_text(out, &part, "title", "%s, %s", run->environment.pattern, run->environment.cache);
	fill_text(out, &part, "figure", "%s", experiment->figure);
	fill_text(out, &part, "disk_study", "%" PRIu64, experiment->published.disk);
	fill_text(out, &part, "disk_run", "%" PRIu64, run->counts.disk);
	fill_text(out, &part, "disk_rule", "%" PRIu64, rule->disk);
	fill_text(out, &part, "long_study", "%" PRIu64, experiment->published.longs);
	fill_text(out, &part, "long_run", "%" PRIu64, run->counts.longs);
	fill_text(out, &part, "long_rule", "%" PRIu64, rule->longs);
	fill_text(out, &part, "agreement", "%s", agreement);
	html_part_end(out, &part);
}

static const char *order_text(const struct fault_variation *variation)
{
	switch (variation->order) {
	case FAULT_ORDER_STEPPED:
		return variation->hits_ignored ?
			       "the same, if hits did not reduce the excess of misses" :
			       "stride:256K, sweeps that begin a page later, as in this run";
	case FAULT_ORDER_SHUFFLED:
		return "stride:256K, the same sweeps in random orders";
	case FAULT_ORDER_WRAPPED:
		return "stride:256K, sweeps that go on across the file's end";
	case FAULT_ORDER_RANDOM:
		break;
	}
	return "random, other seeds";
}

static void print_variation(FILE *out, const struct fault_variation *variation)
{
	const size_t experiment = variation->order == FAULT_ORDER_RANDOM ? FAULT_RANDOM_COLD :
									   FAULT_STRIDE_256K;
	struct html_part part = html_part("variation_row");

	fill_text(out, &part, "order", "%s", order_text(variation));
	fill_text(out, &part, "window", "%" PRIu64 " KiB", variation->window * STUDY_PAGE / 1024);
	fill_text(out, &part, "runs", "%" PRIu64, variation->runs);
	if (variation->least == variation->most)
		fill_text(out, &part, "misses", "%" PRIu64, variation->least);
	else
		fill_text(out, &part, "misses", "%" PRIu64 " to %" PRIu64, variation->least,
			  variation->most);
	fill_text(out, &part, "study", "%" PRIu64, fault_experiments[experiment].published.disk);
	html_part_end(out, &part);
}

static const struct fault_variation *variation_of(const struct fault_index *index,
						  enum fault_order order, bool long_window)
{
	size_t i;

	for (i = 0; i < NR_FAULT_VARIATIONS; i++) {
		const struct fault_variation *variation = &index->variations[i];
		const bool is_long = variation->window > 32;

		if (variation->order == order && !variation->hits_ignored && is_long == long_window)
			return variation;
	}
	return NULL;
}

static void fill_explanation(FILE *out, struct html_part *part, const struct fault_index *index)
{
	const struct fault_variation *stepped = variation_of(index, FAULT_ORDER_STEPPED, false);
	const struct fault_variation *wrapped = variation_of(index, FAULT_ORDER_WRAPPED, false);
	const struct fault_variation *wide = variation_of(index, FAULT_ORDER_WRAPPED, true);

	fill_text(
		out, part, "explanation",
		"The sweep order decides how many misses the rule has. If each sweep begins a "
		"page later, it hits the pages that the sweep before read around: %" PRIu64
		" misses. If it goes on where the last one passed the end of the file, it hits few "
		"of them: %" PRIu64 " to %" PRIu64
		". The study states neither the order nor the exact file size, so this is "
		"possible, but not proven. The 1 MiB read-ahead that the study assumes is not "
		"possible: the rule then has %" PRIu64 ".",
		stepped->least, wrapped->least, wrapped->most, wide->most);
}

/* The reasons for the other differences also quote figures from the run and the rule. */
static void fill_reasons(FILE *out, struct html_part *part, const struct fault_index *index)
{
	const struct fault_counts *sequential = &index->rows[FAULT_SEQUENTIAL].run.counts;
	const struct fault_counts *stride = &index->rows[FAULT_STRIDE_4K].rule;

	fill_text(out, part, "random_published", "%" PRIu64,
		  fault_experiments[FAULT_RANDOM_COLD].published.disk);
	fill_text(out, part, "sequential_published", "%" PRIu64,
		  fault_experiments[FAULT_SEQUENTIAL].published.disk);
	fill_text(out, part, "sequential_misses", "%" PRIu64, sequential->disk - sequential->marks);
	fill_text(out, part, "sequential_marks", "%" PRIu64, sequential->marks);
	fill_text(out, part, "stride_published", "%" PRIu64,
		  fault_experiments[FAULT_STRIDE_4K].published.disk);
	fill_text(out, part, "stride_misses", "%" PRIu64, stride->disk - stride->marks);
	fill_text(out, part, "warm_published", "%" PRIu64,
		  fault_experiments[FAULT_RANDOM_WARM].published.longs);
	fill_text(out, part, "warm_published", "%" PRIu64,
		  fault_experiments[FAULT_RANDOM_WARM].published.longs);
	fill_text(out, part, "study_pages", "%u", STUDY_PAGES);
}

static void print_index_verdict(FILE *out, const struct fault_index *index)
{
	const struct fault_variation *wrapped = variation_of(index, FAULT_ORDER_WRAPPED, false);
	const uint64_t published = fault_experiments[FAULT_STRIDE_256K].published.disk;
	char text[TEXT_SIZE];
	size_t i, equal = 0;

	for (i = 0; i < NR_FAULT_EXPERIMENTS; i++)
		equal += agrees(index, i);
	if (equal == NR_FAULT_EXPERIMENTS)
		snprintf(text, sizeof(text),
			 "In all five experiments this run counts exactly the faults that the "
			 "kernel's read-ahead rule predicts.");
	else
		snprintf(text, sizeof(text),
			 "In %zu of five experiments this run counts exactly the faults that the "
			 "kernel's read-ahead rule predicts; the table has the differences.",
			 equal);
	fputs("<p>", out);
	html_text(out, text);
	snprintf(text, sizeof(text),
		 "The study counts other numbers, most of all %" PRIu64
		 " disk faults with stride:256K "
		 "instead of %" PRIu64 ". For other sweep orders the same rule has %" PRIu64
		 " to %" PRIu64 " misses, a range that %s that number.",
		 published, index->rows[FAULT_STRIDE_256K].run.counts.disk, wrapped->least,
		 wrapped->most,
		 wrapped->least <= published && published <= wrapped->most ? "includes" :
									     "does not include");
	fputs("</p>\n<p>", out);
	html_text(out, text);
	fputs("</p>\n", out);
}

static void fill_when(FILE *out, struct html_part *part, const struct environment *e)
{
	const time_t started = e->started_s;
	char when[64] = "";
	struct tm utc;

	if (started && gmtime_r(&started, &utc))
		strftime(when, sizeof(when), ", %Y-%m-%d %H:%M:%S UTC", &utc);
	fill_text(out, part, "when",
		  "Linux %s on %s%s. A file of %" PRIu64 " pages, read-ahead %" PRId64
		  " KiB, fault-around off",
		  e->kernel, e->machine, when, e->file_pages, e->readahead_bytes / 1024);
}

static int print_index_subject(FILE *out, const void *context)
{
	(void)context;
	return fputs("The page-fault study's five experiments", out) < 0 ? -EIO : 0;
}

static int print_index_body(FILE *out, const void *context)
{
	const struct fault_index *index = context;
	const struct environment *e = &index->rows[0].run.environment;
	struct html_part part = html_part("index");
	size_t i;

	fill_when(out, &part, e);
	html_part_to(out, &part, "verdict");
	print_index_verdict(out, index);
	html_part_to(out, &part, "rows");
	for (i = 0; i < NR_FAULT_EXPERIMENTS; i++)
		print_experiment(out, index, i);
	fill_text(out, &part, "window", "%" PRId64, e->readahead_bytes / (int64_t)e->page_bytes);
	fill_text(out, &part, "window", "%" PRId64, e->readahead_bytes / (int64_t)e->page_bytes);
	fill_text(out, &part, "study_pages", "%u", STUDY_PAGES);
	html_part_to(out, &part, "variations");
	for (i = 0; i < NR_FAULT_VARIATIONS; i++)
		print_variation(out, &index->variations[i]);
	fill_text(out, &part, "stride_256k_published", "%" PRIu64,
		  fault_experiments[FAULT_STRIDE_256K].published.disk);
	fill_explanation(out, &part, index);
	fill_reasons(out, &part, index);
	html_part_end(out, &part);
	return 0;
}

/* Prints the page whole or not at all. 0 or a negative errno. */
static int fault_index_print(FILE *out, const struct fault_index *index)
{
	return html_print_content(out, &(struct html_content){
					       .subject = print_index_subject,
					       .body = print_index_body,
					       .context = index,
				       });
}

static int cmd_study_faults(int argc, char **argv)
{
	static struct fault_index index;
	const char *failed;
	int err;

	if (argc != 2)
		return message(STATUS_USAGE, "name the folder with the make demo runs");
	err = fault_index_make(&index, argv[1], &failed);
	if (err)
		return message(STATUS_FAILED, "cannot read the run %s/%s.json: %s; run make demo",
			       argv[1], failed,
			       err == -ENODATA ? "it is not a run with --fault-around off" :
						 strerror(-err));
	err = fault_index_print(stdout, &index);
	return err ? message_of_stdout(err, "the index page") : STATUS_OK;
}

const struct subcommand faults_command = {
	.name = "faults",
	.title = "pfbench faults",
	.group = COMMAND_HIDDEN,
	.summary = "print the index page for the make demo runs in a folder",
	.run = cmd_study_faults,
};

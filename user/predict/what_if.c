// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the files whose accesses the model follows, decides which settings the recording can
 * answer, and predicts these. What cannot be predicted gets a reason.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/counters.h"
#include "util/array.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "predict/what_if.h"

#define KIB	       1024U
#define DEFAULT_AROUND (64U * KIB)  /* the kernel's, if the recording has none */
#define THREADS_LEAST  (128U * KIB) /* with threads on one mapping, less is up to 19 % off */

/* Each page's first fault was major, so no page came from read-ahead or an earlier run. */
static bool is_cold_without_readahead(const struct touched_file *file)
{
	return !file->readahead_bytes && file->accessed &&
	       100 * file->accessed_major >= 99 * (file->accessed - (file->executed ? 1 : 0));
}

static bool leaves_out_fault_around(const struct what_if *what_if)
{
	const struct environment *e = &what_if->touches.environment;

	return what_if->touches.exact || !e->fault_around || e->fault_around_bytes == page_size();
}

/* --file names the file, or a folder above it. */
static bool is_named(const struct what_if *what_if, const struct touched_file *file)
{
	const char *name = what_if->options.file;
	size_t length = name ? strlen(name) : 0;

	while (length && name[length - 1] == '/')
		length--;
	return !name || (!strncmp(file->path, name, length) &&
			 (!file->path[length] || file->path[length] == '/'));
}

static const char *reason_to_leave_out(const struct what_if *what_if,
				       const struct touched_file *file)
{
	const struct what_if_options *options = &what_if->options;
	const char *reason = options->leave_out ? options->leave_out(options->context, file) : NULL;

	if (reason)
		return reason;
	if (!is_named(what_if, file))
		return WHAT_IF_OTHER_FILE;
	if (!file->type[0])
		return "its file system is not known";
	if (!touched_file_is_validated(file))
		return "the rule was compared with the kernel on ext4 only";
	if (!file->major && !leaves_out_fault_around(what_if))
		return "its pages were cached before, and fault-around hides accesses to them";
	if (file->by_libc && what_if->touches.exact)
		return "libc maps it without mmap(3), so record --exact does not reach it";
	return file->shaped;
}

static void choose_touched_files(struct what_if *what_if)
{
	struct touched_file *file;
	bool first = true;
	size_t i;

	what_if->exact = true;
	what_if->readahead_bytes = -1;
	for (i = 0; i < what_if->touches.nr_files; i++) {
		file = &what_if->touches.files[i];
		file->left_out = reason_to_leave_out(what_if, file);
		if (file->left_out || !file->faults)
			continue;
		what_if->faults += file->faults;
		what_if->major += file->major;
		what_if->read_again += file->read_again;
		what_if->exact &= leaves_out_fault_around(what_if) ||
				  is_cold_without_readahead(file);
		if (first)
			what_if->readahead_bytes = file->readahead_bytes;
		else if (what_if->readahead_bytes != file->readahead_bytes)
			what_if->readahead_bytes = -1;
		first = false;
	}
	what_if->around_known = what_if->touches.environment.fault_around_bytes;
	what_if->around_bytes = what_if->touches.environment.fault_around_bytes ?: DEFAULT_AROUND;
}

static int fail_of_no_file(const struct what_if *what_if, struct why *why)
{
	const struct touched_file *file;
	size_t i;

	for (i = 0; i < what_if->touches.nr_files; i++) {
		file = &what_if->touches.files[i];
		if (!file->faults || !is_named(what_if, file))
			continue;
		return why_fail(why, -ENODATA, "cannot predict faults on %s: %s", file->path,
				file->left_out);
	}
	if (what_if->options.file)
		return why_fail(why, -ENODATA,
				"no fault on %s was recorded; see 'pfdrive report --by file'",
				what_if->options.file);
	return why_fail(why, -ENODATA, "no fault on a file was recorded");
}

int what_if_open(struct what_if *what_if, struct why *why)
{
	const char *recording = what_if->options.recording, *reason;
	int err = recorded_touches_read(&what_if->touches, recording, why);

	if (err)
		return err;
	reason = recorded_touches_unpredictable(&what_if->touches);
	if (reason)
		return why_fail(why, -EOPNOTSUPP, "cannot predict from %s: %s", recording, reason);
	choose_touched_files(what_if);
	return what_if->faults ? 0 : fail_of_no_file(what_if, why);
}

/* The settings. */

void what_if_add(struct what_if *what_if, uint64_t window, enum mapping_advice advice,
		 uint64_t around)
{
	struct what_if_row *row = &what_if->rows[what_if->nr_rows++];

	row->settings = (struct prediction_settings){ .window = window,
						      .advice = advice,
						      .around = around };
}

/* An option that was not given has the recorded value only. */
static void add_options(struct what_if *what_if)
{
	const struct what_if_options *options = &what_if->options;
	size_t r, a, f;

	for (f = 0; f < options->nr_around || !f; f++)
		for (a = 0; a < options->nr_advice || !a; a++)
			for (r = 0; r < options->nr_readahead || !r; r++)
				what_if_add(what_if,
					    options->nr_readahead ?
						    options->readahead[r] / page_size() :
						    PREDICTION_RECORDED,
					    options->nr_advice ? options->advice[a] : MAPPING_MIXED,
					    (options->nr_around ? options->around[f] :
								  what_if->around_bytes) /
						    page_size());
}

void what_if_add_settings(struct what_if *what_if)
{
	static const uint64_t windows[] = { 0, 32 * KIB, 128 * KIB, 512 * KIB, 2048 * KIB };
	const struct what_if_options *options = &what_if->options;
	const uint64_t around = what_if->around_bytes / page_size();
	const uint64_t window = what_if->readahead_bytes > 0 ? PREDICTION_RECORDED :
							       128 * KIB / page_size();
	size_t i;

	what_if_add(what_if, PREDICTION_RECORDED, MAPPING_MIXED, around);
	if (options->nr_readahead || options->nr_advice || options->nr_around) {
		add_options(what_if);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(windows); i++)
		what_if_add(what_if, windows[i] / page_size(), MAPPING_MIXED, around);
	/* Advice makes no difference to a recording without read-ahead. */
	what_if_add(what_if, window, MAPPING_RANDOM, around);
	what_if_add(what_if, window, MAPPING_SEQUENTIAL, around);
}

/* What the recording can answer. */

static bool any_file(const struct what_if *what_if, bool (*is)(const struct touched_file *file))
{
	size_t i;

	for (i = 0; i < what_if->touches.nr_files; i++)
		if (!what_if->touches.files[i].left_out && what_if->touches.files[i].faults &&
		    is(&what_if->touches.files[i]))
			return true;
	return false;
}

static bool has_no_readahead(const struct touched_file *file)
{
	return file->readahead_bytes < 0;
}

static bool is_by_threads(const struct touched_file *file)
{
	return file->by_threads;
}

static uint64_t least_readahead(const struct what_if *what_if, bool most)
{
	const struct touched_file *file;
	uint64_t bytes = most ? 0 : UINT64_MAX;
	size_t i;

	for (i = 0; i < what_if->touches.nr_files; i++) {
		file = &what_if->touches.files[i];
		if (!file->left_out && file->faults &&
		    (most ? (uint64_t)file->readahead_bytes > bytes :
			    (uint64_t)file->readahead_bytes < bytes))
			bytes = file->readahead_bytes;
	}
	return bytes;
}

static const char *reason_of_ordinary(const struct what_if *what_if,
				      const struct prediction_settings *settings)
{
	if (any_file(what_if, has_no_readahead))
		return "the recording does not have the read-ahead setting; record it again";
	if (settings->advice != MAPPING_MIXED && settings->advice != MAPPING_NORMAL)
		return "fault-around hides accesses, and other advice would show them";
	if (settings->around < what_if->around_bytes / page_size())
		return "fault-around hides accesses, and less of it would show them";
	if (settings->window != PREDICTION_RECORDED &&
	    settings->window * page_size() < least_readahead(what_if, true))
		return "fault-around hides accesses, and less read-ahead would show them";
	return NULL;
}

static const char *reason_not_to_predict(const struct what_if *what_if,
					 const struct prediction_settings *settings)
{
	const bool recorded = settings->window == PREDICTION_RECORDED;
	const uint64_t bytes = recorded ? least_readahead(what_if, false) :
					  settings->window * page_size();

	if (what_if->read_again > 2 && 100 * what_if->read_again > what_if->major)
		return "pages were evicted and read again, and the model evicts none";
	if (recorded && any_file(what_if, has_no_readahead))
		return "the recording does not have the read-ahead setting";
	if (bytes < THREADS_LEAST && any_file(what_if, is_by_threads))
		return "threads touched one mapping, and their order decides with less read-ahead "
		       "than 128K";
	return what_if->exact ? NULL : reason_of_ordinary(what_if, settings);
}

/* The time. */

#define TIME_PERCENT 10 /* what the time may be off */

static bool is_apart(double ns, double from_ns, double error_ns)
{
	return 100 * (fabs(ns - from_ns) - error_ns) > TIME_PERCENT * from_ns;
}

static bool is_on_one_device(const struct what_if *what_if)
{
	const struct touched_file *file, *first = NULL;
	size_t i;

	for (i = 0; i < what_if->touches.nr_files; i++) {
		file = &what_if->touches.files[i];
		if (file->left_out || !file->faults)
			continue;
		if (first && file->dev != first->dev)
			return false;
		first = file;
	}
	return true;
}

static bool faults_overlap(const struct access_list *list)
{
	uint64_t end_ns = 0;
	size_t i;

	for (i = 0; i < list->nr_accesses; i++) {
		if (list->times[i].start_ns < end_ns)
			return true;
		end_ns = list->times[i].start_ns + list->times[i].ns;
	}
	return false;
}

static const char *reason_of_no_time(const struct what_if *what_if, const struct access_list *list)
{
	if (what_if->touches.untimed)
		return "the recording does not have the whole time of each fault";
	if (!is_on_one_device(what_if))
		return "the files are on several devices";
	if (faults_overlap(list))
		return "faults of several threads overlapped";
	return NULL;
}

static const char *reason_of_cost(const struct read_cost *cost,
				  const struct fault_prediction *recorded)
{
	if (!cost->learned_major || !cost->minor_ns)
		return "the recording has no major or no minor faults to know their costs from";
	if (10 * cost->learned_major < 9 * cost->expected_major)
		return "pages were cached before; record a cold start";
	if (is_apart(recorded->total_ns, cost->total_ns, recorded->error_ns))
		return "the model does not repeat the recorded time within 10 %";
	return NULL;
}

/* Learns the costs from the recording, and predicts its own time with them. */
static int learn_cost(struct what_if *what_if, const struct access_list *list)
{
	const struct prediction_settings settings = {
		.window = PREDICTION_RECORDED,
		.advice = MAPPING_MIXED,
		.around = leaves_out_fault_around(what_if) ? 1 :
							     what_if->around_bytes / page_size(),
		.single = what_if->touches.exact,
	};
	struct prediction_settings timed = settings;
	struct fault_prediction recorded;
	int err;

	what_if->no_time = reason_of_no_time(what_if, list);
	if (what_if->no_time)
		return 0;
	timed.cost = &what_if->cost;
	err = fault_prediction_learn(&what_if->cost, list, &settings);
	if (!err)
		err = fault_prediction_make(&recorded, list, &timed);
	if (!err)
		what_if->no_time = reason_of_cost(&what_if->cost, &recorded);
	return err;
}

/* The prediction. */

static int predict_setting(struct what_if *what_if, const struct access_list *list,
			   struct what_if_row *row)
{
	const struct fault_prediction *prediction = &row->prediction;
	int err;

	row->no_time = what_if->no_time;
	row->settings.cost = row->no_time ? NULL : &what_if->cost;
	err = fault_prediction_make(&row->prediction, list, &row->settings);
	if (!row->no_time && 100 * prediction->error_ns > TIME_PERCENT * prediction->total_ns)
		row->no_time = "the recorded reads are too few or of too few sizes to know the "
			       "time of those";
	return err;
}

static int predict_settings(struct what_if *what_if, const struct access_list *list)
{
	struct what_if_row *row;
	int err = learn_cost(what_if, list);
	size_t i;

	for (i = 0; i < what_if->nr_rows && !err && !signals_caught; i++) {
		row = &what_if->rows[i];
		row->cannot = reason_not_to_predict(what_if, &row->settings);
		if (!row->cannot)
			err = predict_setting(what_if, list, row);
	}
	return err;
}

/* Without fault-around, the faults of a recording differ from what the program has otherwise. */
static bool is_as_recorded(const struct what_if *what_if)
{
	const struct what_if_row *row = &what_if->rows[0];
	const uint64_t predicted = row->prediction.major, major = what_if->major;
	const uint64_t apart = predicted > major ? predicted - major : major - predicted;

	return row->cannot || what_if->exact || apart <= 3 || 10 * apart <= major;
}

static void refuse_rows(struct what_if *what_if, const char *reason)
{
	size_t i;

	for (i = 0; i < what_if->nr_rows; i++)
		if (!what_if->rows[i].cannot)
			what_if->rows[i].cannot = reason;
}

/* Fewer faults that read more may take longer. */
static bool is_as_good(const struct what_if_row *row, const struct what_if_row *as)
{
	if (!row->no_time && !as->no_time)
		return row->prediction.total_ns <= as->prediction.total_ns;
	return row->prediction.major <= as->prediction.major &&
	       row->prediction.read_pages <= as->prediction.read_pages;
}

static bool is_best(const struct what_if *what_if, const struct what_if_row *row)
{
	size_t i;

	for (i = 0; i < what_if->nr_rows; i++)
		if (!what_if->rows[i].cannot && !is_as_good(row, &what_if->rows[i]))
			return false;
	return !row->cannot;
}

static void choose_best(struct what_if *what_if)
{
	size_t i;

	for (i = 0; i < what_if->nr_rows; i++)
		if (is_best(what_if, &what_if->rows[i]))
			break;
	what_if->best = i;
}

static int predict(struct what_if *what_if)
{
	struct touch_list made;
	int err = touch_list_make(&made, &what_if->touches);

	if (!err)
		err = predict_settings(what_if, &made.list);
	touch_list_free(&made);
	return err;
}

int what_if_predict(struct what_if *what_if)
{
	int err = predict(what_if);

	if (err || signals_caught)
		return err ?: -EINTR;
	if (!is_as_recorded(what_if))
		refuse_rows(what_if, "the model does not repeat the recorded major faults: pages "
				     "were cached before; record a cold start");
	choose_best(what_if);
	return 0;
}

void what_if_exit(struct what_if *what_if)
{
	recorded_touches_exit(&what_if->touches);
}

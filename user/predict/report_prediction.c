// SPDX-License-Identifier: GPL-2.0-only
/* Predictions for a report's remedies. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "predict/what_if.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "verdict/verdict.h"

#define FAULTS_MAX	(1U << 20) /* the accesses are kept in memory */
#define READAHEAD_BYTES (128U << 10)
#define KIB		1024U

/* In the order of enum predicted_setting. */
static void add_predicted_settings(struct what_if *what_if)
{
	const uint64_t around = what_if->around_bytes / page_size();
	const uint64_t window = what_if->readahead_bytes ? PREDICTION_RECORDED :
							   READAHEAD_BYTES / page_size();

	what_if_add(what_if, PREDICTION_RECORDED, MAPPING_MIXED, around);
	what_if_add(what_if, window, MAPPING_NORMAL, around);
	what_if_add(what_if, window, MAPPING_RANDOM, around);
	what_if_add(what_if, 0, MAPPING_MIXED, around);
	what_if_add(what_if, 32 * KIB / page_size(), MAPPING_MIXED, around);
	what_if_add(what_if, 512 * KIB / page_size(), MAPPING_MIXED, around);
	what_if_add(what_if, 2048 * KIB / page_size(), MAPPING_MIXED, around);
}

/* The files that the model follows have nearly all major faults of the report. */
static bool covers_report(const struct what_if *what_if)
{
	const struct recorded_touches *touches = &what_if->touches;
	const struct touched_file *file;
	uint64_t major = touches->unplaced;

	for (file = touches->files; file < touches->files + touches->nr_files; file++)
		if (!file->left_out || strcmp(file->left_out, WHAT_IF_OTHER_FILE))
			major += file->major;
	return 10 * what_if->major >= 9 * major;
}

static void take_predictions(struct report *report, const struct what_if *what_if)
{
	const struct what_if_row *row;
	unsigned int i;

	for (i = 0; i < NR_PREDICTED_SETTINGS; i++) {
		row = &what_if->rows[i];
		report->predicted[i] = (struct predicted_faults){
			.known = !row->cannot,
			.timed = !row->cannot && !row->no_time,
			.major = row->prediction.major,
			.read_bytes = row->prediction.read_pages * page_size(),
			.total_ns = row->prediction.total_ns,
			.error_ns = row->prediction.error_ns,
		};
	}
}

/* A recording that the model cannot follow leaves the remedies without figures. */
static int predict_for_report(struct report *report, struct what_if *what_if)
{
	struct why why;
	int err = what_if_open(what_if, &why);

	if (err)
		return err == -EINTR || err == -ENOMEM ? err : 0;
	if (!covers_report(what_if))
		return 0;
	add_predicted_settings(what_if);
	err = what_if_predict(what_if);
	if (!err)
		take_predictions(report, what_if);
	return err;
}

static bool wants_prediction(const struct report *report)
{
	struct verdict verdict;
	size_t i;

	verdict_make(&verdict, report);
	for (i = 0; i < verdict.nr_causes; i++)
		if (verdict.causes[i].certain && verdict.causes[i].settings)
			return true;
	return false;
}

int report_prediction_fill(struct report *report, const char *recording, const char *file)
{
	struct what_if *what_if;
	int err;

	if (report->losses.damage || report->faults.all.count > FAULTS_MAX ||
	    report->environment.page_bytes != page_size() || !wants_prediction(report))
		return 0;
	what_if = calloc(1, sizeof(*what_if));
	if (!what_if)
		return -ENOMEM;
	what_if->options.recording = recording;
	what_if->options.file = file;
	err = predict_for_report(report, what_if);
	what_if_exit(what_if);
	free(what_if);
	return err;
}

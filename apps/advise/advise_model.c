// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the model of predict/what_if.h says of the candidates, beside their replays. The model has
 * the files that a replay reads from their devices, and the settings that a replay has: where a
 * candidate keeps a setting, it is the one of today.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "advise/advise.h"
#include "util/json_value.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/text.h"

static const char not_replayed[] = "the replay leaves them out";
static const char not_cold[] = "the replay finds them in the page cache";

static const struct accessed_file *replayed_file(const struct recorded_accesses *accesses,
						 const struct touched_file *touched)
{
	return recorded_accesses_find(accesses, touched->inode, touched->path);
}

static const char *reason_not_to_follow(const void *context, const struct touched_file *touched)
{
	const struct accessed_file *file = replayed_file(context, touched);

	if (!file || !file->faults || file->left_out)
		return not_replayed;
	return file->cold ? NULL : not_cold;
}

/* The model's files are those for which no reason was given. */
static bool model_has_file(const struct touched_file *touched)
{
	return touched->faults && !touched->left_out;
}

/*
 * The read-ahead of candidates that keep it, as in struct prediction_settings. Returns false if the
 * files have several settings, of which one was changed after the recording.
 */
static bool kept_window(const struct advise *advise, uint64_t *window)
{
	const struct recorded_touches *touches = &advise->model->touches;
	const struct accessed_file *file;
	bool first = true, changed = false, differs = false;
	int64_t bytes, common = -1;
	size_t i;

	for (i = 0; i < touches->nr_files; i++) {
		if (!model_has_file(&touches->files[i]))
			continue;
		file = replayed_file(&advise->accesses, &touches->files[i]);
		bytes = file->setting[0] ? (int64_t)file->readahead_bytes : -1;
		changed |= bytes != touches->files[i].readahead_bytes;
		differs |= bytes < 0 || (!first && bytes != common);
		common = bytes;
		first = false;
	}
	*window = changed && !differs ? common / page_size() : PREDICTION_RECORDED;
	return !changed || !differs;
}

/* perf saw that the program gave advice, which it does not record for a replay. */
static bool replay_lacks_advice(const struct advise *advise)
{
	const struct recorded_touches *touches = &advise->model->touches;
	size_t i;

	for (i = 0; i < touches->nr_mappings; i++)
		if (touches->mappings[i].state_known &&
		    model_has_file(&touches->files[touches->mappings[i].file]))
			return !advise->accesses.have_advice;
	return false;
}

/* A candidate's advice is for the same files as in a replay. */
static void take_advised_files(struct advise *advise)
{
	struct recorded_touches *touches = &advise->model->touches;
	const struct touched_file *touched;
	size_t i;

	for (i = 0; i < touches->nr_mappings; i++) {
		touched = &touches->files[touches->mappings[i].file];
		touches->mappings[i].mapping.data =
			model_has_file(touched) &&
			replayed_file(&advise->accesses, touched)->advised;
	}
}

static enum mapping_advice model_advice(int advice)
{
	switch (advice) {
	case MADV_NORMAL:
		return MAPPING_NORMAL;
	case MADV_RANDOM:
		return MAPPING_RANDOM;
	case MADV_SEQUENTIAL:
		return MAPPING_SEQUENTIAL;
	default:
		return MAPPING_MIXED;
	}
}

static const char *reason_of_candidate(const struct candidate *candidate, bool window_known,
				       bool lacks_advice)
{
	if (candidate->advice == MADV_WILLNEED || candidate->advice == MADV_POPULATE_READ)
		return "their madvise(2) itself reads pages, which the model does not do";
	if (candidate->readahead_bytes < 0 && !window_known)
		return "the read-ahead setting was changed after the recording";
	if (candidate->advice < 0 && lacks_advice)
		return "the program gave advice, which perf does not record for a replay";
	return NULL;
}

static int predict_candidates(struct advise *advise, uint64_t around_bytes)
{
	struct what_if *model = advise->model;
	const struct candidate *candidate;
	const bool lacks_advice = replay_lacks_advice(advise);
	uint64_t kept, around;
	const bool window_known = kept_window(advise, &kept);
	size_t i;
	int err;

	take_advised_files(advise);
	model->around_known |= around_bytes;
	what_if_add(model, PREDICTION_RECORDED, MAPPING_MIXED, model->around_bytes / page_size());
	for (i = 0; i < advise->nr_candidates; i++) {
		candidate = &advise->candidates[i];
		around = candidate->around_bytes >= 0 ? (uint64_t)candidate->around_bytes :
			 around_bytes		      ?:
							model->around_bytes;
		what_if_add(model,
			    candidate->readahead_bytes >= 0 ?
				    candidate->readahead_bytes / page_size() :
				    kept,
			    model_advice(candidate->advice), around / page_size());
	}
	err = what_if_predict(model);
	for (i = 0; i < advise->nr_candidates && !err; i++)
		model->rows[1 + i].cannot =
			reason_of_candidate(&advise->candidates[i], window_known, lacks_advice) ?:
				model->rows[1 + i].cannot;
	return err;
}

static int model_open(struct advise *advise)
{
	const char *recording = advise->options.recording;
	struct stat stat_now;

	/* Damage was reported once. */
	if (advise->accesses.damaged)
		return why_fail(&advise->no_model, -EPROTO, "the recording is damaged");
	if (stat(recording, &stat_now) || !S_ISREG(stat_now.st_mode))
		return why_fail(&advise->no_model, -ESPIPE,
				"the recording is standard input or a pipe, which is read once");
	advise->model->options = (struct what_if_options){
		.recording = recording,
		.file = advise->options.path,
		.leave_out = reason_not_to_follow,
		.context = &advise->accesses,
	};
	return what_if_open(advise->model, &advise->no_model);
}

int advise_model_make(struct advise *advise, uint64_t around_bytes)
{
	int err;

	advise->model = calloc(1, sizeof(*advise->model));
	if (!advise->model)
		return message(STATUS_FAILED, "out of memory");
	if (model_open(advise))
		advise_model_exit(advise);
	else if ((err = predict_candidates(advise, around_bytes)) && err != -EINTR)
		return message(STATUS_FAILED, "out of memory");
	return signals_caught ? 128 + signals_caught : STATUS_OK;
}

void advise_model_exit(struct advise *advise)
{
	if (advise->model)
		what_if_exit(advise->model);
	free(advise->model);
	advise->model = NULL;
}

/* The cells of a candidate. */

static const struct what_if_row *model_row(const struct advise *advise, size_t candidate)
{
	return advise->model ? &advise->model->rows[1 + candidate] : NULL;
}

/* Why there are no faults, or no time. NULL: they are known. */
static const char *reason_of_faults(const struct advise *advise, size_t candidate)
{
	const struct what_if_row *row = model_row(advise, candidate);

	return row ? row->cannot : advise->no_model.text;
}

static const char *reason_of_ns(const struct advise *advise, size_t candidate)
{
	return reason_of_faults(advise, candidate) ?: model_row(advise, candidate)->no_time;
}

void advise_model_cells(struct grid *grid, const struct advise *advise, size_t candidate)
{
	const struct what_if_row *row = model_row(advise, candidate);
	const struct fault_prediction *control;
	double error_ns;

	if (reason_of_faults(advise, candidate))
		grid_cell(grid, "n/a");
	else
		grid_cell(grid, "%" PRIu64, row->prediction.major);
	if (reason_of_ns(advise, candidate) || reason_of_ns(advise, 0)) {
		grid_cell(grid, "n/a");
		grid_cell(grid, "n/a");
		return;
	}
	control = &model_row(advise, 0)->prediction;
	error_ns = candidate ? control->error_ns + row->prediction.error_ns : 0;
	grid_cell(grid, "%.3f", (control->total_ns - row->prediction.total_ns) / 1e6);
	grid_cell(grid, "%.3f", error_ns / 1e6);
}

json_t *advise_model_add_json(const struct advise *advise, size_t candidate, json_t *json)
{
	const struct what_if_row *row = model_row(advise, candidate);
	const bool faults = !reason_of_faults(advise, candidate);
	const bool ns = !reason_of_ns(advise, candidate);

	json = value_with(json, "model_major_faults",
			  value_count_if(faults, faults ? row->prediction.major : 0));
	json = value_with(json, "model_total_ns",
			  value_count_if(ns, ns ? llround(row->prediction.total_ns) : 0));
	json = value_with(json, "model_error_ns",
			  value_count_if(ns, ns ? llround(row->prediction.error_ns) : 0));
	return value_with(json, "model_cannot", value_text(reason_of_ns(advise, candidate)));
}

/* The reasons, each once. */

static void print_model_files(FILE *out, const struct recorded_touches *touches)
{
	const struct touched_file *files = touches->files;
	uint64_t faults;
	size_t i, j, nr;

	for (i = 0; i < touches->nr_files; i++) {
		for (j = 0; j < i && (files[j].left_out != files[i].left_out || !files[j].faults);
		     j++)
			;
		if (j < i || !files[i].faults || !files[i].left_out ||
		    files[i].left_out == not_replayed || files[i].left_out == not_cold)
			continue;
		for (nr = 0, faults = 0; j < touches->nr_files; j++)
			if (files[j].left_out == files[i].left_out && files[j].faults) {
				nr++;
				faults += files[j].faults;
			}
		fprintf(out,
			"The model leaves out %zu replayed files with %" PRIu64 " faults: %s\n", nr,
			faults, files[i].left_out);
	}
}

static void print_model_code(FILE *out, const struct recorded_touches *touches)
{
	size_t i, nr = 0;

	for (i = 0; i < touches->nr_files; i++)
		nr += model_has_file(&touches->files[i]) && touches->files[i].executed;
	if (nr)
		fprintf(out,
			"The model has %zu files as code, and the replay has them as data, for "
			"which the kernel reads otherwise\n",
			nr);
}

static const char *reason_of_ns_alone(const struct advise *advise, size_t candidate)
{
	return reason_of_faults(advise, candidate) ? NULL : reason_of_ns(advise, candidate);
}

static void print_model_reasons(FILE *out, const struct advise *advise, const char *what,
				const char *(*reason)(const struct advise *advise,
						      size_t candidate))
{
	const struct ranking_row *rows = advise->ranking.rows;
	const char *text;
	size_t i, j, nr;

	for (i = 0; i < advise->ranking.nr; i++) {
		text = reason(advise, rows[i].candidate);
		for (j = 0; j < i && reason(advise, rows[j].candidate) != text; j++)
			;
		if (!text || j < i)
			continue;
		for (nr = 0; j < advise->ranking.nr; j++)
			nr += reason(advise, rows[j].candidate) == text;
		fprintf(out, "The model cannot predict %s%zu candidates: %s\n", what, nr, text);
	}
}

void advise_model_print(FILE *out, const struct advise *advise)
{
	if (!advise->model) {
		fputs("The model predicts nothing: ", out);
		utf8_print(out, advise->no_model.text);
		fputc('\n', out);
		return;
	}
	if (!advise->model->around_known)
		fputs("The model takes fault-around for 64K: the setting is not known\n", out);
	print_model_files(out, &advise->model->touches);
	print_model_code(out, &advise->model->touches);
	print_model_reasons(out, advise, "", reason_of_faults);
	print_model_reasons(out, advise, "the time of ", reason_of_ns_alone);
}

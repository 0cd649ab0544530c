// SPDX-License-Identifier: GPL-2.0-only
/* The ranking as one JSON object. */
#include <errno.h>
#include <math.h>

#include "advise/advise_files.h"
#include "advise/advise_print.h"
#include "model/counters.h"
#include "util/json_value.h"

static json_t *advise_number_or_null(double value)
{
	return isnan(value) ? json_null() : json_integer(llround(value));
}

static json_t *advise_file_json(const struct accessed_file *file)
{
	return json_pack("{so sb sb sb so so so}", "path", value_text(file->path), "advised",
			 file->advised, "cold", file->cold, "changed", file->changed, "faults",
			 value_count(file->faults), "fault_ns", value_count(file->fault_ns),
			 "left_out", value_text(file->left_out));
}

static json_t *advise_files_json(const struct recorded_accesses *accesses)
{
	json_t *files = json_array();
	size_t i;

	for (i = 0; i < accesses->nr_files; i++)
		if (accesses->files[i].faults)
			files = value_appended(files, advise_file_json(&accesses->files[i]));
	return files;
}

static json_t *advise_row_json(const struct advise *advise, const struct ranking_row *row)
{
	return json_pack("{ss sb so so so so so so so so so}", "advice",
			 advise->candidates[row->candidate].name, "at_most", row->at_most,
			 "predicted_ns", advise_number_or_null(row->predicted_ns), "saving_ns",
			 advise_number_or_null(row->saving_ns), "half_width_ns",
			 advise_number_or_null(row->half_width_ns), "replayed_ns",
			 advise_number_or_null(row->elapsed_ns), "fault_ns",
			 advise_number_or_null(row->fault_ns), "minor",
			 advise_number_or_null(row->minor), "major",
			 advise_number_or_null(row->major), "read_bytes",
			 advise_number_or_null(row->read_bytes), "refused",
			 value_count(row->refused));
}

static json_t *advise_rows_json(const struct advise *advise)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < advise->ranking.nr; i++)
		rows = value_appended(rows, advise_row_json(advise, &advise->ranking.rows[i]));
	return rows;
}

static json_t *advise_untried_json(const struct advise *advise)
{
	json_t *untried = json_array();
	size_t i;

	for (i = 0; i < advise->nr_candidates; i++)
		if (advise->candidates[i].untried[0])
			untried = value_appended(untried,
						 json_pack("{ss so}", "advice",
							   advise->candidates[i].name, "reason",
							   value_text(advise->candidates[i]
									      .untried)));
	return untried;
}

static json_t *advise_best_json(const struct advise *advise)
{
	const struct ranking *ranking = &advise->ranking;
	const struct accessed_file *file = advise_files_main(&advise->accesses);
	const struct candidate *candidate;
	char remedy[5000];

	if (ranking->best == ranking->nr)
		return json_null();
	candidate = &advise->candidates[ranking->rows[ranking->best].candidate];
	candidate_remedy(candidate, file->path, file->setting, remedy, sizeof(remedy));
	return json_pack("{ss so}", "advice", candidate->name, "remedy", value_text(remedy));
}

static json_t *advise_hidden_json(const struct recorded_accesses *accesses)
{
	return json_pack("{so sb}", "around_pages", value_count(accesses->around_pages),
			 "populated", accesses->populated);
}

int advise_json_print(FILE *out, const struct advise *advise)
{
	const struct recorded_accesses *accesses = &advise->accesses;

	return value_print(out,
			   json_pack("{sI so sI sb so so so so so so so}", "recorded_ns",
				     (json_int_t)(accesses->end_ns - accesses->start_ns),
				     "as_recorded_ns",
				     advise_number_or_null(advise->ranking.anchor_ns), "rounds",
				     (json_int_t)advise->options.rounds, "have_bpf",
				     accesses->have_bpf, "lost", value_known(accesses->lost),
				     "events_lost", value_known(accesses->events_lost), "hidden",
				     advise_hidden_json(accesses), "files",
				     advise_files_json(accesses), "rows", advise_rows_json(advise),
				     "untried", advise_untried_json(advise), "best",
				     advise_best_json(advise)));
}

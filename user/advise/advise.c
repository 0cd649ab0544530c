// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a recording, replays it in rounds with all candidates, and ranks them. Machine settings are
 * restored on every exit path. A signal only sets a flag (util/signals.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "advise/advise.h"
#include "advise/advise_files.h"
#include "advise/repetition.h"
#include "system/kernel_settings.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/time_ns.h"
#include "util/why.h"

static void advise_untried(struct candidate *candidate, const char *setting, int err)
{
	snprintf(candidate->untried, sizeof(candidate->untried), "cannot change %s: %s", setting,
		 strerror(-err));
}

/* Marks candidates whose setting this machine or user cannot change. */
static void advise_check_settings(struct advise *advise, const struct accessed_file *file,
				  int around_err)
{
	const bool writable = file->setting[0] && !access(file->setting, W_OK);
	struct candidate *candidate;
	size_t i;

	for (i = 0; i < advise->nr_candidates; i++) {
		candidate = &advise->candidates[i];
		if (candidate->around_bytes >= 0 && around_err)
			advise_untried(candidate, FAULT_AROUND_SETTING, around_err);
		if (candidate->readahead_bytes >= 0 && !file->setting[0])
			snprintf(candidate->untried, sizeof(candidate->untried),
				 "the file system has no read-ahead setting");
		else if (candidate->readahead_bytes >= 0 && !writable)
			advise_untried(candidate, file->setting, -EACCES);
		advise->tried[i] = !candidate->untried[0];
	}
}

/*
 * Pages mapped along with faulting pages, by fault-around or MADV_POPULATE_READ, may have been
 * accessed. The recording lacks these accesses.
 */
static void advise_mark_bounds(struct advise *advise)
{
	const struct recorded_accesses *accesses = &advise->accesses;
	size_t i;

	for (i = 1; i < advise->nr_candidates; i++)
		advise->at_most[i] = accesses->populated ||
				     (accesses->around_pages && advise->candidates[i].maps_less);
}

/* If the recording had fault-around off, this is a condition that the control lacks. */
static void advise_add_anchor(struct advise *advise, int around_err)
{
	struct candidate *anchor = &advise->candidates[advise->nr_candidates];

	advise->anchor = 0;
	if (advise->accesses.fault_around)
		return;
	if (around_err) {
		advise->anchor_lacks = "fault-around was off in the recording and cannot be "
				       "switched off here";
		return;
	}
	*anchor = advise->candidates[0];
	snprintf(anchor->name, sizeof(anchor->name), "as recorded");
	anchor->around_bytes = page_size();
	advise->anchor = advise->nr_candidates;
	advise->tried[advise->nr_candidates++] = true;
}

static void advise_progress(const struct advise *advise, unsigned int round, size_t candidate)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[Kround %u of %u: %s", round + 1, advise->options.rounds,
			advise->candidates[candidate].name);
}

static int message_of_repetition(const struct candidate *candidate, const char *why, int err)
{
	if (signals_caught)
		return 128 + signals_caught;
	if (err > 0)
		return message(STATUS_FAILED, "the replay under %s was killed: %s", candidate->name,
			       strsignal(err));
	return message(STATUS_FAILED, "cannot %s, under %s: %s", why, candidate->name,
		       strerror(-err));
}

static int advise_replay(struct advise *advise, struct fault_around_setting *around, size_t number,
			 struct repetition_figures *figures)
{
	const struct candidate *candidate = &advise->candidates[number];
	struct why why;
	int status, err = 0, restore_err;

	status = advise_files_prepare(&advise->accesses);
	if (status)
		return status;
	if (candidate->around_bytes >= 0)
		err = fault_around_setting_change(around, candidate->around_bytes);
	if (err)
		return message(STATUS_FAILED, "cannot change %s: %s", FAULT_AROUND_SETTING,
			       strerror(-err));
	err = repetition_run(&advise->accesses, candidate, figures, &why);
	restore_err = fault_around_setting_restore(around);
	if (restore_err)
		return message(STATUS_FAILED, "cannot restore %s to %" PRIu64 ": %s",
			       FAULT_AROUND_SETTING, around->before, strerror(-restore_err));
	return err || signals_caught ? message_of_repetition(candidate, why.text, err) : STATUS_OK;
}

/* Each round includes all candidates, so machine drift affects all candidates. */
static int advise_rounds(struct advise *advise, struct fault_around_setting *around)
{
	int status = STATUS_OK;
	unsigned int round;
	size_t i;

	advise->figures =
		calloc(advise->options.rounds * advise->nr_candidates, sizeof(*advise->figures));
	if (!advise->figures)
		return message(STATUS_FAILED, "out of memory");
	for (round = 0; round < advise->options.rounds; round++)
		for (i = 0; i < advise->nr_candidates && !status; i++) {
			if (!advise->tried[i])
				continue;
			advise_progress(advise, round, i);
			status = advise_replay(advise, around, i,
					       &advise->figures[round * advise->nr_candidates + i]);
		}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	return status;
}

static int advise_measure(struct advise *advise, struct fault_around_setting *around,
			  int around_err)
{
	const struct accessed_file *file = advise_files_main(&advise->accesses);
	const struct candidate_settings settings = { .readahead_bytes = file->readahead_bytes,
						     .around_bytes = around->before };
	int status;

	advise->nr_candidates = candidates_make(advise->candidates, &settings);
	advise_check_settings(advise, file, around_err);
	advise_mark_bounds(advise);
	advise_add_anchor(advise, around_err);
	status = advise_rounds(advise, around);
	if (status)
		return status;
	return ranking_make(&advise->ranking, advise->figures, advise->nr_candidates,
			    advise->options.rounds, advise->tried, advise->at_most, advise->anchor,
			    advise->accesses.end_ns - advise->accesses.start_ns) ?
		       message(STATUS_FAILED, "out of memory") :
		       STATUS_OK;
}

int advise_run(struct advise *advise, const struct advise_options *options)
{
	struct fault_around_setting around;
	int status, around_err;

	*advise = (struct advise){ .options = *options };
	status = recorded_accesses_read(&advise->accesses, options->recording);
	if (!status)
		status = advise_files_check(&advise->accesses, options->path);
	if (status)
		return status;
	around_err = fault_around_setting_open(&around);
	status = advise_measure(advise, &around, around_err);
	fault_around_setting_close(&around);
	return status;
}

void advise_exit(struct advise *advise)
{
	ranking_exit(&advise->ranking);
	free(advise->figures);
	recorded_accesses_exit(&advise->accesses);
}

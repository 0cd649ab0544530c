// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a recording, brings the recorded files into the state that the recording found, replays it
 * in rounds with all candidates, and ranks them. Machine settings are restored on every exit path.
 * A signal only sets a flag (util/signals.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "advise/advise.h"
#include "system/kernel_settings.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/time_ns.h"
#include "util/why.h"
#include "workload/file_cache.h"

/*
 * Compares the recorded files with today's files, and brings their pages into the state the
 * recording found. A file that cannot be brought there is left out. The recorded time of this
 * file's faults then stays unchanged in every candidate.
 */

static const char *open_reason(int err)
{
	switch (err) {
	case -ENOENT:
		return "it does not exist any more";
	case -EACCES:
		return "this user may not read it; run as root";
	case -EISDIR:
	case -EMEDIUMTYPE:
		return "it is not a regular file any more";
	case -ENODATA:
		return "it is empty now";
	default:
		return "it cannot be opened";
	}
}

/* Leaves it out if the pages that the recording read cannot be read again. */
static const char *cold_reason(const struct mapping *mapping)
{
	uint64_t resident = 0;

	if (!file_cache_is_visible(mapping->fd))
		return "the kernel does not show this user the cached pages; run as root";
	switch (file_cache_make_cold(mapping, &signals_caught, &resident)) {
	case 0:
	case -EINTR:
		return NULL;
	case -EBUSY:
		return "other processes keep the pages in the page cache";
	default:
		return "the pages cannot be dropped from the page cache";
	}
}

static void take_setting(struct accessed_file *file, int fd)
{
	const int64_t bytes = readahead_setting_read(fd);

	if (readahead_setting_find(fd, file->setting))
		file->setting[0] = '\0';
	file->readahead_bytes = bytes > 0 ? bytes : 0;
}

static bool is_changed(const struct recorded_accesses *accesses, const struct mapping *mapping)
{
	const uint64_t seconds = (accesses->end_ns - accesses->start_ns) / SECOND + 1;
	struct stat stat;

	return accesses->started_s && !fstat(mapping->fd, &stat) &&
	       stat.st_mtime > accesses->started_s + (int64_t)seconds;
}

static void file_check(const struct recorded_accesses *accesses, struct accessed_file *file)
{
	struct mapping mapping;
	int err = mapping_open(&mapping, file->path, false);

	if (err) {
		file->left_out = open_reason(err);
		return;
	}
	take_setting(file, mapping.fd);
	file->changed = is_changed(accesses, &mapping);
	if (file_cache_is_all(mapping.fd))
		file->cold = false;
	if (mapping.inode != file->inode)
		file->left_out = "another file has this name now";
	else if (mapping.pages < file->pages)
		file->left_out = "it is shorter than it was";
	else if (file->cold)
		file->left_out = cold_reason(&mapping);
	mapping_close(&mapping);
}

static bool *mappings_left_out(const struct recorded_accesses *accesses)
{
	bool *left_out = calloc(accesses->nr_mappings + 1, sizeof(*left_out));
	const struct accessed_mapping *mapping;
	size_t i;

	for (i = 0; left_out && i < accesses->nr_mappings; i++) {
		mapping = &accesses->mappings[i];
		left_out[i] = !mapping->used || accesses->files[mapping->file].left_out;
	}
	return left_out;
}

static int advise_files_plan(struct recorded_accesses *accesses)
{
	bool *left_out = mappings_left_out(accesses);
	int err;

	if (!left_out)
		return message(STATUS_FAILED, "out of memory");
	accesses->plan.left_out = left_out;
	err = access_plan_build(&accesses->plan);
	accesses->plan.left_out = NULL;
	free(left_out);
	return err ? message(STATUS_FAILED, "out of memory") : STATUS_OK;
}

static const struct accessed_file *first_left_out(const struct recorded_accesses *accesses,
						  const char *path)
{
	const struct accessed_file *file;
	size_t i;

	for (i = 0; i < accesses->nr_files; i++) {
		file = &accesses->files[i];
		if (file->left_out && (path ? !strcmp(file->path, path) : !file->executable))
			return file;
	}
	return NULL;
}

static bool any_faults(const struct recorded_accesses *accesses)
{
	size_t i;

	for (i = 0; i < accesses->nr_files; i++)
		if (accesses->files[i].faults)
			return true;
	return false;
}

static int message_of_none(const struct recorded_accesses *accesses, const char *path)
{
	const struct accessed_file *file = first_left_out(accesses, path);

	if (file)
		return message(STATUS_FAILED, "cannot replay %s: %s", file->path, file->left_out);
	if (path)
		return message(STATUS_FAILED,
			       "no fault on %s was recorded; see 'pfdrive report --by file'", path);
	if (any_faults(accesses))
		return message(STATUS_FAILED,
			       "no fault on a data file was recorded; name a file with --file, "
			       "see 'pfdrive report --by file'");
	if (accesses->unplaced)
		return message(STATUS_FAILED,
			       "cannot replay %" PRIu64 " faults: the recording lacks their "
			       "mappings; record it again",
			       accesses->unplaced);
	return message(STATUS_FAILED, "no file fault was recorded");
}

/* Without a path, small files such as the dynamic linker are not worth a call. */
static bool is_advised(const struct recorded_accesses *accesses, const struct accessed_file *file,
		       const char *path)
{
	uint64_t all_ns = 0;
	size_t i;

	if (file->left_out)
		return false;
	if (path)
		return !strcmp(file->path, path);
	for (i = 0; i < accesses->nr_files; i++)
		all_ns += accesses->files[i].executable ? 0 : accesses->files[i].fault_ns;
	return !file->executable && file->fault_ns >= all_ns / 100;
}

int advise_files_check(struct recorded_accesses *accesses, const char *path)
{
	struct accessed_file *file;
	bool any = false;
	size_t i;

	for (i = 0; i < accesses->nr_files && !signals_caught; i++) {
		file = &accesses->files[i];
		if (!file->faults)
			continue;
		file_check(accesses, file);
		file->advised = is_advised(accesses, file, path);
		any |= file->advised;
	}
	if (signals_caught)
		return 128 + signals_caught;
	if (!any)
		return message_of_none(accesses, path);
	return advise_files_plan(accesses);
}

static int file_drop(const struct accessed_file *file)
{
	struct mapping mapping;
	uint64_t resident = 0;
	int err = mapping_open(&mapping, file->path, false);

	if (!err)
		err = file_cache_make_cold(&mapping, &signals_caught, &resident);
	mapping_close(&mapping);
	if (signals_caught)
		return 128 + signals_caught;
	if (err == -EBUSY)
		return message(STATUS_FAILED,
			       "%" PRIu64 " pages of %s stay in the page cache; stop the programs "
			       "that map it",
			       resident, file->path);
	return err ? message(STATUS_FAILED, "cannot drop %s from the page cache: %s", file->path,
			     strerror(-err)) :
		     STATUS_OK;
}

/* Reads the pages to be touched, and no others. */
static void thread_warm(const struct recorded_accesses *accesses, const struct plan_thread *thread,
			const int *fds)
{
	const struct accessed_mapping *mapping;
	const struct plan_step *step;
	size_t i;
	char byte;

	for (i = 0; i < thread->nr_steps && !signals_caught; i++) {
		step = &thread->steps[i];
		if (step->type != PLAN_TOUCH)
			continue;
		mapping = &accesses->mappings[step->mapping];
		if (fds[mapping->file] < 0)
			continue;
		/* An unreadable page is a fault in the replay, which reports it. */
		if (pread(fds[mapping->file], &byte, 1,
			  (mapping->pgoff + step->value) * page_size()) < 0)
			return;
	}
}

static int files_warm(const struct recorded_accesses *accesses)
{
	int *fds = malloc((accesses->nr_files + 1) * sizeof(*fds));
	const struct accessed_file *file;
	struct mapping mapping;
	size_t i;

	if (!fds)
		return message(STATUS_FAILED, "out of memory");
	for (i = 0; i < accesses->nr_files; i++) {
		file = &accesses->files[i];
		fds[i] = -1;
		if (file->faults && !file->left_out && !file->cold &&
		    !mapping_open(&mapping, file->path, false)) {
			posix_fadvise(mapping.fd, 0, 0, POSIX_FADV_RANDOM);
			fds[i] = mapping.fd;
		}
	}
	for (i = 0; i < accesses->plan.nr_threads; i++)
		thread_warm(accesses, accesses->plan.threads[i], fds);
	for (i = 0; i < accesses->nr_files; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(fds);
	return signals_caught ? 128 + signals_caught : STATUS_OK;
}

/*
 * Drops the file pages that the recording read from a device, and reads the pages it found in the
 * cache. Returns STATUS_OK, or the exit status after a message or for a signal.
 */
static int advise_files_prepare(const struct recorded_accesses *accesses)
{
	const struct accessed_file *file;
	int status = STATUS_OK;
	size_t i;

	for (i = 0; i < accesses->nr_files && !status; i++) {
		file = &accesses->files[i];
		if (file->faults && file->cold && !file->left_out)
			status = file_drop(file);
	}
	return status ?: files_warm(accesses);
}

const struct accessed_file *advise_files_main(const struct recorded_accesses *accesses)
{
	const struct accessed_file *longest = NULL;
	size_t i;

	for (i = 0; i < accesses->nr_files; i++)
		if (accesses->files[i].advised &&
		    (!longest || accesses->files[i].fault_ns > longest->fault_ns))
			longest = &accesses->files[i];
	return longest;
}

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
	status = advise_model_make(advise, around->before) ?: advise_rounds(advise, around);
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
	advise_model_exit(advise);
	ranking_exit(&advise->ranking);
	free(advise->figures);
	recorded_accesses_exit(&advise->accesses);
}

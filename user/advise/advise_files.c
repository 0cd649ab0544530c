// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the recorded files with today's files, and brings their pages into the state the
 * recording found. A file that cannot be brought there is left out. The recorded time of this
 * file's faults then stays unchanged in every candidate.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "advise/advise_files.h"
#include "system/kernel_settings.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/time_ns.h"
#include "workload/file_cache.h"

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

int advise_files_prepare(const struct recorded_accesses *accesses)
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

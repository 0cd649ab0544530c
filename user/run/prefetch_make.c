// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joins what the recordings needed with the files as they are now: only a file that is still the
 * recorded one, and unchanged since, comes into the list.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "run/prefetch_make.h"
#include "run/prefetch_sources.h"
#include "util/array.h"
#include "util/message.h"

#define PAGE_BYTES 4096U
#define NO_FILE	   UINT32_MAX

/* A file of the recordings; files[] of the sources has its path. */
struct candidate {
	uint32_t listed; /* index in the list, or NO_FILE */
	int64_t mtime_s;
	uint64_t bytes;
	bool reported; /* a message named it */
};

struct making {
	const struct prefetch_wish *wish;
	struct prefetch_made *made;
	struct prefetch_sources sources;
	struct candidate *candidates;
	struct prefetch_plan plan;
};

static void leave_out(struct making *making, struct candidate *candidate, const char *path,
		      const char *why)
{
	if (candidate->reported)
		return;
	candidate->reported = true;
	making->made->changed_files++;
	message(STATUS_OK, "%s is not in the list: %s", path, why);
}

/* Fills in the file as it is now. Its device is not compared: that of a mapping may differ. */
static bool describe(struct making *making, size_t number, struct prefetch_file *file)
{
	const struct inode_path *recorded = &making->sources.files[number];
	struct candidate *candidate = &making->candidates[number];
	struct stat status;

	if (strlen(recorded->path) >= PREFETCH_LIST_PATH_MAX) {
		leave_out(making, candidate, recorded->path, "its path is too long");
		return false;
	}
	if (lstat(recorded->path, &status)) {
		leave_out(making, candidate, recorded->path, strerror(errno));
		return false;
	}
	if (!S_ISREG(status.st_mode) || status.st_ino != recorded->inode) {
		leave_out(making, candidate, recorded->path, "another file has its name now");
		return false;
	}
	candidate->mtime_s = status.st_mtim.tv_sec;
	candidate->bytes = status.st_size;
	*file = (struct prefetch_file){
		.path = recorded->path,
		.inode = status.st_ino,
		.bytes = status.st_size,
		.mtime_s = status.st_mtim.tv_sec,
		.mtime_ns = status.st_mtim.tv_nsec,
		.dev_major = major(status.st_dev),
		.dev_minor = minor(status.st_dev),
	};
	return true;
}

static int compare_paths(const void *a, const void *b, void *context)
{
	const struct inode_path *files = context;
	const char *left = files[*(const uint32_t *)a].path,
		   *right = files[*(const uint32_t *)b].path;

	return strcmp(left, right);
}

/* Numbers the files by path, so that equal recordings make equal lists. */
static int number_files(struct making *making, struct prefetch_list *files)
{
	const size_t nr = making->sources.nr_files;
	uint32_t *order = calloc(nr + 1, sizeof(*order));
	struct prefetch_file file;
	size_t named = 0, i;
	int err = 0;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		making->candidates[i].listed = NO_FILE;
		if (making->sources.files[i].path)
			order[named++] = i;
	}
	qsort_r(order, named, sizeof(*order), compare_paths, making->sources.files);
	for (i = 0; i < named && !err; i++) {
		if (!describe(making, order[i], &file))
			continue;
		/* The device number differs between recordings of different boots. */
		if (files->nr_files && !strcmp(files->files[files->nr_files - 1].path, file.path)) {
			making->candidates[order[i]].listed = files->nr_files - 1;
			continue;
		}
		making->candidates[order[i]].listed = files->nr_files;
		err = prefetch_list_add_file(files, &file);
	}
	free(order);
	return err;
}

static int making_add_page(struct making *making, const struct prefetch_source *source,
			   const struct needed_page *page, uint32_t rank)
{
	const size_t number = prefetch_sources_file(&making->sources, page);
	struct candidate *candidate = &making->candidates[number];
	const char *path = making->sources.files[number].path;

	if (!path) {
		making->made->unnamed_files += !candidate->reported;
		making->made->unnamed_pages++;
		candidate->reported = true;
		return 0;
	}
	if (candidate->listed == NO_FILE)
		return 0;
	if (source->started_s && candidate->mtime_s > source->started_s) {
		leave_out(making, candidate, path, "it was changed after a recording began");
		return 0;
	}
	/* Fault-around windows may end behind the file, and recordings are not trusted. */
	if (page->pgoff > candidate->bytes / PAGE_BYTES ||
	    page->pgoff * PAGE_BYTES >= candidate->bytes)
		return 0;
	return prefetch_plan_add(&making->plan, &(struct prefetch_use){
							.pgoff = page->pgoff,
							.fault_ns = page->fault_ns,
							.read_ns = page->read_ns,
							.file = candidate->listed,
							.run = source - making->sources.runs,
							.rank = rank,
						});
}

static int making_add_pages(struct making *making)
{
	const struct prefetch_source *source;
	unsigned int run;
	size_t i;
	int err = 0;

	for (run = 0; run < making->sources.nr_runs && !err; run++) {
		source = &making->sources.runs[run];
		making->made->cached += source->figures.cached;
		making->made->without_requests += !source->has_requests;
		for (i = 0; i < source->nr_pages && !err; i++)
			err = making_add_page(making, source, &source->pages[i], i);
	}
	return err;
}

/* Copies an extent, and its file unless it is in the list: numbers[file] is its number, or 0. */
static int list_extent(struct prefetch_list *list, const struct prefetch_list *files,
		       uint32_t *numbers, const struct prefetch_extent *extent)
{
	const struct prefetch_file *file = &files->files[extent->file];
	const uint64_t offset = extent->pgoff * PAGE_BYTES;
	uint64_t bytes = extent->pages * PAGE_BYTES;
	int err;

	if (!numbers[extent->file]) {
		err = prefetch_list_add_file(list, file);
		if (err)
			return err;
		numbers[extent->file] = list->nr_files;
	}
	if (bytes > file->bytes - offset)
		bytes = file->bytes - offset;
	return prefetch_list_add_read(list, &(struct prefetch_read){
						    .offset = offset,
						    .bytes = bytes,
						    .file = numbers[extent->file] - 1,
					    });
}

/* Files come in the order of their first extent; files without one do not come. */
static int fill_list(struct making *making, const struct prefetch_list *files)
{
	uint32_t *numbers = calloc(files->nr_files + 1, sizeof(*numbers));
	const struct prefetch_plan *plan = &making->plan;
	size_t i;
	int err = numbers ? 0 : -ENOMEM;

	for (i = 0; i < plan->nr_extents && !err; i++)
		if (plan->extents[i].kept)
			err = list_extent(&making->made->list, files, numbers, &plan->extents[i]);
	free(numbers);
	return err;
}

static int plan(struct making *making)
{
	static const unsigned int percents[] = PREFETCH_CURVE;
	struct prefetch_made *made = making->made;
	int err;

	_Static_assert(ARRAY_SIZE(percents) == PREFETCH_CURVE_NR, "curve");
	err = prefetch_plan_make(&making->plan, made->runs, made->min_runs);
	if (err)
		return err;
	made->pages_seen = making->plan.pages_seen;
	made->all = prefetch_plan_sum(&making->plan, true);
	err = prefetch_plan_curve(&making->plan, percents, PREFETCH_CURVE_NR, made->curve);
	if (!err && making->wish->max_bytes != UINT64_MAX)
		err = prefetch_plan_cut(&making->plan, making->wish->max_bytes / PAGE_BYTES);
	made->kept = prefetch_plan_sum(&making->plan, true);
	return err;
}

static int make_list(struct making *making)
{
	struct prefetch_list files = { 0 };
	int err;

	making->candidates = calloc(making->sources.nr_files + 1, sizeof(*making->candidates));
	if (!making->candidates)
		return -ENOMEM;
	err = number_files(making, &files);
	if (!err)
		err = making_add_pages(making);
	if (!err)
		err = plan(making);
	if (!err)
		err = fill_list(making, &files);
	prefetch_list_exit(&files);
	return err;
}

int prefetch_make(struct prefetch_made *made, const struct prefetch_wish *wish)
{
	struct making making = { .wish = wish, .made = made };
	int status, err = 0;

	*made = (struct prefetch_made){
		.runs = wish->runs,
		.min_runs = wish->min_runs ?: wish->runs / 2 + 1,
	};
	status = prefetch_sources_read(&making.sources, wish->recordings, wish->runs);
	if (!status)
		err = make_list(&making);
	prefetch_plan_exit(&making.plan);
	prefetch_sources_exit(&making.sources);
	free(making.candidates);
	if (err == -E2BIG)
		return message(STATUS_FAILED, "the recordings have too many files or pages; record "
					      "only the start");
	if (err)
		return message(STATUS_FAILED, "cannot make the list: %s", strerror(-err));
	return status;
}

void prefetch_made_exit(struct prefetch_made *made)
{
	prefetch_list_exit(&made->list);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joins the pages needed in the recordings with the files as they are now. Only a file that is
 * still the recorded one, and unchanged since, comes into the list.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "prefetch/prefetch_make.h"
#include "prefetch/prefetch_sources.h"
#include "util/array.h"
#include "util/message.h"
#include "util/page_size.h"

#define NO_FILE UINT32_MAX

struct making {
	const struct prefetch_wish *wish;
	struct prefetch_made *made;
	struct prefetch_sources sources;
	uint32_t *listed;	    /* index in files, of each file of the sources, or NO_FILE */
	struct prefetch_list files; /* as they are now, without extents */
	bool *changed;		    /* for files: changed since one of the recordings */
	struct prefetch_plan plan;
};

static void leave_out(struct making *making, const char *path, const char *why)
{
	making->made->changed_files++;
	message(STATUS_OK, "%s is not in the list: %s", path, why);
}

/*
 * Fills in the file as it is now. The device is not compared, because a mapping's device may
 * differ.
 */
static bool describe(struct making *making, const struct inode_path *recorded,
		     struct prefetch_file *file)
{
	struct stat status;
	const char *why = NULL;

	if (strlen(recorded->path) >= PREFETCH_LIST_PATH_MAX)
		why = "the path is too long";
	else if (lstat(recorded->path, &status))
		why = strerror(errno);
	else if (!S_ISREG(status.st_mode) || status.st_ino != recorded->inode)
		why = "another file has this name now";
	if (why) {
		leave_out(making, recorded->path, why);
		return false;
	}
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

/* Numbers the files by path, so equal recordings make equal lists. */
static int number_files(struct making *making)
{
	const struct prefetch_sources *sources = &making->sources;
	uint32_t *order = calloc(sources->nr_files + 1, sizeof(*order));
	struct prefetch_list *files = &making->files;
	struct prefetch_file file;
	size_t named = 0, i;
	int err = 0;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < sources->nr_files; i++) {
		making->listed[i] = NO_FILE;
		if (sources->files[i].path)
			order[named++] = i;
	}
	making->made->unnamed_files = sources->nr_files - named;
	qsort_r(order, named, sizeof(*order), compare_paths, sources->files);
	for (i = 0; i < named && !err; i++) {
		if (!describe(making, &sources->files[order[i]], &file))
			continue;
		/* The device number differs between recordings from different boots. */
		if (!files->nr_files ||
		    strcmp(files->files[files->nr_files - 1].path, file.path) != 0)
			err = prefetch_list_add_file(files, &file);
		making->listed[order[i]] = files->nr_files - 1;
	}
	free(order);
	return err;
}

/* A file is discarded with the pages from all recordings, also from those after the change. */
static int find_changed(struct making *making)
{
	const struct prefetch_source *source;
	unsigned int run;
	uint32_t number;
	size_t i;

	making->changed = calloc(making->files.nr_files + 1, sizeof(*making->changed));
	if (!making->changed)
		return -ENOMEM;
	for (run = 0; run < making->sources.nr_runs; run++) {
		source = &making->sources.runs[run];
		for (i = 0; i < source->nr_pages && source->started_s; i++) {
			number = making->listed[prefetch_sources_file(&making->sources,
								      &source->pages[i])];
			if (number == NO_FILE || making->changed[number] ||
			    making->files.files[number].mtime_s <= source->started_s)
				continue;
			making->changed[number] = true;
			leave_out(making, making->files.files[number].path,
				  "it was changed after a recording began");
		}
	}
	return 0;
}

static int making_add_page(struct making *making, const struct prefetch_source *source,
			   const struct needed_page *page, uint32_t rank)
{
	const size_t file = prefetch_sources_file(&making->sources, page);
	const uint32_t number = making->listed[file];
	uint64_t bytes;

	making->made->unnamed_pages += !making->sources.files[file].path;
	if (number == NO_FILE || making->changed[number])
		return 0;
	/* Fault-around windows may end behind the file, and recordings are not trusted. */
	bytes = making->files.files[number].bytes;
	if (page->pgoff > bytes / page_size() || page->pgoff * page_size() >= bytes)
		return 0;
	return prefetch_plan_add(&making->plan, &(struct prefetch_use){
							.pgoff = page->pgoff,
							.fault_ns = page->fault_ns,
							.read_ns = page->read_ns,
							.file = number,
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
		/* Without requests, it is not known which pages were cached before. */
		if (source->has_requests)
			making->made->cached += source->figures.cached;
		else
			making->made->without_requests++;
		making->made->of_perf += source->is_perf;
		for (i = 0; i < source->nr_pages && !err; i++)
			err = making_add_page(making, source, &source->pages[i], i);
	}
	return err;
}

/*
 * Copies an extent, and the file unless the list already has it: numbers[file] is the file's
 * number, or 0.
 */
static int list_extent(struct prefetch_list *list, const struct prefetch_list *files,
		       uint32_t *numbers, const struct prefetch_extent *extent)
{
	const struct prefetch_file *file = &files->files[extent->file];
	const uint64_t offset = extent->pgoff * page_size();
	uint64_t bytes = extent->pages * page_size();
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

/* Files are ordered by their first extent. Files without an extent are not listed. */
static int fill_list(struct making *making)
{
	const struct prefetch_list *files = &making->files;
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
		err = prefetch_plan_cut(&making->plan, making->wish->max_bytes / page_size());
	made->kept = prefetch_plan_sum(&making->plan, true);
	return err;
}

static int make_list(struct making *making)
{
	int err;

	making->listed = calloc(making->sources.nr_files + 1, sizeof(*making->listed));
	if (!making->listed)
		return -ENOMEM;
	err = number_files(making);
	if (!err)
		err = find_changed(making);
	if (!err)
		err = making_add_pages(making);
	if (!err)
		err = plan(making);
	return err ?: fill_list(making);
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
	prefetch_list_exit(&making.files);
	free(making.listed);
	free(making.changed);
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

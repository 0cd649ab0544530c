// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a prefetch list and its size-benefit curve from the pages that several recordings needed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <pfstat/exact.h>

#include "prefetch/prefetch.h"
#include "prefetch/prefetch_sources.h"
#include "util/array.h"
#include "util/message.h"
#include "util/page_size.h"

/*
 * Sorts the uses from all recordings by page, keeps pages with enough uses, and joins pages that
 * follow each other. The result does not depend on the order of the recordings.
 */

/* Extents end at multiples of this size (1 MiB), so a long one does not hide the order of use. */
#define PREFETCH_EXTENT_PAGES 256U
#define PREFETCH_USES_MAX     (1U << 23)

void prefetch_plan_exit(struct prefetch_plan *plan)
{
	free(plan->uses);
	free(plan->extents);
	*plan = (struct prefetch_plan){ 0 };
}

int prefetch_plan_add(struct prefetch_plan *plan, const struct prefetch_use *use)
{
	if (plan->nr_uses == PREFETCH_USES_MAX)
		return -E2BIG;
	if (array_reserve((void **)&plan->uses, plan->nr_uses, &plan->room, sizeof(*plan->uses)))
		return -ENOMEM;
	plan->uses[plan->nr_uses++] = *use;
	return 0;
}

static int prefetch_compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int prefetch_compare_uses(const void *a, const void *b)
{
	const struct prefetch_use *left = a, *right = b;

	return prefetch_compare_numbers(left->file, right->file)	   ?:
		       prefetch_compare_numbers(left->pgoff, right->pgoff) ?:
		       prefetch_compare_numbers(left->rank, right->rank)   ?:
		       prefetch_compare_numbers(left->run, right->run);
}

static int prefetch_compare_order(const void *a, const void *b)
{
	const struct prefetch_extent *left = a, *right = b;

	return prefetch_compare_numbers(left->rank, right->rank)	 ?:
		       prefetch_compare_numbers(left->file, right->file) ?:
		       prefetch_compare_numbers(left->pgoff, right->pgoff);
}

/* Returns how many uses, from the first on, are for the same page. */
static size_t same_page(const struct prefetch_use *uses, size_t nr)
{
	size_t same = 1;

	while (same < nr && uses[same].file == uses->file && uses[same].pgoff == uses->pgoff)
		same++;
	return same;
}

/* One page's uses, by rank, become an extent with this page. */
static struct prefetch_extent extent_of(const struct prefetch_use *uses, size_t nr)
{
	struct prefetch_extent extent = {
		.file = uses->file,
		.pgoff = uses->pgoff,
		.pages = 1,
		.rank = (uint64_t)uses[(nr - 1) / 2].rank + uses[nr / 2].rank,
		.kept = true,
	};
	size_t i;

	for (i = 0; i < nr; i++) {
		extent.fault_ns += uses[i].fault_ns;
		extent.read_ns += uses[i].read_ns;
	}
	return extent;
}

static bool continues(const struct prefetch_extent *extent, const struct prefetch_extent *next)
{
	return extent->file == next->file && extent->pgoff + extent->pages == next->pgoff &&
	       next->pgoff % PREFETCH_EXTENT_PAGES;
}

static void add_page(struct prefetch_plan *plan, const struct prefetch_extent *page)
{
	struct prefetch_extent *last = plan->extents + plan->nr_extents - 1;

	if (!plan->nr_extents || !continues(last, page)) {
		plan->extents[plan->nr_extents++] = *page;
		return;
	}
	last->pages++;
	last->fault_ns += page->fault_ns;
	last->read_ns += page->read_ns;
	if (page->rank < last->rank)
		last->rank = page->rank;
}

int prefetch_plan_make(struct prefetch_plan *plan, unsigned int nr_runs, unsigned int min_runs)
{
	struct prefetch_extent page;
	size_t at, same;

	plan->extents = calloc(plan->nr_uses + 1, sizeof(*plan->extents));
	if (!plan->extents)
		return -ENOMEM;
	if (plan->nr_uses)
		qsort(plan->uses, plan->nr_uses, sizeof(*plan->uses), prefetch_compare_uses);
	for (at = 0; at < plan->nr_uses; at += same) {
		same = same_page(plan->uses + at, plan->nr_uses - at);
		plan->pages_seen++;
		if (same < min_runs)
			continue;
		page = extent_of(plan->uses + at, same);
		add_page(plan, &page);
	}
	for (at = 0; at < plan->nr_extents; at++) {
		plan->extents[at].fault_ns /= nr_runs;
		plan->extents[at].read_ns /= nr_runs;
	}
	qsort(plan->extents, plan->nr_extents, sizeof(*plan->extents), prefetch_compare_order);
	return 0;
}

/* Sorts by time avoided for each page, most first, then by first use. */
static int prefetch_compare_benefit(const void *a, const void *b)
{
	const struct prefetch_extent *left = *(struct prefetch_extent *const *)a;
	const struct prefetch_extent *right = *(struct prefetch_extent *const *)b;
	const double of_left = (double)(left->fault_ns + left->read_ns) / left->pages;
	const double of_right = (double)(right->fault_ns + right->read_ns) / right->pages;

	if (of_left != of_right)
		return of_left > of_right ? -1 : 1;
	return prefetch_compare_order(left, right);
}

/* Returns pointers to all extents, most benefit first. The caller frees them. */
static struct prefetch_extent **by_benefit(const struct prefetch_plan *plan)
{
	struct prefetch_extent **sorted = calloc(plan->nr_extents + 1, sizeof(*sorted));
	size_t i;

	if (!sorted)
		return NULL;
	for (i = 0; i < plan->nr_extents; i++)
		sorted[i] = &plan->extents[i];
	qsort(sorted, plan->nr_extents, sizeof(*sorted), prefetch_compare_benefit);
	return sorted;
}

int prefetch_plan_cut(struct prefetch_plan *plan, uint64_t max_pages)
{
	struct prefetch_extent **sorted = by_benefit(plan);
	size_t i;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < plan->nr_extents; i++) {
		sorted[i]->kept = sorted[i]->pages <= max_pages;
		if (sorted[i]->kept)
			max_pages -= sorted[i]->pages;
	}
	free(sorted);
	return 0;
}

static void add_to_sum(struct prefetch_sum *sum, const struct prefetch_extent *extent)
{
	sum->extents++;
	sum->pages += extent->pages;
	sum->fault_ns += extent->fault_ns;
	sum->read_ns += extent->read_ns;
}

struct prefetch_sum prefetch_plan_sum(const struct prefetch_plan *plan, bool kept)
{
	struct prefetch_sum sum = { 0 };
	size_t i;

	for (i = 0; i < plan->nr_extents; i++)
		if (plan->extents[i].kept == kept)
			add_to_sum(&sum, &plan->extents[i]);
	return sum;
}

int prefetch_plan_curve(const struct prefetch_plan *plan, const unsigned int *percents, size_t nr,
			struct prefetch_sum *sums)
{
	struct prefetch_extent **sorted = by_benefit(plan);
	struct prefetch_sum sum = { 0 };
	double total = 0, aim;
	size_t i, next = 0;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < plan->nr_extents; i++)
		total += sorted[i]->fault_ns + sorted[i]->read_ns;
	for (i = 0; i < nr; i++) {
		aim = total * percents[i] / 100;
		while (next < plan->nr_extents && sum.fault_ns + sum.read_ns < aim)
			add_to_sum(&sum, sorted[next++]);
		sums[i] = sum;
	}
	free(sorted);
	return 0;
}

/*
 * Joins the pages needed in the recordings with the files as they are now. Only a file that is
 * still the recorded one, and unchanged since, comes into the list.
 */

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
		if (!sources->files[i].path)
			making->made->unnamed_files++;
		else if (!strstr(sources->files[i].path, "/" EXACT_FOLDER))
			order[named++] = i;
	}
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
		making->made->exact += source->exact;
		making->made->around += source->figures.around;
		making->made->of_perf += source->is_perf && !source->exact;
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

// SPDX-License-Identifier: GPL-2.0-only
/* Reads recordings of a program start, and finds the paths of the files whose pages they needed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "analyze/analysis.h"
#include "prefetch/prefetch_sources.h"
#include "print/json/json_environment.h"
#include "recording/counters_json.h"
#include "recording/reader.h"
#include "report/report.h"
#include "report/view.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/why.h"

/*
 * Walks the folders on each mount whose device has a wanted inode. Directory entries have the inode
 * number, so only folders and matches are looked up. Symbolic links are never followed, and other
 * file systems are not entered.
 */

/* Each folder level holds a descriptor. Deeper ones are skipped. */
#define DEPTH_MAX 128

struct inode_walk {
	struct inode_path *entries;
	size_t nr, missing;
	dev_t dev;
	uint32_t packed_dev;
	const volatile sig_atomic_t *stop;
	char path[PATH_MAX];
};

static int inode_walk_folder(struct inode_walk *walk, int fd, size_t length, unsigned int depth);

/* For qsort(3) and bsearch(3): by device and inode. */
static int inode_path_compare(const void *a, const void *b)
{
	const struct inode_path *left = a, *right = b;

	if (left->dev != right->dev)
		return left->dev < right->dev ? -1 : 1;
	return left->inode < right->inode ? -1 : left->inode > right->inode;
}

static struct inode_path *find_entry(const struct inode_walk *walk, uint64_t inode)
{
	const struct inode_path key = { .dev = walk->packed_dev, .inode = inode };

	return bsearch(&key, walk->entries, walk->nr, sizeof(key), inode_path_compare);
}

/* Number of files still missing on the device being walked. */
static size_t count_missing(const struct inode_walk *walk)
{
	size_t nr = 0, i;

	for (i = 0; i < walk->nr; i++)
		nr += walk->entries[i].dev == walk->packed_dev && !walk->entries[i].path;
	return nr;
}

static int take_file(struct inode_walk *walk, int folder, const char *name)
{
	struct inode_path *entry;
	struct stat status;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode) ||
	    status.st_dev != walk->dev)
		return 0;
	entry = find_entry(walk, status.st_ino);
	if (!entry || entry->path)
		return 0;
	entry->path = strdup(walk->path);
	if (!entry->path)
		return -ENOMEM;
	walk->missing--;
	return 0;
}

/* A folder that cannot be read is skipped: the files in it cannot be prefetched either. */
static int enter(struct inode_walk *walk, int folder, const char *name, size_t length,
		 unsigned int depth)
{
	struct stat status;
	int fd;

	if (depth == DEPTH_MAX)
		return 0;
	fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &status) && status.st_dev == walk->dev)
		return inode_walk_folder(walk, fd, length, depth + 1);
	close(fd);
	return 0;
}

/* @length: the folder path's length, without a final slash */
static int take_entry(struct inode_walk *walk, int folder, const struct dirent *found,
		      size_t length, unsigned int depth)
{
	const size_t name_length = strlen(found->d_name);

	if (!strcmp(found->d_name, ".") || !strcmp(found->d_name, "..") ||
	    length + name_length + 2 > sizeof(walk->path))
		return 0;
	walk->path[length] = '/';
	strcpy(walk->path + length + 1, found->d_name);
	if (found->d_type == DT_DIR)
		return enter(walk, folder, found->d_name, length + 1 + name_length, depth);
	if (found->d_type == DT_REG && find_entry(walk, found->d_ino))
		return take_file(walk, folder, found->d_name);
	if (found->d_type != DT_UNKNOWN)
		return 0;
	return take_file(walk, folder, found->d_name) ?:
		       enter(walk, folder, found->d_name, length + 1 + name_length, depth);
}

/* Closes fd. */
static int inode_walk_folder(struct inode_walk *walk, int fd, size_t length, unsigned int depth)
{
	DIR *folder = fdopendir(fd);
	const struct dirent *found;
	int err = 0;

	if (!folder) {
		close(fd);
		return 0;
	}
	while (!err && walk->missing && (found = readdir(folder)))
		err = *walk->stop ? -EINTR : take_entry(walk, fd, found, length, depth);
	closedir(folder);
	return err;
}

static int walk_mount(struct inode_walk *walk, const char *mount)
{
	const int fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;
	size_t length = strlen(mount);

	if (fd < 0)
		return 0;
	/* A btrfs file's device differs from the mount's device, so such files are not found. */
	if (fstat(fd, &status) || length >= sizeof(walk->path)) {
		close(fd);
		return 0;
	}
	walk->dev = status.st_dev;
	if ((major(status.st_dev) << 20 | minor(status.st_dev)) != walk->packed_dev) {
		close(fd);
		return 0;
	}
	strcpy(walk->path, mount);
	return inode_walk_folder(walk, fd, length == 1 ? 0 : length, 0);
}

/* Replaces \ooo in place, see proc(5). */
static void unescape(char *text)
{
	char *to = text;
	unsigned int byte;

	for (; *text; to++) {
		if (*text == '\\' && sscanf(text + 1, "%3o", &byte) == 1) {
			*to = byte;
			text += 4;
		} else {
			*to = *text++;
		}
	}
	*to = '\0';
}

static int inode_walk_mounts(struct inode_walk *walk, FILE *mounts)
{
	unsigned int major_number, minor_number;
	char *line = NULL, mount[PATH_MAX];
	size_t size = 0;
	int err = 0;

	while (!err && getline(&line, &size, mounts) > 0) {
		if (sscanf(line, "%*d %*d %u:%u %*s %4095s", &major_number, &minor_number, mount) !=
		    3)
			continue;
		unescape(mount);
		walk->packed_dev = major_number << 20 | minor_number;
		walk->missing = count_missing(walk);
		if (walk->missing)
			err = walk_mount(walk, mount);
	}
	free(line);
	return err;
}

int inode_paths_find(struct inode_path *entries, size_t nr, const volatile sig_atomic_t *stop)
{
	struct inode_walk *walk = calloc(1, sizeof(*walk));
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	int err;

	if (!mounts || !walk) {
		err = mounts ? -ENOMEM : -errno;
	} else {
		qsort(entries, nr, sizeof(*entries), inode_path_compare);
		walk->entries = entries;
		walk->nr = nr;
		walk->stop = stop;
		err = inode_walk_mounts(walk, mounts);
	}
	free(walk);
	if (mounts)
		fclose(mounts);
	return err;
}

/*
 * Feeds each recording to the analysis, which names files by their mappings, and to
 * needed_pages. Files that were only read, not mapped, are searched by inode in the file systems.
 */

struct source_reading {
	struct prefetch_sources *sources;
	struct prefetch_source *source;
	struct analysis *analysis;
	struct needed_pages *needed;
	uint64_t starts; /* of programs */
	bool may_start;	 /* a command was recorded, and it has not been executed yet */
	bool one_page;	 /* each fault mapped one page */
};

static int source_take_fault(void *context, const struct explained *fault)
{
	struct source_reading *reading = context;

	return needed_pages_add_fault(reading->needed, fault);
}

static int source_take_item(void *context, const struct item *item)
{
	struct source_reading *reading = context;
	int err = analysis_add(reading->analysis, item);

	if (item->type == ITEM_MAP && !item->map->bytes) {
		/* Before this, the process is a copy of pfdrive. */
		if (reading->may_start)
			needed_pages_start(reading->needed, item->ns);
		reading->may_start = false;
		reading->starts++;
	}
	if (err || item->type != ITEM_EVENT || item->event->type != PFSTAT_EVENT_BLOCK)
		return err;
	return needed_pages_add_block(reading->needed, (const struct pfstat_block *)item->event);
}

static int compare_pages(const void *a, const void *b)
{
	const struct needed_page *left = a, *right = b;

	if (left->dev != right->dev)
		return left->dev < right->dev ? -1 : 1;
	return left->inode < right->inode ? -1 : left->inode > right->inode;
}

/* If the recording does not know a file, the file's name has the form "(device ...)". */
static int source_name_file(const struct source_reading *reading, struct inode_path *file)
{
	char *name;

	if (file->path)
		return 0;
	name = analysis_file_name(reading->analysis, file->dev, file->inode);
	if (!name)
		return -ENOMEM;
	if (name[0] == '/')
		file->path = name;
	else
		free(name);
	return 0;
}

/* Adds the new files of the recording, and names those without a name so far. */
static int source_add_files(struct source_reading *reading)
{
	struct prefetch_sources *sources = reading->sources;
	const struct prefetch_source *source = reading->source;
	struct needed_page *pages = malloc((source->nr_pages + 1) * sizeof(*pages));
	size_t known = sources->nr_files, i;
	struct inode_path *files, key;
	int err = 0;

	files = reallocarray(sources->files, known + source->nr_pages + 1, sizeof(*files));
	if (files)
		sources->files = files;
	if (!files || !pages) {
		free(pages);
		return -ENOMEM;
	}
	memcpy(pages, source->pages, source->nr_pages * sizeof(*pages));
	qsort(pages, source->nr_pages, sizeof(*pages), compare_pages);
	for (i = 0; i < source->nr_pages && !err; i++) {
		if (i && !compare_pages(&pages[i], &pages[i - 1]))
			continue;
		key = (struct inode_path){ .inode = pages[i].inode, .dev = pages[i].dev };
		if (!bsearch(&key, files, known, sizeof(key), inode_path_compare))
			files[sources->nr_files++] = key;
	}
	free(pages);
	qsort(files, sources->nr_files, sizeof(*files), inode_path_compare);
	for (i = 0; i < sources->nr_files && !err; i++)
		err = source_name_file(reading, &files[i]);
	return err;
}

static int source_take_pages(struct source_reading *reading)
{
	struct prefetch_source *source = reading->source;
	const struct needed_page *pages;
	int err;

	err = needed_pages_finish(reading->needed, reading->one_page, &pages, &source->nr_pages,
				  &source->figures);
	if (err)
		return err;
	source->pages = malloc((source->nr_pages + 1) * sizeof(*pages));
	if (!source->pages)
		return -ENOMEM;
	if (source->nr_pages)
		memcpy(source->pages, pages, source->nr_pages * sizeof(*pages));
	return source_add_files(reading);
}

/*
 * The library of record --exact must have reached all programs. With the module fault-around was
 * off, and there was no library.
 */
static void source_take_reach(struct source_reading *reading, const struct exact_reach *reach)
{
	struct prefetch_source *source = reading->source;

	if (!source->exact || reach->programs == COUNT_NA)
		return;
	reading->one_page = reach->programs >= reading->starts && !reach->no_userfaultfd &&
			    !reach->closed;
	if (!reading->one_page)
		message(STATUS_OK,
			"%s is taken for an ordinary recording: --exact did not reach all "
			"programs",
			source->recording);
	source->exact = reading->one_page;
}

/* A recording cut short, or with lost events, lacks pages. */
static void source_take_tail(struct source_reading *reading, const struct recording_reader *reader)
{
	const struct prefetch_source *source = reading->source;
	struct run_counters counters;
	uint64_t lost;

	if (recording_damage(reader))
		message(STATUS_OK, "%s", recording_damage(reader));
	if (counters_json_parse(&counters, recording_tail(reader))) {
		reading->source->exact = false;
		return;
	}
	source_take_reach(reading, &counters.exact);
	lost = counters.lost != COUNT_NA ? counters.lost : 0;
	if (run_counters_events_lost(&counters) != COUNT_NA)
		lost += run_counters_events_lost(&counters);
	if (lost)
		message(STATUS_OK,
			"%s lost %llu records and events, whose pages may be missing; record again "
			"with a larger --ring-size",
			source->recording, (unsigned long long)lost);
	run_counters_exit(&counters);
}

static int source_read_head(struct source_reading *reading, const struct recording_reader *reader)
{
	struct prefetch_source *source = reading->source;
	struct report report;
	int err;

	report_init(&report);
	err = json_head_parse(&report, recording_head(reader));
	source->started_s = report.environment.started_s;
	source->exact = report.environment.exact;
	source->is_perf = view_source_is_perf(&report);
	source->has_requests = report.bpf.known && !source->is_perf;
	reading->may_start = report.environment.command[0];
	report_exit(&report);
	return err ? message(STATUS_FAILED, "cannot use %s: the head is not complete",
			     source->recording) :
		     STATUS_OK;
}

static int source_read_items(struct source_reading *reading, struct recording_reader *reader)
{
	struct prefetch_source *source = reading->source;
	int err;

	err = analysis_listen(reading->analysis, source_take_fault, reading);
	if (!err)
		err = recording_feed(reader, source_take_item, reading, &signals_caught);
	if (!err)
		err = analysis_finish(reading->analysis);
	if (!err) {
		source_take_tail(reading, reader);
		err = source_take_pages(reading);
	}
	if (signals_caught)
		return 128 + signals_caught;
	if (err == -E2BIG)
		return message(STATUS_FAILED,
			       "cannot use %s: it has more than %u faults or pages; record only "
			       "the start",
			       source->recording, NEEDED_PAGES_MAX);
	if (err)
		return message(STATUS_FAILED, "cannot use %s: %s", source->recording,
			       strerror(-err));
	return STATUS_OK;
}

static int source_read(struct prefetch_sources *sources, struct prefetch_source *source)
{
	struct source_reading reading = {
		.sources = sources,
		.source = source,
		.analysis = analysis_new(true, page_size(), 1U << GROUP_BY_FILE),
		.needed = needed_pages_new(page_size()),
	};
	struct recording_reader *reader = NULL;
	struct why why;
	int status = STATUS_OK;

	if (!reading.analysis || !reading.needed)
		status = message(STATUS_FAILED, "out of memory");
	else if (recording_open(&reader, source->recording, &why))
		status = signals_caught ? 128 + signals_caught :
					  message(STATUS_FAILED, "%s", why.text);
	if (!status && recording_require_pages(reader, &why))
		status = message(STATUS_FAILED, "%s", why.text);
	if (!status)
		status = source_read_head(&reading, reader);
	if (!status)
		analysis_expect_spans(reading.analysis, recording_has_spans(reader));
	if (!status)
		status = source_read_items(&reading, reader);
	recording_close(reader);
	needed_pages_free(reading.needed);
	analysis_free(reading.analysis);
	return status;
}

int prefetch_sources_read(struct prefetch_sources *sources, char *const *recordings,
			  unsigned int nr)
{
	unsigned int i;
	int status, err;

	*sources = (struct prefetch_sources){ .runs = calloc(nr, sizeof(*sources->runs)) };
	if (!sources->runs)
		return message(STATUS_FAILED, "out of memory");
	sources->nr_runs = nr;
	for (i = 0; i < nr; i++) {
		sources->runs[i].recording = recordings[i];
		status = source_read(sources, &sources->runs[i]);
		if (status)
			return status;
	}
	err = inode_paths_find(sources->files, sources->nr_files, &signals_caught);
	if (signals_caught)
		return 128 + signals_caught;
	return err ? message(STATUS_FAILED, "cannot find the recorded files: %s", strerror(-err)) :
		     STATUS_OK;
}

void prefetch_sources_exit(struct prefetch_sources *sources)
{
	size_t i;

	for (i = 0; i < sources->nr_runs; i++)
		free(sources->runs[i].pages);
	for (i = 0; i < sources->nr_files; i++)
		free(sources->files[i].path);
	free(sources->runs);
	free(sources->files);
	*sources = (struct prefetch_sources){ 0 };
}

size_t prefetch_sources_file(const struct prefetch_sources *sources, const struct needed_page *page)
{
	const struct inode_path key = { .inode = page->inode, .dev = page->dev };

	return (struct inode_path *)bsearch(&key, sources->files, sources->nr_files, sizeof(key),
					    inode_path_compare) -
	       sources->files;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a recording once. Each fault on a file is the first access to a page in a mapping. Nothing
 * in a recording is trusted, so the work for an item does not depend on the number of mappings.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "analyze/analysis.h"
#include "analyze/groups/address_spaces.h"
#include "print/json/json_environment.h"
#include "predict/recorded_touches.h"
#include "recording/counters_json.h"
#include "recording/reader.h"
#include "util/array.h"
#include "util/kernel_release.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/why.h"

/* The rule was compared with the kernel from this release on. */
#define FIRST_KERNEL "6.12"

/* Stores to mapped pages and failed faults are not first accesses. */
static bool is_first_access(const struct explained *fault)
{
	if (fault->class == FAULT_MKWRITE || fault->class == FAULT_ERROR)
		return false;
	return fault->class == FAULT_FILE || fault->class < FAULT_FIRST_OTHER;
}

/* 1 + the number found by hash is the value there, so that 0 is none. */
static size_t index_at(const struct hash *hash, uint64_t key)
{
	return (uintptr_t)hash_find(hash, key);
}

static int set_index_at(struct hash *hash, uint64_t key, size_t number)
{
	hash_take(hash, key);
	return hash_add(hash, key, (void *)(uintptr_t)number);
}

/* The file's index, or -ENOMEM. */
static int touched_file_index(struct recorded_touches *touches, const struct space_map *map)
{
	const char *path = address_spaces_path(touches->spaces, map->path);
	const uint64_t names[] = { hash_of(path, strlen(path)), map->inode, map->dev };
	const uint64_t key = hash_of(names, sizeof(names));
	size_t number = index_at(&touches->by_file, key);
	struct touched_file *file;

	if (number)
		return number - 1;
	if (array_reserve((void **)&touches->files, touches->nr_files, &touches->file_capacity,
			  sizeof(*touches->files)))
		return -ENOMEM;
	file = &touches->files[touches->nr_files];
	*file = (struct touched_file){
		.path = strdup(path), .inode = map->inode, .dev = map->dev, .readahead_bytes = -1
	};
	file->by_libc = strstr(path, "/locale/") || strstr(path, "/gconv-modules.cache");
	cached_file_open(&file->seen, UINT64_MAX);
	if (!file->path)
		return -ENOMEM;
	number = ++touches->nr_files;
	return set_index_at(&touches->by_file, key, number) ? -ENOMEM : (int)number - 1;
}

/* The index of the stream, or -ENOMEM. */
static int stream_index(struct recorded_touches *touches, uint32_t pid, uint32_t file)
{
	const uint64_t key = (uint64_t)pid << 32 | file;
	size_t number = index_at(&touches->by_stream, key);

	if (number)
		return number - 1;
	if (array_reserve((void **)&touches->streams, touches->nr_streams,
			  &touches->stream_capacity, sizeof(*touches->streams)))
		return -ENOMEM;
	touches->streams[touches->nr_streams] = (struct access_stream){ .file = file };
	number = ++touches->nr_streams;
	return set_index_at(&touches->by_stream, key, number) ? -ENOMEM : (int)number - 1;
}

static uint64_t touched_place(uint32_t pid, uint64_t address)
{
	const uint64_t place[] = { pid, address };

	return hash_of(place, sizeof(place));
}

static enum mapping_advice map_advice(uint32_t flags)
{
	if (flags & ITEM_MAP_RANDOM)
		return MAPPING_RANDOM;
	return flags & ITEM_MAP_SEQUENTIAL ? MAPPING_SEQUENTIAL : MAPPING_NORMAL;
}

/* Returns 0 or -ENOMEM. */
static int add_touched_mapping(struct recorded_touches *touches, uint32_t pid,
			       const struct space_map *map)
{
	const int file = touched_file_index(touches, map);
	const int stream = file < 0 ? file : stream_index(touches, pid, file);
	struct touched_mapping *mapping;

	if (stream < 0 || array_reserve((void **)&touches->mappings, touches->nr_mappings,
					&touches->mapping_capacity, sizeof(*touches->mappings)))
		return -ENOMEM;
	mapping = &touches->mappings[touches->nr_mappings++];
	*mapping = (struct touched_mapping){
		.mapping = { .stream = stream,
			     .first = map->pgoff,
			     .end = map->pgoff + page_size_count(map->end - map->start),
			     .address_page = map->start / page_size(),
			     .advice = map_advice(map->flags),
			     .code = map->prot & PROT_EXEC },
		.address = map->start,
		.bytes = map->end - map->start,
		.file = file,
		.pid = pid,
	};
	if (map->prot & PROT_EXEC) {
		touches->files[file].executed = true;
		touches->streams[stream].executed = true;
	}
	return set_index_at(&touches->by_place, touched_place(pid, map->start),
			    touches->nr_mappings);
}

static bool is_mapping(const struct touched_mapping *mapping, uint32_t pid,
		       const struct space_map *map, const struct recorded_touches *touches)
{
	return mapping->pid == pid && mapping->address == map->start &&
	       mapping->bytes >= map->end - map->start && mapping->mapping.first == map->pgoff &&
	       touches->files[mapping->file].inode == map->inode;
}

/* The file mapping at the address, in *found, or NULL if none is known. Returns 0 or -ENOMEM. */
static int touched_mapping_at(struct recorded_touches *touches, uint32_t pid, uint64_t address,
			      struct touched_mapping **found, const struct space_map **map)
{
	size_t number;
	int err;

	*found = NULL;
	*map = address_spaces_find(touches->spaces, pid, address);
	if (!*map || !space_map_has_file(*map) ||
	    address_spaces_path(touches->spaces, (*map)->path)[0] != '/')
		return 0;
	number = index_at(&touches->by_place, touched_place(pid, (*map)->start));
	if (!number || !is_mapping(&touches->mappings[number - 1], pid, *map, touches)) {
		err = add_touched_mapping(touches, pid, *map);
		if (err)
			return err;
		number = touches->nr_mappings;
	}
	*found = &touches->mappings[number - 1];
	return 0;
}

/* perf does not show stores. A fault in a private writable mapping is taken for one. */
static bool is_store(const struct explained *fault, const struct space_map *map)
{
	if (fault->perf)
		return map->prot & PROT_WRITE && !(map->flags & MAP_SHARED);
	return fault->flags & PFSTAT_FLAG_WRITE;
}

static void count_touch(struct touched_file *file, uint64_t page, bool major)
{
	const bool first = cached_file_access(&file->seen, page);

	file->faults++;
	file->major += major;
	file->accessed += first;
	file->accessed_major += first && major;
	file->read_again += !first && major;
	if (page >= file->end)
		file->end = page + 1;
}

static int touches_take_fault(void *context, const struct explained *fault)
{
	struct recorded_touches *touches = context;
	struct touched_mapping *mapping;
	const struct space_map *map;
	struct touched_file *file;
	uint64_t page;
	int err;

	if (!fault->inode || !is_first_access(fault))
		return 0;
	err = touched_mapping_at(touches, fault->pid, fault->address, &mapping, &map);
	if (err)
		return err;
	if (!mapping || touches->files[mapping->file].inode != fault->inode) {
		touches->unplaced++;
		return 0;
	}
	file = &touches->files[mapping->file];
	file->by_threads |= mapping->tid && mapping->tid != fault->tid;
	mapping->tid = fault->tid;
	page = mapping->mapping.first + (fault->address - mapping->address) / page_size();
	count_touch(file, page, fault->major);
	if (file->seen.err || array_reserve((void **)&touches->touches, touches->nr_touches,
					    &touches->touch_capacity, sizeof(*touches->touches)))
		return -ENOMEM;
	touches->untimed |= !fault->whole || fault->perf & PFSTAT_PERF_NO_END;
	touches->touches[touches->nr_touches++] = (struct touch){
		.offset = mapping->mapping.first * page_size() + fault->address - mapping->address,
		.time = { .start_ns = fault->start_ns,
			  .ns = fault->end_ns - fault->start_ns,
			  .cpu_ns = fault->parts_known ? explained_cpu_ns(fault) :
							 ACCESS_NS_UNKNOWN,
			  .major = fault->major },
		.access = { .page = page,
			    .mapping = mapping - touches->mappings,
			    .write = is_store(fault, map) },
	};
	return 0;
}

/* What a call changes, if the model does not follow it. */
static const char *shape_of(const struct pfstat_advice *advice,
			    const struct touched_mapping *mapping)
{
	switch (advice->advice) {
	case MADV_WILLNEED:
	case MADV_POPULATE_READ:
	case MADV_POPULATE_WRITE:
		return "madvise(2) read pages";
	case MADV_NORMAL:
	case MADV_RANDOM:
	case MADV_SEQUENTIAL:
		if (mapping->tid || advice->address > mapping->address ||
		    advice->address + advice->bytes < mapping->address + mapping->bytes)
			return "madvise(2) changed a part of a mapping, or one in use";
		return NULL;
	default:
		return NULL;
	}
}

static int touches_take_advice(struct recorded_touches *touches, const struct pfstat_advice *advice)
{
	const uint64_t end = advice->address + advice->bytes;
	struct touched_mapping *mapping;
	const struct space_map *map;
	const char *shaped;
	uint64_t address;
	int err;

	for (address = advice->address; address < end; address = map->end) {
		err = touched_mapping_at(touches, advice->event.pid, address, &mapping, &map);
		if (err || !mapping)
			return err;
		shaped = shape_of(advice, mapping);
		if (shaped)
			touches->files[mapping->file].shaped = shaped;
		else if (advice->advice == MADV_NORMAL || advice->advice == MADV_RANDOM ||
			 advice->advice == MADV_SEQUENTIAL)
			mapping->mapping.advice = advice->advice;
	}
	return 0;
}

/*
 * With perf: the advice in force, as pfdrive saw it after some reads. It is taken for that of the
 * whole run.
 */
static int touches_take_state(struct recorded_touches *touches, const struct pfstat_mapping *state)
{
	struct touched_mapping *mapping;
	const struct space_map *map;
	int err = touched_mapping_at(touches, state->event.pid, state->address, &mapping, &map);

	if (err || !mapping)
		return err;
	touches->states++;
	if (state->advice == mapping->mapping.advice)
		return 0;
	if (state->address > mapping->address || state->bytes < mapping->bytes)
		touches->files[mapping->file].shaped = "a part of a mapping had other advice";
	else if (mapping->state_known)
		touches->files[mapping->file].shaped = "the advice of a mapping in use was changed";
	mapping->mapping.advice = state->advice;
	mapping->state_known = true;
	return 0;
}

static int touches_take_event(struct recorded_touches *touches, const struct pfstat_event *event)
{
	const struct pfstat_mapping *state = (const void *)event;

	if (event->type == PFSTAT_EVENT_ADVICE)
		return touches_take_advice(touches, (const void *)event);
	if (event->type == PFSTAT_EVENT_MAPPING && state->ra_pages == PFSTAT_MAPPING_UNKNOWN)
		return touches_take_state(touches, state);
	return 0;
}

struct touches_reading {
	struct recorded_touches *touches;
	struct analysis *analysis;
};

/* The analysis has the map already. It replaces an earlier mapping at the same place. */
static int touches_take_map(struct recorded_touches *touches, const struct item_map *map)
{
	struct touched_mapping *mapping;
	const struct space_map *space;
	int err;

	hash_take(&touches->by_place, touched_place(map->pid, map->address));
	if (!map->inode || !map->bytes)
		return 0;
	err = touched_mapping_at(touches, map->pid, map->address, &mapping, &space);
	if (!err && mapping && map->ns && touches->files[mapping->file].by_libc)
		touches->libc_mappings++;
	return err;
}

static int touches_take_item(void *context, const struct item *item)
{
	struct touches_reading *reading = context;
	int err = analysis_add(reading->analysis, item);

	if (!err && item->type == ITEM_MAP)
		err = touches_take_map(reading->touches, item->map);
	if (!err && item->type == ITEM_EVENT)
		err = touches_take_event(reading->touches, item->event);
	return err;
}

static int touches_take_head(struct recorded_touches *touches, const json_t *head)
{
	struct report *report = calloc(1, sizeof(*report));

	if (!report)
		return -ENOMEM;
	report_init(report);
	json_head_parse(report, head);
	touches->environment = report->environment;
	report_exit(report);
	free(report);
	return 0;
}

static void touched_file_take_system(struct touched_file *file, const struct run_counters *counters)
{
	const struct filesystem *system =
		filesystem_find(counters->filesystems, counters->nr_filesystems, file->dev);

	if (!system)
		return;
	file->readahead_bytes = system->readahead_bytes;
	snprintf(file->type, sizeof(file->type), "%s", system->type);
}

/*
 * A mapping that record --exact did not reach has fault-around. The recording has only the number of
 * these mappings. They must all be libc's own.
 */
static bool is_exact(const struct recorded_touches *touches, const struct exact_reach *reach)
{
	return touches->environment.exact && reach->programs && reach->programs != COUNT_NA &&
	       reach->not_reached <= touches->libc_mappings && !reach->no_userfaultfd &&
	       !reach->closed;
}

static void touches_take_tail(struct recorded_touches *touches, const json_t *tail)
{
	struct run_counters counters;
	uint64_t records;
	size_t i;

	touches->lost = COUNT_NA;
	if (counters_json_parse(&counters, tail))
		return;
	touches->complete = true;
	touches->exact = is_exact(touches, &counters.exact);
	touches->have_advice = counters.have_bpf && counters.have_advice;
	records = counters.hooks & 1U << HOOK_PERF ? 0 : counters.lost;
	touches->lost = count_sum(records, run_counters_events_lost(&counters));
	for (i = 0; i < touches->nr_files; i++)
		touched_file_take_system(&touches->files[i], &counters);
	run_counters_exit(&counters);
}

static int touch_by_start(const void *a, const void *b)
{
	const struct touch *left = a, *right = b;

	if (left->time.start_ns != right->time.start_ns)
		return left->time.start_ns < right->time.start_ns ? -1 : 1;
	return left->access.page < right->access.page ? -1 : left->access.page > right->access.page;
}

/* The end of a file is not in the recording: without the file, it is as far as it was mapped. */
static void touched_file_take_size(struct touched_file *file)
{
	struct stat stat_now;

	if (stat(file->path, &stat_now) || !S_ISREG(stat_now.st_mode) ||
	    stat_now.st_ino != file->inode)
		return;
	if (page_size_count(stat_now.st_size) < file->end)
		return;
	file->pages = page_size_count(stat_now.st_size);
	file->size_known = true;
}

static void touches_finish(struct recorded_touches *touches)
{
	struct touched_mapping *mapping;
	struct touched_file *file;
	size_t i;

	if (touches->nr_touches)
		qsort(touches->touches, touches->nr_touches, sizeof(*touches->touches),
		      touch_by_start);
	for (i = 0; i < touches->nr_mappings; i++) {
		mapping = &touches->mappings[i];
		file = &touches->files[mapping->file];
		mapping->mapping.data = !file->executed;
		if (mapping->mapping.end > file->pages)
			file->pages = mapping->mapping.end;
	}
	for (i = 0; i < touches->nr_files; i++) {
		touched_file_take_size(&touches->files[i]);
		cached_file_close(&touches->files[i].seen);
	}
}

static int touches_feed(struct recorded_touches *touches, struct recording_reader *reader,
			const char *recording, struct why *why)
{
	struct touches_reading reading = { touches, analysis_new(true, page_size(), 0) };
	int err;

	if (!reading.analysis)
		return why_fail(why, -ENOMEM, "out of memory");
	touches->spaces = analysis_spaces(reading.analysis);
	analysis_listen(reading.analysis, touches_take_fault, touches);
	analysis_expect_spans(reading.analysis, recording_has_spans(reader));
	err = touches_take_head(touches, recording_head(reader));
	if (!err)
		err = recording_feed(reader, touches_take_item, &reading, &signals_caught);
	if (!err)
		err = analysis_finish(reading.analysis);
	analysis_free(reading.analysis);
	touches->spaces = NULL;
	if (signals_caught)
		return -EINTR;
	if (err)
		return why_fail(why, err, "cannot read %s: %s", recording, strerror(-err));
	if (recording_damage(reader))
		message(STATUS_OK, "%s", recording_damage(reader));
	touches_take_tail(touches, recording_tail(reader));
	touches_finish(touches);
	return 0;
}

int recorded_touches_read(struct recorded_touches *touches, const char *recording, struct why *why)
{
	struct recording_reader *reader;
	int err;

	*touches = (struct recorded_touches){ 0 };
	err = recording_open(&reader, recording, why);
	if (err)
		return signals_caught ? -EINTR : err;
	err = recording_require_pages(reader, why);
	if (!err)
		err = touches_feed(touches, reader, recording, why);
	recording_close(reader);
	return err;
}

void recorded_touches_exit(struct recorded_touches *touches)
{
	size_t i;

	for (i = 0; i < touches->nr_files; i++) {
		cached_file_close(&touches->files[i].seen);
		free(touches->files[i].path);
	}
	free(touches->files);
	free(touches->mappings);
	free(touches->streams);
	free(touches->touches);
	hash_exit(&touches->by_place, NULL);
	hash_exit(&touches->by_file, NULL);
	hash_exit(&touches->by_stream, NULL);
}

bool touched_file_is_validated(const struct touched_file *file)
{
	return !strcmp(file->type, "ext4");
}

const char *recorded_touches_unpredictable(const struct recorded_touches *touches)
{
	const struct environment *e = &touches->environment;
	const unsigned int release = kernel_release_number(e->kernel);

	if (release < kernel_release_number(FIRST_KERNEL))
		return "the rule was compared with kernels from Linux " FIRST_KERNEL " on only";
	if (strcmp(e->architecture, "x86_64"))
		return "the rule was compared with the kernel on x86_64 only";
	if (page_size() != PAGE_SIZE_MIN)
		return "the rule was compared with the kernel for pages of 4 KiB only";
	return NULL;
}

int touch_list_make(struct touch_list *made, const struct recorded_touches *touches)
{
	const struct touched_file *file;
	size_t i, nr = 0;

	*made = (struct touch_list){ 0 };
	made->pages = calloc(touches->nr_files + 1, sizeof(*made->pages));
	made->windows = calloc(touches->nr_files + 1, sizeof(*made->windows));
	made->mappings = calloc(touches->nr_mappings + 1, sizeof(*made->mappings));
	made->accesses = calloc(touches->nr_touches + 1, sizeof(*made->accesses));
	made->times = calloc(touches->nr_touches + 1, sizeof(*made->times));
	if (!made->pages || !made->windows || !made->mappings || !made->accesses || !made->times)
		return -ENOMEM;
	for (i = 0; i < touches->nr_files; i++) {
		made->pages[i] = touches->files[i].pages;
		made->windows[i] = touches->files[i].readahead_bytes > 0 ?
					   touches->files[i].readahead_bytes / page_size() :
					   0;
	}
	for (i = 0; i < touches->nr_mappings; i++)
		made->mappings[i] = touches->mappings[i].mapping;
	for (i = 0; i < touches->nr_touches; i++) {
		file = &touches->files[touches->mappings[touches->touches[i].access.mapping].file];
		if (file->left_out)
			continue;
		made->accesses[nr] = touches->touches[i].access;
		made->times[nr++] = touches->touches[i].time;
	}
	made->list = (struct access_list){
		.kernel = readahead_kernel_find(touches->environment.kernel),
		.large_folios = true,
		.file_pages = made->pages,
		.file_windows = made->windows,
		.nr_files = touches->nr_files,
		.streams = touches->streams,
		.nr_streams = touches->nr_streams,
		.mappings = made->mappings,
		.nr_mappings = touches->nr_mappings,
		.accesses = made->accesses,
		.times = made->times,
		.nr_accesses = nr,
	};
	return 0;
}

void touch_list_free(struct touch_list *made)
{
	free(made->pages);
	free(made->windows);
	free(made->mappings);
	free(made->accesses);
	free(made->times);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a recording while it is made. Events come from the collector's thread. The main thread
 * writes the head before, and the tail after.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "print/json/json_environment.h"
#include "privilege/invoker.h"
#include "privilege/output.h"
#include "recording/blocks.h"
#include "recording/counters_json.h"
#include "recording/reader.h"
#include "recording/recording.h"
#include "recording/writer.h"
#include "run/recording_output.h"
#include "system/proc_maps.h"
#include "util/message.h"
#include "util/why.h"

/*
 * Number of blocks dropped from the file for the TAIL, on a file system that cannot reserve room
 * for it. The last blocks before a full disk have few items.
 */
#define BLOCKS_FOR_TAIL 16

static const char *recording_remedy(int err)
{
	switch (err) {
	case -ENOSPC:
	case -EDQUOT:
		return "; make room on the disk before the next recording";
	case -EFBIG:
		return "; raise the file size limit (ulimit -f) for the next recording";
	default:
		return "";
	}
}

int recording_output_report(const struct recording_output *recording, const char *then)
{
	if (recording->err == -EBUSY)
		return message(STATUS_FAILED,
			       "cannot write %s: another recording is being written to it; give "
			       "this one another name",
			       recording->path);
	return message(STATUS_FAILED, "cannot write %s: %s%s", recording->path,
		       invoker_strerror(recording->err), then);
}

/* The writer and the reader need an offset each. A pipe or a terminal cannot be read again. */
static FILE *recording_open_again(FILE *written)
{
	struct stat status;
	char path[32];

	if (fstat(fileno(written), &status) || !S_ISREG(status.st_mode))
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(written));
	return fopen(path, "re");
}

int recording_output_begin(struct recording_output *recording, const char *path,
			   const struct report *report)
{
	json_t *head;

	if (!path)
		return 0;
	recording->path = path;
	recording->err = output_open(&recording->output, path);
	if (recording->err)
		return recording->err;
	head = json_head(report);
	recording->err =
		head ? recording_begin(&recording->writer, output_stream(recording->output), head) :
		       -ENOMEM;
	json_decref(head);
	if (recording->err)
		recording_output_close(recording);
	else
		recording->again = recording_open_again(output_stream(recording->output));
	return recording->err;
}

static void recording_close_again(struct recording_output *recording)
{
	if (recording->again)
		fclose(recording->again);
	recording->again = NULL;
}

struct own_maps {
	item_sink sink;
	void *context;
};

static int recording_add_own_map(void *context, const struct item_map *map)
{
	const struct own_maps *own = context;
	const struct item item = { .type = ITEM_MAP, .map = map };

	return own->sink(own->context, &item);
}

int recording_output_self(item_sink sink, void *context)
{
	struct own_maps own = { .sink = sink, .context = context };
	struct proc_maps maps = { 0 };
	struct pfstat_task task = {
		.event = {
			.type = PFSTAT_EVENT_TASK, .size = sizeof(task),
			.pid = getpid(), .tid = gettid(),
		},
	};
	const struct item item = { .type = ITEM_EVENT, .event = &task.event };
	int err = proc_maps_read_advice(&maps, getpid());

	prctl(PR_GET_NAME, task.comm);
	if (!err)
		err = proc_maps_hand_over(&maps, recording_add_own_map, &own);
	if (!err)
		err = sink(context, &item);
	proc_maps_exit(&maps);
	return err;
}

int recording_output_map(item_sink sink, void *context, const struct mapping *mapping,
			 const char *path)
{
	struct item item = { .type = ITEM_MAP };
	const size_t bytes = strlen(path) + 1;
	struct item_map *map;
	int err;

	if (mapping->kind == MAPPING_ANON)
		return 0;
	map = calloc(1, sizeof(*map) + bytes);
	if (!map)
		return -ENOMEM;
	*map = (struct item_map){
		.address = (uintptr_t)mapping->data,
		.bytes = mapping->bytes,
		.pid = getpid(),
		.tid = gettid(),
		.inode = mapping->inode,
		.path_bytes = bytes,
		.dev = major(mapping->dev) << 20 | minor(mapping->dev),
		.prot = PROT_READ | (mapping->writable ? PROT_WRITE : 0),
		.flags = mapping->kind == MAPPING_SHARED ? MAP_SHARED : MAP_PRIVATE,
	};
	memcpy(map->path, path, bytes);
	item.map = map;
	err = sink(context, &item);
	free(map);
	return err;
}

static void recording_give_name(struct recording_output *recording)
{
	recording->name_err = output_name_now(recording->output);
	if (recording->name_err)
		message(STATUS_FAILED, "cannot rename the recording: %s; it is in %s",
			invoker_strerror(recording->name_err), output_path(recording->output));
}

void recording_output_go(struct recording_output *recording)
{
	if (!recording->writer)
		return;
	recording->going = true;
	recording_give_name(recording);
}

int recording_output_item(struct recording_output *recording, const struct item *item)
{
	if (!recording->writer)
		return 0;
	recording->items++;
	if (!recording->err)
		recording->err = recording_add(recording->writer, item);
	recording->refused_events += recording->err && item->type == ITEM_EVENT;
	return recording->err;
}

struct recorded_items {
	item_sink sink;
	void *context;
	uint64_t nr;
};

static int recorded_items_pass(void *context, const struct item *item)
{
	struct recorded_items *items = context;

	items->nr++;
	return items->sink(items->context, item);
}

/* The file has no end yet, so damage means nothing. A signal does not stop this. */
static int recording_replay_file(struct recording_output *recording, struct recorded_items *items)
{
	static const volatile sig_atomic_t never;
	struct recording_reader *reader;
	struct why why;
	int err = recording_open_file(&reader, recording->again, recording->path, &why);

	recording->again = NULL;
	if (err)
		return err;
	err = recording_feed(reader, recorded_items_pass, items, &never);
	recording_close(reader);
	return err;
}

int recording_output_replay(struct recording_output *recording, item_sink sink, void *context)
{
	struct recorded_items items = { .sink = sink, .context = context };
	int err;

	recording_flush(recording->writer); /* recording_output_end() returns this error */
	err = recording_replay_file(recording, &items);
	if (!err && items.nr != recording_written(recording->writer).items)
		err = -EIO;
	return err ?: recording_feed_unwritten(recording->writer, sink, context);
}

/* Items that were counted but are not in the file are lost to readers. */
static void recording_add_losses(const struct recording_output *recording,
				 struct run_counters *counters)
{
	const struct recording_counts added = recording_added(recording->writer);
	const struct recording_counts written = recording_written(recording->writer);
	uint64_t *events_lost = &counters->counts[PFSTAT_COUNT_EVENTS_LOST];

	if (counters->calls != COUNT_NA && counters->calls >= written.records)
		counters->lost = counters->calls - written.records;
	if (counters->have_bpf && *events_lost != COUNT_NA)
		*events_lost += added.events - written.events + recording->refused_events;
}

static json_t *recording_tail_of(const struct recording_output *recording,
				 const struct run_counters *counters, const char *cut)
{
	struct run_counters copy = *counters;
	json_t *tail;

	if (cut)
		recording_add_losses(recording, &copy);
	tail = counters_json(&copy);
	if (tail && cut && json_object_set_new(tail, RECORDING_TAIL_CUT, json_string(cut))) {
		json_decref(tail);
		return NULL;
	}
	return tail;
}

static int recording_put_end(const struct recording_output *recording,
			     const struct run_counters *counters, const char *cut)
{
	json_t *tail = recording_tail_of(recording, counters, cut);
	int err = tail ? recording_put_tail(recording->writer, tail) : -ENOMEM;

	json_decref(tail);
	return err;
}

/* If the disk is full, the last blocks make room for the TAIL of a cut recording. */
static int recording_put_cut_end(const struct recording_output *recording,
				 const struct run_counters *counters, const char *cut)
{
	unsigned int dropped = 0;
	int err;

	do
		err = recording_put_end(recording, counters, cut);
	while (block_sink_is_full(err) && dropped++ < BLOCKS_FOR_TAIL &&
	       recording_drop_block(recording->writer));
	return err;
}

static int recording_report_cut(const struct recording_output *recording, const char *cut,
				uint64_t written, int err)
{
	const char *path = recording->name_err ? "the recording" : recording->path;

	if (written < recording->items)
		return message(STATUS_FAILED,
			       "%s is incomplete: %s; 'pfdrive report' can read the first %" PRIu64
			       " of %" PRIu64 " items%s",
			       path, cut, written, recording->items, recording_remedy(err));
	return message(STATUS_FAILED,
		       "%s is incomplete: %s; 'pfdrive report' can read the %" PRIu64 " items%s",
		       path, cut, written, recording_remedy(err));
}

/* Everything but the TAIL. */
static int recording_put_rest(struct recording_output *recording, const json_t *symbols)
{
	return recording_flush(recording->writer) ?:
		       recording_add_all_symbols(recording->writer, symbols);
}

int recording_output_end(struct recording_output *recording, const json_t *symbols,
			 const struct run_counters *counters, const char *cut)
{
	int err, tail_err = 0, commit_err, status = STATUS_OK;
	uint64_t written;
	struct why why;

	if (!recording->writer)
		return STATUS_OK;
	err = recording_put_rest(recording, symbols);
	if (!err && !cut)
		err = recording_put_end(recording, counters, NULL);
	if (err && !cut) {
		why_set(&why, "cannot write to it: %s", strerror(-err));
		cut = why.text;
	}
	if (cut)
		tail_err = recording_put_cut_end(recording, counters, cut);
	written = recording_written(recording->writer).items;
	recording_abandon(recording->writer);
	recording_close_again(recording);
	if (!recording->going && !fflush(output_stream(recording->output)))
		recording_give_name(recording);
	commit_err = output_commit(recording->output);
	recording->writer = NULL;
	recording->output = NULL;
	err = err ?: tail_err ?: commit_err;
	if (err && !cut) {
		why_set(&why, "cannot write the end: %s", strerror(-err));
		cut = why.text;
	}
	if (cut)
		status = recording_report_cut(recording, cut, written, err);
	return status || !recording->name_err ? status : STATUS_FAILED;
}

void recording_output_close(struct recording_output *recording)
{
	if (recording->writer)
		recording_abandon(recording->writer);
	recording_close_again(recording);
	output_close(recording->output);
	recording->writer = NULL;
	recording->output = NULL;
}

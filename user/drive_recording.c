// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "code_names.h"
#include "complain.h"
#include "drive_recording.h"
#include "output.h"
#include "recording/facts_json.h"
#include "recording/writer.h"
#include "report/head_json.h"
#include "rights/invoker.h"

static int complain_of(const struct drive_recording *recording, int err)
{
	return complain(STATUS_FAILED, "cannot write %s: %s", recording->path,
			invoker_strerror(err));
}

int drive_recording_begin(struct drive_recording *recording, const char *path,
			  const struct report *report, int not)
{
	json_t *head;
	int err;

	recording->path = path;
	err = output_open(&recording->output, path, not);
	if (err == -EEXIST)
		return complain(STATUS_USAGE, "--record: %s is the file to be measured, which is "
				"never written to", path);
	if (err)
		return complain_of(recording, err);
	head = head_to_json(report);
	err = head ? recording_begin(&recording->writer, output_stream(recording->output), head) :
		     -ENOMEM;
	json_decref(head);
	return err ? complain_of(recording, err) : STATUS_OK;
}

int drive_recording_map(struct drive_recording *recording, const struct mapping *mapping,
			const char *path)
{
	struct item item = { .type = ITEM_MAP };
	const size_t bytes = strlen(path) + 1;
	struct item_map *map;
	int err;

	if (!recording->writer || mapping->kind == MAPPING_ANON)
		return 0;
	map = calloc(1, sizeof(*map) + bytes);
	if (!map)
		return -ENOMEM;
	*map = (struct item_map){
		.address = (uintptr_t)mapping->data, .bytes = mapping->bytes, .pid = getpid(),
		.tid = gettid(), .inode = mapping->inode, .path_bytes = bytes,
		.dev = major(mapping->dev) << 20 | minor(mapping->dev),
		.prot = PROT_READ | (mapping->writable ? PROT_WRITE : 0),
		.flags = mapping->kind == MAPPING_SHARED ? MAP_SHARED : MAP_PRIVATE,
	};
	memcpy(map->path, path, bytes);
	item.map = map;
	err = recording_add(recording->writer, &item);
	free(map);
	return err;
}

int drive_recording_item(struct drive_recording *recording, const struct item *item)
{
	return recording->writer ? recording_add(recording->writer, item) : 0;
}

static int write_end(struct drive_recording *recording, const json_t *symbols,
		     const struct facts *facts)
{
	struct recording_writer *writer = recording->writer;
	json_t *tail = facts_to_json(facts);
	int err = recording_add_all_symbols(writer, symbols);

	recording->writer = NULL;
	if (err || !tail) {
		recording_abandon(writer);
		err = err ?: -ENOMEM;
	} else {
		err = recording_end(writer, tail);
	}
	json_decref(tail);
	return err;
}

int drive_recording_end(struct drive_recording *recording, struct analysis *analysis,
			struct facts *facts)
{
	json_t *symbols = NULL;
	struct output *output;
	int err;

	if (!recording->writer)
		return STATUS_OK;
	err = code_names_find(analysis, &symbols, &facts->names_left_out);
	if (!err)
		err = write_end(recording, symbols, facts);
	json_decref(symbols);
	if (!err) {
		output = recording->output;
		recording->output = NULL;
		err = output_commit(output);
	}
	return err ? complain_of(recording, err) : STATUS_OK;
}

void drive_recording_close(struct drive_recording *recording)
{
	if (recording->writer)
		recording_abandon(recording->writer);
	output_close(recording->output);
	recording->writer = NULL;
	recording->output = NULL;
}

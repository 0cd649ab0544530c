// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "complain.h"
#include "output.h"
#include "recording/facts_json.h"
#include "recording/writer.h"
#include "recording_output.h"
#include "report/head_json.h"
#include "rights/invoker.h"

static int complain_of(const struct recording_output *recording, int err)
{
	return complain(STATUS_FAILED, "cannot write %s: %s", recording->path,
			invoker_strerror(err));
}

int recording_output_begin(struct recording_output *recording, const char *path,
			   const struct report *report)
{
	json_t *head;
	int err;

	if (!path)
		return STATUS_OK;
	recording->path = path;
	err = output_open(&recording->output, path);
	if (err)
		return complain_of(recording, err);
	head = head_to_json(report);
	err = head ? recording_begin(&recording->writer, output_stream(recording->output), head) :
		     -ENOMEM;
	json_decref(head);
	return err ? complain_of(recording, err) : STATUS_OK;
}

int recording_output_map(struct recording_output *recording, const struct mapping *mapping,
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

int recording_output_item(struct recording_output *recording, const struct item *item)
{
	if (recording->writer && !recording->err)
		recording->err = recording_add(recording->writer, item);
	return recording->err;
}

static int write_end(struct recording_output *recording, const json_t *symbols,
		     const struct facts *facts)
{
	struct recording_writer *writer = recording->writer;
	json_t *tail = facts_to_json(facts);
	int err = recording->err ?: recording_add_all_symbols(writer, symbols);

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

int recording_output_end(struct recording_output *recording, const json_t *symbols,
			 const struct facts *facts)
{
	struct output *output;
	int err;

	if (!recording->writer)
		return STATUS_OK;
	err = write_end(recording, symbols, facts);
	if (!err) {
		output = recording->output;
		recording->output = NULL;
		err = output_commit(output);
	}
	return err ? complain_of(recording, err) : STATUS_OK;
}

void recording_output_close(struct recording_output *recording)
{
	if (recording->writer)
		recording_abandon(recording->writer);
	output_close(recording->output);
	recording->writer = NULL;
	recording->output = NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "items.h"
#include "recording.h"
#include "writer.h"

#define SYMBOLS_PIECE 512U

/* Level 1: most of the gain is in the planes, and the CPU belongs to what is recorded. */
#define LEVEL 1

struct recording_writer {
	FILE *out;
	int error;		/* the first: what follows would not be in its place */
	size_t json_bytes;
	z_stream zlib;
	uint8_t *raw, *stored;
	size_t raw_room, stored_room;
	struct items items;
};

static int make_room(uint8_t **buffer, size_t *room, size_t size)
{
	uint8_t *grown;

	if (size <= *room)
		return 0;
	grown = realloc(*buffer, size);
	if (!grown)
		return -ENOMEM;
	*buffer = grown;
	*room = size;
	return 0;
}

/* Flushed at once: what a killed recorder leaves ends with a whole block, mostly. */
static int put(struct recording_writer *writer, const void *head, size_t head_size,
	       const void *payload, size_t size)
{
	errno = 0;
	if (fwrite(head, 1, head_size, writer->out) != head_size ||
	    fwrite(payload, 1, size, writer->out) != size || fflush(writer->out))
		return errno ? -errno : -EIO;
	return 0;
}

/* Bytes of the stream, in writer->stored; or a negative errno. */
static ssize_t compress_raw(struct recording_writer *writer, const void *raw, size_t size)
{
	const size_t bound = deflateBound(&writer->zlib, size);
	int err = make_room(&writer->stored, &writer->stored_room, bound);

	if (err)
		return err;
	deflateReset(&writer->zlib);
	writer->zlib.next_in = (void *)raw;
	writer->zlib.avail_in = size;
	writer->zlib.next_out = writer->stored;
	writer->zlib.avail_out = bound;
	if (deflate(&writer->zlib, Z_FINISH) != Z_STREAM_END)
		return -EIO;
	return bound - writer->zlib.avail_out;
}

static int put_block(struct recording_writer *writer, enum recording_block_type type,
		     const void *raw, size_t size)
{
	struct recording_block block = {
		.magic = RECORDING_BLOCK_MAGIC, .type = type, .raw = size,
	};
	ssize_t stored;

	if (size > RECORDING_BLOCK_MAX)
		return -EFBIG;
	stored = compress_raw(writer, raw, size);
	if (stored < 0)
		return stored;
	if (stored > RECORDING_BLOCK_MAX)
		return -EFBIG;
	block.stored = stored;
	block.check = crc32(0, (const void *)&block, sizeof(block));
	block.check = crc32(block.check, writer->stored, stored);
	return put(writer, &block, sizeof(block), writer->stored, stored);
}

static int put_items(struct recording_writer *writer)
{
	size_t size;
	int err;

	if (!writer->items.count)
		return 0;
	err = make_room(&writer->raw, &writer->raw_room, items_size(&writer->items));
	if (err)
		return err;
	size = items_encode(&writer->items, writer->raw);
	return put_block(writer, RECORDING_ITEMS, writer->raw, size);
}

static int put_json(struct recording_writer *writer, enum recording_block_type type,
		    const json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT);
	size_t size;
	int err;

	if (!text)
		return -ENOMEM;
	size = strlen(text);
	writer->json_bytes += size;
	err = writer->json_bytes <= RECORDING_JSON_MAX ? put_block(writer, type, text, size) :
							 -EFBIG;
	free(text);
	return err;
}

static int put_header(struct recording_writer *writer, const json_t *head)
{
	const struct recording_header header = {
		.magic = RECORDING_MAGIC,
		.version = RECORDING_VERSION,
		.abi = PFSTAT_ABI_VERSION,
	};
	int err = put(writer, &header, sizeof(header), "", 0);

	return err ? err : put_json(writer, RECORDING_HEAD, head);
}

int recording_begin(struct recording_writer **begun, FILE *out, const json_t *head)
{
	struct recording_writer *writer = calloc(1, sizeof(*writer));
	int err = -ENOMEM;

	*begun = NULL;
	if (!writer)
		return err;
	writer->out = out;
	if (deflateInit(&writer->zlib, LEVEL) == Z_OK)
		err = put_header(writer, head);
	if (err) {
		recording_abandon(writer);
		return err;
	}
	*begun = writer;
	return 0;
}

int recording_add(void *context, const struct item *item)
{
	struct recording_writer *writer = context;

	if (!writer->error)
		writer->error = items_add(&writer->items, item);
	if (writer->error)
		return writer->error;
	if (items_full(&writer->items))
		writer->error = put_items(writer);
	return writer->error;
}

int recording_add_symbols(struct recording_writer *writer, const json_t *symbols)
{
	if (!writer->error)
		writer->error = put_items(writer);
	if (!writer->error)
		writer->error = put_json(writer, RECORDING_SYMBOLS, symbols);
	return writer->error;
}

int recording_end(struct recording_writer *writer, const json_t *tail)
{
	int err = writer->error ? writer->error : put_items(writer);

	if (!err)
		err = put_json(writer, RECORDING_TAIL, tail);
	recording_abandon(writer);
	return err;
}

void recording_abandon(struct recording_writer *writer)
{
	if (!writer)
		return;
	deflateEnd(&writer->zlib);
	items_exit(&writer->items);
	free(writer->raw);
	free(writer->stored);
	free(writer);
}

int recording_add_all_symbols(struct recording_writer *writer, const json_t *symbols)
{
	const size_t nr = json_array_size(symbols);
	size_t i, until;
	json_t *piece;
	int err = 0;

	for (i = 0; i < nr && !err; i = until) {
		piece = json_array();
		until = i + SYMBOLS_PIECE < nr ? i + SYMBOLS_PIECE : nr;
		for (; i < until && !err; i++)
			err = json_array_append(piece, json_array_get(symbols, i)) ? -ENOMEM : 0;
		if (!err)
			err = recording_add_symbols(writer, piece);
		json_decref(piece);
	}
	return err;
}

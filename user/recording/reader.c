// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a recording block by block. The whole block is in memory, as stored and decompressed, and
 * is not trusted before its check sum matches. Items are decoded in place, a few at a time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "recording/items.h"
#include "recording/reader.h"
#include "recording/recording.h"

struct buffer {
	uint8_t *bytes;
	size_t room;
};

struct recording_reader {
	FILE *file;
	char *name;
	uint64_t offset;      /* file offset of the current block */
	uint64_t block_bytes; /* size of that block, after it is read */
	uint64_t nr_items;    /* returned to the caller so far */
	size_t json_left;     /* bytes of JSON that are still accepted */
	z_stream zlib;
	struct buffer stored, raw;
	json_t *head, *symbols, *tail;
	bool over; /* no more blocks are read */
	char damage[256];
	struct items_decoder items;
};

/* Result of reading a block. */
enum {
	BLOCK_END = 0, /* end of the file */
	BLOCK_READ = 1,
};

static const char *reader_codec_name(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

/* Data after the damage is not trusted. Always returns BLOCK_END. */
__attribute__((format(printf, 2, 3))) static int damaged(struct recording_reader *reader,
							 const char *format, ...)
{
	char what[96];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	snprintf(reader->damage, sizeof(reader->damage),
		 "%.96s is damaged at byte %" PRIu64 ": %s; %" PRIu64 " items were read before",
		 reader->name, reader->offset, what, reader->nr_items);
	reader->over = true;
	return BLOCK_END;
}

static int was_cut(struct recording_reader *reader)
{
	snprintf(reader->damage, sizeof(reader->damage), "%.200s was cut: it has no end",
		 reader->name);
	reader->over = true;
	return BLOCK_END;
}

/* Returns the number of bytes read, fewer at the end of the file, or a negative errno. */
static ssize_t read_bytes(struct recording_reader *reader, void *bytes, size_t size)
{
	size_t got;

	errno = 0;
	got = fread(bytes, 1, size, reader->file);
	if (got < size && ferror(reader->file))
		return errno ? -errno : -EIO;
	return got;
}

static int reader_make_room(struct buffer *buffer, size_t size)
{
	if (size <= buffer->room)
		return 0;
	free(buffer->bytes);
	buffer->bytes = malloc(size);
	buffer->room = buffer->bytes ? size : 0;
	return buffer->bytes ? 0 : -ENOMEM;
}

/* BLOCK_END: the file ended, with or without damage. */
static int read_head(struct recording_reader *reader, struct recording_block *block)
{
	const ssize_t got = read_bytes(reader, block, sizeof(*block));

	if (got < 0)
		return got;
	if ((size_t)got < sizeof(*block)) {
		if (reader->tail && got)
			return damaged(reader, "more data follows its end");
		return reader->tail ? BLOCK_END : was_cut(reader);
	}
	if (reader->tail)
		return damaged(reader, "more data follows its end");
	if (block->magic != RECORDING_BLOCK_MAGIC)
		return damaged(reader, "no block begins here");
	if (block->raw > RECORDING_BLOCK_MAX || block->stored > RECORDING_BLOCK_MAX)
		return damaged(reader, "a block has %" PRIu32 " bytes, too many",
			       block->raw > block->stored ? block->raw : block->stored);
	return BLOCK_READ;
}

static bool check_fits(const struct recording_block *block, const uint8_t *stored)
{
	struct recording_block unchecked = *block;
	uint32_t check;

	unchecked.check = 0;
	check = crc32(0, (const void *)&unchecked, sizeof(unchecked));
	return crc32(check, stored, block->stored) == block->check;
}

static int read_stored(struct recording_reader *reader, const struct recording_block *block)
{
	ssize_t got;
	int err;

	err = reader_make_room(&reader->stored, block->stored + 1); /* malloc(0) may return NULL */
	if (err)
		return err;
	got = read_bytes(reader, reader->stored.bytes, block->stored);
	if (got < 0)
		return got;
	if (got < block->stored)
		return was_cut(reader);
	if (!check_fits(block, reader->stored.bytes))
		return damaged(reader, "the checksum of the block is wrong");
	return BLOCK_READ;
}

static int uncompress_block(struct recording_reader *reader, const struct recording_block *block)
{
	int err = reader_make_room(&reader->raw, block->raw + ITEMS_PADDING);

	if (err)
		return err;
	inflateReset(&reader->zlib);
	inflateValidate(&reader->zlib, 0); /* the block's check already covers this */
	reader->zlib.next_in = reader->stored.bytes;
	reader->zlib.avail_in = block->stored;
	reader->zlib.next_out = reader->raw.bytes;
	reader->zlib.avail_out = block->raw;
	err = inflate(&reader->zlib, Z_FINISH);
	if (err == Z_MEM_ERROR)
		return -ENOMEM;
	if (err != Z_STREAM_END || reader->zlib.avail_out || reader->zlib.avail_in)
		return damaged(reader, "the block cannot be uncompressed");
	memset(reader->raw.bytes + block->raw, 0, ITEMS_PADDING);
	return BLOCK_READ;
}

/* Sets json to NULL unless the result is BLOCK_READ. */
static int parse(struct recording_reader *reader, const struct recording_block *block,
		 json_t **json)
{
	json_error_t error;

	*json = NULL;
	if (block->raw > reader->json_left)
		return damaged(reader, "too many symbols");
	reader->json_left -= block->raw;
	*json = json_loadb((const char *)reader->raw.bytes, block->raw, JSON_REJECT_DUPLICATES,
			   &error);
	if (!*json)
		return json_error_code(&error) == json_error_out_of_memory ?
			       -ENOMEM :
			       damaged(reader, "the block is not JSON");
	return BLOCK_READ;
}

static int take_object(struct recording_reader *reader, const struct recording_block *block,
		       json_t **object)
{
	int ret;

	if (*object)
		return damaged(reader, "a second head");
	ret = parse(reader, block, object);
	if (ret == BLOCK_READ && !json_is_object(*object)) {
		json_decref(*object);
		*object = NULL;
		return damaged(reader, "the block is not a JSON object");
	}
	return ret;
}

/* If the recorder could not store everything, the tail holds the reason. */
static void look_for_cut(struct recording_reader *reader)
{
	const json_t *cut = json_object_get(reader->tail, RECORDING_TAIL_CUT);

	if (json_is_string(cut))
		snprintf(reader->damage, sizeof(reader->damage), "%.100s was cut: %.140s",
			 reader->name, json_string_value(cut));
}

static int take_tail(struct recording_reader *reader, const struct recording_block *block)
{
	int ret = take_object(reader, block, &reader->tail);

	if (ret == BLOCK_READ)
		look_for_cut(reader);
	return ret;
}

static int take_symbols(struct recording_reader *reader, const struct recording_block *block)
{
	json_t *symbols;
	int ret;

	ret = parse(reader, block, &symbols);
	if (ret != BLOCK_READ)
		return ret;
	if (!json_is_array(symbols))
		ret = damaged(reader, "the block is not a JSON array");
	else if (json_array_extend(reader->symbols, symbols))
		ret = -ENOMEM;
	json_decref(symbols);
	return ret;
}

static int take_items(struct recording_reader *reader, const struct recording_block *block)
{
	if (items_begin(&reader->items, reader->raw.bytes, block->raw))
		return damaged(reader, "the items do not fit into the block");
	return BLOCK_READ;
}

static bool type_is_known(uint32_t type)
{
	return type >= RECORDING_HEAD && type <= RECORDING_TAIL;
}

static int take_block(struct recording_reader *reader, const struct recording_block *block)
{
	int ret;

	if (!reader->head && block->type != RECORDING_HEAD)
		return damaged(reader, "the head is not the first block");
	if (!type_is_known(block->type)) /* written by a later pfdrive */
		return BLOCK_READ;
	ret = uncompress_block(reader, block);
	if (ret != BLOCK_READ)
		return ret;
	switch (block->type) {
	case RECORDING_HEAD:
		return take_object(reader, block, &reader->head);
	case RECORDING_ITEMS:
		return take_items(reader, block);
	case RECORDING_SYMBOLS:
		return take_symbols(reader, block);
	default:
		return take_tail(reader, block);
	}
}

/* Reads one block. BLOCK_END: there is none, or it is damaged. */
static int read_block(struct recording_reader *reader)
{
	struct recording_block block;
	int ret;

	reader->offset += reader->block_bytes;
	reader->block_bytes = 0;
	ret = read_head(reader, &block);
	if (ret == BLOCK_READ)
		ret = read_stored(reader, &block);
	if (ret == BLOCK_READ)
		ret = take_block(reader, &block);
	if (ret == BLOCK_READ)
		reader->block_bytes = sizeof(block) + block.stored;
	else
		reader->over = true;
	return ret;
}

static int check_header(const struct recording_header *header, const char *name, char *why,
			size_t size)
{
	if (header->version > RECORDING_VERSION)
		snprintf(why, size,
			 "cannot read %s: it has version %" PRIu32
			 ", and this pfdrive reads versions up to %u; use a newer pfdrive",
			 name, header->version, RECORDING_VERSION);
	else if (!header->version)
		snprintf(why, size, "%s is damaged at byte 8: there is no version 0", name);
	else if (header->abi < PFSTAT_ABI_OLDEST || header->abi > PFSTAT_ABI_VERSION)
		snprintf(why, size,
			 "cannot read %s: its records have version %" PRIu32
			 ", and this pfdrive reads versions %u to %u; use another pfdrive",
			 name, header->abi, PFSTAT_ABI_OLDEST, PFSTAT_ABI_VERSION);
	else
		return 0;
	return -EPROTO;
}

static int read_header(struct recording_reader *reader, char *why, size_t size)
{
	struct recording_header header = { 0 };
	const ssize_t got = read_bytes(reader, &header, sizeof(header));

	if (got < 0) {
		snprintf(why, size, "cannot read %s: %s", reader->name, strerror(-got));
		return got;
	}
	if (!got) {
		snprintf(why, size, "cannot read %s: it is empty", reader->name);
		return -EPROTO;
	}
	if (memcmp(header.magic, RECORDING_MAGIC, sizeof(header.magic))) {
		snprintf(why, size, "%s is not a recording of pfdrive", reader->name);
		return -EPROTO;
	}
	if ((size_t)got < sizeof(header)) {
		was_cut(reader);
		snprintf(why, size, "%s", reader->damage);
		return -EPROTO;
	}
	reader->offset = sizeof(header);
	return check_header(&header, reader->name, why, size);
}

/* Nothing can be interpreted without the head, so it must come first. */
static int read_first(struct recording_reader *reader, char *why, size_t size)
{
	int ret = read_header(reader, why, size);

	if (ret)
		return ret;
	ret = read_block(reader);
	if (ret == BLOCK_READ)
		return 0;
	if (ret == BLOCK_END)
		snprintf(why, size, "%s", reader->damage);
	else
		snprintf(why, size, "cannot read %s: %s", reader->name, strerror(-ret));
	return ret == BLOCK_END ? -EPROTO : ret;
}

static struct recording_reader *reader_new(FILE *file, const char *name)
{
	struct recording_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->json_left = RECORDING_JSON_MAX;
	reader->name = strdup(name);
	reader->symbols = json_array();
	if (!reader->name || !reader->symbols || inflateInit(&reader->zlib) != Z_OK) {
		recording_close(reader);
		return NULL;
	}
	reader->file = file;
	return reader;
}

int recording_open_file(struct recording_reader **opened, FILE *file, const char *name, char *why,
			size_t size)
{
	struct recording_reader *reader = reader_new(file, name);
	int err;

	*opened = NULL;
	if (!reader) {
		snprintf(why, size, "cannot read %s: %s", name, strerror(ENOMEM));
		fclose(file);
		return -ENOMEM;
	}
	err = read_first(reader, why, size);
	if (err)
		recording_close(reader);
	else
		*opened = reader;
	return err;
}

int recording_open(struct recording_reader **opened, const char *path, char *why, size_t size)
{
	const bool is_stdin = !strcmp(path, "-");
	FILE *file = is_stdin ? stdin : fopen(path, "re");
	int err;

	if (!file) {
		err = -errno;
		*opened = NULL;
		snprintf(why, size, "cannot open %s: %s", path, strerror(-err));
		return err;
	}
	return recording_open_file(opened, file, reader_codec_name(path), why, size);
}

void recording_close(struct recording_reader *reader)
{
	if (!reader)
		return;
	if (reader->file)
		fclose(reader->file);
	inflateEnd(&reader->zlib);
	json_decref(reader->head);
	json_decref(reader->symbols);
	json_decref(reader->tail);
	free(reader->stored.bytes);
	free(reader->raw.bytes);
	free(reader->name);
	free(reader);
}

int recording_next(struct recording_reader *reader, struct item *item)
{
	int ret;

	while (!reader->over) {
		ret = items_next(&reader->items, item);
		if (ret == 1) {
			reader->nr_items++;
			return 1;
		}
		if (ret < 0)
			return damaged(reader, "the block has an invalid item");
		ret = read_block(reader);
		if (ret != BLOCK_READ)
			return ret;
	}
	return 0;
}

int recording_feed(struct recording_reader *reader, item_sink sink, void *context,
		   const volatile sig_atomic_t *stop)
{
	struct item item;
	int err = 0, ret;

	while (!err && !*stop) {
		ret = recording_next(reader, &item);
		if (ret <= 0) {
			err = ret;
			break;
		}
		err = sink(context, &item);
	}
	/* The read may have failed because a signal interrupted it. */
	return *stop ? -EINTR : err;
}

const json_t *recording_head(const struct recording_reader *reader)
{
	return reader->head;
}

const json_t *recording_tail(const struct recording_reader *reader)
{
	return reader->tail;
}

const json_t *recording_symbols(const struct recording_reader *reader)
{
	return reader->symbols;
}

const char *recording_damage(const struct recording_reader *reader)
{
	return reader->damage[0] ? reader->damage : NULL;
}

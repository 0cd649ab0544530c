// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a recording block by block. The whole block is in memory, as stored and decompressed, and
 * is not trusted before the check sum matches. Items are decoded in place, a few at a time. The
 * next blocks are read ahead, and other threads check and decompress them meanwhile.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/environment.h"
#include "recording/background.h"
#include "recording/blocks.h"
#include "recording/items.h"
#include "recording/reader.h"
#include "recording/recording.h"
#include "util/page_size.h"
#include "util/why.h"

/* Blocks in memory, with the one being decoded. */
#define NR_BLOCKS 4

struct recording_reader {
	FILE *file;
	char *name;
	uint32_t version;     /* format version */
	uint32_t abi;	      /* for the records */
	uint64_t offset;      /* the current block's file offset */
	uint64_t block_bytes; /* size of this block, after it is read */
	uint64_t nr_items;    /* returned to the caller so far */
	size_t json_left;     /* how many JSON bytes are still accepted */
	struct reader_block blocks[NR_BLOCKS];
	struct background background;
	unsigned int current; /* block number, NR_BLOCKS if none was taken yet */
	json_t *head, *symbols, *tail;
	uint64_t page_bytes;
	bool ended; /* the file has no further block, or reading it failed */
	bool over;  /* no more blocks are taken */
	char damage[256];
	struct items_decoder items;
};

/* The result when reading a block. */
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

/* In another thread. */
static void unpack(void *context, unsigned int thread, unsigned int number)
{
	struct recording_reader *reader = context;

	(void)thread;
	reader_block_unpack(&reader->blocks[number]);
}

static void unpack_done(void *context, unsigned int thread, unsigned int number)
{
	(void)context;
	(void)thread;
	(void)number;
}

/* BLOCK_END: the file ended, with or without damage. */
static int look_at_head(struct recording_reader *reader, const struct reader_block *block)
{
	const struct recording_block *head = &block->head;

	if (block->got < 0)
		return block->got;
	if ((size_t)block->got < sizeof(*head)) {
		if (reader->tail && block->got)
			return damaged(reader, "more data follows the end");
		return reader->tail ? BLOCK_END : was_cut(reader);
	}
	if (reader->tail)
		return damaged(reader, "more data follows the end");
	if (head->magic != RECORDING_BLOCK_MAGIC)
		return damaged(reader, "no block begins here");
	if (!reader_block_is_sound(head))
		return damaged(reader, "a block has %" PRIu32 " bytes, too many",
			       head->raw > head->stored ? head->raw : head->stored);
	return BLOCK_READ;
}

static int look_at_stored(struct recording_reader *reader, const struct reader_block *block)
{
	if (block->got_stored < 0)
		return block->got_stored;
	if (block->got_stored < block->head.stored)
		return was_cut(reader);
	return block->unpacked == UNPACKED_CHECK ? damaged(reader, "the block checksum is wrong") :
						   BLOCK_READ;
}

/* Sets json to NULL unless the result is BLOCK_READ. */
static int parse(struct recording_reader *reader, const struct reader_block *block, json_t **json)
{
	json_error_t error;

	*json = NULL;
	if (block->head.raw > reader->json_left)
		return damaged(reader, "too many symbols");
	reader->json_left -= block->head.raw;
	*json = json_loadb((const char *)block->raw.bytes, block->head.raw, JSON_REJECT_DUPLICATES,
			   &error);
	if (!*json)
		return json_error_code(&error) == json_error_out_of_memory ?
			       -ENOMEM :
			       damaged(reader, "the block is not JSON");
	return BLOCK_READ;
}

static int take_object(struct recording_reader *reader, const struct reader_block *block,
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

/* Returns 0 if the head has another value than a page size. */
static uint64_t reader_page_bytes(const struct recording_reader *reader)
{
	const json_t *json =
		json_object_get(json_object_get(reader->head, "environment"), "page_bytes");
	const json_int_t bytes = json_integer_value(json);

	if (!json || json_is_null(json))
		return ENVIRONMENT_PAGE_BYTES;
	return page_size_is_one(bytes) ? bytes : 0;
}

static int take_head(struct recording_reader *reader, const struct reader_block *block)
{
	int ret = take_object(reader, block, &reader->head);

	if (ret != BLOCK_READ)
		return ret;
	reader->page_bytes = reader_page_bytes(reader);
	return reader->page_bytes ? ret : damaged(reader, "a page has an unknown size");
}

/* If the recorder could not store everything, the tail holds the reason. */
static void look_for_cut(struct recording_reader *reader)
{
	const json_t *cut = json_object_get(reader->tail, RECORDING_TAIL_CUT);

	if (json_is_string(cut))
		snprintf(reader->damage, sizeof(reader->damage), "%.100s was cut: %.140s",
			 reader->name, json_string_value(cut));
}

static int take_tail(struct recording_reader *reader, const struct reader_block *block)
{
	int ret = take_object(reader, block, &reader->tail);

	if (ret == BLOCK_READ)
		look_for_cut(reader);
	return ret;
}

static int take_symbols(struct recording_reader *reader, const struct reader_block *block)
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

static int take_items(struct recording_reader *reader, const struct reader_block *block)
{
	if (items_begin(&reader->items, reader->abi, block->raw.bytes, block->head.raw))
		return damaged(reader, "the items do not fit into the block");
	return BLOCK_READ;
}

static int take_block(struct recording_reader *reader, const struct reader_block *block)
{
	if (!reader->head && block->head.type != RECORDING_HEAD)
		return damaged(reader, "the head is not the first block");
	if (!reader_block_is_known(&block->head)) /* written by a later pfdrive */
		return BLOCK_READ;
	if (block->unpacked < 0)
		return block->unpacked;
	if (block->unpacked == UNPACKED_CODEC)
		return damaged(reader, "the block cannot be uncompressed");
	switch (block->head.type) {
	case RECORDING_HEAD:
		return take_head(reader, block);
	case RECORDING_ITEMS:
		return take_items(reader, block);
	case RECORDING_SYMBOLS:
		return take_symbols(reader, block);
	default:
		return take_tail(reader, block);
	}
}

/* The blocks are given in order, so the one that is taken next is the oldest. */
static int give_block(struct recording_reader *reader, unsigned int number)
{
	struct reader_block *block = &reader->blocks[number];

	if (reader->ended)
		reader_block_empty(block);
	else
		reader->ended = !reader_block_read(block, reader->file);
	return background_give(&reader->background);
}

static int give_first_blocks(struct recording_reader *reader)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < NR_BLOCKS && !err; i++)
		err = give_block(reader, background_take(&reader->background));
	return err;
}

/* The block whose items have been decoded is filled again. */
static int next_block(struct recording_reader *reader)
{
	int err = reader->current == NR_BLOCKS ? give_first_blocks(reader) :
						 give_block(reader, reader->current);

	if (!err)
		reader->current = background_take(&reader->background);
	return err;
}

/* Takes one block. BLOCK_END: there is none, or it is damaged. */
static int read_block(struct recording_reader *reader)
{
	const struct reader_block *block;
	int ret = next_block(reader);

	if (ret)
		return ret;
	block = &reader->blocks[reader->current];
	reader->offset += reader->block_bytes;
	reader->block_bytes = 0;
	ret = look_at_head(reader, block);
	if (ret == BLOCK_READ)
		ret = look_at_stored(reader, block);
	if (ret == BLOCK_READ)
		ret = take_block(reader, block);
	if (ret == BLOCK_READ)
		reader->block_bytes = sizeof(block->head) + block->head.stored;
	else
		reader->over = true;
	return ret;
}

static int check_header(const struct recording_header *header, const char *name, struct why *why)
{
	if (header->version > RECORDING_VERSION)
		why_set(why,
			"cannot read %s: it has version %" PRIu32
			", and this pfdrive reads versions up to %u; use a newer pfdrive",
			name, header->version, RECORDING_VERSION);
	else if (!header->version)
		why_set(why, "%s is damaged at byte 8: there is no version 0", name);
	else if (header->abi < PFSTAT_ABI_OLDEST || header->abi > PFSTAT_ABI_VERSION)
		why_set(why,
			"cannot read %s: the records have version %" PRIu32
			", and this pfdrive reads versions %u to %u; use another pfdrive",
			name, header->abi, PFSTAT_ABI_OLDEST, PFSTAT_ABI_VERSION);
	else
		return 0;
	return -EPROTO;
}

static int read_header(struct recording_reader *reader, struct why *why)
{
	struct recording_header header = { 0 };
	const ssize_t got = reader_block_bytes(reader->file, &header, sizeof(header));

	if (got < 0) {
		why_set(why, "cannot read %s: %s", reader->name, strerror(-got));
		return got;
	}
	if (!got)
		return why_fail(why, -EPROTO, "cannot read %s: it is empty", reader->name);
	if (memcmp(header.magic, RECORDING_MAGIC, sizeof(header.magic)))
		return why_fail(why, -EPROTO, "%s is not a pfdrive recording", reader->name);
	if ((size_t)got < sizeof(header)) {
		was_cut(reader);
		return why_fail(why, -EPROTO, "%s", reader->damage);
	}
	reader->offset = sizeof(header);
	reader->version = header.version;
	reader->abi = header.abi;
	return check_header(&header, reader->name, why);
}

/* Blocks are unpacked at the same time. */
static int reader_open_codecs(struct recording_reader *reader)
{
	int err = 0, i;

	for (i = 0; i < NR_BLOCKS && !err; i++)
		err = uncompress_init(&reader->blocks[i].uncompress, reader->version);
	return err;
}

/* Nothing can be interpreted without the head, so it must come first. */
static int read_first(struct recording_reader *reader, struct why *why)
{
	int ret = read_header(reader, why);

	if (ret)
		return ret;
	ret = reader_open_codecs(reader);
	if (!ret)
		ret = read_block(reader);
	if (ret == BLOCK_READ)
		return 0;
	if (ret == BLOCK_END)
		why_set(why, "%s", reader->damage);
	else
		why_set(why, "cannot read %s: %s", reader->name, strerror(-ret));
	return ret == BLOCK_END ? -EPROTO : ret;
}

static struct recording_reader *reader_new(FILE *file, const char *name)
{
	struct recording_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	background_init(&reader->background, NR_BLOCKS, unpack, unpack_done, reader);
	reader->current = NR_BLOCKS;
	reader->json_left = RECORDING_JSON_MAX;
	reader->name = strdup(name);
	reader->symbols = json_array();
	if (!reader->name || !reader->symbols) {
		recording_close(reader);
		return NULL;
	}
	reader->file = file;
	return reader;
}

int recording_open_file(struct recording_reader **opened, FILE *file, const char *name,
			struct why *why)
{
	struct recording_reader *reader = reader_new(file, name);
	int err;

	*opened = NULL;
	if (!reader) {
		why_set(why, "cannot read %s: %s", name, strerror(ENOMEM));
		fclose(file);
		return -ENOMEM;
	}
	err = read_first(reader, why);
	if (err)
		recording_close(reader);
	else
		*opened = reader;
	return err;
}

int recording_open(struct recording_reader **opened, const char *path, struct why *why)
{
	const bool is_stdin = !strcmp(path, "-");
	FILE *file = is_stdin ? stdin : fopen(path, "re");
	int err;

	if (!file) {
		err = -errno;
		*opened = NULL;
		return why_fail(why, err, "cannot open %s: %s", path, strerror(-err));
	}
	return recording_open_file(opened, file, reader_codec_name(path), why);
}

void recording_close(struct recording_reader *reader)
{
	int i;

	if (!reader)
		return;
	background_exit(&reader->background);
	for (i = 0; i < NR_BLOCKS; i++)
		reader_block_exit(&reader->blocks[i]);
	if (reader->file)
		fclose(reader->file);
	json_decref(reader->head);
	json_decref(reader->symbols);
	json_decref(reader->tail);
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

uint64_t recording_page_bytes(const struct recording_reader *reader)
{
	return reader->page_bytes;
}

bool recording_has_spans(const struct recording_reader *reader)
{
	return reader->abi >= PFSTAT_ABI_SPANS;
}

int recording_require_pages(const struct recording_reader *reader, struct why *why)
{
	if (reader->page_bytes == page_size())
		return 0;
	return why_fail(why, -EINVAL,
			"cannot use %s: the pages have %" PRIu64 " bytes, this machine's %" PRIu64
			"; use it on a machine with the same pages",
			reader->name, reader->page_bytes, page_size());
}

/* Returns 1 for a block with symbols, 0 for another one, or a negative errno at the end. */
static int read_symbols_block(struct reader_block *block, FILE *file)
{
	struct recording_block head;
	const off_t start = ftello(file);
	int err = 0;

	if (start < 0 || reader_block_bytes(file, &head, sizeof(head)) != sizeof(head) ||
	    !reader_block_is_sound(&head))
		return -ENODATA;
	if (head.type != RECORDING_SYMBOLS)
		return fseeko(file, head.stored, SEEK_CUR) ? -ENODATA : 0;
	if (fseeko(file, start, SEEK_SET) || !reader_block_read(block, file))
		return -ENODATA;
	reader_block_unpack(block);
	err = block->unpacked < 0 ? block->unpacked : 0;
	return err ?: block->unpacked == UNPACKED ? 1 : -ENODATA;
}

int recording_symbols_ahead(const char *path, json_t **symbols)
{
	struct recording_reader *reader;
	struct why why;
	int ret = recording_open(&reader, path, &why);

	if (ret)
		return ret;
	/* The blocks that were read ahead are read again. */
	ret = fseeko(reader->file, sizeof(struct recording_header), SEEK_SET) ? -errno : 0;
	while (ret >= 0) {
		ret = read_symbols_block(&reader->blocks[reader->current], reader->file);
		if (ret == 1)
			ret = take_symbols(reader, &reader->blocks[reader->current]) ?: -ENODATA;
	}
	*symbols = json_incref(reader->symbols);
	recording_close(reader);
	return ret == -ENODATA ? 0 : ret;
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

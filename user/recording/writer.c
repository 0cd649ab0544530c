// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a recording. Items are collected in a block, threads encode and compress it, and blocks
 * are appended to the file in order. A recording that stops early has only whole blocks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "recording/background.h"
#include "recording/blocks.h"
#include "recording/items.h"
#include "recording/recording.h"
#include "recording/writer.h"
#include "util/time_ns.h"

/* Limits for a block of symbols: one path can take thousands of bytes. */
#define PIECE_SYMBOLS 512U
#define PIECE_BYTES   (1U << 20)

/* Level 1: the planes already bring most of the gain, and the workload needs the CPU. */
#define LEVEL 1

/*
 * Number of ITEMS blocks in memory, some 0.5 MiB each if full. They can queue while the CPUs or the
 * disk are busy, so the thread adding items continues to drain the module's rings.
 */
#define BLOCKS 16

/*
 * A block is full when its items span this long, so a killed recorder loses about the last second.
 * The items' own times are compared: no clock is read.
 */
#define BLOCK_NS SECOND

/* How many blocks can be removed again from the end of the file, see recording_drop_block(). */
#define MARKS 16U

/* State for encoding a payload. Each thread has one. */
struct encoder {
	ZSTD_CCtx *zstd; /* NULL: not needed so far */
	uint8_t *raw, *stored;
	size_t raw_room, stored_room;
	struct recording_block block;
};

/* File state before a block. */
struct block_mark {
	uint64_t offset;
	struct recording_counts written;
};

/*
 * Threads encode and write full blocks. The threads own the file until background_wait() has
 * returned. They also own all blocks except the one that is being filled.
 */
struct recording_writer {
	struct block_sink sink;
	int error;   /* the first error: later blocks would be at the wrong offset */
	int refused; /* first error from items_add(), used only by the caller */
	size_t json_bytes;
	struct items *filled;	 /* one of the blocks */
	uint64_t filled_from_ns; /* its first item with a time, 0: none yet */
	struct items blocks[BLOCKS];
	struct recording_counts counts[BLOCKS]; /* item count in each block */
	struct recording_counts added, written;
	uint64_t nr_whole, whole_items; /* blocks written as a whole, and their items */
	struct block_mark marks[MARKS]; /* for the last blocks with items or symbols */
	uint64_t nr_marks;		/* since the start; all before first_mark are overwritten */
	uint64_t first_mark;
	const struct encoder *last; /* for the last items block, which it has until an error */
	uint64_t last_offset;	    /* of this block in the file */
	struct encoder encoders[BACKGROUND_THREADS_MAX], own;
	struct background background;
};

static int error_of(const struct recording_writer *writer)
{
	return __atomic_load_n(&writer->error, __ATOMIC_RELAXED);
}

/* May run in any thread. */
static int fail(struct recording_writer *writer, int err)
{
	int none = 0;

	if (err)
		__atomic_compare_exchange_n(&writer->error, &none, err, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	return error_of(writer);
}

static int writer_make_room(uint8_t **buffer, size_t *room, size_t size)
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

static int encoder_init(struct encoder *encoder)
{
	if (!encoder->zstd)
		encoder->zstd = ZSTD_createCCtx();
	return encoder->zstd ? 0 : -ENOMEM;
}

static void encoder_exit(struct encoder *encoder)
{
	ZSTD_freeCCtx(encoder->zstd);
	free(encoder->raw);
	free(encoder->stored);
}

/* Returns the frame size in encoder->stored, or a negative errno. */
static ssize_t compress_raw(struct encoder *encoder, const void *raw, size_t size)
{
	const size_t bound = ZSTD_compressBound(size);
	size_t stored;
	int err = encoder_init(encoder);

	if (!err)
		err = writer_make_room(&encoder->stored, &encoder->stored_room, bound);
	if (err)
		return err;
	stored = ZSTD_compressCCtx(encoder->zstd, encoder->stored, bound, raw, size, LEVEL);
	if (ZSTD_isError(stored))
		return ZSTD_getErrorCode(stored) == ZSTD_error_memory_allocation ? -ENOMEM : -EIO;
	return stored;
}

static int encode_block(struct encoder *encoder, enum recording_block_type type, const void *raw,
			size_t size)
{
	struct recording_block *block = &encoder->block;
	ssize_t stored;

	if (size > RECORDING_BLOCK_MAX)
		return -EFBIG;
	stored = compress_raw(encoder, raw, size);
	if (stored < 0)
		return stored;
	if (stored > RECORDING_BLOCK_MAX)
		return -EFBIG;
	*block = (struct recording_block){
		.magic = RECORDING_BLOCK_MAGIC,
		.type = type,
		.raw = size,
		.stored = stored,
	};
	block->check = crc32(0, (const void *)block, sizeof(*block));
	block->check = crc32(block->check, encoder->stored, stored);
	return 0;
}

static int encode_items(struct encoder *encoder, const struct items *items)
{
	/* It may be decoded again, see put_chunks(). */
	int err = writer_make_room(&encoder->raw, &encoder->raw_room,
				   items_size(items) + ITEMS_PADDING);

	return err ? err :
		     encode_block(encoder, RECORDING_ITEMS, encoder->raw,
				  items_encode(items, encoder->raw));
}

static void mark_block(struct recording_writer *writer, uint64_t offset)
{
	writer->marks[writer->nr_marks++ % MARKS] = (struct block_mark){ offset, writer->written };
	if (writer->nr_marks - writer->first_mark > MARKS)
		writer->first_mark = writer->nr_marks - MARKS;
}

/* The caller then adds the block's items to `written`. */
static int put_encoded(struct recording_writer *writer, const struct encoder *encoder)
{
	const struct recording_block *block = &encoder->block;
	const uint64_t offset = writer->sink.whole;
	int err = 0;

	if (block->type != RECORDING_TAIL)
		err = block_sink_reserve(&writer->sink, sizeof(*block) + block->stored);
	if (!err)
		err = block_sink_put(&writer->sink, block, sizeof(*block), encoder->stored,
				     block->stored);
	if (!err && (block->type == RECORDING_ITEMS || block->type == RECORDING_SYMBOLS))
		mark_block(writer, offset);
	return err;
}

static void counts_add(struct recording_counts *sum, const struct recording_counts *counts)
{
	sum->items += counts->items;
	sum->records += counts->records;
	sum->events += counts->events;
}

/* Runs in a worker thread. */
static void work_on_block(void *context, unsigned int thread, unsigned int number)
{
	struct recording_writer *writer = context;

	if (!error_of(writer))
		fail(writer, encode_items(&writer->encoders[thread], &writer->blocks[number]));
}

static void counts_add_item(struct recording_counts *sum, const struct item *item)
{
	const struct recording_counts one = {
		.items = 1,
		.records = item->type == ITEM_RECORD,
		.events = item->type == ITEM_EVENT,
	};

	counts_add(sum, &one);
}

/* Some of a block's items, written as a separate block. */
struct item_chunk {
	struct items items;
	struct recording_counts counts;
	struct items_decoder decoder;
};

/* Takes nr items from the block, after the first `from`. */
static int chunk_fill(struct item_chunk *chunk, const struct encoder *block, uint32_t from,
		      uint32_t nr)
{
	struct item item;
	uint32_t i;
	int err;

	items_clear(&chunk->items);
	err = items_begin(&chunk->decoder, PFSTAT_ABI_VERSION, block->raw, block->block.raw);

	chunk->counts = (struct recording_counts){ 0 };
	for (i = 0; !err && i < from + nr; i++) {
		if (items_next(&chunk->decoder, &item) != 1)
			return -EBADMSG;
		if (i < from)
			continue;
		err = items_add(&chunk->items, &item);
		if (!err)
			counts_add_item(&chunk->counts, &item);
	}
	return err;
}

static int put_chunk(struct recording_writer *writer, struct item_chunk *chunk,
		     const struct encoder *block, uint32_t from, uint32_t nr)
{
	int err = chunk_fill(chunk, block, from, nr)		    ?:
			  encode_items(&writer->own, &chunk->items) ?:
			  put_encoded(writer, &writer->own);

	if (!err)
		counts_add(&writer->written, &chunk->counts);
	return err;
}

/*
 * The block does not fit on the disk: writes as many of the first items as fit, in blocks that are
 * half as long each time. writer->own is free, because the caller waits before writing JSON.
 */
static void put_chunks(struct recording_writer *writer, const struct encoder *block)
{
	struct item_chunk *chunk = calloc(1, sizeof(*chunk));
	uint32_t from = 0, nr;
	int err = 0;

	if (!chunk)
		return;
	memcpy(&nr, block->raw, sizeof(nr));
	for (nr /= 2; nr && !writer->sink.torn; nr /= 2) {
		err = put_chunk(writer, chunk, block, from, nr);
		if (!err)
			from += nr;
		else if (!block_sink_is_full(err))
			break;
	}
	items_exit(&chunk->items);
	free(chunk);
}

/* Runs in the same thread, at the block's turn. */
static void deliver_block(void *context, unsigned int thread, unsigned int number)
{
	struct recording_writer *writer = context;
	const struct encoder *encoder = &writer->encoders[thread];
	int err;

	if (error_of(writer))
		return;
	writer->last = encoder;
	writer->last_offset = writer->sink.whole;
	err = put_encoded(writer, encoder);
	if (err) {
		if (fail(writer, err) == err && block_sink_is_full(err))
			put_chunks(writer, encoder);
		return;
	}
	counts_add(&writer->written, &writer->counts[number]);
	writer->nr_whole++;
	writer->whole_items += writer->counts[number].items;
	items_clear(&writer->blocks[number]);
}

/* Passes the filled block to the threads, and takes the next one. */
static int hand_on_block(struct recording_writer *writer)
{
	unsigned int next;
	int err;

	if (!writer->filled->count)
		return error_of(writer);
	err = fail(writer, background_give(&writer->background));
	if (err)
		return err;
	next = background_take(&writer->background);
	writer->filled = &writer->blocks[next];
	writer->filled_from_ns = 0;
	writer->counts[next] = (struct recording_counts){ 0 };
	return 0;
}

/* Writes everything added to the file. */
static int flush_items(struct recording_writer *writer)
{
	int err = error_of(writer);

	if (!err)
		err = hand_on_block(writer);
	background_wait(&writer->background);
	return err ? err : error_of(writer);
}

static int put_block(struct recording_writer *writer, enum recording_block_type type,
		     const void *raw, size_t size)
{
	int err = encode_block(&writer->own, type, raw, size);

	return err ? err : put_encoded(writer, &writer->own);
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
	err = writer->json_bytes + size <= RECORDING_JSON_MAX ?
		      put_block(writer, type, text, size) :
		      -EFBIG;
	if (!err)
		writer->json_bytes += size;
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
	int err = block_sink_put(&writer->sink, &header, sizeof(header), "", 0);

	return err ? err : put_json(writer, RECORDING_HEAD, head);
}

int recording_begin(struct recording_writer **begun, FILE *out, const json_t *head)
{
	struct recording_writer *writer = calloc(1, sizeof(*writer));
	int err;

	*begun = NULL;
	if (!writer)
		return -ENOMEM;
	block_sink_init(&writer->sink, out);
	background_init(&writer->background, BLOCKS, work_on_block, deliver_block, writer);
	writer->filled = &writer->blocks[background_take(&writer->background)];
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
	int err = error_of(writer);

	if (!err && !writer->refused)
		writer->refused = items_add(writer->filled, item);
	if (err || writer->refused)
		return err ? err : writer->refused;
	counts_add_item(&writer->counts[writer->filled - writer->blocks], item);
	counts_add_item(&writer->added, item);
	if (!writer->filled_from_ns)
		writer->filled_from_ns = item->ns;
	if (items_full(writer->filled) ||
	    item_elapsed(writer->filled_from_ns, item->ns) >= BLOCK_NS)
		hand_on_block(writer); /* an error belongs to the next call */
	return 0;
}

int recording_flush(struct recording_writer *writer)
{
	int err = flush_items(writer);

	return err ? err : writer->refused;
}

/* Passes the block's items to sink, without the first `skip`. */
static int feed_block(struct recording_writer *writer, struct items_decoder *decoder,
		      const struct items *items, uint64_t skip, item_sink sink, void *context)
{
	struct encoder *own = &writer->own;
	struct item item;
	uint64_t i;
	int err = writer_make_room(&own->raw, &own->raw_room, items_size(items) + ITEMS_PADDING);

	if (!err)
		err = items_begin(decoder, PFSTAT_ABI_VERSION, own->raw,
				  items_encode(items, own->raw));
	for (i = 0; !err && i < items->count; i++) {
		if (items_next(decoder, &item) != 1)
			return -EBADMSG;
		if (i >= skip)
			err = sink(context, &item);
	}
	return err;
}

/* The blocks after the last whole one are in order. put_chunks() may have written a part. */
int recording_feed_unwritten(struct recording_writer *writer, item_sink sink, void *context)
{
	struct items_decoder *decoder = malloc(sizeof(*decoder));
	uint64_t skip = writer->written.items - writer->whole_items;
	const struct items *items;
	unsigned int i;
	int err = decoder ? 0 : -ENOMEM;

	for (i = 0; i < BLOCKS && !err; i++) {
		items = &writer->blocks[(writer->nr_whole + i) % BLOCKS];
		if (!items->count)
			break;
		err = feed_block(writer, decoder, items, skip, sink, context);
		skip = 0;
	}
	free(decoder);
	return err;
}

struct recording_counts recording_added(const struct recording_writer *writer)
{
	return writer->added;
}

struct recording_counts recording_written(const struct recording_writer *writer)
{
	return writer->written;
}

int recording_add_symbols(struct recording_writer *writer, const json_t *symbols)
{
	int err = flush_items(writer);

	return err ? err : fail(writer, put_json(writer, RECORDING_SYMBOLS, symbols));
}

int recording_end(struct recording_writer *writer, const json_t *tail)
{
	int err = recording_flush(writer);

	if (!err)
		err = put_json(writer, RECORDING_TAIL, tail);
	recording_abandon(writer);
	return err;
}

int recording_put_tail(struct recording_writer *writer, const json_t *tail)
{
	flush_items(writer);
	return writer->sink.torn ? -EIO : put_json(writer, RECORDING_TAIL, tail);
}

bool recording_drop_block(struct recording_writer *writer)
{
	const struct block_mark *mark;

	if (writer->nr_marks == writer->first_mark)
		return false;
	mark = &writer->marks[--writer->nr_marks % MARKS];
	writer->written = mark->written;
	if (block_sink_go_back(&writer->sink, mark->offset))
		return false;
	/* The next calls drop the block's chunks. */
	if (!error_of(writer) && writer->last && writer->last_offset == mark->offset) {
		fail(writer, -ENOSPC);
		put_chunks(writer, writer->last);
	}
	return true;
}

void recording_abandon(struct recording_writer *writer)
{
	unsigned int i;

	if (!writer)
		return;
	background_exit(&writer->background);
	block_sink_trim(&writer->sink);
	for (i = 0; i < BLOCKS; i++)
		items_exit(&writer->blocks[i]);
	for (i = 0; i < BACKGROUND_THREADS_MAX; i++)
		encoder_exit(&writer->encoders[i]);
	encoder_exit(&writer->own);
	free(writer);
}

size_t recording_json_size(const json_t *object)
{
	return json_dumpb(object, NULL, 0, JSON_COMPACT);
}

/* The symbols for one block, starting with number from. NULL if there is no memory. */
static json_t *piece_from(const json_t *symbols, size_t from)
{
	const size_t all = json_array_size(symbols);
	const size_t nr = all - from < PIECE_SYMBOLS ? all - from : PIECE_SYMBOLS;
	json_t *piece = json_array(), *symbol;
	size_t bytes = 0, i;

	for (i = 0; i < nr; i++) {
		symbol = json_array_get(symbols, from + i);
		bytes += recording_json_size(symbol) + 1; /* and a comma */
		if (i && bytes > PIECE_BYTES)
			break;
		if (json_array_append(piece, symbol)) {
			json_decref(piece);
			return NULL;
		}
	}
	return piece;
}

int recording_add_all_symbols(struct recording_writer *writer, const json_t *symbols)
{
	const size_t nr = json_array_size(symbols);
	json_t *piece;
	size_t i = 0;
	int err = 0;

	while (i < nr && !err) {
		piece = piece_from(symbols, i);
		i += json_array_size(piece);
		err = piece ? recording_add_symbols(writer, piece) : -ENOMEM;
		json_decref(piece);
	}
	return err;
}

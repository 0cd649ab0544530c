// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes whole blocks at the end of a recording's file, and reads and uncompresses them. Nothing
 * that was written is lost by a full disk, and nothing that is read is trusted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd_errors.h>

#include "recording/blocks.h"
#include "recording/items.h"
#include "recording/recording.h"

/*
 * Bytes allocated after the end of the file before each block is written, so the TAIL still fits if
 * the disk becomes full. The largest TAIL seen takes 12 KiB.
 */
#define TAIL_ROOM (16U << 10)

void block_sink_init(struct block_sink *sink, FILE *out)
{
	struct rlimit limit;
	struct stat status;
	const int fd = fileno(out);

	*sink = (struct block_sink){ .out = out, .fd = -1, .limit = UINT64_MAX };
	if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode))
		return;
	sink->fd = fd;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
		sink->limit = limit.rlim_cur;
}

bool block_sink_is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EFBIG;
}

int block_sink_reserve(struct block_sink *sink, size_t size)
{
	int err;

	if (sink->fd < 0)
		return 0;
	if (sink->whole + size + TAIL_ROOM > sink->limit)
		return -EFBIG;
	do
		err = fallocate(sink->fd, FALLOC_FL_KEEP_SIZE, sink->whole, size + TAIL_ROOM) ?
			      -errno :
			      0;
	while (err == -EINTR);
	return block_sink_is_full(err) || err == -EIO ? err : 0;
}

int block_sink_trim(const struct block_sink *sink)
{
	return sink->fd >= 0 && ftruncate(sink->fd, sink->whole) ? -errno : 0;
}

static void block_sink_take_back(struct block_sink *sink)
{
	if (sink->fd >= 0)
		__fpurge(sink->out); /* else fclose() would write it */
	sink->torn = sink->fd < 0 || block_sink_trim(sink) ||
		     fseeko(sink->out, sink->whole, SEEK_SET);
	if (!sink->torn)
		clearerr(sink->out);
}

/* Flushes each block at once, so a killed recorder's file usually ends with a whole block. */
int block_sink_put(struct block_sink *sink, const void *head, size_t head_size, const void *payload,
		   size_t size)
{
	int err = 0;

	errno = 0;
	if (fwrite(head, 1, head_size, sink->out) != head_size ||
	    fwrite(payload, 1, size, sink->out) != size || fflush(sink->out))
		err = errno ? -errno : -EIO;
	if (err)
		block_sink_take_back(sink);
	else
		sink->whole += head_size + size;
	return err;
}

int block_sink_go_back(struct block_sink *sink, uint64_t whole)
{
	if (sink->fd < 0 || sink->torn)
		return -EIO;
	sink->whole = whole;
	block_sink_take_back(sink);
	return sink->torn ? -EIO : 0;
}

/*
 * Reads and uncompresses blocks for the recording reader. A result that does not have exactly the
 * size in the block's head is an error.
 */

int uncompress_init(struct uncompress *uncompress, uint32_t version)
{
	if (version < RECORDING_VERSION_ZSTD)
		return inflateInit(&uncompress->zlib) == Z_OK ? 0 : -ENOMEM;
	uncompress->zstd = ZSTD_createDCtx();
	return uncompress->zstd ? 0 : -ENOMEM;
}

void uncompress_exit(struct uncompress *uncompress)
{
	ZSTD_freeDCtx(uncompress->zstd);
	inflateEnd(&uncompress->zlib);
}

static int uncompress_zlib(z_stream *zlib, const void *stored, size_t nr_stored, void *raw,
			   size_t nr_raw)
{
	int result;

	inflateReset(zlib);
	inflateValidate(zlib, 0); /* the block's check already covers this */
	zlib->next_in = (void *)stored;
	zlib->avail_in = nr_stored;
	zlib->next_out = raw;
	zlib->avail_out = nr_raw;
	result = inflate(zlib, Z_FINISH);
	if (result == Z_MEM_ERROR)
		return -ENOMEM;
	return result == Z_STREAM_END && !zlib->avail_out && !zlib->avail_in ? 0 : -EBADMSG;
}

int uncompress_all(struct uncompress *uncompress, const void *stored, size_t nr_stored, void *raw,
		   size_t nr_raw)
{
	size_t size;

	if (!uncompress->zstd)
		return uncompress_zlib(&uncompress->zlib, stored, nr_stored, raw, nr_raw);
	/* ZSTD_decompressDCtx() also accepts several frames. */
	if (ZSTD_findFrameCompressedSize(stored, nr_stored) != nr_stored)
		return -EBADMSG;
	size = ZSTD_decompressDCtx(uncompress->zstd, raw, nr_raw, stored, nr_stored);
	if (size == nr_raw)
		return 0;
	return ZSTD_isError(size) && ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation ?
		       -ENOMEM :
		       -EBADMSG;
}

ssize_t reader_block_bytes(FILE *file, void *bytes, size_t size)
{
	size_t got;

	errno = 0;
	got = fread(bytes, 1, size, file);
	if (got < size && ferror(file))
		return errno ? -errno : -EIO;
	return got;
}

static int reader_make_room(struct reader_buffer *buffer, size_t size)
{
	if (size <= buffer->room)
		return 0;
	free(buffer->bytes);
	buffer->bytes = malloc(size);
	buffer->room = buffer->bytes ? size : 0;
	return buffer->bytes ? 0 : -ENOMEM;
}

bool reader_block_is_sound(const struct recording_block *head)
{
	return head->magic == RECORDING_BLOCK_MAGIC && head->raw <= RECORDING_BLOCK_MAX &&
	       head->stored <= RECORDING_BLOCK_MAX;
}

bool reader_block_is_known(const struct recording_block *head)
{
	return head->type >= RECORDING_HEAD && head->type <= RECORDING_TAIL;
}

static bool block_is_whole(const struct reader_block *block)
{
	return block->got == sizeof(block->head) && reader_block_is_sound(&block->head) &&
	       block->got_stored == block->head.stored;
}

void reader_block_empty(struct reader_block *block)
{
	block->got = 0;
	block->got_stored = 0;
}

/* Errors are kept until it is the block's turn. */
bool reader_block_read(struct reader_block *block, FILE *file)
{
	const struct recording_block *head = &block->head;

	reader_block_empty(block);
	block->got = reader_block_bytes(file, &block->head, sizeof(block->head));
	if (block->got == sizeof(*head) && reader_block_is_sound(head)) {
		/* malloc(0) may return NULL. */
		block->got_stored = reader_make_room(&block->stored, head->stored + 1);
		if (!block->got_stored)
			block->got_stored =
				reader_block_bytes(file, block->stored.bytes, head->stored);
	}
	return block_is_whole(block);
}

static bool check_fits(const struct recording_block *head, const uint8_t *stored)
{
	struct recording_block unchecked = *head;
	uint32_t check;

	unchecked.check = 0;
	check = crc32(0, (const void *)&unchecked, sizeof(unchecked));
	return crc32(check, stored, head->stored) == head->check;
}

static int uncompress_block(struct reader_block *block)
{
	const struct recording_block *head = &block->head;
	int err = reader_make_room(&block->raw, head->raw + ITEMS_PADDING);

	if (!err)
		err = uncompress_all(&block->uncompress, block->stored.bytes, head->stored,
				     block->raw.bytes, head->raw);
	if (err)
		return err == -EBADMSG ? UNPACKED_CODEC : err;
	memset(block->raw.bytes + head->raw, 0, ITEMS_PADDING);
	return UNPACKED;
}

void reader_block_unpack(struct reader_block *block)
{
	block->unpacked = UNPACKED;
	if (!block_is_whole(block))
		return;
	if (!check_fits(&block->head, block->stored.bytes))
		block->unpacked = UNPACKED_CHECK;
	else if (reader_block_is_known(&block->head))
		block->unpacked = uncompress_block(block);
}

void reader_block_exit(struct reader_block *block)
{
	uncompress_exit(&block->uncompress);
	free(block->stored.bytes);
	free(block->raw.bytes);
}

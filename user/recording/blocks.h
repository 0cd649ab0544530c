/* SPDX-License-Identifier: GPL-2.0-only */
/* The blocks of a recording's file: how the writer appends them, and how the reader gets them. */
#ifndef PFSTAT_USER_BLOCKS_H
#define PFSTAT_USER_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <zlib.h>
#include <zstd.h>

#include "recording/recording.h"

/*
 * The file of a recording being written. It always ends with a whole block: if a block cannot be
 * written completely, the file is cut off before it.
 */

struct block_sink {
	FILE *out;
	int fd;		/* for a regular file, or -1 */
	uint64_t limit; /* RLIMIT_FSIZE */
	uint64_t whole; /* size of all complete blocks in the file, in bytes */
	bool torn;	/* an incomplete block follows, and cannot be removed */
};

/* The caller still owns out. */
void block_sink_init(struct block_sink *sink, FILE *out);
/* True for full-disk errors: ENOSPC, EDQUOT, EFBIG. */
bool block_sink_is_full(int err);
/*
 * Allocates space for the next block, and for a TAIL after it. 0, or a negative errno if they do
 * not fit. On a file system that cannot preallocate, only block_sink_put() finds a full disk.
 */
int block_sink_reserve(struct block_sink *sink, size_t size);
/* Appends a block to the file at once. 0 or a negative errno: then the file is as before. */
int block_sink_put(struct block_sink *sink, const void *head, size_t head_size, const void *payload,
		   size_t size);
/* Cuts off the file after an earlier value of `whole`. 0 or a negative errno. */
int block_sink_go_back(struct block_sink *sink, uint64_t whole);
/* Cuts off the file after the last whole block, also removing preallocated space. */
int block_sink_trim(const struct block_sink *sink);

/*
 * Uncompresses a recording's payloads: zstd frames, or zlib streams before format version 3. The
 * payloads are not trusted. Each thread needs a separate object.
 */

/* All zero has nothing to free. */
struct uncompress {
	ZSTD_DCtx *zstd; /* NULL: zlib */
	z_stream zlib;
};

/* @version: the format version. Returns 0 or -ENOMEM. */
int uncompress_init(struct uncompress *uncompress, uint32_t version);
void uncompress_exit(struct uncompress *uncompress);
/*
 * Returns 0, -EBADMSG if stored is not one frame or stream with exactly nr_raw bytes, or -ENOMEM.
 */
int uncompress_all(struct uncompress *uncompress, const void *stored, size_t nr_stored, void *raw,
		   size_t nr_raw);

/*
 * A recording's block in the reader's memory: read from the file first, and unpacked later, in
 * another thread. No part is trusted before the check sum matches.
 */

enum unpacked { UNPACKED, UNPACKED_CHECK, UNPACKED_CODEC };

/* All zero has nothing to free. */
struct reader_block {
	struct recording_block head;
	ssize_t got; /* head bytes in the file, or a negative errno */
	ssize_t got_stored;
	struct reader_buffer {
		uint8_t *bytes;
		size_t room;
	} stored, raw;
	int unpacked; /* enum unpacked, or a negative errno */
	struct uncompress uncompress;
};

/* Returns how many bytes were read, fewer at the end of the file, or a negative errno. */
ssize_t reader_block_bytes(FILE *file, void *bytes, size_t size);
/* Reads the head and the stored bytes. Returns false if the file has no whole block there. */
bool reader_block_read(struct reader_block *block, FILE *file);
/* A block beyond the end of the file. */
void reader_block_empty(struct reader_block *block);
/* Checks and uncompresses a block, with ITEMS_PADDING zeros after the items. */
void reader_block_unpack(struct reader_block *block);
/* Others are damaged: nothing behind the head is read. */
bool reader_block_is_sound(const struct recording_block *head);
/* True if this version has the block type. */
bool reader_block_is_known(const struct recording_block *head);
void reader_block_exit(struct reader_block *block);

#endif

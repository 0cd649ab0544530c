/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file of a recording being written. It always ends with a whole block: if a block cannot be
 * written completely, the file is cut off before it.
 */
#ifndef PFSTAT_USER_BLOCK_SINK_H
#define PFSTAT_USER_BLOCK_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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

#endif

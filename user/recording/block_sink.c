// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/block_sink.h"

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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compresses printer output. Printers write to it as to any stream. Errors from the stream below
 * are reported as errors here.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <zlib.h>

#include "util/gzip_stream.h"

/* The text repeats many keys: higher levels gain a fifth, and take several times as long. */
#define LEVEL 1
/* Adding 16 to zlib's window makes it gzip. */
#define GZIP_WINDOW (15 + 16)

struct gzip_stream {
	FILE *out;
	z_stream zlib;
	uint8_t bytes[65536];
};

/* Compresses the pending input. 0, or -1 and errno. */
static int gzip_stream_run(struct gzip_stream *stream, int flush)
{
	z_stream *zlib = &stream->zlib;
	size_t size;
	int status;

	do {
		zlib->next_out = stream->bytes;
		zlib->avail_out = sizeof(stream->bytes);
		status = deflate(zlib, flush);
		size = sizeof(stream->bytes) - zlib->avail_out;
		errno = 0;
		if (fwrite(stream->bytes, 1, size, stream->out) != size) {
			errno = errno ?: EIO;
			return -1;
		}
	} while (status == Z_OK && (zlib->avail_in || flush == Z_FINISH));
	return 0;
}

static ssize_t gzip_stream_write(void *cookie, const char *bytes, size_t size)
{
	struct gzip_stream *stream = cookie;

	stream->zlib.next_in = (void *)bytes;
	stream->zlib.avail_in = size;
	return gzip_stream_run(stream, Z_NO_FLUSH) ? 0 : (ssize_t)size; /* 0 is an error here */
}

static int gzip_stream_close(void *cookie)
{
	struct gzip_stream *stream = cookie;
	int err = gzip_stream_run(stream, Z_FINISH);

	if (!err && fflush(stream->out))
		err = -1;
	deflateEnd(&stream->zlib);
	free(stream);
	return err;
}

FILE *gzip_stream_open(FILE *out)
{
	const cookie_io_functions_t functions = {
		.write = gzip_stream_write,
		.close = gzip_stream_close,
	};
	struct gzip_stream *stream = calloc(1, sizeof(*stream));
	FILE *file = NULL;

	if (!stream)
		return NULL;
	stream->out = out;
	if (deflateInit2(&stream->zlib, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) ==
	    Z_OK)
		file = fopencookie(stream, "w", functions);
	if (file) {
		setvbuf(file, NULL, _IOFBF, 65536);
		return file;
	}
	deflateEnd(&stream->zlib);
	free(stream);
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams to which text is printed: what the reader's terminal can show, and compression by gzip.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>
#include <zlib.h>

#include "util/output_stream.h"

/* Looks at the environment and at the terminal, for printers of text. */

#define DEFAULT_COLUMNS 80 /* if the terminal does not report its width */
#define MOST_COLUMNS	10000

size_t terminal_columns(FILE *out)
{
	const char *wanted = getenv("COLUMNS");
	const long columns = wanted ? strtol(wanted, NULL, 10) : 0;
	struct winsize size;

	if (!isatty(fileno(out)))
		return 0;
	if (columns > 0 && columns <= MOST_COLUMNS)
		return columns;
	return !ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col ? size.ws_col :
								       DEFAULT_COLUMNS;
}

static const char *chosen_codeset(char *name, size_t size)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);

	if (!locale)
		return NULL;
	snprintf(name, size, "%s", nl_langinfo_l(CODESET, locale));
	freelocale(locale);
	return name;
}

bool terminal_has_unicode(void)
{
	char name[32];
	const char *codeset = chosen_codeset(name, sizeof(name));

	return codeset && !strcmp(codeset, "UTF-8");
}

static bool is_set(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text;
}

/* Many systems that show UTF-8 set no locale, or one that is not installed. */
bool terminal_lacks_unicode(void)
{
	char name[32];
	const char *codeset = chosen_codeset(name, sizeof(name));

	return (is_set("LC_ALL") || is_set("LC_CTYPE") || is_set("LANG")) && codeset &&
	       strcmp(codeset, "UTF-8");
}

/*
 * Compresses printer output. Printers write to it as to any stream. Errors from the stream below
 * are reported as errors here.
 */

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

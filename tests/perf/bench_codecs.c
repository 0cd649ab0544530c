// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the codecs for a recording: uncompresses the first 1000 item blocks, compresses them
 * with each codec, and uncompresses them again, on one CPU.
 *
 *	bench_codecs RECORDING
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>
#include <zstd.h>

#include "user/recording/recording.h"
#include "user/util/array.h"

#define BLOCKS_MAX 1000

struct codec {
	const char *name;
	int level;
	/* Each returns the number of bytes written. */
	size_t (*compress)(void *to, size_t room, const void *from, size_t size, int level);
	size_t (*uncompress)(void *to, size_t room, const void *from, size_t size);
};

struct payload {
	uint8_t *raw, *stored;
	size_t nr_raw, nr_stored;
};

static struct payload payloads[BLOCKS_MAX];
static size_t nr_payloads;

static void require(bool done, const char *step)
{
	if (done)
		return;
	fprintf(stderr, "bench_codecs: cannot %s\n", step);
	exit(1);
}

static size_t compress_zlib(void *to, size_t room, const void *from, size_t size, int level)
{
	uLongf nr = room;

	require(compress2(to, &nr, from, size, level) == Z_OK, "compress with zlib");
	return nr;
}

static size_t uncompress_zlib(void *to, size_t room, const void *from, size_t size)
{
	uLongf nr = room;

	require(uncompress(to, &nr, from, size) == Z_OK, "uncompress with zlib");
	return nr;
}

static size_t compress_zstd(void *to, size_t room, const void *from, size_t size, int level)
{
	static ZSTD_CCtx *context;
	size_t nr;

	context = context ?: ZSTD_createCCtx();
	nr = ZSTD_compressCCtx(context, to, room, from, size, level);
	require(!ZSTD_isError(nr), "compress with zstd");
	return nr;
}

static size_t uncompress_zstd(void *to, size_t room, const void *from, size_t size)
{
	static ZSTD_DCtx *context;
	size_t nr;

	context = context ?: ZSTD_createDCtx();
	nr = ZSTD_decompressDCtx(context, to, room, from, size);
	require(!ZSTD_isError(nr), "uncompress with zstd");
	return nr;
}

static double codecs_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void read_payload(FILE *file, const struct recording_block *head)
{
	struct payload *payload = &payloads[nr_payloads++];
	uint8_t *stored = malloc(head->stored);

	*payload = (struct payload){
		.raw = malloc(head->raw),
		.stored = malloc(ZSTD_compressBound(head->raw)),
		.nr_raw = head->raw,
	};
	require(stored && payload->raw && payload->stored, "allocate memory");
	require(fread(stored, head->stored, 1, file) == 1, "read the recording");
	uncompress_zstd(payload->raw, head->raw, stored, head->stored);
	free(stored);
}

static void read_payloads(const char *path)
{
	struct recording_header header;
	struct recording_block head;
	FILE *file = fopen(path, "re");

	require(file && fread(&header, sizeof(header), 1, file) == 1 &&
			header.version == RECORDING_VERSION,
		"read the recording");
	while (nr_payloads < BLOCKS_MAX && fread(&head, sizeof(head), 1, file) == 1)
		if (head.type == RECORDING_ITEMS)
			read_payload(file, &head);
		else
			require(!fseek(file, head.stored, SEEK_CUR), "read the recording");
	fclose(file);
	require(nr_payloads, "find items in the recording");
}

static void measure(const struct codec *codec)
{
	static uint8_t again[RECORDING_BLOCK_MAX];
	size_t raw = 0, stored = 0, i;
	double start = codecs_now(), middle;
	struct payload *payload;

	for (i = 0; i < nr_payloads; i++) {
		payload = &payloads[i];
		payload->nr_stored = codec->compress(payload->stored,
						     ZSTD_compressBound(payload->nr_raw),
						     payload->raw, payload->nr_raw, codec->level);
		raw += payload->nr_raw;
		stored += payload->nr_stored;
	}
	middle = codecs_now();
	for (i = 0; i < nr_payloads; i++)
		codec->uncompress(again, sizeof(again), payloads[i].stored, payloads[i].nr_stored);
	printf("%s %d: ratio %.2f, compresses %.0f MB/s, uncompresses %.0f MB/s\n", codec->name,
	       codec->level, (double)raw / stored, raw / 1e6 / (middle - start),
	       raw / 1e6 / (codecs_now() - middle));
}

int main(int argc, char **argv)
{
	static const struct codec codecs[] = {
		{ "zlib", 1, compress_zlib, uncompress_zlib },
		{ "zstd", 1, compress_zstd, uncompress_zstd },
		{ "zstd", 2, compress_zstd, uncompress_zstd },
		{ "zstd", 3, compress_zstd, uncompress_zstd },
	};
	size_t i;

	require(argc == 2, "begin; name one RECORDING");
	read_payloads(argv[1]);
	for (i = 0; i < ARRAY_SIZE(codecs); i++)
		measure(&codecs[i]);
	return 0;
}

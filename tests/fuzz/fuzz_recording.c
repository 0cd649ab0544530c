// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeds arbitrary bytes to the recording reader: it neither crashes nor returns an item that the
 * writer would refuse. An input that starts with
 *
 *	'F'	is a complete file
 *	'B'	is blocks, each: u8 type, u16 size, uncompressed payload. The fuzzer adds
 *		a header, compression and checksums, so that the code after the check
 *		is reached
 *	'2'	is the same, as version 2 of the format compressed it
 *	'Z'	is blocks, each: u8 type, u16 size, compressed payload, u16 raw size. The
 *		fuzzer adds a header and checksums, so that the code of zstd is reached
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "user/recording/counters_json.h"
#include "user/recording/items.h"
#include "user/recording/reader.h"
#include "user/recording/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* @raw: size after decompression */
static void put_stored(FILE *out, uint8_t type, uint32_t raw, const uint8_t *stored, size_t size)
{
	struct recording_block block = {
		.magic = RECORDING_BLOCK_MAGIC,
		.type = type,
		.raw = raw,
		.stored = size,
	};

	block.check = crc32(0, (const void *)&block, sizeof(block));
	block.check = crc32(block.check, stored, size);
	fwrite(&block, sizeof(block), 1, out);
	fwrite(stored, 1, size, out);
}

static void put_block(FILE *out, uint32_t version, uint8_t type, const uint8_t *raw, size_t size)
{
	static uint8_t stored[1 << 17];
	uLongf nr_stored = sizeof(stored);

	if (version >= RECORDING_VERSION_ZSTD)
		nr_stored = ZSTD_compress(stored, sizeof(stored), raw, size, 1);
	else if (compress2(stored, &nr_stored, raw, size, 1) != Z_OK)
		abort();
	if (ZSTD_isError(nr_stored))
		abort();
	put_stored(out, type, size, stored, nr_stored);
}

static void put_begin(FILE *out, uint32_t version)
{
	const struct recording_header header = {
		.magic = RECORDING_MAGIC,
		.version = version,
		.abi = PFSTAT_ABI_VERSION,
	};

	fwrite(&header, sizeof(header), 1, out);
	put_block(out, version, RECORDING_HEAD, (const uint8_t *)"{}", 2);
}

static void put_blocks(FILE *out, uint8_t form, const uint8_t *data, size_t left)
{
	const uint32_t version = form == '2' ? 2 : RECORDING_VERSION;
	uint16_t size, raw = 0;
	const size_t extra = form == 'Z' ? sizeof(raw) : 0;

	put_begin(out, version);
	while (left >= 3 + extra) {
		memcpy(&size, data + 1, sizeof(size));
		if (size > left - 3 - extra)
			size = left - 3 - extra;
		memcpy(&raw, data + 3 + size, extra);
		if (form == 'Z')
			put_stored(out, data[0], raw, data + 3, size);
		else
			put_block(out, version, data[0], data + 3, size);
		data += 3 + size + extra;
		left -= 3 + size + extra;
	}
}

static void read_all(struct recording_reader *reader)
{
	static struct items items;
	static uint8_t raw[4U << 20];
	struct run_counters counters;
	struct item item;
	int ret;

	while ((ret = recording_next(reader, &item)) == 1) {
		if (items_add(&items, &item))
			abort();
		if (!items_full(&items))
			continue;
		if (items_encode(&items, raw) > sizeof(raw))
			abort();
		items_clear(&items);
	}
	if (ret || (!recording_tail(reader) && !recording_damage(reader)))
		abort();
	if (recording_tail(reader) && !counters_json_parse(&counters, recording_tail(reader)))
		run_counters_exit(&counters);
}

static void read_file(char *bytes, size_t size)
{
	struct recording_reader *reader;
	struct why why = { "" };
	FILE *file = fmemopen(bytes, size, "r");

	if (!file)
		return;
	if (!recording_open_file(&reader, file, "run.pfs", &why))
		read_all(reader);
	else if (!why.text[0])
		abort();
	recording_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = NULL;
	size_t length;
	FILE *out;

	if (size < 2 || !memchr("FB2Z", data[0], 4))
		return -1; /* not worth keeping in the corpus */
	out = open_memstream(&bytes, &length);
	if (data[0] == 'F')
		fwrite(data + 1, 1, size - 1, out);
	else
		put_blocks(out, data[0], data + 1, size - 1);
	fclose(out);
	read_file(bytes, length);
	free(bytes);
	return 0;
}

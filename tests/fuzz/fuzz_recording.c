// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeds arbitrary bytes to the reader of recordings: it neither crashes nor returns an
 * item that the writer would refuse. An input that begins with
 *
 *	'F'	is a complete file
 *	'B'	is blocks, each: u8 type, u16 size, uncompressed payload. The fuzzer adds
 *		a header, compression and checksums, so that the code after the check
 *		is reached
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "user/recording/counters_json.h"
#include "user/recording/items.h"
#include "user/recording/reader.h"
#include "user/recording/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_block(FILE *out, uint8_t type, const uint8_t *raw, size_t size)
{
	static uint8_t stored[1 << 17];
	uLongf nr_stored = sizeof(stored);
	struct recording_block block = {
		.magic = RECORDING_BLOCK_MAGIC,
		.type = type,
		.raw = size,
	};

	if (compress2(stored, &nr_stored, raw, size, 1) != Z_OK)
		abort();
	block.stored = nr_stored;
	block.check = crc32(0, (const void *)&block, sizeof(block));
	block.check = crc32(block.check, stored, nr_stored);
	fwrite(&block, sizeof(block), 1, out);
	fwrite(stored, 1, nr_stored, out);
}

static void put_blocks(FILE *out, const uint8_t *data, size_t left)
{
	const struct recording_header header = {
		.magic = RECORDING_MAGIC,
		.version = RECORDING_VERSION,
		.abi = PFSTAT_ABI_VERSION,
	};
	uint16_t size;

	fwrite(&header, sizeof(header), 1, out);
	put_block(out, RECORDING_HEAD, (const uint8_t *)"{}", 2);
	while (left >= 3) {
		memcpy(&size, data + 1, sizeof(size));
		if (size > left - 3)
			size = left - 3;
		put_block(out, data[0], data + 3, size);
		data += 3 + size;
		left -= 3 + size;
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
		if (items_full(&items) && items_encode(&items, raw) > sizeof(raw))
			abort();
	}
	if (ret || (!recording_tail(reader) && !recording_damage(reader)))
		abort();
	if (recording_tail(reader) && !counters_from_json(&counters, recording_tail(reader)))
		run_counters_exit(&counters);
}

static void read_file(char *bytes, size_t size)
{
	struct recording_reader *reader;
	char why[256] = "";
	FILE *file = fmemopen(bytes, size, "r");

	if (!file)
		return;
	if (!recording_open_file(&reader, file, "run.pfs", why, sizeof(why)))
		read_all(reader);
	else if (!why[0])
		abort();
	recording_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = NULL;
	size_t length;
	FILE *out;

	if (size < 2 || (data[0] != 'F' && data[0] != 'B'))
		return -1; /* not worth keeping in the corpus */
	out = open_memstream(&bytes, &length);
	if (data[0] == 'F')
		fwrite(data + 1, 1, size - 1, out);
	else
		put_blocks(out, data + 1, size - 1);
	fclose(out);
	read_file(bytes, length);
	free(bytes);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording, run.pfs. All numbers are little-endian. The file consists of:
 *
 *	struct recording_header
 *	blocks, each: struct recording_block, then `stored` bytes of payload
 *
 * A payload is a zstd frame (RFC 8878). Before version 3 it is a zlib stream (RFC 1950). `check` is
 * the CRC-32 (zlib's crc32()) over the block's head, with check = 0, and over the payload as
 * stored. Block types:
 *
 *	HEAD	JSON, once, first: command, machine, time and options of the recording
 *	ITEMS	items in time order, see below
 *	SYMBOLS	JSON, any number: names of code addresses
 *	TAIL	JSON, once, last: the counters (counts of module, eBPF, getrusage, perf).
 *		The recording is cut if it has no TAIL, or one with RECORDING_TAIL_CUT.
 *
 * An ITEMS block's payload, before compression:
 *
 *	count	u32: number of items
 *	kinds	a byte for each item: 0 record, 15 map, else 1 + enum pfstat_event_type, and
 *		2 + it from the kind 16 on
 *	fixed	for each kind of fixed size that has items, in the order of the kinds:
 *		masks	a byte for each 64-bit word of the item; bit n is set if byte n
 *			(0: the lowest) is nonzero in at least one item
 *		planes	for each bit that is set, by word and byte: this byte of every item
 *	maps	each struct item_map, followed by its path
 *
 * The words in the planes are differences. From each word, the same word in the previous item of
 * this kind is subtracted (0 for the first item in a block), and the sign is folded into the lowest
 * bit.
 */
#ifndef PFSTAT_USER_RECORDING_H
#define PFSTAT_USER_RECORDING_H

#include <stdint.h>

#define RECORDING_MAGIC "pfstat\r\n" /* 8 bytes; \r\n shows a text transfer */
/*
 * Version 2 added total_ns to off-CPU events, with a new type. Version 3 compresses with zstd.
 * All versions are read.
 */
#define RECORDING_VERSION      3
#define RECORDING_VERSION_ZSTD 3 /* the first with zstd */

struct recording_header {
	char magic[8] __attribute__((nonstring)); /* RECORDING_MAGIC, without its NUL */
	uint32_t version;			  /* RECORDING_VERSION */
	uint32_t abi;				  /* from PFSTAT_ABI_OLDEST to PFSTAT_ABI_VERSION */
};

enum recording_block_type {
	RECORDING_HEAD = 1,
	RECORDING_ITEMS,
	RECORDING_SYMBOLS,
	RECORDING_TAIL,
};

#define RECORDING_BLOCK_MAGIC 0x6b6c4270  /* "pBlk" */
#define RECORDING_BLOCK_MAX   (4U << 20)  /* in bytes, raw or stored; more is damage */
#define RECORDING_JSON_MAX    (16U << 20) /* in bytes, raw, for all JSON blocks together */

/* The TAIL key in an incomplete recording. The value is the reason, one clause. */
#define RECORDING_TAIL_CUT "cut"

struct recording_block {
	uint32_t magic;
	uint32_t type;
	uint32_t raw;	 /* bytes before compression */
	uint32_t stored; /* bytes following */
	uint32_t check;
	uint32_t reserved; /* 0 */
};

_Static_assert(sizeof(struct recording_header) == 16, "format");
_Static_assert(sizeof(struct recording_block) == 24, "format");

#endif

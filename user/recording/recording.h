/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording, run.pfs. All numbers little-endian.
 *
 *	struct recording_header
 *	blocks, each: struct recording_block, then `stored` bytes of payload
 *
 * Payloads are zlib streams (RFC 1950); `check` is the CRC-32 (zlib's crc32())
 * of the block's head, with check = 0, and of its payload as stored. Blocks:
 *
 *	HEAD	JSON, once, first: who recorded what, where, when, with what options
 *	ITEMS	items in time order, see below
 *	SYMBOLS	JSON, any number: names of code addresses
 *	TAIL	JSON, once, last: the counters (counts of module, eBPF, getrusage, perf).
 *		Without it the recording was cut, or with the key RECORDING_TAIL_CUT.
 *
 * ITEMS, before compression: u32 number of items; one byte each for its kind
 * (0 record, 1 + enum pfstat_event_type, 15 map); then the items of each kind in
 * turn, by kind. Fixed-size kinds, when there is one: as 64-bit words, each minus
 * the same word of the item before (0 before the first in a block), the sign folded
 * into the lowest bit; a byte for each word, bit n: byte n (0: the lowest) is not 0
 * in every item; then, word by word and byte by byte, these bytes of every item.
 * Maps: one after the other as struct item_map with its path.
 */
#ifndef PFSTAT_USER_RECORDING_H
#define PFSTAT_USER_RECORDING_H

#include <stdint.h>

#define RECORDING_MAGIC "pfstat\r\n" /* 8 bytes; \r\n shows a text transfer */
/* Version 2 added total_ns to off-CPU events, with a new type; version 1 is still read. */
#define RECORDING_VERSION 2

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

/* The key of a TAIL whose recording is incomplete. Its value is the reason, one clause. */
#define RECORDING_TAIL_CUT "cut"

struct recording_block {
	uint32_t magic;
	uint32_t type;
	uint32_t raw;	 /* bytes before compression */
	uint32_t stored; /* bytes that follow */
	uint32_t check;
	uint32_t reserved; /* 0 */
};

_Static_assert(sizeof(struct recording_header) == 16, "format");
_Static_assert(sizeof(struct recording_block) == 24, "format");

#endif

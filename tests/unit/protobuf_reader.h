/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads Protocol Buffers messages field by field. A malformed message fails the test. */
#ifndef PFSTAT_TESTS_PROTOBUF_READER_H
#define PFSTAT_TESTS_PROTOBUF_READER_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct protobuf_reader {
	const uint8_t *at, *end;
	/* The current field. */
	unsigned int field;
	uint64_t number;     /* the value, if it is a number */
	const uint8_t *data; /* the bytes, else NULL */
	size_t bytes;
};

static inline struct protobuf_reader protobuf_read(const void *message, size_t bytes)
{
	return (struct protobuf_reader){ .at = message, .end = (const uint8_t *)message + bytes };
}

static inline uint64_t protobuf_read_number(struct protobuf_reader *reader)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		ck_assert(reader->at < reader->end);
		ck_assert_uint_lt(shift, 64);
		byte = *reader->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

/* Moves to the next field. False if there is none. */
static inline bool protobuf_next(struct protobuf_reader *reader)
{
	uint64_t key;

	if (reader->at == reader->end)
		return false;
	key = protobuf_read_number(reader);
	reader->field = key >> 3;
	reader->data = NULL;
	reader->number = 0;
	switch (key & 7) {
	case 0:
		reader->number = protobuf_read_number(reader);
		break;
	case 1:
		ck_assert_int_ge(reader->end - reader->at, 8);
		for (unsigned int i = 8; i--;)
			reader->number = reader->number << 8 | reader->at[i];
		reader->at += 8;
		break;
	case 2:
		reader->bytes = protobuf_read_number(reader);
		ck_assert_uint_ge(reader->end - reader->at, reader->bytes);
		reader->data = reader->at;
		reader->at += reader->bytes;
		break;
	default:
		ck_abort_msg("wire type %u", (unsigned int)key & 7);
	}
	return true;
}

static inline struct protobuf_reader protobuf_inner(const struct protobuf_reader *reader)
{
	ck_assert_ptr_nonnull(reader->data);
	return protobuf_read(reader->data, reader->bytes);
}

/* The first field with this number must exist. */
static inline struct protobuf_reader protobuf_find(struct protobuf_reader message,
						   unsigned int field)
{
	while (protobuf_next(&message))
		if (message.field == field)
			return message;
	ck_abort_msg("no field %u", field);
}

#endif

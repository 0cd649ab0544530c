// SPDX-License-Identifier: GPL-2.0-only
/*
 * Encodes messages of Protocol Buffers into memory: variable-length numbers, fixed numbers and
 * fields with a length. After a failed allocation a message takes no more bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "util/protobuf.h"
#include "util/text.h"

enum wire_type { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

void protobuf_exit(struct protobuf *message)
{
	free(message->bytes);
	*message = (struct protobuf){ 0 };
}

void protobuf_clear(struct protobuf *message)
{
	message->used = 0;
}

/* Returns space for nr bytes, or NULL. */
static uint8_t *protobuf_extend(struct protobuf *message, size_t nr)
{
	size_t size = message->size ?: 256;
	uint8_t *grown;

	while (size - message->used < nr)
		size *= 2;
	if (size != message->size && !message->failed) {
		grown = realloc(message->bytes, size);
		message->failed = !grown;
		if (grown) {
			message->bytes = grown;
			message->size = size;
		}
	}
	if (message->failed)
		return NULL;
	message->used += nr;
	return message->bytes + message->used - nr;
}

void protobuf_element(struct protobuf *packed, uint64_t value)
{
	uint8_t bytes[10], *space;
	size_t nr = 0;

	for (; value > 0x7f; value >>= 7)
		bytes[nr++] = value | 0x80;
	bytes[nr++] = value;
	space = protobuf_extend(packed, nr);
	if (space)
		memcpy(space, bytes, nr);
}

static void protobuf_key(struct protobuf *message, unsigned int field, enum wire_type type)
{
	protobuf_element(message, (uint64_t)field << 3 | type);
}

void protobuf_number(struct protobuf *message, unsigned int field, uint64_t value)
{
	protobuf_key(message, field, WIRE_NUMBER);
	protobuf_element(message, value);
}

/* Returns space for the field's value, or NULL. */
static uint8_t *protobuf_field(struct protobuf *message, unsigned int field, size_t nr)
{
	protobuf_key(message, field, WIRE_BYTES);
	protobuf_element(message, nr);
	return protobuf_extend(message, nr);
}

void protobuf_bytes(struct protobuf *message, unsigned int field, const void *bytes, size_t nr)
{
	uint8_t *space = protobuf_field(message, field, nr);

	if (space && nr)
		memcpy(space, bytes, nr);
}

void protobuf_text(struct protobuf *message, unsigned int field, const char *text)
{
	const size_t nr = strlen(text);
	uint8_t *space = protobuf_field(message, field, nr);
	size_t at = 0, length;

	while (space && at < nr) {
		length = utf8_character(text + at, nr - at);
		if (length)
			memcpy(space + at, text + at, length);
		else
			space[at] = '?';
		at += length ?: 1;
	}
}

void protobuf_message(struct protobuf *message, unsigned int field, const struct protobuf *part)
{
	message->failed |= part->failed;
	protobuf_bytes(message, field, part->bytes, part->used);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Encodes Protocol Buffers messages. A message is a growing byte buffer. A field with another
 * message is encoded into a separate buffer first, because the length precedes it.
 */
#ifndef PFSTAT_USER_PROTOBUF_H
#define PFSTAT_USER_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is empty. */
struct protobuf {
	uint8_t *bytes;
	size_t used, size;
	bool failed; /* no memory: it lacks bytes */
};

void protobuf_exit(struct protobuf *message);
/* Empties the message, and keeps the memory. */
void protobuf_clear(struct protobuf *message);

/* Fields, also if the value is 0. A negative number is passed as two's complement. */
void protobuf_number(struct protobuf *message, unsigned int field, uint64_t value);
void protobuf_bytes(struct protobuf *message, unsigned int field, const void *bytes, size_t nr);
/* Text is UTF-8: each byte in an invalid character becomes a question mark. */
void protobuf_text(struct protobuf *message, unsigned int field, const char *text);
void protobuf_message(struct protobuf *message, unsigned int field, const struct protobuf *part);
/* One element in a packed field. The caller wraps them with protobuf_message(). */
void protobuf_element(struct protobuf *packed, uint64_t value);

#endif

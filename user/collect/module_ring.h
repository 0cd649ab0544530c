/* SPDX-License-Identifier: GPL-2.0-only */
/* One CPU's ring of records, in drop mode; see <pfstat/record.h>. */
#ifndef PFSTAT_USER_MODULE_RING_H
#define PFSTAT_USER_MODULE_RING_H

#include <stdint.h>

#include <pfstat/record.h>

struct ring {
	int fd;
	struct pfstat_ring_header *header;
	const struct pfstat_record *data;
	uint64_t map_bytes;
	uint64_t capacity;
	uint64_t next;		/* the record to be read next */
	uint64_t published;	/* what the module knows of `next` */
	uint64_t limit;		/* head when ring_look() was called */
};

/* -ENODATA: this CPU has none, -EPROTO: another version's; or open's and mmap's errors. */
int ring_open(struct ring *ring, const char *path);
void ring_close(struct ring *ring);

/* Takes the head: from here on ring_peek() gives the records up to it. */
void ring_look(struct ring *ring);
/*
 * The oldest unread record, in place: it stays until ring_next(). NULL: none;
 * *err is -EBADMSG when what is there is not the record that should be.
 */
const struct pfstat_record *ring_peek(const struct ring *ring, int *err);
void ring_next(struct ring *ring);
/* Tells the module what was read, so that its room is free. */
void ring_publish(struct ring *ring);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* One CPU's record ring, in drop mode, see <pfstat/record.h>. */
#ifndef PFSTAT_USER_RECORD_RING_H
#define PFSTAT_USER_RECORD_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/record.h>

struct record_ring {
	int fd; /* poll(2): the ring is half full, -1 if another descriptor reports it */
	struct pfstat_ring_header *header;
	const struct pfstat_record *data;
	uint64_t map_bytes;
	uint64_t capacity;
	uint64_t next;	    /* the record to be read next */
	uint64_t slot;	    /* index in data */
	uint64_t published; /* the last `next` value known to the writer */
	uint64_t limit;	    /* the records before it were complete at record_ring_look() */
	bool unordered;	    /* head may count incomplete records */
};

/* -ENODATA: this CPU has none, -EPROTO: another version's. Or open and mmap errors. */
int record_ring_open(struct record_ring *ring, const char *path);
/*
 * A ring whose memory belongs to the caller. The ring's writers count a record in head before it is
 * complete.
 */
void record_ring_share(struct record_ring *ring, struct pfstat_ring_header *header,
		       const struct pfstat_record *data);
void record_ring_close(struct record_ring *ring);

/* Finds the complete records: from here on record_ring_peek() returns the records up to it. */
void record_ring_look(struct record_ring *ring);
/*
 * The oldest unread record, in place: it stays until record_ring_publish(). NULL if none. *err is
 * -EBADMSG if the next record has a wrong sequence number.
 */
const struct pfstat_record *record_ring_peek(const struct record_ring *ring, int *err);
void record_ring_next(struct record_ring *ring);
/* Back to the first record whose space was not published. */
void record_ring_back(struct record_ring *ring);
/* Publishes the tail: the writer may reuse the space of all records before the next one. */
void record_ring_publish(struct record_ring *ring);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The most recently completed block requests, and which of them a sleeping thread waited for. */
#ifndef PFSTAT_USER_REQUESTS_H
#define PFSTAT_USER_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

/* A wait ending after more completions than this does not find the request. */
#define REQUESTS_MAX 4096U

struct request_slot;
struct requests_heads;

/* All zero but page_bytes and max is an empty ring. */
struct requests {
	uint64_t page_bytes; /* for the recorded machine */
	uint32_t max;	     /* requests in the ring, 0 for REQUESTS_MAX */
	struct request_slot *ring;
	struct requests_heads *heads; /* by hash */
	uint64_t large;		      /* the latest one with many pages */
	uint64_t count;		      /* number ever added, the ring holds the last max */
};

void requests_exit(struct requests *requests);
/* Adds a request, in completion order. Returns 0 or -ENOMEM. */
int requests_add(struct requests *requests, const struct pfstat_block *request);

struct requests_wait {
	uint32_t dev;
	uint32_t tid;
	uint64_t inode, pgoff; /* inode 0: no file */
	uint64_t start_ns;     /* start of the fault */
	uint64_t from_ns;      /* start of the sleep */
	bool in_iowait;	       /* the sleep is in io_schedule() */
};

#define REQUESTS_MATCHES 16

/*
 * Finds the requests completed after wait->from_ns that either move the page in @wait or were
 * submitted by the thread since start_ns. A read-ahead by the thread does not count unless it
 * sleeps in I/O wait: it may sleep for a lock while the read-ahead goes on. The latest is first.
 * The requests are valid until the next requests_add().
 */
size_t requests_match(const struct requests *requests, const struct requests_wait *wait,
		      const struct pfstat_block **matches);

/*
 * Bytes in reads submitted by the thread since start_ns and completed without an error by end_ns.
 * Reads older than the ring's requests are not known.
 */
uint64_t requests_bytes_read(const struct requests *requests, uint32_t tid, uint64_t start_ns,
			     uint64_t end_ns);

#endif

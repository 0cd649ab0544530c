/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory under measurement: a file, shared or private, or anonymous. It is
 * mapped for reading, and for writing where something will be stored.
 */
#ifndef PFSTAT_USER_MAPPING_H
#define PFSTAT_USER_MAPPING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/environment.h"
#include "workload/advice.h"

enum mapping_kind {
	MAPPING_SHARED,	 /* stores go to the file */
	MAPPING_PRIVATE, /* stores make copies: the file stays as it is */
	MAPPING_ANON,	 /* no file */
	NR_MAPPING_KINDS
};

#define MAPPING_NAMES { "shared", "private", "anon" }

struct mapping {
	int fd; /* -1: none */
	enum mapping_kind kind;
	bool writable; /* how it is mapped */
	uint64_t bytes;
	uint64_t pages;
	dev_t dev;
	ino_t inode;
	void *at;		      /* where to map it, if there is room; NULL: anywhere */
	const volatile uint8_t *data; /* NULL: not mapped */
};

#define MAPPING_NONE ((struct mapping){ .fd = -1 })

/* More could not be mapped next to everything else in 47 bits of addresses. */
#define MAPPING_MAX_BYTES (1ULL << 46)

/*
 * write: it will be stored to through the file. -EISDIR, -EMEDIUMTYPE: not a
 * regular file, -ENODATA: it is empty, -EFBIG: more than MAPPING_MAX_BYTES; or what
 * open(2) says.
 */
int mapping_open(struct mapping *mapping, const char *path, bool write);
/* A file that is open already; the same errors. fd is the mapping's then, in any case. */
int mapping_take(struct mapping *mapping, int fd);
/* No file: that many bytes of memory. */
void mapping_anon(struct mapping *mapping, uint64_t bytes);

/* The machine, and the file that is mapped or that the memory is anonymous. */
void mapping_describe(const struct mapping *mapping, const char *path,
		      struct environment *environment);

/* By its kind, without advice. Touches nothing. */
int mapping_map(struct mapping *mapping);
/* Tells the kernel what a policy says of it; what it reads then is read now, until told to stop. */
int mapping_advise(const struct mapping *mapping, const struct policy *policy,
		   const volatile sig_atomic_t *stop);
/*
 * What MAP_POPULATE does, of a mapping that is hooked already: every page is read
 * and mapped. Private and anonymous ones that are writable get their own pages at
 * once; writable shared ones are mapped without the right to write, so that the first
 * store to a page still asks the file. Ends early when told to stop.
 */
int mapping_populate(const struct mapping *mapping, const volatile sig_atomic_t *stop);
/* memset(3) of all of it, as the study does; ends early when told to stop. */
void mapping_fill(const struct mapping *mapping, const volatile sig_atomic_t *stop);
/* msync(2), MS_SYNC: a shared one's dirty pages are on the disk. */
int mapping_sync(const struct mapping *mapping);
/* Code and data of these three, so that their faults are not counted in a run. */
void mapping_warm_up(void);
void mapping_unmap(struct mapping *mapping);
void mapping_close(struct mapping *mapping);

/* Why a page of the mapped file could not be had (SIGBUS): one clause. */
const char *mapping_loss(const struct mapping *mapping);

#endif

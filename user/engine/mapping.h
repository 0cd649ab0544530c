/* SPDX-License-Identifier: GPL-2.0-only */
/* The file under measurement: opened and mapped for reading, never written. */
#ifndef PFSTAT_USER_MAPPING_H
#define PFSTAT_USER_MAPPING_H

#include <stdint.h>
#include <sys/types.h>

#include "policy.h"

struct mapping {
	int fd;			/* -1: none */
	uint64_t bytes;
	uint64_t pages;
	dev_t dev;
	ino_t inode;
	const volatile uint8_t *data;	/* NULL: not mapped */
};

#define MAPPING_NONE ((struct mapping){ .fd = -1 })

/* More could not be mapped next to everything else in 47 bits of addresses. */
#define MAPPING_MAX_BYTES (1ULL << 46)

/*
 * -EISDIR, -EMEDIUMTYPE: not a regular file, -ENODATA: it is empty, -EFBIG:
 * more than MAPPING_MAX_BYTES; or what open(2) says.
 */
int mapping_open(struct mapping *mapping, const char *path);
/* As a plain reader maps: shared, no advice. Touches nothing. */
int mapping_map(struct mapping *mapping);
/* Tells the kernel what a policy says of it; what it reads then is read now. */
int mapping_advise(const struct mapping *mapping, const struct policy *policy);
void mapping_unmap(struct mapping *mapping);
void mapping_close(struct mapping *mapping);

#endif

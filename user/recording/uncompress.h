/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Uncompresses the payloads of a recording: zstd frames, or zlib streams before version 3 of the
 * format. The payloads are not trusted. Each thread needs an object of its own.
 */
#ifndef PFSTAT_USER_UNCOMPRESS_H
#define PFSTAT_USER_UNCOMPRESS_H

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>
#include <zstd.h>

/* All zero has nothing to free. */
struct uncompress {
	ZSTD_DCtx *zstd; /* NULL: zlib */
	z_stream zlib;
};

/* @version: of the format. 0 or -ENOMEM. */
int uncompress_init(struct uncompress *uncompress, uint32_t version);
void uncompress_exit(struct uncompress *uncompress);
/* 0; -EBADMSG if stored is not one frame or stream of exactly nr_raw bytes; or -ENOMEM. */
int uncompress_all(struct uncompress *uncompress, const void *stored, size_t nr_stored, void *raw,
		   size_t nr_raw);

#endif

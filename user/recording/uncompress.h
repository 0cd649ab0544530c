/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Uncompresses a recording's payloads: zstd frames, or zlib streams before format version 3. The
 * payloads are not trusted. Each thread needs a separate object.
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

/* @version: the format version. Returns 0 or -ENOMEM. */
int uncompress_init(struct uncompress *uncompress, uint32_t version);
void uncompress_exit(struct uncompress *uncompress);
/*
 * Returns 0, -EBADMSG if stored is not one frame or stream with exactly nr_raw bytes, or -ENOMEM.
 */
int uncompress_all(struct uncompress *uncompress, const void *stored, size_t nr_stored, void *raw,
		   size_t nr_raw);

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uncompresses blocks for the recording reader. A result that does not have exactly the size in the
 * block's head is an error.
 */
#include <errno.h>
#include <zstd_errors.h>

#include "recording/recording.h"
#include "recording/uncompress.h"

int uncompress_init(struct uncompress *uncompress, uint32_t version)
{
	if (version < RECORDING_VERSION_ZSTD)
		return inflateInit(&uncompress->zlib) == Z_OK ? 0 : -ENOMEM;
	uncompress->zstd = ZSTD_createDCtx();
	return uncompress->zstd ? 0 : -ENOMEM;
}

void uncompress_exit(struct uncompress *uncompress)
{
	ZSTD_freeDCtx(uncompress->zstd);
	inflateEnd(&uncompress->zlib);
}

static int uncompress_zlib(z_stream *zlib, const void *stored, size_t nr_stored, void *raw,
			   size_t nr_raw)
{
	int result;

	inflateReset(zlib);
	inflateValidate(zlib, 0); /* the block's check already covers this */
	zlib->next_in = (void *)stored;
	zlib->avail_in = nr_stored;
	zlib->next_out = raw;
	zlib->avail_out = nr_raw;
	result = inflate(zlib, Z_FINISH);
	if (result == Z_MEM_ERROR)
		return -ENOMEM;
	return result == Z_STREAM_END && !zlib->avail_out && !zlib->avail_in ? 0 : -EBADMSG;
}

int uncompress_all(struct uncompress *uncompress, const void *stored, size_t nr_stored, void *raw,
		   size_t nr_raw)
{
	size_t size;

	if (!uncompress->zstd)
		return uncompress_zlib(&uncompress->zlib, stored, nr_stored, raw, nr_raw);
	/* ZSTD_decompressDCtx() also accepts several frames. */
	if (ZSTD_findFrameCompressedSize(stored, nr_stored) != nr_stored)
		return -EBADMSG;
	size = ZSTD_decompressDCtx(uncompress->zstd, raw, nr_raw, stored, nr_stored);
	if (size == nr_raw)
		return 0;
	return ZSTD_isError(size) && ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation ?
		       -ENOMEM :
		       -EBADMSG;
}

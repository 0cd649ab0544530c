// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the study's scratch files, brings them into the page cache state required by a pass, and
 * knows the sum of their words.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/io/io_files.h"
#include "bench/io/io_method.h"
#include "model/counters.h"
#include "workload/file_cache.h"
#include "workload/workload.h"

#define FIT_PART 8

static int io_files_make_one(struct io_files *files, const char *folder,
			     const volatile sig_atomic_t *stop)
{
	int fd = scratch_file_make(folder, files->bytes, stop);
	int err;

	if (fd < 0)
		return fd;
	err = mapping_take(&files->mappings[files->nr], fd);
	if (!err)
		files->nr++;
	return err;
}

int io_files_make(struct io_files *files, const char *folder, unsigned int nr, uint64_t bytes,
		  const volatile sig_atomic_t *stop)
{
	int err = 0;

	*files = (struct io_files){ .bytes = bytes };
	files->mappings = calloc(nr, sizeof(*files->mappings));
	files->words = calloc(nr, sizeof(*files->words));
	if (!files->mappings || !files->words)
		err = -ENOMEM;
	while (!err && files->nr < nr)
		err = io_files_make_one(files, folder, stop);
	if (err)
		io_files_close(files);
	else
		io_files_hold(files, nr, SCRATCH_BYTE * 0x0101010101010101);
	return err;
}

void io_files_close(struct io_files *files)
{
	unsigned int i;

	for (i = 0; i < files->nr; i++)
		mapping_close(&files->mappings[i]);
	free(files->mappings);
	free(files->words);
	*files = (struct io_files){ 0 };
}

unsigned int io_files_that_fit(const struct io_files *files, uint64_t available_kb)
{
	uint64_t nr;

	if (available_kb == COUNT_NA)
		return 0;
	nr = available_kb * 1024 / FIT_PART / files->bytes;
	return nr < files->nr ? nr : files->nr;
}

/* Reads the file. The kernel decides which pages stay in the cache. */
static int io_files_read_once(const struct mapping *mapping, const volatile sig_atomic_t *stop)
{
	uint64_t resident;
	int err = file_cache_make_warm(mapping, stop, &resident);

	return err == -ENOBUFS ? 0 : err;
}

static int io_files_prepare_one(const struct mapping *mapping, enum io_cache cache,
				const volatile sig_atomic_t *stop)
{
	uint64_t resident;

	switch (cache) {
	case IO_COLD:
		return file_cache_make_cold(mapping, stop, &resident);
	case IO_WARM:
		return io_files_read_once(mapping, stop);
	default:
		return file_cache_make_warm(mapping, stop, &resident);
	}
}

int io_files_prepare(const struct io_files *files, unsigned int nr, enum io_cache cache,
		     const volatile sig_atomic_t *stop)
{
	int err = io_files_sync(files, nr);
	unsigned int i;

	for (i = 0; i < nr && !err; i++)
		err = io_files_prepare_one(&files->mappings[i], cache, stop);
	return err;
}

int io_files_resident(const struct io_files *files, unsigned int nr, uint64_t *pages)
{
	uint64_t resident = 0;
	unsigned int i;
	int err = 0;

	*pages = 0;
	for (i = 0; i < nr && !err; i++) {
		err = file_cache_resident(&files->mappings[i], &resident);
		*pages += resident;
	}
	return err;
}

uint64_t io_files_sum(const struct io_files *files, unsigned int nr)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		sum += files->words[i] * (files->bytes / IO_WORD);
	return sum;
}

void io_files_hold(struct io_files *files, unsigned int nr, uint64_t word)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		files->words[i] = word;
}

int io_files_sync(const struct io_files *files, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (fsync(files->mappings[i].fd))
			return -errno;
	return 0;
}

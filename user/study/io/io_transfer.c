// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "study/io/io_transfer.h"

/* Words between two looks whether it should end: 1 MiB. */
#define STRETCH_WORDS ((1U << 20) / WAY_WORD)

int transfer_open(struct transfer *transfer, const struct way *way, const struct files *files,
		  unsigned int nr, const volatile sig_atomic_t *stop)
{
	*transfer = (struct transfer){ .way = way, .files = files, .nr = nr, .stop = stop };
	if (way->map)
		return 0;
	transfer->buffer = malloc(way->block);
	if (!transfer->buffer)
		return -ENOMEM;
	memset(transfer->buffer, 1, way->block);
	return 0;
}

void transfer_close(struct transfer *transfer)
{
	transfer_unmap(transfer);
	free(transfer->buffer);
	transfer->buffer = NULL;
}

/* Volatile: each word is loaded, and stored, once; no loop becomes a call of the library. */
static uint64_t add_words(const volatile uint64_t *words, uint64_t nr)
{
	uint64_t sum = 0, i;

	for (i = 0; i < nr; i++)
		sum += words[i];
	return sum;
}

static void make_words(volatile uint64_t *words, uint64_t nr, uint64_t word)
{
	uint64_t i;

	for (i = 0; i < nr; i++)
		words[i] = word;
}

static int move_mapped(struct transfer *transfer, struct mapping *mapping)
{
	volatile uint64_t *words = (volatile uint64_t *)mapping->data;
	uint64_t left = mapping->bytes / WAY_WORD, nr;

	for (; left; left -= nr, words += nr) {
		if (*transfer->stop)
			return -EINTR;
		nr = left < STRETCH_WORDS ? left : STRETCH_WORDS;
		if (transfer->way->write)
			make_words(words, nr, transfer->word);
		else
			transfer->sum += add_words(words, nr);
	}
	mapping_unmap(mapping);
	return 0;
}

static int read_blocks(struct transfer *transfer, const struct mapping *mapping)
{
	uint64_t offset = 0;
	ssize_t got;

	while (offset < mapping->bytes) {
		if (*transfer->stop)
			return -EINTR;
		got = read(mapping->fd, transfer->buffer, transfer->way->block);
		if (got < 0)
			return -errno;
		if (!got || got % WAY_WORD)
			return -EIO;
		transfer->sum += add_words(transfer->buffer, got / WAY_WORD);
		offset += got;
	}
	return 0;
}

static int write_blocks(struct transfer *transfer, const struct mapping *mapping)
{
	uint64_t offset = 0, bytes;
	ssize_t put;

	while (offset < mapping->bytes) {
		if (*transfer->stop)
			return -EINTR;
		bytes = mapping->bytes - offset;
		if (bytes > transfer->way->block)
			bytes = transfer->way->block;
		make_words(transfer->buffer, bytes / WAY_WORD, transfer->word);
		put = write(mapping->fd, transfer->buffer, bytes);
		if (put < 0)
			return -errno;
		if ((uint64_t)put != bytes)
			return -EIO;
		offset += bytes;
	}
	return 0;
}

/* read(2) and write(2) go on where the file's offset is: to the beginning. */
static int rewind_files(const struct transfer *transfer)
{
	unsigned int i;

	for (i = 0; i < transfer->nr; i++)
		if (lseek(transfer->files->mappings[i].fd, 0, SEEK_SET))
			return -errno;
	return 0;
}

int transfer_map(struct transfer *transfer)
{
	struct mapping *mapping;
	unsigned int i;
	int err = 0;

	if (!transfer->way->map)
		return rewind_files(transfer);
	for (i = 0; i < transfer->nr && !err; i++) {
		mapping = &transfer->files->mappings[i];
		mapping->writable = transfer->way->write;
		err = mapping_map(mapping);
	}
	return err;
}

int transfer_move(struct transfer *transfer)
{
	struct mapping *mapping;
	unsigned int i;
	int err = 0;

	for (i = 0; i < transfer->nr && !err; i++) {
		mapping = &transfer->files->mappings[i];
		if (transfer->way->map)
			err = move_mapped(transfer, mapping);
		else if (transfer->way->write)
			err = write_blocks(transfer, mapping);
		else
			err = read_blocks(transfer, mapping);
	}
	return err;
}

int transfer_sync(struct transfer *transfer)
{
	return transfer->way->write ? files_sync(transfer->files, transfer->nr) : 0;
}

void transfer_unmap(struct transfer *transfer)
{
	unsigned int i;

	for (i = 0; transfer->files && i < transfer->nr; i++)
		mapping_unmap(&transfer->files->mappings[i]);
}

int transfer_warm_up(const struct way *way)
{
	static const volatile sig_atomic_t go_on;
	const long page = sysconf(_SC_PAGESIZE);
	struct mapping mapping = MAPPING_NONE;
	const struct files files = { .mappings = &mapping, .nr = 1, .bytes = page };
	struct transfer transfer;
	int fd = memfd_create("pfdrive", MFD_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = ftruncate(fd, page) ? -errno : 0;
	if (err) {
		close(fd);
		return err;
	}
	err = mapping_take(&mapping, fd);
	if (!err)
		err = transfer_open(&transfer, way, &files, 1, &go_on);
	if (err) {
		mapping_close(&mapping);
		return err;
	}
	err = transfer_map(&transfer);
	if (!err)
		err = transfer_move(&transfer);
	if (!err)
		err = transfer_sync(&transfer);
	transfer_close(&transfer);
	mapping_close(&mapping);
	return err;
}

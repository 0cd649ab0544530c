// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moves all bytes in the files by one access method. The caller times the phases, so no phase does
 * any work that does not belong to the method.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/io/io_transfer.h"

/* Words between two looks whether it should end: 1 MiB. */
#define STRETCH_WORDS ((1U << 20) / IO_WORD)

int io_transfer_open(struct io_transfer *transfer, const struct io_method *method,
		     const struct io_files *files, unsigned int nr,
		     const volatile sig_atomic_t *stop)
{
	*transfer = (struct io_transfer){
		.method = method,
		.files = files,
		.nr = nr,
		.stop = stop,
	};
	if (method->map)
		return 0;
	transfer->buffer = malloc(method->block);
	if (!transfer->buffer)
		return -ENOMEM;
	memset(transfer->buffer, 1, method->block);
	return 0;
}

/* Unmaps the files left mapped by a failed phase. */
static void io_transfer_unmap(struct io_transfer *transfer)
{
	unsigned int i;

	for (i = 0; transfer->files && i < transfer->nr; i++)
		mapping_unmap(&transfer->files->mappings[i]);
}

void io_transfer_close(struct io_transfer *transfer)
{
	io_transfer_unmap(transfer);
	free(transfer->buffer);
	transfer->buffer = NULL;
}

/* Volatile: each word is loaded, and stored, once, and no loop becomes a library call. */
static uint64_t io_transfer_add_words(const volatile uint64_t *words, uint64_t nr)
{
	uint64_t sum = 0, i;

	for (i = 0; i < nr; i++)
		sum += words[i];
	return sum;
}

static void io_transfer_make_words(volatile uint64_t *words, uint64_t nr, uint64_t word)
{
	uint64_t i;

	for (i = 0; i < nr; i++)
		words[i] = word;
}

static int io_transfer_move_mapped(struct io_transfer *transfer, struct mapping *mapping)
{
	volatile uint64_t *words = (volatile uint64_t *)mapping->data;
	uint64_t left = mapping->bytes / IO_WORD, nr;

	for (; left; left -= nr, words += nr) {
		if (*transfer->stop)
			return -EINTR;
		nr = left < STRETCH_WORDS ? left : STRETCH_WORDS;
		if (transfer->method->write)
			io_transfer_make_words(words, nr, transfer->word);
		else
			transfer->sum += io_transfer_add_words(words, nr);
	}
	mapping_unmap(mapping);
	return 0;
}

static int io_transfer_read_blocks(struct io_transfer *transfer, const struct mapping *mapping)
{
	uint64_t offset = 0;
	ssize_t got;

	while (offset < mapping->bytes) {
		if (*transfer->stop)
			return -EINTR;
		got = read(mapping->fd, transfer->buffer, transfer->method->block);
		if (got < 0)
			return -errno;
		if (!got || got % IO_WORD)
			return -EIO;
		transfer->sum += io_transfer_add_words(transfer->buffer, got / IO_WORD);
		offset += got;
	}
	return 0;
}

static int io_transfer_write_blocks(struct io_transfer *transfer, const struct mapping *mapping)
{
	uint64_t offset = 0, bytes;
	ssize_t put;

	while (offset < mapping->bytes) {
		if (*transfer->stop)
			return -EINTR;
		bytes = mapping->bytes - offset;
		if (bytes > transfer->method->block)
			bytes = transfer->method->block;
		io_transfer_make_words(transfer->buffer, bytes / IO_WORD, transfer->word);
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
static int io_transfer_rewind_files(const struct io_transfer *transfer)
{
	unsigned int i;

	for (i = 0; i < transfer->nr; i++)
		if (lseek(transfer->files->mappings[i].fd, 0, SEEK_SET))
			return -errno;
	return 0;
}

int io_transfer_map(struct io_transfer *transfer)
{
	struct mapping *mapping;
	unsigned int i;
	int err = 0;

	if (!transfer->method->map)
		return io_transfer_rewind_files(transfer);
	for (i = 0; i < transfer->nr && !err; i++) {
		mapping = &transfer->files->mappings[i];
		mapping->writable = transfer->method->write;
		err = mapping_map(mapping);
	}
	return err;
}

int io_transfer_move(struct io_transfer *transfer)
{
	struct mapping *mapping;
	unsigned int i;
	int err = 0;

	for (i = 0; i < transfer->nr && !err; i++) {
		mapping = &transfer->files->mappings[i];
		if (transfer->method->map)
			err = io_transfer_move_mapped(transfer, mapping);
		else if (transfer->method->write)
			err = io_transfer_write_blocks(transfer, mapping);
		else
			err = io_transfer_read_blocks(transfer, mapping);
	}
	return err;
}

int io_transfer_sync(struct io_transfer *transfer)
{
	return transfer->method->write ? io_files_sync(transfer->files, transfer->nr) : 0;
}

int io_transfer_warm_up(const struct io_method *method)
{
	static const volatile sig_atomic_t go_on;
	const long page = sysconf(_SC_PAGESIZE);
	struct mapping mapping = MAPPING_NONE;
	const struct io_files files = { .mappings = &mapping, .nr = 1, .bytes = page };
	struct io_transfer transfer;
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
		err = io_transfer_open(&transfer, method, &files, 1, &go_on);
	if (err) {
		mapping_close(&mapping);
		return err;
	}
	err = io_transfer_map(&transfer);
	if (!err)
		err = io_transfer_move(&transfer);
	if (!err)
		err = io_transfer_sync(&transfer);
	io_transfer_close(&transfer);
	mapping_close(&mapping);
	return err;
}

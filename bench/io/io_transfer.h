/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All bytes of the files read, or written, in order, one file after the other. The
 * program works the same for each method: it adds up the words that it reads, where the
 * mapping has them or in its buffer, and makes the words that it writes, there too.
 */
#ifndef PFSTAT_USER_IO_TRANSFER_H
#define PFSTAT_USER_IO_TRANSFER_H

#include <signal.h>
#include <stdint.h>

#include "bench/io/io_files.h"
#include "bench/io/io_method.h"

struct io_transfer {
	const struct io_method *method;
	const struct io_files *files;
	unsigned int nr; /* the first so many of them */
	uint64_t word;	 /* that is written */
	uint64_t sum;	 /* of the words that were read */
	void *buffer;	 /* of a block; NULL: mapped */
	const volatile sig_atomic_t *stop;
};

/* -ENOMEM. The buffer's pages are there already. */
int io_transfer_open(struct io_transfer *transfer, const struct io_method *method,
		     const struct io_files *files, unsigned int nr,
		     const volatile sig_atomic_t *stop);
void io_transfer_close(struct io_transfer *transfer);

/*
 * The three phases, which the caller times: map all files (nothing, where they are not
 * mapped); move the bytes, and unmap; wait until they are on the disk. 0, a negative
 * errno; -EIO: the kernel moved fewer bytes than there are.
 */
int io_transfer_map(struct io_transfer *transfer);
int io_transfer_move(struct io_transfer *transfer);
int io_transfer_sync(struct io_transfer *transfer);

/*
 * Runs the same code over one page of memory, so that a pass has no faults on its own code
 * and stack.
 */
int io_transfer_warm_up(const struct io_method *method);

#endif

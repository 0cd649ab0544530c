/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads or writes all bytes in the files in order, one file after the other. The program does the
 * same work for each method: it adds up the words read, in the mapping or in the buffer, and also
 * generates the written words there.
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
	unsigned int nr; /* only the first nr files */
	uint64_t word;	 /* being written */
	uint64_t sum;	 /* sum over the words read */
	void *buffer;	 /* for one block, or NULL if mapped */
	const volatile sig_atomic_t *stop;
};

/* -ENOMEM. The buffer's pages are there already. */
int io_transfer_open(struct io_transfer *transfer, const struct io_method *method,
		     const struct io_files *files, unsigned int nr,
		     const volatile sig_atomic_t *stop);
void io_transfer_close(struct io_transfer *transfer);

/*
 * The three phases, timed by the caller: map all files (nothing to do for unmapped files), move the
 * bytes and unmap, wait until the bytes are on the disk. 0 or a negative errno. -EIO: the kernel
 * moved fewer bytes than there are.
 */
int io_transfer_map(struct io_transfer *transfer);
int io_transfer_move(struct io_transfer *transfer);
int io_transfer_sync(struct io_transfer *transfer);

/* Runs the same code over one memory page, so the code and stack cause no faults in a pass. */
int io_transfer_warm_up(const struct io_method *method);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of each thread, found by its tid. */
#ifndef PFSTAT_USER_THREADS_H
#define PFSTAT_USER_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "chain.h"
#include "offcpu.h"

struct thread {
	uint32_t tid;
	uint64_t last_ns;	/* start of the latest record */
	struct chain chain;
	struct offcpu offcpu;
};

/* An open-addressing hash, at most half full. All zero is an empty one. */
struct threads {
	struct thread **slots;
	size_t nr_slots;	/* 0 or a power of two */
	size_t count;
	struct thread *last;	/* found last: records come in runs */
};

void threads_exit(struct threads *threads);

/* The thread, new and all zero when it was not known; NULL: no memory. */
struct thread *threads_get(struct threads *threads, uint32_t tid);

#endif

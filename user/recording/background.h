/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work in other threads. Several threads process pieces at the same time. The results are delivered
 * one at a time, in the order in which the pieces were given. The number of pieces is fixed, and a
 * piece is reused after delivery. If none is free, the caller waits.
 *
 *	index = background_take(), fill piece `index`, background_give(), and again
 */
#ifndef PFSTAT_USER_BACKGROUND_H
#define PFSTAT_USER_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define BACKGROUND_THREADS_MAX 4

/* Runs in a worker thread with the number 0 … BACKGROUND_THREADS_MAX - 1. */
typedef void (*background_step)(void *context, unsigned int thread, unsigned int piece);

struct background;

struct background_thread {
	struct background *background;
	unsigned int number;
	pthread_t id;
};

struct background {
	background_step work;	 /* in any order, several at the same time */
	background_step deliver; /* in order, one at a time */
	void *context;
	unsigned int nr; /* number of pieces */
	unsigned int max_threads;
	unsigned int nr_threads; /* threads started */
	struct background_thread threads[BACKGROUND_THREADS_MAX];
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* Pieces since the beginning: given >= claimed >= delivered. */
	uint64_t given, claimed, delivered;
	bool end;
};

/* Starts at most as many threads as there are CPUs, not counting the caller's. */
void background_init(struct background *background, unsigned int nr, background_step work,
		     background_step deliver, void *context);
/* Finishes all work given, then stops the threads. */
void background_exit(struct background *background);

/* The next piece to fill. Waits until no thread uses it. */
unsigned int background_take(struct background *background);
/*
 * Passes the taken piece to the threads. Starts another thread if all are busy. It starts with
 * all signals blocked, and with the nice value and CPU affinity of the caller. 0, or a negative
 * errno if there is no thread at all: then the piece was not passed on.
 */
int background_give(struct background *background);
/* Waits until all given work is delivered. */
void background_wait(struct background *background);

#endif

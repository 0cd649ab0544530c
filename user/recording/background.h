/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work that other threads do: pieces are worked on by several at the same time, and
 * delivered one after the other, in the order in which they were given. There are so many
 * pieces, and each is used again when it was delivered; who wants one more waits.
 *
 *	index = background_take(), fill piece `index`, background_give(), and again
 */
#ifndef PFSTAT_USER_BACKGROUND_H
#define PFSTAT_USER_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define BACKGROUND_THREADS_MAX 4

/* In a thread of the background's, which is one of 0 … BACKGROUND_THREADS_MAX - 1. */
typedef void (*background_step)(void *context, unsigned int thread, unsigned int piece);

struct background;

struct background_thread {
	struct background *background;
	unsigned int number;
	pthread_t id;
};

struct background {
	background_step work;	 /* any order, several at the same time */
	background_step deliver; /* in order, one at a time */
	void *context;
	unsigned int nr; /* pieces */
	unsigned int max_threads;
	unsigned int nr_threads; /* that were started */
	struct background_thread threads[BACKGROUND_THREADS_MAX];
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* Pieces, from the beginning: given >= claimed >= delivered. */
	uint64_t given, claimed, delivered;
	bool end;
};

/* At most so many threads as there are CPUs, beside one that gives. */
void background_init(struct background *background, unsigned int nr, background_step work,
		     background_step deliver, void *context);
/* What was given is done first. */
void background_exit(struct background *background);

/* The next piece to fill: nobody works on it. Waits for that, if need be. */
unsigned int background_take(struct background *background);
/*
 * The piece that was taken. Starts a thread when those that there are have work: it gets all
 * signals blocked, and the nice value and CPUs of who calls. 0, or a negative errno when
 * there is no thread at all: then it was not given.
 */
int background_give(struct background *background);
/* Until all that was given is delivered. */
void background_wait(struct background *background);

#endif

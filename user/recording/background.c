// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the block encoders in threads, and delivers their results in order. The recording writer
 * fills the blocks. One mutex guards the three counters: given, claimed, delivered.
 */
#include <signal.h>

#include "recording/background.h"
#include "system/cpus.h"

static unsigned int useful_threads(void)
{
	struct cpus cpus;
	unsigned int nr = cpus_read(&cpus) ? 2 : cpus_count(&cpus);

	if (nr <= 2)
		return 1;
	return nr - 1 < BACKGROUND_THREADS_MAX ? nr - 1 : BACKGROUND_THREADS_MAX;
}

void background_init(struct background *background, unsigned int nr, background_step work,
		     background_step deliver, void *context)
{
	*background = (struct background){
		.work = work,
		.deliver = deliver,
		.context = context,
		.nr = nr,
		.max_threads = useful_threads(),
	};
	pthread_mutex_init(&background->mutex, NULL);
	pthread_cond_init(&background->changed, NULL);
}

/* The caller holds the mutex, also for the three functions below. */
static void wait_for_change(struct background *background)
{
	pthread_cond_wait(&background->changed, &background->mutex);
}

/* Returns false after background_exit() was called, if no work is left. */
static bool claim(struct background *background, uint64_t *number)
{
	while (background->claimed == background->given && !background->end)
		wait_for_change(background);
	*number = background->claimed;
	if (background->claimed == background->given)
		return false;
	background->claimed++;
	return true;
}

/* Only the thread whose turn it is delivers, so it does not need the mutex. */
static void deliver(struct background *background, unsigned int thread, uint64_t number)
{
	while (background->delivered != number)
		wait_for_change(background);
	pthread_mutex_unlock(&background->mutex);
	background->deliver(background->context, thread, number % background->nr);
	pthread_mutex_lock(&background->mutex);
	background->delivered++;
	pthread_cond_broadcast(&background->changed);
}

static void *work(void *argument)
{
	const struct background_thread *thread = argument;
	struct background *background = thread->background;
	uint64_t number;

	pthread_mutex_lock(&background->mutex);
	while (claim(background, &number)) {
		pthread_mutex_unlock(&background->mutex);
		background->work(background->context, thread->number, number % background->nr);
		pthread_mutex_lock(&background->mutex);
		deliver(background, thread->number, number);
	}
	pthread_mutex_unlock(&background->mutex);
	return NULL;
}

static int start_thread(struct background *background)
{
	struct background_thread *thread = &background->threads[background->nr_threads];
	sigset_t all, before;
	int err;

	*thread = (struct background_thread){
		.background = background,
		.number = background->nr_threads,
	};
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&thread->id, NULL, work, thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	background->nr_threads += !err;
	return err;
}

unsigned int background_take(struct background *background)
{
	pthread_mutex_lock(&background->mutex);
	while (background->given - background->delivered == background->nr)
		wait_for_change(background);
	pthread_mutex_unlock(&background->mutex);
	return background->given % background->nr;
}

int background_give(struct background *background)
{
	uint64_t waiting;
	int err = 0;

	pthread_mutex_lock(&background->mutex);
	waiting = background->given - background->delivered;
	pthread_mutex_unlock(&background->mutex);
	if (waiting >= background->nr_threads && background->nr_threads < background->max_threads)
		err = start_thread(background);
	if (!background->nr_threads)
		return err;
	pthread_mutex_lock(&background->mutex);
	background->given++;
	pthread_cond_broadcast(&background->changed);
	pthread_mutex_unlock(&background->mutex);
	return 0;
}

void background_wait(struct background *background)
{
	pthread_mutex_lock(&background->mutex);
	while (background->delivered != background->given)
		wait_for_change(background);
	pthread_mutex_unlock(&background->mutex);
}

void background_exit(struct background *background)
{
	unsigned int i;

	pthread_mutex_lock(&background->mutex);
	background->end = true;
	pthread_cond_broadcast(&background->changed);
	pthread_mutex_unlock(&background->mutex);
	for (i = 0; i < background->nr_threads; i++)
		pthread_join(background->threads[i].id, NULL);
	pthread_cond_destroy(&background->changed);
	pthread_mutex_destroy(&background->mutex);
}

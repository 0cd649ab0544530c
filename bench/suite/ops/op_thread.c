// SPDX-License-Identifier: GPL-2.0-only
/* Thread creation, exit and wait. */
#include <pthread.h>

#include "bench/suite/ops/op_registry.h"

static void *op_thread_return(void *argument)
{
	return argument;
}

static int op_thread_run(struct bench *bench, uint64_t n)
{
	pthread_t thread;
	int err = 0;
	uint64_t i;

	bench_start(bench);
	for (i = 0; i < n && !err; i++) {
		err = -pthread_create(&thread, NULL, op_thread_return, NULL);
		if (!err)
			err = -pthread_join(thread, NULL);
	}
	bench_stop(bench);
	return err;
}

const struct bench_operation op_thread_create = {
	.name = "thread.create",
	.title = "pthread_create, thread exit, pthread_join",
	.method = "the thread exits at once",
	.prediction = "5 * cpu.syscall + 2 * switch.thread",
	.claim = { .made = true, .range = { { 1, 6 }, { 1, 30 }, BENCH_ANY, { 0, 0 } } },
	.run = op_thread_run,
};

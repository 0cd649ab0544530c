// SPDX-License-Identifier: GPL-2.0-only
/*
 * Context switches: a byte goes back and forth between two partners on one CPU through two pipes,
 * and each transfer needs a switch. The pipe's cost, measured in a process writing to itself, is
 * subtracted.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/suite/ops/op_registry.h"

struct op_switch_pipes {
	int there[2], back[2];
};

static int op_switch_send(int fd)
{
	char byte = 0;

	return write(fd, &byte, 1) == 1 ? 0 : -EIO;
}

static int op_switch_receive(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1 ? 0 : -EIO;
}

static int op_switch_open_pipes(struct bench *bench)
{
	struct op_switch_pipes *pipes = calloc(1, sizeof(*pipes));

	bench->state = pipes;
	if (!pipes)
		return -ENOMEM;
	return pipe2(pipes->there, O_CLOEXEC) || pipe2(pipes->back, O_CLOEXEC) ? -errno : 0;
}

static int op_switch_run_pipe(struct bench *bench, uint64_t n)
{
	const struct op_switch_pipes *pipes = bench->state;
	int err = 0;
	uint64_t i;

	bench_start(bench);
	for (i = 0; i < n && !err; i++) {
		err = op_switch_send(pipes->there[1]);
		if (!err)
			err = op_switch_receive(pipes->there[0]);
	}
	bench_stop(bench);
	return err;
}

/* The partner: returns each byte, until the worker exits. */
static void *op_switch_answer(void *argument)
{
	const struct op_switch_pipes *pipes = argument;

	while (!op_switch_receive(pipes->there[0]) && !op_switch_send(pipes->back[1]))
		;
	return NULL;
}

static int op_switch_start_process(struct bench *bench)
{
	int err = op_switch_open_pipes(bench);
	pid_t pid;

	if (err)
		return err;
	pid = bench_fork();
	if (!pid) {
		op_switch_answer(bench->state);
		_exit(EXIT_SUCCESS);
	}
	return pid < 0 ? -errno : 0;
}

static int op_switch_start_thread(struct bench *bench)
{
	int err = op_switch_open_pipes(bench);
	pthread_t thread;

	return err ? err : -pthread_create(&thread, NULL, op_switch_answer, bench->state);
}

/* A round has two switches. */
static int op_switch_run_switch(struct bench *bench, uint64_t n)
{
	const struct op_switch_pipes *pipes = bench->state;
	const uint64_t rounds = (n + 1) / 2;
	int err = 0;
	uint64_t i;

	bench_start(bench);
	for (i = 0; i < rounds && !err; i++) {
		err = op_switch_send(pipes->there[1]);
		if (!err)
			err = op_switch_receive(pipes->back[0]);
	}
	bench_stop(bench);
	return err;
}

const struct bench_operation op_pipe = {
	.name = "pipe.self",
	.title = "write a byte into a pipe and read it back",
	.method = "one process with both pipe ends, in a loop",
	.prediction = "2 * cpu.syscall",
	.claim = { .made = true, .range = { { 0, 0 }, { 2, 2 }, { 0, 0 }, { 0, 0 } } },
	.prepare = op_switch_open_pipes,
	.run = op_switch_run_pipe,
};

const struct bench_operation op_switch_process = {
	.name = "switch.process",
	.title = "a context switch between two processes",
	.method = "half a round of a byte through two pipes between processes on one CPU",
	.prediction = "switch.thread",
	.subtract = "pipe.self",
	.claim = { .made = true, .range = { { 1, 2 }, { 2, 2 }, { 0, 0 }, { 0, 0 } } },
	.own_share = 0.5,
	.prepare = op_switch_start_process,
	.run = op_switch_run_switch,
};

const struct bench_operation op_switch_thread = {
	.name = "switch.thread",
	.title = "a context switch between two threads in a process",
	.method = "half a round of a byte through two pipes between threads on one CPU",
	.prediction = "2 * cpu.syscall",
	.subtract = "pipe.self",
	.claim = { .made = true, .range = { { 1, 2 }, { 2, 2 }, { 0, 0 }, { 0, 0 } } },
	.prepare = op_switch_start_thread,
	.run = op_switch_run_switch,
};

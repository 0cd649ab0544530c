// SPDX-License-Identifier: GPL-2.0-only
/*
 * Process creation, exit and wait: fork, clone with shared memory, vfork with exec. The parent is
 * the worker, which has the memory of a small program.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/suite/ops/op_registry.h"

#define PROGRAM	    "/bin/true"
#define STACK_BYTES 65536

static int op_process_wait(pid_t pid, int wanted)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == wanted ? 0 : -ECHILD;
}

static int op_process_run_fork(struct bench *bench, uint64_t n)
{
	int err = 0;
	uint64_t i;
	pid_t pid;

	bench_start(bench);
	for (i = 0; i < n && !err; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		err = pid < 0 ? -errno : op_process_wait(pid, 0);
	}
	bench_stop(bench);
	return err;
}

static int op_process_prepare_stack(struct bench *bench)
{
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED)
		return -errno;
	bench->state = stack;
	return 0;
}

static int op_process_exit_at_once(void *argument)
{
	(void)argument;
	return 0;
}

/* With CLONE_VM neither page tables nor pages are copied. */
static int op_process_run_clone(struct bench *bench, uint64_t n)
{
	char *stack = bench->state;
	int err = 0;
	uint64_t i;
	pid_t pid;

	bench_start(bench);
	for (i = 0; i < n && !err; i++) {
		pid = clone(op_process_exit_at_once, stack + STACK_BYTES, CLONE_VM | SIGCHLD, NULL);
		err = pid < 0 ? -errno : op_process_wait(pid, 0);
	}
	bench_stop(bench);
	return err;
}

static int op_process_prepare_program(struct bench *bench)
{
	if (access(PROGRAM, X_OK))
		return bench_refuse(bench, -errno, "cannot run %s: %s", PROGRAM, strerror(errno));
	return 0;
}

static int op_process_run_vfork_exec(struct bench *bench, uint64_t n)
{
	char *const arguments[] = { PROGRAM, NULL }, *const environment[] = { NULL };
	int err = 0;
	uint64_t i;
	pid_t pid;

	bench_start(bench);
	for (i = 0; i < n && !err; i++) {
		pid = vfork();
		if (!pid) {
			execve(PROGRAM, arguments, environment);
			_exit(127);
		}
		err = pid < 0 ? -errno : op_process_wait(pid, 0);
	}
	bench_stop(bench);
	return err;
}

const struct bench_operation op_fork = {
	.name = "process.fork",
	.title = "fork, child exit, wait",
	.method = "the child exits at once; the parent has a small program's memory",
	.prediction = "4 * cpu.syscall + 2 * switch.process + 20 * fault.cow",
	.claim = { .made = true, .range = { { 1, 6 }, { 2, 20 }, BENCH_ANY, { 0, 0 } } },
	.run = op_process_run_fork,
};

const struct bench_operation op_clone = {
	.name = "process.clone",
	.title = "clone with shared memory, child exit, wait",
	.method = "clone(2) with CLONE_VM and a separate stack; the child exits at once",
	.prediction = "4 * cpu.syscall + 2 * switch.thread",
	.claim = { .made = true, .range = { { 1, 6 }, { 2, 20 }, BENCH_ANY, { 0, 0 } } },
	.prepare = op_process_prepare_stack,
	.run = op_process_run_clone,
};

const struct bench_operation op_vfork_exec = {
	.name = "process.vfork_exec",
	.title = "vfork, exec of " PROGRAM ", its exit, wait",
	.method = "a program with a dynamic C library starts and exits",
	.prediction = "process.clone + 40 * cpu.syscall + 100 * fault.cached + 40 * fault.cow",
	.claim = { .made = true, .range = { { 1, 100 }, { 3, 1000 }, { 1, 1e9 }, BENCH_ANY } },
	.prepare = op_process_prepare_program,
	.run = op_process_run_vfork_exec,
};

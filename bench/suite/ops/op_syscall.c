// SPDX-License-Identifier: GPL-2.0-only
/*
 * A system call that does almost nothing. It goes through syscall(2), since a C library may cache
 * the result of getppid(2).
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/suite/ops/op_registry.h"

static int op_syscall_run(struct bench *bench, uint64_t n)
{
	uint64_t i;

	bench_start(bench);
	for (i = n; i; i--)
		syscall(SYS_getppid);
	bench_stop(bench);
	return 0;
}

const struct bench_operation op_syscall = {
	.name = "cpu.syscall",
	.title = "a minimal system call (getppid)",
	.method = "getppid through syscall(2), in a loop",
	.prediction = "20 * cpu.call:1",
	.subtract = "cpu.loop",
	.claim = { .made = true, .range = { { 0, 0 }, { 1, 1 }, { 0, 0 }, { 0, 0 } } },
	.run = op_syscall_run,
};

// SPDX-License-Identifier: GPL-2.0-only
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/ops/op_registry.h"

/* By syscall(2): a C library may remember what it was told the first time. */
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
	.method = "getppid by syscall(2), in a loop",
	.prediction = "20 * cpu.call:1",
	.subtract = "cpu.loop",
	.claim = { .made = true, .range = { { 0, 0 }, { 1, 1 }, { 0, 0 }, { 0, 0 } } },
	.run = op_syscall_run,
};

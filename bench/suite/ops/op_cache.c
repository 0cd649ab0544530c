// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sizes of caches and cache lines, and the latency beyond the caches. These rows are not
 * measured: derived.c infers them from the rows in op_latency.c.
 */
#include "bench/suite/ops/op_registry.h"

#define FROM_SWEEP                                                          \
	"the largest size at which loads with stride 64 are as fast as in " \
	"smaller memory"

const struct bench_operation op_l1 = {
	.name = "memory.l1",
	.unit = BENCH_BYTES,
	.title = "first-level cache size",
	.method = FROM_SWEEP,
	.hardware = "cache_1",
	.derived_from = "memory.latency",
};

const struct bench_operation op_l2 = {
	.name = "memory.l2",
	.unit = BENCH_BYTES,
	.title = "second-level cache size",
	.method = FROM_SWEEP,
	.hardware = "cache_2",
	.derived_from = "memory.latency",
};

const struct bench_operation op_l3 = {
	.name = "memory.l3",
	.unit = BENCH_BYTES,
	.title = "usable third-level cache size",
	.method = FROM_SWEEP,
	.hardware = "cache_3",
	.derived_from = "memory.latency",
};

const struct bench_operation op_line = {
	.name = "memory.line",
	.unit = BENCH_BYTES,
	.title = "cache line size",
	.method = "the smallest distance at which memory.pair's second load misses too",
	.hardware = "cache_line",
	.derived_from = "memory.pair",
};

const struct bench_operation op_dram = {
	.name = "memory.dram",
	.title = "a load that misses all caches",
	.method = "memory.latency at the largest size with stride 64, beyond all caches",
	.derived_from = "memory.latency",
};

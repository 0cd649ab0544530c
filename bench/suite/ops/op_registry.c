// SPDX-License-Identifier: GPL-2.0-only
/* The array of all operations, made from the list in op_registry.h, in the list's order. */
#include "bench/suite/ops/op_registry.h"
#include "util/array.h"

#define ADDRESS_OF(operation) &operation,

const struct bench_operation *const bench_operations[] = { BENCH_OPERATIONS(ADDRESS_OF) };

const size_t bench_nr_operations = ARRAY_SIZE(bench_operations);

/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory to measure on. */
#ifndef PFSTAT_USER_BENCH_MEMORY_H
#define PFSTAT_USER_BENCH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Huge pages where the kernel has some, or none at all. NULL and errno. */
void *bench_memory_map(uint64_t bytes, bool huge_pages);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory to measure on, and the names of sizes. */
#ifndef PFSTAT_USER_BENCH_MEMORY_H
#define PFSTAT_USER_BENCH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Huge pages where the kernel has some, or none at all. NULL and errno. */
void *memory_map(uint64_t bytes, bool huge_pages);

/* "48K", "4M", "96": exact, as size_parse() reads it. */
void memory_name(uint64_t bytes, char *name, size_t size);

#endif

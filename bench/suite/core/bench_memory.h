/* SPDX-License-Identifier: GPL-2.0-only */
/* Anonymous memory for the operations in the "memory" family. */
#ifndef PFSTAT_USER_BENCH_MEMORY_H
#define PFSTAT_USER_BENCH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * @huge_pages: use huge pages if the kernel has some, or never if false
 * Returns NULL and sets errno.
 */
void *bench_memory_map(uint64_t bytes, bool huge_pages);

#endif

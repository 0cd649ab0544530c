/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes and numbers in command line notation. */
#ifndef PFSTAT_USER_SIZE_H
#define PFSTAT_USER_SIZE_H

#include <stddef.h>
#include <stdint.h>

/* Decimal digits and an optional K, M or G (powers of 1024). Returns 0, -EINVAL or -ERANGE. */
int size_parse(const char *text, uint64_t *size);

/* The exact text size_parse() reads back: "48K", "4M", "96". */
void size_name(uint64_t bytes, char *name, size_t size);

#endif

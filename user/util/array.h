/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_ARRAY_H
#define PFSTAT_USER_ARRAY_H

#include <stddef.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Makes space in *array for one element of @size bytes after the first @nr. The capacity doubles,
 * so an element costs constant time. Returns 0, or -ENOMEM and leaves the array as it was.
 */
int array_reserve(void **array, size_t nr, size_t *capacity, size_t size);

#endif

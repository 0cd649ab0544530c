// SPDX-License-Identifier: GPL-2.0-only
/* Arrays that grow while elements are appended. The caller frees them with free(3). */
#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

#define FIRST_CAPACITY 16

int array_reserve(void **array, size_t nr, size_t *capacity, size_t size)
{
	const size_t wanted = *capacity ? 2 * *capacity : FIRST_CAPACITY;
	void *larger;

	if (nr < *capacity)
		return 0;
	larger = reallocarray(*array, wanted, size);
	if (!larger)
		return -ENOMEM;
	*array = larger;
	*capacity = wanted;
	return 0;
}

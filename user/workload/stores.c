// SPDX-License-Identifier: GPL-2.0-only
/* Parses the share of accesses that store. A nonzero share must not be rounded to 0. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/stores.h"

int stores_parse(const char *text, uint64_t *share)
{
	/* strtod() would also accept "nan", "0x1p-3" and " 1". */
	const size_t length = strspn(text, "0123456789.");
	double ratio;
	char *end;

	if (!length)
		return -EINVAL;
	ratio = strtod(text, &end);
	if (end != text + length)
		return -EINVAL;
	if (!strcmp(end, "%"))
		ratio /= 100;
	else if (*end)
		return -EINVAL;
	if (ratio > 1)
		return -ERANGE;
	/* A share rounding to 0 would silently store nothing. */
	if (ratio > 0 && ratio * STORES_ALL < 0.5)
		return -ERANGE;
	*share = llround(ratio * STORES_ALL);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A chain of array expressions, each with a new temporary: temporaries STEPS [out]. malloc() maps
 * 36 MiB arrays anew and free() unmaps them, so all array pages fault again in the next step. out:
 * each step writes into the same array.
 */
#include "complaint.h"

#define COUNT (36 * MIB / sizeof(double))

static __attribute__((noinline)) void scale(double *to, const double *from, double by)
{
	size_t i;

	for (i = 0; i < COUNT; i += 64)
		to[i] = from[i] * by + 1;
}

int main(int argc, char **argv)
{
	const unsigned long steps = number_of(argc, argv, 1, 6);
	const bool in_place = is_word(argc, argv, 2, "out");
	double *values = calloc(COUNT, sizeof(*values));
	double *result = in_place ? calloc(COUNT, sizeof(*result)) : NULL;
	double total = 0;
	unsigned long i;

	if (!values || (in_place && !result))
		err(1, "calloc");
	for (i = 0; i < steps; i++) {
		double *step = in_place ? result : malloc(COUNT * sizeof(*step));

		if (!step)
			err(1, "malloc");
		scale(step, values, (double)i);
		total += step[64];
		if (!in_place)
			free(step);
	}
	printf("%lu steps, %.0f\n", steps, total);
	return 0;
}

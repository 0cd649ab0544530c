// SPDX-License-Identifier: GPL-2.0-only
#include <time.h>

#include "run/phases.h"
#include "util/time_ns.h"

void step_begin(struct steps *steps, enum step step)
{
	struct step_marks *marks = &steps->marks[step];

	marks->made = true;
	getrusage(RUSAGE_THREAD, &marks->before);
	marks->start_ns = clock_monotonic_ns();
}

void step_end(struct steps *steps, enum step step)
{
	struct step_marks *marks = &steps->marks[step];

	marks->end_ns = clock_monotonic_ns();
	getrusage(RUSAGE_THREAD, &marks->after);
}

void steps_warm_up(void)
{
	struct steps steps;

	step_begin(&steps, STEP_ACCESS);
	step_end(&steps, STEP_ACCESS);
}

/* An access is a byte of a page or a line that moves: a rate would mislead. */
static bool has_bytes(enum step step, bool to_file)
{
	return step != STEP_ACCESS && (step != STEP_MSYNC || to_file);
}

void steps_figures(const struct steps *steps, uint64_t bytes, bool to_file,
		   struct step_figures figures[NR_STEPS])
{
	const struct step_marks *marks;
	enum step step;

	for (step = 0; step < NR_STEPS; step++) {
		marks = &steps->marks[step];
		figures[step] = (struct step_figures){ .made = marks->made };
		if (!marks->made)
			continue;
		figures[step].elapsed_ns = marks->end_ns - marks->start_ns;
		figures[step].bytes = has_bytes(step, to_file) ? bytes : COUNT_NA;
		figures[step].usage = usage_between(&marks->before, &marks->after);
	}
}

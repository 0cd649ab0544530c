// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints fault time by call path in the folded flame graph format: one line for each path, with the
 * frames from the outermost to the innermost and the time in µs. inferno, flamegraph.pl and
 * speedscope read it.
 */
#include <errno.h>
#include <inttypes.h>

#include "print/printers.h"

/* A path ends at a blank and a number, so only the last blank counts. */
static void print_folded_path(FILE *out, const char *path)
{
	for (; *path; path++)
		fputc((unsigned char)*path < ' ' || *path == 0x7f ? '?' : *path, out);
}

/* Only for one run, with groups, which are call paths. */
int print_folded(FILE *out, const struct view *views, size_t nr)
{
	const struct report *run = views->run;
	size_t i;

	if (nr != 1)
		return -EINVAL;
	for (i = 0; i < run->groups.nr; i++) {
		print_folded_path(out, run->groups.rows[i].name);
		fprintf(out, " %" PRIu64 "\n", (run->groups.rows[i].total_ns + 500) / 1000);
	}
	return 0;
}

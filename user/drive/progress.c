// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints how far a run is. The collector's thread calls it at each tick; the accesses only count.
 */
#include <stdio.h>
#include <unistd.h>

#include "drive/progress.h"

#define TICK_MS 500

int progress_tick_ms(void)
{
	return isatty(STDERR_FILENO) ? TICK_MS : -1;
}

void progress_tick(void *context)
{
	struct progress *progress = context;
	unsigned int percent = 100.0 * progress->watch->done / progress->accesses;

	fputs("\r", stderr);
	if (progress->of > 1)
		fprintf(stderr, "run %u of %u, ", progress->number, progress->of);
	fprintf(stderr, "%u %% ", percent);
	fflush(stderr);
	progress->shown = true;
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}

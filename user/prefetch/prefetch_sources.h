/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads recordings of a program start: the pages each recording needed, and the paths of the files.
 */
#ifndef PFSTAT_USER_PREFETCH_SOURCES_H
#define PFSTAT_USER_PREFETCH_SOURCES_H

#include <stddef.h>
#include <stdint.h>

#include "prefetch/needed_pages.h"
#include "prefetch/prefetch_plan.h"
#include "system/inode_paths.h"

/* One recording. */
struct prefetch_source {
	const char *recording;
	int64_t started_s;	   /* since 1970, 0 if not known */
	struct needed_page *pages; /* in order of first use */
	size_t nr_pages;
	struct needed_pages_figures figures;
	bool has_requests; /* recorded with eBPF, but there may have been none */
	bool is_perf;
};

struct prefetch_sources {
	struct prefetch_source *runs;
	unsigned int nr_runs;
	struct inode_path *files; /* from all recordings, by device and inode */
	size_t nr_files;
};

/*
 * Reads the recordings, and finds the paths of files without a mapping that names them. Returns
 * STATUS_OK, or the exit status after a message or a signal. Call prefetch_sources_exit() in any
 * case.
 */
int prefetch_sources_read(struct prefetch_sources *sources, char *const *recordings,
			  unsigned int nr);
void prefetch_sources_exit(struct prefetch_sources *sources);
/* Index in files. */
size_t prefetch_sources_file(const struct prefetch_sources *sources,
			     const struct needed_page *page);

#endif

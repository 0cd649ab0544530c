/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What recordings of a program start tell: the pages each recording needed, and the paths of the
 * files.
 */
#ifndef PFSTAT_APPS_PREFETCH_SOURCES_H
#define PFSTAT_APPS_PREFETCH_SOURCES_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/fault/explain.h"
#include "prefetch/prefetch.h"

/*
 * The file pages needed by a recorded program, in order of first use:
 *
 *	- the page of each solved fault of a file, also if it was already in the page cache;
 *	- the pages that fault-around mapped with it: those of its window that a request had read by
 *	  then. If no request read the faulted page itself, it was cached before, and the cached
 *	  pages of its window are unknown: all of the window counts.
 *	- the pages of requests that no fault submitted: read(2), execve(2), madvise(2).
 *
 * In an exact recording each first touch of a page is a fault, so only the pages of faults and of
 * requests that no fault submitted are needed.
 *
 * Pages brought only by a fault's read-ahead, and mapped by nothing, are not needed.
 */

/*
 * Limit for faults, for pages read, and for pages used. If more are needed, it is not a program
 * start.
 */
#define NEEDED_PAGES_MAX (1U << 22)

struct needed_page {
	uint64_t inode, pgoff;
	uint32_t dev; /* as in pfstat_record */
	uint64_t first_ns;
	/*
	 * The page's share of the faults waiting for the disk. Each fault's time is divided equally
	 * among the needed pages in the request it waited for.
	 */
	uint64_t fault_ns;
	uint64_t read_ns; /* its share of the requests not submitted by a fault, until completion */
};

struct needed_pages_figures {
	uint64_t cached; /* pages faulting though no request had read them: cached before */
	uint64_t around; /* pages mapped around a fault, on which nothing faulted */
	uint64_t fault_ns, read_ns;
};

struct needed_pages;

struct needed_pages *needed_pages_new(uint64_t page_bytes);
void needed_pages_free(struct needed_pages *needed);
/* Faults that begin before this do not count: the program had not been executed yet. */
void needed_pages_start(struct needed_pages *needed, uint64_t ns);
/* Both return 0, -ENOMEM, or -E2BIG: beyond the limit. */
int needed_pages_add_block(struct needed_pages *needed, const struct pfstat_block *block);
int needed_pages_add_fault(struct needed_pages *needed, const struct explained *fault);
/*
 * After the last item: finds the pages, in order of first use. @exact: each fault needs its own
 * page only. *pages is valid until needed_pages_free(). Returns 0, -ENOMEM or -E2BIG.
 */
int needed_pages_finish(struct needed_pages *needed, bool exact, const struct needed_page **pages,
			size_t *nr, struct needed_pages_figures *figures);

/*
 * Finds the paths of files with a known device and inode. The kernel keeps no path for an inode, so
 * this code reads the folders in the mounted file systems until all are found.
 */

struct inode_path {
	uint64_t inode;
	uint32_t dev; /* major << 20 | minor, as in pfstat_record */
	char *path;   /* NULL if not found; the caller frees it */
};

/*
 * Sorts the entries by device and inode. Sets the path for regular files in a folder which this
 * process may read. Entries with a path already are not searched. Returns 0, -ENOMEM, -EINTR after
 * @stop, or an error from reading /proc/self/mountinfo.
 */
int inode_paths_find(struct inode_path *entries, size_t nr, const volatile sig_atomic_t *stop);

/* One recording. */
struct prefetch_source {
	const char *recording;
	int64_t started_s;	   /* since 1970, 0 if not known */
	struct needed_page *pages; /* in order of first use */
	size_t nr_pages;
	struct needed_pages_figures figures;
	bool has_requests; /* recorded with eBPF, but there may have been none */
	bool is_perf;
	bool exact; /* each first touch of a page is a fault */
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

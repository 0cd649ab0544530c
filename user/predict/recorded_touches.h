/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files in a recording, and the accesses by which the program faulted: what the model of
 * analyze/prediction/ takes.
 */
#ifndef PFSTAT_USER_RECORDED_TOUCHES_H
#define PFSTAT_USER_RECORDED_TOUCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/prediction/prediction.h"
#include "model/environment.h"
#include "util/hash.h"
#include "util/why.h"

struct touched_file {
	char *path;
	uint64_t inode;
	uint32_t dev;
	bool executed;	    /* a mapping may be executed: code, not data */
	const char *shaped; /* a call that the model does not follow, one clause, or NULL */
	bool by_libc;	    /* libc maps it itself, so record --exact does not reach it */
	bool by_threads;    /* several threads touched one mapping */
	uint64_t faults, major;
	uint64_t accessed;	 /* distinct pages */
	uint64_t accessed_major; /* of these, the first fault was major */
	uint64_t read_again;	 /* major faults on a page that had faulted before */
	uint64_t end;		 /* 1 + the highest page accessed */
	uint64_t pages;		 /* size now, or as far as mapped */
	bool size_known;
	int64_t readahead_bytes; /* -1: not known */
	char type[32];		 /* of the file system, "" if not known */
	const char *left_out;	 /* the reason, one clause, or NULL */
	struct cached_file seen; /* while the recording is read */
};

struct touched_mapping {
	struct access_mapping mapping;
	uint64_t address, bytes;
	uint32_t file, pid;
	uint32_t tid;	  /* the first thread that touched it, 0: none */
	bool state_known; /* perf: its advice was seen while it was in use */
};

struct touch {
	uint64_t offset; /* of the touched byte in the file */
	struct access access;
	struct access_time time;
};

struct recorded_touches {
	struct environment environment;
	struct touched_file *files;
	size_t nr_files, file_capacity;
	struct touched_mapping *mappings;
	size_t nr_mappings, mapping_capacity;
	struct access_stream *streams;
	size_t nr_streams, stream_capacity;
	struct touch *touches; /* by start */
	size_t nr_touches, touch_capacity;
	bool exact;	  /* record --exact reached all mappings but those by libc */
	bool have_advice; /* the program's madvise(2) calls were recorded */
	bool complete;	  /* the recording has its end */
	uint64_t lost;	  /* records or samples, COUNT_NA: not known */
	uint64_t libc_mappings;
	uint64_t unplaced; /* faults in no known mapping */
	uint64_t states;   /* perf: mappings whose advice was seen */
	bool untimed;	   /* the whole duration of a fault is not known */
	/* While the recording is read. */
	struct hash by_place, by_file, by_stream;
	struct spaces *spaces;
};

/*
 * Returns 0, -EINTR after a signal, or another negative errno with a clause in why. A damaged
 * recording is used up to the damage, after a message.
 */
int recorded_touches_read(struct recorded_touches *touches, const char *recording, struct why *why);
void recorded_touches_exit(struct recorded_touches *touches);

/* Why the model cannot follow the recorded machine, one clause, or NULL. */
const char *recorded_touches_unpredictable(const struct recorded_touches *touches);
/* The file system is one on which the rule was compared with the kernel. */
bool touched_file_is_validated(const struct touched_file *file);

/* What the model takes. */
struct touch_list {
	struct access_list list;
	uint64_t *pages, *windows;
	struct access_mapping *mappings;
	struct access *accesses;
	struct access_time *times;
};

/* Without the accesses to files left out. Returns 0 or -ENOMEM. */
int touch_list_make(struct touch_list *made, const struct recorded_touches *touches);
/* Also after -ENOMEM. */
void touch_list_free(struct touch_list *made);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfdrive what-if: the first accesses in a recording, the settings to predict, and why some cannot
 * be predicted.
 */
#ifndef PFSTAT_APPS_WHAT_IF_H
#define PFSTAT_APPS_WHAT_IF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/prediction/prediction.h"
#include "model/environment.h"
#include "util/hash.h"
#include "util/subcommand.h"

/* Why a file is left out: --file names another one. */
#define WHAT_IF_OTHER_FILE "--file names another one"

/* The files in a recording, and the accesses by which the program faulted. */

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
 * Returns STATUS_OK, or the exit status after a message or for a signal. A damaged recording is
 * used up to the damage, after a message.
 */
int recorded_touches_read(struct recorded_touches *touches, const char *recording);
void recorded_touches_exit(struct recorded_touches *touches);

/* The settings. */

#define WHAT_IF_VALUES 16 /* of one option */
#define WHAT_IF_ROWS   512

struct what_if_options {
	const char *recording;
	const char *file;		    /* NULL: all */
	const char *json;		    /* NULL: none */
	uint64_t readahead[WHAT_IF_VALUES]; /* in bytes */
	size_t nr_readahead;
	enum mapping_advice advice[MAPPING_NR_ADVICES];
	size_t nr_advice;
	uint64_t around[WHAT_IF_VALUES];
	size_t nr_around;
};

struct what_if_row {
	struct prediction_settings settings;
	const char *cannot;  /* the reason, one clause, or NULL if it is predicted */
	const char *no_time; /* the same for the time */
	struct fault_prediction prediction;
};

struct what_if {
	struct what_if_options options;
	struct recorded_touches touches;
	bool exact;		/* each access is in the recording */
	uint64_t faults, major; /* recorded, on the files not left out */
	uint64_t read_again;
	int64_t readahead_bytes; /* as recorded, -1: it differs between files, or is not known */
	uint64_t around_bytes;	 /* as recorded */
	bool around_known;
	struct read_cost cost;
	const char *no_time; /* why no time is predicted, one clause, or NULL */
	struct what_if_row rows[WHAT_IF_ROWS];
	size_t nr_rows;
	size_t best; /* nr_rows: none */
};

/* Returns STATUS_OK, or the exit status after a message or for a signal. */
int what_if_run(struct what_if *what_if);
void what_if_exit(struct what_if *what_if);

extern const struct subcommand what_if_command;

#endif

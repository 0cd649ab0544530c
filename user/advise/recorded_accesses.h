/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording's files, mappings and the accesses of all threads. */
#ifndef PFSTAT_USER_RECORDED_ACCESSES_H
#define PFSTAT_USER_RECORDED_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "advise/access_plan.h"
#include "util/hash.h"

struct accessed_file {
	char *path;
	uint64_t inode;
	bool executable; /* one of the mappings may be executed: code, not data */
	bool cold;	 /* the recording read some pages from the device */
	bool advised;	 /* candidates change the advice for these mappings */
	uint64_t faults, fault_ns;
	uint64_t stores;	  /* among these faults */
	uint64_t pages;		  /* 1 + the highest faulting page */
	const char *left_out;	  /* the reason, one clause, or NULL if it is replayed */
	bool changed;		  /* modified after the recording */
	char setting[128];	  /* the read-ahead setting, "" if none is exported */
	uint64_t readahead_bytes; /* 0: not known */
};

struct accessed_mapping {
	uint64_t address, bytes;
	uint64_t pgoff;
	uint32_t pid;
	uint32_t file; /* index */
	bool shared;
	bool inherited;	    /* by fork(2), or the rest after another mapping cut it in two */
	bool before;	    /* it existed before the recording */
	int initial_advice; /* MADV_RANDOM or MADV_SEQUENTIAL before the recording, else -1 */
	bool no_advice;	    /* it existed before, with unknown advice */
	bool advised;	    /* in the recording */
	bool used;	    /* a fault in it is replayed */
};

struct recorded_accesses {
	struct accessed_file *files;
	size_t nr_files, file_capacity;
	struct accessed_mapping *mappings;
	size_t nr_mappings, mapping_capacity;
	struct access_plan plan;
	struct hash by_place;  /* 1 + index of a process's latest mapping at an address */
	struct hash by_name;   /* 1 + file index, by path and inode */
	struct hash by_inode;  /* 1 + index of the first file with an inode */
	struct spaces *spaces; /* the current mappings, while the recording is read */

	int64_t started_s; /* 0: not known */
	uint64_t start_ns, end_ns;
	uint64_t lost, events_lost; /* COUNT_NA: not known */
	bool have_bpf, have_advice;
	bool by_perf;			/* lost events are lost accesses */
	bool fault_around;		/* it was on */
	uint64_t around_pages;		/* possibly mapped by fault-around beside a fault's own */
	bool populated;			/* the program called MADV_POPULATE_READ */
	uint64_t advices;		/* recorded madvise(2) calls */
	uint64_t unplaced, unplaced_ns; /* faults on files in no known mapping */
	/* File faults that are not replayed: stores to mapped pages, and failed faults. */
	uint64_t not_repeated, not_repeated_ns;
};

/*
 * Reads the recording. Returns STATUS_OK, or the exit status after a message or for a signal. A
 * damaged recording is used up to the damage, after a message.
 */
int recorded_accesses_read(struct recorded_accesses *accesses, const char *recording);
void recorded_accesses_exit(struct recorded_accesses *accesses);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The files, the mappings and the accesses of all threads of a recording. */
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
	bool executable; /* a mapping of it may be executed: code, not data */
	bool cold;	 /* the recording read pages of it from its device */
	bool advised;	 /* candidates change the advice of its mappings */
	uint64_t faults, fault_ns;
	uint64_t stores;	  /* of these faults */
	uint64_t pages;		  /* 1 + the highest page that faulted */
	const char *left_out;	  /* the reason, one clause; NULL: it is replayed */
	bool changed;		  /* modified after the recording */
	char setting[128];	  /* of its read-ahead; "": none is exported */
	uint64_t readahead_bytes; /* 0: not known */
};

struct accessed_mapping {
	uint64_t address, bytes;
	uint64_t pgoff;
	uint32_t pid;
	uint32_t file; /* index */
	bool shared;
	bool inherited;	    /* by fork(2), or the rest of one that another mapping cut in two */
	bool before;	    /* it existed before the recording */
	int initial_advice; /* MADV_RANDOM or MADV_SEQUENTIAL before the recording; -1: none */
	bool no_advice;	    /* it existed before, and its advice then is not known */
	bool advised;	    /* in the recording */
	bool used;	    /* a fault of it is replayed */
};

struct recorded_accesses {
	struct accessed_file *files;
	size_t nr_files, file_capacity;
	struct accessed_mapping *mappings;
	size_t nr_mappings, mapping_capacity;
	struct access_plan plan;
	struct hash by_place;  /* 1 + index of the latest mapping at an address of a process */
	struct hash by_name;   /* 1 + index of a file, by path and inode */
	struct hash by_inode;  /* 1 + index of the first file with an inode */
	struct spaces *spaces; /* the mappings of now, while the recording is read */

	int64_t started_s; /* 0: not known */
	uint64_t start_ns, end_ns;
	uint64_t lost, events_lost; /* COUNT_NA: not known */
	bool have_bpf, have_advice;
	bool by_perf;			/* lost events are lost accesses */
	bool fault_around;		/* it was on */
	uint64_t around_pages;		/* that fault-around may have mapped beside a fault's own */
	bool populated;			/* the program called MADV_POPULATE_READ */
	uint64_t advices;		/* recorded calls of madvise(2) */
	uint64_t unplaced, unplaced_ns; /* faults of files in no known mapping */
	/* Faults of files that are not replayed: stores to mapped pages, and failed faults. */
	uint64_t not_repeated, not_repeated_ns;
};

/*
 * Reads the recording. Returns STATUS_OK, or the exit status after a message or for a signal. A
 * damaged recording is used up to the damage, after a message.
 */
int recorded_accesses_read(struct recorded_accesses *accesses, const char *recording);
void recorded_accesses_exit(struct recorded_accesses *accesses);

#endif

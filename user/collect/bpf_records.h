/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records that eBPF programs write for file operation calls: the programs, the rings, and the
 * files they are restricted to.
 */
#ifndef PFSTAT_USER_BPF_RECORDS_H
#define PFSTAT_USER_BPF_RECORDS_H

#include <stdint.h>

#include "collect/record_ring.h"

struct bpf_targets;
struct pfstat_bpf;

/*
 * Call before the programs are loaded. ring_bytes: per ring, rounded up to a power of two in
 * records. 0: the default. -EOPNOTSUPP: the kernel lacks a function. Or another negative errno.
 */
int bpf_records_configure(struct pfstat_bpf *bpf, const struct bpf_targets *targets,
			  uint64_t ring_bytes);

/*
 * Picoseconds the programs add to a call's own duration, the least over some batches. Call after
 * the attach. COUNT_NA: not known.
 */
uint64_t bpf_records_inside_ps(struct pfstat_bpf *bpf);

struct bpf_record_counts {
	uint64_t calls;
	uint64_t lost;		      /* among these, found no room */
	uint64_t faults, faults_lost; /* records for other faults: stored, and without room */
};

/* The rings, as the programs and this process share them. */
struct bpf_records {
	struct bpf_record_header *headers;
	const struct pfstat_record *records;
	uint64_t headers_bytes, records_bytes;
	unsigned int nr_rings;
	uint32_t capacity;		 /* records per ring */
	struct bpf_record_counts before; /* at bpf_records_forget(): to be subtracted */
};

/* After the load, before the programs are attached. 0 or a negative errno. */
int bpf_records_open(struct bpf_records *records, const struct pfstat_bpf *bpf);
void bpf_records_close(struct bpf_records *records);
void bpf_records_ring(const struct bpf_records *records, unsigned int number,
		      struct record_ring *ring);

/* Drops all records so far. No record may be in progress. */
void bpf_records_forget(struct bpf_records *records);
/* Since then. */
void bpf_records_count(const struct bpf_records *records, struct bpf_record_counts *counts);

/* From now on only calls on added files are recorded. */
void bpf_records_name_files(struct pfstat_bpf *bpf);
int bpf_records_add_file(const struct pfstat_bpf *bpf, uint64_t inode, uint32_t dev);

#endif

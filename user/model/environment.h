/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine and the conditions during a run. system/machine.h reads most of it. An empty
 * string, or a value named below, means "not available".
 */
#ifndef PFSTAT_USER_ENVIRONMENT_H
#define PFSTAT_USER_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

/* Recordings without a page size come from machines with these pages. */
#define ENVIRONMENT_PAGE_BYTES 4096U

struct environment {
	char kind[8];	   /* drive, or record (any program) */
	char version[32];  /* version of the measuring pfdrive */
	int64_t started_s; /* since 1970, UTC, 0 if n/a */
	char source[8];	   /* where call records come from: module or ebpf; "": module */
	/* What was recorded. At most one of command, pid and cgroup is set. */
	char command[1024];
	char invocation[4096]; /* pfdrive's own command line, in shell syntax */
	uint32_t pid;	       /* 0: none */
	char cgroup[4096];
	char only_file[4096];  /* only faults on this file, "" for any file */
	char host[72];	       /* uname -n, "" if n/a */
	char kernel[128];      /* uname -r */
	char architecture[16]; /* uname -m, "" if n/a */
	char machine[128];     /* CPU model */
	unsigned int cpus;     /* online */
	uint64_t memory_bytes;
	uint64_t page_bytes;
	char clocksource[32];
	uint64_t counter_hz;	 /* CPU counter ticks a second, if the CPU states them, 0 if n/a */
	char virtualization[32]; /* "none", "kvm", "qemu", … or "" unknown */
	/* From here to seed, only for a drive. */
	char file[4096];
	uint64_t file_bytes;
	uint64_t file_pages;
	char filesystem[32];	 /* ext4, … */
	char device[64];	 /* block device name, "" if none */
	int64_t readahead_bytes; /* for the file system, -1 if n/a */
	char cache[8];		 /* cold or warm */
	uint64_t resident_pages; /* verified with mincore before the run, COUNT_NA without a file */
	char pattern[32];
	uint64_t accesses;
	uint64_t seed;
	int pinned_cpu; /* -1: not pinned */
	bool fault_around;
	bool exact; /* each first touch of a file page is a fault, see struct exact_reach */
	uint64_t fault_around_bytes; /* the kernel's setting, 0 if n/a */
	uint64_t ring_bytes;	     /* for records, for each CPU, 0 if n/a */
	/* Also for a drive: the memory, and the stores to it. */
	char map[24];		       /* shared, private, anon; "+populate" */
	char backing[12];	       /* file, scratch or anonymous */
	double store_share;	       /* share of accesses with a store */
	char fill[8];		       /* msync, or "" if not filled before */
	char transparent_hugepage[12]; /* setting for anonymous memory: always, madvise, never */
};

#endif

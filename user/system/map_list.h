/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process's memory map, and the purpose of each line. Pure: proc_maps.c reads the map. The
 * kernel reports mappings but not their purpose, which follows from the name, the permissions, the
 * neighbouring lines and other facts about the process.
 */
#ifndef PFSTAT_USER_MAP_LIST_H
#define PFSTAT_USER_MAP_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "system/module_file.h"

enum map_kind {
	MAP_KIND_MEASURED,  /* range accessed by a drive */
	MAP_KIND_TEXT,	    /* code in the program or a library */
	MAP_KIND_CONSTANTS, /* read-only, as in the file */
	MAP_KIND_RELRO,	    /* read-only after the loader has filled in addresses */
	MAP_KIND_DATA,	    /* initialised variables */
	MAP_KIND_BSS,	    /* zero-initialised variables */
	MAP_KIND_GAP,	    /* no access, between a library's segments */
	MAP_KIND_HEAP,
	MAP_KIND_STACK, /* stack of the first thread */
	MAP_KIND_THREAD_STACK,
	MAP_KIND_VDSO,
	MAP_KIND_VVAR,
	MAP_KIND_VSYSCALL,
	MAP_KIND_UPROBES,
	MAP_KIND_PFSTAT_RING,
	MAP_KIND_BPF,
	MAP_KIND_PERF,
	MAP_KIND_SHARED, /* shared between processes, not a file on a disk */
	MAP_KIND_DEVICE,
	MAP_KIND_FILE,	/* any other file */
	MAP_KIND_NAMED, /* anonymous, named by prctl(2) or the kernel */
	MAP_KIND_GUARD, /* anonymous, no access */
	MAP_KIND_ANONYMOUS,
	MAP_NR_KINDS
};

/* The spelling in JSON. */
#define MAP_KIND_NAMES                                                                \
	{ "measured", "text",	 "constants",	"relro",	"data",	    "bss",    \
	  "gap",      "heap",	 "stack",	"thread_stack", "vdso",	    "vvar",   \
	  "vsyscall", "uprobes", "pfstat_ring", "bpf",		"perf",	    "shared", \
	  "device",   "file",	 "named",	"guard",	"anonymous" }

struct map_line {
	uint64_t start, end;
	uint64_t offset; /* in the file, bytes */
	uint64_t inode;
	uint32_t dev;  /* major << 20 | minor */
	uint32_t prot; /* PROT_* */
	bool shared;
	char *path;					   /* "" if there is none */
	uint64_t resident, pss, dirty, anonymous, swapped; /* bytes, COUNT_NA if n/a */
	enum map_kind kind;
	pid_t thread; /* only for MAP_KIND_THREAD_STACK */
	bool hooked;
	bool advice_known;  /* smaps has flags: CONFIG_PROC_PAGE_MONITOR */
	uint32_t advice;    /* enum mapping_advice */
	uint64_t ra_pages;  /* for the open file, if the module has hooked it, COUNT_NA if n/a */
	uint64_t mmap_miss; /* the same */
};

/* A thread sleeping in the kernel, so the stack pointer is known. */
struct map_thread {
	pid_t tid;
	uint64_t stack_pointer;
};

struct map_range {
	uint64_t start, end;
};

struct map_list {
	pid_t pid;
	char program[4096];	   /* /proc/PID/exe, "" if n/a */
	struct map_range measured; /* end 0: none */
	struct map_line *lines;	   /* sorted by address */
	size_t nr_lines, room;
	struct map_thread *threads;
	size_t nr_threads;
	bool hooks_known; /* false: the hooked ranges are not available */
	struct hooked_mapping *hooked;
	size_t nr_hooked;
};

/* Sets each line's kind, thread, hooked and read-ahead. */
void map_list_explain(struct map_list *list);
void map_list_exit(struct map_list *list);

/* Writes a description of the line for the reader. */
void map_line_explain(const struct map_line *line, const struct map_list *list, char *text,
		      size_t size);
/* The most that a read-ahead on the line's open file reads, in bytes, COUNT_NA if n/a. */
uint64_t map_line_ra_bytes(const struct map_line *line);
const char *map_kind_name(enum map_kind kind);

#endif

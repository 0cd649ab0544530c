/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process's memory map, and what each line of it is. Pure; collect/smaps.c
 * reads it. The kernel says what is mapped, not what for: what a line is follows
 * from its name, its rights, the lines beside it, and what is known of the process.
 */
#ifndef PFSTAT_USER_VMA_KIND_H
#define PFSTAT_USER_VMA_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum map_kind {
	MAP_KIND_MEASURED,  /* what a drive makes its accesses to */
	MAP_KIND_TEXT,	    /* of the program or a library: code */
	MAP_KIND_CONSTANTS, /* read-only, as in the file */
	MAP_KIND_RELRO,	    /* read-only since the loader has filled in addresses */
	MAP_KIND_DATA,	    /* initialised variables */
	MAP_KIND_BSS,	    /* variables that begin as 0 */
	MAP_KIND_GAP,	    /* of a library: no access, between its segments */
	MAP_KIND_HEAP,
	MAP_KIND_STACK, /* the first thread's */
	MAP_KIND_THREAD_STACK,
	MAP_KIND_VDSO,
	MAP_KIND_VVAR,
	MAP_KIND_VSYSCALL,
	MAP_KIND_UPROBES,
	MAP_KIND_PFSTAT_RING,
	MAP_KIND_BPF,
	MAP_KIND_PERF,
	MAP_KIND_SHARED, /* memory shared between processes, without a file on a disk */
	MAP_KIND_DEVICE,
	MAP_KIND_FILE,	/* any other */
	MAP_KIND_NAMED, /* anonymous, with a name by prctl(2) or the kernel */
	MAP_KIND_GUARD, /* anonymous, no access */
	MAP_KIND_ANONYMOUS,
	MAP_NR_KINDS
};

/* As they are spelled in JSON. */
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
	char *path;					   /* "" when there is none */
	uint64_t resident, pss, dirty, anonymous, swapped; /* bytes; COUNT_NA: n/a */
	enum map_kind kind;
	pid_t thread; /* of MAP_KIND_THREAD_STACK */
	bool hooked;
};

/* A thread that sleeps in the kernel: where its stack is, is known. */
struct map_thread {
	pid_t tid;
	uint64_t stack_pointer;
};

struct map_range {
	uint64_t start, end;
};

struct map_list {
	pid_t pid;
	char program[4096];	   /* /proc/PID/exe; "": n/a */
	struct map_range measured; /* end 0: none */
	struct map_line *lines;	   /* by address */
	size_t nr_lines, room;
	struct map_thread *threads;
	size_t nr_threads;
	bool hooks_known; /* false: whether anything is hooked is n/a */
	struct map_range *hooked;
	size_t nr_hooked;
};

/* Sets kind, thread and hooked of each line. */
void map_list_explain(struct map_list *list);
void map_list_exit(struct map_list *list);

/* A sentence for people. */
void map_line_explain(const struct map_line *line, const struct map_list *list, char *text,
		      size_t size);
const char *map_kind_name(enum map_kind kind);

#endif

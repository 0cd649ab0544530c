// SPDX-License-Identifier: GPL-2.0-only
/*
 * Derives the kind of each line in a memory map and describes it in a sentence. Pure: the list
 * comes from proc_maps.c and goes to the printers. Lines must be sorted by address, because a
 * line's kind depends on the line before.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pfstat/control.h>

#include "model/counters.h"
#include "system/map_list.h"
#include "util/array.h"

void map_list_exit(struct map_list *list)
{
	size_t i;

	for (i = 0; i < list->nr_lines; i++)
		free(list->lines[i].path);
	free(list->lines);
	free(list->threads);
	free(list->hooked);
	*list = (struct map_list){ 0 };
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Only the kernel gives these names. A file cannot have them. */
static bool kind_of_special(const char *path, enum map_kind *kind)
{
	static const struct {
		const char *begins;
		enum map_kind kind;
	} names[] = {
		{ "[heap]", MAP_KIND_HEAP },
		{ "[stack]", MAP_KIND_STACK },
		{ "[vdso]", MAP_KIND_VDSO },
		{ "[vvar", MAP_KIND_VVAR }, /* and [vvar_vclock] */
		{ "[vsyscall]", MAP_KIND_VSYSCALL },
		{ "[uprobes]", MAP_KIND_UPROBES },
		{ "[anon_shmem:", MAP_KIND_SHARED },
		{ "[", MAP_KIND_NAMED },
		{ "anon_inode:bpf", MAP_KIND_BPF },
		{ "anon_inode:[perf_event]", MAP_KIND_PERF },
		{ PFSTAT_DEVICES "/" PFSTAT_DIR_RING "/", MAP_KIND_PFSTAT_RING },
		{ PFSTAT_DEBUGFS "/" PFSTAT_DIR_RING "/", MAP_KIND_PFSTAT_RING },
		{ "/dev/zero", MAP_KIND_SHARED }, /* MAP_SHARED | MAP_ANONYMOUS */
		{ "/dev/shm/", MAP_KIND_SHARED },
		{ "/memfd:", MAP_KIND_SHARED },
		{ "/SYSV", MAP_KIND_SHARED },
		{ "/dev/", MAP_KIND_DEVICE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!begins(path, names[i].begins))
			continue;
		*kind = names[i].kind;
		return true;
	}
	return false;
}

static bool same_file(const struct map_line *a, const struct map_line *b)
{
	return a->inode && a->inode == b->inode && a->dev == b->dev;
}

/* A file is a program or library if any mapping of it is executable. */
static bool is_object(const struct map_list *list, const struct map_line *line)
{
	size_t i;

	if (!line->inode)
		return false;
	for (i = 0; i < list->nr_lines; i++)
		if (list->lines[i].prot & PROT_EXEC && same_file(line, &list->lines[i]))
			return true;
	return false;
}

/* The loader writes to relro pages before it makes them read-only, so they are anonymous. */
static enum map_kind kind_of_segment(const struct map_line *line)
{
	if (line->prot & PROT_EXEC)
		return MAP_KIND_TEXT;
	if (line->prot & PROT_WRITE)
		return MAP_KIND_DATA;
	if (!(line->prot & PROT_READ))
		return MAP_KIND_GAP;
	return line->anonymous && line->anonymous != UINT64_MAX ? MAP_KIND_RELRO :
								  MAP_KIND_CONSTANTS;
}

static enum map_kind kind_of_file(const struct map_list *list, const struct map_line *line)
{
	return is_object(list, line) ? kind_of_segment(line) : MAP_KIND_FILE;
}

static bool holds(const struct map_line *line, uint64_t address)
{
	return address >= line->start && address < line->end;
}

static pid_t thread_of(const struct map_list *list, const struct map_line *line)
{
	size_t i;

	for (i = 0; i < list->nr_threads; i++)
		if (holds(line, list->threads[i].stack_pointer))
			return list->threads[i].tid;
	return 0;
}

/*
 * If part of a data segment is not in the file, the loader maps this part directly after the
 * segment.
 */
static bool is_bss(const struct map_list *list, const struct map_line *line)
{
	const struct map_line *before = line - 1;

	return line != list->lines && before->end == line->start &&
	       line->prot == (PROT_READ | PROT_WRITE) && before->kind == MAP_KIND_DATA;
}

static enum map_kind kind_of_anonymous(const struct map_list *list, struct map_line *line)
{
	line->thread = thread_of(list, line);
	if (line->thread)
		return MAP_KIND_THREAD_STACK;
	if (is_bss(list, line))
		return MAP_KIND_BSS;
	return line->prot ? MAP_KIND_ANONYMOUS : MAP_KIND_GUARD;
}

static bool overlaps(const struct map_line *line, const struct map_range *range)
{
	return line->start < range->end && range->start < line->end;
}

/* smaps and `targets` are read one after the other, so a line may have changed in between. */
static void map_line_hook(struct map_line *line, const struct map_list *list)
{
	const struct hooked_mapping *mapping;
	size_t i;

	line->hooked = false;
	line->ra_pages = COUNT_NA;
	line->mmap_miss = COUNT_NA;
	for (i = 0; i < list->nr_hooked && !line->hooked; i++) {
		mapping = &list->hooked[i];
		line->hooked = line->start < mapping->end && mapping->start < line->end;
		if (!line->hooked || !mapping->state.known)
			continue;
		line->ra_pages = mapping->state.ra_pages;
		line->mmap_miss = mapping->state.mmap_miss;
	}
}

void map_list_explain(struct map_list *list)
{
	struct map_line *line;

	for (line = list->lines; line < list->lines + list->nr_lines; line++) {
		map_line_hook(line, list);
		if (overlaps(line, &list->measured))
			line->kind = MAP_KIND_MEASURED;
		else if (!line->path[0])
			line->kind = kind_of_anonymous(list, line);
		else if (!kind_of_special(line->path, &line->kind))
			line->kind = kind_of_file(list, line);
	}
}

uint64_t map_line_ra_bytes(const struct map_line *line)
{
	return line->ra_pages == COUNT_NA ? COUNT_NA : line->ra_pages * sysconf(_SC_PAGESIZE);
}

const char *map_kind_name(enum map_kind kind)
{
	static const char *const names[MAP_NR_KINDS] = MAP_KIND_NAMES;

	return names[kind];
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const char *const explanations[MAP_NR_KINDS] = {
	[MAP_KIND_MEASURED] = "under measurement",
	[MAP_KIND_TEXT] = "code (text)",
	[MAP_KIND_CONSTANTS] = "headers, constants",
	[MAP_KIND_RELRO] = "addresses filled in by the loader (relro)",
	[MAP_KIND_DATA] = "variables (data)",
	[MAP_KIND_BSS] = "variables that begin as 0 (bss)",
	[MAP_KIND_GAP] = "no access: keeps the parts at their distance",
	[MAP_KIND_HEAP] = "memory that malloc() got from brk(2)",
	[MAP_KIND_STACK] = "the first thread's stack",
	[MAP_KIND_VDSO] = "kernel code that the program calls: the clocks",
	[MAP_KIND_VVAR] = "kernel data for the vdso: the current time",
	[MAP_KIND_VSYSCALL] = "fixed address of three system calls, for very old programs",
	[MAP_KIND_UPROBES] = "instructions that a probe has displaced",
	[MAP_KIND_PFSTAT_RING] = "pfstat module ring buffer: records of",
	[MAP_KIND_BPF] = "an eBPF map: events, counts or variables",
	[MAP_KIND_PERF] = "perf_event_open(2) ring buffer",
	[MAP_KIND_SHARED] = "memory to be shared with other processes",
	[MAP_KIND_DEVICE] = "device memory",
	[MAP_KIND_FILE] = "mapped file",
	[MAP_KIND_NAMED] = "anonymous memory with a name",
	[MAP_KIND_GUARD] = "no access: a guard, or addresses kept for later",
	[MAP_KIND_ANONYMOUS] = "anonymous memory: mmap(2), large malloc()",
};

static void map_line_name(const struct map_line *line, const struct map_list *list, char *text,
			  size_t size)
{
	const char *what = explanations[line->kind];

	switch (line->kind) {
	case MAP_KIND_TEXT:
	case MAP_KIND_CONSTANTS:
	case MAP_KIND_RELRO:
	case MAP_KIND_DATA:
	case MAP_KIND_GAP:
		snprintf(text, size, "%s %s: %s",
			 strcmp(line->path, list->program) ? "library" : "program",
			 base_of(line->path), what);
		break;
	case MAP_KIND_BSS:
		snprintf(text, size, "%s: %s", base_of(line[-1].path), what);
		break;
	case MAP_KIND_THREAD_STACK:
		snprintf(text, size, "thread %d's stack", line->thread);
		break;
	case MAP_KIND_PFSTAT_RING:
		snprintf(text, size, "%s %s", what, base_of(line->path));
		break;
	case MAP_KIND_ANONYMOUS:
	case MAP_KIND_GUARD:
		snprintf(text, size, "%s", what);
		break;
	case MAP_KIND_MEASURED:
		snprintf(text, size, "%s: %s", what,
			 line->path[0] ? line->path : "anonymous memory");
		break;
	case MAP_KIND_FILE:
	case MAP_KIND_DEVICE:
	case MAP_KIND_SHARED:
	case MAP_KIND_NAMED:
		snprintf(text, size, "%s: %s", what, line->path);
		break;
	default:
		snprintf(text, size, "%s %s", line->path, what);
	}
}

void map_line_explain(const struct map_line *line, const struct map_list *list, char *text,
		      size_t size)
{
	size_t used;

	map_line_name(line, list, text, size);
	used = strlen(text);
	if (line->advice == MAPPING_RANDOM)
		snprintf(text + used, size - used, "; MADV_RANDOM: no read-ahead");
	else if (line->advice == MAPPING_SEQUENTIAL)
		snprintf(text + used, size - used, "; MADV_SEQUENTIAL");
}

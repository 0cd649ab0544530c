// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joins the user stacks that eBPF sends with faults, and stores each distinct stack once. Stacks
 * come from analysis.c, and grouping.c reads their numbers and texts. Each place exists once, so
 * stacks are equal if their place pointers are equal.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups/stacks.h"
#include "util/hash.h"

/* Stacks kept per thread. A fault is emitted after the thread may have started later ones. */
#define KEPT 4
/* Limit on threads with stacks: 150 MB. */
#define THREADS_MAX 65536

/* A thread's latest stacks. */
struct stacks_thread {
	uint32_t tid;
	unsigned int next;
	struct pfstat_stack kept[KEPT];
};

/* A frame's place. Each place exists once. */
struct stacks_place {
	struct stacks_place *next; /* another place with the same hash */
	struct stack_place at;
	char *symbol; /* NULL: not known */
};

/* One stored stack. */
struct stacks_way {
	struct stacks_way *next; /* another stack with the same hash */
	size_t number, nr;
	const struct stacks_place *places[]; /* innermost first */
};

struct stacks {
	struct hash threads;			 /* struct stacks_thread by tid */
	struct hash places;			 /* struct stacks_place by place_hash() */
	struct hash ways;			 /* struct stacks_way by way_hash() */
	struct stacks_way *numbered[STACKS_MAX]; /* [number - 1] */
	size_t nr_ways;
};

struct stacks *stacks_new(void)
{
	return calloc(1, sizeof(struct stacks));
}

static void free_places(void *value)
{
	struct stacks_place *place = value, *next;

	for (; place; place = next) {
		next = place->next;
		free(place->symbol);
		free(place);
	}
}

static void free_ways(void *value)
{
	struct stacks_way *way = value, *next;

	for (; way; way = next) {
		next = way->next;
		free(way);
	}
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	hash_exit(&stacks->threads, free);
	hash_exit(&stacks->places, free_places);
	hash_exit(&stacks->ways, free_ways);
	free(stacks);
}

int stacks_add(struct stacks *stacks, const struct pfstat_stack *stack)
{
	const uint32_t tid = stack->event.tid;
	struct stacks_thread *thread = hash_find(&stacks->threads, tid);

	if (!thread && stacks->threads.count == THREADS_MAX)
		return 0;
	if (!thread) {
		thread = calloc(1, sizeof(*thread));
		if (!thread || hash_add(&stacks->threads, tid, thread)) {
			free(thread);
			return -ENOMEM;
		}
	}
	thread->kept[thread->next++ % KEPT] = *stack;
	return 0;
}

void stacks_end_thread(struct stacks *stacks, uint32_t tid)
{
	free(hash_take(&stacks->threads, tid));
}

/*
 * Finds the fault's own stack: the latest one for the same page that is not after the fault's
 * start.
 */
static const struct pfstat_stack *find_kept(const struct stacks *stacks, uint64_t page_bytes,
					    const struct explained *fault)
{
	const struct stacks_thread *thread = hash_find(&stacks->threads, fault->tid);
	const struct pfstat_stack *found = NULL, *stack;

	if (!thread)
		return NULL;
	for (stack = thread->kept; stack < thread->kept + KEPT; stack++)
		if (stack->frames && stack->event.pid == fault->pid &&
		    stack->address / page_bytes == fault->address / page_bytes &&
		    stack->event.ns <= fault->start_ns &&
		    (!found || stack->event.ns > found->event.ns))
			found = stack;
	return found;
}

static uint64_t place_hash(const struct stack_place *at)
{
	const uint64_t place[] = { at->offset, at->path, at->pid };

	return hash_of(place, sizeof(place));
}

static struct stacks_place *find_place(const struct stacks *stacks, const struct stack_place *at)
{
	struct stacks_place *place = hash_find(&stacks->places, place_hash(at));

	while (place && (place->at.path != at->path || place->at.offset != at->offset ||
			 place->at.pid != at->pid))
		place = place->next;
	return place;
}

/* If the table is full, a stack with a new place cannot be added, so neither is the place. */
static bool stacks_is_full(const struct stacks *stacks)
{
	return stacks->nr_ways == STACKS_MAX;
}

/* Adds the place if it is new. NULL: no memory, or the table is full. */
static struct stacks_place *get_place(struct stacks *stacks, const struct stack_place *at)
{
	struct stacks_place *place = find_place(stacks, at), *first;

	if (place || stacks_is_full(stacks))
		return place;
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	place->at = *at;
	first = hash_find(&stacks->places, place_hash(at));
	if (first) {
		place->next = first->next;
		first->next = place;
	} else if (hash_add(&stacks->places, place_hash(at), place)) {
		free(place);
		return NULL;
	}
	return place;
}

static const struct stacks_place *stacks_place_of(struct stacks *stacks, struct spaces *spaces,
						  uint32_t pid, uint64_t address)
{
	const struct space_map *map = address_spaces_find(spaces, pid, address);
	struct stack_place at = { .pid = pid, .offset = address };

	if (map && space_map_has_file(map))
		at = (struct stack_place){
			.path = map->path,
			.offset = address_spaces_offset(spaces, map, address),
		};
	return get_place(stacks, &at);
}

/* A return address may belong to the next function, so the byte before it is looked up. */
static bool resolve(struct stacks *stacks, struct spaces *spaces, const struct pfstat_stack *stack,
		    const struct stacks_place **places)
{
	unsigned int i;

	for (i = 0; i < stack->frames; i++) {
		places[i] = stacks_place_of(stacks, spaces, stack->event.pid, stack->ips[i] - !!i);
		if (!places[i])
			return false;
	}
	return true;
}

/* Each place exists once, so the pointer identifies it. */
static uint64_t way_hash(const struct stacks_place *const *places, size_t nr)
{
	return hash_of(places, nr * sizeof(*places));
}

static struct stacks_way *find_way(const struct stacks *stacks,
				   const struct stacks_place *const *places, size_t nr)
{
	struct stacks_way *way = hash_find(&stacks->ways, way_hash(places, nr));

	while (way && (way->nr != nr || memcmp(way->places, places, nr * sizeof(*places))))
		way = way->next;
	return way;
}

static struct stacks_way *make_way(struct stacks *stacks, const struct stacks_place *const *places,
				   size_t nr)
{
	struct stacks_way *way = calloc(1, sizeof(*way) + nr * sizeof(*places)), *first;

	if (!way)
		return NULL;
	way->nr = nr;
	memcpy(way->places, places, nr * sizeof(*places));
	first = hash_find(&stacks->ways, way_hash(places, nr));
	if (first) {
		way->next = first->next;
		first->next = way;
	} else if (hash_add(&stacks->ways, way_hash(places, nr), way)) {
		free(way);
		return NULL;
	}
	stacks->numbered[stacks->nr_ways++] = way;
	way->number = stacks->nr_ways;
	return way;
}

static int stacks_number(struct stacks *stacks, struct spaces *spaces,
			 const struct pfstat_stack *stack, uint64_t *number)
{
	const struct stacks_place *places[PFSTAT_STACK_FRAMES];
	const bool resolved = resolve(stacks, spaces, stack, places);
	struct stacks_way *way = NULL;

	if (resolved)
		way = find_way(stacks, places, stack->frames);
	if (!way && stacks_is_full(stacks)) {
		*number = STACKS_OTHER;
		return 0;
	}
	if (!way && resolved)
		way = make_way(stacks, places, stack->frames);
	if (!way)
		return -ENOMEM;
	*number = way->number;
	return 0;
}

int stacks_of_fault(struct stacks *stacks, struct spaces *spaces, const struct explained *fault,
		    uint64_t *number)
{
	const struct pfstat_stack *stack =
		find_kept(stacks, address_spaces_page_bytes(spaces), fault);

	*number = STACKS_NONE;
	return stack ? stacks_number(stacks, spaces, stack, number) : 0;
}

int stacks_of_code(struct stacks *stacks, struct spaces *spaces, const struct explained *fault,
		   uint64_t *number)
{
	const struct pfstat_stack stack = {
		.event.pid = fault->pid,
		.frames = 1,
		.ips = { fault->ip },
	};

	*number = STACKS_NONE;
	return fault->ip ? stacks_number(stacks, spaces, &stack, number) : 0;
}

size_t stacks_frames(const struct stacks *stacks, const struct spaces *spaces, uint64_t number,
		     struct stack_frame frames[STACKS_MAX_FRAMES])
{
	static const struct stack_frame unknown = { .place = &unknown, "(not known)", "", 0 };
	static const struct stack_frame others = { .place = &others, "(others)", "", 0 };
	static const struct stack_frame outer = { .place = &outer, "…", "", 0 };
	const struct stacks_way *way;
	size_t i;

	if (number == STACKS_NONE || number == STACKS_OTHER) {
		frames[0] = number == STACKS_NONE ? unknown : others;
		return 1;
	}
	way = stacks->numbered[number - 1];
	for (i = 0; i < way->nr; i++)
		frames[i] = (struct stack_frame){
			.place = way->places[i],
			.symbol = way->places[i]->symbol,
			.path = address_spaces_path(spaces, way->places[i]->at.path),
			.offset = way->places[i]->at.offset,
		};
	if (way->nr == PFSTAT_STACK_FRAMES)
		frames[i++] = outer;
	return i;
}

static void print_frame(FILE *out, const struct spaces *spaces, const struct stacks_place *place)
{
	const char *path = address_spaces_path(spaces, place->at.path);
	const char *slash = strrchr(path, '/');
	const char *plus = place->symbol ? strrchr(place->symbol, '+') : NULL;

	if (plus) /* omit the offset in the function */
		fprintf(out, "%.*s", (int)(plus - place->symbol), place->symbol);
	else if (place->symbol)
		fputs(place->symbol, out);
	else if (place->at.path)
		fprintf(out, "0x%" PRIx64 " (%s)", place->at.offset, slash ? slash + 1 : path);
	else
		fprintf(out, "0x%" PRIx64, place->at.offset);
}

void stacks_print(const struct stacks *stacks, const struct spaces *spaces, uint64_t number,
		  FILE *out)
{
	const struct stacks_way *way;
	size_t i;

	if (number == STACKS_NONE || number == STACKS_OTHER) {
		fputs(number == STACKS_NONE ? "(not known)" : "(others)", out);
		return;
	}
	way = stacks->numbered[number - 1];
	if (way->nr == PFSTAT_STACK_FRAMES)
		fputs("…;", out);
	for (i = way->nr; i--;) {
		print_frame(out, spaces, way->places[i]);
		if (i)
			fputc(';', out);
	}
}

struct stacks_visitor {
	int (*visit)(void *context, const struct stack_place *place);
	void *context;
};

static int visit_places(void *context, void *value)
{
	const struct stacks_visitor *visit = context;
	const struct stacks_place *place = value;
	int err = 0;

	for (; place && !err; place = place->next)
		err = visit->visit(visit->context, &place->at);
	return err;
}

int stacks_visit(const struct stacks *stacks,
		 int (*visit)(void *context, const struct stack_place *place), void *context)
{
	struct stacks_visitor all = { visit, context };

	return hash_visit(&stacks->places, visit_places, &all);
}

int stacks_name_place(struct stacks *stacks, const struct stack_place *at, const char *symbol)
{
	struct stacks_place *place = find_place(stacks, at);

	if (!place)
		return 0;
	free(place->symbol);
	place->symbol = strdup(symbol);
	return place->symbol ? 0 : -ENOMEM;
}

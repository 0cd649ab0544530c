// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collects a sample for each fault. Stacks, threads and targets of faults get a number when they
 * are first seen. Their names are looked up at the end, because recordings name code last.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups/address_spaces.h"
#include "analyze/profile.h"
#include "util/hash.h"

/* Indexes of stacks, threads and so on, plus 1, so no value is NULL. */
struct profile_index {
	struct hash stacks;    /* by the stack's number in the analysis */
	struct hash threads;   /* by tid: the latest thread with this number */
	struct hash targets;   /* by inode and device hash */
	struct hash frames;    /* by the place's address */
	struct hash functions; /* by name and object hash */
	struct hash objects;   /* by path hash */
	struct hash calls;     /* by parent and frame */
};

static void *number_to_value(size_t number)
{
	return (void *)(uintptr_t)(number + 1);
}

static size_t number_from_value(const void *value)
{
	return (uintptr_t)value - 1;
}

/*
 * Returns space for one more element than nr, with these elements. The array grows when nr is a
 * power of two or 0. Without memory it returns NULL, and the elements stay where they are.
 */
static void *profile_grow(void *elements, size_t nr, size_t bytes)
{
	if (nr & (nr - 1))
		return elements;
	if (nr >= UINT32_MAX / 2)
		return NULL;
	return reallocarray(elements, nr ? 2 * nr : 1, bytes);
}

/* 0 or -ENOMEM. */
#define PROFILE_GROW(profile, member)                                                 \
	({                                                                            \
		void *grown = profile_grow((profile)->member, (profile)->nr_##member, \
					   sizeof(*(profile)->member));               \
		(profile)->member = grown ?: (profile)->member;                       \
		grown ? 0 : -ENOMEM;                                                  \
	})

int profile_init(struct profile *profile, struct analysis *analysis)
{
	*profile = (struct profile){ .analysis = analysis };
	profile->index = calloc(1, sizeof(*profile->index));
	return profile->index ? 0 : -ENOMEM;
}

static void profile_free_index(struct profile_index *index)
{
	if (!index)
		return;
	hash_exit(&index->stacks, NULL);
	hash_exit(&index->threads, NULL);
	hash_exit(&index->targets, NULL);
	hash_exit(&index->frames, NULL);
	hash_exit(&index->functions, NULL);
	hash_exit(&index->objects, NULL);
	hash_exit(&index->calls, NULL);
	free(index);
}

void profile_exit(struct profile *profile)
{
	size_t i;

	profile_free_index(profile->index);
	for (i = 0; i < profile->nr_functions; i++)
		free(profile->functions[i].name);
	for (i = 0; i < profile->nr_objects; i++)
		free(profile->objects[i].path);
	for (i = 0; i < profile->nr_targets; i++)
		free(profile->targets[i].name);
	free(profile->functions);
	free(profile->frames);
	free(profile->objects);
	free(profile->calls);
	free(profile->stacks);
	free(profile->threads);
	free(profile->targets);
	free(profile->samples);
	free(profile->sums);
	*profile = (struct profile){ 0 };
}

static int profile_find_stack(struct profile *profile, const struct explained *fault,
			      uint32_t *found)
{
	struct hash *stacks = &profile->index->stacks;
	const void *value;
	uint64_t number;
	int err;

	err = analysis_stack(profile->analysis, fault, &number);
	if (err)
		return err;
	value = hash_find(stacks, number);
	*found = value ? number_from_value(value) : profile->nr_stacks;
	if (value)
		return 0;
	err = PROFILE_GROW(profile, stacks);
	if (!err)
		err = hash_add(stacks, number, number_to_value(*found));
	if (!err)
		profile->stacks[profile->nr_stacks++] = (struct profile_stack){ .number = number };
	return err;
}

static int profile_find_thread(struct profile *profile, const struct explained *fault,
			       uint32_t *found)
{
	const char *name = analysis_thread_name(profile->analysis, fault->tid);
	struct hash *threads = &profile->index->threads;
	const void *value = hash_find(threads, fault->tid);
	struct profile_thread *thread;
	int err;

	*found = value ? number_from_value(value) : profile->nr_threads;
	if (!value || profile->threads[*found].pid != fault->pid ||
	    profile->threads[*found].ended) {
		*found = profile->nr_threads;
		hash_take(threads, fault->tid);
		err = PROFILE_GROW(profile, threads);
		if (!err)
			err = hash_add(threads, fault->tid, number_to_value(*found));
		if (err)
			return err;
		profile->threads[profile->nr_threads++] = (struct profile_thread){
			.pid = fault->pid,
			.tid = fault->tid,
		};
	}
	thread = &profile->threads[*found];
	thread->faults++;
	if (name[0])
		snprintf(thread->name, sizeof(thread->name), "%s", name);
	return 0;
}

/* True if the target has the fault, whose inode has a generation and a path now. */
static bool profile_is_target(struct profile_target *target, const uint64_t *key,
			      uint32_t generation, const char *path)
{
	if (target->inode != key[0] || target->dev != key[1] ||
	    (target->generation && target->generation != generation))
		return false;
	target->generation = generation;
	target->path = generation ? path : NULL;
	return true;
}

static int profile_find_target(struct profile *profile, const struct explained *fault,
			       uint32_t *found)
{
	const uint64_t key[] = { fault->inode, fault->inode ? fault->dev : 0 };
	uint64_t hash = hash_of(key, sizeof(key));
	const char *path = NULL;
	const uint32_t generation =
		key[0] ? address_spaces_file_now(analysis_spaces(profile->analysis), key[1], key[0],
						 &path) :
			 0;
	const void *value;
	int err;

	/* Another target may have the same hash: then the next one is tried. */
	for (; (value = hash_find(&profile->index->targets, hash)); hash++) {
		*found = number_from_value(value);
		if (profile_is_target(&profile->targets[*found], key, generation, path))
			return 0;
	}
	*found = profile->nr_targets;
	err = PROFILE_GROW(profile, targets);
	if (!err)
		err = hash_add(&profile->index->targets, hash, number_to_value(*found));
	if (!err)
		profile->targets[profile->nr_targets++] =
			(struct profile_target){ .inode = key[0],
						 .dev = key[1],
						 .generation = generation,
						 .path = generation ? path : NULL };
	return err;
}

int profile_add_fault(void *context, const struct explained *fault)
{
	struct profile *profile = context;
	struct profile_sample sample = {
		.start_ns = fault->start_ns,
		.duration_ns = fault->end_ns - fault->start_ns,
		.address = fault->address,
		.page = fault->inode ? fault->pgoff : 0,
		.class = fault->class,
		.major = fault->major,
		.write = fault->flags & PFSTAT_FLAG_WRITE,
		.by_perf = fault->perf,
		.kernel = !(fault->flags & PFSTAT_FLAG_USER),
	};
	int err;

	err = profile_find_stack(profile, fault, &sample.stack);
	if (!err)
		err = profile_find_thread(profile, fault, &sample.thread);
	if (!err)
		err = profile_find_target(profile, fault, &sample.target);
	if (!err)
		err = PROFILE_GROW(profile, samples);
	if (err)
		return err;
	if (!profile->nr_samples || fault->start_ns < profile->start_ns)
		profile->start_ns = fault->start_ns;
	if (fault->end_ns > profile->end_ns)
		profile->end_ns = fault->end_ns;
	profile->samples[profile->nr_samples++] = sample;
	return 0;
}

static void profile_end_thread(struct profile *profile, uint32_t tid)
{
	const void *value = hash_find(&profile->index->threads, tid);

	if (value)
		profile->threads[number_from_value(value)].ended = true;
}

/* The kernel reuses an exited thread's number. The exit event may have been lost. */
int profile_add_item(struct profile *profile, const struct item *item)
{
	const struct pfstat_task *task;

	if (item->type != ITEM_EVENT || item->event->type != PFSTAT_EVENT_TASK)
		return 0;
	task = (const struct pfstat_task *)item->event;
	if (task->event.flags & (PFSTAT_TASK_EXIT | PFSTAT_TASK_FORK))
		profile_end_thread(profile, task->event.tid);
	else if (task->event.flags & PFSTAT_TASK_EXEC && task->parent != task->event.tid)
		profile_end_thread(profile, task->parent);
	return 0;
}

/* Returns "function", or "0x… (object)" without a symbol. NULL: no memory. */
static char *profile_name_frame(const struct stack_frame *frame)
{
	const char *plus = frame->symbol ? strrchr(frame->symbol, '+') : NULL;
	const char *slash = strrchr(frame->path, '/');
	char *name;
	int length;

	if (plus) /* omit the offset in the function */
		return strndup(frame->symbol, plus - frame->symbol);
	if (frame->symbol)
		return strdup(frame->symbol);
	length = frame->path[0] ? asprintf(&name, "0x%" PRIx64 " (%s)", frame->offset,
					   slash ? slash + 1 : frame->path) :
				  asprintf(&name, "0x%" PRIx64, frame->offset);
	return length < 0 ? NULL : name;
}

static int profile_find_object(struct profile *profile, const char *path, uint32_t *found)
{
	struct hash *objects = &profile->index->objects;
	uint64_t hash = hash_of(path, strlen(path));
	struct profile_object added = { 0 };
	const void *value;

	/* Another object may have the same hash: then the next one is tried. */
	for (; (value = hash_find(objects, hash)); hash++) {
		*found = number_from_value(value);
		if (!strcmp(profile->objects[*found].path, path))
			return 0;
	}
	*found = profile->nr_objects;
	added.path = strdup(path);
	if (!added.path || PROFILE_GROW(profile, objects) ||
	    hash_add(objects, hash, number_to_value(*found))) {
		free(added.path);
		return -ENOMEM;
	}
	profile->objects[profile->nr_objects++] = added;
	return 0;
}

/* Consumes the name. */
static int profile_find_function(struct profile *profile, char *name, uint32_t object,
				 uint32_t *found)
{
	const uint64_t key[] = { hash_of(name, strlen(name)), object };
	struct hash *functions = &profile->index->functions;
	uint64_t hash = hash_of(key, sizeof(key));
	const struct profile_function *function;
	const void *value;

	for (; (value = hash_find(functions, hash)); hash++) {
		*found = number_from_value(value);
		function = &profile->functions[*found];
		if (function->object == object && !strcmp(function->name, name)) {
			free(name);
			return 0;
		}
	}
	*found = profile->nr_functions;
	if (PROFILE_GROW(profile, functions) ||
	    hash_add(functions, hash, number_to_value(*found))) {
		free(name);
		return -ENOMEM;
	}
	profile->functions[profile->nr_functions++] =
		(struct profile_function){ .name = name, .object = object };
	return 0;
}

/* Finds a place's function, and counts the place in the function's file. */
static int profile_function_of(struct profile *profile, const struct stack_frame *frame,
			       uint32_t *found)
{
	uint32_t object = PROFILE_NONE;
	char *name;
	int err = 0;

	if (frame->path[0])
		err = profile_find_object(profile, frame->path, &object);
	if (err)
		return err;
	if (object != PROFILE_NONE && profile->objects[object].end <= frame->offset)
		profile->objects[object].end = frame->offset + 1;
	name = profile_name_frame(frame);
	return name ? profile_find_function(profile, name, object, found) : -ENOMEM;
}

static int profile_find_frame(struct profile *profile, const struct stack_frame *from,
			      uint32_t *found)
{
	const uint64_t key = (uintptr_t)from->place;
	const void *value = hash_find(&profile->index->frames, key);
	struct profile_frame frame = { .offset = from->offset };
	int err;

	*found = value ? number_from_value(value) : profile->nr_frames;
	if (value)
		return 0;
	err = profile_function_of(profile, from, &frame.function);
	if (!err)
		err = PROFILE_GROW(profile, frames);
	if (!err)
		err = hash_add(&profile->index->frames, key, number_to_value(*found));
	if (!err)
		profile->frames[profile->nr_frames++] = frame;
	return err;
}

/* Replaces the parent in *call by the parent's child with this frame. */
static int profile_find_call(struct profile *profile, uint32_t frame, uint32_t *call)
{
	const uint64_t key = (uint64_t)*call << 32 | frame;
	const void *value = hash_find(&profile->index->calls, key);
	const struct profile_call added = { .frame = frame, .parent = *call };
	int err;

	*call = value ? number_from_value(value) : profile->nr_calls;
	if (value)
		return 0;
	err = PROFILE_GROW(profile, calls);
	if (!err)
		err = hash_add(&profile->index->calls, key, number_to_value(*call));
	if (!err)
		profile->calls[profile->nr_calls++] = added;
	return err;
}

static int profile_finish_stack(struct profile *profile, struct profile_stack *stack)
{
	struct stack_frame frames[STACKS_MAX_FRAMES];
	uint32_t frame, call = PROFILE_NONE;
	size_t i;
	int err;

	for (i = analysis_frames(profile->analysis, stack->number, frames); i--;) {
		err = profile_find_frame(profile, &frames[i], &frame);
		if (!err)
			err = profile_find_call(profile, frame, &call);
		if (err)
			return err;
	}
	stack->call = call;
	return 0;
}

static int profile_compare_samples(const void *a, const void *b)
{
	const struct profile_sample *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return left->address < right->address ? -1 : left->address > right->address;
}

static int profile_compare_sums(const void *a, const void *b)
{
	const struct profile_sum *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->stack != right->stack)
		return left->stack < right->stack ? -1 : 1;
	if (left->target != right->target)
		return left->target < right->target ? -1 : 1;
	return (left->class > right->class) - (left->class < right->class);
}

static int profile_add_up(struct profile *profile)
{
	struct profile_sum *sums = calloc(profile->nr_samples ?: 1, sizeof(*sums));
	size_t i, nr = 0;

	if (!sums)
		return -ENOMEM;
	for (i = 0; i < profile->nr_samples; i++)
		sums[i] = (struct profile_sum){
			.stack = profile->samples[i].stack,
			.thread = profile->samples[i].thread,
			.target = profile->samples[i].target,
			.class = profile->samples[i].class,
			.faults = 1,
			.total_ns = profile->samples[i].duration_ns,
		};
	qsort(sums, profile->nr_samples, sizeof(*sums), profile_compare_sums);
	for (i = 0; i < profile->nr_samples; i++) {
		if (nr && !profile_compare_sums(&sums[nr - 1], &sums[i])) {
			sums[nr - 1].faults++;
			sums[nr - 1].total_ns += sums[i].total_ns;
		} else {
			sums[nr++] = sums[i];
		}
	}
	profile->sums = sums;
	profile->nr_sums = nr;
	return 0;
}

/* If a later file has the inode, the later file's name is not the target's. */
static char *profile_name_target(const struct profile *profile, const struct profile_target *target)
{
	const char *path;

	if (target->generation &&
	    target->generation != address_spaces_file_now(analysis_spaces(profile->analysis),
							  target->dev, target->inode, &path))
		return strdup(target->path);
	return analysis_file_name(profile->analysis, target->dev, target->inode);
}

/* A process has the name of the first thread, the latest one if the number was reused. */
static int profile_name_processes(struct profile *profile)
{
	struct hash *threads = &profile->index->threads;
	struct profile_thread *thread;
	const void *value;
	size_t i;
	int err = 0;

	hash_exit(threads, NULL);
	for (i = 0; i < profile->nr_threads && !err; i++) {
		if (profile->threads[i].tid != profile->threads[i].pid)
			continue;
		hash_take(threads, profile->threads[i].pid);
		err = hash_add(threads, profile->threads[i].pid, number_to_value(i));
	}
	for (i = 0; i < profile->nr_threads && !err; i++) {
		thread = &profile->threads[i];
		value = hash_find(threads, thread->pid);
		if (value)
			memcpy(thread->process, profile->threads[number_from_value(value)].name,
			       sizeof(thread->process));
	}
	return err;
}

int profile_finish(struct profile *profile)
{
	struct profile_target *target;
	size_t i;
	int err = 0;

	for (i = 0; i < profile->nr_stacks && !err; i++)
		err = profile_finish_stack(profile, &profile->stacks[i]);
	for (i = 0; i < profile->nr_targets && !err; i++) {
		target = &profile->targets[i];
		target->name = profile_name_target(profile, target);
		err = target->name ? 0 : -ENOMEM;
	}
	if (!err)
		err = profile_name_processes(profile);
	if (err)
		return err;
	if (profile->nr_samples)
		qsort(profile->samples, profile->nr_samples, sizeof(*profile->samples),
		      profile_compare_samples);
	return profile_add_up(profile);
}

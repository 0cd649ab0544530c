// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf has no event for madvise(2), so the state of the mappings comes from /proc/PID/smaps. The
 * kernel walks the page tables for it, and mmap(2) in the process waits meanwhile. So a process is
 * looked at only when its reads have taken LEAST_TIMES as long as a look at its resident pages, and
 * again when they have taken twice as long, and LEAST_TIMES as long as the last look. This may have
 * been longer: a process may have thousands of mappings.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collect/perf_sampler.h"
#include "model/mapping_state.h"
#include "system/proc_maps.h"
#include "util/time_ns.h"

#define LEAST_TIMES   50
#define LEAST_READ_NS 2000000
#define WALK_NS	      40 /* for a page in memory: 10 ms for each GiB */
#define EMPTY_NS      50000

struct reader {
	uint32_t pid;
	uint64_t read_ns; /* time in major faults */
	uint64_t next_ns; /* the next look is due when read_ns is as long */
};

void perf_advice_exit(struct perf_advice *advice)
{
	hash_exit(&advice->readers, free);
	proc_maps_exit(&advice->found);
}

static struct reader *reader_of(struct perf_advice *advice, uint32_t pid)
{
	struct reader *reader = hash_find(&advice->readers, pid);

	if (reader)
		return reader;
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return NULL;
	*reader = (struct reader){ .pid = pid, .next_ns = LEAST_READ_NS };
	if (!hash_add(&advice->readers, pid, reader))
		return reader;
	free(reader);
	return NULL;
}

/* How long a look at the resident pages takes, in ns. 0: the process is gone. */
static uint64_t look_ns(uint32_t pid)
{
	uint64_t resident = 0;
	char path[32];
	FILE *file;
	int fields;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/statm", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	fields = fscanf(file, "%*u %" SCNu64, &resident);
	fclose(file);
	return fields == 1 ? EMPTY_NS + WALK_NS * resident : 0;
}

/* Looks at the process now, or sets the time for it. A process that is gone has no further reads. */
static int perf_advice_look(struct perf_advice *advice, struct reader *reader)
{
	const uint64_t due_ns = LEAST_TIMES * look_ns(reader->pid);
	const uint64_t begin_ns = clock_monotonic_ns();
	int err;

	if (due_ns > reader->read_ns) {
		reader->next_ns = due_ns;
		return 0;
	}
	reader->next_ns = 2 * reader->read_ns;
	if (!due_ns)
		return 0;
	err = proc_maps_read_advice(&advice->found, reader->pid);
	advice->ns = clock_monotonic_ns();
	if (reader->next_ns < LEAST_TIMES * (advice->ns - begin_ns))
		reader->next_ns = LEAST_TIMES * (advice->ns - begin_ns);
	return err == -ENOMEM ? err : 0;
}

static int perf_advice_add_fault(struct perf_advice *advice, const struct pfstat_fault *fault)
{
	struct reader *reader;

	if (!(fault->result & PFSTAT_RESULT_MAJOR) || !fault->inode)
		return 0;
	reader = reader_of(advice, fault->event.pid);
	if (!reader)
		return -ENOMEM;
	reader->read_ns += fault->event.ns - fault->start_ns;
	/* Until the last states were passed, there is no room for others. */
	if (reader->read_ns < reader->next_ns || advice->found.used)
		return 0;
	return perf_advice_look(advice, reader);
}

int perf_advice_add(struct perf_advice *advice, const struct pfstat_event *event)
{
	if (event->type == PFSTAT_EVENT_FAULT)
		return perf_advice_add_fault(advice, (const void *)event);
	if (event->type == PFSTAT_EVENT_TASK && event->flags & PFSTAT_TASK_EXIT &&
	    event->tid == event->pid)
		free(hash_take(&advice->readers, event->pid));
	return 0;
}

struct passed_advice {
	const struct perf_advice *advice;
	item_sink sink;
	void *context;
};

static uint32_t advice_in_force(const struct item_map *map)
{
	if (map->flags & ITEM_MAP_RANDOM)
		return MAPPING_RANDOM;
	return map->flags & ITEM_MAP_SEQUENTIAL ? MAPPING_SEQUENTIAL : MAPPING_NORMAL;
}

static int perf_advice_pass_map(void *context, const struct item_map *map)
{
	const struct passed_advice *passed = context;
	const struct pfstat_mapping event = {
		.event = {
			.type = PFSTAT_EVENT_MAPPING, .size = sizeof(event),
			.pid = map->pid, .tid = map->pid, .ns = passed->advice->ns,
		},
		.address = map->address,
		.bytes = map->bytes,
		.advice = advice_in_force(map),
		.ra_pages = PFSTAT_MAPPING_UNKNOWN,
		.mmap_miss = PFSTAT_MAPPING_UNKNOWN,
	};
	const struct item item = {
		.type = ITEM_EVENT,
		.ns = event.event.ns,
		.event = &event.event,
	};

	if (!map->inode || map->flags & ITEM_MAP_NO_ADVICE)
		return 0;
	return passed->sink(passed->context, &item);
}

int perf_advice_pass(struct perf_advice *advice, uint64_t until_ns, item_sink sink, void *context)
{
	struct passed_advice passed = { advice, sink, context };

	if (!advice->found.used || advice->ns > until_ns)
		return 0;
	return proc_maps_hand_over(&advice->found, perf_advice_pass_map, &passed);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a recording once. Mappings, faults on files, advice and the times when threads did not run
 * become events of an access plan. Everything in a recording is untrusted, so the work for an item
 * does not depend on the number of mappings: address_spaces.c finds an address's mapping, and a
 * child's mapping enters the plan only when the child uses it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "advise/advise.h"
#include "analyze/analysis.h"
#include "analyze/groups/address_spaces.h"
#include "print/json/json_environment.h"
#include "recording/counters_json.h"
#include "recording/reader.h"
#include "util/array.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/why.h"

/* The replay repeats neither stores to pages that are mapped already nor failed faults. */
static bool is_access(const struct explained *fault)
{
	switch (fault->class) {
	case FAULT_MKWRITE:
	case FAULT_ERROR:
		return false;
	case FAULT_FILE:
		return true;
	default:
		return fault->class < FAULT_FIRST_OTHER;
	}
}

/* perf has no class for a read, but knows which faults were major. */
static bool from_device(const struct explained *fault)
{
	if (fault->perf)
		return fault->major;
	return fault->class == FAULT_DISK || fault->class == FAULT_WAIT ||
	       fault->class == FAULT_READAHEAD;
}

/* Returns 1 + the new file's number, or -ENOMEM. */
static int add_file(struct recorded_accesses *accesses, uint64_t inode, const char *path)
{
	struct accessed_file *file;

	if (array_reserve((void **)&accesses->files, accesses->nr_files, &accesses->file_capacity,
			  sizeof(*accesses->files)))
		return -ENOMEM;
	file = &accesses->files[accesses->nr_files];
	*file = (struct accessed_file){ .path = strdup(path), .inode = inode };
	if (!file->path)
		return -ENOMEM;
	accesses->nr_files++;
	/* A second path to the same file is found by the mappings. */
	if (!hash_find(&accesses->by_inode, inode) &&
	    hash_add(&accesses->by_inode, inode, (void *)(uintptr_t)accesses->nr_files))
		return -ENOMEM;
	return accesses->nr_files;
}

static uint64_t name_key(uint64_t inode, const char *path)
{
	const uint64_t names[] = { hash_of(path, strlen(path)), inode };

	return hash_of(names, sizeof(names));
}

const struct accessed_file *recorded_accesses_find(const struct recorded_accesses *accesses,
						   uint64_t inode, const char *path)
{
	const uintptr_t number = (uintptr_t)hash_find(&accesses->by_name, name_key(inode, path));

	return number ? &accesses->files[number - 1] : NULL;
}

/* The file's index, or -ENOMEM. */
static int file_index(struct recorded_accesses *accesses, uint64_t inode, const char *path)
{
	const uint64_t key = name_key(inode, path);
	int number = (uintptr_t)hash_find(&accesses->by_name, key);

	if (number)
		return number - 1;
	number = add_file(accesses, inode, path);
	if (number > 0 && hash_add(&accesses->by_name, key, (void *)(uintptr_t)number))
		number = -ENOMEM;
	return number < 0 ? number : number - 1;
}

static uint64_t place_key(uint32_t pid, uint64_t address)
{
	const uint64_t place[] = { pid, address };

	return hash_of(place, sizeof(place));
}

/* The new mapping becomes the one at this place. Returns 0 or -ENOMEM. */
static int add_mapping(struct recorded_accesses *accesses, const struct accessed_mapping *mapping)
{
	const uint64_t key = place_key(mapping->pid, mapping->address);

	if (array_reserve((void **)&accesses->mappings, accesses->nr_mappings,
			  &accesses->mapping_capacity, sizeof(*accesses->mappings)))
		return -ENOMEM;
	accesses->mappings[accesses->nr_mappings++] = *mapping;
	hash_take(&accesses->by_place, key);
	return hash_add(&accesses->by_place, key, (void *)(uintptr_t)accesses->nr_mappings);
}

static int initial_advice_of(uint32_t flags)
{
	if (flags & ITEM_MAP_RANDOM)
		return MADV_RANDOM;
	return flags & ITEM_MAP_SEQUENTIAL ? MADV_SEQUENTIAL : -1;
}

/* Adds a mapping the plan does not have: a child's, or the rest of a cut mapping. */
static int add_inherited(struct recorded_accesses *accesses, uint32_t pid,
			 const struct space_map *map)
{
	const int file =
		file_index(accesses, map->inode, address_spaces_path(accesses->spaces, map->path));

	if (file < 0)
		return file;
	return add_mapping(accesses, &(struct accessed_mapping){
					     .address = map->start,
					     .bytes = map->end - map->start,
					     .pgoff = map->pgoff,
					     .pid = pid,
					     .file = file,
					     .shared = map->flags & MAP_SHARED,
					     .inherited = true,
					     .initial_advice = initial_advice_of(map->flags),
					     .no_advice = map->flags & ITEM_MAP_NO_ADVICE,
				     });
}

static bool is_of(const struct accessed_mapping *mapping, uint32_t pid, const struct space_map *map,
		  const struct recorded_accesses *accesses)
{
	return mapping->pid == pid && mapping->address == map->start &&
	       mapping->bytes >= map->end - map->start && mapping->pgoff == map->pgoff &&
	       accesses->files[mapping->file].inode == map->inode;
}

/*
 * The file mapping at the address, in *found, or NULL if none is known. Only the inode identifies
 * the file, because mappings and records may have different devices (btrfs). Returns 0 or -ENOMEM.
 */
static int mapping_at(struct recorded_accesses *accesses, uint32_t pid, uint64_t address,
		      struct accessed_mapping **found)
{
	const struct space_map *map = address_spaces_find(accesses->spaces, pid, address);
	size_t number;
	int err;

	*found = NULL;
	if (!map || !space_map_has_file(map) ||
	    address_spaces_path(accesses->spaces, map->path)[0] != '/')
		return 0;
	number = (uintptr_t)hash_find(&accesses->by_place, place_key(pid, map->start));
	if (!number || !is_of(&accesses->mappings[number - 1], pid, map, accesses)) {
		err = add_inherited(accesses, pid, map);
		if (err)
			return err;
		number = accesses->nr_mappings;
	}
	*found = &accesses->mappings[number - 1];
	return 0;
}

static int accesses_take_fault(void *context, const struct explained *fault)
{
	struct recorded_accesses *accesses = context;
	const uint64_t ns = fault->end_ns - fault->start_ns;
	struct accessed_mapping *mapping;
	struct accessed_file *file;
	int err;

	if (!fault->inode)
		return 0;
	if (!is_access(fault)) {
		accesses->not_repeated++;
		accesses->not_repeated_ns += ns;
		return 0;
	}
	err = mapping_at(accesses, fault->pid, fault->address, &mapping);
	if (err)
		return err;
	if (!mapping || accesses->files[mapping->file].inode != fault->inode) {
		accesses->unplaced++;
		accesses->unplaced_ns += ns;
		return 0;
	}
	file = &accesses->files[mapping->file];
	file->faults++;
	file->fault_ns += ns;
	file->cold |= from_device(fault);
	if (fault->pgoff >= file->pages)
		file->pages = fault->pgoff + 1;
	mapping->used = true;
	file->stores += fault->flags & PFSTAT_FLAG_WRITE ? 1 : 0;
	if (fault->class == FAULT_AROUND && fault->around_pages)
		accesses->around_pages += fault->around_pages - 1;
	return access_plan_add(&accesses->plan, fault->tid,
			       &(struct plan_event){
				       .type = PLAN_EVENT_TOUCH,
				       .start_ns = fault->start_ns,
				       .end_ns = fault->end_ns,
				       .page = (fault->address - mapping->address) / page_size(),
				       .mapping = mapping - accesses->mappings,
			       });
}

/* analysis_add() has already taken the mapping. This one has a time, and belongs to the plan. */
static int accesses_take_map(struct recorded_accesses *accesses, const struct item_map *map)
{
	const size_t number = accesses->nr_mappings;
	int file, err;

	if (!map->inode || map->path[0] != '/' || !map->bytes)
		return 0;
	file = file_index(accesses, map->inode, map->path);
	if (file < 0)
		return file;
	accesses->files[file].executable |= map->prot & PROT_EXEC ? true : false;
	err = add_mapping(accesses,
			  &(struct accessed_mapping){
				  .address = map->address,
				  .bytes = map->bytes,
				  .pgoff = map->pgoff,
				  .pid = map->pid,
				  .file = file,
				  .shared = map->flags & MAP_SHARED,
				  .before = !map->ns,
				  .initial_advice = map->ns ? -1 : initial_advice_of(map->flags),
				  .no_advice = map->flags & ITEM_MAP_NO_ADVICE,
			  });
	if (err || !map->ns)
		return err;
	return access_plan_add(&accesses->plan, map->tid,
			       &(struct plan_event){ .type = PLAN_EVENT_MAPPED,
						     .start_ns = map->ns,
						     .end_ns = map->ns,
						     .mapping = number });
}

/* One call's ranges are events at the same time. Only the first one takes this time. */
static int accesses_take_advice(struct recorded_accesses *accesses,
				const struct pfstat_advice *advice)
{
	const uint64_t end = advice->address + advice->bytes;
	struct plan_event event = { .type = PLAN_EVENT_ADVICE,
				    .start_ns = advice->start_ns,
				    .end_ns = advice->event.ns,
				    .advice = advice->advice };
	struct accessed_mapping *mapping;
	uint64_t address, until, left;
	int err = 0;

	for (address = advice->address; address < end && !err; address = until) {
		err = mapping_at(accesses, advice->event.pid, address, &mapping);
		if (err || !mapping)
			break;
		left = mapping->bytes - (address - mapping->address);
		until = left < end - address ? address + left : end;
		mapping->used = true;
		mapping->advised = true;
		event.mapping = mapping - accesses->mappings;
		event.page = (address - mapping->address) / page_size();
		event.pages = page_size_count(until - address);
		accesses->advices++;
		accesses->populated |= advice->advice == MADV_POPULATE_READ;
		err = access_plan_add(&accesses->plan, advice->event.tid, &event);
	}
	return err;
}

static int accesses_take_off_cpu(struct recorded_accesses *accesses,
				 const struct pfstat_off_cpu *off_cpu)
{
	const struct pfstat_event *event = &off_cpu->event;

	return access_plan_add(&accesses->plan, event->tid,
			       &(struct plan_event){
				       .type = PLAN_EVENT_OFF_CPU,
				       .start_ns = off_cpu->off_ns,
				       .end_ns = event->ns,
				       .woken_ns = event->flags & PFSTAT_OFF_CPU_WOKEN ?
							   off_cpu->woken_ns :
							   0,
				       .waker = off_cpu->waker,
				       .runnable = event->flags & PFSTAT_OFF_CPU_PREEMPTED,
			       });
}

static int accesses_take_task(struct recorded_accesses *accesses, const struct pfstat_task *task)
{
	const struct pfstat_event *event = &task->event;

	if (event->flags & PFSTAT_TASK_FORK)
		return access_plan_fork(&accesses->plan, event->tid, task->parent, event->ns);
	if (!(event->flags & PFSTAT_TASK_EXIT))
		return 0;
	return access_plan_add(&accesses->plan, event->tid,
			       &(struct plan_event){ .type = PLAN_EVENT_EXIT,
						     .start_ns = event->ns,
						     .end_ns = event->ns });
}

static void accesses_take_block(struct recorded_accesses *accesses,
				const struct pfstat_block *block)
{
	const uint32_t flags = block->event.flags;
	size_t number;

	if (!(flags & PFSTAT_BLOCK_FILE) || flags & PFSTAT_BLOCK_WRITE)
		return;
	number = (uintptr_t)hash_find(&accesses->by_inode, block->inode);
	if (number)
		accesses->files[number - 1].cold = true;
}

/*
 * eBPF knows the advice at the end of a mapping. The advice was the same at the start if no call
 * changed it.
 */
static void accesses_take_state(struct recorded_accesses *accesses,
				const struct pfstat_mapping *state)
{
	const uint32_t pid = state->event.pid;
	const size_t number =
		(uintptr_t)hash_find(&accesses->by_place, place_key(pid, state->address));
	struct accessed_mapping *mapping = number ? &accesses->mappings[number - 1] : NULL;

	if (!mapping || !mapping->no_advice || mapping->advised || mapping->pid != pid ||
	    mapping->address != state->address || mapping->bytes != state->bytes)
		return;
	mapping->no_advice = false;
	if (state->advice == MADV_RANDOM || state->advice == MADV_SEQUENTIAL)
		mapping->initial_advice = state->advice;
}

static int accesses_take_event(struct recorded_accesses *accesses, const struct pfstat_event *event)
{
	switch (event->type) {
	case PFSTAT_EVENT_OFF_CPU:
		return accesses_take_off_cpu(accesses, (const struct pfstat_off_cpu *)event);
	case PFSTAT_EVENT_ADVICE:
		return accesses_take_advice(accesses, (const struct pfstat_advice *)event);
	case PFSTAT_EVENT_TASK:
		return accesses_take_task(accesses, (const struct pfstat_task *)event);
	case PFSTAT_EVENT_MAPPING:
		accesses_take_state(accesses, (const struct pfstat_mapping *)event);
		return 0;
	case PFSTAT_EVENT_BLOCK:
		accesses_take_block(accesses, (const struct pfstat_block *)event);
		return 0;
	default:
		return 0;
	}
}

struct accesses_reading {
	struct recorded_accesses *accesses;
	struct analysis *analysis;
	uint64_t first_ns, last_ns;
};

static int accesses_take_item(void *context, const struct item *item)
{
	struct accesses_reading *reading = context;
	int err = analysis_add(reading->analysis, item);

	if (item->ns && !reading->first_ns)
		reading->first_ns = item->ns;
	if (item->ns > reading->last_ns)
		reading->last_ns = item->ns;
	if (!err && item->type == ITEM_MAP)
		err = accesses_take_map(reading->accesses, item->map);
	if (!err && item->type == ITEM_EVENT)
		err = accesses_take_event(reading->accesses, item->event);
	return err;
}

static int accesses_take_head(struct recorded_accesses *accesses, const json_t *head)
{
	struct report *report = calloc(1, sizeof(*report));

	if (!report)
		return -ENOMEM;
	accesses->fault_around = true;
	report_init(report);
	if (!json_head_parse(report, head)) {
		accesses->started_s = report->environment.started_s;
		accesses->fault_around = report->environment.fault_around &&
					 !report->environment.exact &&
					 report->environment.fault_around_bytes != page_size();
		accesses->have_bpf = report->bpf.known;
	}
	report_exit(report);
	free(report);
	return 0;
}

/* pfstat's cost for one fault, outside the fault's recorded time. */
static uint64_t extra_ns_of(const struct run_counters *counters)
{
	uint64_t ps = 0;

	/* One of the fault's two samples. */
	if (counters->hooks & 1U << HOOK_PERF && counters->bpf_other_ps != COUNT_NA)
		return counters->bpf_other_ps / 2000;
	if (counters->have_bpf && counters->bpf_hooked_ps != COUNT_NA)
		ps += counters->bpf_hooked_ps;
	if (counters->call_cost_ps != COUNT_NA && counters->inside_ps != COUNT_NA &&
	    counters->call_cost_ps > counters->inside_ps)
		ps += counters->call_cost_ps - counters->inside_ps;
	return ps / 1000;
}

static void accesses_take_tail(struct recorded_accesses *accesses, const json_t *tail,
			       const struct accesses_reading *reading)
{
	struct run_counters counters;

	accesses->lost = COUNT_NA;
	accesses->events_lost = COUNT_NA;
	accesses->start_ns = reading->first_ns;
	accesses->end_ns = reading->last_ns;
	accesses->plan.have_off_cpu = accesses->have_bpf;
	if (!counters_json_parse(&counters, tail)) {
		/* perf has no call records. perf samples are events. */
		accesses->lost = counters.hooks & 1U << HOOK_PERF ? 0 : counters.lost;
		accesses->have_bpf = counters.have_bpf;
		accesses->by_perf = counters.hooks & 1U << HOOK_PERF;
		if (accesses->by_perf && accesses->fault_around)
			accesses->around_pages = COUNT_NA;
		accesses->have_advice = counters.have_bpf && counters.have_advice;
		accesses->events_lost = run_counters_events_lost(&counters);
		if (counters.end_ns > counters.start_ns) {
			accesses->start_ns = counters.start_ns;
			accesses->end_ns = counters.end_ns;
		}
		accesses->plan.have_off_cpu = counters.have_bpf;
		accesses->plan.fault_extra_ns = extra_ns_of(&counters);
		run_counters_exit(&counters);
	}
	accesses->plan.start_ns = accesses->start_ns;
}

static int accesses_feed(struct recorded_accesses *accesses, struct recording_reader *reader,
			 const char *recording)
{
	struct accesses_reading reading = { accesses, analysis_new(true, page_size(), 0), 0, 0 };
	int err;

	if (!reading.analysis)
		return message(STATUS_FAILED, "out of memory");
	accesses->spaces = analysis_spaces(reading.analysis);
	analysis_listen(reading.analysis, accesses_take_fault, accesses);
	analysis_expect_spans(reading.analysis, recording_has_spans(reader));
	err = accesses_take_head(accesses, recording_head(reader));
	if (!err)
		err = recording_feed(reader, accesses_take_item, &reading, &signals_caught);
	if (!err)
		err = analysis_finish(reading.analysis);
	analysis_free(reading.analysis);
	accesses->spaces = NULL;
	if (signals_caught)
		return 128 + signals_caught;
	if (err)
		return message(STATUS_FAILED, "cannot read %s: %s", recording, strerror(-err));
	accesses->damaged = recording_damage(reader);
	if (accesses->damaged)
		message(STATUS_OK, "%s", recording_damage(reader));
	accesses_take_tail(accesses, recording_tail(reader), &reading);
	return STATUS_OK;
}

int recorded_accesses_read(struct recorded_accesses *accesses, const char *recording)
{
	struct recording_reader *reader;
	struct why why;
	int status;

	*accesses = (struct recorded_accesses){ 0 };
	if (recording_open(&reader, recording, &why))
		return signals_caught ? 128 + signals_caught :
					message(STATUS_FAILED, "%s", why.text);
	status = recording_require_pages(reader, &why) ? message(STATUS_FAILED, "%s", why.text) :
							 STATUS_OK;
	if (!status)
		status = accesses_feed(accesses, reader, recording);
	recording_close(reader);
	return status;
}

void recorded_accesses_exit(struct recorded_accesses *accesses)
{
	size_t i;

	access_plan_exit(&accesses->plan);
	for (i = 0; i < accesses->nr_files; i++)
		free(accesses->files[i].path);
	free(accesses->files);
	free(accesses->mappings);
	hash_exit(&accesses->by_place, NULL);
	hash_exit(&accesses->by_name, NULL);
	hash_exit(&accesses->by_inode, NULL);
}

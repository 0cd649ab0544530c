// SPDX-License-Identifier: GPL-2.0-only
/*
 * A heap of the longest faults that explain.c emits. Requests and calls arrive when they end. Those
 * ending before a fault is emitted are in two rings. Those ending later are added to the faults
 * kept by then, if they started early enough.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fault_tail.h"
#include "analyze/slowest.h"
#include "model/item.h"

/*
 * A ring of the block requests eBPF saw complete last. The search starts at the latest, so a
 * look-up takes as many steps as requests were completed since the given moment.
 */

static void device_load_exit(struct device_load *load)
{
	free(load->ring);
	*load = (struct device_load){ 0 };
}

static int device_load_add(struct device_load *load, const struct pfstat_block *block)
{
	if (!load->ring) {
		load->ring = calloc(DEVICE_LOAD_REQUESTS, sizeof(*load->ring));
		if (!load->ring)
			return -ENOMEM;
	}
	load->ring[load->count++ % DEVICE_LOAD_REQUESTS] = (struct device_load_request){
		.issue_ns = block->issue_ns,
		.end_ns = block->event.ns,
		.dev = block->dev,
	};
	return 0;
}

/* Whether the device had the request at `ns`. */
static bool device_load_includes(uint64_t issue_ns, uint64_t end_ns, uint64_t ns)
{
	return issue_ns <= ns && end_ns > ns;
}

/*
 * Returns the number of requests already passed to the `dev` driver at `ns` that completed later
 * and were added. 0: not known, because too many completed since.
 */
static uint32_t device_load_at(const struct device_load *load, uint32_t dev, uint64_t ns)
{
	const struct device_load_request *request;
	uint32_t in_flight = 0, steps;

	for (steps = 0; steps < load->count; steps++) {
		if (steps == DEVICE_LOAD_REQUESTS)
			return 0;
		request = &load->ring[(load->count - 1 - steps) % DEVICE_LOAD_REQUESTS];
		if (request->end_ns <= ns)
			break;
		in_flight += request->dev == dev &&
			     device_load_includes(request->issue_ns, request->end_ns, ns);
	}
	return in_flight;
}

/*
 * Names the place, the thread and the wait of the longest fault: the address spaces and the groups
 * have the names, and the waits the kernel stacks.
 */

static void longest_place_set(struct longest_place *place, const struct grouping *grouping,
			      const struct explained *fault)
{
	const struct space_map *map = grouping_map(grouping, fault);

	*place = (struct longest_place){
		.code = grouping_code_key(grouping, fault),
		.mapping = map ? map->path : 0,
	};
	strcpy(place->thread, address_spaces_comm(grouping->spaces, fault->tid));
}

/*
 * Without a fault all names are NULL, and the place may be NULL. Returns 0 or -ENOMEM.
 * longest_names_exit() frees them.
 */
static int longest_names_fill(struct longest_names *names, const struct longest_fault *fault,
			      const struct longest_place *place, const struct grouping *grouping,
			      const struct waits *waits)
{
	const struct wait_row *row = fault->wait ? &waits->rows[fault->wait - 1] : NULL;

	*names = (struct longest_names){ 0 };
	if (!fault->duration_ns)
		return 0;
	memcpy(names->thread, place->thread, sizeof(names->thread));
	names->file = grouping_file_name(grouping, fault->dev, fault->inode);
	names->mapping =
		strdup(place->mapping ? address_spaces_path(grouping->spaces, place->mapping) : "");
	names->code = grouping_code_name(grouping, &place->code);
	names->cause = row ? row->cause : NULL;
	names->functions = strdup(row ? row->functions : "");
	return names->file && names->mapping && names->code && names->functions ? 0 : -ENOMEM;
}

static void longest_names_exit(struct longest_names *names)
{
	free(names->file);
	free(names->mapping);
	free(names->code);
	free(names->functions);
	*names = (struct longest_names){ 0 };
}

void slowest_exit(struct slowest *slowest)
{
	unsigned int i;

	for (i = 0; i < slowest->nr; i++)
		free(slowest->heap[i]);
	free(slowest->heap);
	free(slowest->calls);
	device_load_exit(&slowest->load);
	*slowest = (struct slowest){ 0 };
}

/* Whether a is left out before b. */
static bool is_shorter(const struct slow_fault *a, const struct slow_fault *b)
{
	if (slow_fault_ns(a) != slow_fault_ns(b))
		return slow_fault_ns(a) < slow_fault_ns(b);
	return a->order > b->order;
}

static void heap_swap(struct slow_fault **heap, unsigned int a, unsigned int b)
{
	struct slow_fault *fault = heap[a];

	heap[a] = heap[b];
	heap[b] = fault;
}

static void heap_sift_up(struct slow_fault **heap, unsigned int at)
{
	for (; at && is_shorter(heap[at], heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap_swap(heap, at, (at - 1) / 2);
}

static void heap_sift_down(struct slow_fault **heap, unsigned int nr)
{
	unsigned int at = 0, child;

	for (; (child = 2 * at + 1) < nr; at = child) {
		if (child + 1 < nr && is_shorter(heap[child + 1], heap[child]))
			child++;
		if (!is_shorter(heap[child], heap[at]))
			return;
		heap_swap(heap, at, child);
	}
}

const char *slow_fault_thread(const struct slow_fault *slow, uint32_t tid)
{
	unsigned int i;

	for (i = 0; i < slow->nr_threads; i++)
		if (slow->threads[i].tid == tid)
			return slow->threads[i].comm;
	return "";
}

static void slow_fault_note_thread(struct slow_fault *slow, uint32_t tid,
				   const struct grouping *grouping)
{
	struct slow_thread *thread = &slow->threads[slow->nr_threads];
	const char *comm;

	if (!tid || !grouping || slow->nr_threads == SLOW_THREADS ||
	    slow_fault_thread(slow, tid)[0])
		return;
	comm = address_spaces_comm(grouping->spaces, tid);
	if (!comm[0])
		return;
	thread->tid = tid;
	snprintf(thread->comm, sizeof(thread->comm), "%s", comm);
	slow->nr_threads++;
}

uint64_t slow_fault_shared_ns(const struct slow_fault *slow, const struct pfstat_call *call)
{
	const struct explained *fault = &slow->fault;
	const uint64_t from_ns = call->start_ns > fault->start_ns ? call->start_ns :
								    fault->start_ns;
	const uint64_t to_ns = call->event.ns < fault->end_ns ? call->event.ns : fault->end_ns;

	return item_elapsed(from_ns, to_ns);
}

/* Keeps the calls ordered by share, largest first. */
static void slow_fault_add_call(struct slow_fault *slow, const struct pfstat_call *call,
				const struct grouping *grouping)
{
	const uint64_t shared_ns = slow_fault_shared_ns(slow, call);
	unsigned int at;

	if (call->event.pid != slow->fault.pid || call->event.tid == slow->fault.tid || !shared_ns)
		return;
	for (at = slow->nr_calls; at; at--)
		if (slow_fault_shared_ns(slow, &slow->calls[at - 1]) >= shared_ns)
			break;
	if (slow->nr_calls < SLOW_CALLS)
		slow->nr_calls++;
	else
		slow->calls_left_out++;
	if (at == SLOW_CALLS)
		return;
	memmove(&slow->calls[at + 1], &slow->calls[at],
		(slow->nr_calls - at - 1) * sizeof(slow->calls[0]));
	slow->calls[at] = *call;
	slow_fault_note_thread(slow, call->event.tid, grouping);
}

static void slowest_add_recent(const struct slowest *slowest, struct slow_fault *slow,
			       const struct grouping *grouping)
{
	const struct explained *fault = &slow->fault;
	unsigned int i, back;

	for (i = 0; i < fault->nr_requests; i++)
		slow->in_flight[i] = device_load_at(&slowest->load, fault->requests[i].dev,
						    fault->requests[i].issue_ns);
	for (back = 0; back < SLOWEST_RECENT_CALLS && back < slowest->nr_calls; back++)
		slow_fault_add_call(slow,
				    &slowest->calls[(slowest->nr_calls - 1 - back) %
						    SLOWEST_RECENT_CALLS],
				    grouping);
}

static void slow_fault_fill(struct slow_fault *slow, const struct slowest *slowest,
			    const struct explained *fault, const struct grouping *grouping)
{
	unsigned int i;

	*slow = (struct slow_fault){ .fault = *fault, .order = slowest->order };
	if (grouping)
		longest_place_set(&slow->place, grouping, fault);
	for (i = 0; i < fault->nr_spans; i++)
		slow_fault_note_thread(slow, fault->spans[i].waker, grouping);
	slowest_add_recent(slowest, slow, grouping);
}

/* Returns memory for one more fault. NULL: no memory. */
static struct slow_fault *slowest_grow(struct slowest *slowest)
{
	if (!slowest->heap)
		slowest->heap = calloc(slowest->max, sizeof(struct slow_fault *));
	return slowest->heap ? malloc(sizeof(**slowest->heap)) : NULL;
}

int slowest_add_fault(struct slowest *slowest, const struct explained *fault,
		      const struct grouping *grouping)
{
	const uint64_t duration_ns = fault->end_ns - fault->start_ns;
	struct slow_fault *slow;

	slowest->max = slowest->max ?: SLOWEST_FAULTS;
	slowest->order++;
	if (!duration_ns)
		return 0;
	if (slowest->nr == slowest->max) {
		if (duration_ns <= slow_fault_ns(slowest->heap[0]))
			return 0;
		slow_fault_fill(slowest->heap[0], slowest, fault, grouping);
		heap_sift_down(slowest->heap, slowest->nr);
	} else {
		slow = slowest_grow(slowest);
		if (!slow)
			return -ENOMEM;
		slow_fault_fill(slow, slowest, fault, grouping);
		slowest->heap[slowest->nr] = slow;
		heap_sift_up(slowest->heap, slowest->nr++);
	}
	if (fault->end_ns > slowest->end_ns)
		slowest->end_ns = fault->end_ns;
	return 0;
}

int slowest_add_block(struct slowest *slowest, const struct pfstat_block *block)
{
	const struct explained *fault;
	unsigned int i, j;

	for (i = 0; i < slowest->nr && block->issue_ns < slowest->end_ns; i++) {
		fault = &slowest->heap[i]->fault;
		for (j = 0; j < fault->nr_requests; j++)
			if (slowest->heap[i]->in_flight[j] &&
			    fault->requests[j].dev == block->dev &&
			    device_load_includes(block->issue_ns, block->event.ns,
						 fault->requests[j].issue_ns))
				slowest->heap[i]->in_flight[j]++;
	}
	return device_load_add(&slowest->load, block);
}

int slowest_add_call(struct slowest *slowest, const struct pfstat_call *call,
		     const struct grouping *grouping)
{
	unsigned int i;

	for (i = 0; i < slowest->nr && call->start_ns < slowest->end_ns; i++)
		slow_fault_add_call(slowest->heap[i], call, grouping);
	if (!slowest->calls)
		slowest->calls = calloc(SLOWEST_RECENT_CALLS, sizeof(*slowest->calls));
	if (!slowest->calls)
		return -ENOMEM;
	slowest->calls[slowest->nr_calls++ % SLOWEST_RECENT_CALLS] = *call;
	return 0;
}

const struct slow_fault *slowest_longest(const struct slowest *slowest)
{
	const struct slow_fault *longest = NULL;
	unsigned int i;

	for (i = 0; i < slowest->nr; i++)
		if (!longest || is_shorter(longest, slowest->heap[i]))
			longest = slowest->heap[i];
	return longest;
}

static int slowest_before(const void *a, const void *b)
{
	const struct slow_fault *left = *(struct slow_fault *const *)a;
	const struct slow_fault *right = *(struct slow_fault *const *)b;

	return is_shorter(left, right) ? 1 : -1;
}

int slowest_list(const struct slowest *slowest, const struct slow_fault ***sorted)
{
	*sorted = calloc(slowest->nr + 1, sizeof(struct slow_fault *));
	if (!*sorted)
		return -ENOMEM;
	if (slowest->nr)
		memcpy(*sorted, slowest->heap, slowest->nr * sizeof(struct slow_fault *));
	qsort(*sorted, slowest->nr, sizeof(struct slow_fault *), slowest_before);
	return 0;
}

static bool is_of_other_file(const struct explained *fault, const struct pfstat_block *request)
{
	return request->event.flags & PFSTAT_BLOCK_FILE &&
	       (request->inode != fault->inode || request->fs_dev != fault->dev);
}

int slow_names_fill(struct slow_names *names, const struct slow_fault *slow,
		    const struct grouping *grouping, const struct waits *waits)
{
	const struct explained *fault = &slow->fault;
	struct longest_fault longest = { 0 };
	unsigned int i;
	int err;

	*names = (struct slow_names){ 0 };
	longest_fault_set(&longest, fault);
	err = longest_names_fill(&names->place, &longest, &slow->place, grouping, waits);
	for (i = 0; i < fault->nr_spans; i++) {
		if (fault->spans[i].wait && part_has(fault->spans[i].part, PART_HAS_STACK))
			names->waits[i] = &waits->rows[fault->spans[i].wait - 1];
		if (fault->spans[i].task)
			names->tasks[i] = &waits->tasks.rows[fault->spans[i].task - 1];
	}
	for (i = 0; i < fault->nr_requests && !err; i++) {
		if (!is_of_other_file(fault, &fault->requests[i]))
			continue;
		names->files[i] = grouping_file_name(grouping, fault->requests[i].fs_dev,
						     fault->requests[i].inode);
		err = names->files[i] ? 0 : -ENOMEM;
	}
	return err;
}

void slow_names_exit(struct slow_names *names)
{
	unsigned int i;

	longest_names_exit(&names->place);
	for (i = 0; i < EXPLAIN_MAX_REQUESTS; i++)
		free(names->files[i]);
	*names = (struct slow_names){ 0 };
}

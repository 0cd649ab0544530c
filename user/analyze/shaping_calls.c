// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums the calls that eBPF sends by call, advice, file and caller. A process's mappings change, so
 * file and caller are looked up when the call is added. The rows are few, and neighbouring calls
 * are mostly equal, so the last row is tried first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups/address_spaces.h"
#include "analyze/shaping_calls.h"
#include "model/call_kind.h"

void shaping_calls_exit(struct shaping_calls *calls)
{
	size_t i;

	for (i = 0; i < calls->nr; i++)
		free(calls->rows[i].symbol);
	free(calls->rows);
	*calls = (struct shaping_calls){ 0 };
}

/* A failed call has no file, so it is in the caller's row, but in no file's row. */
static uint32_t target_of(struct spaces *spaces, const struct pfstat_call *call)
{
	const uint64_t address = call_kind_address(call);
	const struct space_map *map =
		address ? address_spaces_find(spaces, call->event.pid, address) : NULL;

	return map && space_map_has_file(map) ? map->path : 0;
}

static struct shaping_call shaping_call_key(struct spaces *spaces, const struct pfstat_call *call)
{
	const uint64_t address = call->caller ? call->caller - 1 : 0;
	const struct space_map *map =
		address ? address_spaces_find(spaces, call->event.pid, address) : NULL;
	struct shaping_call key = {
		.kind = call->kind,
		.detail = call_kind_detail(call),
		.target = target_of(spaces, call),
		.first_ns = call->event.ns,
	};

	if (map && space_map_has_file(map)) {
		key.path = map->path;
		key.place = address_spaces_offset(spaces, map, address);
	} else if (address) {
		key.pid = call->event.pid;
		key.place = address;
	}
	return key;
}

static bool shaping_call_is(const struct shaping_call *a, const struct shaping_call *b)
{
	return a->kind == b->kind && a->detail == b->detail && a->target == b->target &&
	       a->path == b->path && a->place == b->place && a->pid == b->pid;
}

/* NULL, and *err 0: there are too many rows. */
static struct shaping_call *shaping_calls_row(struct shaping_calls *calls,
					      const struct shaping_call *key, int *err)
{
	struct shaping_call *grown;
	size_t i;

	*err = 0;
	if (calls->nr && shaping_call_is(&calls->rows[calls->last], key))
		return &calls->rows[calls->last];
	for (i = 0; i < calls->nr && !shaping_call_is(&calls->rows[i], key); i++)
		;
	if (i == SHAPING_CALLS_MAX)
		return NULL;
	if (i == calls->nr) {
		grown = reallocarray(calls->rows, calls->nr + 1, sizeof(*grown));
		if (!grown) {
			*err = -ENOMEM;
			return NULL;
		}
		calls->rows = grown;
		grown[calls->nr++] = *key;
	}
	calls->last = i;
	return &calls->rows[i];
}

void shaping_calls_add_fork(struct shaping_calls *calls, const struct pfstat_fork *fork)
{
	calls->forks[calls->nr_forks++ % SHAPING_FORKS_MAX] = *fork;
}

static void shaping_call_add_fork(struct shaping_call *row, const struct shaping_calls *calls,
				  const struct pfstat_call *call)
{
	const struct pfstat_fork *fork;
	uint64_t i;

	for (i = 1; i <= calls->nr_forks && i <= SHAPING_FORKS_MAX; i++) {
		fork = &calls->forks[(calls->nr_forks - i) % SHAPING_FORKS_MAX];
		if (fork->event.tid != call->event.tid || fork->event.ns < call->start_ns ||
		    fork->event.ns > call->event.ns)
			continue;
		row->forks++;
		row->forks_counted += fork->event.flags & PFSTAT_FORK_PAGES;
		row->fork_pages += fork->pages;
		row->fork_table_bytes += fork->table_bytes;
		return;
	}
}

int shaping_calls_add(struct shaping_calls *calls, struct spaces *spaces,
		      const struct pfstat_call *call)
{
	const struct shaping_call key = shaping_call_key(spaces, call);
	struct shaping_call *row;
	int err;

	row = shaping_calls_row(calls, &key, &err);
	calls->added = row ? calls->last : SHAPING_NO_ROW;
	if (!row) {
		calls->left_out += !err;
		return err;
	}
	row->count++;
	row->failed += call->result < 0;
	row->total_ns += item_elapsed(call->start_ns, call->event.ns);
	row->last_ns = call->event.ns;
	shaping_call_add_fork(row, calls, call);
	if (call->result >= 0)
		row->bytes += call_kind_bytes(call);
	return 0;
}

int shaping_calls_visit(const struct shaping_calls *calls, const struct spaces *spaces,
			code_visitor visit, void *context)
{
	const struct shaping_call *row;
	int err = 0;

	for (row = calls->rows; row < calls->rows + calls->nr && !err; row++) {
		const struct code_place place = {
			.path = address_spaces_path(spaces, row->path),
			.inode = address_spaces_path_inode(spaces, row->path),
			.offset = row->place,
			.pid = row->pid,
		};

		if (row->place)
			err = visit(context, &place);
	}
	return err;
}

int shaping_calls_name(struct shaping_calls *calls, uint32_t path, uint32_t pid, uint64_t place,
		       const char *symbol)
{
	struct shaping_call *row;

	for (row = calls->rows; row < calls->rows + calls->nr; row++) {
		if (row->path != path || row->pid != pid || row->place != place)
			continue;
		free(row->symbol);
		row->symbol = strdup(symbol);
		if (!row->symbol)
			return -ENOMEM;
	}
	return 0;
}

char *shaping_call_caller(const struct shaping_call *call, const struct spaces *spaces)
{
	const char *path = address_spaces_path(spaces, call->path);
	char place[32], *text = NULL;
	int length;

	snprintf(place, sizeof(place), "0x%" PRIx64, call->place);
	if (!call->place)
		return strdup("(not known)");
	if (call->path)
		length = asprintf(&text, "%s (%s)", call->symbol ?: place, path);
	else
		length = asprintf(&text, "%s (pid %u)", call->symbol ?: place, call->pid);
	return length < 0 ? NULL : text;
}

/* Cuts the range of an madvise(2) call, which eBPF reports, at mapping edges. */

int file_advice_visit(struct spaces *spaces, const struct pfstat_advice *advice, advice_sink sink,
		      void *context)
{
	const uint64_t end = advice->address + advice->bytes;
	const uint64_t page_bytes = address_spaces_page_bytes(spaces);
	uint64_t address = advice->address, until;
	const struct space_map *map;
	int err = 0;

	while (address < end && !err) {
		map = address_spaces_find(spaces, advice->event.pid, address);
		if (!map)
			return 0;
		until = map->end < end ? map->end : end;
		if (space_map_has_file(map))
			err = sink(context,
				   &(struct file_advice){
					   .path = address_spaces_path(spaces, map->path),
					   .inode = map->inode,
					   .page = map->pgoff + (address - map->start) / page_bytes,
					   .pages = (until - address + page_bytes - 1) / page_bytes,
					   .start_ns = advice->start_ns,
					   .end_ns = advice->event.ns,
					   .advice = advice->advice,
				   });
		address = until;
	}
	return err;
}

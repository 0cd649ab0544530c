// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds each fault to one group per dimension: file, mapping, thread and so on. The address spaces
 * name files and mappings, and the stacks name call paths. At the end the groups are listed with
 * their names. symbols/ visits the code addresses and names them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups/grouping.h"

int grouping_init(struct grouping *grouping, uint64_t page_bytes, unsigned int dimensions,
		  size_t max)
{
	bool ok;
	enum group_by by, kept;

	grouping->spaces = address_spaces_new(page_bytes);
	grouping->stacks = stacks_new();
	ok = grouping->spaces && grouping->stacks;
	for (by = 0; by < NR_GROUP_BY; by++) {
		kept = group_by_kept(by);
		if (!(dimensions & 1U << by) || grouping->groups[kept])
			continue;
		grouping->groups[kept] = groups_new(max);
		ok = ok && grouping->groups[kept];
	}
	return ok ? 0 : -ENOMEM;
}

void grouping_exit(struct grouping *grouping)
{
	enum group_by by;

	address_spaces_free(grouping->spaces);
	stacks_free(grouping->stacks);
	code_table_exit(&grouping->code);
	for (by = 0; by < NR_GROUP_BY; by++)
		groups_free(grouping->groups[by]);
}

static struct cell *grouping_find_cell(const struct grouping *grouping, enum group_by by,
				       const struct group_key *key)
{
	return grouping->groups[by] ? groups_find(grouping->groups[by], key) : NULL;
}

const struct space_map *grouping_map(const struct grouping *grouping, const struct explained *fault)
{
	if (fault->flags & PFSTAT_FLAG_REMOTE)
		return NULL;
	return address_spaces_find(grouping->spaces, fault->pid, fault->address);
}

static int grouping_add_to_file(struct grouping *grouping, const struct explained *fault)
{
	const struct group_key key = { .inode = fault->inode, .dev = fault->dev };
	const struct space_map *map;
	struct cell *made;
	int err;

	err = groups_add(grouping->groups[GROUP_BY_FILE], &key, fault, &made);
	if (err || !made || !fault->inode)
		return err;
	made->path = address_spaces_file_path(grouping->spaces, fault->dev, fault->inode);
	map = made->path ? NULL : grouping_map(grouping, fault);
	/* The mapping's device differs from the fault's (btrfs). */
	if (map && space_map_has_file(map) && map->inode == fault->inode)
		made->path = map->path;
	return 0;
}

static int grouping_add_to_vma(struct grouping *grouping, const struct explained *fault)
{
	const struct space_map *map = grouping_map(grouping, fault);
	struct group_key key = { .pid = fault->pid };
	struct cell *made;
	int err;

	if (map) {
		key.address = map->start;
		key.end = map->end;
		key.path = map->path;
	}
	err = groups_add(grouping->groups[GROUP_BY_VMA], &key, fault, &made);
	if (err || !made || !map)
		return err;
	made->vma.has_file = map->inode;
	made->vma.prot = map->prot;
	made->vma.flags = map->flags;
	if (map->inode)
		made->vma.base =
			map->start - map->pgoff * address_spaces_page_bytes(grouping->spaces);
	return 0;
}

static int grouping_add_to_thread(struct grouping *grouping, const struct explained *fault)
{
	const struct group_key key = { .pid = fault->pid, .tid = fault->tid };
	struct cell *made;
	int err;

	err = groups_add(grouping->groups[GROUP_BY_THREAD], &key, fault, &made);
	if (!err && made)
		strcpy(made->comm, address_spaces_comm(grouping->spaces, fault->tid));
	return err;
}

struct group_key grouping_code_key(const struct grouping *grouping, const struct explained *fault)
{
	const struct space_map *map = address_spaces_find(grouping->spaces, fault->pid, fault->ip);

	if (!map || !space_map_has_file(map))
		return (struct group_key){ .pid = fault->pid, .address = fault->ip };
	return (struct group_key){
		.path = map->path,
		.address = address_spaces_offset(grouping->spaces, map, fault->ip),
	};
}

static int grouping_add_to_code(struct grouping *grouping, const struct explained *fault)
{
	const struct group_key key = grouping_code_key(grouping, fault);
	struct cell *made;

	return groups_add(grouping->groups[GROUP_BY_CODE], &key, fault, &made);
}

static int grouping_add_to_stack(struct grouping *grouping, const struct explained *fault)
{
	struct group_key key = { 0 };
	struct cell *made;
	int err;

	err = stacks_of_fault(grouping->stacks, grouping->spaces, fault, &key.address);
	return err ? err : groups_add(grouping->groups[GROUP_BY_STACK], &key, fault, &made);
}

/* A name fills two 8-byte words in the key. */
static int grouping_add_to_comm(struct grouping *grouping, const struct explained *fault)
{
	struct group_key key = { 0 };
	struct cell *made;
	char comm[16] = "";
	int err;

	strcpy(comm, address_spaces_comm(grouping->spaces, fault->tid));
	memcpy(&key.address, comm, 8);
	memcpy(&key.end, comm + 8, 8);
	err = groups_add(grouping->groups[GROUP_BY_COMM], &key, fault, &made);
	if (!err && made)
		memcpy(made->comm, comm, sizeof(made->comm));
	return err;
}

int grouping_add_fault(struct grouping *grouping, const struct explained *fault)
{
	static int (*const add_to[NR_GROUP_BY])(struct grouping *grouping,
						const struct explained *fault) = {
		[GROUP_BY_FILE] = grouping_add_to_file,	    [GROUP_BY_VMA] = grouping_add_to_vma,
		[GROUP_BY_THREAD] = grouping_add_to_thread, [GROUP_BY_CODE] = grouping_add_to_code,
		[GROUP_BY_STACK] = grouping_add_to_stack,   [GROUP_BY_COMM] = grouping_add_to_comm,
	};
	enum group_by by;
	int err = 0;

	for (by = 0; by < NR_GROUP_BY && !err; by++)
		if (grouping->groups[by])
			err = add_to[by](grouping, fault);
	return err;
}

/*
 * Advice for a part of a mapping splits it in the kernel. All parts are visited from the lowest
 * address on, so a part above the last one belongs to the same visit.
 */
static void grouping_set_state(struct cell *cell, const struct pfstat_mapping *mapping)
{
	const bool differs = cell->state.known && mapping->address > cell->state_address &&
			     mapping->advice != cell->state.advice;

	cell->state = (struct mapping_state){
		.known = true,
		.advice = differs ? MAPPING_MIXED : mapping->advice,
		.ra_pages = mapping->ra_pages,
		.mmap_miss = mapping->mmap_miss,
	};
	cell->state_address = mapping->address;
}

/* The kernel may have merged several mappings into one. A mapping without faults has no group. */
void grouping_add_mapping(struct grouping *grouping, const struct pfstat_mapping *mapping)
{
	const uint64_t end = mapping->address + mapping->bytes;
	uint64_t address = mapping->address;
	const struct space_map *map;
	struct group_key key;
	struct cell *cell;

	while (address < end) {
		map = address_spaces_find(grouping->spaces, mapping->event.pid, address);
		if (!map)
			return;
		key = (struct group_key){
			.pid = mapping->event.pid,
			.address = map->start,
			.end = map->end,
			.path = map->path,
		};
		cell = grouping_find_cell(grouping, GROUP_BY_VMA, &key);
		if (cell)
			grouping_set_state(cell, mapping);
		address = map->end;
	}
}

void grouping_rename_thread(struct grouping *grouping, const struct pfstat_task *task)
{
	const struct group_key key = { .pid = task->event.pid, .tid = task->event.tid };
	struct cell *cell = grouping_find_cell(grouping, GROUP_BY_THREAD, &key);

	if (cell)
		strcpy(cell->comm, address_spaces_comm(grouping->spaces, task->event.tid));
}

/*
 * The kernel reuses the number of an exited thread. A fork also closes the group, because the
 * exit before it may have been lost.
 */
static int grouping_close(struct grouping *grouping, uint32_t pid, uint32_t tid)
{
	const struct group_key key = { .pid = pid, .tid = tid };
	struct groups *threads = grouping->groups[GROUP_BY_THREAD];

	return threads ? groups_close(threads, &key) : 0;
}

int grouping_close_thread(struct grouping *grouping, const struct pfstat_task *task)
{
	const struct pfstat_event *event = &task->event;

	if (event->flags & (PFSTAT_TASK_EXIT | PFSTAT_TASK_FORK))
		return grouping_close(grouping, event->pid, event->tid);
	if (event->flags & PFSTAT_TASK_EXEC && task->parent != event->tid)
		return grouping_close(grouping, event->pid, task->parent);
	return 0;
}

int grouping_end_file(struct grouping *grouping, uint32_t dev, uint64_t inode)
{
	const struct group_key key = { .inode = inode, .dev = dev };
	struct cell *cell = grouping_find_cell(grouping, GROUP_BY_FILE, &key);
	uint32_t path;

	if (!cell)
		return 0;
	path = address_spaces_file_path(grouping->spaces, dev, inode);
	cell->path = path ? path : cell->path;
	return groups_close(grouping->groups[GROUP_BY_FILE], &key);
}

static const char *grouping_path_or(const struct grouping *grouping, uint32_t path,
				    const char *other)
{
	return path ? address_spaces_path(grouping->spaces, path) : other;
}

static void grouping_print_file(FILE *names, const struct grouping *grouping,
				const struct cell *cell)
{
	const uint32_t path =
		cell->closed ?
			0 :
			address_spaces_file_path(grouping->spaces, cell->key.dev, cell->key.inode);

	if (!cell->key.inode)
		fputs("(anonymous memory)", names);
	else if (path || cell->path)
		fputs(address_spaces_path(grouping->spaces, path ? path : cell->path), names);
	else
		fprintf(names, "(device %u:%u inode %" PRIu64 ")", cell->key.dev >> 20,
			cell->key.dev & 0xfffff, cell->key.inode);
}

char *grouping_file_name(const struct grouping *grouping, uint32_t dev, uint64_t inode)
{
	const struct cell cell = { .key = { .dev = dev, .inode = inode } };
	char *name = NULL;
	size_t length;
	FILE *out = open_memstream(&name, &length);

	if (!out)
		return NULL;
	grouping_print_file(out, grouping,
			    grouping_find_cell(grouping, GROUP_BY_FILE, &cell.key) ?: &cell);
	if (!fclose(out))
		return name;
	free(name);
	return NULL;
}

static void grouping_print_vma(FILE *names, const struct grouping *grouping,
			       const struct cell *cell)
{
	if (cell->key.end)
		fprintf(names, "%u %" PRIx64 "-%" PRIx64 " %s", cell->key.pid, cell->key.address,
			cell->key.end,
			grouping_path_or(grouping, cell->key.path, "(anonymous memory)"));
	else
		fprintf(names, "%u (no mapping known)", cell->key.pid);
}

static void grouping_print_thread(FILE *names, const struct cell *cell)
{
	if (cell->comm[0])
		fprintf(names, "%s (%u)", cell->comm, cell->key.tid);
	else
		fprintf(names, "(%u)", cell->key.tid);
}

/* The group's place in the table of code names. */
static struct code_place grouping_code_place(const struct grouping *grouping,
					     const struct group_key *key)
{
	return (struct code_place){
		.path = address_spaces_path(grouping->spaces, key->path),
		.inode = address_spaces_path_inode(grouping->spaces, key->path),
		.offset = key->address,
		.pid = key->pid,
	};
}

/* An instruction without a line has its function, which has no line then. */
static void grouping_print_code_name(FILE *names, enum group_by by, const struct group_key *key,
				     const struct code_name *name)
{
	if (by == GROUP_BY_LINE && name->source)
		fprintf(names, "%s:%" PRIu32, name->source, name->line);
	else if (by != GROUP_BY_CODE)
		fputs(name->function ?: "(no name)", names);
	else if (name->symbol)
		fputs(name->symbol, names);
	else
		fprintf(names, "0x%" PRIx64, key->address);
}

static void grouping_print_code(FILE *names, const struct grouping *grouping, enum group_by by,
				const struct group_key *key)
{
	const struct code_place place = grouping_code_place(grouping, key);

	if (!key->path && !key->address) {
		fputs("(not known)", names);
		return;
	}
	grouping_print_code_name(names, by, key, code_table_find(&grouping->code, &place));
	if (key->path)
		fprintf(names, " (%s)", place.path);
	else
		fprintf(names, " (pid %u)", key->pid);
}

char *grouping_code_name(const struct grouping *grouping, const struct group_key *key)
{
	char *name = NULL;
	size_t length;
	FILE *out = open_memstream(&name, &length);

	if (!out)
		return NULL;
	grouping_print_code(out, grouping, GROUP_BY_CODE, key);
	if (!fclose(out))
		return name;
	free(name);
	return NULL;
}

static void grouping_fill_group(struct group *group, const struct cell *cell)
{
	enum fault_class class;

	group->number = cell->number;
	group->pid = cell->key.pid;
	group->tid = cell->key.tid;
	group->address = cell->key.address;
	group->inode = cell->key.inode;
	group->dev = cell->key.dev;
	group->faults = cell->faults;
	group->major = cell->major;
	group->fetches = cell->fetches;
	group->total_ns = cell->total_ns;
	group->kernel_ns = cell->kernel_ns;
	group->max_ns = cell->max_ns;
	group->read_bytes = cell->read_bytes;
	group->reads = cell->reads;
	group->state = cell->state;
	group->others_max_ns = cell->floor_ns;
	memcpy(group->parts_ns, cell->parts_ns, sizeof(group->parts_ns));
	for (class = 0; class < NR_FAULT_CLASSES; class++)
		group->classes[class] = cell->classes[class];
}

struct listing {
	const struct grouping *grouping;
	enum group_by by;
	struct group *groups;
	size_t nr;
	FILE *names; /* all group names, each with a final 0 */
};

static void grouping_print_name(const struct listing *listing, const struct cell *cell)
{
	const struct grouping *grouping = listing->grouping;

	switch (listing->by) {
	case GROUP_BY_FILE:
		grouping_print_file(listing->names, grouping, cell);
		break;
	case GROUP_BY_VMA:
		grouping_print_vma(listing->names, grouping, cell);
		break;
	case GROUP_BY_THREAD:
		grouping_print_thread(listing->names, cell);
		break;
	case GROUP_BY_COMM:
		fputs(cell->comm[0] ? cell->comm : "(not known)", listing->names);
		break;
	case GROUP_BY_STACK:
		stacks_print(grouping->stacks, grouping->spaces, cell->key.address, listing->names);
		break;
	default:
		grouping_print_code(listing->names, grouping, listing->by, &cell->key);
	}
	fputc('\0', listing->names);
}

static int grouping_list_cell(void *context, struct cell *cell)
{
	struct listing *listing = context;
	struct group *group = &listing->groups[listing->nr++];

	grouping_fill_group(group, cell);
	if (listing->by != GROUP_BY_VMA && listing->by != GROUP_BY_CODE)
		group->address = 0;
	grouping_print_name(listing, cell);
	return 0;
}

static int grouping_list_vmas(struct listing *listing)
{
	struct cell *cells;
	size_t nr, i;
	int err = joined_vmas(listing->grouping->groups[GROUP_BY_VMA], &cells, &nr);

	if (err)
		return err;
	for (i = 0; i < nr; i++)
		grouping_list_cell(listing, &cells[i]);
	free(cells);
	return 0;
}

static void grouping_list_others(struct listing *listing, const struct groups *kept)
{
	struct group *group = &listing->groups[listing->nr++];
	struct groups_folded folded;

	groups_folded(kept, &folded);
	grouping_fill_group(group, groups_others(kept));
	group->folded = folded.groups;
	group->others_max_ns = folded.max_ns;
	fwrite(GROUP_OTHERS, sizeof(GROUP_OTHERS), 1, listing->names);
}

/* Puts the rows and their names into one allocation. Returns 0 or -ENOMEM. */
static int grouping_put_names(struct listing *listing, const char *names, size_t length)
{
	const size_t rows = listing->nr * sizeof(*listing->groups);
	struct group *groups;
	char *name;
	size_t i;

	/* Without rows there are no names, and realloc() to 0 bytes would free. */
	if (!listing->nr)
		return 0;
	groups = realloc(listing->groups, rows + length);
	if (!groups)
		return -ENOMEM;
	name = (char *)groups + rows;
	memcpy(name, names, length);
	for (i = 0; i < listing->nr; i++) {
		groups[i].name = name;
		name += strlen(name) + 1;
	}
	listing->groups = groups;
	return 0;
}

static int grouping_by_name(const void *a, const void *b)
{
	const struct group *left = a, *right = b;

	return strcmp(left->name, right->name) ?:
		       (left->number > right->number) - (left->number < right->number);
}

/* Adds up groups by code with the same name. The row of the folded groups has its own. */
static void grouping_join_names(struct listing *listing)
{
	struct group *groups = listing->groups;
	size_t i, kept = 0;

	if (listing->nr)
		qsort(groups, listing->nr, sizeof(*groups), grouping_by_name);
	for (i = 1; i < listing->nr; i++)
		if (strcmp(groups[kept].name, groups[i].name))
			groups[++kept] = groups[i];
		else
			group_add(&groups[kept], &groups[i]);
	if (listing->nr)
		listing->nr = kept + 1;
}

static int grouping_costliest_first(const void *a, const void *b)
{
	const struct group *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	/* Two threads or files that had the same number may have the same name. */
	return grouping_by_name(a, b);
}

int grouping_list(const struct grouping *grouping, enum group_by by, struct group **groups,
		  size_t *nr)
{
	const struct groups *kept = grouping->groups[group_by_kept(by)];
	struct listing listing = { .grouping = grouping, .by = by };
	char *names = NULL;
	size_t length;
	int err = 0;

	if (!kept)
		return -EINVAL;
	listing.names = open_memstream(&names, &length);
	listing.groups = calloc(groups_count(kept) + 1, sizeof(*listing.groups));
	if (listing.names && listing.groups) {
		if (by == GROUP_BY_VMA)
			err = grouping_list_vmas(&listing);
		else
			groups_visit(kept, grouping_list_cell, &listing);
		if (groups_others(kept))
			grouping_list_others(&listing, kept);
	}
	if (!listing.names || fclose(listing.names) || !listing.groups)
		err = -ENOMEM;
	if (!err)
		err = grouping_put_names(&listing, names, length);
	if (!err && by != group_by_kept(by))
		grouping_join_names(&listing);
	free(names);
	if (err) {
		free(listing.groups);
		return err;
	}
	qsort(listing.groups, listing.nr, sizeof(*listing.groups), grouping_costliest_first);
	*groups = listing.groups;
	*nr = listing.nr;
	return 0;
}

struct code_visit {
	const struct grouping *grouping;
	code_visitor visit;
	void *context;
};

static int grouping_visit_code_cell(void *context, struct cell *cell)
{
	const struct code_visit *visit = context;
	struct code_place place = grouping_code_place(visit->grouping, &cell->key);

	place.faults = true;
	return cell->key.path || cell->key.address ? visit->visit(visit->context, &place) : 0;
}

/* Skips fault code, which grouping_visit_code_cell() has visited. */
static int grouping_visit_stack_place(void *context, const struct stack_place *at)
{
	const struct code_visit *visit = context;
	const struct group_key key = { .path = at->path, .address = at->offset, .pid = at->pid };
	const struct code_place place = grouping_code_place(visit->grouping, &key);

	return grouping_find_cell(visit->grouping, GROUP_BY_CODE, &key) ?
		       0 :
		       visit->visit(visit->context, &place);
}

int grouping_visit_code(const struct grouping *grouping, code_visitor visit, void *context)
{
	const struct groups *codes = grouping->groups[GROUP_BY_CODE];
	struct code_visit all = { grouping, visit, context };
	int err = codes ? groups_visit(codes, grouping_visit_code_cell, &all) : 0;

	return err ? err : stacks_visit(grouping->stacks, grouping_visit_stack_place, &all);
}

int grouping_name_code(struct grouping *grouping, const struct code_place *place,
		       const char *symbol)
{
	const struct stack_place at = {
		.path = address_spaces_path_number(grouping->spaces, place->path),
		.pid = place->pid,
		.offset = place->offset,
	};
	int err = code_table_set_symbol(&grouping->code, place, symbol);

	return err || (!at.path && !at.pid) ? err :
					      stacks_name_place(grouping->stacks, &at, symbol);
}

const struct code_name *grouping_code_at(const struct grouping *grouping,
					 const struct explained *fault, const char **object)
{
	const struct group_key key = grouping_code_key(grouping, fault);
	const struct code_place place = grouping_code_place(grouping, &key);

	*object = key.path ? place.path : NULL;
	return code_table_find(&grouping->code, &place);
}

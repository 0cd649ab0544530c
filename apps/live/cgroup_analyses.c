// SPDX-License-Identifier: GPL-2.0-only
/*
 * Distributes items over analyses. Requests go to all of them, because a fault may wait for another
 * cgroup's request. So do pages leaving the page cache.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live/live.h"

struct cgroup_process {
	pid_t pid;
	struct cgroup_analysis *cgroup;
	bool gone; /* at the last update; the last items may still come */
};

void cgroup_analyses_init(struct cgroup_analyses *cgroups, bool have_bpf, uint64_t page_bytes,
			  unsigned int groups, cgroup_lookup lookup)
{
	*cgroups = (struct cgroup_analyses){
		.have_bpf = have_bpf,
		.page_bytes = page_bytes,
		.groups = groups,
		.lookup = lookup,
	};
}

void cgroup_analyses_exit(struct cgroup_analyses *cgroups)
{
	while (cgroups->nr--) {
		free(cgroups->list[cgroups->nr].name);
		analysis_free(cgroups->list[cgroups->nr].analysis);
	}
	cgroups->nr = 0;
	hash_exit(&cgroups->processes, free);
}

static struct cgroup_analysis *find_cgroup(struct cgroup_analyses *cgroups, const char *name)
{
	size_t i;

	for (i = 0; i < cgroups->nr; i++)
		if (!strcmp(cgroups->list[i].name, name))
			return &cgroups->list[i];
	return NULL;
}

/* The cgroup that has had no process for the longest time, or NULL if all have some. */
static struct cgroup_analysis *find_left(struct cgroup_analyses *cgroups)
{
	struct cgroup_analysis *found = NULL, *at;
	size_t i;

	for (i = 0; i < cgroups->nr; i++) {
		at = &cgroups->list[i];
		if (at->left && strcmp(at->name, CGROUP_OTHERS) &&
		    (!found || at->left < found->left))
			found = at;
	}
	return found;
}

static struct cgroup_analysis *fill_cgroup(struct cgroup_analyses *cgroups,
					   struct cgroup_analysis *cgroup, const char *name)
{
	struct cgroup_analysis made = {
		.name = strdup(name),
		.analysis =
			analysis_new_small(cgroups->have_bpf, cgroups->page_bytes, cgroups->groups),
	};

	if (!made.name || !made.analysis) {
		free(made.name);
		analysis_free(made.analysis);
		return NULL;
	}
	analysis_expect_spans(made.analysis, cgroups->have_bpf);
	free(cgroup->name);
	analysis_free(cgroup->analysis);
	*cgroup = made;
	return cgroup;
}

/* The last place is for "(others)". NULL: no memory. */
static struct cgroup_analysis *get_cgroup(struct cgroup_analyses *cgroups, const char *name)
{
	struct cgroup_analysis *cgroup = find_cgroup(cgroups, name);
	const bool others = !strcmp(name, CGROUP_OTHERS);

	if (cgroup)
		return cgroup;
	if (cgroups->nr < CGROUP_ANALYSES_MAX - 1U + others) {
		cgroup = fill_cgroup(cgroups, &cgroups->list[cgroups->nr], name);
		cgroups->nr += !!cgroup;
		return cgroup;
	}
	cgroup = find_left(cgroups);
	return cgroup ? fill_cgroup(cgroups, cgroup, name) : get_cgroup(cgroups, CGROUP_OTHERS);
}

static void cgroup_enter(struct cgroup_process *process, struct cgroup_analysis *cgroup)
{
	process->cgroup = cgroup;
	cgroup->processes++;
	cgroup->left = 0;
}

static void cgroup_forget(struct cgroup_process *process)
{
	if (process && process->cgroup)
		process->cgroup->processes--;
	free(process);
}

/* 0 or -ENOMEM. The process stays where it is if it is gone. */
static int cgroup_look_up(struct cgroup_analyses *cgroups, struct cgroup_process *process)
{
	char *name = cgroups->lookup(process->pid);
	struct cgroup_analysis *cgroup;

	process->gone = !name;
	if (!name && process->cgroup)
		return 0;
	cgroup = get_cgroup(cgroups, name ?: CGROUP_UNKNOWN);
	free(name);
	if (!cgroup)
		return -ENOMEM;
	if (cgroup == process->cgroup)
		return 0;
	if (process->cgroup)
		process->cgroup->processes--;
	cgroup_enter(process, cgroup);
	return 0;
}

/* Adds a process in the given cgroup, or in its own if that is NULL. NULL without memory. */
static struct cgroup_process *add_process(struct cgroup_analyses *cgroups, pid_t pid,
					  struct cgroup_analysis *cgroup)
{
	struct cgroup_process *process = calloc(1, sizeof(*process));
	int err;

	if (!process)
		return NULL;
	process->pid = pid;
	err = hash_add(&cgroups->processes, pid, process);
	if (err) {
		free(process);
		return NULL;
	}
	if (cgroup) {
		cgroup_enter(process, cgroup);
	} else if (cgroup_look_up(cgroups, process)) {
		cgroup_forget(hash_take(&cgroups->processes, pid));
		return NULL;
	}
	return process;
}

static struct cgroup_process *get_process(struct cgroup_analyses *cgroups, pid_t pid)
{
	struct cgroup_process *process = hash_find(&cgroups->processes, pid);

	return process ?: add_process(cgroups, pid, NULL);
}

static int add_child(struct cgroup_analyses *cgroups, const struct pfstat_task *task)
{
	const struct cgroup_process *parent = get_process(cgroups, task->parent_pid);

	if (!parent)
		return -ENOMEM;
	/* An ended process's number is reused. */
	cgroup_forget(hash_take(&cgroups->processes, task->event.pid));
	return add_process(cgroups, task->event.pid, parent->cgroup) ? 0 : -ENOMEM;
}

/* Called before the item is added: finds where its process is. */
static int follow_task(struct cgroup_analyses *cgroups, const struct pfstat_task *task)
{
	struct cgroup_process *process;

	if (task->event.flags & PFSTAT_TASK_FORK && task->event.pid == task->event.tid)
		return add_child(cgroups, task);
	if (!(task->event.flags & PFSTAT_TASK_EXEC))
		return 0;
	process = get_process(cgroups, task->event.pid);
	return process ? cgroup_look_up(cgroups, process) : -ENOMEM;
}

/* Adds to all, or to all but one. */
static int add_to_others(struct cgroup_analyses *cgroups, const struct item *item,
			 const struct cgroup_analysis *except)
{
	struct cgroup_analysis *cgroup;
	int err = 0;
	size_t i;

	for (i = 0; i < cgroups->nr && !err; i++) {
		cgroup = &cgroups->list[i];
		if (cgroup == except)
			continue;
		err = item->event->type == PFSTAT_EVENT_BLOCK ?
			      analysis_add_foreign(cgroup->analysis,
						   (const struct pfstat_block *)item->event) :
			      analysis_add(cgroup->analysis, item);
	}
	return err;
}

static bool is_anon_page(const struct item *item)
{
	return item->type == ITEM_EVENT && item->event->type == PFSTAT_EVENT_PAGE &&
	       item->event->flags & PFSTAT_PAGE_ANON;
}

/* The process that the item is about. */
static pid_t pid_of(const struct item *item)
{
	switch (item->type) {
	case ITEM_RECORD:
		return item->record->pid;
	case ITEM_MAP:
		return item->map->pid;
	default:
		return is_anon_page(item) ? ((const struct pfstat_page *)item->event)->inode :
					    item->event->pid;
	}
}

int cgroup_analyses_add(void *context, const struct item *item)
{
	struct cgroup_analyses *cgroups = context;
	const bool is_event = item->type == ITEM_EVENT;
	const struct cgroup_process *process;
	int err = 0;

	if (is_event && item->event->type == PFSTAT_EVENT_PAGE && !is_anon_page(item))
		return add_to_others(cgroups, item, NULL);
	if (is_event && item->event->type == PFSTAT_EVENT_TASK)
		err = follow_task(cgroups, (const struct pfstat_task *)item->event);
	if (err)
		return err;
	process = get_process(cgroups, pid_of(item));
	if (!process)
		return -ENOMEM;
	err = analysis_add(process->cgroup->analysis, item);
	if (!err && is_event && item->event->type == PFSTAT_EVENT_BLOCK)
		err = add_to_others(cgroups, item, process->cgroup);
	return err;
}

/* A process is forgotten at the second update at which it is gone. */
static bool keep_process(void *context, void *value)
{
	struct cgroup_analyses *cgroups = context;
	struct cgroup_process *process = value;
	const bool was_gone = process->gone;

	cgroups->update_err = cgroup_look_up(cgroups, process) ?: cgroups->update_err;
	if (!process->gone || !was_gone)
		return true;
	cgroup_forget(process);
	return false;
}

int cgroup_analyses_update(struct cgroup_analyses *cgroups)
{
	struct cgroup_analysis *cgroup;
	int err;
	size_t i;

	cgroups->updates++;
	cgroups->update_err = 0;
	err = hash_filter(&cgroups->processes, keep_process, cgroups);
	for (i = 0; i < cgroups->nr; i++) {
		cgroup = &cgroups->list[i];
		if (!cgroup->processes && !cgroup->left)
			cgroup->left = cgroups->updates;
	}
	return err ?: cgroups->update_err;
}

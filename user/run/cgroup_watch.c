// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program may move to another cgroup after its start, as with systemd-run --scope. The counters
 * at the start are then those of the wrong cgroup.
 */
#include <string.h>

#include "run/cgroup_watch.h"
#include "system/cgroup_levels.h"

void cgroup_watch_start(struct cgroup_watch *watch, const char *folder, pid_t pid)
{
	char own[CGROUP_PATH];

	*watch = (struct cgroup_watch){ 0 };
	if (folder)
		cgroup_levels_read(&watch->before, folder);
	else if (!cgroup_levels_folder(own, pid))
		cgroup_levels_read(&watch->before, own);
}

void cgroup_watch_check(struct cgroup_watch *watch, pid_t pid)
{
	char now[CGROUP_PATH];

	if (watch->before.path[0] && !cgroup_levels_folder(now, pid) &&
	    strcmp(now, watch->before.path))
		watch->moved = true;
}

void cgroup_watch_stop(const struct cgroup_watch *watch, struct cgroup_limits *limits)
{
	struct cgroup_levels after = { 0 };

	if (watch->before.path[0] && !watch->moved)
		cgroup_levels_read(&after, watch->before.path);
	cgroup_limits_between(&watch->before, &after, limits);
}

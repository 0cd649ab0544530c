// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the user for whom pfdrive works, from SUDO_UID or --user, and switches to that
 * user: for good in a child, or for file operations only in one thread. The result is
 * global to the process. invoker_begin() must change only the calling thread, so it avoids
 * glibc's wrappers for the groups.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "privilege/invoker.h"
#include "util/array.h"

#define MAX_ID 4294967294ULL /* all ones is not a user: it means "do not change" */

/* Belongs to the process, like its user and groups. */
static struct invoker {
	bool other;
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int nr_groups;
	char name[64];
	char *home, *shell;
	const char *chosen;
} invoker;

static int parse_id(const char *text, unsigned int *id)
{
	unsigned long long number;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (*end || errno || number > MAX_ID)
		return -EINVAL;
	*id = number;
	return 0;
}

static void forget(void)
{
	free(invoker.groups);
	free(invoker.home);
	free(invoker.shell);
	invoker = (struct invoker){ 0 };
}

/* If the groups do not fit, getgrouplist(3) stores how many there are. */
static int find_groups(const char *name)
{
	int room = 32;
	gid_t *grown;

	do {
		grown = reallocarray(invoker.groups, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		invoker.groups = grown;
		invoker.nr_groups = room;
		room *= 2;
	} while (getgrouplist(name, invoker.gid, invoker.groups, &invoker.nr_groups) < 0);
	return 0;
}

/* A user without an entry has no name and no home, and only one group. */
static int take_unnamed(void)
{
	snprintf(invoker.name, sizeof(invoker.name), "%u", invoker.uid);
	invoker.groups = malloc(sizeof(*invoker.groups));
	if (!invoker.groups)
		return -ENOMEM;
	invoker.groups[0] = invoker.gid;
	invoker.nr_groups = 1;
	return 0;
}

static int take_named(const struct passwd *entry)
{
	snprintf(invoker.name, sizeof(invoker.name), "%s", entry->pw_name);
	invoker.home = strdup(entry->pw_dir);
	invoker.shell = strdup(entry->pw_shell);
	if (!invoker.home || !invoker.shell)
		return -ENOMEM;
	return find_groups(entry->pw_name);
}

/* @entry: the user's database entry, or NULL */
static int invoker_take(uid_t uid, gid_t gid, const struct passwd *entry)
{
	int err;

	forget();
	invoker.uid = uid;
	invoker.gid = gid;
	err = entry ? take_named(entry) : take_unnamed();
	if (err) {
		forget();
		return err;
	}
	invoker.other = uid != geteuid();
	return 0;
}

int invoker_init(const char *sudo_uid, const char *sudo_gid)
{
	const struct passwd *entry;
	unsigned int uid, gid;

	forget();
	if (geteuid() || !sudo_uid)
		return 0;
	if (parse_id(sudo_uid, &uid))
		return -EINVAL;
	entry = getpwuid(uid);
	if (!sudo_gid && entry)
		gid = entry->pw_gid;
	else if (!sudo_gid || parse_id(sudo_gid, &gid))
		return -EINVAL;
	return uid ? invoker_take(uid, gid, entry) : 0;
}

int invoker_choose(const char *user)
{
	const struct passwd *entry = getpwnam(user);
	unsigned int uid;
	int err;

	if (!entry && !parse_id(user, &uid))
		entry = getpwuid(uid);
	if (!entry)
		return -ENOENT;
	if (geteuid() && entry->pw_uid != geteuid())
		return -EPERM;
	err = invoker_take(entry->pw_uid, entry->pw_gid, entry);
	invoker.chosen = user;
	return err;
}

bool invoker_is_other(void)
{
	return invoker.other;
}

const char *invoker_name(void)
{
	return invoker.name;
}

uid_t invoker_uid(void)
{
	return invoker.other ? invoker.uid : geteuid();
}

const char *invoker_chosen(void)
{
	return invoker.chosen ?: "";
}

/*
 * Sets the variables as su(1) does. SUDO_* is removed, so the child does not conclude that sudo
 * started it as root.
 */
static int change_environment(void)
{
	/* Older sudo releases do not set the last two. */
	static const char *const of_sudo[] = { "SUDO_UID",     "SUDO_GID",  "SUDO_USER",
					       "SUDO_COMMAND", "SUDO_HOME", "SUDO_TTY" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_sudo); i++)
		unsetenv(of_sudo[i]);
	if (setenv("USER", invoker.name, 1) || setenv("LOGNAME", invoker.name, 1) ||
	    setenv("HOME", invoker.home ?: "/", 1) ||
	    setenv("SHELL", invoker.shell && *invoker.shell ? invoker.shell : "/bin/sh", 1))
		return -errno;
	return 0;
}

int invoker_become(void)
{
	if (!invoker.other)
		return 0;
	if (setgroups(invoker.nr_groups, invoker.groups) ||
	    setresgid(invoker.gid, invoker.gid, invoker.gid) ||
	    setresuid(invoker.uid, invoker.uid, invoker.uid))
		return -errno;
	return change_environment();
}

/* The calling thread's original groups. glibc's setgroups(3) would change all threads. */
static struct {
	gid_t *groups;
	int nr;
} before;

static void restore_groups(void)
{
	syscall(SYS_setgroups, before.nr, before.groups);
	free(before.groups);
	before.groups = NULL;
}

static int change_groups(void)
{
	int err;

	before.nr = getgroups(0, NULL);
	before.groups = calloc(before.nr + 1, sizeof(*before.groups));
	if (!before.groups)
		return -ENOMEM;
	if (getgroups(before.nr, before.groups) < 0 ||
	    syscall(SYS_setgroups, invoker.nr_groups, invoker.groups)) {
		err = -errno;
		free(before.groups);
		before.groups = NULL;
		return err;
	}
	return 0;
}

int invoker_begin(void)
{
	int err;

	if (!invoker.other)
		return 0;
	err = change_groups();
	if (err)
		return err;
	setfsgid(invoker.gid);
	setfsuid(invoker.uid);
	/*
	 * setfsuid(2) returns only the previous id, so a second call is needed to check the
	 * change.
	 */
	if ((uid_t)setfsuid(-1) == invoker.uid && (gid_t)setfsgid(-1) == invoker.gid)
		return 0;
	invoker_end();
	return -EPERM;
}

void invoker_end(void)
{
	int err = errno;

	if (!invoker.other)
		return;
	setfsuid(geteuid());
	setfsgid(getegid());
	restore_groups();
	errno = err;
}

const char *invoker_strerror(int err)
{
	static char text[160];

	if (!invoker.other || (err != -EACCES && err != -EPERM))
		return strerror(-err);
	snprintf(text, sizeof(text), "%s, as user %s", strerror(-err), invoker.name);
	return text;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user for whom pfdrive works. Under sudo, pfdrive needs root's view of the kernel but works
 * with the programs and files of the user that called sudo. So it starts programs as this user, and
 * writes files with this user's rights, so the files belong to this user.
 */
#ifndef PFSTAT_USER_INVOKER_H
#define PFSTAT_USER_INVOKER_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* --user NAME; the parser rejects a user pfdrive cannot become. */
extern const struct argp invoker_argp;

/*
 * Sets the invoker from SUDO_UID and SUDO_GID (NULL if unset), which are ignored unless pfdrive
 * runs as root. Returns -EINVAL if one is not a number. If they are unset or name root, pfdrive
 * works for the user it runs as.
 */
int invoker_init(const char *sudo_uid, const char *sudo_gid);
/*
 * Chooses a user by name or number. Returns -ENOENT if there is no such user, or -EPERM because
 * only root may choose.
 */
int invoker_choose(const char *user);

/* True if the invoker is not the user as which pfdrive runs. */
bool invoker_is_other(void);
/* The name, or the number if the user has no name. */
const char *invoker_name(void);
uid_t invoker_uid(void);
/* The text passed to invoker_choose(), to pass to another pfdrive, or "". */
const char *invoker_chosen(void);

/*
 * Call it in a child. It cannot be undone. Changes user, group, supplementary groups and the user's
 * home variables. The kernel also clears the parent-death signal.
 */
int invoker_become(void);

/* Between these calls, the calling thread opens, creates and renames files as the invoker. */
int invoker_begin(void);
void invoker_end(void);

/* Explains why a file of the invoker could not be opened or written. Static buffer. */
const char *invoker_strerror(int err);

#endif

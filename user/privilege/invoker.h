/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For whom pfdrive works. Who calls it by sudo wants root's view of the kernel, and
 * his own programs and files: what pfdrive starts runs as the user who called sudo,
 * and what it writes is written with that user's rights, so that it is his.
 */
#ifndef PFSTAT_USER_INVOKER_H
#define PFSTAT_USER_INVOKER_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* --user NAME; refuses, when the options are read, a user that pfdrive cannot be. */
extern const struct argp invoker_argp;

/*
 * Who calls? SUDO_UID and SUDO_GID (NULL: not there) say so to root. -EINVAL: they
 * are no numbers. Without an answer, or with root's, pfdrive works for whom it runs as.
 */
int invoker_init(const char *sudo_uid, const char *sudo_gid);
/* Another by name or number. -ENOENT: there is none; -EPERM: only root chooses. */
int invoker_choose(const char *user);

/* Is it another user than pfdrive runs as? */
bool invoker_is_other(void);
/* By name, or by number where it has none. */
const char *invoker_name(void);
/* As it was given to invoker_choose(), for a pfdrive that this one starts; or "". */
const char *invoker_chosen(void);

/*
 * In a child, for good: user, group, supplementary groups, and the environment that
 * says where the user is at home. What death of the parent was to send is forgotten.
 */
int invoker_become(void);

/* Between these this thread opens, makes and renames files as the user. */
int invoker_begin(void);
void invoker_end(void);

/* Why a file of the user's could not be opened or written. In a static buffer. */
const char *invoker_strerror(int err);

#endif

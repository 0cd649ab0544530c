/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder: the holder, the options, and command execution. There is one at a time. Commands
 * come from `control` (the shell) or from an open `session` file (a program), see
 * <pfstat/control.h>.
 */
#ifndef PFSTAT_SESSION_H
#define PFSTAT_SESSION_H

#include <linux/types.h>

enum session_user {
	SESSION_NOBODY,
	SESSION_CONTROL,
	SESSION_PROGRAM,
};

struct session_state {
	enum session_user user;
	pid_t pid; /* the program with `session` open */
	char comm[16];
	bool recording;
	bool fault_around;
	bool overwrite;
	bool frames;
	size_t ring_size;
};

/* A program opens and closes `session`. open: 0 or -EBUSY. */
int pfstat_session_open(void);
void pfstat_session_close(void);
/*
 * One line in a write. Returns 0 or the errno stated in <pfstat/control.h>. frames: if the line
 * starts a session, the session's records have page frame numbers.
 */
int pfstat_session_command(enum session_user user, const char *line, bool frames);

void pfstat_session_state(struct session_state *state);
void pfstat_session_exit(void);

#endif

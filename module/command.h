/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command language for `control` and `session` (see <pfstat/control.h>). Pure: it parses and
 * does nothing else. The unit tests call it in user space.
 */
#ifndef PFSTAT_COMMAND_H
#define PFSTAT_COMMAND_H

#include <linux/types.h>
#include <pfstat/control.h>
#include <pfstat/event.h>

#ifndef __KERNEL__
#include <stdbool.h>
#endif

enum pfstat_verb {
	PFSTAT_VERB_NONE, /* an empty line */
	PFSTAT_VERB_PID,
	PFSTAT_VERB_FOLLOW,
	PFSTAT_VERB_FILE,
	PFSTAT_VERB_ONLY,
	PFSTAT_VERB_FAULT_AROUND,
	PFSTAT_VERB_RING_SIZE,
	PFSTAT_VERB_MODE,
	PFSTAT_VERB_FAULTS,
	PFSTAT_VERB_HANDLER,
	PFSTAT_VERB_WATCH,
	PFSTAT_VERB_IGNORE,
	PFSTAT_VERB_STOP,
	PFSTAT_VERB_CLEAR,
};

struct pfstat_command {
	enum pfstat_verb verb;
	/*
	 * PID, FOLLOW: process. FILE, ONLY: descriptor. RING_SIZE: bytes. HANDLER: address. WATCH,
	 * IGNORE: process or thread
	 */
	__u64 number;
	bool now;		/* PID: present mappings only */
	bool on;		/* FAULT_AROUND: keep. MODE: overwrite. FAULTS */
	enum pfstat_target how; /* WATCH */
};

/* Parses one line, without the newline. Returns 0, or -EINVAL and leaves *command unchanged. */
int pfstat_command_parse(const char *line, struct pfstat_command *command);
/* The form of the command at the start of @line, or the names of all commands. */
const char *pfstat_command_usage(const char *line);

#endif

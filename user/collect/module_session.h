/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's `session` file: what is watched, as long as it is open. */
#ifndef PFSTAT_USER_MODULE_SESSION_H
#define PFSTAT_USER_MODULE_SESSION_H

#include <stddef.h>
#include <stdint.h>

struct session {
	int fd;		/* -1: none */
};

#define SESSION_NONE ((struct session){ .fd = -1 })

int session_open(struct session *session);
void session_close(struct session *session);

/* One command of <pfstat/control.h>; the module's errno. */
int session_command(const struct session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The address that hooked VMAs have as ->fault; -EPERM without the right to load eBPF. */
int session_wrapper(const struct session *session, uint64_t *address);

/* Wrapper calls and lost records since the start, as the module counts them (`stats`). */
int session_counts(uint64_t *calls, uint64_t *lost);
/* Its own cost in picoseconds, as calibrated; FACT_NONE: n/a. See struct facts. */
void session_cost(uint64_t *call_ps, uint64_t *inside_ps);

/*
 * What to say about session_open()'s error: what is wrong and what to do, a
 * clause without the program's name or a full stop.
 */
void session_explain(int err, char *sentence, size_t size);

#endif

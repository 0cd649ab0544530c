/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signals, which must not end pfdrive before it has cleaned up. The globals
 * are here because handlers have no other way to their caller.
 */
#ifndef PFSTAT_USER_SIGNALS_H
#define PFSTAT_USER_SIGNALS_H

#include <setjmp.h>
#include <signal.h>

/* SIGINT, SIGTERM, SIGHUP: 0 until one came, then its number. Ask often. */
extern volatile sig_atomic_t signals_caught;

/*
 * SIGBUS, a page that cannot be read: while armed, jumps to `signals_bus`.
 * Only for code that holds nothing and calls nothing.
 */
extern sigjmp_buf signals_bus;
extern volatile sig_atomic_t signals_bus_armed;

/* SIGPIPE and SIGXFSZ are ignored, and stay so over an exec: a child undoes it. */
void signals_init(void);
/* In a child: these end it, as before; what was ignored from the start (nohup) stays so. */
void signals_default(void);
/* In a process that cleans up after another: no signal that usually ends a process ends it. */
void interrupt_ignore(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signals must not terminate pfdrive before it has cleaned up. The globals are here because a
 * handler has no other way to reach the caller.
 */
#ifndef PFSTAT_USER_SIGNALS_H
#define PFSTAT_USER_SIGNALS_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>

/*
 * 0, or the number of the last SIGINT, SIGTERM, SIGHUP or, after signals_take_user(), SIGUSR1.
 * Check it often.
 */
extern volatile sig_atomic_t signals_caught;

/*
 * While armed, SIGBUS (an unreadable page) jumps to `signals_bus`. Only for code holding no
 * resource and making no call.
 */
extern sigjmp_buf signals_bus;
extern volatile sig_atomic_t signals_bus_armed;

/*
 * If signals_caught is still set after a second, a further signal ends the process. Also ignores
 * SIGPIPE and SIGXFSZ. That survives exec, so a child calls signals_default().
 */
void signals_init(void);
/*
 * SIGUSR1, which requests something, also sets signals_caught, unless it is set already. A child
 * has the default action again after exec.
 */
void signals_take_user(void);
/* True, and resets signals_caught, if the signal was SIGUSR1. */
bool signals_user_came(void);
/*
 * Blocks the signals ending pfdrive, and returns the previous mask. A caller that lets them in only
 * within ppoll(2) misses none between testing signals_caught and waiting.
 */
void signals_block(sigset_t *before);
/* Restores the defaults in a child. Signals ignored from the start (nohup) stay ignored. */
void signals_default(void);
/*
 * For a process that cleans up after another: ignores the usual termination signals, and SIGUSR1,
 * because pidof(8) finds this process too.
 */
void signals_ignore(void);

#endif

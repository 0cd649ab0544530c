// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <stddef.h>

#include "util/signals.h"

volatile sig_atomic_t signals_caught;
sigjmp_buf signals_bus;
volatile sig_atomic_t signals_bus_armed;

static void on_end(int number)
{
	signals_caught = number;
}

static void on_bus(int number)
{
	if (signals_bus_armed)
		siglongjmp(signals_bus, 1);
	/* Not the file's pages: let it end us, as if nobody had caught it. */
	signal(number, SIG_DFL);
	raise(number);
}

/* nohup(1) wants it to go on. Who ignores the other two (a shell's `&') still sends them. */
static bool ignores_hangup(void)
{
	struct sigaction now;

	return !sigaction(SIGHUP, NULL, &now) && now.sa_handler == SIG_IGN;
}

void signals_init(void)
{
	/* Without SA_RESTART, so that what waits is woken. */
	struct sigaction end = { .sa_handler = on_end }, bus = { .sa_handler = on_bus };
	struct sigaction ignored = { .sa_handler = SIG_IGN };

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	if (!ignores_hangup())
		sigaction(SIGHUP, &end, NULL);
	sigaction(SIGBUS, &bus, NULL);
	/* A write tells of a reader that is gone; what else was asked for is written then. */
	sigaction(SIGPIPE, &ignored, NULL);
	/* write(2) fails with EFBIG instead, so that temporary files are removed. */
	sigaction(SIGXFSZ, &ignored, NULL);
	/* Ignored, it would take the status of whoever is waited for. */
	signal(SIGCHLD, SIG_DFL);
}

void signals_default(void)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	if (!ignores_hangup())
		signal(SIGHUP, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
}

void interrupt_ignore(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
}

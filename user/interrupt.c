// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>

#include "interrupt.h"

volatile sig_atomic_t interrupt_signal;
sigjmp_buf interrupt_bus;
volatile sig_atomic_t interrupt_bus_armed;

static void on_end(int number)
{
	interrupt_signal = number;
}

static void on_bus(int number)
{
	if (interrupt_bus_armed)
		siglongjmp(interrupt_bus, 1);
	/* Not the file's pages: let it end us, as if nobody had caught it. */
	signal(number, SIG_DFL);
	raise(number);
}

void interrupt_init(void)
{
	/* Without SA_RESTART, so that what waits is woken. */
	struct sigaction end = { .sa_handler = on_end }, bus = { .sa_handler = on_bus };
	struct sigaction ignored = { .sa_handler = SIG_IGN }, before;

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	/* nohup(1) wants it to go on. Who ignores the others (a shell's `&') still sends them. */
	sigaction(SIGHUP, NULL, &before);
	if (before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &end, NULL);
	sigaction(SIGBUS, &bus, NULL);
	/* A write tells of a reader that is gone; what else was asked for is written then. */
	sigaction(SIGPIPE, &ignored, NULL);
	/* Ignored, it would take the status of whoever is waited for. */
	signal(SIGCHLD, SIG_DFL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive's signal handlers. They only set a flag or jump out of an access loop, so the interrupted
 * code can clean up. If it does not react, the next signal ends the process.
 */
#include <stddef.h>

#include "util/signals.h"
#include "util/time_ns.h"

/*
 * timeout(1) sends its signal twice, to the command and to the process group: within this time
 * after the first signal another one is the same request.
 */
#define SAME_REQUEST_NS SECOND

volatile sig_atomic_t signals_caught;
sigjmp_buf signals_bus;
volatile sig_atomic_t signals_bus_armed;

static void signals_die(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static void on_end(int number)
{
	static volatile uint64_t first_ns;
	const uint64_t now_ns = clock_monotonic_ns();

	if (!signals_caught || signals_caught == SIGUSR1)
		first_ns = now_ns;
	else if (now_ns > first_ns + SAME_REQUEST_NS)
		signals_die(number);
	signals_caught = number;
}

/* Another signal may come in between. */
static bool signals_replace(sig_atomic_t from, sig_atomic_t to)
{
	return __atomic_compare_exchange_n(&signals_caught, &from, to, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

static void on_user(int number)
{
	signals_replace(0, number);
}

static void on_bus(int number)
{
	if (signals_bus_armed)
		siglongjmp(signals_bus, 1);
	/* Not a page of the mapped file: die as if the signal were not handled. */
	signals_die(number);
}

/*
 * Keep SIGHUP ignored under nohup(1). SIGINT and SIGTERM are handled even if inherited as
 * ignored (shell '&'): an explicit kill must work.
 */
static bool ignores_hangup(void)
{
	struct sigaction now;

	return !sigaction(SIGHUP, NULL, &now) && now.sa_handler == SIG_IGN;
}

void signals_init(void)
{
	/* Without SA_RESTART, so a blocking call returns. */
	struct sigaction end = { .sa_handler = on_end }, bus = { .sa_handler = on_bus };
	struct sigaction ignored = { .sa_handler = SIG_IGN };

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	if (!ignores_hangup())
		sigaction(SIGHUP, &end, NULL);
	sigaction(SIGBUS, &bus, NULL);
	/* A write then fails with EPIPE, and other outputs are still written. */
	sigaction(SIGPIPE, &ignored, NULL);
	/* write(2) then fails with EFBIG, so temporary files are removed. */
	sigaction(SIGXFSZ, &ignored, NULL);
	/* If SIGCHLD were ignored, wait(2) could not return a child's status. */
	signal(SIGCHLD, SIG_DFL);
}

void signals_take_user(void)
{
	struct sigaction user = { .sa_handler = on_user };

	sigaction(SIGUSR1, &user, NULL);
}

bool signals_user_came(void)
{
	return signals_replace(SIGUSR1, 0);
}

void signals_block(sigset_t *before)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGUSR1);
	sigprocmask(SIG_BLOCK, &ends, before);
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

void signals_ignore(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
}

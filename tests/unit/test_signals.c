// SPDX-License-Identifier: GPL-2.0-only
/* The signals that end pfdrive: the first one is a request, a later one ends it in any case. */
#include <unistd.h>

#include "runner.h"
#include "user/util/signals.h"

TEST(test_first_signal_lets_the_process_clean_up)
{
	signals_init();
	raise(SIGTERM);
	ck_assert_int_eq(signals_caught, SIGTERM);
	/* timeout(1) sends it again at once. */
	raise(SIGTERM);
	ck_assert_int_eq(signals_caught, SIGTERM);
}

TEST(test_process_that_does_not_react_is_ended_by_a_later_signal, .signal = SIGINT)
{
	signals_init();
	for (;;) {
		raise(SIGINT);
		usleep(10000);
	}
}

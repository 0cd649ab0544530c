// SPDX-License-Identifier: GPL-2.0-only
/* CPU sets may exceed the 1024 CPUs in a cpu_set_t. */
#include <sched.h>
#include <unistd.h>

#include "runner.h"
#include "user/system/cpus.h"

TEST(test_a_cpu_beyond_1024_is_in_the_set)
{
	const struct cpus last = cpus_only(CPUS_MAX - 1), high = cpus_only(1024);

	ck_assert(cpus_has(&last, CPUS_MAX - 1));
	ck_assert_uint_eq(cpus_count(&last), 1);
	ck_assert(cpus_has(&high, 1024) && !cpus_has(&high, 0));
	ck_assert(!cpus_has(&high, CPUS_MAX));
}

TEST(test_cpu_set_of_a_thread_is_its_affinity)
{
	struct cpus before, after;
	int cpu = sched_getcpu();
	struct cpus one = cpus_only(cpu);

	ck_assert_int_eq(cpus_read(&before), 0);
	ck_assert_uint_ge(cpus_count(&before), 1);
	ck_assert_int_eq(cpus_confine(0, &one), 0);
	ck_assert_int_eq(cpus_read(&after), 0);
	ck_assert_uint_eq(cpus_count(&after), 1);
	ck_assert(cpus_has(&after, cpu));
	ck_assert_int_eq(cpus_confine(0, &before), 0);
}

TEST(test_a_list_of_cpus_is_parsed)
{
	static const char *const wrong[] = {
		"", "\n", "-1", "3-1", "1,", "x", "1 2", "8192", "0-"
	};
	struct cpus cpus;
	unsigned int i;

	ck_assert_int_eq(cpus_online_parse(&cpus, "0-3,5,8190-8191\n"), 0);
	ck_assert_uint_eq(cpus_count(&cpus), 7);
	ck_assert(cpus_has(&cpus, 3) && !cpus_has(&cpus, 4) && cpus_has(&cpus, 5));
	ck_assert(cpus_has(&cpus, 8191));
	ck_assert_int_eq(cpus_online_parse(&cpus, "0"), 0);
	ck_assert_uint_eq(cpus_count(&cpus), 1);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_int_eq(cpus_online_parse(&cpus, wrong[i]), -EINVAL);
}

TEST(test_only_a_changed_set_is_reported)
{
	struct cpus_online online;

	cpus_online_open(&online);
	ck_assert(cpus_online_changed(&online));
	ck_assert_uint_ge(cpus_count(&online.cpus), 1);
	ck_assert(!cpus_online_changed(&online));
	strcpy(online.text, "7");
	ck_assert(cpus_online_changed(&online));
	cpus_online_close(&online);
	ck_assert(!cpus_online_changed(&online));
}

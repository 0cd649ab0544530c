/* SPDX-License-Identifier: GPL-2.0-only */
/* main() of a unit test: its tests in one suite. */
#ifndef PFSTAT_TESTS_RUNNER_H
#define PFSTAT_TESTS_RUNNER_H

#include <check.h>
#include <stddef.h>
#include <stdlib.h>

static inline int run_tests(const char *name, const struct TTest *const *tests, size_t nr)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner;
	int failed;
	size_t i;

	for (i = 0; i < nr; i++)
		tcase_add_test(tcase, tests[i]);
	tcase_set_timeout(tcase, 60);	/* sanitizers on a loaded machine */
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	/* CK_VERBOSITY=verbose names every test. */
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define RUN_TESTS(name, ...) \
	int main(void) \
	{ \
		const struct TTest *const tests[] = { __VA_ARGS__ }; \
		\
		exit(run_tests(name, tests, sizeof(tests) / sizeof(tests[0]))); \
	}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The main() of a unit test: one suite with all its tests. */
#ifndef PFSTAT_TESTS_RUNNER_H
#define PFSTAT_TESTS_RUNNER_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file that PFSTAT_SKIP names has lines "TEST: REASON" of tests that cannot work there. */
static inline bool is_skipped(const char *test)
{
	const char *path = getenv("PFSTAT_SKIP");
	FILE *file = path ? fopen(path, "re") : NULL;
	const size_t length = strlen(test);
	bool skipped = false;
	char line[256];

	if (path && !file) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	while (file && !skipped && fgets(line, sizeof(line), file))
		skipped = !strncmp(line, test, length) && line[length] == ':';
	if (skipped)
		printf("SKIPPED %s", line);
	if (file)
		fclose(file);
	return skipped;
}

/* @setup, @teardown: run before and after each test, in its process; may be NULL */
static inline int run_tests(const char *name, SFun setup, SFun teardown,
			    const struct TTest *const *tests, size_t nr)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner;
	int failed;
	size_t i;

	if (setup)
		tcase_add_checked_fixture(tcase, setup, teardown);
	for (i = 0; i < nr; i++)
		if (!is_skipped(tests[i]->name))
			tcase_add_test(tcase, tests[i]);
	tcase_set_timeout(tcase, 60); /* Sanitizers are slow on a loaded machine. */
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	/* CK_VERBOSITY=verbose prints the name of each test. */
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define RUN_TESTS(name, ...) RUN_TESTS_WITH(name, NULL, NULL, __VA_ARGS__)

#define RUN_TESTS_WITH(name, setup, teardown, ...)                                             \
	int main(void)                                                                         \
	{                                                                                      \
		const struct TTest *const tests[] = { __VA_ARGS__ };                           \
		exit(run_tests(name, setup, teardown, tests, sizeof(tests) / sizeof(*tests))); \
	}

#endif

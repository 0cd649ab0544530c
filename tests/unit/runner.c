// SPDX-License-Identifier: GPL-2.0-only
/*
 * The main() for unit tests. It runs the tests from all files linked into it, several files at a
 * time. Each file has a process, which starts a process for each test, so a test cannot change
 * anything for the next one.
 */
#include <errno.h>
#include <getopt.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"

/* Sanitizers are slow on a loaded machine. CK_TIMEOUT_MULTIPLIER extends it. */
#define TIMEOUT_S  240
#define NAME_BYTES 64
#define MAX_FILES  512
/* In a file. */
#define MAX_ROWS    1024
#define CLAIM_BYTES 256

/* The tests in one source file. */
struct file {
	char name[NAME_BYTES]; /* without folder and suffix */
	pid_t pid;	       /* 0: not running */
	FILE *results;	       /* the lines with the tests */
	FILE *output;	       /* the tests' own, printed if one fails */
	/* Shared memory, filled by the file's process. */
	struct file_counts {
		int passed, failed;
		bool finished;
	} *counts;
};

static const char usage[] =
	"usage: %s [-v] [-j JOBS] [FILE[::TEST]…]     runs unit tests, all by default\n"
	"\n"
	"  FILE       test_bins for tests/unit/test_bins.c\n"
	"  -j JOBS    files whose tests run at a time, default: the number of CPUs\n"
	"  -v         prints a line for each test, and one for each file\n"
	"  -l         lists the tests instead\n";

static struct unit_test *tests;
static struct file files[MAX_FILES];
static size_t nr_files;
static char *const *wanted; /* ends with NULL, or empty for all tests */
static bool verbose;

/* ASan delays the reuse of freed memory. With its default of 256 MiB, the search for leaks takes
 * half of the time.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8";
}

static void die(const char *why)
{
	perror(why);
	exit(EXIT_FAILURE);
}

/* Sorts the tests by file and line. */
void unit_test_register(struct unit_test *test)
{
	struct unit_test **at = &tests;
	int order;

	while (*at) {
		order = strcmp((*at)->check.file, test->check.file);
		if (order > 0 || (!order && (*at)->check.line > test->check.line))
			break;
		at = &(*at)->next;
	}
	test->next = *at;
	*at = test;
}

static struct owned {
	void *memory;
	struct owned *next;
} *owned_memory;

static void free_owned(void)
{
	struct owned *owned;

	while ((owned = owned_memory)) {
		owned_memory = owned->next;
		free(owned->memory);
		free(owned);
	}
}

void *unit_own(void *memory)
{
	struct owned *owned = malloc(sizeof(*owned));

	if (!owned || (!owned_memory && atexit(free_owned)))
		die("cannot allocate memory");
	*owned = (struct owned){ memory, owned_memory };
	owned_memory = owned;
	return memory;
}

/* @name: NAME_BYTES */
static void file_name(const struct unit_test *test, char *name)
{
	const char *slash = strrchr(test->check.file, '/');

	snprintf(name, NAME_BYTES, "%s", slash ? slash + 1 : test->check.file);
	*strchrnul(name, '.') = '\0';
}

/* @word: FILE or FILE::TEST */
static bool is_named(const struct unit_test *test, const char *word)
{
	char name[NAME_BYTES];
	size_t length;

	file_name(test, name);
	length = strlen(name);
	if (strncmp(word, name, length))
		return false;
	word += length;
	return !*word || (!strncmp(word, "::", 2) && !strcmp(word + 2, test->check.name));
}

static bool is_wanted(const struct unit_test *test)
{
	char *const *word;

	for (word = wanted; *word; word++)
		if (is_named(test, *word))
			return true;
	return word == wanted;
}

/* The file named by PFSTAT_SKIP has lines "TEST: REASON" for tests that cannot work there. */
static bool is_skipped(const struct unit_test *test, const char *name, FILE *out)
{
	const char *path = getenv("PFSTAT_SKIP");
	FILE *file = path ? fopen(path, "re") : NULL;
	const size_t length = strlen(test->check.name);
	bool skipped = false;
	char line[256];

	if (path && !file)
		die(path);
	while (file && !skipped && fgets(line, sizeof(line), file))
		skipped = !strncmp(line, test->check.name, length) && line[length] == ':';
	if (skipped)
		fprintf(out, "SKIPPED %s::%s", name, line);
	if (file)
		fclose(file);
	return skipped;
}

/* A case for each test or row, because a result has only the case name. */
static void add_case(Suite *suite, const struct unit_test *test, const char *name, int from, int to)
{
	TCase *tcase = tcase_create(name);

	if (test->fixture->setup || test->fixture->teardown)
		tcase_add_checked_fixture(tcase, test->fixture->setup, test->fixture->teardown);
	tcase_set_timeout(tcase, TIMEOUT_S);
	_tcase_add_test(tcase, &test->check, test->signal, 0, from, to);
	suite_add_tcase(suite, tcase);
}

static const char *row_claim(const struct unit_test *test, int row)
{
	return *(const char *const *)((const char *)test->rows + row * test->row_bytes);
}

static void add_cases(Suite *suite, const struct unit_test *test)
{
	static char names[MAX_ROWS][CLAIM_BYTES];
	static size_t nr_names;
	int row;

	if (!test->rows) {
		add_case(suite, test, test->check.name, 0, test->loops ? test->loops : 1);
		return;
	}
	for (row = 0; row < test->loops; row++, nr_names++) {
		if (nr_names == MAX_ROWS)
			die("cannot hold the rows of so many tables");
		snprintf(names[nr_names], CLAIM_BYTES, "%s: %s", test->check.name,
			 row_claim(test, row));
		add_case(suite, test, names[nr_names], row, row + 1);
	}
}

static void print_results(const struct file *file, SRunner *runner)
{
	const int nr = srunner_ntests_run(runner);
	TestResult **results = srunner_results(runner);
	int i;

	for (i = 0; i < nr; i++)
		if (tr_rtype(results[i]) != CK_PASS)
			fprintf(file->results, "FAILED %s::%s\n%s:%d: %s\n", file->name,
				tr_tcname(results[i]), tr_lfile(results[i]), tr_lno(results[i]),
				tr_msg(results[i]));
		else if (verbose)
			fprintf(file->results, "PASSED %s::%s\n", file->name,
				tr_tcname(results[i]));
	free(results);
}

static void run_file(const struct file *file)
{
	Suite *suite = suite_create(file->name);
	SRunner *runner = srunner_create(suite);
	const struct unit_test *test;
	char name[NAME_BYTES];

	for (test = tests; test; test = test->next) {
		file_name(test, name);
		if (!strcmp(name, file->name) && is_wanted(test) &&
		    !is_skipped(test, name, file->results))
			add_cases(suite, test);
	}
	fflush(file->results);
	srunner_run_all(runner, CK_SILENT);
	print_results(file, runner);
	file->counts->failed = srunner_ntests_failed(runner);
	file->counts->passed = srunner_ntests_run(runner) - file->counts->failed;
	file->counts->finished = true;
	srunner_free(runner);
}

static void start_file(struct file *file)
{
	file->results = tmpfile();
	file->output = tmpfile();
	if (!file->results || !file->output)
		die("cannot create a temporary file");
	fflush(stdout);
	file->pid = fork();
	if (file->pid < 0)
		die("cannot start a process");
	if (file->pid)
		return;
	if (dup2(fileno(file->output), STDOUT_FILENO) < 0 ||
	    dup2(fileno(file->output), STDERR_FILENO) < 0)
		die("cannot redirect the output of tests");
	run_file(file);
	fflush(file->results);
	_exit(EXIT_SUCCESS);
}

static void copy_to_stdout(FILE *from)
{
	char bytes[4096];
	size_t nr;

	rewind(from);
	while ((nr = fread(bytes, 1, sizeof(bytes), from)))
		fwrite(bytes, 1, nr, stdout);
}

/* Waits until a file has ended, and prints the file's results. */
static void end_file(struct file_counts *sum)
{
	const pid_t pid = wait(NULL);
	struct file *file = files;

	if (pid < 0)
		die("cannot wait for tests");
	while (file->pid != pid)
		if (++file == files + nr_files)
			return;
	copy_to_stdout(file->results);
	if (!file->counts->finished) {
		printf("FAILED %s: it did not finish\n", file->name);
		file->counts->failed++;
	}
	if (file->counts->failed)
		copy_to_stdout(file->output);
	if (verbose)
		printf("file %s: %d passed, %d failed\n", file->name, file->counts->passed,
		       file->counts->failed);
	fflush(stdout);
	sum->passed += file->counts->passed;
	sum->failed += file->counts->failed;
	fclose(file->results);
	fclose(file->output);
	file->pid = 0;
}

/* Returns false if a command line word names no test. */
static bool find_files(void)
{
	const struct unit_test *test;
	char *const *word;
	char name[NAME_BYTES];

	for (test = tests; test; test = test->next) {
		file_name(test, name);
		if (!is_wanted(test) || (nr_files && !strcmp(files[nr_files - 1].name, name)))
			continue;
		if (nr_files == MAX_FILES)
			die("cannot hold the tests of so many files");
		strcpy(files[nr_files++].name, name);
	}
	for (word = wanted; *word; word++) {
		for (test = tests; test && !is_named(test, *word); test = test->next)
			continue;
		if (!test) {
			fprintf(stderr, "cannot find the test '%s'; -l lists all tests\n", *word);
			return false;
		}
	}
	return true;
}

static void list_tests(void)
{
	const struct unit_test *test;
	char name[NAME_BYTES];

	for (test = tests; test; test = test->next) {
		file_name(test, name);
		if (is_wanted(test))
			printf("%s::%s\n", name, test->check.name);
	}
}

/* Returns true if all passed. */
static bool run_files(long jobs)
{
	struct file_counts sum = { 0 }, *counts;
	long running = 0;
	size_t i;

	counts = mmap(NULL, sizeof(*counts) * MAX_FILES, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		die("cannot allocate memory");
	if (verbose) {
		printf("files:");
		for (i = 0; i < nr_files; i++)
			printf(" %s", files[i].name);
		putchar('\n');
	}
	for (i = 0; i < nr_files; i++) {
		if (running == jobs) {
			end_file(&sum);
			running--;
		}
		files[i].counts = &counts[i];
		start_file(&files[i]);
		running++;
	}
	for (; running; running--)
		end_file(&sum);
	munmap(counts, sizeof(*counts) * MAX_FILES);
	printf("%d passed, %d failed\n", sum.passed, sum.failed);
	return !sum.failed;
}

int main(int argc, char **argv)
{
	long jobs = sysconf(_SC_NPROCESSORS_ONLN);
	bool list = false;
	int option;

	/* Text is the same in every locale of the developer. */
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	unsetenv("LANG");
	while ((option = getopt(argc, argv, "hj:lv")) != -1) {
		switch (option) {
		case 'h':
			printf(usage, argv[0]);
			return EXIT_SUCCESS;
		case 'j':
			jobs = atol(optarg);
			break;
		case 'l':
			list = true;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			fprintf(stderr, usage, argv[0]);
			return 2;
		}
	}
	wanted = argv + optind;
	if (jobs < 1) {
		fprintf(stderr, "-j takes a whole number above 0\n");
		return 2;
	}
	if (!find_files())
		return 2;
	if (!list)
		return run_files(jobs) ? EXIT_SUCCESS : EXIT_FAILURE;
	list_tests();
	return EXIT_SUCCESS;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the access loop under valgrind as the user, in a folder that is removed afterwards, and
 * reads cachegrind's result. The simulation's figure is the difference between the loop with and
 * without accesses.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drive/drive.h"
#include "privilege/invoker.h"
#include "util/input_file.h"
#include "util/message.h"
#include "util/signals.h"

#define FIXED_ARGUMENTS 16 /* valgrind's, and those naming the loop */
#define OPTION_SIZE	64

/* A folder, removed together with the two files in it. */
struct workplace {
	char folder[PATH_MAX];
	char out[PATH_MAX + 8], log[PATH_MAX + 8];
};

static int cachegrind_make_folder(struct workplace *place)
{
	const char *temporary = getenv("TMPDIR") ?: "/tmp";

	if ((size_t)snprintf(place->folder, sizeof(place->folder), "%s/pfdrive.XXXXXX",
			     temporary) >= sizeof(place->folder))
		return -ENAMETOOLONG;
	if (!mkdtemp(place->folder))
		return -errno;
	snprintf(place->out, sizeof(place->out), "%s/out", place->folder);
	snprintf(place->log, sizeof(place->log), "%s/log", place->folder);
	return 0;
}

/* The folder belongs to the user, whose program writes into it. */
static int cachegrind_open_workplace(struct workplace *place)
{
	int err = invoker_begin();

	if (err)
		return err;
	err = cachegrind_make_folder(place);
	invoker_end();
	return err;
}

static void cachegrind_close_workplace(const struct workplace *place)
{
	if (invoker_begin())
		return;
	unlink(place->out);
	unlink(place->log);
	rmdir(place->folder);
	invoker_end();
}

/* As the user, who owns the folder and may have put any file into it. */
static FILE *cachegrind_open_result(const char *path)
{
	int fd = invoker_begin();
	FILE *file;

	if (!fd) {
		fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
		invoker_end();
	}
	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

/* The last message from valgrind or the loop. */
static void cachegrind_last_line(const char *path, char *line, size_t size)
{
	FILE *file = cachegrind_open_result(path);
	char next[512];

	line[0] = '\0';
	if (!file)
		return;
	while (fgets(next, sizeof(next), file)) {
		next[strcspn(next, "\n")] = '\0';
		if (next[0])
			snprintf(line, size, "%s", next);
	}
	fclose(file);
}

/* The child process. Its output must not reach pfdrive's standard output. */
static _Noreturn void cachegrind_be_valgrind(const struct workplace *place, char *const *argv)
{
	const int err = invoker_become();
	const int log = open(place->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (err || log < 0 || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
	    dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
		_exit(126);
	signals_default();
	execvp(argv[0], argv);
	_exit(127);
}

static int cachegrind_run_valgrind(const struct workplace *place, char *const *argv)
{
	char said[512];
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return message(STATUS_FAILED, "cannot run valgrind: %s", strerror(errno));
	if (!child)
		cachegrind_be_valgrind(place, argv);
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return message(STATUS_FAILED, "cannot wait for valgrind: %s",
				       strerror(errno));
		if (signals_caught)
			kill(child, SIGKILL);
	}
	if (signals_caught)
		return 128 + signals_caught;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return STATUS_OK;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return message(
			STATUS_FAILED,
			"--with cachegrind requires valgrind, which is not installed; run apt-get "
			"install valgrind");
	cachegrind_last_line(place->log, said, sizeof(said));
	return message(STATUS_FAILED, "cannot simulate the caches: %s",
		       said[0] ? said : "valgrind exited without an error message");
}

static int cachegrind_find_version(const struct workplace *place,
				   struct cache_simulation *simulation)
{
	char *const argv[] = { "valgrind", "--version", NULL };
	int status = cachegrind_run_valgrind(place, argv);

	if (!status)
		cachegrind_last_line(place->log, simulation->version, sizeof(simulation->version));
	return status;
}

static int cachegrind_read_out(const struct workplace *place, struct cachegrind *cachegrind)
{
	FILE *file = cachegrind_open_result(place->out);
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	if (!file)
		return message(STATUS_FAILED, "cannot open valgrind's results: %s",
			       strerror(errno));
	while (!err && getline(&line, &size, file) > 0)
		err = cachegrind_add_line(cachegrind, line);
	if (!err)
		err = cachegrind_check(cachegrind);
	free(line);
	fclose(file);
	return err ? message(STATUS_FAILED, "cannot read cachegrind's figures: %s",
			     strerror(-err)) :
		     STATUS_OK;
}

static size_t cachegrind_count_of(char *const *arguments)
{
	size_t nr = 0;

	while (arguments[nr])
		nr++;
	return nr;
}

static void cachegrind_geometry_options(char options[CACHE_SIMULATION_LEVELS][OPTION_SIZE])
{
	static const struct cache_geometry levels[] = CACHE_SIMULATION_GEOMETRY;
	size_t i;

	for (i = 0; i < CACHE_SIMULATION_LEVELS; i++)
		snprintf(options[i], OPTION_SIZE, "--%s=%" PRIu64 ",%u,%u", levels[i].name,
			 levels[i].bytes, levels[i].ways, levels[i].line);
}

/* first: "loop", or "bare-loop", which makes no access. */
static int cachegrind_simulate(const struct workplace *place, struct cachegrind *cachegrind,
			       char *first, char *const *arguments)
{
	const size_t nr = cachegrind_count_of(arguments);
	char levels[CACHE_SIMULATION_LEVELS][OPTION_SIZE], out[PATH_MAX + 64], self[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char **argv = calloc(nr + FIXED_ARGUMENTS, sizeof(*argv));
	size_t i = 0, j;
	int status;

	if (!argv || length < 0) {
		free(argv);
		return message(STATUS_FAILED, "cannot find this program's path: %s",
			       strerror(errno));
	}
	self[length] = '\0';
	cachegrind_geometry_options(levels);
	snprintf(out, sizeof(out), "--cachegrind-out-file=%s", place->out);
	argv[i++] = "valgrind";
	argv[i++] = "-q";
	argv[i++] = "--tool=cachegrind";
	argv[i++] = "--cache-sim=yes";
	for (j = 0; j < CACHE_SIMULATION_LEVELS; j++)
		argv[i++] = levels[j];
	argv[i++] = out;
	argv[i++] = self;
	argv[i++] = "helper";
	argv[i++] = first;
	memcpy(argv + i, arguments, nr * sizeof(*argv));
	status = cachegrind_run_valgrind(place, argv);
	free(argv);
	return status ? status : cachegrind_read_out(place, cachegrind);
}

int cachegrind_run(struct cache_simulation *simulation, char *const *arguments)
{
	struct cachegrind without = { 0 };
	struct workplace place = { 0 };
	int err, status;

	*simulation = (struct cache_simulation){ 0 };
	err = cachegrind_open_workplace(&place);
	if (err)
		return message(STATUS_FAILED, "cannot make a temporary folder: %s", strerror(-err));
	status = cachegrind_find_version(&place, simulation);
	if (!status && isatty(STDERR_FILENO))
		fputs("pfdrive: simulating the caches, which takes about 50 times as long\n",
		      stderr);
	if (!status)
		status = cachegrind_simulate(&place, &simulation->loop, "loop", arguments);
	if (!status)
		status = cachegrind_simulate(&place, &without, "bare-loop", arguments);
	cachegrind_close_workplace(&place);
	if (!status && cachegrind_subtract(&simulation->loop, &without))
		status = message(STATUS_FAILED, "out of memory");
	cachegrind_exit(&without);
	cachegrind_order(&simulation->loop);
	return status;
}

void cachegrind_run_exit(struct cache_simulation *simulation)
{
	cachegrind_exit(&simulation->loop);
}

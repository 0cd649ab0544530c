// SPDX-License-Identifier: GPL-2.0-only
/* Figures in a folder: a hanging gnuplot is killed. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
#include "user/figures/figures.h"
#include "user/util/signals.h"

/* longer than any test may take */
#define NEVER_ENDS "#!/bin/sh\necho $$ >\"$STARTED\"\nexec sleep 600\n"

static char place[32]; /* the tests' fake gnuplot, and the figure folder */
static char started[64];
static struct figure_folder folder;
static struct drawing drawing;

static void bring_gnuplot(void)
{
	char path[64];
	FILE *out;

	strcpy(place, "/tmp/pfstat-folder-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
	snprintf(path, sizeof(path), "%s/gnuplot", place);
	snprintf(started, sizeof(started), "%s/started", place);
	out = fopen(path, "w");
	ck_assert_ptr_nonnull(out);
	fputs(NEVER_ENDS, out);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_int_eq(chmod(path, 0700), 0);
	snprintf(path, sizeof(path), "%s:/usr/bin:/bin", place);
	setenv("PATH", path, 1);
	setenv("STARTED", started, 1);
	setenv("TMPDIR", place, 1);
	signals_init();
	ck_assert_int_eq(drawing_begin(&drawing, "figure", "A figure"), 0);
	ck_assert_int_eq(drawing_end(&drawing), 0);
	ck_assert_int_eq(figure_folder_open(&folder, NULL), 0);
}

/* No other file may be left in the folder. */
static void remove_gnuplot(void)
{
	char path[64];

	figure_folder_close(&folder);
	drawing_free(&drawing);
	snprintf(path, sizeof(path), "%s/gnuplot", place);
	unlink(path);
	unlink(started);
	ck_assert_int_eq(rmdir(place), 0);
}

/* 0: gnuplot has not started. */
static pid_t pid_of_gnuplot(void)
{
	FILE *in = fopen(started, "r");
	int pid = 0;

	if (!in)
		return 0;
	if (fscanf(in, "%d", &pid) != 1)
		pid = 0;
	fclose(in);
	return pid;
}

TEST(test_hanging_gnuplot_is_killed)
{
	folder.gnuplot_seconds = 1;
	ck_assert_int_eq(figure_folder_draw(&folder, &drawing, 1), -ETIMEDOUT);
	ck_assert_str_eq(folder.why.text,
			 "cannot draw figure.gnuplot: gnuplot did not end within 1 "
			 "seconds and was killed");
	ck_assert(!pid_of_gnuplot() || kill(pid_of_gnuplot(), 0));
}

/* The signal arrives between fork(2) and the wait. */
TEST(test_signal_before_the_wait_kills_gnuplot)
{
	raise(SIGTERM);
	ck_assert_int_eq(figure_folder_draw(&folder, &drawing, 1), -EINTR);
	ck_assert(!pid_of_gnuplot() || kill(pid_of_gnuplot(), 0));
}

TEST(test_signal_during_the_wait_kills_gnuplot)
{
	int status;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child)
		_exit(figure_folder_draw(&folder, &drawing, 1) == -EINTR ? 0 : 1);
	while (!pid_of_gnuplot())
		usleep(1000);
	ck_assert_int_eq(kill(child, SIGTERM), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert_int_eq(kill(pid_of_gnuplot(), 0), -1);
}

FIXTURE(bring_gnuplot, remove_gnuplot);

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws figures with gnuplot in a temporary folder, and moves the requested files to their place
 * only when all of them exist. gnuplot runs with a time limit.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "figures/figures.h"
#include "privilege/invoker.h"
#include "privilege/named_files.h"
#include "util/array.h"
#include "util/signals.h"

#define GNUPLOT	    "gnuplot"
#define MESSAGES    "messages" /* gnuplot's output */
#define EXIT_ABSENT 127

/* gnuplot takes a second for a figure, and ten in an emulator. */
#define GNUPLOT_SECONDS 300

static const char *const endings[] = { "csv", "gnuplot", "svg", "png" };
#define NR_ENDINGS ARRAY_SIZE(endings)

static int make_folder(struct figure_folder *folder, const char *keep)
{
	const char *parent = keep ?: getenv("TMPDIR") ?: "/tmp";
	int err;

	*folder = (struct figure_folder){ .keep = keep, .gnuplot_seconds = GNUPLOT_SECONDS };
	if (keep && mkdir(keep, 0700) && errno != EEXIST)
		return why_fail(&folder->why, -errno, "cannot make the folder %s: %s", keep,
				invoker_strerror(-errno));
	if (asprintf(&folder->path, "%s/.pfdrive-XXXXXX", parent) < 0) {
		folder->path = NULL;
		return why_fail(&folder->why, -ENOMEM, "out of memory");
	}
	if (mkdtemp(folder->path))
		return 0;
	err = -errno;
	free(folder->path);
	folder->path = NULL;
	return why_fail(&folder->why, err, "cannot write to %s: %s", parent, invoker_strerror(err));
}

int figure_folder_open(struct figure_folder *folder, const char *keep)
{
	int err = invoker_begin();

	*folder = (struct figure_folder){ 0 };
	if (err)
		return why_fail(&folder->why, err, "cannot make a folder: %s",
				invoker_strerror(err));
	err = make_folder(folder, keep);
	invoker_end();
	return err;
}

/* NULL: no memory. */
static char *figure_folder_path_of(const char *folder, const char *name, const char *ending)
{
	char *path;

	return asprintf(&path, "%s/%s%s%s", folder, name, ending ? "." : "", ending ?: "") < 0 ?
		       NULL :
		       path;
}

/* Only the owner can read it, as with all pfdrive files. */
static FILE *make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

static int write_file(struct figure_folder *folder, const struct drawing *drawing,
		      const char *ending, enum drawing_text text)
{
	char *path = figure_folder_path_of(folder->path, drawing->name, ending);
	FILE *file;
	int err = 0;

	errno = 0;
	file = path ? make_file(path) : NULL;
	if (!file ||
	    fwrite(drawing->texts[text], 1, drawing->bytes[text], file) != drawing->bytes[text])
		err = errno ? -errno : -EIO;
	if (file && fclose(file) && !err)
		err = -errno;
	if (err)
		why_fail(&folder->why, err, "cannot write %s: %s", path ?: drawing->name,
			 strerror(-err));
	free(path);
	return err;
}

/* Runs in the child. Skips the user's start-up files, so that only the script draws. */
static void become_gnuplot(const struct figure_folder *folder, const char *script)
{
	int messages;

	umask(077);
	if (invoker_become() || chdir(folder->path) || setenv("LC_ALL", "C.UTF-8", 1))
		_exit(1);
	messages = open(MESSAGES, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (messages < 0 || dup2(messages, STDOUT_FILENO) < 0 || dup2(messages, STDERR_FILENO) < 0)
		_exit(1);
	signal(SIGPIPE, SIG_DFL);
	if (folder->keep)
		execlp(GNUPLOT, GNUPLOT, "-d", script, NULL);
	else
		execlp(GNUPLOT, GNUPLOT, "-d", "-e", "only_svg = 1", script, NULL);
	_exit(errno == ENOENT ? EXIT_ABSENT : 1);
}

static void read_messages(const struct figure_folder *folder, char *line, size_t size)
{
	char *path = figure_folder_path_of(folder->path, MESSAGES, NULL);
	FILE *file = path ? fopen(path, "re") : NULL;
	size_t length = 0;

	if (file) {
		length = fread(line, 1, size - 1, file);
		fclose(file);
	}
	line[length] = '\0';
	for (; length; length--)
		if ((unsigned char)line[length - 1] < ' ')
			line[length - 1] = ' ';
	free(path);
}

/* How a complete drawing ends. White space may follow. */
static const struct {
	const char *ending;
	const char *end;
	size_t bytes;
} drawing_ends[] = {
	{ "svg", "</svg>", 6 },
	{ "png", "IEND\xae\x42\x60\x82", 8 },
};

#define LAST_BYTES 16

static bool is_whole(const char *path, const char *end, size_t end_bytes)
{
	FILE *file = path ? fopen(path, "re") : NULL;
	char last[LAST_BYTES];
	size_t bytes = 0;

	if (file && !fseek(file, -LAST_BYTES, SEEK_END))
		bytes = fread(last, 1, LAST_BYTES, file);
	if (file)
		fclose(file);
	return memmem(last, bytes, end, end_bytes);
}

/* gnuplot exits with success even if the disk is full. */
static int check_whole(struct figure_folder *folder, const struct drawing *drawing)
{
	const size_t nr = folder->keep ? 2 : 1; /* see become_gnuplot() */
	char *path;
	size_t i;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		path = figure_folder_path_of(folder->path, drawing->name, drawing_ends[i].ending);
		if (!is_whole(path, drawing_ends[i].end, drawing_ends[i].bytes))
			err = why_fail(&folder->why, -EIO,
				       "gnuplot wrote no whole %s.%s into %s: is there "
				       "no space left?",
				       drawing->name, drawing_ends[i].ending,
				       folder->keep ?: folder->path);
		free(path);
	}
	return err;
}

static struct timespec time_left(const struct timespec *until)
{
	struct timespec now, left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left.tv_sec = until->tv_sec - now.tv_sec;
	left.tv_nsec = until->tv_nsec - now.tv_nsec;
	if (left.tv_nsec < 0) {
		left.tv_sec--;
		left.tv_nsec += 1000000000;
	}
	if (left.tv_sec < 0)
		left = (struct timespec){ 0 };
	return left;
}

/* 0: the process has exited. Otherwise it still runs: -ETIMEDOUT, -EINTR or another errno. */
static int await_end(pid_t pid, unsigned int seconds, const sigset_t *mask)
{
	struct pollfd polled = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	struct timespec until, left;
	int ready = 0, err = signals_caught ? -EINTR : 0;

	if (polled.fd < 0)
		return -errno;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += seconds;
	while (!err && ready <= 0) {
		left = time_left(&until);
		ready = ppoll(&polled, 1, &left, mask);
		if (signals_caught)
			err = -EINTR;
		else if (!ready)
			err = -ETIMEDOUT;
		else if (ready < 0 && errno != EINTR)
			err = -errno;
	}
	close(polled.fd);
	return err;
}

/* Starts gnuplot and waits for it. Returns the wait status, or a negative errno. */
static int run_gnuplot(const struct figure_folder *folder, const char *script)
{
	int status, err;
	sigset_t before;
	pid_t pid;

	signals_block(&before);
	pid = fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		become_gnuplot(folder, script);
	}
	err = pid < 0 ? -errno : await_end(pid, folder->gnuplot_seconds, &before);
	if (pid > 0 && err)
		kill(pid, SIGKILL);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err ? err : status;
}

static int draw_one(struct figure_folder *folder, const struct drawing *drawing)
{
	char script[64], messages[256];
	int status;

	snprintf(script, sizeof(script), "%s.gnuplot", drawing->name);
	status = run_gnuplot(folder, script);
	if (status == -ETIMEDOUT)
		return why_fail(&folder->why, status,
				"cannot draw %s: gnuplot did not end within %u seconds "
				"and was killed",
				script, folder->gnuplot_seconds);
	if (status < 0)
		return why_fail(&folder->why, status, "cannot run gnuplot: %s", strerror(-status));
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_ABSENT) {
		folder->no_gnuplot = true;
		return 0;
	}
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return check_whole(folder, drawing);
	if (WIFSIGNALED(status))
		return why_fail(&folder->why, -EINTR, "gnuplot was ended by signal %d",
				WTERMSIG(status));
	read_messages(folder, messages, sizeof(messages));
	return why_fail(&folder->why, -EIO, "gnuplot cannot draw %s: %s", script, messages);
}

/* The command line has no names for files in a folder, so they are checked here. */
static int check_name(struct figure_folder *folder, const char *name, const char *ending)
{
	char *path = figure_folder_path_of(folder->keep, name, ending);
	const char *what = path ? named_files_find(path) : NULL;
	int err = path ? 0 : why_fail(&folder->why, -ENOMEM, "out of memory");

	if (what)
		err = why_fail(&folder->why, -EEXIST,
			       "cannot write %s: it is %s; name another folder", path, what);
	free(path);
	return err;
}

static int check_names(struct figure_folder *folder, const struct drawing *drawings, size_t nr)
{
	size_t i, ending;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		for (ending = 0; ending < NR_ENDINGS && !err; ending++)
			err = check_name(folder, drawings[i].name, endings[ending]);
	return err;
}

static int draw_all(struct figure_folder *folder, const struct drawing *drawings, size_t nr)
{
	size_t i;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		if (!drawing_is_drawn(&drawings[i]))
			continue;
		err = write_file(folder, &drawings[i], "csv", DRAWING_CSV);
		if (!err)
			err = write_file(folder, &drawings[i], "gnuplot", DRAWING_SCRIPT);
		if (!err && !folder->no_gnuplot)
			err = draw_one(folder, &drawings[i]);
	}
	return err;
}

int figure_folder_draw(struct figure_folder *folder, const struct drawing *drawings, size_t nr)
{
	int err = invoker_begin();

	if (err)
		return why_fail(&folder->why, err, "cannot write figures: %s",
				invoker_strerror(err));
	err = folder->keep ? check_names(folder, drawings, nr) : 0;
	if (!err)
		err = draw_all(folder, drawings, nr);
	invoker_end();
	return err;
}

int figure_folder_read(struct figure_folder *folder, const struct drawing *drawing, char **svg)
{
	char *path = figure_folder_path_of(folder->path, drawing->name, "svg");
	FILE *file = path ? fopen(path, "re") : NULL;
	size_t bytes = 0, got;
	FILE *memory;
	char piece[4096];
	int err = 0;

	*svg = NULL;
	memory = open_memstream(svg, &bytes);
	while (file && memory && (got = fread(piece, 1, sizeof(piece), file)))
		fwrite(piece, 1, got, memory);
	if (!file || ferror(file))
		err = -EIO;
	if (!memory || fclose(memory))
		err = -ENOMEM;
	if (file)
		fclose(file);
	free(path);
	if (!err)
		return 0;
	free(*svg);
	*svg = NULL;
	return why_fail(&folder->why, err, "cannot read what gnuplot drew of %s: %s", drawing->name,
			strerror(-err));
}

static int keep_one(struct figure_folder *folder, const struct drawing *drawing, const char *ending)
{
	char *from = figure_folder_path_of(folder->path, drawing->name, ending);
	char *to = figure_folder_path_of(folder->keep, drawing->name, ending);
	int err = 0;

	if (!from || !to)
		err = -ENOMEM;
	else if (!access(from, F_OK))
		err = rename(from, to) ? -errno : 0;
	else if (unlink(to) && errno != ENOENT)
		err = -errno;
	if (err)
		why_fail(&folder->why, err, "cannot write %s: %s", to ?: drawing->name,
			 strerror(-err));
	free(from);
	free(to);
	return err;
}

static int keep_all(struct figure_folder *folder, const struct drawing *drawings, size_t nr)
{
	size_t i, ending;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		for (ending = 0; ending < NR_ENDINGS && !err; ending++)
			err = keep_one(folder, &drawings[i], endings[ending]);
	return err;
}

int figure_folder_keep(struct figure_folder *folder, const struct drawing *drawings, size_t nr)
{
	int err = invoker_begin();

	if (err)
		return why_fail(&folder->why, err, "cannot write figures: %s",
				invoker_strerror(err));
	err = keep_all(folder, drawings, nr);
	invoker_end();
	return err;
}

static void remove_folder(const struct figure_folder *folder)
{
	struct dirent *entry;
	DIR *directory;

	directory = opendir(folder->path);
	while (directory && (entry = readdir(directory)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		closedir(directory);
	rmdir(folder->path);
}

void figure_folder_close(struct figure_folder *folder)
{
	if (!folder->path)
		return;
	if (!invoker_begin()) {
		remove_folder(folder);
		invoker_end();
	}
	free(folder->path);
	folder->path = NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parsers of all subcommands add their files here. Each file is compared with all files
 * before it, by device and inode.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "privilege/named_files.h"
#include "privilege/output.h"
#include "util/argument.h"

/* Above any subcommand's maximum: compare has 64 recordings on each side. */
#define NAMED_FILES_MAX 160

struct named_file {
	const char *what;
	bool is_output;
	dev_t dev; /* for the file, or for the folder if the file does not exist */
	ino_t ino;
	char *name; /* NULL: the file exists */
};

static struct named_file named_files[NAMED_FILES_MAX];
static unsigned int nr_named_files;

/* False for a file that is not regular, because it cannot be overwritten. */
static bool identify_existing(struct named_file *file, const struct stat *status)
{
	file->dev = status->st_dev;
	file->ino = status->st_ino;
	file->name = NULL;
	return S_ISREG(status->st_mode);
}

/* Returns false if the file's folder does not exist either. */
static bool identify_new(struct named_file *file, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, slash - path + 1) : strdup(".");
	struct stat status;
	bool found = folder && !stat(folder, &status);

	free(folder);
	if (!found)
		return false;
	file->dev = status.st_dev;
	file->ino = status.st_ino;
	file->name = strdup(slash ? slash + 1 : path);
	return file->name;
}

static bool identify(struct named_file *file, const char *path)
{
	struct stat status;

	if (!file->is_output && !strcmp(path, "-"))
		return !fstat(STDIN_FILENO, &status) && identify_existing(file, &status);
	return stat(path, &status) ? identify_new(file, path) : identify_existing(file, &status);
}

static bool named_files_is_same(const struct named_file *a, const struct named_file *b)
{
	if (a->dev != b->dev || a->ino != b->ino || !a->name != !b->name)
		return false;
	return !a->name || !strcmp(a->name, b->name);
}

static const struct named_file *find_same(const struct named_file *file)
{
	unsigned int i;

	for (i = 0; i < nr_named_files; i++)
		if (named_files_is_same(file, &named_files[i]))
			return &named_files[i];
	return NULL;
}

static void add_stdout(void)
{
	struct named_file *file = &named_files[0];
	struct stat status;

	*file = (struct named_file){ .what = "standard output", .is_output = true };
	if (!fstat(STDOUT_FILENO, &status) && identify_existing(file, &status))
		nr_named_files = 1;
}

static void named_files_add(const struct argp_state *state, struct named_file file,
			    const char *path)
{
	const struct named_file *same;

	if (!nr_named_files)
		add_stdout();
	if (!path || !identify(&file, path))
		return;
	same = find_same(&file);
	if (same && (same->is_output || file.is_output)) {
		free(file.name);
		usage(state, "%s and %s are the same file, '%s'; name another file for the output",
		      file.what, same->what, path);
		return;
	}
	if (nr_named_files < NAMED_FILES_MAX)
		named_files[nr_named_files++] = file;
	else
		free(file.name);
}

void named_files_input(const struct argp_state *state, const char *what, const char *path)
{
	named_files_add(state, (struct named_file){ .what = what }, path);
}

void named_files_output(const struct argp_state *state, const char *what, const char *path)
{
	named_files_add(state, (struct named_file){ .what = what, .is_output = true }, path);
}

void named_files_recording(const struct argp_state *state, const char *what, const char *path)
{
	char *older;

	named_files_output(state, what, path);
	if (!path)
		return;
	if (asprintf(&older, "%s" OUTPUT_OLDER, path) < 0) {
		argp_failure(state, STATUS_FAILED, 0, "out of memory");
		return;
	}
	named_files_output(state, "the older recording, kept as FILE" OUTPUT_OLDER ",", older);
	free(older);
}

const char *named_files_find(const char *path)
{
	struct named_file file = { .is_output = true };
	const struct named_file *same;

	if (!identify(&file, path))
		return NULL;
	same = find_same(&file);
	free(file.name);
	return same ? same->what : NULL;
}

void named_files_clear(void)
{
	while (nr_named_files)
		free(named_files[--nr_named_files].name);
}

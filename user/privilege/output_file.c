// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a file under a temporary name and renames it when it is complete. All opens,
 * renames and unlinks use the rights of the invoker, so that root cannot be led to replace
 * another user's file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "privilege/invoker.h"
#include "privilege/output_file.h"

struct output {
	FILE *stream;
	char *path;	 /* final name; symbolic links resolved */
	char *temporary; /* NULL: the file already has its final name */
	bool durable;	 /* synced before it is closed */
};

static void output_free(struct output *output)
{
	free(output->temporary);
	free(output->path);
	free(output);
}

static int open_directly(const struct output *output)
{
	int fd = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

/* @mode: mode of the file that is replaced, which the new file keeps */
static int open_temporary(struct output *output, mode_t mode)
{
	int fd, err;

	if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
		output->temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(output->temporary, O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		free(output->temporary);
		output->temporary = NULL;
		return err;
	}
	fchmod(fd, mode);
	return fd;
}

static int open_path(struct output *output, const char *path)
{
	struct stat stat_buffer;
	const bool exists = !stat(path, &stat_buffer);
	const bool regular = exists && S_ISREG(stat_buffer.st_mode);

	if (exists && S_ISDIR(stat_buffer.st_mode))
		return -EISDIR;
	/* A dangling link would itself be replaced. */
	if (!exists && !lstat(path, &stat_buffer))
		return -ENOENT;
	/* Keep a link and replace its target. A pipe behind a link has no path. */
	output->path = regular ? realpath(path, NULL) : strdup(path);
	if (!output->path)
		return -errno;
	if (exists && !regular)
		return open_directly(output);
	return open_temporary(output, exists ? stat_buffer.st_mode & 0777 : OUTPUT_MODE);
}

int output_open(struct output **opened, const char *path)
{
	struct output *output = calloc(1, sizeof(*output));
	int fd;

	*opened = NULL;
	if (!output)
		return -ENOMEM;
	fd = invoker_begin();
	if (!fd) {
		fd = open_path(output, path);
		invoker_end();
	}
	if (fd < 0) {
		output_free(output);
		return fd;
	}
	output->stream = fdopen(fd, "w");
	if (!output->stream) {
		close(fd);
		output_close(output);
		return -ENOMEM;
	}
	*opened = output;
	return 0;
}

FILE *output_stream(struct output *output)
{
	return output->stream;
}

static int give_name(struct output *output)
{
	int err = invoker_begin();

	if (err)
		return err;
	if (rename(output->temporary, output->path))
		err = -errno;
	invoker_end();
	if (!err) {
		free(output->temporary);
		output->temporary = NULL;
	}
	return err;
}

/* An empty file, as mktemp(1) creates it, is not worth keeping. */
static int keep_older(const struct output *output)
{
	struct stat status;
	char *older;
	int err;

	if (stat(output->path, &status) || !S_ISREG(status.st_mode) || !status.st_size)
		return 0;
	if (asprintf(&older, "%s" OUTPUT_OLDER, output->path) < 0)
		return -ENOMEM;
	err = rename(output->path, older) ? -errno : 0;
	free(older);
	return err;
}

int output_name_now(struct output *output)
{
	int err;

	output->durable = true;
	if (!output->temporary)
		return 0;
	err = invoker_begin();
	if (!err) {
		err = keep_older(output);
		invoker_end();
	}
	if (!err)
		err = give_name(output);
	if (!err)
		return 0;
	free(output->path);
	output->path = output->temporary;
	output->temporary = NULL;
	return err;
}

const char *output_path(const struct output *output)
{
	return output->path;
}

/* Not as root, which might unlink another user's file in that folder. */
static void remove_temporary(const struct output *output)
{
	if (!output->temporary || invoker_begin())
		return;
	unlink(output->temporary);
	invoker_end();
}

/* Pipes and devices cannot be synced. */
static bool sync_failed(const struct output *output)
{
	struct stat status;
	const int fd = fileno(output->stream);

	return output->durable && !fflush(output->stream) && !fstat(fd, &status) &&
	       S_ISREG(status.st_mode) && fsync(fd);
}

int output_commit(struct output *output)
{
	bool failed = ferror(output->stream);
	int err = 0;

	if (sync_failed(output))
		err = -errno;
	if ((fclose(output->stream) || failed) && !err)
		err = errno ? -errno : -EIO;
	output->stream = NULL;
	if (!err && output->temporary)
		err = give_name(output);
	output_close(output);
	return err;
}

void output_close(struct output *output)
{
	if (!output)
		return;
	if (output->stream)
		fclose(output->stream);
	remove_temporary(output);
	output_free(output);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a file under a temporary name and renames it when it is complete. All opens, renames and
 * unlinks use the invoker's rights, so root cannot be led to replace another user's file.
 *
 * The folder is opened once, and every later step names a file in that descriptor. So no user can
 * exchange the file for a link between two steps. In a folder where every user may create files
 * (/tmp), another user's link or pipe is refused, as the kernel does with fs.protected_symlinks,
 * which not every system sets.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "privilege/invoker.h"
#include "privilege/output.h"

#define LINKS_MAX   40	  /* as many as the kernel follows */
#define SHARED_MODE 01002 /* sticky, and all users may write */
#define TRIES_MAX   16	  /* random names; each is free but for 1 in 2^64 */

struct output {
	FILE *stream;
	int folder;	 /* O_PATH, -1 if not yet open */
	char *path;	 /* for messages: final name, links in the last part resolved */
	char *name;	 /* last part of the path, in folder */
	char *temporary; /* name in folder, NULL if the file already has the final name */
	bool kept_mode;
	bool durable; /* synced before it is closed */
};

static void output_free(struct output *output)
{
	if (output->folder >= 0)
		close(output->folder);
	free(output->temporary);
	free(output->name);
	free(output->path);
	free(output);
}

/* Path to a file in the same folder as output->path. NULL if there is no memory. */
static char *output_beside(const struct output *output, const char *name)
{
	const char *slash = strrchr(output->path, '/');
	char *path;

	if (asprintf(&path, "%.*s%s", slash ? (int)(slash - output->path) + 1 : 0, output->path,
		     name) < 0)
		return NULL;
	return path;
}

/* Opens the folder of output->path, which is relative to @from or absolute. Sets the name. */
static int open_folder(struct output *output, int from)
{
	const char *slash = strrchr(output->path, '/');
	char *folder = slash ? strndup(output->path, slash - output->path + 1) : strdup(".");
	int fd;

	free(output->name);
	output->name = strdup(slash ? slash + 1 : output->path);
	if (!folder || !output->name) {
		free(folder);
		return -ENOMEM;
	}
	fd = openat(from, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	if (fd < 0)
		return -errno;
	if (output->folder >= 0)
		close(output->folder);
	output->folder = fd;
	return *output->path ? *output->name ? 0 : -EISDIR : -ENOENT;
}

/* Opens an inode, which cannot be replaced meanwhile. */
static int open_directly(int place, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/* An output has named this regular file, and still writes. */
static bool is_being_written(int place)
{
	const int fd = open_directly(place, O_RDONLY);
	const bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

/* The fs.protected_symlinks rule, for all but regular files, which are only replaced. */
static bool may_follow(const struct output *output, const struct stat *status)
{
	struct stat folder;

	if (fstat(output->folder, &folder))
		return false;
	if ((folder.st_mode & SHARED_MODE) != SHARED_MODE)
		return true;
	return status->st_uid == invoker_uid() || status->st_uid == folder.st_uid;
}

/*
 * A /proc link (/dev/stdout is a link to one) leads to the linked file whatever the link's text is.
 * Returns a descriptor for a file that is not regular, or 0 if the text names the regular file.
 */
static int follow_proc(const struct output *output, const char *text)
{
	const int place = openat(output->folder, output->name, O_PATH | O_CLOEXEC);
	struct stat status, named;
	int fd = 0;

	if (place < 0)
		return -errno;
	if (fstat(place, &status))
		fd = -errno;
	else if (S_ISDIR(status.st_mode))
		fd = -EISDIR;
	else if (!S_ISREG(status.st_mode))
		fd = open_directly(place, O_WRONLY);
	else if (fstatat(output->folder, text, &named, 0) || named.st_dev != status.st_dev ||
		 named.st_ino != status.st_ino)
		fd = -ENOENT; /* it was deleted */
	close(place);
	return fd;
}

/* Continues with the path in the link @place. Returns as follow_proc(). */
static int follow_link(struct output *output, int place, const struct stat *status)
{
	struct statfs system;
	char text[PATH_MAX];
	ssize_t bytes;
	char *path;
	int fd = 0;

	if (!may_follow(output, status))
		return -EACCES;
	bytes = readlinkat(place, "", text, sizeof(text) - 1);
	if (bytes <= 0 || fstatfs(place, &system))
		return bytes ? -errno : -ENOENT;
	text[bytes] = 0;
	if (system.f_type == PROC_SUPER_MAGIC)
		fd = follow_proc(output, text);
	if (fd)
		return fd;
	path = *text == '/' ? strdup(text) : output_beside(output, text);
	if (!path)
		return -ENOMEM;
	free(output->path);
	output->path = strdup(text);
	fd = output->path ? open_folder(output, output->folder) : -ENOMEM;
	free(output->path);
	output->path = path;
	return fd;
}

/*
 * Looks at output->name in the folder. Returns a descriptor if the file is written directly, 0 if
 * it is to be replaced or is a link that leads to another name, or a negative errno.
 */
static int look_at(struct output *output, struct stat *status)
{
	const int place = openat(output->folder, output->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int fd = 0;

	*status = (struct stat){ 0 };
	if (place < 0)
		return -errno;
	if (fstat(place, status))
		fd = -errno;
	else if (S_ISDIR(status->st_mode))
		fd = -EISDIR;
	else if (S_ISLNK(status->st_mode))
		fd = follow_link(output, place, status);
	else if (!S_ISREG(status->st_mode))
		fd = may_follow(output, status) ? open_directly(place, O_WRONLY) : -EACCES;
	else if (is_being_written(place))
		fd = -EBUSY;
	close(place);
	return fd;
}

static int create_temporary(struct output *output)
{
	uint64_t number;
	int fd, tries;

	for (tries = 0; tries < TRIES_MAX; tries++) {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -EIO;
		if (asprintf(&output->temporary, "%s.%016" PRIx64, output->name, number) < 0) {
			output->temporary = NULL;
			return -ENOMEM;
		}
		fd = openat(output->folder, output->temporary,
			    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, OUTPUT_MODE);
		if (fd >= 0)
			return fd;
		fd = -errno;
		free(output->temporary);
		output->temporary = NULL;
		if (fd != -EEXIST)
			return fd;
	}
	return -EEXIST;
}

/*
 * @old: the file being replaced, or NULL. It passes on the mode if it belongs to the new file's
 * owner and has no other name: a user can link a root file into /tmp.
 */
static int open_temporary(struct output *output, const struct stat *old)
{
	const int fd = create_temporary(output);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		return fd;
	output->kept_mode = old && old->st_uid == status.st_uid && old->st_nlink == 1;
	fchmod(fd, output->kept_mode ? old->st_mode & 0777 : OUTPUT_MODE);
	return fd;
}

static int open_path(struct output *output)
{
	struct stat status;
	int fd, links;

	fd = open_folder(output, AT_FDCWD);
	for (links = 0; !fd && links <= LINKS_MAX; links++) {
		fd = look_at(output, &status);
		/* A dangling link would itself be replaced. */
		if (fd == -ENOENT && !links && !status.st_mode)
			return open_temporary(output, NULL);
		if (!fd && S_ISREG(status.st_mode))
			return open_temporary(output, &status);
	}
	output->kept_mode = fd > 0; /* it is written directly */
	return fd ?: -ELOOP;
}

int output_open(struct output **opened, const char *path)
{
	struct output *output = calloc(1, sizeof(*output));
	int fd;

	*opened = NULL;
	if (!output)
		return -ENOMEM;
	output->folder = -1;
	output->path = strdup(path);
	fd = output->path ? invoker_begin() : -ENOMEM;
	if (!fd) {
		fd = open_path(output);
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
	if (renameat(output->folder, output->temporary, output->folder, output->name))
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

	if (fstatat(output->folder, output->name, &status, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(status.st_mode) || !status.st_size)
		return 0;
	if (asprintf(&older, "%s" OUTPUT_OLDER, output->name) < 0)
		return -ENOMEM;
	err = renameat(output->folder, output->name, output->folder, older) ? -errno : 0;
	free(older);
	return err;
}

int output_name_now(struct output *output)
{
	char *path;
	int err;

	output->durable = true;
	if (!output->temporary)
		return 0;
	/* A file system without locks has no such protection. */
	flock(fileno(output->stream), LOCK_EX | LOCK_NB);
	err = invoker_begin();
	if (!err) {
		err = keep_older(output);
		invoker_end();
	}
	if (!err)
		err = give_name(output);
	if (!err)
		return 0;
	path = output_beside(output, output->temporary);
	if (path) {
		free(output->path);
		output->path = path;
	}
	free(output->temporary);
	output->temporary = NULL;
	return err;
}

bool output_keeps_mode(const struct output *output)
{
	return output->kept_mode;
}

const char *output_path(const struct output *output)
{
	return output->path;
}

/* Not as root, which might unlink another user's file in the folder. */
static void remove_temporary(const struct output *output)
{
	if (!output->temporary || invoker_begin())
		return;
	unlinkat(output->folder, output->temporary, 0);
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

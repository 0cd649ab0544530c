// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses, checks and opens the memory that a drive accesses. A FILE is never written unless the
 * user gave --allow-write. Without it workload_check() rejects the options.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "privilege/invoker.h"
#include "util/argument.h"
#include "util/message.h"
#include "util/signals.h"
#include "workload/pattern.h"
#include "workload/workload.h"

/*
 * Creates an unnamed file in a folder, allocates the blocks and writes them once. The file is
 * created with the invoker's rights and has no name when scratch_file_make() returns.
 */

#define CHUNK_BYTES (1U << 20)

/* Without O_TMPFILE, create a named file and unlink it at once. */
static int make_named(const char *folder)
{
	char *path;
	int fd, err;

	if (asprintf(&path, "%s/.pfdrive.XXXXXX", folder) < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	err = -errno;
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd < 0 ? err : fd;
}

static int make_unnamed(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* A kernel without O_TMPFILE returns EISDIR. */
	if (errno == EOPNOTSUPP || errno == EISDIR)
		return make_named(folder);
	return -errno;
}

static int write_all(int fd, uint64_t bytes, const char *chunk, const volatile sig_atomic_t *stop)
{
	uint64_t offset = 0, left;
	ssize_t put;

	while (offset < bytes) {
		if (*stop)
			return -EINTR;
		left = bytes - offset;
		put = pwrite(fd, chunk, left < CHUNK_BYTES ? left : CHUNK_BYTES, offset);
		if (put < 0 && errno != EINTR)
			return -errno;
		if (put > 0)
			offset += put;
	}
	return fsync(fd) ? -errno : 0;
}

static int give_content(int fd, uint64_t bytes, const volatile sig_atomic_t *stop)
{
	char *chunk = malloc(CHUNK_BYTES);
	int err;

	if (!chunk)
		return -ENOMEM;
	memset(chunk, SCRATCH_BYTE, CHUNK_BYTES);
	err = write_all(fd, bytes, chunk, stop);
	free(chunk);
	return err;
}

int scratch_file_make(const char *folder, uint64_t bytes, const volatile sig_atomic_t *stop)
{
	int err = invoker_begin();
	int fd;

	if (err)
		return err;
	fd = make_unnamed(folder);
	invoker_end();
	if (fd < 0)
		return fd;
	err = -posix_fallocate(fd, 0, bytes);
	if (!err)
		err = give_content(fd, bytes, stop);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

enum key {
	KEY_MAP = 2000,
	KEY_SIZE,
	KEY_WRITE,
	KEY_FILL,
	KEY_SCRATCH,
	KEY_SCRATCH_DIR,
	KEY_ALLOW_WRITE,
};

static const char *const kinds[NR_MAPPING_KINDS] = MAPPING_NAMES;

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Memory:", 2 },
	{ "map", KEY_MAP, "shared|private|anon", 0,
	  "mapping kind, with or without +populate (default shared)", 2 },
	{ "size", KEY_SIZE, "SIZE", 0, "memory size for --map anon", 2 },
	{ "scratch", KEY_SCRATCH, "SIZE", 0, "make a file this large, and remove it afterwards",
	  2 },
	{ "scratch-dir", KEY_SCRATCH_DIR, "DIR", 0,
	  "folder for the --scratch file (default: the current one)", 2 },
	{ NULL, 0, NULL, 0, "Stores:", 3 },
	{ "write", KEY_WRITE, "RATIO", 0,
	  "share of accesses that store: 0 to 1, or in % (default 0)", 3 },
	{ "fill", KEY_FILL, "msync", 0, "fill the mapping first: memset, then msync(MS_SYNC)", 3 },
	{ "allow-write", KEY_ALLOW_WRITE, NULL, 0, "allow FILE to be overwritten", 3 },
	{ 0 },
};

static void set_map(const struct argp_state *state, struct workload *workload, const char *text)
{
	const size_t length = strcspn(text, "+");
	unsigned int kind;

	for (kind = 0; kind < NR_MAPPING_KINDS; kind++)
		if (strlen(kinds[kind]) == length && !strncmp(kinds[kind], text, length))
			break;
	if (kind == NR_MAPPING_KINDS || (text[length] && strcmp(text + length, "+populate")))
		usage(state,
		      "--map: '%s' is not shared, private or anon, with or without "
		      "+populate",
		      text);
	workload->kind = kind;
	workload->populate = text[length];
}

static void set_share(const struct argp_state *state, struct workload *workload, const char *text)
{
	if (stores_parse(text, &workload->store_share))
		usage(state, "--write: '%s' is not a share from 0 to 1, nor from 0%% to 100%%",
		      text);
	workload->have_share = true;
}

static error_t workload_parse_option(int key, char *text, struct argp_state *state)
{
	struct workload *workload = state->input;

	switch (key) {
	case KEY_MAP:
		set_map(state, workload, text);
		return 0;
	case KEY_SIZE:
		workload->size = argument_size(state, "size", text, 1, MAPPING_MAX_BYTES);
		return 0;
	case KEY_WRITE:
		set_share(state, workload, text);
		return 0;
	case KEY_FILL:
		if (strcmp(text, "msync"))
			usage(state, "--fill: '%s' is not msync", text);
		workload->fill = true;
		return 0;
	case KEY_SCRATCH:
		workload->scratch = argument_size(state, "scratch", text, 1, MAPPING_MAX_BYTES);
		return 0;
	case KEY_SCRATCH_DIR:
		workload->scratch_dir = text;
		return 0;
	case KEY_ALLOW_WRITE:
		workload->allow_write = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp workload_argp = { .options = argp_options, .parser = workload_parse_option };

static void check_memory(const struct argp_state *state, const struct workload *workload,
			 const char *file)
{
	const bool anon = workload->kind == MAPPING_ANON;

	if (anon && (file || workload->scratch))
		usage(state, "--map anon has no file; leave out %s", file ?: "--scratch");
	if (anon && !workload->size)
		usage(state, "--map anon requires --size");
	if (!anon && workload->size)
		usage(state, "--size requires --map anon; leave it out for a file");
	if (file && workload->scratch)
		usage(state, "give only one of FILE (%s) and --scratch", file);
	if (!anon && !file && !workload->scratch)
		usage(state, "no FILE was given; see --help");
}

void workload_check(const struct argp_state *state, const struct workload *workload,
		    const char *file, bool stores)
{
	check_memory(state, workload, file);
	if (workload->scratch_dir && !workload->scratch)
		usage(state, "--scratch-dir requires --scratch");
	if (workload->allow_write && !file)
		usage(state, "--allow-write requires a FILE");
	if (stores && workload->have_share)
		usage(state,
		      "--write does not apply to the pattern locality, which stores in every "
		      "eighth access");
	stores |= workload->store_share || workload->fill;
	if (stores && file && workload->kind == MAPPING_SHARED && !workload->allow_write)
		usage(state,
		      "this would overwrite %s; use --allow-write, --scratch SIZE or --map private",
		      file);
}

void workload_name(const struct workload *workload, char *text, size_t size)
{
	snprintf(text, size, "%s%s", kinds[workload->kind], workload->populate ? "+populate" : "");
}

int workload_file_message(const char *file, int err)
{
	switch (err) {
	case -EISDIR:
		return message(STATUS_FAILED, "%s is a folder; name a file", file);
	case -EMEDIUMTYPE:
		return message(STATUS_FAILED, "%s is not a regular file; name one", file);
	case -ENODATA:
		return message(STATUS_FAILED, "%s is empty: there is nothing to access", file);
	case -EFBIG:
		return message(STATUS_FAILED, "%s is too large to map: %llu bytes at most", file,
			       MAPPING_MAX_BYTES);
	case -ENOENT:
		return message(STATUS_FAILED, "there is no file %s; make one, or name another",
			       file);
	case -EACCES:
		return message(STATUS_FAILED,
			       "cannot read %s: permission denied; run as the owner or as root",
			       file);
	default:
		return message(STATUS_FAILED, "cannot open %s: %s", file, strerror(-err));
	}
}

static int message_of_scratch(const struct workload *workload, const char *folder, int err)
{
	if (err == -EINTR && signals_caught)
		return 128 + signals_caught;
	if (err == -ENOSPC)
		return message(
			STATUS_FAILED,
			"--scratch: the disk of %s has no room for %llu bytes; use a smaller size "
			"or another --scratch-dir",
			folder, (unsigned long long)workload->scratch);
	return message(STATUS_FAILED, "--scratch: cannot make a %llu-byte file in %s: %s",
		       (unsigned long long)workload->scratch, folder, invoker_strerror(err));
}

static int open_scratch(const struct workload *workload, struct mapping *mapping, char *name,
			size_t size)
{
	const char *folder = workload->scratch_dir ?: ".";
	int fd = scratch_file_make(folder, workload->scratch, &signals_caught);
	int err = fd < 0 ? fd : mapping_take(mapping, fd);

	snprintf(name, size, "the scratch file in %s", folder);
	return err ? message_of_scratch(workload, folder, err) : STATUS_OK;
}

static int open_file(const struct workload *workload, const char *file, bool stores,
		     struct mapping *mapping, char *name, size_t size)
{
	int err = mapping_open(mapping, file, stores && workload->kind == MAPPING_SHARED);

	snprintf(name, size, "%s", file);
	return err ? workload_file_message(file, err) : STATUS_OK;
}

int workload_open(const struct workload *workload, const char *file, bool stores,
		  struct mapping *mapping, char *name, size_t size)
{
	int status = STATUS_OK;

	if (workload->kind == MAPPING_ANON) {
		mapping_anon(mapping, workload->size);
		snprintf(name, size, "the memory");
		return STATUS_OK;
	}
	if (workload->scratch)
		status = open_scratch(workload, mapping, name, size);
	else
		status = open_file(workload, file, stores, mapping, name, size);
	mapping->kind = workload->kind;
	mapping->writable = stores;
	return status;
}

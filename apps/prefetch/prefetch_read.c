// SPDX-License-Identifier: GPL-2.0-only
/*
 * There are three steps, each done by all threads in list order: open and check the files, submit
 * all reads, and wait for them. The second step returns while the device works, so the device sees
 * many requests at once. The third copies the pages, and finds errors. If the kernel did not read a
 * page in the second step, it does so now.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "prefetch/prefetch.h"
#include "system/own_process.h"
#include "util/input_file.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/time_ns.h"

/* The kernel truncates longer advice to the device's limit. */
#define CHUNK_BYTES (128U << 10)
#define CHUNKS_MAX  (1U << 24) /* 2 TiB */

enum file_state {
	FILE_GOOD,
	FILE_ERROR,   /* see err */
	FILE_OTHER,   /* another inode or device */
	FILE_CHANGED, /* another size or time */
};

struct open_file {
	int fd; /* -1: not open */
	_Atomic int state;
	_Atomic int err; /* negative errno */
};

/* Part of an extent. */
struct prefetch_chunk {
	uint64_t offset;
	uint32_t bytes, file;
};

struct prefetch_reading {
	const struct prefetch_list *list;
	struct open_file *files;
	struct prefetch_chunk *chunks;
	size_t nr_chunks;
	_Atomic uint64_t bytes;
};

/* Work on the items 0 to nr - 1, which threads take in this order. */
struct job {
	void (*work)(struct prefetch_reading *reading, size_t item, void *buffer);
	struct prefetch_reading *reading;
	size_t nr;
	_Atomic size_t next;
	_Atomic int err;
};

static void *job_thread(void *context)
{
	struct job *job = context;
	void *buffer = malloc(CHUNK_BYTES);
	size_t item;

	if (!buffer) {
		job->err = -ENOMEM;
		return NULL;
	}
	while (!signals_caught && (item = job->next++) < job->nr)
		job->work(job->reading, item, buffer);
	free(buffer);
	return NULL;
}

/* The caller is one of the threads. If the kernel refuses more, fewer threads work. */
static int do_in_parallel(struct prefetch_reading *reading, size_t nr, unsigned int threads,
			  void (*work)(struct prefetch_reading *reading, size_t item, void *buffer))
{
	struct job job = { .work = work, .reading = reading, .nr = nr };
	pthread_t others[PREFETCH_THREADS_MAX];
	unsigned int started = 0;

	while (started + 1 < threads && started + 1 < nr &&
	       !pthread_create(&others[started], NULL, job_thread, &job))
		started++;
	job_thread(&job);
	while (started)
		pthread_join(others[--started], NULL);
	return job.err;
}

/* Devices without a disk (btrfs, overlay, NFS) get their numbers at each mount. */
static bool same_device(const struct prefetch_file *file, dev_t dev)
{
	if (!file->dev_major && !major(dev))
		return true;
	return file->dev_major == major(dev) && file->dev_minor == minor(dev);
}

static enum file_state prefetch_file_state(const struct prefetch_file *file,
					   const struct stat *status)
{
	if (status->st_ino != file->inode || !same_device(file, status->st_dev))
		return FILE_OTHER;
	if ((uint64_t)status->st_size != file->bytes || status->st_mtim.tv_sec != file->mtime_s ||
	    status->st_mtim.tv_nsec != file->mtime_ns)
		return FILE_CHANGED;
	return FILE_GOOD;
}

static void set_error(struct open_file *file, int err)
{
	file->err = err;
	file->state = FILE_ERROR;
}

static void open_one(struct prefetch_reading *reading, size_t item, void *buffer)
{
	const struct prefetch_file *listed = &reading->list->files[item];
	struct open_file *file = &reading->files[item];
	struct stat status;

	(void)buffer;
	file->fd = open_regular(listed->path, O_RDONLY | O_NOFOLLOW);
	if (file->fd < 0) {
		set_error(file, file->fd);
		file->fd = -1;
		return;
	}
	if (fstat(file->fd, &status))
		set_error(file, -errno);
	else
		file->state = prefetch_file_state(listed, &status);
	/* Without read-ahead, the kernel reads exactly the extents. */
	if (file->state == FILE_GOOD)
		posix_fadvise(file->fd, 0, 0, POSIX_FADV_RANDOM);
}

static void submit_one(struct prefetch_reading *reading, size_t item, void *buffer)
{
	const struct prefetch_chunk *chunk = &reading->chunks[item];
	const struct open_file *file = &reading->files[chunk->file];

	(void)buffer;
	/* A file system that has no use for the advice reads in the next step. */
	if (file->state == FILE_GOOD)
		posix_fadvise(file->fd, chunk->offset, chunk->bytes, POSIX_FADV_WILLNEED);
}

static void wait_for_one(struct prefetch_reading *reading, size_t item, void *buffer)
{
	const struct prefetch_chunk *chunk = &reading->chunks[item];
	struct open_file *file = &reading->files[chunk->file];
	uint32_t done = 0;
	ssize_t got;

	while (file->state == FILE_GOOD && done < chunk->bytes && !signals_caught) {
		got = pread(file->fd, buffer, chunk->bytes - done, chunk->offset + done);
		if (got > 0)
			done += got;
		else if (!got)
			file->state = FILE_CHANGED; /* it was truncated meanwhile */
		else if (errno != EINTR)
			set_error(file, -errno);
	}
	reading->bytes += done;
}

/* A list is not trusted: the extents may have any length. -E2BIG: more than CHUNKS_MAX. */
static int count_chunks(const struct prefetch_list *list, size_t *nr)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < list->nr_reads && sum <= CHUNKS_MAX; i++)
		sum += (list->reads[i].bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
	*nr = sum;
	return sum > CHUNKS_MAX ? -E2BIG : 0;
}

static void make_chunks(const struct prefetch_list *list, struct prefetch_chunk *chunk)
{
	const struct prefetch_read *read;
	uint64_t done, bytes;
	size_t i;

	for (i = 0; i < list->nr_reads; i++) {
		read = &list->reads[i];
		for (done = 0; done < read->bytes; done += bytes, chunk++) {
			bytes = read->bytes - done < CHUNK_BYTES ? read->bytes - done : CHUNK_BYTES;
			*chunk = (struct prefetch_chunk){ read->offset + done, bytes, read->file };
		}
	}
}

static void report_file(const struct prefetch_file *listed, const struct open_file *file)
{
	const char *path = listed->path;

	if (file->state == FILE_OTHER)
		message(STATUS_OK,
			"cannot prefetch %s: it is another file than when the list was made; make "
			"the list again",
			path);
	else if (file->state == FILE_CHANGED)
		message(STATUS_OK,
			"cannot prefetch %s: it changed after the list was made; make the list "
			"again",
			path);
	else
		message(STATUS_OK, "cannot prefetch %s: %s", path,
			file->err == -EMEDIUMTYPE ? "it is not a regular file" :
						    strerror(-file->err));
}

static void finish(struct prefetch_reading *reading, struct prefetch_result *result)
{
	size_t i;

	for (i = 0; i < reading->list->nr_files; i++) {
		if (reading->files[i].fd >= 0)
			close(reading->files[i].fd);
		if (signals_caught)
			continue;
		if (reading->files[i].state == FILE_GOOD) {
			result->files++;
			continue;
		}
		result->left_out++;
		report_file(&reading->list->files[i], &reading->files[i]);
	}
	result->bytes = reading->bytes;
	free(reading->files);
	free(reading->chunks);
}

static int prefetch_read_all(struct prefetch_reading *reading, unsigned int threads)
{
	const struct prefetch_list *list = reading->list;
	size_t i;
	int err;

	reading->files = calloc(list->nr_files + 1, sizeof(*reading->files));
	if (!reading->files)
		return -ENOMEM;
	for (i = 0; i < list->nr_files; i++)
		reading->files[i].fd = -1;
	err = count_chunks(list, &reading->nr_chunks);
	if (err)
		return err;
	reading->chunks = calloc(reading->nr_chunks + 1, sizeof(*reading->chunks));
	if (!reading->chunks)
		return -ENOMEM;
	make_chunks(list, reading->chunks);
	err = do_in_parallel(reading, list->nr_files, threads, open_one);
	if (!err)
		err = do_in_parallel(reading, reading->nr_chunks, threads, submit_one);
	return err ?: do_in_parallel(reading, reading->nr_chunks, threads, wait_for_one);
}

int prefetch_read(const struct prefetch_list *list, unsigned int threads,
		  struct prefetch_result *result)
{
	const uint64_t start_ns = clock_monotonic_ns();
	struct prefetch_reading reading = { .list = list };
	int err;

	*result = (struct prefetch_result){ 0 };
	fd_limit_raise();
	err = prefetch_read_all(&reading, threads);
	if (reading.files)
		finish(&reading, result);
	result->elapsed_ns = clock_monotonic_ns() - start_ns;
	if (signals_caught)
		return 128 + signals_caught;
	if (err == -E2BIG)
		return message(STATUS_FAILED, "cannot prefetch more than 2 TiB; make the list with "
					      "--max-size");
	return err ? message(STATUS_FAILED, "cannot prefetch: %s", strerror(-err)) : STATUS_OK;
}

static int prefetch_read_text(int fd, char **text, size_t *size)
{
	struct stat status;
	ssize_t got = 1;

	*size = 0;
	if (fstat(fd, &status))
		return -errno;
	if (status.st_size > (off_t)PREFETCH_LIST_BYTES_MAX)
		return -EFBIG;
	*text = malloc(status.st_size + 1);
	if (!*text)
		return -ENOMEM;
	while (got && *size < (size_t)status.st_size) {
		got = read(fd, *text + *size, status.st_size - *size);
		if (got < 0)
			return -errno;
		*size += got;
	}
	(*text)[*size] = '\0';
	return 0;
}

int prefetch_read_list(struct prefetch_list *list, const char *path)
{
	const int fd = open_regular(path, O_RDONLY);
	struct why why = { "" };
	char *text = NULL;
	size_t size, line;
	int err = fd < 0 ? fd : prefetch_read_text(fd, &text, &size);

	*list = (struct prefetch_list){ 0 };
	if (fd >= 0)
		close(fd);
	if (!err)
		err = prefetch_list_parse(list, text, size, &line, &why);
	free(text);
	if (why.text[0])
		return message(STATUS_FAILED, "cannot use %s: line %zu: %s", path, line, why.text);
	if (err)
		return message(STATUS_FAILED, "cannot read %s: %s", path,
			       err == -EMEDIUMTYPE ? "it is not a regular file" : strerror(-err));
	return STATUS_OK;
}

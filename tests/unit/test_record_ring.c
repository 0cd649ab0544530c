// SPDX-License-Identifier: GPL-2.0-only
/* The ring reader, with a regular file that the test writes as the module would. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runner.h"
#include "user/collect/record_ring.h"
#include "user/util/page_size.h"

#define CAPACITY 34U /* capacity of a 4 KiB ring */

struct writer {
	char path[32];
	int fd;
	struct pfstat_ring_header *header;
	struct pfstat_record *data;
	uint64_t lost;
};

static struct writer writer_begin(void)
{
	struct writer writer = { .path = "/tmp/pfstat-ring.XXXXXX" };
	char *memory;

	writer.fd = mkstemp(writer.path);
	ck_assert_int_ge(writer.fd, 0);
	ck_assert_int_eq(ftruncate(writer.fd, 2 * page_size()), 0);
	memory = mmap(NULL, 2 * page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, writer.fd, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	writer.header = (void *)memory;
	writer.data = (void *)(memory + page_size());
	*writer.header = (struct pfstat_ring_header){
		.version = PFSTAT_ABI_VERSION,
		.record_size = sizeof(struct pfstat_record),
		.capacity = CAPACITY,
	};
	return writer;
}

static void writer_end(struct writer *writer)
{
	munmap(writer->header, 2 * page_size());
	close(writer->fd);
	unlink(writer->path);
}

/* As module/ring.c does in drop mode. */
static void put(struct writer *writer)
{
	struct pfstat_ring_header *header = writer->header;
	struct pfstat_record *record = &writer->data[header->head % CAPACITY];

	if (header->head - header->tail >= CAPACITY) {
		writer->lost++;
		return;
	}
	record->start_ns = 1000 + header->head;
	record->sequence = ++header->head;
}

/* Reads the records present. start_ns identifies a record. */
static uint64_t take(struct record_ring *ring, uint64_t first)
{
	const struct pfstat_record *record;
	uint64_t nr = 0;
	int err = 0;

	record_ring_look(ring);
	while ((record = record_ring_peek(ring, &err))) {
		ck_assert_uint_eq(record->start_ns, 1000 + first + nr++);
		record_ring_next(ring);
	}
	ck_assert_int_eq(err, 0);
	record_ring_publish(ring);
	return nr;
}

TEST(test_reading_frees_space)
{
	struct writer writer = writer_begin();
	uint64_t read = 0, round, i;
	struct record_ring ring;

	ck_assert_int_eq(record_ring_open(&ring, writer.path), 0);
	for (round = 0; round < 1000; round++) {
		for (i = 0; i < round % (CAPACITY + 1); i++)
			put(&writer);
		read += take(&ring, read);
	}
	ck_assert_uint_eq(writer.lost, 0);
	ck_assert_uint_eq(read, writer.header->head);
	record_ring_close(&ring);
	writer_end(&writer);
}

TEST(test_read_and_lost_records_add_up)
{
	struct writer writer = writer_begin();
	struct record_ring ring;
	unsigned int i;

	ck_assert_int_eq(record_ring_open(&ring, writer.path), 0);
	for (i = 0; i < 100; i++)
		put(&writer);
	ck_assert_uint_eq(take(&ring, 0) + writer.lost, 100);
	ck_assert_uint_eq(writer.lost, 100 - CAPACITY);
	record_ring_close(&ring);
	writer_end(&writer);
}

TEST(test_going_back_returns_to_the_first_unpublished_record)
{
	struct writer writer = writer_begin();
	struct record_ring ring;
	uint64_t read = 0;
	unsigned int i;
	int err = 0;

	ck_assert_int_eq(record_ring_open(&ring, writer.path), 0);
	for (i = 0; i < CAPACITY - 3; i++)
		put(&writer);
	read += take(&ring, 0);
	for (i = 0; i < 6; i++) /* three before the end of the ring, three behind it */
		put(&writer);
	record_ring_look(&ring);
	for (i = 0; i < 5; i++)
		record_ring_next(&ring);
	ck_assert_uint_eq(record_ring_peek(&ring, &err)->start_ns, 1000 + CAPACITY + 2);
	record_ring_back(&ring);
	ck_assert_uint_eq(take(&ring, read), 6);
	ck_assert_int_eq(err, 0);
	record_ring_close(&ring);
	writer_end(&writer);
}

TEST(test_records_after_the_look_are_read_next_time)
{
	struct writer writer = writer_begin();
	struct record_ring ring;
	int err = 0;

	ck_assert_int_eq(record_ring_open(&ring, writer.path), 0);
	record_ring_look(&ring);
	put(&writer);
	ck_assert_ptr_null(record_ring_peek(&ring, &err));
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(take(&ring, 0), 1);
	record_ring_close(&ring);
	writer_end(&writer);
}

TEST(test_reader_continues_where_the_last_one_stopped)
{
	struct writer writer = writer_begin();
	struct record_ring ring;

	put(&writer);
	ck_assert_int_eq(record_ring_open(&ring, writer.path), 0);
	ck_assert_uint_eq(take(&ring, 0), 1);
	record_ring_close(&ring);
	put(&writer);
	ck_assert_int_eq(record_ring_open(&ring, writer.path), 0);
	ck_assert_uint_eq(take(&ring, 1), 1);
	record_ring_close(&ring);
	writer_end(&writer);
}

TEST(test_a_torn_record_is_an_error)
{
	struct writer writer = writer_begin();
	struct record_ring ring;
	int err = 0;

	ck_assert_int_eq(record_ring_open(&ring, writer.path), 0);
	put(&writer);
	writer.data[0].sequence = 0;
	record_ring_look(&ring);
	ck_assert_ptr_null(record_ring_peek(&ring, &err));
	ck_assert_int_eq(err, -EBADMSG);
	record_ring_close(&ring);
	writer_end(&writer);
}

TEST(test_unknown_header_is_refused)
{
	struct writer writer = writer_begin();
	struct record_ring ring;

	writer.header->version++;
	ck_assert_int_eq(record_ring_open(&ring, writer.path), -EPROTO);
	writer.header->version--;
	writer.header->record_size = 64;
	ck_assert_int_eq(record_ring_open(&ring, writer.path), -EPROTO);
	writer.header->record_size = sizeof(struct pfstat_record);
	writer.header->capacity = 0;
	ck_assert_int_eq(record_ring_open(&ring, writer.path), -EPROTO);
	writer.header->capacity = ~0ULL;
	ck_assert_int_eq(record_ring_open(&ring, writer.path), -EPROTO);
	ck_assert_int_eq(record_ring_open(&ring, "/nonexistent"), -ENOENT);
	writer_end(&writer);
}

TEST(test_a_record_that_is_counted_but_not_complete_is_read_later)
{
	struct writer writer = writer_begin();
	struct record_ring ring;
	uint64_t round;

	record_ring_share(&ring, writer.header, writer.data);
	for (round = 0; round < 100; round++) {
		put(&writer);
		put(&writer);
		writer.data[(2 * round + 1) % CAPACITY].sequence = 0;
		ck_assert_uint_eq(take(&ring, 2 * round), 1);
		ck_assert_uint_eq(take(&ring, 2 * round + 1), 0);
		writer.data[(2 * round + 1) % CAPACITY].sequence = 2 * round + 2;
		ck_assert_uint_eq(take(&ring, 2 * round + 1), 1);
	}
	ck_assert_uint_eq(writer.lost, 0);
	record_ring_close(&ring); /* the memory stays */
	ck_assert_uint_eq(writer.header->head, 200);
	writer_end(&writer);
}

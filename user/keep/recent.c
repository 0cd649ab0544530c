// SPDX-License-Identifier: GPL-2.0-only
/*
 *	dropped | complete | complete | complete | being written
 *	        ^ spaces: mappings and names of that moment
 *
 * A part is a recording in a memory file, written by writer.c and read by reader.c. The mappings
 * and tasks are also kept outside the part, so dropping the part costs no decompression. The thread
 * adding items holds the lock briefly. A reading thread holds it while taking the list of complete
 * parts, which do not change any more.
 */
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/groups/address_spaces.h"
#include "keep/record_keep.h"
#include "model/counters.h"
#include "recording/reader.h"
#include "recording/writer.h"
#include "util/page_size.h"
#include "util/why.h"

/* So many make up the kept time, and the memory. */
#define RECENT_PARTS 4

/* A copied item, which outlives the part it came from. */
struct kept_item {
	struct kept_item *next;
	enum item_type type;
	char bytes[] __attribute__((aligned(8)));
};

struct kept_part {
	struct kept_part *next;		 /* the younger one */
	FILE *file;			 /* in memory */
	struct recording_writer *writer; /* NULL: complete */
	uint64_t start_ns;		 /* time of the first item, 0 if no item has a time */
	uint64_t end_ns;
	uint64_t items, records;
	uint64_t lost_records, lost_events; /* before it */
	struct kept_item *first, **last;
	size_t kept_bytes;
	unsigned int users; /* the list, and readers */
};

struct recent_items {
	struct recent_options options;
	pthread_mutex_t lock;
	struct kept_part *oldest, *current;
	struct spaces *spaces; /* from dropped parts */
	bool dropped;	       /* at least one part was */
	int err;	       /* the first: nothing is kept any more */
};

static void part_free(struct kept_part *part)
{
	struct kept_item *item, *next;

	for (item = part->first; item; item = next) {
		next = item->next;
		free(item);
	}
	recording_abandon(part->writer);
	if (part->file)
		fclose(part->file);
	free(part);
}

static void part_release(struct kept_part *part)
{
	if (!--part->users)
		part_free(part);
}

static FILE *memory_file(void)
{
	const int fd = memfd_create("pfdrive recent", MFD_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

/* The reader requires a head. This one is empty. */
static int part_begin_writing(struct kept_part *part)
{
	json_t *head = json_object();
	int err = head ? recording_begin(&part->writer, part->file, head) : -ENOMEM;

	json_decref(head);
	return err;
}

static int part_begin(struct recent_items *recent)
{
	struct kept_part *part = calloc(1, sizeof(*part));
	int err;

	if (!part)
		return -ENOMEM;
	part->users = 1;
	part->last = &part->first;
	part->file = memory_file();
	err = part->file ? part_begin_writing(part) : -errno;
	if (err) {
		part_free(part);
		return err;
	}
	recent->options.lost(recent->options.lost_context, &part->lost_records, &part->lost_events);
	if (recent->current)
		recent->current->next = part;
	else
		recent->oldest = part;
	recent->current = part;
	return 0;
}

static int part_end(struct kept_part *part)
{
	json_t *tail = json_object();
	int err;

	if (!tail)
		return -ENOMEM;
	err = recording_end(part->writer, tail);
	part->writer = NULL;
	json_decref(tail);
	return err;
}

static uint64_t part_bytes(const struct kept_part *part)
{
	struct stat status;

	return part->kept_bytes + (fstat(fileno(part->file), &status) ? 0 : status.st_size);
}

static int recent_fold_item(struct spaces *spaces, const struct kept_item *item)
{
	return item->type == ITEM_MAP ? address_spaces_add_map(spaces, (const void *)item->bytes) :
					address_spaces_add_task(spaces, (const void *)item->bytes);
}

/* The oldest part's mappings and names now belong to the past. */
static int recent_drop_oldest(struct recent_items *recent)
{
	struct kept_part *part = recent->oldest;
	const struct kept_item *item;
	int err = 0;

	for (item = part->first; item && !err; item = item->next)
		err = recent_fold_item(recent->spaces, item);
	recent->oldest = part->next;
	recent->dropped = true;
	part_release(part);
	return err;
}

static uint64_t recent_bytes(const struct recent_items *recent)
{
	const struct kept_part *part;
	uint64_t bytes = 0;

	for (part = recent->oldest; part; part = part->next)
		bytes += part_bytes(part);
	return bytes;
}

/* Older than the kept time, or too much for the memory. The part that is written stays. */
static bool recent_is_old(const struct recent_items *recent, uint64_t now_ns)
{
	const struct kept_part *part = recent->oldest;

	if (part == recent->current)
		return false;
	return part->end_ns + recent->options.keep_ns < now_ns ||
	       recent_bytes(recent) > recent->options.bytes;
}

static int recent_drop_old(struct recent_items *recent, uint64_t now_ns)
{
	int err = 0;

	while (!err && recent_is_old(recent, now_ns))
		err = recent_drop_oldest(recent);
	return err;
}

static int recent_next_part(struct recent_items *recent, uint64_t now_ns)
{
	if (!recent->err)
		recent->err = part_end(recent->current)	 ?:
				      part_begin(recent) ?:
							   recent_drop_old(recent, now_ns);
	return recent->err;
}

static bool recent_is_full(const struct recent_items *recent, uint64_t ns)
{
	const struct kept_part *part = recent->current;

	if (!part->start_ns)
		return false;
	return ns >= part->start_ns + recent->options.keep_ns / RECENT_PARTS ||
	       (!(part->items & 0xfff) && part_bytes(part) > recent->options.bytes / RECENT_PARTS);
}

static size_t size_of_kept(const struct item *item)
{
	if (item->type == ITEM_MAP)
		return sizeof(*item->map) + item->map->path_bytes;
	if (item->type == ITEM_EVENT && item->event->type == PFSTAT_EVENT_TASK)
		return sizeof(struct pfstat_task);
	return 0;
}

static int part_keep(struct kept_part *part, const struct item *item)
{
	const size_t size = size_of_kept(item);
	struct kept_item *kept;

	if (!size)
		return 0;
	kept = malloc(sizeof(*kept) + size);
	if (!kept)
		return -ENOMEM;
	kept->next = NULL;
	kept->type = item->type;
	memcpy(kept->bytes, item->map, size);
	*part->last = kept;
	part->last = &kept->next;
	part->kept_bytes += sizeof(*kept) + size;
	return 0;
}

static int part_add(struct kept_part *part, const struct item *item)
{
	int err = part_keep(part, item) ?: recording_add(part->writer, item);

	part->items++;
	part->records += item->type == ITEM_RECORD;
	if (item->ns && !part->start_ns)
		part->start_ns = item->ns;
	if (item->ns > part->end_ns)
		part->end_ns = item->ns;
	return err;
}

int recent_add(void *context, const struct item *item)
{
	struct recent_items *recent = context;
	int err;

	pthread_mutex_lock(&recent->lock);
	if (recent_is_full(recent, item->ns))
		recent_next_part(recent, item->ns);
	if (!recent->err)
		recent->err = part_add(recent->current, item);
	err = recent->err;
	pthread_mutex_unlock(&recent->lock);
	return err;
}

/* Uses a separate descriptor, which the reader closes. */
static int part_feed(const struct kept_part *part, item_sink sink, void *context)
{
	static const volatile sig_atomic_t never;
	const int fd = dup(fileno(part->file));
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	struct recording_reader *reader;
	struct why why;
	int err;

	if (!file) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	rewind(file);
	err = recording_open_file(&reader, file, "the kept part", &why);
	if (err)
		return err;
	err = recording_feed(reader, sink, context, &never);
	if (!err && recording_damage(reader))
		err = -EIO;
	recording_close(reader);
	return err;
}

static uint64_t lost_between(uint64_t before, uint64_t now)
{
	return before == COUNT_NA || now == COUNT_NA ? COUNT_NA : now - before;
}

/* Takes all parts but the one starting now. The dropped parts' items are passed at once. */
static int recent_take(struct recent_items *recent, struct kept_part **taken, item_sink sink,
		       void *context, struct recent_part *info)
{
	uint64_t records, events;
	struct kept_part *part;
	int err;

	*taken = NULL;
	err = recent_next_part(recent, recent->current->end_ns) ?:
		      address_spaces_visit(recent->spaces, sink, context);
	if (err)
		return err;
	*taken = recent->oldest;
	for (part = recent->oldest; part != recent->current; part = part->next) {
		part->users++;
		info->items += part->items;
		info->records += part->records;
		if (recent->dropped && !info->from_ns)
			info->from_ns = part->start_ns;
	}
	records = recent->current->lost_records;
	events = recent->current->lost_events;
	info->lost_records = lost_between(recent->oldest->lost_records, records);
	info->lost_events = lost_between(recent->oldest->lost_events, events);
	return 0;
}

int recent_feed(struct recent_items *recent, item_sink sink, void *context,
		struct recent_part *info)
{
	struct kept_part *part, *next, *end;
	int err;

	*info = (struct recent_part){ 0 };
	pthread_mutex_lock(&recent->lock);
	err = recent_take(recent, &part, sink, context, info);
	end = recent->current;
	pthread_mutex_unlock(&recent->lock);
	if (err)
		return err;
	for (; part != end; part = next) {
		if (!err)
			err = part_feed(part, sink, context);
		pthread_mutex_lock(&recent->lock);
		next = part->next;
		part_release(part);
		pthread_mutex_unlock(&recent->lock);
	}
	return err;
}

int recent_open(struct recent_items **opened, const struct recent_options *options)
{
	struct recent_items *recent = calloc(1, sizeof(*recent));
	int err = -ENOMEM;

	*opened = NULL;
	if (!recent)
		return err;
	recent->options = *options;
	pthread_mutex_init(&recent->lock, NULL);
	recent->spaces = address_spaces_new(page_size());
	if (recent->spaces)
		err = part_begin(recent);
	if (err)
		recent_close(recent);
	else
		*opened = recent;
	return err;
}

void recent_close(struct recent_items *recent)
{
	struct kept_part *part, *next;

	if (!recent)
		return;
	for (part = recent->oldest; part; part = next) {
		next = part->next;
		part_release(part);
	}
	address_spaces_free(recent->spaces);
	pthread_mutex_destroy(&recent->lock);
	free(recent);
}

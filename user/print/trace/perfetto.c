// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a trace as perfetto_trace.proto packets. All packets are one sequence, with one table of
 * interned strings, and one clock whose timestamps are differences to the packet before.
 *
 * A viewer sorts all events by time, and keeps file order for equal times. So an end must precede a
 * begin at the same time on the same track. The callers print a track's slices in this order,
 * except for off-CPU intervals, which have a separate track.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "model/counters.h"
#include "print/trace/trace_print.h"
#include "util/hash.h"
#include "util/protobuf.h"

/* Field numbers in perfetto_trace.proto, by message. */
enum perfetto_trace { TRACE_PACKET = 1 };
enum perfetto_packet {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_COMPRESSED = 50,
	PACKET_TIMESTAMP_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
};
enum perfetto_defaults { DEFAULTS_TIMESTAMP_CLOCK_ID = 58 };
enum perfetto_snapshot { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY = 2 };
enum perfetto_clock { CLOCK_FIELD_ID = 1, CLOCK_FIELD_TIMESTAMP = 2, CLOCK_FIELD_INCREMENTAL = 3 };
enum perfetto_track {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
};
enum perfetto_process { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum perfetto_thread { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum perfetto_event {
	EVENT_CATEGORY_IID = 3,
	EVENT_ANNOTATION = 4,
	EVENT_LEGACY = 6,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
};
enum perfetto_legacy { LEGACY_PHASE = 2, LEGACY_UNSCOPED_ID = 6, LEGACY_BIND_TO_ENCLOSING = 12 };
enum perfetto_annotation {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_POINTER = 7,
	ANNOTATION_DICT = 11,
	ANNOTATION_STRING_IID = 17,
};
enum perfetto_interned { INTERNED_IID = 1, INTERNED_TEXT = 2 };
/* The tables of interned strings, by their InternedData fields. */
enum perfetto_table {
	INTERNED_CATEGORIES = 1,
	INTERNED_EVENT_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_STRINGS = 29,
	NR_INTERNED = 30,
};

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
#define SEQUENCE	  1
#define CLOCK_ID_MONO	  3  /* CLOCK_MONOTONIC */
#define CLOCK_ID_DELTA	  64 /* the first of a sequence's own clocks */
#define STRINGS_MAX	  8192U
#define OWNER_ENDED	  0x80
#define OWNERS_MAX	  0x7f /* later owners share one number */
#define BLOCK_BYTES	  (256U << 10)
#define COMPRESSION_LEVEL 3

/* Track kinds. A track's uuid is made from the number and the kind, and is not 0. */
enum { UUID_THREAD, UUID_OFF_CPU, UUID_PROCESS, UUID_RECORDING, NR_UUID };

struct perfetto {
	FILE *out; /* owned by the caller */
	int err;   /* the first one */
	struct protobuf block, packet, part, inner;
	struct protobuf event, dict, interned;
	struct hash strings[NR_INTERNED]; /* a text's iid by hash */
	size_t nr_strings;
	const char *dict_key; /* of the open dict, or NULL */
	uint64_t event_ns;
	uint64_t clock_ns;   /* of the last packet with a difference */
	uint64_t end_ns;     /* the latest event time */
	bool started;	     /* clock_ns is set */
	uint8_t *owners;     /* indexed by tid, see perfetto_end_thread(); or NULL */
	uint16_t *described; /* indexed by tid: owners of described tracks, see is_described() */
	uint8_t *compressed;
};

struct perfetto *perfetto_new(FILE *out)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	if (perfetto)
		perfetto->out = out;
	return perfetto;
}

void perfetto_free(struct perfetto *perfetto)
{
	size_t i;

	if (!perfetto)
		return;
	protobuf_exit(&perfetto->block);
	protobuf_exit(&perfetto->packet);
	protobuf_exit(&perfetto->part);
	protobuf_exit(&perfetto->inner);
	protobuf_exit(&perfetto->event);
	protobuf_exit(&perfetto->dict);
	protobuf_exit(&perfetto->interned);
	for (i = 0; i < NR_INTERNED; i++)
		hash_exit(&perfetto->strings[i], NULL);
	free(perfetto->described);
	free(perfetto->compressed);
	free(perfetto->owners);
	free(perfetto);
}

int perfetto_state(const struct perfetto *perfetto)
{
	return ferror(perfetto->out) ? -EIO : perfetto->err;
}

void perfetto_end_thread(struct perfetto *perfetto, uint32_t tid)
{
	/* calloc() for many pages: the kernel allocates only written pages. */
	if (!perfetto->owners)
		perfetto->owners = calloc(TRACE_NUMBERS, 1);
	if (!perfetto->owners)
		perfetto->err = -ENOMEM;
	else if (tid < TRACE_NUMBERS)
		perfetto->owners[tid] |= OWNER_ENDED;
}

void perfetto_begin_thread(struct perfetto *perfetto, uint32_t tid)
{
	uint8_t *owner = perfetto->owners && tid < TRACE_NUMBERS ? &perfetto->owners[tid] : NULL;

	if (!owner || !(*owner & OWNER_ENDED))
		return;
	*owner &= ~OWNER_ENDED;
	*owner += *owner < OWNERS_MAX;
}

static uint32_t thread_number(const struct perfetto *perfetto, uint32_t tid)
{
	return perfetto->owners && tid < TRACE_NUMBERS ?
		       tid + (perfetto->owners[tid] & OWNERS_MAX) * TRACE_NEXT_OWNER :
		       tid;
}

static void perfetto_write_block(struct perfetto *perfetto)
{
	uLongf bytes = compressBound(perfetto->block.used);
	uint8_t *grown = realloc(perfetto->compressed, bytes);
	struct protobuf *part = &perfetto->part;

	perfetto->compressed = grown ?: perfetto->compressed;
	if (!grown || compress2(grown, &bytes, perfetto->block.bytes, perfetto->block.used,
				COMPRESSION_LEVEL) != Z_OK) {
		perfetto->err = -ENOMEM;
		return;
	}
	protobuf_clear(part);
	protobuf_bytes(part, PACKET_COMPRESSED, perfetto->compressed, bytes);
	protobuf_clear(&perfetto->packet);
	protobuf_message(&perfetto->packet, TRACE_PACKET, part);
	if (perfetto->packet.failed) {
		perfetto->err = -ENOMEM;
		return;
	}
	fwrite(perfetto->packet.bytes, perfetto->packet.used, 1, perfetto->out);
	protobuf_clear(&perfetto->block);
}

static struct protobuf *packet_begin(struct perfetto *perfetto)
{
	protobuf_clear(&perfetto->packet);
	protobuf_number(&perfetto->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	return &perfetto->packet;
}

static void packet_end(struct perfetto *perfetto)
{
	protobuf_message(&perfetto->block, TRACE_PACKET, &perfetto->packet);
	if (perfetto->block.failed || perfetto->event.failed || perfetto->part.failed)
		perfetto->err = -ENOMEM;
	else if (perfetto->block.used >= BLOCK_BYTES)
		perfetto_write_block(perfetto);
}

static void snapshot_clock(struct perfetto *perfetto, unsigned int id, uint64_t ns)
{
	protobuf_clear(&perfetto->inner);
	protobuf_number(&perfetto->inner, CLOCK_FIELD_ID, id);
	protobuf_number(&perfetto->inner, CLOCK_FIELD_TIMESTAMP, ns);
	if (id == CLOCK_ID_DELTA)
		protobuf_number(&perfetto->inner, CLOCK_FIELD_INCREMENTAL, true);
	protobuf_message(&perfetto->part, SNAPSHOT_CLOCK, &perfetto->inner);
}

/* Starts the sequence, or restarts it with an empty string table. */
static void sequence_start(struct perfetto *perfetto, uint64_t ns)
{
	struct protobuf *packet = packet_begin(perfetto);
	unsigned int table;

	for (table = 0; table < NR_INTERNED; table++)
		hash_exit(&perfetto->strings[table], NULL);
	perfetto->nr_strings = 0;
	perfetto->started = true;
	perfetto->clock_ns = ns;
	protobuf_number(packet, PACKET_SEQUENCE_FLAGS, FLAG_STATE_CLEARED);
	protobuf_clear(&perfetto->part);
	protobuf_number(&perfetto->part, DEFAULTS_TIMESTAMP_CLOCK_ID, CLOCK_ID_DELTA);
	protobuf_message(packet, PACKET_DEFAULTS, &perfetto->part);
	protobuf_clear(&perfetto->part);
	snapshot_clock(perfetto, CLOCK_ID_MONO, ns);
	snapshot_clock(perfetto, CLOCK_ID_DELTA, ns);
	protobuf_number(&perfetto->part, SNAPSHOT_PRIMARY, CLOCK_ID_MONO);
	protobuf_message(packet, PACKET_CLOCK_SNAPSHOT, &perfetto->part);
	packet_end(perfetto);
}

/* Returns the iid of a text. If it is new, the next packet has it. */
static uint64_t perfetto_iid(struct perfetto *perfetto, enum perfetto_table table, const char *text)
{
	const uint64_t hash = hash_of(text, strlen(text));
	struct hash *strings = &perfetto->strings[table];
	uint64_t iid = (uintptr_t)hash_find(strings, hash);

	if (iid)
		return iid;
	iid = strings->count + 1;
	if (hash_add(strings, hash, (void *)(uintptr_t)iid))
		perfetto->err = -ENOMEM;
	perfetto->nr_strings++;
	protobuf_clear(&perfetto->inner);
	protobuf_number(&perfetto->inner, INTERNED_IID, iid);
	protobuf_text(&perfetto->inner, INTERNED_TEXT, text);
	protobuf_message(&perfetto->interned, table, &perfetto->inner);
	return iid;
}

static uint64_t uuid_of(const struct perfetto *perfetto, uint32_t number, unsigned int kind)
{
	return ((uint64_t)thread_number(perfetto, number) + 1) * NR_UUID + kind;
}

static uint64_t uuid_of_track(const struct perfetto *perfetto, struct trace_track track)
{
	return uuid_of(perfetto, track.tid, track.off_cpu ? UUID_OFF_CPU : UUID_THREAD);
}

static void descriptor_end(struct perfetto *perfetto)
{
	struct protobuf *packet = packet_begin(perfetto);

	protobuf_message(packet, PACKET_TRACK_DESCRIPTOR, &perfetto->part);
	packet_end(perfetto);
}

/* @name: NULL if it is not known */
static void describe_thread(struct perfetto *perfetto, struct trace_track track, const char *name)
{
	protobuf_clear(&perfetto->inner);
	protobuf_number(&perfetto->inner, THREAD_PID, thread_number(perfetto, track.pid));
	protobuf_number(&perfetto->inner, THREAD_TID, thread_number(perfetto, track.tid));
	if (name)
		protobuf_text(&perfetto->inner, THREAD_NAME, name);
	protobuf_clear(&perfetto->part);
	protobuf_number(&perfetto->part, TRACK_UUID, uuid_of(perfetto, track.tid, UUID_THREAD));
	protobuf_message(&perfetto->part, TRACK_THREAD, &perfetto->inner);
	descriptor_end(perfetto);
}

static void describe_off_cpu(struct perfetto *perfetto, struct trace_track track)
{
	protobuf_clear(&perfetto->part);
	protobuf_number(&perfetto->part, TRACK_UUID, uuid_of(perfetto, track.tid, UUID_OFF_CPU));
	protobuf_number(&perfetto->part, TRACK_PARENT, uuid_of(perfetto, track.tid, UUID_THREAD));
	protobuf_text(&perfetto->part, TRACK_NAME, "off-CPU");
	descriptor_end(perfetto);
}

/*
 * Notes that a track is described, and returns whether it was before. The low byte is the owner of
 * the thread's number plus 1, and the high byte is the same for the track of off-CPU intervals.
 * Device lanes, and the longest faults, are described by their names.
 */
static bool is_described(struct perfetto *perfetto, struct trace_track track)
{
	const unsigned int shift = track.off_cpu ? 8 : 0;
	unsigned int owner;

	if (!perfetto->described)
		perfetto->described = calloc(TRACE_NUMBERS, sizeof(*perfetto->described));
	if (!perfetto->described)
		perfetto->err = -ENOMEM;
	if (!perfetto->described || track.tid >= TRACE_NUMBERS)
		return track.pid == TRACE_DEVICES_PID || track.pid == TRACE_SLOWEST_PID;
	owner = (thread_number(perfetto, track.tid) / TRACE_NEXT_OWNER) + 1;
	if ((perfetto->described[track.tid] >> shift & 0xff) == owner)
		return true;
	perfetto->described[track.tid] &= ~(0xff << shift);
	perfetto->described[track.tid] |= owner << shift;
	return false;
}

static void perfetto_describe(struct perfetto *perfetto, struct trace_track track)
{
	const struct trace_track thread = { track.pid, track.tid, false };

	if (!is_described(perfetto, thread))
		describe_thread(perfetto, thread, NULL);
	if (track.off_cpu && !is_described(perfetto, track))
		describe_off_cpu(perfetto, track);
}

void perfetto_name_thread(struct perfetto *perfetto, struct trace_track track, const char *name)
{
	is_described(perfetto, track);
	describe_thread(perfetto, track, name);
}

void perfetto_name_process(struct perfetto *perfetto, uint32_t pid, const char *name)
{
	protobuf_clear(&perfetto->inner);
	protobuf_number(&perfetto->inner, PROCESS_PID, thread_number(perfetto, pid));
	protobuf_text(&perfetto->inner, PROCESS_NAME, name);
	protobuf_clear(&perfetto->part);
	protobuf_number(&perfetto->part, TRACK_UUID, uuid_of(perfetto, pid, UUID_PROCESS));
	protobuf_message(&perfetto->part, TRACK_PROCESS, &perfetto->inner);
	descriptor_end(perfetto);
}

static void event_begin(struct perfetto *perfetto, uint64_t uuid, uint64_t ns)
{
	if (!perfetto->started || perfetto->nr_strings >= STRINGS_MAX)
		sequence_start(perfetto, perfetto->started ? perfetto->clock_ns : ns);
	perfetto->event_ns = ns;
	if (perfetto->end_ns < ns)
		perfetto->end_ns = ns;
	protobuf_clear(&perfetto->event);
	protobuf_number(&perfetto->event, EVENT_TRACK_UUID, uuid);
}

static void event_names(struct perfetto *perfetto, const char *category, const char *name)
{
	protobuf_number(&perfetto->event, EVENT_CATEGORY_IID,
			perfetto_iid(perfetto, INTERNED_CATEGORIES, category));
	protobuf_number(&perfetto->event, EVENT_NAME_IID,
			perfetto_iid(perfetto, INTERNED_EVENT_NAMES, name));
}

/* Delta timestamps cannot go backwards, so an earlier event carries an absolute time. */
static void event_end(struct perfetto *perfetto)
{
	struct protobuf *packet = packet_begin(perfetto);
	const uint64_t ns = perfetto->event_ns;

	protobuf_number(packet, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
	if (ns >= perfetto->clock_ns) {
		protobuf_number(packet, PACKET_TIMESTAMP, ns - perfetto->clock_ns);
		perfetto->clock_ns = ns;
	} else {
		protobuf_number(packet, PACKET_TIMESTAMP, ns);
		protobuf_number(packet, PACKET_TIMESTAMP_CLOCK_ID, CLOCK_ID_MONO);
	}
	if (perfetto->interned.used)
		protobuf_message(packet, PACKET_INTERNED_DATA, &perfetto->interned);
	protobuf_clear(&perfetto->interned);
	protobuf_message(packet, PACKET_TRACK_EVENT, &perfetto->event);
	packet_end(perfetto);
}

void perfetto_slice(struct perfetto *perfetto, struct trace_track track, const char *category,
		    const char *name, uint64_t start_ns)
{
	perfetto_describe(perfetto, track);
	event_begin(perfetto, uuid_of_track(perfetto, track), start_ns);
	protobuf_number(&perfetto->event, EVENT_TYPE, TYPE_BEGIN);
	event_names(perfetto, category, name);
}

void perfetto_args_end(struct perfetto *perfetto)
{
	event_end(perfetto);
}

void perfetto_plain_slice(struct perfetto *perfetto, struct trace_track track, const char *category,
			  const char *name, uint64_t start_ns, uint64_t end_ns)
{
	perfetto_slice(perfetto, track, category, name, start_ns);
	perfetto_args_end(perfetto);
	perfetto_slice_end(perfetto, track, end_ns);
}

void perfetto_slice_end(struct perfetto *perfetto, struct trace_track track, uint64_t end_ns)
{
	event_begin(perfetto, uuid_of_track(perfetto, track), end_ns);
	protobuf_number(&perfetto->event, EVENT_TYPE, TYPE_END);
	event_end(perfetto);
}

static void annotate(struct perfetto *perfetto, const char *key, enum perfetto_annotation field,
		     uint64_t value)
{
	const uint64_t iid = perfetto_iid(perfetto, INTERNED_ANNOTATION_NAMES, key);

	protobuf_clear(&perfetto->part);
	protobuf_number(&perfetto->part, ANNOTATION_NAME_IID, iid);
	protobuf_number(&perfetto->part, field, value);
	if (perfetto->dict_key)
		protobuf_message(&perfetto->dict, ANNOTATION_DICT, &perfetto->part);
	else
		protobuf_message(&perfetto->event, EVENT_ANNOTATION, &perfetto->part);
}

void perfetto_text(struct perfetto *perfetto, const char *key, const char *text)
{
	annotate(perfetto, key, ANNOTATION_STRING_IID,
		 perfetto_iid(perfetto, INTERNED_STRINGS, text));
}

void perfetto_number(struct perfetto *perfetto, const char *key, uint64_t value)
{
	annotate(perfetto, key, ANNOTATION_UINT, value);
}

void perfetto_address(struct perfetto *perfetto, const char *key, uint64_t value)
{
	annotate(perfetto, key, ANNOTATION_POINTER, value);
}

void perfetto_boolean(struct perfetto *perfetto, const char *key, bool value)
{
	annotate(perfetto, key, ANNOTATION_BOOL, value);
}

void perfetto_dict(struct perfetto *perfetto, const char *key)
{
	perfetto->dict_key = key;
	protobuf_clear(&perfetto->dict);
	protobuf_number(&perfetto->dict, ANNOTATION_NAME_IID,
			perfetto_iid(perfetto, INTERNED_ANNOTATION_NAMES, key));
}

void perfetto_dict_end(struct perfetto *perfetto)
{
	perfetto->dict_key = NULL;
	protobuf_message(&perfetto->event, EVENT_ANNOTATION, &perfetto->dict);
}

/* A viewer binds both ends to the slices that are open at their times. */
void perfetto_arrow(struct perfetto *perfetto, char phase, struct trace_track track, uint64_t id,
		    uint64_t ns)
{
	event_begin(perfetto, uuid_of_track(perfetto, track), ns);
	event_names(perfetto, "wait", "request");
	protobuf_clear(&perfetto->part);
	protobuf_number(&perfetto->part, LEGACY_PHASE, phase);
	protobuf_number(&perfetto->part, LEGACY_UNSCOPED_ID, id);
	if (phase == 'f')
		protobuf_number(&perfetto->part, LEGACY_BIND_TO_ENCLOSING, true);
	protobuf_message(&perfetto->event, EVENT_LEGACY, &perfetto->part);
	event_end(perfetto);
}

static void perfetto_lost(struct perfetto *perfetto, const char *key, uint64_t lost)
{
	if (lost == COUNT_NA)
		perfetto_text(perfetto, key, "n/a");
	else
		perfetto_number(perfetto, key, lost);
}

void perfetto_finish(struct perfetto *perfetto, const struct trace_missing *missing)
{
	protobuf_clear(&perfetto->part);
	protobuf_number(&perfetto->part, TRACK_UUID, UUID_RECORDING);
	protobuf_text(&perfetto->part, TRACK_NAME, "pfstat");
	descriptor_end(perfetto);
	event_begin(perfetto, UUID_RECORDING, perfetto->end_ns);
	protobuf_number(&perfetto->event, EVENT_TYPE, TYPE_INSTANT);
	event_names(perfetto, "recording", "end of the recording");
	perfetto_number(perfetto, "requests_left_out", missing->requests_left_out);
	perfetto_number(perfetto, "arrows_left_out", missing->arrows_left_out);
	perfetto_lost(perfetto, "lost", missing->lost);
	perfetto_lost(perfetto, "events_lost", missing->events_lost);
	if (missing->damage)
		perfetto_text(perfetto, "damage", missing->damage);
	event_end(perfetto);
	if (!perfetto->err)
		perfetto_write_block(perfetto);
	if (!perfetto->err && fflush(perfetto->out))
		perfetto->err = -errno;
}

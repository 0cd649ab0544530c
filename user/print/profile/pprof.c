// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a profile for pprof: the message Profile in profile.proto, compressed by gzip. The samples
 * are the profile's sums. Several processes share a file's code, so a location has the offset in
 * the file, and each file has a separate address range, number << 48.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "print/printers.h"
#include "util/array.h"
#include "util/hash.h"
#include "util/protobuf.h"
#include "util/time_ns.h"

/* Field numbers in profile.proto, by message. */
enum pprof_profile {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};
enum pprof_value_type { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum pprof_sample { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum pprof_label { LABEL_KEY = 1, LABEL_STR = 2 };
enum pprof_mapping {
	MAPPING_ID = 1,
	MAPPING_MEMORY_START = 2,
	MAPPING_MEMORY_LIMIT = 3,
	MAPPING_FILENAME = 5,
	MAPPING_HAS_FUNCTIONS = 7,
};
enum pprof_location {
	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
};
enum pprof_line { LINE_FUNCTION_ID = 1 };
enum pprof_function { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3 };

#define OBJECT_SHIFT 48 /* above all program addresses */

struct pprof {
	struct protobuf profile, part, inner;
	struct hash strings; /* a string's index by hash, plus 1 */
	uint64_t nr_strings;
	bool failed; /* no memory */
};

/* Returns the index of a string, which is added to the table if it is new. */
static uint64_t pprof_string(struct pprof *pprof, const char *text)
{
	const uint64_t hash = hash_of(text, strlen(text));
	const void *found = hash_find(&pprof->strings, hash);

	if (found)
		return (uintptr_t)found - 1;
	pprof->failed |=
		hash_add(&pprof->strings, hash, (void *)(uintptr_t)(pprof->nr_strings + 1)) != 0;
	protobuf_text(&pprof->profile, PROFILE_STRING_TABLE, text);
	return pprof->nr_strings++;
}

static void pprof_value_type(struct pprof *pprof, unsigned int field, const char *type,
			     const char *unit)
{
	protobuf_clear(&pprof->part);
	protobuf_number(&pprof->part, VALUE_TYPE_TYPE, pprof_string(pprof, type));
	protobuf_number(&pprof->part, VALUE_TYPE_UNIT, pprof_string(pprof, unit));
	protobuf_message(&pprof->profile, field, &pprof->part);
}

static void pprof_label(struct pprof *pprof, const char *key, const char *text)
{
	protobuf_clear(&pprof->inner);
	protobuf_number(&pprof->inner, LABEL_KEY, pprof_string(pprof, key));
	protobuf_number(&pprof->inner, LABEL_STR, pprof_string(pprof, text));
	protobuf_message(&pprof->part, SAMPLE_LABEL, &pprof->inner);
}

static void pprof_sample(struct pprof *pprof, const struct profile *profile,
			 const struct profile_sum *sum)
{
	const struct profile_stack *stack = &profile->stacks[sum->stack];
	const struct profile_thread *thread = &profile->threads[sum->thread];
	char name[48];
	uint32_t call;

	protobuf_clear(&pprof->part);
	protobuf_clear(&pprof->inner);
	for (call = stack->call; call != PROFILE_NONE; call = profile->calls[call].parent)
		protobuf_element(&pprof->inner, profile->calls[call].frame + 1ULL);
	protobuf_message(&pprof->part, SAMPLE_LOCATION_ID, &pprof->inner);
	protobuf_clear(&pprof->inner);
	protobuf_element(&pprof->inner, sum->faults);
	protobuf_element(&pprof->inner, sum->total_ns);
	protobuf_message(&pprof->part, SAMPLE_VALUE, &pprof->inner);
	snprintf(name, sizeof(name), "%s%s(%u)", thread->name, thread->name[0] ? " " : "",
		 thread->tid);
	pprof_label(pprof, "class", fault_class_name(sum->class));
	pprof_label(pprof, "thread", name);
	pprof_label(pprof, "file", profile->targets[sum->target].name);
	protobuf_message(&pprof->profile, PROFILE_SAMPLE, &pprof->part);
}

static void pprof_mapping(struct pprof *pprof, const struct profile_object *object, uint64_t id)
{
	protobuf_clear(&pprof->part);
	protobuf_number(&pprof->part, MAPPING_ID, id);
	protobuf_number(&pprof->part, MAPPING_MEMORY_START, id << OBJECT_SHIFT);
	protobuf_number(&pprof->part, MAPPING_MEMORY_LIMIT, (id << OBJECT_SHIFT) + object->end);
	protobuf_number(&pprof->part, MAPPING_FILENAME, pprof_string(pprof, object->path));
	/* Otherwise pprof would look for the file on the machine where it runs. */
	protobuf_number(&pprof->part, MAPPING_HAS_FUNCTIONS, true);
	protobuf_message(&pprof->profile, PROFILE_MAPPING, &pprof->part);
}

static void pprof_location(struct pprof *pprof, const struct profile *profile,
			   const struct profile_frame *frame, uint64_t id)
{
	uint64_t object = profile->functions[frame->function].object;

	object = object == PROFILE_NONE ? 0 : object + 1;
	protobuf_clear(&pprof->part);
	protobuf_number(&pprof->part, LOCATION_ID, id);
	protobuf_number(&pprof->part, LOCATION_MAPPING_ID, object);
	protobuf_number(&pprof->part, LOCATION_ADDRESS, (object << OBJECT_SHIFT) + frame->offset);
	protobuf_clear(&pprof->inner);
	protobuf_number(&pprof->inner, LINE_FUNCTION_ID, frame->function + 1ULL);
	protobuf_message(&pprof->part, LOCATION_LINE, &pprof->inner);
	protobuf_message(&pprof->profile, PROFILE_LOCATION, &pprof->part);
}

static void pprof_function(struct pprof *pprof, const struct profile_function *function,
			   uint64_t id)
{
	const uint64_t name = pprof_string(pprof, function->name);

	protobuf_clear(&pprof->part);
	protobuf_number(&pprof->part, FUNCTION_ID, id);
	protobuf_number(&pprof->part, FUNCTION_NAME, name);
	protobuf_number(&pprof->part, FUNCTION_SYSTEM_NAME, name);
	protobuf_message(&pprof->profile, PROFILE_FUNCTION, &pprof->part);
}

static void pprof_head(struct pprof *pprof, const struct profile *profile,
		       const struct profile_head *head)
{
	pprof_string(pprof, ""); /* index 0 */
	pprof_value_type(pprof, PROFILE_SAMPLE_TYPE, "faults", "count");
	pprof_value_type(pprof, PROFILE_SAMPLE_TYPE, "fault_time", "nanoseconds");
	pprof_value_type(pprof, PROFILE_PERIOD_TYPE, "faults", "count");
	protobuf_number(&pprof->profile, PROFILE_PERIOD, 1);
	protobuf_number(&pprof->profile, PROFILE_TIME_NANOS, head->started_s * SECOND);
	protobuf_number(&pprof->profile, PROFILE_DURATION_NANOS,
			profile->end_ns - profile->start_ns);
	protobuf_number(&pprof->profile, PROFILE_DEFAULT_SAMPLE_TYPE,
			pprof_string(pprof, "fault_time"));
	if (head->command[0])
		protobuf_number(&pprof->profile, PROFILE_COMMENT,
				pprof_string(pprof, head->command));
	if (head->missing[0])
		protobuf_number(&pprof->profile, PROFILE_COMMENT,
				pprof_string(pprof, head->missing));
}

static void pprof_encode(struct pprof *pprof, const struct profile *profile,
			 const struct profile_head *head)
{
	size_t i;

	pprof_head(pprof, profile, head);
	for (i = 0; i < profile->nr_sums; i++)
		pprof_sample(pprof, profile, &profile->sums[i]);
	for (i = 0; i < profile->nr_objects; i++)
		pprof_mapping(pprof, &profile->objects[i], i + 1);
	for (i = 0; i < profile->nr_frames; i++)
		pprof_location(pprof, profile, &profile->frames[i], i + 1);
	for (i = 0; i < profile->nr_functions; i++)
		pprof_function(pprof, &profile->functions[i], i + 1);
}

/* The header of gzip has neither a time nor a name, so equal profiles give equal files. */
static int pprof_compress(FILE *out, const struct protobuf *profile)
{
	z_stream zlib = { .next_in = profile->bytes, .avail_in = profile->used };
	uint8_t bytes[16384];
	int status;

	if (profile->used > UINT32_MAX)
		return -EFBIG;
	if (deflateInit2(&zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		zlib.next_out = bytes;
		zlib.avail_out = sizeof(bytes);
		status = deflate(&zlib, Z_FINISH);
		fwrite(bytes, sizeof(bytes) - zlib.avail_out, 1, out);
	} while (status == Z_OK);
	deflateEnd(&zlib);
	return fflush(out) || ferror(out) ? -(errno ?: EIO) : 0;
}

int pprof_print(FILE *out, const struct profile *profile, const struct profile_head *head)
{
	struct pprof pprof = { 0 };
	int err;

	pprof_encode(&pprof, profile, head);
	err = pprof.failed || pprof.profile.failed ? -ENOMEM : 0;
	if (!err)
		err = pprof_compress(out, &pprof.profile);
	protobuf_exit(&pprof.profile);
	protobuf_exit(&pprof.part);
	protobuf_exit(&pprof.inner);
	hash_exit(&pprof.strings, NULL);
	return err;
}

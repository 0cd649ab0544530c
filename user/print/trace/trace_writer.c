// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes events of Chrome's JSON trace format, one at a time, to the caller's stream. It keeps no
 * events; only the thread numbers in use are remembered.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print/trace/trace_writer.h"
#include "util/time_ns.h"
#include "util/utf8.h"

static json_t *ascii_of(const char *bytes)
{
	char *ascii = strdup(bytes), *byte;
	json_t *string;

	if (!ascii)
		return NULL;
	for (byte = ascii; *byte; byte++)
		if (*byte & 0x80)
			*byte = '?';
	string = json_string(ascii);
	free(ascii);
	return string;
}

json_t *trace_json_text(const char *bytes)
{
	json_t *string = json_string(bytes);

	return string ? string : ascii_of(bytes);
}

char *trace_json_string(const char *bytes)
{
	json_t *string = trace_json_text(bytes);
	char *text = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL, *safe = NULL;
	size_t length;
	FILE *out = text ? open_memstream(&safe, &length) : NULL;

	json_decref(string);
	if (out) {
		/* The output may go to a terminal, so control characters are escaped. */
		utf8_print_json(out, text);
		if (fclose(out)) {
			free(safe);
			safe = NULL;
		}
	}
	free(text);
	return safe;
}

void trace_json_begin(struct trace_json *json, uint64_t ns)
{
	const uint64_t day_ns = 86400 * SECOND, days = ns / day_ns;

	if (json->begun)
		return;
	json->begun = true;
	json->origin_ns = days ? (days - 1) * day_ns : 0;
}

#define OWNER_ENDED 0x80
#define OWNERS_MAX  0x7f /* later owners share one number */

void trace_json_exit(struct trace_json *json)
{
	free(json->owners);
}

int trace_json_end_thread(struct trace_json *json, uint32_t tid)
{
	/* calloc() of many pages: the kernel allocates only the pages that are written. */
	if (!json->owners)
		json->owners = calloc(TRACE_NUMBERS, 1);
	if (!json->owners)
		return -ENOMEM;
	if (tid < TRACE_NUMBERS)
		json->owners[tid] |= OWNER_ENDED;
	return 0;
}

void trace_json_begin_thread(struct trace_json *json, uint32_t tid)
{
	uint8_t *owner = json->owners && tid < TRACE_NUMBERS ? &json->owners[tid] : NULL;

	if (!owner || !(*owner & OWNER_ENDED))
		return;
	*owner &= ~OWNER_ENDED;
	*owner += *owner < OWNERS_MAX;
}

static uint32_t trace_json_number(const struct trace_json *json, uint32_t tid)
{
	return json->owners && tid < TRACE_NUMBERS ?
		       tid + (json->owners[tid] & OWNERS_MAX) * TRACE_NEXT_OWNER :
		       tid;
}

static uint64_t since_origin(const struct trace_json *json, uint64_t ns)
{
	return ns > json->origin_ns ? ns - json->origin_ns : 0;
}

static void begin(struct trace_json *json, char phase, struct trace_track track)
{
	fprintf(json->out, "%s{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32,
		json->any ? ",\n" : "\n", phase, trace_json_number(json, track.pid),
		trace_json_number(json, track.tid));
	json->any = true;
}

static void print_time(FILE *out, const char *key, uint64_t ns)
{
	fprintf(out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned int)(ns % 1000));
}

int trace_json_name(struct trace_json *json, const char *kind, struct trace_track track,
		    const char *name)
{
	char *text = trace_json_string(name);

	if (!text)
		return -ENOMEM;
	begin(json, 'M', track);
	fprintf(json->out, ",\"name\":\"%s\",\"args\":{\"name\":%s}}", kind, text);
	free(text);
	return 0;
}

void trace_json_slice(struct trace_json *json, struct trace_track track, const char *category,
		      const char *name, uint64_t start_ns, uint64_t end_ns)
{
	const uint64_t from_ns = since_origin(json, start_ns), to_ns = since_origin(json, end_ns);

	begin(json, 'X', track);
	print_time(json->out, "ts", from_ns);
	print_time(json->out, "dur", to_ns > from_ns ? to_ns - from_ns : 0);
	fprintf(json->out, ",\"cat\":\"%s\",\"name\":\"%s\",\"args\":{", category, name);
}

void trace_json_slice_end(struct trace_json *json)
{
	fputs("}}", json->out);
}

void trace_json_arrow(struct trace_json *json, char phase, struct trace_track track, uint64_t id,
		      uint64_t ns)
{
	begin(json, phase, track);
	print_time(json->out, "ts", since_origin(json, ns));
	fprintf(json->out, ",\"cat\":\"wait\",\"name\":\"request\",\"id\":%" PRIu64 "%s}", id,
		phase == 'f' ? ",\"bp\":\"e\"" : "");
}

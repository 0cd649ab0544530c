// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes events of Chrome's JSON trace format, one at a time, to the caller's stream. A slice is
 * one event, which has its end already, so its end prints nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/counters.h"
#include "print/trace/trace_json.h"
#include "print/trace/trace_sink.h"
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

struct trace_json {
	struct trace_sink sink; /* the first member */
	bool event;		/* an event was written: the next needs a comma */
	bool argument;		/* the same for an argument of a slice */
};

static struct trace_json *json_of(struct trace_sink *sink)
{
	return (struct trace_json *)sink;
}

static uint64_t since_origin(const struct trace_sink *sink, uint64_t ns)
{
	return ns > sink->origin_ns ? ns - sink->origin_ns : 0;
}

static void begin(struct trace_sink *sink, char phase, struct trace_track track)
{
	struct trace_json *json = json_of(sink);

	fprintf(sink->out, "%s{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32,
		json->event ? ",\n" : "\n", phase, trace_sink_number(sink, track.pid),
		trace_sink_number(sink, track.tid));
	json->event = true;
}

static void print_time(FILE *out, const char *key, uint64_t ns)
{
	fprintf(out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned int)(ns % 1000));
}

static void trace_json_name(struct trace_sink *sink, enum trace_named named,
			    struct trace_track track, const char *name)
{
	char *text = trace_json_string(name);

	if (!text) {
		sink->err = -ENOMEM;
		return;
	}
	begin(sink, 'M', track);
	fprintf(sink->out, ",\"name\":\"%s\",\"args\":{\"name\":%s}}",
		named == TRACE_NAMED_PROCESS ? "process_name" : "thread_name", text);
	free(text);
}

static void trace_json_slice(struct trace_sink *sink, struct trace_track track,
			     const char *category, const char *name, uint64_t start_ns,
			     uint64_t end_ns)
{
	const uint64_t from_ns = since_origin(sink, start_ns), to_ns = since_origin(sink, end_ns);

	begin(sink, 'X', track);
	print_time(sink->out, "ts", from_ns);
	print_time(sink->out, "dur", to_ns > from_ns ? to_ns - from_ns : 0);
	fprintf(sink->out, ",\"cat\":\"%s\",\"name\":\"%s\",\"args\":{", category, name);
	json_of(sink)->argument = false;
}

static void trace_json_slice_end(struct trace_sink *sink, struct trace_track track, uint64_t end_ns)
{
	(void)sink;
	(void)track;
	(void)end_ns;
}

static FILE *trace_json_key(struct trace_sink *sink, const char *key)
{
	fprintf(sink->out, "%s\"%s\":", json_of(sink)->argument ? "," : "", key);
	json_of(sink)->argument = true;
	return sink->out;
}

static void trace_json_text_argument(struct trace_sink *sink, const char *key, const char *text)
{
	char *string = trace_json_string(text);

	if (string)
		fputs(string, trace_json_key(sink, key));
	else
		sink->err = -ENOMEM;
	free(string);
}

static void trace_json_word(struct trace_sink *sink, const char *key, const char *word)
{
	fprintf(trace_json_key(sink, key), "\"%s\"", word);
}

static void trace_json_number(struct trace_sink *sink, const char *key, uint64_t value)
{
	fprintf(trace_json_key(sink, key), "%" PRIu64, value);
}

static void trace_json_address(struct trace_sink *sink, const char *key, uint64_t value)
{
	fprintf(trace_json_key(sink, key), "\"0x%" PRIx64 "\"", value);
}

static void trace_json_boolean(struct trace_sink *sink, const char *key, bool value)
{
	fputs(value ? "true" : "false", trace_json_key(sink, key));
}

static void trace_json_dict(struct trace_sink *sink, const char *key)
{
	fputc('{', trace_json_key(sink, key));
	json_of(sink)->argument = false;
}

static void trace_json_dict_end(struct trace_sink *sink)
{
	fputc('}', sink->out);
	json_of(sink)->argument = true;
}

static void trace_json_args_end(struct trace_sink *sink)
{
	fputs("}}", sink->out);
}

static void trace_json_arrow(struct trace_sink *sink, char phase, struct trace_track track,
			     uint64_t id, uint64_t ns)
{
	begin(sink, phase, track);
	print_time(sink->out, "ts", since_origin(sink, ns));
	fprintf(sink->out, ",\"cat\":\"wait\",\"name\":\"request\",\"id\":%" PRIu64 "%s}", id,
		phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void trace_json_lost(FILE *out, const char *name, uint64_t lost)
{
	if (lost == COUNT_NA)
		fprintf(out, ",\"%s\":null", name);
	else
		fprintf(out, ",\"%s\":%" PRIu64, name, lost);
}

static void trace_json_finish(struct trace_sink *sink, const struct trace_missing *missing)
{
	char *text = missing->damage ? trace_json_string(missing->damage) : NULL;
	FILE *out = sink->out;

	fprintf(out, "\n],\"otherData\":{\"clock\":\"CLOCK_MONOTONIC\",\"origin_ns\":%" PRIu64,
		sink->origin_ns);
	fprintf(out, ",\"requests_left_out\":%" PRIu64 ",\"arrows_left_out\":%" PRIu64,
		missing->requests_left_out, missing->arrows_left_out);
	trace_json_lost(out, "lost", missing->lost);
	trace_json_lost(out, "events_lost", missing->events_lost);
	fprintf(out, ",\"damage\":%s}}\n", text ? text : "null");
	if (missing->damage && !text)
		sink->err = -ENOMEM;
	free(text);
}

static void trace_json_free(struct trace_sink *sink)
{
	trace_sink_exit(sink);
	free(sink);
}

struct trace_sink *trace_json_new(FILE *out)
{
	static const struct trace_sink_ops ops = {
		.name = trace_json_name,
		.slice = trace_json_slice,
		.slice_end = trace_json_slice_end,
		.text = trace_json_text_argument,
		.word = trace_json_word,
		.number = trace_json_number,
		.address = trace_json_address,
		.boolean = trace_json_boolean,
		.dict = trace_json_dict,
		.dict_end = trace_json_dict_end,
		.args_end = trace_json_args_end,
		.arrow = trace_json_arrow,
		.finish = trace_json_finish,
		.free = trace_json_free,
	};
	struct trace_json *json = calloc(1, sizeof(*json));

	if (!json)
		return NULL;
	json->sink.ops = &ops;
	json->sink.out = out;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
	return &json->sink;
}

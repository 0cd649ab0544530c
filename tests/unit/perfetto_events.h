/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace's contents as JSON, for the tests: { "events": [], "end": {} }. Each event has the
 * thread's pid and tid, "ph" (X: a slice, M: a name, s and f: the ends of an arrow) and times in
 * ns. "end" has the arguments at the end of the recording.
 */
#ifndef PFSTAT_TESTS_PERFETTO_EVENTS_H
#define PFSTAT_TESTS_PERFETTO_EVENTS_H

#include <jansson.h>
#include <stdio.h>

#include "perfetto_reader.h"

struct perfetto_events {
	json_t *root, *events;
	json_t *tracks; /* by uuid: { "pid", "tid", "open": slices that have no end yet } */
};

static json_t *text_value(struct protobuf_reader text)
{
	json_t *value = json_stringn((const char *)text.data, text.bytes);

	ck_assert_ptr_nonnull(value);
	return value;
}

/* @field: for an argument in the message */
static json_t *arguments_of(struct protobuf_reader message, unsigned int field)
{
	json_t *all = json_object(), *value;
	struct protobuf_reader one, found;
	char address[32];
	const char *key;

	while (protobuf_next(&message)) {
		if (message.field != field)
			continue;
		one = protobuf_inner(&message);
		if (viewer_has(one, 2, &found)) {
			value = json_boolean(found.number);
		} else if (viewer_has(one, 3, &found)) {
			value = json_integer((json_int_t)found.number);
		} else if (viewer_has(one, 17, &found)) {
			value = json_string(viewer_text(STRINGS, found.number));
		} else if (viewer_has(one, 7, &found)) {
			snprintf(address, sizeof(address), "%#lx", (unsigned long)found.number);
			value = json_string(address);
		} else {
			value = arguments_of(one, 11);
		}
		key = viewer_text(KEYS, protobuf_find(one, 1).number);
		ck_assert_msg(!json_object_get(all, key), "two arguments %s", key);
		ck_assert_int_eq(json_object_set_new(all, key, value), 0);
	}
	return all;
}

static json_t *track_of(const struct perfetto_events *events, uint64_t uuid)
{
	json_t *track;
	char key[32];

	snprintf(key, sizeof(key), "%lu", (unsigned long)uuid);
	track = json_object_get(events->tracks, key);
	ck_assert_msg(track, "track %s was not described", key);
	return track;
}

static void add_event(const struct perfetto_events *events, json_t *event)
{
	ck_assert_ptr_nonnull(event);
	json_array_append_new(events->events, event);
}

static void add_name(const struct perfetto_events *events, const char *kind, uint64_t pid,
		     uint64_t tid, struct protobuf_reader name)
{
	add_event(events,
		  json_pack("{ss ss sI sI s{so}}", "ph", "M", "name", kind, "pid", (json_int_t)pid,
			    "tid", (json_int_t)tid, "args", "name", text_value(name)));
}

static void add_track(const struct perfetto_events *events, struct protobuf_reader track)
{
	const uint64_t uuid = protobuf_find(track, 1).number;
	struct protobuf_reader found, inner, name;
	json_int_t pid = 0, tid = 0;
	json_t *parent;
	char key[32];

	if (viewer_has(track, 4, &found)) {
		inner = protobuf_inner(&found);
		pid = protobuf_find(inner, 1).number;
		tid = protobuf_find(inner, 2).number;
		if (viewer_has(inner, 5, &name))
			add_name(events, "thread_name", pid, tid, name);
	} else if (viewer_has(track, 3, &found)) {
		inner = protobuf_inner(&found);
		pid = protobuf_find(inner, 1).number;
		add_name(events, "process_name", pid, pid, protobuf_find(inner, 6));
		return;
	} else if (viewer_has(track, 5, &found)) {
		parent = track_of(events, found.number);
		pid = json_integer_value(json_object_get(parent, "pid"));
		tid = json_integer_value(json_object_get(parent, "tid"));
	}
	snprintf(key, sizeof(key), "%lu", (unsigned long)uuid);
	if (!json_object_get(events->tracks, key))
		json_object_set_new(events->tracks, key,
				    json_pack("{sI sI s[]}", "pid", pid, "tid", tid, "open"));
}

static void end_slice(json_t *open, uint64_t ns)
{
	const size_t nr = json_array_size(open);
	json_t *slice = json_array_get(open, nr - 1);
	json_int_t from_ns;

	ck_assert_msg(nr, "the end of a slice without its begin");
	from_ns = json_integer_value(json_object_get(slice, "ts"));
	ck_assert_uint_ge(ns, from_ns);
	json_object_set_new(slice, "dur", json_integer((json_int_t)ns - from_ns));
	json_array_remove(open, nr - 1);
}

static void add_trace_event(const struct perfetto_events *events, const struct trace_event *event)
{
	json_t *track = track_of(events, event->uuid), *open = json_object_get(track, "open");
	const char phase[2] = { event->type == BEGIN ? 'X' : event->phase };
	json_t *added;

	if (event->type == INSTANT) {
		json_object_set_new(events->root, "end", arguments_of(event->message, 4));
		return;
	}
	if (event->type == END) {
		end_slice(open, event->ns);
		return;
	}
	added = json_pack("{ss ss ss sO sO sI so}", "ph", phase, "cat", event->category, "name",
			  event->name, "pid", json_object_get(track, "pid"), "tid",
			  json_object_get(track, "tid"), "ts", (json_int_t)event->ns, "args",
			  arguments_of(event->message, 4));
	add_event(events, added);
	if (event->type == BEGIN)
		json_array_append(open, added);
	else
		json_object_set_new(added, "id", json_integer((json_int_t)event->id));
	if (event->enclosing)
		json_object_set_new(added, "bp", json_string("e"));
}

static json_t *perfetto_events(const char *text, size_t length)
{
	struct perfetto_events events = { .root = json_pack("{s[]}", "events") };
	struct protobuf_reader descriptor;
	struct trace_event event;
	enum viewer_step step;
	json_t *track;
	const char *uuid;

	events.events = json_object_get(events.root, "events");
	events.tracks = json_object();
	viewer_open(text, length);
	while ((step = viewer_step(&event, &descriptor)) != VIEWER_END) {
		if (step == VIEWER_TRACK)
			add_track(&events, descriptor);
		else
			add_trace_event(&events, &event);
	}
	json_object_foreach(events.tracks, uuid, track) {
		ck_assert_msg(!json_array_size(json_object_get(track, "open")),
			      "track %s has a slice without an end", uuid);
	}
	json_decref(events.tracks);
	ck_assert_msg(json_object_get(events.root, "end"), "the trace has no end");
	return events.root;
}

#endif

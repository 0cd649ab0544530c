// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes items and faults to the printer for one format. Traces and rows are printed while the
 * recording is read. Profiles are printed at the end of the recording, which has the code names.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/report_options.h"
#include "print/print_report.h"
#include "print/printers.h"
#include "util/version.h"

int fault_stream_open(struct fault_stream *stream, enum report_format format, FILE *out,
		      struct analysis *analysis, const struct time_range *range)
{
	*stream = (struct fault_stream){ .format = report_printer(format),
					 .out = out,
					 .range = *range };
	if (!report_format_is_binary(format) && isatty(fileno(out))) {
		stream->filter = print_report_stream(out, format);
		if (!stream->filter)
			return -ENOMEM;
		stream->out = stream->filter;
	}
	if (stream->format->print_profile)
		return profile_init(&stream->profile, analysis);
	return stream->format->faults->open(&stream->data, stream->out, analysis);
}

int fault_stream_before(struct fault_stream *stream, const struct item *item)
{
	const struct fault_printer *faults = stream->data ? stream->format->faults : NULL;

	if (faults && faults->item && !stream->err && time_range_has_item(&stream->range, item))
		stream->err = faults->item(stream->data, item);
	return stream->err;
}

int fault_stream_after(struct fault_stream *stream, const struct item *item)
{
	if (stream->format && stream->format->print_profile && !stream->err)
		stream->err = profile_add_item(&stream->profile, item);
	return stream->err;
}

int fault_stream_fault(struct fault_stream *stream, const struct explained *fault)
{
	if (stream->err || !time_range_overlaps(&stream->range, fault->start_ns, fault->end_ns))
		return stream->err;
	stream->faults++;
	if (stream->format->print_profile)
		stream->err = profile_add_fault(&stream->profile, fault);
	else if (stream->format->faults->fault)
		stream->err = stream->format->faults->fault(stream->data, fault);
	return stream->err;
}

static int end_faults(struct fault_stream *stream, const struct report *report)
{
	const struct missing_faults missing = {
		.damage = report->losses.damage,
		.lost = report->losses.records,
		.events_lost = view_events_lost(report),
	};
	void *data = stream->data;

	stream->data = NULL;
	return stream->format->faults->end(data, &missing);
}

/* Returns a report's warnings in one line. The caller frees it. NULL: no memory. */
static char *warnings_of(const struct report *report)
{
	char *text = NULL, *at;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int err;

	if (!out)
		return NULL;
	err = print_report_warnings(out, report);
	if (fclose(out) || err) {
		free(text);
		return NULL;
	}
	while (length && text[length - 1] == '\n')
		text[--length] = '\0';
	while ((at = strchr(text, '\n')))
		*at = ' ';
	return text;
}

static int end_profile(struct fault_stream *stream, const struct report *report, uint64_t start_ns)
{
	char *missing = warnings_of(report);
	const struct profile_head head = {
		.command = report->environment.command,
		.version = PFDRIVE_VERSION,
		.started_s = report->environment.started_s,
		.origin_ns = start_ns == COUNT_NA ? 0 : start_ns,
		.missing = missing,
	};
	int err = missing ? profile_finish(&stream->profile) : -ENOMEM;

	if (!err)
		err = stream->format->print_profile(stream->out, &stream->profile, &head);
	free(missing);
	return err;
}

static int end_filter(struct fault_stream *stream)
{
	FILE *filter = stream->filter;

	stream->filter = NULL;
	errno = 0;
	return filter && fclose(filter) ? -(errno ?: EIO) : 0;
}

int fault_stream_end(struct fault_stream *stream, const struct report *report, uint64_t start_ns)
{
	int err;

	if (stream->data)
		err = end_faults(stream, report);
	else
		err = stream->err ?: end_profile(stream, report, start_ns);
	err = err ?: end_filter(stream);
	return stream->err ?: err;
}

void fault_stream_close(struct fault_stream *stream)
{
	if (stream->data)
		stream->format->faults->end(stream->data,
					    &(struct missing_faults){ .damage = "interrupted" });
	stream->data = NULL;
	end_filter(stream);
	profile_exit(&stream->profile);
}

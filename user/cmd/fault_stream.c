// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes items and faults to the printer of one format. Traces and rows are printed while the
 * recording is read. Profiles are printed at its end, because that has the names of the code.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/fault_stream.h"
#include "print/print_report.h"
#include "print/profile/profile_formats.h"
#include "util/version.h"

static bool is_profile(const struct fault_stream *stream)
{
	return stream->format >= STREAM_PPROF && stream->format <= STREAM_FIREFOX;
}

int fault_stream_open(struct fault_stream *stream, enum report_stream format, FILE *out,
		      struct analysis *analysis, const struct time_range *range)
{
	*stream = (struct fault_stream){ .format = format, .out = out, .range = *range };
	if (is_profile(stream))
		return profile_init(&stream->profile, analysis);
	if (format == STREAM_PERFETTO)
		return trace_begin(&stream->trace, analysis_page_bytes(analysis), out);
	return fault_rows_begin(&stream->rows, out, analysis, format == STREAM_FAULTS_JSONL);
}

int fault_stream_before(struct fault_stream *stream, const struct item *item)
{
	if (stream->trace && !stream->err && time_range_has_item(&stream->range, item))
		stream->err = trace_item(stream->trace, item);
	return stream->err;
}

int fault_stream_after(struct fault_stream *stream, const struct item *item)
{
	if (is_profile(stream) && !stream->err)
		stream->err = profile_add_item(&stream->profile, item);
	return stream->err;
}

int fault_stream_fault(struct fault_stream *stream, const struct explained *fault)
{
	if (stream->err || !time_range_overlaps(&stream->range, fault->start_ns, fault->end_ns))
		return stream->err;
	stream->faults++;
	if (stream->trace)
		stream->err = trace_fault(stream->trace, fault);
	else if (is_profile(stream))
		stream->err = profile_add_fault(&stream->profile, fault);
	else
		stream->err = fault_rows_add(&stream->rows, fault);
	return stream->err;
}

static int end_trace(struct fault_stream *stream, const struct report *report)
{
	const struct trace_missing missing = {
		.damage = report->losses.damage,
		.lost = report->losses.records,
		.events_lost = report->losses.events,
	};
	struct trace_writer *trace = stream->trace;

	stream->trace = NULL;
	return trace_end(trace, &missing);
}

/* Returns the warnings of a report in one line; the caller frees it. NULL: no memory. */
static char *warnings_of(const struct report *report)
{
	char *text = NULL, *at;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int err;

	if (!out)
		return NULL;
	err = report_print_warnings(out, report);
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
	static int (*const printers[])(FILE *out, const struct profile *profile,
				       const struct profile_head *head) = {
		[STREAM_PPROF] = pprof_print,
		[STREAM_FIREFOX] = firefox_print,
	};
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
		err = printers[stream->format](stream->out, &stream->profile, &head);
	free(missing);
	return err;
}

int fault_stream_end(struct fault_stream *stream, const struct report *report, uint64_t start_ns)
{
	int err;

	if (stream->trace)
		err = end_trace(stream, report);
	else if (is_profile(stream))
		err = stream->err ?: end_profile(stream, report, start_ns);
	else
		err = fault_rows_end(&stream->rows);
	return stream->err ?: err;
}

void fault_stream_close(struct fault_stream *stream)
{
	if (stream->trace)
		trace_end(stream->trace, &(struct trace_missing){ .damage = "interrupted" });
	stream->trace = NULL;
	fault_rows_end(&stream->rows);
	profile_exit(&stream->profile);
}

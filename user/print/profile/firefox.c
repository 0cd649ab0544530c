// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a profile for the Firefox Profiler, in version 60 of the processed format, which all later
 * viewer versions read. Each fault is a sample, weighted by time, and a marker from start to end.
 * The tables are columns: an array for each member.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print/json_text.h"
#include "print/printers.h"

#define FORMAT_VERSION 60
#define GECKO_VERSION  33 /* of the format Firefox would have written */

enum firefox_category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_FAULT };

struct firefox {
	FILE *out;
	const struct profile *profile;
	const struct profile_head *head;
	uint64_t origin_ns; /* time 0 */
	int err;
};

static void firefox_text(struct firefox *firefox, const char *text)
{
	if (json_text_print(firefox->out, text))
		firefox->err = -ENOMEM;
}

/* Prints nanoseconds as milliseconds, without rounding. */
static void firefox_time(struct firefox *firefox, uint64_t ns)
{
	fprintf(firefox->out, "%" PRIu64 ".%06u", ns / 1000000, (unsigned int)(ns % 1000000));
}

/* Prints a column with nr equal values. */
static void firefox_constant(struct firefox *firefox, const char *name, const char *value,
			     size_t nr)
{
	size_t i;

	fprintf(firefox->out, "\"%s\":[", name);
	for (i = 0; i < nr; i++)
		fprintf(firefox->out, "%s%s", i ? "," : "", value);
	fputs("],", firefox->out);
}

/* Prints "name":[value,…], for which the loop prints the values. */
#define FIREFOX_COLUMN(firefox, name, i, nr)                            \
	for (size_t i = (fprintf((firefox)->out, "\"%s\":[", name), 0); \
	     i < (nr) || (fputs("],", (firefox)->out), 0); i++)         \
		for (int once = (fputs(i ? "," : "", (firefox)->out), 1); once; once = 0)

static void firefox_length(struct firefox *firefox, size_t nr)
{
	fprintf(firefox->out, "\"length\":%zu}", nr);
}

/* Indexes into the array of strings, which has all the profile's names one after the other. */
static size_t string_of_object(const struct firefox *firefox, size_t object)
{
	return firefox->profile->nr_functions + object;
}

static size_t string_of_target(const struct firefox *firefox, size_t target)
{
	return string_of_object(firefox, firefox->profile->nr_objects) + target;
}

static size_t string_of_class(const struct firefox *firefox, enum fault_class class)
{
	return string_of_target(firefox, firefox->profile->nr_targets) + class;
}

static void firefox_strings(struct firefox *firefox)
{
	const struct profile *profile = firefox->profile;
	const size_t nr = string_of_class(firefox, NR_FAULT_CLASSES);
	const char *text;

	FIREFOX_COLUMN(firefox, "stringArray", i, nr)
	{
		if (i < string_of_object(firefox, 0))
			text = profile->functions[i].name;
		else if (i < string_of_target(firefox, 0))
			text = profile->objects[i - string_of_object(firefox, 0)].path;
		else if (i < string_of_class(firefox, 0))
			text = profile->targets[i - string_of_target(firefox, 0)].name;
		else
			text = fault_class_name(i - string_of_class(firefox, 0));
		firefox_text(firefox, text);
	}
}

static void print_index(FILE *out, uint32_t index, const char *none)
{
	if (index == PROFILE_NONE)
		fputs(none, out);
	else
		fprintf(out, "%" PRIu32, index);
}

static void firefox_stacks(struct firefox *firefox)
{
	const struct profile *profile = firefox->profile;

	fputs("\"stackTable\":{", firefox->out);
	FIREFOX_COLUMN(firefox, "frame", i, profile->nr_calls)
	fprintf(firefox->out, "%" PRIu32, profile->calls[i].frame);
	FIREFOX_COLUMN(firefox, "prefix", i, profile->nr_calls)
	print_index(firefox->out, profile->calls[i].parent, "null");
	firefox_length(firefox, profile->nr_calls);
}

/* Only an offset in a file is an address to the viewer. */
static void firefox_frames(struct firefox *firefox)
{
	const struct profile *profile = firefox->profile;
	const struct profile_frame *frames = profile->frames;
	const size_t nr = profile->nr_frames;

	fputs(",\n\"frameTable\":{", firefox->out);
	FIREFOX_COLUMN(firefox, "address", i, nr)
	{
		if (profile->functions[frames[i].function].object == PROFILE_NONE)
			fputs("-1", firefox->out);
		else
			fprintf(firefox->out, "%" PRIu64, frames[i].offset);
	}
	FIREFOX_COLUMN(firefox, "category", i, nr)
	fprintf(firefox->out, "%d", CATEGORY_USER);
	FIREFOX_COLUMN(firefox, "func", i, nr)
	fprintf(firefox->out, "%" PRIu32, frames[i].function);
	firefox_constant(firefox, "inlineDepth", "0", nr);
	firefox_constant(firefox, "subcategory", "0", nr);
	firefox_constant(firefox, "nativeSymbol", "null", nr);
	firefox_constant(firefox, "innerWindowID", "null", nr);
	firefox_constant(firefox, "line", "null", nr);
	firefox_constant(firefox, "column", "null", nr);
	firefox_length(firefox, nr);
}

static void firefox_functions(struct firefox *firefox)
{
	const struct profile *profile = firefox->profile;
	const size_t nr = profile->nr_functions;

	fputs(",\n\"funcTable\":{", firefox->out);
	FIREFOX_COLUMN(firefox, "name", i, nr)
	fprintf(firefox->out, "%zu", i);
	FIREFOX_COLUMN(firefox, "resource", i, nr)
	print_index(firefox->out, profile->functions[i].object, "-1");
	firefox_constant(firefox, "isJS", "false", nr);
	firefox_constant(firefox, "relevantForJS", "false", nr);
	firefox_constant(firefox, "source", "null", nr);
	firefox_constant(firefox, "lineNumber", "null", nr);
	firefox_constant(firefox, "columnNumber", "null", nr);
	firefox_length(firefox, nr);
}

/* A file is a resource with type 1, a library. */
static void firefox_resources(struct firefox *firefox)
{
	const size_t nr = firefox->profile->nr_objects;

	fputs(",\n\"resourceTable\":{", firefox->out);
	FIREFOX_COLUMN(firefox, "lib", i, nr)
	fprintf(firefox->out, "%zu", i);
	FIREFOX_COLUMN(firefox, "name", i, nr)
	fprintf(firefox->out, "%zu", string_of_object(firefox, i));
	firefox_constant(firefox, "host", "null", nr);
	firefox_constant(firefox, "type", "1", nr);
	firefox_length(firefox, nr);
}

static void firefox_shared(struct firefox *firefox)
{
	fputs(",\n\"shared\":{", firefox->out);
	firefox_strings(firefox);
	fputc('\n', firefox->out);
	firefox_stacks(firefox);
	firefox_frames(firefox);
	firefox_functions(firefox);
	firefox_resources(firefox);
	fputs(",\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
	      "\"functionSize\":[],\"length\":0},\n"
	      "\"sources\":{\"uuid\":[],\"filename\":[],\"length\":0}}",
	      firefox->out);
}

static void firefox_libs(struct firefox *firefox)
{
	const struct profile *profile = firefox->profile;
	const char *path, *slash;

	fputs(",\n", firefox->out);
	FIREFOX_COLUMN(firefox, "libs", i, profile->nr_objects)
	{
		path = profile->objects[i].path;
		slash = strrchr(path, '/');
		fputs("{\"arch\":\"\",\"breakpadId\":\"\",\"codeId\":null,\"name\":", firefox->out);
		firefox_text(firefox, slash ? slash + 1 : path);
		fputs(",\"debugName\":", firefox->out);
		firefox_text(firefox, slash ? slash + 1 : path);
		fputs(",\"path\":", firefox->out);
		firefox_text(firefox, path);
		fputs(",\"debugPath\":", firefox->out);
		firefox_text(firefox, path);
		fputc('}', firefox->out);
	}
}

/* The viewer shows a marker in this way. */
static const char marker_schema[] =
	"\"markerSchema\":[{\"name\":\"PageFault\",\"tooltipLabel\":\"{marker.name} fault\","
	"\"tableLabel\":\"{marker.data.file}\",\"chartLabel\":\"{marker.name}\","
	"\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
	"\"description\":\"A page fault, named after its class.\",\"fields\":["
	"{\"key\":\"file\",\"label\":\"File\",\"format\":\"unique-string\"},"
	"{\"key\":\"page\",\"label\":\"Page of the file\",\"format\":\"integer\"},"
	"{\"key\":\"address\",\"label\":\"Address\",\"format\":\"string\"},"
	"{\"key\":\"access\",\"label\":\"Access\",\"format\":\"string\"},"
	"{\"key\":\"major\",\"label\":\"Major\",\"format\":\"string\"}]}]";

static const char categories[] =
	"\"categories\":["
	"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"User code\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Page fault\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]";

static void firefox_meta(struct firefox *firefox)
{
	const struct profile_head *head = firefox->head;

	fprintf(firefox->out,
		"\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,\"interval\":1,"
		"\"startTime\":%" PRId64 ",\"processType\":0,\"stackwalk\":1,"
		"\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
		"\"sourceCodeIsNotOnSearchfox\":true,\"keepProfileThreadOrder\":true,"
		"\"importedFrom\":\"pfdrive %s\",\"product\":\"page faults\",\"arguments\":",
		GECKO_VERSION, FORMAT_VERSION, head->started_s * 1000, head->version);
	firefox_text(firefox, head->command);
	if (head->missing[0]) {
		fputs(",\"extra\":[{\"label\":\"pfstat\",\"entries\":[{\"label\":\"INCOMPLETE\","
		      "\"format\":\"string\",\"value\":",
		      firefox->out);
		firefox_text(firefox, head->missing);
		fputs("}]}]", firefox->out);
	}
	fprintf(firefox->out, ",\n%s,\n%s}", categories, marker_schema);
}

static void firefox_samples(struct firefox *firefox, const struct profile_sample *samples,
			    size_t nr)
{
	fputs(",\n\"samples\":{\"weightType\":\"tracing-ms\",", firefox->out);
	FIREFOX_COLUMN(firefox, "stack", i, nr)
	fprintf(firefox->out, "%" PRIu32, firefox->profile->stacks[samples[i].stack].call);
	FIREFOX_COLUMN(firefox, "time", i, nr)
	firefox_time(firefox, samples[i].start_ns - firefox->origin_ns);
	FIREFOX_COLUMN(firefox, "weight", i, nr)
	firefox_time(firefox, samples[i].duration_ns);
	firefox_length(firefox, nr);
}

static void firefox_marker_data(struct firefox *firefox, const struct profile_sample *sample)
{
	FILE *out = firefox->out;

	fprintf(out, "{\"type\":\"PageFault\",\"file\":%zu",
		string_of_target(firefox, sample->target));
	if (firefox->profile->targets[sample->target].inode)
		fprintf(out, ",\"page\":%" PRIu64, sample->page);
	fprintf(out,
		",\"address\":\"%#" PRIx64 "\",\"access\":\"%sby %s\",\"major\":\"%s\","
		"\"cause\":{\"stack\":%" PRIu32 "}}",
		sample->address,
		sample->by_perf ? "" :
		sample->write	? "write " :
				  "read ",
		sample->kernel ? "the kernel" : "the program", sample->major ? "yes" : "no",
		firefox->profile->stacks[sample->stack].call);
}

/* Phase 1 is an interval with both times. */
static void firefox_markers(struct firefox *firefox, const struct profile_sample *samples,
			    size_t nr)
{
	fputs(",\n\"markers\":{", firefox->out);
	FIREFOX_COLUMN(firefox, "data", i, nr)
	firefox_marker_data(firefox, &samples[i]);
	FIREFOX_COLUMN(firefox, "name", i, nr)
	fprintf(firefox->out, "%zu", string_of_class(firefox, samples[i].class));
	FIREFOX_COLUMN(firefox, "startTime", i, nr)
	firefox_time(firefox, samples[i].start_ns - firefox->origin_ns);
	FIREFOX_COLUMN(firefox, "endTime", i, nr)
	firefox_time(firefox, samples[i].start_ns + samples[i].duration_ns - firefox->origin_ns);
	FIREFOX_COLUMN(firefox, "category", i, nr)
	fprintf(firefox->out, "%d", CATEGORY_FAULT);
	firefox_constant(firefox, "phase", "1", nr);
	firefox_length(firefox, nr);
}

static void firefox_thread(struct firefox *firefox, const struct profile_thread *thread,
			   const struct profile_sample *samples)
{
	char name[48];

	snprintf(name, sizeof(name), "%s%s(%u)", thread->name, thread->name[0] ? " " : "",
		 thread->tid);
	fputs("{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
	      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],"
	      "\"showMarkersInTimeline\":true,\"name\":",
	      firefox->out);
	firefox_text(firefox, name);
	fputs(",\"processName\":", firefox->out);
	firefox_text(firefox, thread->process);
	fprintf(firefox->out, ",\"isMainThread\":%s,\"pid\":\"%" PRIu32 "\",\"tid\":%" PRIu32,
		thread->tid == thread->pid ? "true" : "false", thread->pid, thread->tid);
	firefox_samples(firefox, samples, thread->faults);
	firefox_markers(firefox, samples, thread->faults);
	fputc('}', firefox->out);
}

int firefox_print(FILE *out, const struct profile *profile, const struct profile_head *head)
{
	struct firefox firefox = {
		.out = out,
		.profile = profile,
		.head = head,
		.origin_ns = head->origin_ns && head->origin_ns < profile->start_ns ?
				     head->origin_ns :
				     profile->start_ns,
	};
	const struct profile_sample *samples = profile->samples;

	fputc('{', out);
	firefox_meta(&firefox);
	firefox_libs(&firefox);
	fputs("\"threads\":[", out);
	for (size_t i = 0; i < profile->nr_threads; i++) {
		fputs(i ? ",\n" : "\n", out);
		firefox_thread(&firefox, &profile->threads[i], samples);
		samples += profile->threads[i].faults;
	}
	fputs("\n]", out);
	firefox_shared(&firefox);
	fputs("}\n", out);
	if (firefox.err)
		return firefox.err;
	return fflush(out) || ferror(out) ? -(errno ?: EIO) : 0;
}

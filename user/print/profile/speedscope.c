// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a profile in the file format of speedscope: JSON with a list of functions, and for each
 * thread the call paths of its faults in the order of their starts, each with its time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "print/profile/profile_formats.h"
#include "print/trace/trace_json.h"

/* Prints a JSON string. Returns 0 or -ENOMEM. */
static int speedscope_text(FILE *out, const char *text)
{
	char *json = trace_json_string(text);

	fputs(json ?: "null", out);
	free(json);
	return json ? 0 : -ENOMEM;
}

static int speedscope_frames(FILE *out, const struct profile *profile)
{
	const struct profile_function *function = profile->functions;
	size_t i;
	int err = 0;

	fputs("\"shared\":{\"frames\":[", out);
	for (i = 0; i < profile->nr_functions && !err; i++, function++) {
		fprintf(out, "%s{\"name\":", i ? ",\n" : "\n");
		err = speedscope_text(out, function->name);
		if (function->object != PROFILE_NONE && !err) {
			fputs(",\"file\":", out);
			err = speedscope_text(out, profile->objects[function->object].path);
		}
		fputc('}', out);
	}
	fputs("\n]},\n", out);
	return err;
}

/* The outermost function is first. Every stack has at least one frame. */
static void speedscope_path(FILE *out, const struct profile *profile,
			    const struct profile_stack *stack)
{
	uint32_t frames[STACKS_MAX_FRAMES], call = stack->call, nr = 0;

	do {
		frames[nr++] = profile->calls[call].frame;
		call = profile->calls[call].parent;
	} while (call != PROFILE_NONE);
	fputc('[', out);
	while (nr--)
		fprintf(out, "%" PRIu32 "%s", profile->frames[frames[nr]].function, nr ? "," : "");
	fputc(']', out);
}

static int speedscope_thread(FILE *out, const struct profile *profile,
			     const struct profile_thread *thread,
			     const struct profile_sample *samples)
{
	char name[64];
	uint64_t i;
	int err;

	snprintf(name, sizeof(name), "%s%s(%u)%s%s", thread->name, thread->name[0] ? " " : "",
		 thread->tid, thread->tid == thread->pid || !thread->process[0] ? "" : " of ",
		 thread->tid == thread->pid ? "" : thread->process);
	fputs("{\"type\":\"sampled\",\"name\":", out);
	err = speedscope_text(out, name);
	fprintf(out,
		",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%" PRIu64
		",\n\"samples\":[",
		thread->total_ns);
	for (i = 0; i < thread->faults; i++) {
		fputs(i ? "," : "", out);
		speedscope_path(out, profile, &profile->stacks[samples[i].stack]);
	}
	fputs("],\n\"weights\":[", out);
	for (i = 0; i < thread->faults; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", samples[i].duration_ns);
	fputs("]}", out);
	return err;
}

int speedscope_print(FILE *out, const struct profile *profile, const struct profile_head *head)
{
	const struct profile_sample *samples = profile->samples;
	char name[2048];
	size_t i;
	int err;

	snprintf(name, sizeof(name), "page faults%s%s%s%s", head->command[0] ? " of " : "",
		 head->command, head->missing[0] ? "; INCOMPLETE: " : "", head->missing);
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"name\":",
	      out);
	err = speedscope_text(out, name);
	fprintf(out, ",\"exporter\":\"pfdrive %s\",\"activeProfileIndex\":0,\n", head->version);
	if (!err)
		err = speedscope_frames(out, profile);
	fputs("\"profiles\":[", out);
	for (i = 0; i < profile->nr_threads && !err; i++) {
		fputs(i ? ",\n" : "\n", out);
		err = speedscope_thread(out, profile, &profile->threads[i], samples);
		samples += profile->threads[i].faults;
	}
	fputs("\n]}\n", out);
	if (err)
		return err;
	return fflush(out) || ferror(out) ? -(errno ?: EIO) : 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws the time of the faults by call path, a frame below its caller and as wide as its share. A
 * frame's title has its whole name and its figures, which the browser shows without a script. The
 * names come from a recording and are escaped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print/html/html.h"
#include "print/html/html_template.h"
#include "report/view.h"
#include "util/text.h"

#define FLAME_WIDTH  960
#define FRAME_HEIGHT 18
#define FRAME_MIN    1.0 /* a narrower frame is left out, with what it calls */
#define LETTER_WIDTH 6.8

/* A call path, and its part below the frames that are drawn already. */
struct flame_path {
	const char *rest;
	const struct group *group;
};

struct flame {
	FILE *out; /* NULL: only find the depth */
	uint64_t paths_ns, faults_ns;
	unsigned int depth; /* of the deepest frame */
};

struct flame_frame {
	const char *name;
	size_t bytes;
	uint64_t total_ns, faults;
	double left, width;
	unsigned int depth;
};

static size_t flame_name_bytes(const char *rest)
{
	return strcspn(rest, ";");
}

/* By frame: the end of a path, and of a name, comes first. */
static int flame_compare(const void *a, const void *b)
{
	const char *left = ((const struct flame_path *)a)->rest;
	const char *right = ((const struct flame_path *)b)->rest;

	while (*left && *left == *right) {
		left++;
		right++;
	}
	if (*left == *right)
		return 0;
	if (!*left || !*right)
		return *left ? 1 : -1;
	if (*left == ';' || *right == ';')
		return *left == ';' ? -1 : 1;
	return (unsigned char)*left < (unsigned char)*right ? -1 : 1;
}

static bool flame_is_same(const struct flame_path *path, const struct flame_frame *frame)
{
	return flame_name_bytes(path->rest) == frame->bytes &&
	       !memcmp(path->rest, frame->name, frame->bytes);
}

/* As much of the name as fits into the frame. */
static void flame_print_text(const struct flame *flame, const struct flame_frame *frame)
{
	const size_t letters = frame->width / LETTER_WIDTH;
	size_t bytes = frame->bytes;

	if (letters < 4)
		return;
	if (bytes >= letters)
		for (bytes = letters - 2; bytes && (frame->name[bytes] & 0xc0) == 0x80; bytes--)
			;
	fprintf(flame->out, "<text x=\"%.1f\" y=\"%u\">", frame->left + 3,
		frame->depth * FRAME_HEIGHT - 5);
	html_text_part(flame->out, frame->name, bytes);
	fputs(bytes < frame->bytes ? "…</text>" : "</text>", flame->out);
}

static void flame_print_frame(struct flame *flame, const struct flame_frame *frame)
{
	if (frame->depth > flame->depth)
		flame->depth = frame->depth;
	if (!flame->out)
		return;
	fputs("<g><title>", flame->out);
	html_text_part(flame->out, frame->name, frame->bytes);
	fprintf(flame->out,
		": %.3g ms, %.1f %% of the fault time, %" PRIu64 " fault%s</title>"
		"<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%u\"/>",
		frame->total_ns / 1e6, 100 * view_share(frame->total_ns, flame->faults_ns),
		frame->faults, PLURAL(frame->faults), frame->left,
		(frame->depth - 1) * FRAME_HEIGHT, frame->width, FRAME_HEIGHT);
	flame_print_text(flame, frame);
	fputs("</g>\n", flame->out);
}

/* Takes the paths that begin with the same frame off the front. Returns their number. */
static size_t flame_take_frame(const struct flame *flame, struct flame_frame *frame,
			       struct flame_path *paths, size_t nr)
{
	size_t i;

	frame->name = paths->rest;
	frame->bytes = flame_name_bytes(paths->rest);
	frame->total_ns = 0;
	frame->faults = 0;
	for (i = 0; i < nr && flame_is_same(&paths[i], frame); i++) {
		frame->total_ns += paths[i].group->total_ns;
		frame->faults += paths[i].group->faults;
	}
	frame->width = FLAME_WIDTH * view_share(frame->total_ns, flame->paths_ns);
	for (nr = i; i--;)
		paths[i].rest += frame->bytes + (paths[i].rest[frame->bytes] == ';');
	return nr;
}

/* The number of frames in a path is bounded, see STACKS_MAX_FRAMES. */
static void flame_print_calls(struct flame *flame, struct flame_path *paths, size_t nr, double left,
			      unsigned int depth)
{
	struct flame_frame frame = { .left = left, .depth = depth };
	size_t from, taken;

	for (from = 0; from < nr; from += taken) {
		taken = flame_take_frame(flame, &frame, paths + from, nr - from);
		if (frame.bytes && frame.width >= FRAME_MIN) {
			flame_print_frame(flame, &frame);
			flame_print_calls(flame, paths + from, taken, frame.left, depth + 1);
		}
		frame.left += frame.width;
	}
}

static void flame_print_all(struct flame *flame, struct flame_path *paths, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		paths[i].rest = paths[i].group->name;
	qsort(paths, nr, sizeof(*paths), flame_compare);
	flame_print_calls(flame, paths, nr, 0, 1);
}

bool html_has_flame(const struct html_page *page)
{
	size_t i;

	for (i = 0; i < page->nr_stacks; i++)
		if (strchr(page->stacks[i].name, ';'))
			return true;
	return false;
}

int html_print_flame(FILE *out, const struct html_page *page)
{
	struct flame_path *paths = calloc(page->nr_stacks + 1, sizeof(*paths));
	struct flame flame = { .faults_ns = page->report->faults.all.whole.total_ns };
	struct html_part part = html_part("flame");
	size_t i;

	if (!paths)
		return -ENOMEM;
	for (i = 0; i < page->nr_stacks; i++) {
		paths[i].group = &page->stacks[i];
		flame.paths_ns += page->stacks[i].total_ns;
	}
	flame_print_all(&flame, paths, page->nr_stacks);
	flame.out = out;
	html_part_to(out, &part, "size");
	fprintf(out, "0 0 %u %u", FLAME_WIDTH, flame.depth * FRAME_HEIGHT);
	html_part_to(out, &part, "frames");
	flame_print_all(&flame, paths, page->nr_stacks);
	html_part_end(out, &part);
	free(paths);
	return 0;
}

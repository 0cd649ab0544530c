// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies gnuplot's SVG into the page. Only drawing elements and attributes are copied. Ids get the
 * figure's name as a prefix, and colours become theme variables.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "figures/drawing.h"
#include "print/html/html_text.h"

#define DEPTH_MAX 32
#define TAG_MAX	  512 /* size of a group's tag in bytes */

/* One tag in gnuplot's output, or the text before the next tag. */
struct token {
	const char *text;
	size_t bytes;
	bool tag;
};

struct writer {
	FILE *out;
	const char *name;   /* the figure's name */
	const char *inside; /* element skipped with all content, or NULL */
	bool in_text, in_defs;
	/* Group tags, printed as soon as the group has content. */
	char waiting[DEPTH_MAX][TAG_MAX];
	unsigned int nr_waiting;
};

static bool next_token(const char **at, struct token *token)
{
	const char *end;

	if (!**at)
		return false;
	token->text = *at;
	token->tag = **at == '<';
	end = strchr(*at + 1, token->tag ? '>' : '<');
	/* A tag without an end is not valid, so the copy stops. */
	if (token->tag && !end)
		return false;
	end = end ? end + token->tag : *at + strlen(*at);
	token->bytes = end - *at;
	*at = end;
	return true;
}

static bool is_one_of(const char *name, size_t bytes, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == bytes && !memcmp(*names, name, bytes))
			return true;
	return false;
}

static bool colour_of(const char *value, size_t bytes, uint32_t *rgb)
{
	unsigned int red, green, blue;
	char text[40];

	if (bytes >= sizeof(text))
		return false;
	memcpy(text, value, bytes);
	text[bytes] = '\0';
	if (sscanf(text, "rgb( %u, %u, %u)", &red, &green, &blue) == 3 ||
	    sscanf(text, "#%2x%2x%2x", &red, &green, &blue) == 3)
		*rgb = (red & 255) << 16 | (green & 255) << 8 | (blue & 255);
	else if (!strcmp(text, "black"))
		*rgb = COLOUR_BLACK;
	else if (!strcmp(text, "gray"))
		*rgb = COLOUR_GREY;
	else if (!strcmp(text, "white"))
		*rgb = 0xffffff;
	else
		return false;
	return true;
}

static void print_colour(FILE *out, const char *value, size_t bytes)
{
	const struct palette_colour *colour;
	uint32_t rgb;

	if (!colour_of(value, bytes, &rgb)) {
		fputs(bytes == 4 && !memcmp(value, "none", 4) ? "none" : "currentColor", out);
		return;
	}
	colour = palette_find(rgb);
	if (colour)
		fprintf(out, "var(%s)", colour->variable);
	else if (rgb == 0xffffff)
		fputs("var(--paper)", out);
	else
		fprintf(out, "#%06x", rgb);
}

/* Prints only numbers, path commands and transforms. Such values need no other characters. */
static void print_plain(FILE *out, const char *value, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		/* gnuplot breaks long point lists into lines. */
		if (isspace((unsigned char)value[i]))
			fputc(' ', out);
		else if (isalnum((unsigned char)value[i]) || strchr(".,()-+_", value[i]))
			fputc(value[i], out);
}

static void print_attribute(const struct writer *writer, FILE *out, const struct token *name,
			    const struct token *value)
{
	static const char *const colours[] = { "fill", "stroke", "color", NULL };
	static const char *const plain[] = { "d",
					     "points",
					     "transform",
					     "stroke-width",
					     "stroke-dasharray",
					     "stroke-linecap",
					     "stroke-linejoin",
					     "x",
					     "y",
					     "width",
					     "height",
					     "r",
					     "cx",
					     "cy",
					     "text-anchor",
					     "font-size",
					     NULL };
	static const char *const id[] = { "id", NULL }, *const href[] = { "xlink:href", NULL };

	if (is_one_of(name->text, name->bytes, colours)) {
		fprintf(out, " %.*s=\"", (int)name->bytes, name->text);
		print_colour(out, value->text, value->bytes);
	} else if (is_one_of(name->text, name->bytes, plain)) {
		fprintf(out, " %.*s=\"", (int)name->bytes, name->text);
		print_plain(out, value->text, value->bytes);
	} else if (is_one_of(name->text, name->bytes, id)) {
		fprintf(out, " id=\"%s-", writer->name);
		print_plain(out, value->text, value->bytes);
	} else if (is_one_of(name->text, name->bytes, href) && *value->text == '#') {
		fprintf(out, " href=\"#%s-", writer->name);
		print_plain(out, value->text + 1, value->bytes - 1);
	} else {
		return;
	}
	fputc('"', out);
}

/* @at: the position after the element's name. */
static void print_attributes(const struct writer *writer, FILE *out, const char *at,
			     const char *end)
{
	struct token name, value;
	const char *quote;

	while (at < end) {
		at += strspn(at, " \t\n");
		name.text = at;
		name.bytes = strcspn(at, "= \t\n/>");
		at += name.bytes + strspn(at + name.bytes, " \t\n");
		if (!name.bytes || *at != '=')
			break;
		at += 1 + strspn(at + 1, " \t\n");
		if (*at != '\'' && *at != '"')
			break;
		quote = strchr(at + 1, *at);
		if (!quote || quote >= end)
			break;
		value.text = at + 1;
		value.bytes = quote - at - 1;
		print_attribute(writer, out, &name, &value);
		at = quote + 1;
	}
}

static void open_waiting(struct writer *writer)
{
	unsigned int i;

	for (i = 0; i < writer->nr_waiting; i++)
		fputs(writer->waiting[i], writer->out);
	writer->nr_waiting = 0;
}

static int open_group(struct writer *writer, const char *at, const char *end)
{
	FILE *tag;

	if (writer->nr_waiting == DEPTH_MAX)
		return -EINVAL;
	tag = fmemopen(writer->waiting[writer->nr_waiting], TAG_MAX, "w");
	if (!tag)
		return -ENOMEM;
	fputs("<g", tag);
	print_attributes(writer, tag, at, end);
	fputs(">", tag);
	writer->nr_waiting++;
	return fclose(tag) ? -EINVAL : 0;
}

static void close_element(struct writer *writer, const char *name, size_t bytes)
{
	if (bytes == 1 && *name == 'g' && writer->nr_waiting) {
		writer->nr_waiting--;
		return;
	}
	open_waiting(writer);
	fprintf(writer->out, "</%.*s>", (int)bytes, name);
	if (bytes == 1)
		fputc('\n', writer->out);
}

/* gnuplot paints a background, but the page already has one. */
static bool is_paper(const struct writer *writer, const char *name, size_t bytes)
{
	return !writer->in_defs && bytes == 4 && !memcmp(name, "rect", 4);
}

static int take_tag(struct writer *writer, const struct token *token)
{
	static const char *const drawing[] = { "g",	 "path", "polygon", "polyline",
					       "circle", "rect", "use",	    "text",
					       "tspan",	 "defs", NULL };
	static const char *const left_out[] = { "title", "desc", "filter", NULL };
	const bool closing = token->text[1] == '/';
	const char *name = token->text + 1 + closing, *end = token->text + token->bytes - 1;
	const size_t bytes = strcspn(name, " \t\n/>");
	const bool empty = end[-1] == '/';

	if (is_one_of(name, bytes, left_out)) {
		writer->inside = closing || empty ? NULL : "";
		return 0;
	}
	if (writer->inside || !is_one_of(name, bytes, drawing) || is_paper(writer, name, bytes))
		return 0;
	if (!strncmp(name, "text", bytes))
		writer->in_text = !closing && !empty;
	if (!strncmp(name, "defs", bytes))
		writer->in_defs = !closing && !empty;
	if (closing) {
		close_element(writer, name, bytes);
		return 0;
	}
	if (bytes == 1 && *name == 'g')
		return open_group(writer, name + bytes, end);
	open_waiting(writer);
	fprintf(writer->out, "<%.*s", (int)bytes, name);
	print_attributes(writer, writer->out, name + bytes, end);
	fputs(empty ? "/>\n" : ">", writer->out);
	return 0;
}

static void html_svg_print_head(FILE *out, const struct drawing *drawing)
{
	fprintf(out,
		"<svg class=\"figure\" viewBox=\"0 0 %u %u\" role=\"img\" "
		"aria-labelledby=\"%s-title %s-desc\">\n<title id=\"%s-title\">",
		DRAWING_WIDTH, drawing->height, drawing->name, drawing->name, drawing->name);
	html_text(out, drawing->title);
	fprintf(out, "</title>\n<desc id=\"%s-desc\">", drawing->name);
	html_text(out, drawing->texts[DRAWING_ALT]);
	fputc(' ', out);
	html_text(out, drawing->texts[DRAWING_READING]);
	fputs("</desc>\n", out);
}

int html_svg(FILE *out, const struct drawing *drawing, const char *svg)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	struct token token;
	int err = 0;

	if (!writer)
		return -ENOMEM;
	writer->out = out;
	writer->name = drawing->name;
	html_svg_print_head(out, drawing);
	while (!err && next_token(&svg, &token)) {
		if (token.tag)
			err = take_tag(writer, &token);
		else if (writer->in_text && !writer->inside)
			/* gnuplot has already escaped the text. */
			fwrite(token.text, 1, token.bytes, out);
	}
	fputs("</svg>\n", out);
	free(writer);
	return err;
}

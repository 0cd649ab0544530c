// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks through the embedded texts from slot to slot. html.c must fill the slots in the order of
 * page.html. A difference is a bug and aborts the program.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "print/html/html_template.h"

/* Defines the symbols NAME and NAME_end for a file in user/print/html/. */
#define EMBED(name, file)                                               \
	__asm__(".pushsection .rodata\n"                                \
		".global " #name ", " #name "_end\n"                    \
		".hidden " #name ", " #name "_end\n" #name ":\n"        \
		".incbin \"print/html/" file "\"\n" #name "_end:\n"     \
		".popsection\n");                                       \
	extern const char name[] __attribute__((visibility("hidden"))), \
		name##_end[] __attribute__((visibility("hidden")))

EMBED(html_page_file, "page.html");
EMBED(html_style_file, "style.css");

#define PART_BEGIN "$part "

static void require(const void *found, const char *name)
{
	if (found)
		return;
	fprintf(stderr, "pfdrive: the page template lacks %s here\n", name);
	abort();
}

static const char *find_part(const char *text, const char *end, const char *name)
{
	const size_t length = strlen(name);

	while ((text = memmem(text, end - text, PART_BEGIN, strlen(PART_BEGIN)))) {
		text += strlen(PART_BEGIN);
		if ((size_t)(end - text) > length + 1 && !memcmp(text, name, length) &&
		    !memcmp(text + length, "$\n", 2))
			return text + length + 2;
	}
	return NULL;
}

struct html_part html_part(const char *name)
{
	const char *text = find_part(html_page_file, html_page_file_end, name), *next;

	require(text, name);
	next = memmem(text, html_page_file_end - text, PART_BEGIN, strlen(PART_BEGIN));
	return (struct html_part){ text, next ?: html_page_file_end };
}

struct html_part html_template_stylesheet(void)
{
	return (struct html_part){ html_style_file, html_style_file_end };
}

void html_part_to(FILE *out, struct html_part *part, const char *slot)
{
	const size_t length = strlen(slot);
	const char *begin = memchr(part->text, '$', part->end - part->text);
	const bool found = begin && (size_t)(part->end - begin) >= length + 2 &&
			   !memcmp(begin + 1, slot, length) && begin[length + 1] == '$';

	require(found ? begin : NULL, slot);
	fwrite(part->text, 1, begin - part->text, out);
	part->text = begin + length + 2;
}

void html_part_end(FILE *out, struct html_part *part)
{
	require(memchr(part->text, '$', part->end - part->text) ? NULL : part->text, "the end");
	fwrite(part->text, 1, part->end - part->text, out);
	part->text = part->end;
}

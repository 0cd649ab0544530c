// SPDX-License-Identifier: GPL-2.0-only
/* Words are quoted so a shell reads them unchanged. */
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/util/text.h"

static void becomes(const char *word, const char *expected)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	ck_assert_ptr_nonnull(out);
	shell_quote(out, word);
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
}

TEST(test_plain_words_are_not_quoted)
{
	becomes("--pattern=stride:256K", "--pattern=stride:256K");
	becomes("/mnt/disk/run.pfs", "/mnt/disk/run.pfs");
}

TEST(test_special_characters_are_quoted)
{
	becomes("", "''");
	becomes("a b;x.pfs", "'a b;x.pfs'");
	becomes("it's $HOME `id`", "'it'\\''s $HOME `id`'");
}

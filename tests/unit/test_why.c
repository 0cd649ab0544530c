// SPDX-License-Identifier: GPL-2.0-only
/* The reason of a failure. */
#include <errno.h>
#include <string.h>

#include "runner.h"
#include "util/why.h"

TEST(test_a_reason_is_set_and_the_errno_returned)
{
	struct why why;

	ck_assert_int_eq(why_fail(&why, -EBUSY, "process %d holds %s", 7, "it"), -EBUSY);
	ck_assert_str_eq(why.text, "process 7 holds it");
	ck_assert_int_eq(why_errno(&why, -ENOENT, "cannot open x"), -ENOENT);
	ck_assert_str_eq(why.text, "cannot open x: No such file or directory");
	why_set(&why, "%s", "");
	ck_assert_str_eq(why.text, "");
}

TEST(test_a_long_reason_is_cut)
{
	char text[2 * sizeof(struct why)];
	struct why why;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	why_set(&why, "%s", text);
	ck_assert_uint_eq(strlen(why.text), sizeof(why.text) - 1);
}

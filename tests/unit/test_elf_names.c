// SPDX-License-Identifier: GPL-2.0-only
/* C++ and Rust names are printed as in the source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/symbols/symbols.h"

static void check_printed(const char *symbol, const char *expected)
{
	char *name = elf_name_print(symbol, 0x1f);

	ck_assert_pstr_eq(name, expected);
	free(name);
}

TEST(test_cpp_names_are_demangled_without_parameters)
{
	check_printed("_ZN3foo3barEiPKc", "foo::bar+0x1f");
	check_printed("_ZNSt6vectorIiSaIiEE9push_backERKi",
		      "std::vector<int, std::allocator<int> >::push_back+0x1f");
}

TEST(test_rust_names_are_demangled_without_their_hash)
{
	check_printed("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
		      "core::fmt::Formatter::pad+0x1f");
	check_printed("_RNvC7mycrate3foo", "mycrate::foo+0x1f");
}

TEST(test_c_names_are_unchanged)
{
	check_printed("main", "main+0x1f");
	check_printed("_dl_start", "_dl_start+0x1f");
	check_printed("_Z", "_Z+0x1f");
	check_printed("", "+0x1f");
}

TEST(test_a_long_name_is_cut_between_characters)
{
	char symbol[401], *name;

	memset(symbol, 'x', 400);
	symbol[400] = '\0';
	memcpy(symbol + 219, "\u00e9", 2); /* two bytes, around the cut */
	name = elf_name_print(symbol, 0);
	ck_assert_uint_eq(strlen(name), 219 + strlen("...+0x0"));
	ck_assert_pstr_eq(name + 219, "...+0x0");
	free(name);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recursive-descent parser that evaluates while it parses: sum, product, factor. Reads one text
 * and the caller's lookup function. After the first error the value is NAN and the error stays.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suite/core/formula.h"
#include "util/array.h"

#define MAX_DEPTH 100 /* parentheses and signs, to bound the recursion */

struct formula_parser {
	const char *at;
	const struct formula_names *names;
	unsigned int depth;
	int err; /* the first */
	struct why *why;
};

static double formula_sum(struct formula_parser *parser);

static double formula_fail(struct formula_parser *parser, int err, const char *what,
			   const char *name)
{
	if (!parser->err)
		why_set(parser->why, what, name);
	if (!parser->err)
		parser->err = err;
	return NAN;
}

static char formula_next(struct formula_parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
	return *parser->at;
}

/* A word is a unit or a row name. */
static size_t word_length(const char *at)
{
	size_t length = 0;

	if (!isalpha((unsigned char)*at))
		return 0;
	while (isalnum((unsigned char)at[length]) || (at[length] && strchr("._:", at[length])))
		length++;
	return length;
}

static double formula_unit(struct formula_parser *parser)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1e3 },
		{ "ms", 1e6 },
		{ "s", 1e9 },
	};
	char word[FORMULA_NAME];
	size_t length, i;

	formula_next(parser);
	length = word_length(parser->at);
	if (!length)
		return 1;
	snprintf(word, sizeof(word), "%.*s", (int)length, parser->at);
	parser->at += length;
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(word, units[i].name))
			return units[i].ns;
	if (strcmp(word, "cycles"))
		return formula_fail(parser, -EINVAL, "'%s' is not one of ns, us, ms, s, cycles",
				    word);
	if (isnan(parser->names->cycle_ns))
		return formula_fail(parser, -ENODATA, "the length of %s is unknown here", word);
	return parser->names->cycle_ns;
}

/* The digits are picked first, since strtod() also accepts hexadecimal, inf and nan. */
static double formula_number(struct formula_parser *parser)
{
	const size_t length = strspn(parser->at, "0123456789.");
	char text[32], *end;
	double number;

	snprintf(text, sizeof(text), "%.*s", (int)length, parser->at);
	number = strtod(text, &end);
	if (length >= sizeof(text) || *end || end == text)
		return formula_fail(parser, -EINVAL, "'%s' is not a number", text);
	parser->at += length;
	return number * formula_unit(parser);
}

static double formula_name(struct formula_parser *parser)
{
	const size_t length = word_length(parser->at);
	char name[FORMULA_NAME];
	double value = NAN;
	int err;

	snprintf(name, sizeof(name), "%.*s", (int)length, parser->at);
	parser->at += length;
	err = parser->names->lookup(parser->names->context, name, &value);
	if (err == -ENODATA)
		return formula_fail(parser, err, "%s has no value here", name);
	if (err)
		return formula_fail(parser, -ENOENT, "unknown operation %s", name);
	return value;
}

static double formula_factor(struct formula_parser *parser)
{
	const char next = formula_next(parser);
	double value;

	if (parser->err || ++parser->depth > MAX_DEPTH)
		return formula_fail(parser, -EINVAL, "%s is nested too deeply", "the formula");
	if (next == '(') {
		parser->at++;
		value = formula_sum(parser);
		if (formula_next(parser) != ')')
			return formula_fail(parser, -EINVAL, "expected ')' before '%s'",
					    parser->at);
		parser->at++;
	} else if (next == '-') {
		parser->at++;
		value = -formula_factor(parser);
	} else if (isdigit((unsigned char)next) || next == '.') {
		value = formula_number(parser);
	} else if (word_length(parser->at)) {
		value = formula_name(parser);
	} else {
		return formula_fail(parser, -EINVAL, "expected a number or a name before '%s'",
				    parser->at);
	}
	parser->depth--;
	return value;
}

static double formula_product(struct formula_parser *parser)
{
	double value = formula_factor(parser);
	char sign;

	while (!parser->err && (formula_next(parser) == '*' || *parser->at == '/')) {
		sign = *parser->at++;
		if (sign == '*')
			value *= formula_factor(parser);
		else
			value /= formula_factor(parser);
	}
	return value;
}

static double formula_sum(struct formula_parser *parser)
{
	double value = formula_product(parser);
	char sign;

	while (!parser->err && (formula_next(parser) == '+' || *parser->at == '-')) {
		sign = *parser->at++;
		if (sign == '+')
			value += formula_product(parser);
		else
			value -= formula_product(parser);
	}
	return value;
}

int formula_evaluate(const char *text, const struct formula_names *names, double *value,
		     struct why *why)
{
	struct formula_parser parser = { .at = text, .names = names, .why = why };

	*value = formula_sum(&parser);
	if (!parser.err && formula_next(&parser))
		formula_fail(&parser, -EINVAL, "unexpected '%s'", parser.at);
	if (!parser.err && !isfinite(*value))
		formula_fail(&parser, -ENODATA, "%s divides by 0", "the formula");
	if (parser.err)
		*value = NAN;
	return parser.err;
}

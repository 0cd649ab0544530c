// SPDX-License-Identifier: GPL-2.0-only
/* Formats the reason of a failure. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/why.h"

void why_vset(struct why *why, const char *format, va_list arguments)
{
	vsnprintf(why->text, sizeof(why->text), format, arguments);
}

void why_set(struct why *why, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	why_vset(why, format, arguments);
	va_end(arguments);
}

int why_fail(struct why *why, int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	why_vset(why, format, arguments);
	va_end(arguments);
	return err;
}

int why_errno(struct why *why, int err, const char *what)
{
	return why_fail(why, err, "%s: %s", what, strerror(-err));
}

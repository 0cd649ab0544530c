// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>

#include "complain.h"

int complain(int status, const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fputs("pfdrive: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints error messages to stderr, after standard output, with control characters replaced.
 * Each message is one line that begins with "pfdrive: ".
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/message.h"
#include "util/text.h"

int message(int status, const char *format, ...)
{
	va_list arguments;
	char *text;

	fflush(stdout);
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	fputs("pfdrive: ", stderr);
	utf8_print(stderr, text ?: "out of memory");
	fputc('\n', stderr);
	free(text);
	return status;
}

/* Some printers lose the errno, so check the pipe itself. */
static bool reader_is_gone(void)
{
	struct pollfd polled = { .fd = STDOUT_FILENO };

	return ferror(stdout) && poll(&polled, 1, 0) > 0 && polled.revents & (POLLERR | POLLHUP);
}

int message_of_stdout(int err, const char *what)
{
	if (err == -EPIPE || reader_is_gone())
		return 128 + SIGPIPE;
	return message(STATUS_FAILED, "cannot print %s: %s", what, strerror(-err));
}

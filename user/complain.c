// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* Not every printer can tell why it failed. */
static bool reader_is_gone(void)
{
	struct pollfd polled = { .fd = STDOUT_FILENO };

	return ferror(stdout) && poll(&polled, 1, 0) > 0 && polled.revents & (POLLERR | POLLHUP);
}

int complain_of_stdout(int err, const char *what)
{
	if (err == -EPIPE || reader_is_gone())
		return 128 + SIGPIPE;
	return complain(STATUS_FAILED, "cannot print %s: %s", what, strerror(-err));
}

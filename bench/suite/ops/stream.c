// SPDX-License-Identifier: GPL-2.0-only
/*
 * Complete reads and writes on a TCP connection, and the connection's options. Used by both ends of
 * the peer protocol and by the loopback operations.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bench/suite/ops/stream.h"

int stream_write(int fd, const void *buffer, size_t bytes)
{
	const char *at = buffer;
	ssize_t done;

	for (; bytes; at += done, bytes -= done) {
		done = write(fd, at, bytes);
		if (done < 0)
			return -errno;
	}
	return 0;
}

int stream_read(int fd, void *buffer, size_t bytes)
{
	char *at = buffer;
	ssize_t done;

	for (; bytes; at += done, bytes -= done) {
		done = read(fd, at, bytes);
		if (done <= 0)
			return done ? -errno : -EPIPE;
	}
	return 0;
}

void stream_hurry(int fd)
{
	const int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

void stream_limit(int fd, unsigned int seconds)
{
	const struct timeval limit = { .tv_sec = seconds };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

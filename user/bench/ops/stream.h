/* SPDX-License-Identifier: GPL-2.0-only */
/* All of some bytes, through a TCP connection. */
#ifndef PFSTAT_USER_STREAM_H
#define PFSTAT_USER_STREAM_H

#include <stddef.h>

/* 0; -EPIPE: the other end is gone; -EAGAIN: it took longer than the socket allows; … */
int stream_write(int fd, const void *buffer, size_t bytes);
int stream_read(int fd, void *buffer, size_t bytes);

/* What is written goes out at once (no Nagle's delay). */
void stream_hurry(int fd);

/* How long a read and a write may take. */
void stream_limit(int fd, unsigned int seconds);

#endif

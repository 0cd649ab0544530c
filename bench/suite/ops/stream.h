/* SPDX-License-Identifier: GPL-2.0-only */
/* Complete reads and writes on a TCP connection. */
#ifndef PFSTAT_USER_STREAM_H
#define PFSTAT_USER_STREAM_H

#include <stddef.h>

/* 0, or -EPIPE if the other end closed, or -EAGAIN after the time limit, or a negative errno. */
int stream_write(int fd, const void *buffer, size_t bytes);
int stream_read(int fd, void *buffer, size_t bytes);

/* Sends without delay (TCP_NODELAY). */
void stream_hurry(int fd);

/* Sets the time limit for each read and write. */
void stream_limit(int fd, unsigned int seconds);

#endif

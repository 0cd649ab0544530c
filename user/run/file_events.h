/* SPDX-License-Identifier: GPL-2.0-only */
/* --file: which events concern the one watched file. */
#ifndef PFSTAT_USER_FILE_EVENTS_H
#define PFSTAT_USER_FILE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/item.h"

/* One file's inodes: the overlay's, the one below it, and the copy's. */
#define FILE_EVENTS_INODES 4

struct file_events {
	int fd; /* for the file, -1 if all events are wanted */
	uint64_t inodes[FILE_EVENTS_INODES];
	unsigned int nr;
};

#define FILE_EVENTS_ALL ((struct file_events){ .fd = -1 })

/* 0 or a negative errno. */
int file_events_open(struct file_events *file, const char *path);
bool file_events_want(struct file_events *file, const struct item *item);
void file_events_close(struct file_events *file);

#endif

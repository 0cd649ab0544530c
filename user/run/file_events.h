/* SPDX-License-Identifier: GPL-2.0-only */
/* --file: which events concern the one file that is watched. */
#ifndef PFSTAT_USER_FILE_EVENTS_H
#define PFSTAT_USER_FILE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/item.h"

/* The inodes of one file: the overlay's, that below it, and its copy. */
#define FILE_EVENTS_INODES 4

struct file_events {
	int fd; /* of the file; -1: all events are wanted */
	uint64_t inodes[FILE_EVENTS_INODES];
	unsigned int nr;
};

#define FILE_EVENTS_ALL ((struct file_events){ .fd = -1 })

/* 0 or a negative errno. */
int file_events_open(struct file_events *file, const char *path);
bool file_events_want(struct file_events *file, const struct item *item);
void file_events_close(struct file_events *file);

#endif

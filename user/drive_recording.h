/* SPDX-License-Identifier: GPL-2.0-only */
/* The recording of a drive, written while it runs. All zero: none is wanted. */
#ifndef PFSTAT_USER_DRIVE_RECORDING_H
#define PFSTAT_USER_DRIVE_RECORDING_H

#include "correlate/analysis.h"
#include "correlate/facts.h"
#include "engine/mapping.h"
#include "report/report.h"

struct recording_writer;
struct output;

struct drive_recording {
	const char *path;
	struct output *output;
	struct recording_writer *writer;
};

/* not: the measured file, which must not be written; -1: there is none. The exit status. */
int drive_recording_begin(struct drive_recording *recording, const char *path,
			  const struct report *report, int not);
/* What is mapped where, under which name: before any item of it. 0 or a negative errno. */
int drive_recording_map(struct drive_recording *recording, const struct mapping *mapping,
			const char *path);
/* 0 or a negative errno. */
int drive_recording_item(struct drive_recording *recording, const struct item *item);
/*
 * Names the code, which adds to the facts what had no room; writes them, and the file is
 * there. The exit status.
 */
int drive_recording_end(struct drive_recording *recording, struct analysis *analysis,
			struct facts *facts);
/* What is not ended leaves nothing. */
void drive_recording_close(struct drive_recording *recording);

#endif

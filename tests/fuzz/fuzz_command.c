// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeds arbitrary bytes to the parser for the module's commands. A refused line changes nothing. An
 * accepted line has values within bounds, and parses to the same when written out.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module/command.h"

#define PID_MAX	 4194304 /* on 64 bit */
#define USER_MAX (1ULL << 47)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool in_bounds(const struct pfstat_command *command)
{
	switch (command->verb) {
	case PFSTAT_VERB_PID:
	case PFSTAT_VERB_FOLLOW:
	case PFSTAT_VERB_WATCH:
	case PFSTAT_VERB_IGNORE:
		return command->number <= PID_MAX;
	case PFSTAT_VERB_HANDLER:
		return command->number <= USER_MAX;
	case PFSTAT_VERB_FILE:
	case PFSTAT_VERB_ONLY:
		return command->number <= INT_MAX;
	case PFSTAT_VERB_RING_SIZE:
		return command->number >= PFSTAT_RING_SIZE_MIN &&
		       command->number <= PFSTAT_RING_SIZE_MAX;
	default:
		return command->verb <= PFSTAT_VERB_CLEAR && !command->number;
	}
}

static void write_out(char *line, size_t size, const struct pfstat_command *command)
{
	static const char *const words[] = {
		[PFSTAT_VERB_NONE] = "",
		[PFSTAT_VERB_PID] = "pid",
		[PFSTAT_VERB_FOLLOW] = "follow",
		[PFSTAT_VERB_FILE] = "file",
		[PFSTAT_VERB_ONLY] = "only",
		[PFSTAT_VERB_FAULT_AROUND] = "fault_around",
		[PFSTAT_VERB_RING_SIZE] = "ring_size",
		[PFSTAT_VERB_MODE] = "mode",
		[PFSTAT_VERB_FAULTS] = "faults",
		[PFSTAT_VERB_HANDLER] = "handler",
		[PFSTAT_VERB_WATCH] = "watch",
		[PFSTAT_VERB_IGNORE] = "ignore",
		[PFSTAT_VERB_STOP] = "stop",
		[PFSTAT_VERB_CLEAR] = "clear",
	};
	static const char *const targets[] = {
		[PFSTAT_TARGET_PROCESS] = "process",
		[PFSTAT_TARGET_THREAD] = "thread",
		[PFSTAT_TARGET_FOLLOW] = "follow",
	};
	const char *word = words[command->verb];

	switch (command->verb) {
	case PFSTAT_VERB_NONE:
	case PFSTAT_VERB_STOP:
	case PFSTAT_VERB_CLEAR:
		snprintf(line, size, "%s", word);
		break;
	case PFSTAT_VERB_FAULT_AROUND:
		snprintf(line, size, "%s %s", word, command->on ? "keep" : "off");
		break;
	case PFSTAT_VERB_MODE:
		snprintf(line, size, "%s %s", word, command->on ? "overwrite" : "drop");
		break;
	case PFSTAT_VERB_FAULTS:
		snprintf(line, size, "%s %s", word, command->on ? "on" : "off");
		break;
	case PFSTAT_VERB_WATCH:
		snprintf(line, size, "%s %llu %s", word, (unsigned long long)command->number,
			 targets[command->how]);
		break;
	default:
		snprintf(line, size, "%s %llu%s", word, (unsigned long long)command->number,
			 command->now ? " now" : "");
	}
}

static void check_taken(const struct pfstat_command *command)
{
	struct pfstat_command again;
	char line[64];

	if (!in_bounds(command) || (command->now && command->verb != PFSTAT_VERB_PID))
		abort();
	write_out(line, sizeof(line), command);
	if (pfstat_command_parse(line, &again) || again.verb != command->verb ||
	    again.number != command->number || again.now != command->now ||
	    again.on != command->on || again.how != command->how)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pfstat_command command, before;
	char *line = malloc(size + 1); /* the sanitizer detects an access beyond it */
	int err;

	memcpy(line, data, size);
	line[size] = '\0';
	memset(&command, 0x5a, sizeof(command));
	before = command;
	err = pfstat_command_parse(line, &command);
	if (!err)
		check_taken(&command);
	else if (err != -EINVAL || memcmp(&command, &before, sizeof(before)))
		abort();
	free(line);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parser for the command language, see <pfstat/control.h>. Pure: it only fills a struct
 * pfstat_command, and the unit tests and the fuzzer call it in user space.
 */
#include "command.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <string.h>
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif

#define MAX_WORDS 3
#define MAX_WORD  16
#define MAX_PID	  4194304ULL	    /* PID_MAX_LIMIT on 64 bit */
#define MAX_FD	  2147483647ULL	    /* INT_MAX */
#define MAX_USER  0x800000000000ULL /* 2^47: program addresses */

struct words {
	char word[MAX_WORDS][MAX_WORD];
	unsigned int count;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int split(const char *line, struct words *words)
{
	size_t length;

	memset(words, 0, sizeof(*words));
	for (;;) {
		while (is_blank(*line))
			line++;
		if (!*line)
			return 0;
		for (length = 0; line[length] && !is_blank(line[length]); length++)
			;
		if (words->count == MAX_WORDS || length >= MAX_WORD)
			return -EINVAL;
		memcpy(words->word[words->count++], line, length);
		line += length;
	}
}

/* Decimal digits, and with `units` one of K, M, G. At most `max`. */
static int parse_number(const char *text, bool units, __u64 max, __u64 *number)
{
	static const char suffixes[] = "KMG";
	const char *suffix;
	__u64 value = 0;

	if (!*text)
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++) {
		value = value * 10 + (*text - '0');
		if (value > max)
			return -EINVAL;
	}
	if (units && *text) {
		suffix = strchr(suffixes, *text);
		if (!suffix)
			return -EINVAL;
		value <<= 10 * (suffix - suffixes + 1);
		text++;
	}
	if (*text || value > max)
		return -EINVAL;
	*number = value;
	return 0;
}

static int parse_choice(const char *text, const char *off, const char *on, bool *choice)
{
	if (strcmp(text, off) && strcmp(text, on))
		return -EINVAL;
	*choice = !strcmp(text, on);
	return 0;
}

static const struct {
	const char *name;
	enum pfstat_verb verb;
	unsigned int min_words, max_words;
	const char *usage;
} verbs[] = {
	{ "pid", PFSTAT_VERB_PID, 2, 3, "pid PID [now]" },
	{ "follow", PFSTAT_VERB_FOLLOW, 2, 2, "follow PID" },
	{ "file", PFSTAT_VERB_FILE, 2, 2, "file FD" },
	{ "only", PFSTAT_VERB_ONLY, 2, 2, "only FD" },
	{ "fault_around", PFSTAT_VERB_FAULT_AROUND, 2, 2, "fault_around keep|off" },
	{ "ring_size", PFSTAT_VERB_RING_SIZE, 2, 2, "ring_size SIZE, from 4K to 1G" },
	{ "mode", PFSTAT_VERB_MODE, 2, 2, "mode drop|overwrite" },
	{ "faults", PFSTAT_VERB_FAULTS, 2, 2, "faults off|on" },
	{ "handler", PFSTAT_VERB_HANDLER, 2, 2, "handler ADDRESS, or handler 0" },
	{ "watch", PFSTAT_VERB_WATCH, 3, 3, "watch N thread|process|follow" },
	{ "ignore", PFSTAT_VERB_IGNORE, 2, 2, "ignore N" },
	{ "stop", PFSTAT_VERB_STOP, 1, 1, "stop" },
	{ "clear", PFSTAT_VERB_CLEAR, 1, 1, "clear" },
};

static int parse_target(const char *text, enum pfstat_target *how)
{
	static const char *const names[] = {
		[PFSTAT_TARGET_PROCESS] = "process",
		[PFSTAT_TARGET_THREAD] = "thread",
		[PFSTAT_TARGET_FOLLOW] = "follow",
	};
	unsigned int i;

	for (i = PFSTAT_TARGET_PROCESS; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(text, names[i])) {
			*how = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_arguments(const struct words *words, struct pfstat_command *command)
{
	const char *first = words->word[1], *second = words->word[2];

	switch (command->verb) {
	case PFSTAT_VERB_PID:
		if (words->count == 3 && strcmp(second, "now"))
			return -EINVAL;
		command->now = words->count == 3;
		return parse_number(first, false, MAX_PID, &command->number);
	case PFSTAT_VERB_WATCH:
		if (parse_target(second, &command->how))
			return -EINVAL;
		return parse_number(first, false, MAX_PID, &command->number);
	case PFSTAT_VERB_FOLLOW:
	case PFSTAT_VERB_IGNORE:
		return parse_number(first, false, MAX_PID, &command->number);
	case PFSTAT_VERB_FILE:
	case PFSTAT_VERB_ONLY:
		return parse_number(first, false, MAX_FD, &command->number);
	case PFSTAT_VERB_RING_SIZE:
		if (parse_number(first, true, PFSTAT_RING_SIZE_MAX, &command->number))
			return -EINVAL;
		return command->number < PFSTAT_RING_SIZE_MIN ? -EINVAL : 0;
	case PFSTAT_VERB_FAULT_AROUND:
		return parse_choice(first, "off", "keep", &command->on);
	case PFSTAT_VERB_HANDLER:
		return parse_number(first, false, MAX_USER, &command->number);
	case PFSTAT_VERB_FAULTS:
		return parse_choice(first, "off", "on", &command->on);
	case PFSTAT_VERB_MODE:
		return parse_choice(first, "drop", "overwrite", &command->on);
	default:
		return 0;
	}
}

int pfstat_command_parse(const char *line, struct pfstat_command *command)
{
	struct pfstat_command parsed = { .verb = PFSTAT_VERB_NONE };
	struct words words;
	unsigned int i;

	if (split(line, &words))
		return -EINVAL;
	for (i = 0; words.count && i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(words.word[0], verbs[i].name))
			continue;
		if (words.count < verbs[i].min_words || words.count > verbs[i].max_words)
			return -EINVAL;
		parsed.verb = verbs[i].verb;
		break;
	}
	if (words.count && parsed.verb == PFSTAT_VERB_NONE)
		return -EINVAL;
	if (parse_arguments(&words, &parsed))
		return -EINVAL;
	*command = parsed;
	return 0;
}

const char *pfstat_command_usage(const char *line)
{
	size_t length;
	unsigned int i;

	while (is_blank(*line))
		line++;
	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		length = strlen(verbs[i].name);
		if (!strncmp(line, verbs[i].name, length) &&
		    (!line[length] || is_blank(line[length])))
			return verbs[i].usage;
	}
	return "pid, follow, file, only, fault_around, ring_size, mode, faults, handler, watch, "
	       "ignore, stop or clear";
}

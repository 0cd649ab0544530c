// SPDX-License-Identifier: GPL-2.0-only
/* The policy table, without policies already set on this machine. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "advise/candidate.h"
#include "system/kernel_settings.h"
#include "util/array.h"
#include "util/text.h"

#define KIB 1024

static const struct {
	const char *name, *call;
	int advice;
} advices[] = {
	{ "normal", "MADV_NORMAL", MADV_NORMAL },
	{ "random", "MADV_RANDOM", MADV_RANDOM },
	{ "sequential", "MADV_SEQUENTIAL", MADV_SEQUENTIAL },
	{ "willneed", "MADV_WILLNEED", MADV_WILLNEED },
	{ "populate_read", "MADV_POPULATE_READ", MADV_POPULATE_READ },
};

static const uint64_t readahead_kib[] = { 0, 32, 128, 512, 2048 };
static const uint64_t around_kib[] = { 4, 16, 64, 256 };

static struct candidate candidate_new(void)
{
	return (struct candidate){ .advice = CANDIDATE_KEEP,
				   .readahead_bytes = CANDIDATE_KEEP,
				   .around_bytes = CANDIDATE_KEEP };
}

static struct candidate candidate_of_advice(size_t i)
{
	struct candidate candidate = candidate_new();

	snprintf(candidate.name, sizeof(candidate.name), "%s", advices[i].name);
	candidate.advice = advices[i].advice;
	candidate.maps_less = candidate.advice == MADV_RANDOM;
	return candidate;
}

static void candidate_name(struct candidate *candidate, const char *what, uint64_t bytes)
{
	char size[16];

	size_name(bytes, size, sizeof(size));
	snprintf(candidate->name, sizeof(candidate->name), "%s %s", what, size);
}

static struct candidate candidate_of_readahead(uint64_t bytes, uint64_t now)
{
	struct candidate candidate = candidate_new();

	candidate_name(&candidate, "read-ahead", bytes);
	candidate.readahead_bytes = bytes;
	candidate.maps_less = bytes < now || !now;
	return candidate;
}

static struct candidate candidate_of_around(uint64_t bytes, uint64_t now)
{
	struct candidate candidate = candidate_new();

	candidate_name(&candidate, "fault-around", bytes);
	candidate.around_bytes = bytes;
	candidate.maps_less = bytes < now || !now;
	return candidate;
}

size_t candidates_make(struct candidate *candidates, const struct candidate_settings *settings)
{
	size_t nr = 0, i;

	candidates[nr] = candidate_new();
	strcpy(candidates[nr++].name, "control");
	for (i = 0; i < ARRAY_SIZE(advices); i++)
		candidates[nr++] = candidate_of_advice(i);
	for (i = 0; i < ARRAY_SIZE(readahead_kib); i++)
		if (readahead_kib[i] * KIB != settings->readahead_bytes)
			candidates[nr++] = candidate_of_readahead(readahead_kib[i] * KIB,
								  settings->readahead_bytes);
	for (i = 0; i < ARRAY_SIZE(around_kib); i++)
		if (around_kib[i] * KIB != settings->around_bytes)
			candidates[nr++] =
				candidate_of_around(around_kib[i] * KIB, settings->around_bytes);
	return nr;
}

void candidate_remedy(const struct candidate *candidate, const char *file, const char *setting,
		      char *text, size_t size)
{
	size_t i;

	text[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(advices); i++)
		if (candidate->advice == advices[i].advice)
			snprintf(text, size,
				 "call madvise(address, length, %s) after the mmap(2) of %s, and "
				 "remove other advice about it",
				 advices[i].call, file);
	if (candidate->readahead_bytes >= 0)
		snprintf(text, size,
			 "echo %" PRId64 " > %s before the program opens %s; this applies to all "
			 "files on the device",
			 candidate->readahead_bytes / KIB, setting, file);
	if (candidate->around_bytes >= 0)
		snprintf(text, size,
			 "echo %" PRId64 " > " FAULT_AROUND_SETTING
			 "; this applies to all programs on the machine",
			 candidate->around_bytes);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Opens the file or memory for a run, and refuses a pattern that does not fit into it. */
#include <errno.h>
#include <inttypes.h>

#include "drive/run_memory.h"
#include "util/message.h"

static int message_of_pattern(const struct run_memory *memory, const struct options *options,
			      int err)
{
	if (err == -EMSGSIZE)
		return message(STATUS_USAGE,
			       "--pattern: %s needs %" PRIu64 " bytes, %s has %" PRIu64,
			       options->pattern_text, pattern_min_bytes(&memory->pattern),
			       memory->name, memory->mapping.bytes);
	return message(STATUS_USAGE,
		       "--pattern: the stride of %s is longer than %s, %" PRIu64 " bytes",
		       options->pattern_text, memory->name, memory->mapping.bytes);
}

int run_memory_open(struct run_memory *memory, const struct options *options)
{
	int status, err;

	memory->pattern = options->pattern;
	if (options->workload.have_share)
		memory->pattern.store_share = options->workload.store_share;
	status = workload_open(&options->workload, options->file,
			       memory->pattern.store_share || options->workload.fill,
			       &memory->mapping, memory->name, sizeof(memory->name));
	if (status)
		return status;
	err = pattern_fit(&memory->pattern, memory->mapping.bytes, options->accesses,
			  options->seed);
	return err ? message_of_pattern(memory, options, err) : STATUS_OK;
}

void run_memory_close(struct run_memory *memory)
{
	mapping_close(&memory->mapping);
}

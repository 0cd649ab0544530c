// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the last 64 KiB of libbpf messages instead of printing them. The terminal shows only
 * pfdrive's own error message.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/bpf_log.h"

static char kept[BPF_LOG_BYTES];
static uint64_t written; /* total bytes, the next goes to written % BPF_LOG_BYTES */

static bool bpf_log_is_wanted(void)
{
	const char *value = getenv("PFDRIVE_DEBUG");

	return value && !strcmp(value, "1");
}

static void bpf_log_append(const char *text)
{
	for (; *text; text++)
		kept[written++ % BPF_LOG_BYTES] = *text;
}

int bpf_log_keep(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char *text;

	if (level == LIBBPF_DEBUG && !bpf_log_is_wanted())
		return 0;
	if (vasprintf(&text, format, arguments) < 0)
		return 0;
	bpf_log_append(text);
	free(text);
	return 0;
}

void bpf_log_dump(FILE *out)
{
	uint64_t at = written > BPF_LOG_BYTES ? written - BPF_LOG_BYTES : 0;

	if (!bpf_log_is_wanted())
		return;
	for (; at < written; at++)
		putc(kept[at % BPF_LOG_BYTES], out);
	written = 0;
}

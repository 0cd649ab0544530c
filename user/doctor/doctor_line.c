// SPDX-License-Identifier: GPL-2.0-only
/* Fills a check's line, for all files with checks. */
#include <stdarg.h>
#include <stdio.h>

#include "doctor/doctor_line.h"
#include "doctor/doctor_sources.h"

void doctor_line_set(struct doctor_line *line, enum doctor_state value, const char *format, ...)
{
	va_list arguments;

	line->state = value;
	va_start(arguments, format);
	vsnprintf(line->text, sizeof(line->text), format, arguments);
	va_end(arguments);
}

void doctor_line_fix_as_root(struct doctor_line *line, const struct doctor_facts *facts,
			     const char *format, ...)
{
	const size_t size = sizeof(line->fix);
	int used = snprintf(line->fix, size, "%s", facts->root ? "" : "sudo ");
	va_list arguments;

	va_start(arguments, format);
	used += vsnprintf(line->fix + used, size - used, format, arguments);
	va_end(arguments);
	if (facts->container && (size_t)used < size)
		snprintf(line->fix + used, size - used, " (on the host)");
}

void doctor_line_fix_container(struct doctor_line *line, const char *option)
{
	snprintf(line->fix, sizeof(line->fix), "the container with %s", option);
}

enum doctor_state doctor_line_without_source(const struct doctor_facts *facts)
{
	return doctor_source_of(facts) == DOCTOR_SOURCE_NONE ? DOCTOR_MISSING : DOCTOR_LIMITED;
}

const char *doctor_line_instead(const struct doctor_facts *facts)
{
	if (doctor_source_bpf_works(facts))
		return "; pfdrive uses eBPF instead";
	return doctor_source_perf_access(facts) ? "; pfdrive uses perf instead" : "";
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts getrusage(2) results into one set of figures. A measurement's clients store it in the
 * run's counters. The report prints it and compares it with eBPF's counts.
 */
#include "model/counters.h"
#include "model/usage.h"

void usage_init(struct usage *usage)
{
	*usage = (struct usage){
		.utime_ns = COUNT_NA,
		.stime_ns = COUNT_NA,
		.minflt = COUNT_NA,
		.majflt = COUNT_NA,
		.inblock = COUNT_NA,
		.oublock = COUNT_NA,
		.nvcsw = COUNT_NA,
		.nivcsw = COUNT_NA,
		.maxrss_bytes = COUNT_NA,
	};
}

static uint64_t usage_ns(struct timeval time)
{
	return time.tv_sec * 1000000000ULL + time.tv_usec * 1000;
}

struct usage usage_between(const struct rusage *before, const struct rusage *after)
{
	return (struct usage){
		.utime_ns = usage_ns(after->ru_utime) - usage_ns(before->ru_utime),
		.stime_ns = usage_ns(after->ru_stime) - usage_ns(before->ru_stime),
		.minflt = after->ru_minflt - before->ru_minflt,
		.majflt = after->ru_majflt - before->ru_majflt,
		.inblock = after->ru_inblock - before->ru_inblock,
		.oublock = after->ru_oublock - before->ru_oublock,
		.nvcsw = after->ru_nvcsw - before->ru_nvcsw,
		.nivcsw = after->ru_nivcsw - before->ru_nivcsw,
		.maxrss_bytes = after->ru_maxrss * 1024ULL,
	};
}

void usage_add(struct usage *sum, const struct usage *part)
{
	sum->utime_ns += part->utime_ns;
	sum->stime_ns += part->stime_ns;
	sum->minflt += part->minflt;
	sum->majflt += part->majflt;
	sum->inblock += part->inblock;
	sum->oublock += part->oublock;
	sum->nvcsw += part->nvcsw;
	sum->nivcsw += part->nivcsw;
	if (part->maxrss_bytes > sum->maxrss_bytes)
		sum->maxrss_bytes = part->maxrss_bytes;
}

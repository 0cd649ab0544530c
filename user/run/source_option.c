// SPDX-License-Identifier: GPL-2.0-only
/* The words for --source, and the options with which a source cannot be combined. */
#include "collect/fault_source_bpf.h"
#include "collect/fault_source_module.h"
#include "collect/fault_source_perf.h"
#include "run/source_option.h"
#include "util/argument.h"

const struct fault_source_ops *source_option_parse(const struct argp_state *state, const char *text)
{
	static const struct fault_source_ops *const sources[] = {
		&fault_source_module,
		&fault_source_bpf,
		&fault_source_perf,
	};
	static const char *const words[] = { "module", "ebpf", "perf", NULL };

	return sources[argument_word(state, "source", text, words)];
}

void source_option_check(const struct argp_state *state, const struct fault_source_ops *source,
			 bool bpf, bool fault_around)
{
	if (!source || source == &fault_source_module)
		return;
	if (source == &fault_source_bpf && !bpf)
		usage(state, "--source ebpf requires eBPF; leave --no-bpf out");
	if (!fault_around)
		usage(state, "--fault-around off requires the module; leave --source %s out",
		      source->word);
}

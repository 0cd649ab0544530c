// SPDX-License-Identifier: GPL-2.0-only
/* The words of --source, and the options with which a source cannot be combined. */
#include "cmd/source_option.h"
#include "collect/fault_source_bpf.h"
#include "collect/fault_source_module.h"
#include "util/argument.h"

const struct fault_source_ops *source_option_parse(const struct argp_state *state, const char *text)
{
	static const char *const words[] = { "module", "ebpf", NULL };

	return argument_word(state, "source", text, words) ? &fault_source_bpf :
							     &fault_source_module;
}

void source_option_check(const struct argp_state *state, const struct fault_source_ops *source,
			 bool bpf, bool fault_around)
{
	if (source != &fault_source_bpf)
		return;
	if (!bpf)
		usage(state, "--source ebpf requires eBPF; leave --no-bpf out");
	if (!fault_around)
		usage(state, "--fault-around off requires the module; leave --source ebpf out");
}

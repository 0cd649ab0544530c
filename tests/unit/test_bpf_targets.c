// SPDX-License-Identifier: GPL-2.0-only
/* The eBPF program handlers in libbpf, watched by the sanitizers. */
#include "runner.h"
#include "user/collect/bpf_targets.h"

TEST(test_several_measurements_of_a_process_register_their_handlers)
{
	struct bpf_targets *targets;
	int i;

	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(bpf_targets_open(&targets), 0);
		bpf_targets_close(targets);
	}
}

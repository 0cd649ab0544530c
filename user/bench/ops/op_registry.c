// SPDX-License-Identifier: GPL-2.0-only
/* In the order in which they are measured: what others are composed of comes first. */
#include "bench/ops/operations.h"

const struct bench_operation *const bench_operations[] = {
	&op_rdtsc, &op_rdtscp, &op_clock_gettime, &op_loop,
	&op_call,
	&op_syscall,
	&op_pipe, &op_switch_thread, &op_switch_process,
	&op_thread_create, &op_clone, &op_fork, &op_vfork_exec,
	&op_latency, &op_dram, &op_l1, &op_l2, &op_l3, &op_pair, &op_line,
	&op_read, &op_write, &op_copy,
	&op_fault_anon, &op_fault_cached, &op_fault_cow, &op_fault_cold,
	&op_scale_anon_shared, &op_scale_anon_own, &op_scale_cached_shared, &op_scale_cached_own,
	&op_file_cached, &op_file_sequential, &op_file_random, &op_file_dropped, &op_file_contend,
	&op_file_cache_size,
	&op_net_tcp_rtt, &op_net_icmp_rtt, &op_net_tcp_bandwidth,
	&op_net_tcp_setup, &op_net_tcp_teardown,
	&op_peer_tcp_rtt, &op_peer_icmp_rtt, &op_peer_tcp_bandwidth,
	&op_peer_tcp_setup, &op_peer_tcp_teardown,
	&op_nfs_sequential, &op_nfs_random, &op_nfs_dropped,
};

const size_t bench_nr_operations = sizeof(bench_operations) / sizeof(*bench_operations);

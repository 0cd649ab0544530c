/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The operations, in measurement order: parts come before the operations composed of them. This
 * list is the only place naming an operation: a new one takes a file and a line here.
 */
#ifndef PFSTAT_USER_OP_REGISTRY_H
#define PFSTAT_USER_OP_REGISTRY_H

#include "bench/suite/core/operation.h"

#define BENCH_OPERATIONS(X)       \
	X(op_counter)             \
	X(op_counter_ordered)     \
	X(op_clock_gettime)       \
	X(op_loop)                \
	X(op_call)                \
	X(op_syscall)             \
	X(op_pipe)                \
	X(op_switch_thread)       \
	X(op_switch_process)      \
	X(op_thread_create)       \
	X(op_clone)               \
	X(op_fork)                \
	X(op_vfork_exec)          \
	X(op_latency)             \
	X(op_dram)                \
	X(op_l1)                  \
	X(op_l2)                  \
	X(op_l3)                  \
	X(op_pair)                \
	X(op_line)                \
	X(op_read)                \
	X(op_write)               \
	X(op_copy)                \
	X(op_fault_anon)          \
	X(op_fault_cached)        \
	X(op_fault_cow)           \
	X(op_fault_cold)          \
	X(op_scale_anon_shared)   \
	X(op_scale_anon_own)      \
	X(op_scale_cached_shared) \
	X(op_scale_cached_own)    \
	X(op_file_cached)         \
	X(op_file_sequential)     \
	X(op_file_random)         \
	X(op_file_dropped)        \
	X(op_file_contend)        \
	X(op_file_cache_size)     \
	X(op_net_tcp_rtt)         \
	X(op_net_icmp_rtt)        \
	X(op_net_tcp_bandwidth)   \
	X(op_net_tcp_setup)       \
	X(op_net_tcp_teardown)    \
	X(op_peer_tcp_rtt)        \
	X(op_peer_icmp_rtt)       \
	X(op_peer_tcp_bandwidth)  \
	X(op_peer_tcp_setup)      \
	X(op_peer_tcp_teardown)   \
	X(op_nfs_sequential)      \
	X(op_nfs_random)          \
	X(op_nfs_dropped)

#define DECLARE_OPERATION(operation) extern const struct bench_operation operation;
BENCH_OPERATIONS(DECLARE_OPERATION)
#undef DECLARE_OPERATION

extern const struct bench_operation *const bench_operations[];
extern const size_t bench_nr_operations;

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Every operation that there is; op_registry.c brings them into order. */
#ifndef PFSTAT_USER_OPERATIONS_H
#define PFSTAT_USER_OPERATIONS_H

#include "bench/core/operation.h"

extern const struct bench_operation op_rdtsc, op_rdtscp, op_clock_gettime, op_loop;
extern const struct bench_operation op_call;
extern const struct bench_operation op_syscall;
extern const struct bench_operation op_fork, op_clone, op_vfork_exec;
extern const struct bench_operation op_thread_create;
extern const struct bench_operation op_pipe, op_switch_process, op_switch_thread;
extern const struct bench_operation op_latency, op_pair;
extern const struct bench_operation op_l1, op_l2, op_l3, op_line, op_dram;
extern const struct bench_operation op_read, op_write, op_copy;
extern const struct bench_operation op_fault_anon, op_fault_cached, op_fault_cow, op_fault_cold;
extern const struct bench_operation op_scale_anon_shared, op_scale_anon_own;
extern const struct bench_operation op_scale_cached_shared, op_scale_cached_own;
extern const struct bench_operation op_file_cached, op_file_dropped;
extern const struct bench_operation op_file_cache_size;
extern const struct bench_operation op_file_sequential, op_file_random, op_file_contend;
extern const struct bench_operation op_net_tcp_rtt, op_net_icmp_rtt, op_net_tcp_bandwidth;
extern const struct bench_operation op_net_tcp_setup, op_net_tcp_teardown;
extern const struct bench_operation op_peer_tcp_rtt, op_peer_icmp_rtt, op_peer_tcp_bandwidth;
extern const struct bench_operation op_peer_tcp_setup, op_peer_tcp_teardown;
extern const struct bench_operation op_nfs_sequential, op_nfs_random, op_nfs_dropped;

#endif

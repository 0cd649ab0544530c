/* SPDX-License-Identifier: GPL-2.0-only */
/* The eBPF programs as the record source, without the module: see bpf/calls.bpf.c. */
#ifndef PFSTAT_USER_FAULT_SOURCE_BPF_H
#define PFSTAT_USER_FAULT_SOURCE_BPF_H

#include "collect/fault_source.h"

extern const struct fault_source_ops fault_source_bpf;

#endif

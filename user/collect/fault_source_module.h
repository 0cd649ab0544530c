/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel module as the record source, through debugfs files. */
#ifndef PFSTAT_USER_FAULT_SOURCE_MODULE_H
#define PFSTAT_USER_FAULT_SOURCE_MODULE_H

#include "collect/fault_source.h"

extern const struct fault_source_ops fault_source_module;

#endif

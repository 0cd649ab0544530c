/* SPDX-License-Identifier: GPL-2.0-only */
/* The module counts all faults at handle_mm_fault(), see <pfstat/control.h>. */
#ifndef PFSTAT_USER_MODULE_FAULTS_H
#define PFSTAT_USER_MODULE_FAULTS_H

#include "collect/fault_source.h"

extern const struct fault_source_fault_ops module_faults;

/* Runs one <pfstat/control.h> command and returns the module's errno. In fault_source_module.c. */
__attribute__((format(printf, 2, 3))) int module_command(const struct fault_source *source,
							 const char *format, ...);

#endif

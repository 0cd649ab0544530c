/* SPDX-License-Identifier: GPL-2.0-only */
/* Records and events hold process ids from the initial PID namespace. */
#ifndef PFSTAT_USER_PID_NAMESPACE_H
#define PFSTAT_USER_PID_NAMESPACE_H

#include <stdbool.h>

/*
 * True if this process is in the initial PID namespace, so this process's ids match those in
 * records.
 */
bool pid_namespace_is_initial(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Records and events have process ids of the initial PID namespace. */
#ifndef PFSTAT_USER_PID_NAMESPACE_H
#define PFSTAT_USER_PID_NAMESPACE_H

#include <stdbool.h>

/* Does this process have the same id in records as for itself? */
bool pid_namespace_is_initial(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* A child that parses files of watched programs runs in a sandbox. */
#ifndef PFSTAT_USER_SANDBOX_H
#define PFSTAT_USER_SANDBOX_H

/*
 * In a child, for good: keeps one socket as descriptors 0 to 2 and closes all others, becomes
 * the invoker (or nobody, if root works for root), drops every capability, limits memory and
 * CPU time, and allows only the system calls that read descriptors and receive others through
 * the socket. A call that is not allowed fails with EPERM. 0 or a negative errno.
 */
int sandbox_enter(int socket);

#endif

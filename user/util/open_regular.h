/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that somebody else names, or may have put there: what is no regular file is not
 * even opened. To open a device may do something; a FIFO waits for a writer.
 */
#ifndef PFSTAT_USER_OPEN_REGULAR_H
#define PFSTAT_USER_OPEN_REGULAR_H

/*
 * A descriptor. flags: of open(2); O_CLOEXEC and O_NOCTTY are added; with O_NOFOLLOW a
 * symbolic link is -ELOOP. -EISDIR; -EMEDIUMTYPE: no regular file; or what open(2) says.
 */
int regular_open(const char *path, int flags);
/* The same of a file that is open with O_PATH. */
int regular_open_place(int place, int flags);

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <pfstat/control.h>

#include "collect/module_session.h"
#include "model/counters.h"
#include "privilege/capabilities.h"
#include "privilege/lockdown.h"

#define DEBUGFS "/sys/kernel/debug"
/* PROC_USER_INIT_INO: the inode of the initial user namespace. */
#define INITIAL_USER_NAMESPACE 0xeffffffdU

int session_open(struct session *session)
{
	session->fd = open(PFSTAT_DEBUGFS "/" PFSTAT_FILE_SESSION, O_RDWR | O_CLOEXEC);
	return session->fd < 0 ? -errno : 0;
}

void session_close(struct session *session)
{
	if (session->fd >= 0)
		close(session->fd);
	session->fd = -1;
}

int session_command(const struct session *session, const char *format, ...)
{
	char line[256];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof(line))
		return -EOVERFLOW;
	return write(session->fd, line, length) < 0 ? -errno : 0;
}

int session_wrapper(const struct session *session, uint64_t *address)
{
	char text[64];
	ssize_t length = pread(session->fd, text, sizeof(text) - 1, 0);

	if (length < 0)
		return -errno;
	text[length] = '\0';
	return sscanf(text, "wrapper %" SCNx64, address) == 1 ? 0 : -EPROTO;
}

int session_counts(uint64_t *calls, uint64_t *lost)
{
	FILE *file = fopen(PFSTAT_DEBUGFS "/" PFSTAT_FILE_STATS, "re");
	unsigned int found = 0;
	char line[256];
	int err;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		found |= sscanf(line, "calls %" SCNu64, calls) == 1 ? 1 : 0;
		found |= sscanf(line, "lost %" SCNu64, lost) == 1 ? 2 : 0;
	}
	/* Of a read that fails fgets() says the same as of the end. */
	err = ferror(file) ? -errno : 0;
	fclose(file);
	if (err)
		return err;
	return found == 3 ? 0 : -EPROTO;
}

void session_cost(uint64_t *call_ps, uint64_t *inside_ps)
{
	FILE *file = fopen(PFSTAT_DEBUGFS "/" PFSTAT_FILE_STATS, "re");
	char line[256];
	uint64_t value;

	*call_ps = FACT_NONE;
	*inside_ps = FACT_NONE;
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "call_cost_ps %" SCNu64, &value) == 1)
			*call_ps = value;
		if (sscanf(line, "inside_ps %" SCNu64, &value) == 1)
			*inside_ps = value;
	}
	fclose(file);
}

/* `targets` begins with "recorder PID COMMAND" or "recorder control". */
static void explain_busy(char *sentence, size_t size)
{
	FILE *file = fopen(PFSTAT_DEBUGFS "/" PFSTAT_FILE_TARGETS, "re");
	char line[128] = "", holder[64] = "";
	int pid;

	if (file) {
		if (!fgets(line, sizeof(line), file))
			line[0] = '\0';
		fclose(file);
	}
	if (sscanf(line, "recorder %d %63[^\n]", &pid, holder) == 2)
		snprintf(sentence, size, "the recorder is held by %s (pid %d): wait until it ends",
			 holder, pid);
	else if (!strncmp(line, "recorder control", strlen("recorder control")))
		snprintf(sentence, size, "the recorder is held by the targets of %s/%s: "
			 "write 'stop' to it first", PFSTAT_DEBUGFS, PFSTAT_FILE_CONTROL);
	else
		snprintf(sentence, size, "the recorder is held by somebody else: try again");
}

static bool is_debugfs(void)
{
	struct statfs statfs_buffer;

	return !statfs(DEBUGFS, &statfs_buffer) && statfs_buffer.f_type == DEBUGFS_MAGIC;
}

/* There one has all capabilities, and none of them counts outside. */
static bool in_user_namespace(void)
{
	struct stat stat_buffer;

	return !stat("/proc/self/ns/user", &stat_buffer) &&
	       stat_buffer.st_ino != INITIAL_USER_NAMESPACE;
}

/* Root was refused: by the kernel's lockdown, or by the module, which asks for a capability. */
static void explain_refusal(char *sentence, size_t size)
{
	char names[CAPABILITY_NAMES_SIZE];

	if (lockdown_level())
		snprintf(sentence, size, "the kernel is locked down (%s), which closes %s: boot "
			 "it without lockdown, for Secure Boot brings it, or use a VM",
			 lockdown_level(), PFSTAT_DEBUGFS);
	else if (capabilities_lack(CAPABILITY(CAP_PERFMON), names, sizeof(names)))
		snprintf(sentence, size, "the pfstat module lets nobody in without %s: run it "
			 "with that", names);
	else if (in_user_namespace())
		snprintf(sentence, size, "the pfstat module lets nobody in from a user "
			 "namespace: run it outside, as root");
	else
		snprintf(sentence, size, "no right to open %s/%s, although it is root's: is the "
			 "kernel locked down?", PFSTAT_DEBUGFS, PFSTAT_FILE_SESSION);
}

void session_explain(int err, char *sentence, size_t size)
{
	if (err == -EBUSY)
		explain_busy(sentence, size);
	else if (access("/sys/module/pfstat", F_OK))
		snprintf(sentence, size, "the pfstat module is not loaded: run insmod pfstat.ko "
			 "as root%s", lockdown_level() ? " (the kernel is locked down, and wants "
			 "it signed: see Documentation/security.rst)" : "");
	else if (err == -EACCES || geteuid())
		snprintf(sentence, size, "the pfstat module lets only root in: run it with sudo");
	else if (err == -ENOENT && !is_debugfs())
		snprintf(sentence, size, "debugfs is not mounted: run mount -t debugfs none %s",
			 DEBUGFS);
	else if (err == -EPERM)
		explain_refusal(sentence, size);
	else
		snprintf(sentence, size, "cannot open %s/%s: %s", PFSTAT_DEBUGFS,
			 PFSTAT_FILE_SESSION, strerror(-err));
}

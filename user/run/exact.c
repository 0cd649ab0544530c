// SPDX-License-Identifier: GPL-2.0-only
/*
 * record --exact without the module: a library (preload/first_touch.c) in each program that the
 * command executes turns fault-around off there. pfdrive holds the library as data. It writes the
 * library and a file for the counts to a folder of its own, and removes them at the end.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pfstat/exact.h>

#include "privilege/invoker.h"
#include "run/watch.h"
#include "util/message.h"

#define LIBRARY "first_touch.so"
#define COUNTS	"counts"

/* As tools/make/user.mk: the architectures on which Linux has the write protection. */
#if defined(__x86_64__) || defined(__aarch64__)
__asm__(".pushsection .rodata\n"
	".global first_touch, first_touch_end\n"
	".hidden first_touch, first_touch_end\n"
	"first_touch:\n"
	".incbin \"preload/first_touch.so\"\n"
	"first_touch_end:\n"
	".popsection\n");
extern const char first_touch[] __attribute__((visibility("hidden"))),
	first_touch_end[] __attribute__((visibility("hidden")));
#define LIBRARY_BYTES ((size_t)(first_touch_end - first_touch))
#else
static const char first_touch[1];
#define LIBRARY_BYTES ((size_t)0)
#endif

#ifdef __x86_64__
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_AARCH64
#endif

static int exact_refuse(const char *format, const char *what)
{
	char reason[PATH_MAX + 256];

	snprintf(reason, sizeof(reason), format, what);
	return message(STATUS_FAILED,
		       "cannot record --exact: %s; load the pfstat module, or leave out --exact",
		       reason);
}

static int exact_check_kernel(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_WP_ASYNC };
	const int fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	int err;

	if (!LIBRARY_BYTES)
		return exact_refuse("this machine's architecture is neither x86-64 nor arm64%s",
				    "");
	if (fd < 0)
		return exact_refuse("userfaultfd(2) is not available: %s", strerror(errno));
	err = ioctl(fd, UFFDIO_API, &api) ? errno : 0;
	close(fd);
	if (err)
		return exact_refuse("this kernel's userfaultfd has no asynchronous write "
				    "protection, which requires Linux 6.7 or later (%s)",
				    strerror(err));
	return STATUS_OK;
}

/* Which programs cannot load a library. Those executed later are counted, see exact_counts(). */

struct program_head {
	union {
		Elf64_Ehdr elf;
		char text[512];
	};
	ssize_t bytes;
};

static bool program_is_dynamic(int fd, const Elf64_Ehdr *elf)
{
	Elf64_Phdr header;
	unsigned int i;

	for (i = 0; i < elf->e_phnum; i++)
		if (pread(fd, &header, sizeof(header), elf->e_phoff + i * sizeof(header)) ==
			    sizeof(header) &&
		    header.p_type == PT_INTERP)
			return true;
	return false;
}

/* Stores the path of a script's interpreter. False: it is not a script. */
static bool program_interpreter(const struct program_head *head, char path[PATH_MAX])
{
	return head->bytes > 2 && head->text[0] == '#' && head->text[1] == '!' &&
	       sscanf(head->text + 2, " %255s", path) == 1;
}

static int exact_check_elf(const char *path, int fd, const Elf64_Ehdr *elf)
{
	struct stat file;

	if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != OWN_MACHINE)
		return exact_refuse("%s is a program for another architecture than pfdrive", path);
	if (!program_is_dynamic(fd, elf))
		return exact_refuse("%s is statically linked, so it loads no library", path);
	if (!fstat(fd, &file) && file.st_mode & S_ISUID && file.st_uid != invoker_uid())
		return exact_refuse("%s is set-user-ID, so ld.so loads no other library", path);
	return STATUS_OK;
}

/* The kernel follows so many interpreters that are scripts themselves. */
#define SCRIPTS_MAX 5

/* A file that cannot be read here has its error when it is executed. */
static int exact_check_program(const char *name)
{
	char path[PATH_MAX], found[PATH_MAX];
	struct program_head head = { 0 };
	int fd, scripts = 0, status = STATUS_OK;
	bool script;

	snprintf(path, sizeof(path), "%s", child_find_program(name, found, sizeof(found)));
	do {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		head.bytes = fd < 0 ? 0 : read(fd, head.text, sizeof(head.text) - 1);
		head.text[head.bytes > 0 ? head.bytes : 0] = '\0';
		script = program_interpreter(&head, path);
		if (!script && head.bytes >= (ssize_t)sizeof(head.elf) &&
		    !memcmp(head.elf.e_ident, ELFMAG, SELFMAG))
			status = exact_check_elf(path, fd, &head.elf);
		if (fd >= 0)
			close(fd);
	} while (script && scripts++ < SCRIPTS_MAX);
	return status;
}

/* The folder. The programs may belong to any user, and change their root later. */

static bool exact_write(const char *path, const void *bytes, size_t size, mode_t mode)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	bool written;

	if (fd < 0)
		return false;
	written = write(fd, bytes, size) == (ssize_t)size && !fchmod(fd, mode);
	close(fd);
	return written;
}

/* False on a file system mounted noexec. */
static bool exact_may_execute(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (fd >= 0)
		close(fd);
	return at != MAP_FAILED && !munmap(at, 1);
}

/* The mark in the library becomes the path of the counts. */
static bool exact_write_library(const struct exact *exact, const char *path)
{
	char *copy = malloc(LIBRARY_BYTES), *mark;
	bool written = false;

	if (!copy)
		return false;
	memcpy(copy, first_touch, LIBRARY_BYTES);
	mark = memmem(copy, LIBRARY_BYTES, EXACT_PATH_MARK, sizeof(EXACT_PATH_MARK));
	if (mark) {
		snprintf(mark, EXACT_PATH_SIZE, "%s/" COUNTS, exact->folder);
		written = exact_write(path, copy, LIBRARY_BYTES, 0755);
	}
	free(copy);
	return written;
}

static void exact_path(const struct exact *exact, const char *name, char path[EXACT_PATH_SIZE])
{
	snprintf(path, EXACT_PATH_SIZE, "%s/%.16s", exact->folder, name);
}

static bool exact_fill(struct exact *exact)
{
	static const uint64_t none[EXACT_NR_COUNTS];
	char library[EXACT_PATH_SIZE], counts[EXACT_PATH_SIZE];

	exact_path(exact, LIBRARY, library);
	exact_path(exact, COUNTS, counts);
	if (chmod(exact->folder, 0755) || !exact_write_library(exact, library) ||
	    !exact_may_execute(library) || !exact_write(counts, none, sizeof(none), 0666))
		return false;
	exact->counts = open(counts, O_RDONLY | O_CLOEXEC);
	return exact->counts >= 0;
}

static void exact_remove(struct exact *exact)
{
	char path[EXACT_PATH_SIZE];

	exact_path(exact, LIBRARY, path);
	unlink(path);
	exact_path(exact, COUNTS, path);
	unlink(path);
	rmdir(exact->folder);
	exact->folder[0] = '\0';
}

/* ld.so splits the list of libraries at a colon or a space. */
static bool exact_make_folder(struct exact *exact, const char *in)
{
	if (!in || in[0] != '/' || strpbrk(in, ": ") || strlen(in) > 64)
		return false;
	snprintf(exact->folder, sizeof(exact->folder), "%s/" EXACT_FOLDER "XXXXXX", in);
	if (!mkdtemp(exact->folder)) {
		exact->folder[0] = '\0';
		return false;
	}
	if (exact_fill(exact))
		return true;
	exact_remove(exact);
	return false;
}

int exact_open(struct exact *exact, const char *command)
{
	int status = exact_check_kernel() ?: exact_check_program(command), err;

	if (status)
		return status;
	err = invoker_begin();
	if (err)
		return exact_refuse("cannot become the user: %s", strerror(-err));
	if (!exact_make_folder(exact, getenv("TMPDIR")) && !exact_make_folder(exact, "/tmp") &&
	    !exact_make_folder(exact, "/dev/shm") && !exact_make_folder(exact, "/var/tmp"))
		status = exact_refuse("%s has room for a library that programs may execute; set "
				      "TMPDIR",
				      "none of TMPDIR, /tmp, /dev/shm and /var/tmp");
	invoker_end();
	return status;
}

/* With an audit library, ld.so puts the TLS of all libraries into this reserve of each thread. */
#define MORE_TLS "glibc.rtld.optional_static_tls=32768"

/* The user's own words come later: for a tunable, the last one counts. */
static void exact_add(const char *variable, const char *word)
{
	const char *before = getenv(variable);
	char *both = NULL;

	if (before && before[0] && asprintf(&both, "%s:%s", word, before) > 0)
		setenv(variable, both, 1);
	else
		setenv(variable, word, 1);
	free(both);
}

void exact_set_environment(const struct exact *exact)
{
	char library[EXACT_PATH_SIZE];

	if (!exact->folder[0])
		return;
	exact_path(exact, LIBRARY, library);
	exact_add("LD_AUDIT", library);
	exact_add("LD_PRELOAD", library);
	exact_add("GLIBC_TUNABLES", MORE_TLS);
}

void exact_counts(const struct exact *exact, struct exact_reach *reach)
{
	uint64_t counts[EXACT_NR_COUNTS];

	if (exact->counts < 0 ||
	    pread(exact->counts, counts, sizeof(counts), 0) != (ssize_t)sizeof(counts))
		return;
	*reach = (struct exact_reach){
		.programs = counts[EXACT_PROGRAMS],
		.checked = counts[EXACT_CHECKED],
		.not_reached = counts[EXACT_NOT_REACHED],
		.not_reached_bytes = counts[EXACT_NOT_REACHED_BYTES],
		.made_private = counts[EXACT_MADE_PRIVATE],
		.no_userfaultfd = counts[EXACT_NO_USERFAULTFD],
		.closed = counts[EXACT_CLOSED],
	};
}

void exact_close(struct exact *exact)
{
	if (exact->counts >= 0)
		close(exact->counts);
	if (exact->folder[0] && !invoker_begin()) {
		exact_remove(exact);
		invoker_end();
	}
	*exact = EXACT_NONE;
}

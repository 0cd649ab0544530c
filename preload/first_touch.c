// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library that pfdrive record --exact gives a dynamic program, as LD_AUDIT and LD_PRELOAD.
 * Registers each file mapping with userfaultfd(2) for asynchronous write protection, but protects
 * nothing. The kernel then maps one page a fault there (uffd_disable_fault_around()), so each first
 * touch of a page is a fault. Needs no privilege.
 *
 * ld.so loads the library twice. The audit copy sees the mappings of ld.so before the program runs,
 * and those of dlopen(). The preload copy wraps mmap() and mremap(), and registers again in a
 * forked child. Both use the descriptor of the audit copy. The library has no libc: ld.so would
 * load a second one for the audit copy.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/magic.h>
#include <linux/userfaultfd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <pfstat/exact.h>

#define EXPORT __attribute__((visibility("default")))
#define WEAK   __attribute__((weak, visibility("default")))

/* From the program's libc. The audit copy has none. */
extern int *__errno_location(void) WEAK;
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *) WEAK;
extern int pthread_atfork(void (*)(void), void (*)(void), void (*)(void)) WEAK;
extern int getpagesize(void) WEAK;

#if defined(__x86_64__)
static long syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
static long syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
			 x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e,
			 x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#endif

#define CALL(name, a, b, c) syscall6(SYS_##name, (long)(a), (long)(b), (long)(c), 0, 0, 0)

/* Sets errno and returns -1 for an error of the kernel. */
static long libc_result(long result)
{
	if ((unsigned long)result < -4095UL)
		return result;
	if (__errno_location)
		*__errno_location() = -result;
	return -1;
}

/* pfdrive writes the path of the counts over the mark. */
static volatile char counts_path[EXACT_PATH_SIZE] = EXACT_PATH_MARK;
static uint64_t *counts;

static void count_add(enum exact_count kind, uint64_t number)
{
	if (counts)
		__atomic_fetch_add(&counts[kind], number, __ATOMIC_RELAXED);
}

static void count(enum exact_count kind)
{
	count_add(kind, 1);
}

static void counts_open(void)
{
	long at, fd = CALL(openat, AT_FDCWD, counts_path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	at = syscall6(SYS_mmap, 0, EXACT_NR_COUNTS * sizeof(*counts), PROT_READ | PROT_WRITE,
		      MAP_SHARED, fd, 0);
	if (at > 0)
		counts = (uint64_t *)at;
	CALL(close, fd, 0, 0);
}

/*
 * The descriptor. Only its first owner may use it: in a forked child it still registers the memory
 * of the parent. It is never closed where it might be another file: closing it ends each
 * registration.
 */
struct descriptor {
	int fd;
	bool reopened;
	long owner;
};

static struct descriptor own;
static struct descriptor *shared; /* the audit copy's; NULL: own */

#define DESCRIPTOR_MIN 1000 /* above what select(2) programs use, below the usual limit */

/* Returns a descriptor or a negative errno. */
static long descriptor_new(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_WP_ASYNC };
	long high, fd = CALL(userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY, 0, 0), err;

	if (fd < 0)
		return fd;
	err = CALL(ioctl, fd, UFFDIO_API, &api);
	high = err ? err : CALL(fcntl, fd, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);
	if (err || high >= 0)
		CALL(close, fd, 0, 0);
	return err || high >= 0 ? high : fd;
}

static struct descriptor *descriptor_get(void)
{
	struct descriptor *descriptor = shared ? shared : &own;
	const long pid = CALL(getpid, 0, 0, 0);

	if (descriptor->owner != pid) {
		descriptor->fd = descriptor_new();
		descriptor->owner = pid;
		if (descriptor->fd < 0)
			count(EXACT_NO_USERFAULTFD);
	}
	return descriptor;
}

/* 0 or a negative errno. */
static long range_register(int fd, uint64_t start, uint64_t end)
{
	struct uffdio_register range = {
		.range = { .start = start, .len = end - start },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};

	return CALL(ioctl, fd, UFFDIO_REGISTER, &range);
}

/* /proc/self/maps, one character at a time. Registers the file mappings. */

enum column { START, END, MODE, OFFSET, DEVICE, INODE, PATH };

struct maps_line {
	uint64_t start, end, inode;
	unsigned int column, length;
	bool writable, shared;
	char path[EXACT_PATH_SIZE]; /* its beginning */
};

static bool begins(const char *text, const char *with)
{
	while (*with)
		if (*text++ != *with++)
			return false;
	return true;
}

/* The folder of the counts and of this library. */
static bool is_own(const char *path)
{
	unsigned int i, folder = 0;

	for (i = 0; counts_path[i]; i++)
		if (counts_path[i] == '/')
			folder = i;
	for (i = 0; i <= folder; i++)
		if (path[i] != counts_path[i])
			return false;
	return true;
}

/* Devices and memory files may belong to a userfaultfd of the program. */
static bool maps_line_is_file(const struct maps_line *line)
{
	static const char others[][10] = { "/dev/", "/memfd:", "/SYSV",
					   "/sys/", "/proc/",  "/anon_hug" };
	unsigned int i;

	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (begins(line->path, others[i]))
			return false;
	return line->inode && line->path[0] == '/' && !is_own(line->path);
}

static void maps_line_add(struct maps_line *line, char c)
{
	const unsigned int digit = c <= '9' ? c - '0' : c - 'a' + 10;

	if (line->column < PATH && (c == ' ' || (c == '-' && line->column == START)))
		line->column++;
	else if (line->column == START)
		line->start = line->start << 4 | digit;
	else if (line->column == END)
		line->end = line->end << 4 | digit;
	else if (line->column == MODE && c == 'w')
		line->writable = true;
	else if (line->column == MODE && c == 's')
		line->shared = true;
	else if (line->column == INODE)
		line->inode = line->inode * 10 + digit;
	else if (line->column == PATH && c != ' ' && line->length < sizeof(line->path) - 1) {
		line->path[line->length++] = c;
		line->path[line->length] = '\0';
	}
}

/* Not as a whole: the compiler would call memset(). */
static void maps_line_clear(struct maps_line *line)
{
	line->start = line->end = line->inode = 0;
	line->column = line->length = 0;
	line->writable = line->shared = false;
	line->path[0] = '\0';
}

static void maps_visit(void (*visit)(const struct maps_line *line))
{
	const long fd = CALL(openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	struct maps_line line;
	char text[1024];
	long got, i;

	maps_line_clear(&line);
	while (fd >= 0 && (got = CALL(read, fd, text, sizeof(text))) > 0) {
		for (i = 0; i < got; i++) {
			if (text[i] != '\n') {
				maps_line_add(&line, text[i]);
				continue;
			}
			if (maps_line_is_file(&line))
				visit(&line);
			maps_line_clear(&line);
		}
	}
	CALL(close, fd, 0, 0);
}

static void line_watch(const struct maps_line *line);

static void range_watch(uint64_t start, uint64_t end)
{
	struct descriptor *descriptor = descriptor_get();
	long err;

	if (descriptor->fd < 0)
		return;
	err = range_register(descriptor->fd, start, end);
	/* The kernel maps a whole huge folio of the file otherwise. */
	CALL(madvise, start, end - start, MADV_NOHUGEPAGE);
	if ((err != -EBADF && err != -ENOTTY) || descriptor->reopened)
		return;
	count(EXACT_CLOSED);
	descriptor->owner = 0;
	descriptor->reopened = true;
	maps_visit(line_watch);
	descriptor->reopened = false;
}

static void line_watch(const struct maps_line *line)
{
	range_watch(line->start, line->end);
}

/*
 * Unmaps the file pages of a mapping that is new to us: ld.so's faults have mapped pages around
 * them, whose first touch is still to come. Pages of which the process has a copy stay.
 */
static void line_unmap(const struct maps_line *line)
{
	const long fd = CALL(openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	struct page_region pages[16];
	struct pm_scan_arg scan = {
		.size = sizeof(scan),
		.end = line->end,
		.walk_end = line->start,
		.vec = (uint64_t)pages,
		.vec_len = sizeof(pages) / sizeof(*pages),
		.category_inverted = PAGE_IS_WPALLOWED,
		.category_mask = PAGE_IS_WPALLOWED | PAGE_IS_FILE | PAGE_IS_PRESENT,
	};
	long nr = 1, i;

	while (fd >= 0 && nr > 0 && scan.walk_end < scan.end) {
		scan.start = scan.walk_end;
		nr = CALL(ioctl, fd, PAGEMAP_SCAN, &scan);
		for (i = 0; i < nr; i++)
			CALL(madvise, pages[i].start, pages[i].end - pages[i].start, MADV_DONTNEED);
	}
	CALL(close, fd, 0, 0);
}

static void line_begin(const struct maps_line *line)
{
	if (!line->writable && !line->shared)
		line_unmap(line);
	line_watch(line);
}

/*
 * Looks for mappings that were not registered. For a registered one, another userfaultfd gets EBUSY.
 */
static int probe;
static long program; /* the process that began it */

static void line_probe(const struct maps_line *line)
{
	if (range_register(probe, line->start, line->end) == -EBUSY)
		return;
	count(EXACT_NOT_REACHED);
	count_add(EXACT_NOT_REACHED_BYTES, line->end - line->start);
}

__attribute__((destructor)) static void first_touch_end(void)
{
	if (!getpagesize)
		return;
	probe = descriptor_new();
	if (probe < 0)
		return;
	maps_visit(line_probe);
	CALL(close, probe, 0, 0);
	if (CALL(getpid, 0, 0, 0) == program)
		count(EXACT_CHECKED);
}

static void child_begin(void)
{
	struct descriptor *descriptor = shared ? shared : &own;

	struct uffdio_range nothing = { 0 };

	/* Another file may have the number if the parent closed it by a system call. */
	if (CALL(ioctl, descriptor->fd, UFFDIO_WAKE, &nothing) == -EINVAL)
		CALL(close, descriptor->fd, 0, 0);
	maps_visit(line_watch);
}

__attribute__((constructor)) static void first_touch_begin(void)
{
	if (!getpagesize) /* the audit copy */
		return;
	counts_open();
	count(EXACT_PROGRAMS);
	program = CALL(getpid, 0, 0, 0);
	if (!shared)
		maps_visit(line_begin);
	if (__register_atfork)
		__register_atfork(NULL, NULL, child_begin, NULL);
	else if (pthread_atfork)
		pthread_atfork(NULL, NULL, child_begin);
}

/* The audit interface of ld.so, see rtld-audit(7). */

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

EXPORT unsigned int la_version(unsigned int version)
{
	counts_open();
	maps_visit(line_begin);
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

EXPORT unsigned int la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)space;
	(void)cookie;
	if (is_own(map->l_name))
		*(struct descriptor **)(map->l_addr + ((const char *)&shared - __ehdr_start)) =
			&own;
	maps_visit(line_begin);
	return 0;
}

/* The calls of the program. */

/* A file in memory needs no read-ahead, and may belong to a userfaultfd of the program. */
static bool is_disk_file(int fd)
{
	struct statfs system;
	struct stat file;

	return !CALL(fstat, fd, &file, 0) && S_ISREG(file.st_mode) &&
	       !CALL(fstatfs, fd, &system, 0) && system.f_type != TMPFS_MAGIC &&
	       system.f_type != HUGETLBFS_MAGIC && system.f_type != SYSFS_MAGIC;
}

/* The kernel refuses a shared mapping that can never be written. */
static bool is_read_only(int protection, int flags, int fd)
{
	return (flags & MAP_TYPE) == MAP_SHARED && !(protection & PROT_WRITE) &&
	       (CALL(fcntl, fd, F_GETFL, 0) & O_ACCMODE) == O_RDONLY;
}

EXPORT void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset)
{
	const bool file = fd >= 0 && !(flags & MAP_ANONYMOUS) && is_disk_file(fd);
	const bool turned = file && is_read_only(protection, flags, fd);
	const size_t page = getpagesize();
	long at;

	if (turned)
		flags = (flags & ~MAP_TYPE) | MAP_PRIVATE;
	at = syscall6(SYS_mmap, (long)address, length, protection, flags, fd, offset);
	if (file && (unsigned long)at < -4095UL) {
		if (turned)
			count(EXACT_MADE_PRIVATE);
		range_watch(at, (at + length + page - 1) / page * page);
	}
	return (void *)libc_result(at);
}

EXPORT void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	return mmap64(address, length, protection, flags, fd, offset);
}

/* A moved mapping loses its userfaultfd. */
EXPORT void *mremap(void *address, size_t old_length, size_t length, int flags, ...)
{
	va_list more;
	long at;

	va_start(more, flags);
	at = syscall6(SYS_mremap, (long)address, old_length, length, flags, va_arg(more, long), 0);
	va_end(more);
	if ((unsigned long)at < -4095UL)
		maps_visit(line_watch);
	return (void *)libc_result(at);
}

/* To a program that closes all its descriptors, ours is not open. */

static bool kept(unsigned int first, unsigned int last)
{
	const struct descriptor *descriptor = shared ? shared : &own;
	const unsigned int fd = descriptor->fd;

	return descriptor->owner && first <= fd && last >= fd &&
	       descriptor->owner == CALL(getpid, 0, 0, 0);
}

EXPORT int close(int fd)
{
	return libc_result(kept(fd, fd) ? -EBADF : CALL(close, fd, 0, 0));
}

EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	const unsigned int fd = shared ? shared->fd : own.fd;
	long err = 0;

	if (!kept(first, last) || flags & CLOSE_RANGE_CLOEXEC)
		return libc_result(CALL(close_range, first, last, flags));
	if (first < fd)
		err = CALL(close_range, first, fd - 1, flags);
	if (!err && last > fd)
		err = CALL(close_range, fd + 1, last, flags);
	return libc_result(err);
}

EXPORT void closefrom(int first)
{
	close_range(first < 0 ? 0 : first, ~0U, 0);
}

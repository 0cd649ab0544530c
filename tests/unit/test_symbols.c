// SPDX-License-Identifier: GPL-2.0-only
/* Code names, from this program's own symbols. */
#include <dirent.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "runner.h"
#include "user/symbols/symbols.h"

void function_to_be_found(void);

enum { FUNCTION_LINE = __LINE__ + 3 };

/* Long enough: an address inside belongs to no other function. */
__attribute__((noinline)) void function_to_be_found(void)
{
	static volatile int never = -1;
	volatile int i;

	for (i = 0; i < 100; i++)
		if (i == never)
			printf("never");
}

/* An address's offset in the file mapped there. The path is stored in the buffer. */
static uint64_t offset_of(const void *address, char *path)
{
	uint64_t from = 0, to = 0, offset = 0;
	char line[4500];
	FILE *maps = fopen("/proc/self/maps", "r");

	path[0] = '\0';
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s", &from,
			   &to, &offset, path) == 4 &&
		    (uintptr_t)address >= from && (uintptr_t)address < to)
			break;
		path[0] = '\0';
	}
	fclose(maps);
	ck_assert(path[0] == '/');
	return (uintptr_t)address - from + offset;
}

static unsigned int open_descriptors(void)
{
	unsigned int count = 0;
	DIR *folder = opendir("/proc/self/fd");

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

TEST(test_function_of_this_program_is_found)
{
	struct symbols *symbols;
	char path[4096], *name;
	uint64_t offset;

	ck_assert_int_eq(symbols_open(&symbols, NULL), 0);
	offset = offset_of((void *)function_to_be_found, path);
	name = symbols_name(symbols, path, 0, offset);
	ck_assert_pstr_eq(name, "function_to_be_found+0x0");
	free(name);
	name = symbols_name(symbols, path, 0, offset + 0x1f);
	ck_assert_pstr_eq(name, "function_to_be_found+0x1f");
	free(name);
	symbols_close(symbols);
}

TEST(test_instruction_has_its_source_line)
{
	struct symbols *symbols;
	char path[4096], *source;
	uint64_t offset;
	uint32_t line = 0;

	ck_assert_int_eq(symbols_open(&symbols, NULL), 0);
	offset = offset_of((void *)function_to_be_found, path);
	source = symbols_line(symbols, path, 0, offset, &line);
	ck_assert_ptr_nonnull(source);
	ck_assert_ptr_nonnull(strstr(source, "tests/unit/test_symbols.c"));
	/* The line of the name or of the brace. */
	ck_assert_uint_ge(line, FUNCTION_LINE);
	ck_assert_uint_le(line, FUNCTION_LINE + 1);
	free(source);
	source = symbols_line(symbols, path, 0, offset + 4, &line);
	ck_assert_ptr_nonnull(source);
	ck_assert_uint_ge(line, FUNCTION_LINE);
	ck_assert_uint_le(line, FUNCTION_LINE + 5);
	free(source);
	ck_assert_ptr_null(symbols_line(symbols, path, 0, 0, &line));
	ck_assert_ptr_null(symbols_line(symbols, path, 0, UINT64_MAX, &line));
	symbols_close(symbols);
}

/* Without debug information, which Debian does not install with zlib. */
TEST(test_library_without_debug_information_has_no_lines)
{
	struct symbols *symbols;
	char path[4096];
	uint64_t offset;
	uint32_t line;

	ck_assert_int_eq(symbols_open(&symbols, NULL), 0);
	offset = offset_of((void *)deflateInit2_, path);
	ck_assert_ptr_null(symbols_line(symbols, path, 0, offset, &line));
	ck_assert_int_eq(symbols_trouble(symbols), 0);
	symbols_close(symbols);
}

/* Stripped except for the exported symbols. */
TEST(test_function_of_a_library_is_found)
{
	struct symbols *symbols;
	char path[4096], *name;
	uint64_t offset;

	ck_assert_int_eq(symbols_open(&symbols, NULL), 0);
	offset = offset_of((void *)deflateInit2_, path);
	ck_assert_ptr_nonnull(strstr(path, "libz"));
	name = symbols_name(symbols, path, 0, offset + 1);
	ck_assert_pstr_eq(name, "deflateInit2_+0x1");
	free(name);
	symbols_close(symbols);
}

TEST(test_addresses_without_a_symbol_have_no_name)
{
	static const char *const paths[] = {
		"",	     "//anon",		"[vdso]", "/nonexistent",
		"/dev/zero", "/proc/self/maps", "/",	  "/memfd:code (deleted)",
	};
	struct symbols *symbols;
	char path[4096];
	unsigned int i;

	ck_assert_int_eq(symbols_open(&symbols, NULL), 0);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		ck_assert_ptr_null(symbols_name(symbols, paths[i], 0, 0x1000));
	offset_of((void *)function_to_be_found, path);
	ck_assert_ptr_null(symbols_name(symbols, path, 0, UINT64_MAX));
	ck_assert_ptr_null(symbols_name(symbols, path, 0, 0)); /* the ELF header */
	symbols_close(symbols);
}

/* The file that has the name now, or in this mount namespace, is another program. */
TEST(test_names_of_another_file_are_not_used)
{
	struct symbols *symbols;
	char path[4096], *name;
	struct stat stat_buffer;
	uint64_t offset;

	ck_assert_int_eq(symbols_open(&symbols, NULL), 0);
	offset = offset_of((void *)function_to_be_found, path);
	ck_assert_int_eq(stat(path, &stat_buffer), 0);
	ck_assert_ptr_null(symbols_name(symbols, path, stat_buffer.st_ino + 1, offset));
	name = symbols_name(symbols, path, stat_buffer.st_ino, offset);
	ck_assert_pstr_eq(name, "function_to_be_found+0x0");
	free(name);
	symbols_close(symbols);
}

/* libdwfl would allocate the size stated in the header. */
TEST(test_a_compressed_file_is_not_unpacked)
{
	char folder[] = "/tmp/pfstat-symbols-XXXXXX", path[64], own[4096], buffer[4096];
	const unsigned int before = open_descriptors();
	struct symbols *symbols;
	uint64_t offset;
	FILE *program;
	size_t got;
	gzFile out;

	offset = offset_of((void *)function_to_be_found, own);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/program.gz", folder);
	out = gzopen(path, "wb1");
	program = fopen(own, "r");
	while ((got = fread(buffer, 1, sizeof(buffer), program)) > 0)
		ck_assert_int_eq(gzwrite(out, buffer, got), got);
	fclose(program);
	gzclose(out);
	ck_assert_int_eq(symbols_open(&symbols, NULL), 0);
	ck_assert_ptr_null(symbols_name(symbols, path, 0, offset));
	ck_assert_uint_eq(open_descriptors(), before);
	symbols_close(symbols);
	unlink(path);
	rmdir(folder);
}

TEST(test_lookup_does_not_wait_for_a_pipe)
{
	char folder[] = "/tmp/pfstat-symbols-XXXXXX", path[64];
	struct symbols *symbols;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/pipe", folder);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(symbols_open(&symbols, NULL), 0);
	ck_assert_ptr_null(symbols_name(symbols, path, 0, 0));
	symbols_close(symbols);
	unlink(path);
	rmdir(folder);
}

/* Many names for one file. Each name counts as a separate file. */
TEST(test_few_files_stay_open)
{
	const unsigned int before = open_descriptors();
	char path[4096], alias[4200], *name;
	struct symbols *symbols;
	uint64_t offset;
	unsigned int i, j;

	ck_assert_int_eq(symbols_open(&symbols, NULL), 0);
	offset = offset_of((void *)function_to_be_found, path);
	for (i = 0; i < 2 * SYMBOLS_MAX_FILES; i++) {
		alias[0] = '\0';
		for (j = 0; j < i; j++)
			strcat(alias, "/.");
		strcat(alias, path);
		name = symbols_name(symbols, alias, 0, offset);
		ck_assert_pstr_eq(name, "function_to_be_found+0x0");
		free(name);
		ck_assert_uint_le(open_descriptors(), before + SYMBOLS_MAX_FILES);
	}
	symbols_close(symbols);
	ck_assert_uint_eq(open_descriptors(), before);
}

/* A recorder must neither wait for a network nor disclose the programs that run. */
TEST(test_lookup_contacts_no_server)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct pollfd poll_server = { .fd = server, .events = POLLIN };
	struct symbols *symbols;
	uint32_t line;
	char url[64];

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(server, (void *)&address, size), 0);
	ck_assert_int_eq(listen(server, 1), 0);
	ck_assert_int_eq(getsockname(server, (void *)&address, &size), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_TIMEOUT", "1", 1);
	setenv("DEBUGINFOD_CACHE_PATH", "/tmp/pfstat-no-cache", 1);
	ck_assert_int_eq(symbols_open(&symbols, NULL), 0);
	free(symbols_name(symbols, "/bin/sh", 0, 0x5000)); /* the file itself has no symbols */
	free(symbols_line(symbols, "/bin/sh", 0, 0x5000, &line));
	ck_assert_int_eq(poll(&poll_server, 1, 0), 0);
	symbols_close(symbols);
	close(server);
}

static pid_t only_child(void)
{
	int pid = 0;
	FILE *file = fopen("/proc/thread-self/children", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%d", &pid), 1);
	fclose(file);
	return pid;
}

/* The next file gets names, because a new child reads it. */
TEST(test_a_child_that_dies_costs_only_names)
{
	struct symbols *symbols;
	char path[4096], *name;
	uint64_t offset;

	ck_assert_int_eq(symbols_open(&symbols, NULL), 0);
	offset = offset_of((void *)function_to_be_found, path);
	free(symbols_name(symbols, path, 0, offset));
	ck_assert_int_eq(symbols_trouble(symbols), 0);
	kill(only_child(), SIGKILL);
	ck_assert_ptr_null(symbols_name(symbols, path, 0, offset));
	ck_assert_int_lt(symbols_trouble(symbols), 0);
	ck_assert_ptr_null(symbols_name(symbols, path, 0, offset));
	offset = offset_of((void *)deflateInit2_, path);
	name = symbols_name(symbols, path, 0, offset);
	ck_assert_pstr_eq(name, "deflateInit2_+0x0");
	free(name);
	symbols_close(symbols);
}

TEST(test_children_are_not_started_without_end)
{
	struct symbols *symbols;
	char path[4096], *name;
	uint64_t offset;
	unsigned int i;

	ck_assert_int_eq(symbols_open(&symbols, NULL), 0);
	offset = offset_of((void *)function_to_be_found, path);
	for (i = 0; i < 5; i++) {
		name = symbols_name(symbols, path, 0, offset);
		ck_assert_pstr_eq(name, "function_to_be_found+0x0");
		free(name);
		kill(only_child(), SIGKILL);
		ck_assert_ptr_null(symbols_name(symbols, path, 0, offset));
		/* Another name counts as another file. */
		memmove(path + 2, path, strlen(path) + 1);
		memcpy(path, "/.", 2);
	}
	ck_assert_ptr_null(symbols_name(symbols, path, 0, offset));
	symbols_close(symbols);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that repeat all kinds of operations on mapped files and verify the data. Each word in a
 * file's pages contains the file and the page:
 *
 *	63      48 47             16 15         0
 *	[ file id ][ index of page  ][ generation ]
 *
 * so a page from a wrong file or at a wrong address is detected. Words cut off by a truncation may
 * be 0 in jobs that allow it.
 */
#ifndef STRESS_WORKER_H
#define STRESS_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#define PAGE  ((size_t)sysconf(_SC_PAGESIZE))
#define WORDS (PAGE / sizeof(uint64_t))

struct file {
	const char *path;
	uint16_t id;
	size_t pages;
	int fd;
};

typedef volatile uint64_t *page_words;

/* One round of each kind of stress, which takes a second or so. */
void job_threads(const struct file *file);
void job_write(const struct file *file);
void job_reshape(const struct file *file);
void job_protect(const struct file *file);
void job_unmap(const struct file *file);
void job_advise(const struct file *file);
void job_populate(const struct file *file);
void job_fork(const struct file *file);
void job_exec(const struct file *file);
void job_kill(const struct file *file);
void job_ptrace(const struct file *file);
void job_remote(const struct file *file);
void job_truncate(const struct file *file);
void job_direct(const struct file *file);
void job_uffd(const struct file *file);
void job_swap(const struct file *file);

/* Random numbers: one sequence for each thread, derived from the seed. */
void random_seed(uint64_t seed);
uint64_t random_below(uint64_t limit);
bool random_one_in(unsigned int n);

/* Creates the file, with the pattern in each page. Opens it for reading and writing. */
struct file file_make(const char *path, uint16_t id, size_t pages);
struct file file_open(const char *path, uint16_t id, size_t pages);
void file_fill(const struct file *file, size_t first, size_t count);
uint64_t pattern(const struct file *file, size_t index);

page_words map_file(const struct file *file, int prot, int flags);
page_words page_at(page_words map, size_t page);
/* Checks that a random word in the memory page belongs to page `index` of the file. */
void check_page(const struct file *file, page_words page, size_t index);
void check_word(const struct file *file, uint64_t word, size_t index);
bool word_is_of(const struct file *file, uint64_t word, size_t index);

/* Reports a wrong result and exits with status 1. */
__attribute__((noreturn, format(printf, 1, 2))) void wrong(const char *format, ...);
/* Exits with an error that names @call if @result is -1. Otherwise returns @result. */
long need(long result, const char *call);
void *need_map(void *address, const char *call);

/* Like fork(), but the child is killed when the parent exits. */
pid_t fork_child(void);
/* Waits for the child, which must exit with status 0. */
void join_child(pid_t child);
void end_child(pid_t child); /* kills it first */

/* Prints once that this kernel lacks @what. The caller skips it. */
void not_available(const char *what);

/* The program itself, for another exec. */
#define SELF "/proc/self/exe"
int verify_in_new_image(int argc, char **argv);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that do to mapped files whatever programs do, over and over, and verify
 * what they read. Each word of a file's pages tells the file and the page:
 *
 *	63      48 47             16 15         0
 *	[ file id ][ index of page  ][ generation ]
 *
 * so a page that was mapped at a wrong place, or of a wrong file, is found. What was
 * cut off the file may be 0 instead, where a job says so.
 */
#ifndef STRESS_WORKER_H
#define STRESS_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE  4096UL
#define WORDS (PAGE / sizeof(uint64_t))

struct file {
	const char *path;
	uint16_t id;
	size_t pages;
	int fd;
};

typedef volatile uint64_t *page_words;

/* One round of each kind of stress; it ends by itself, in a second or so. */
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

/* Numbers at random: a sequence for each thread, of the seed that was given. */
void random_seed(uint64_t seed);
uint64_t random_below(uint64_t limit);
bool random_one_in(unsigned int n);

/* Makes the file, each page with its pattern; opens it for reading and writing. */
struct file file_make(const char *path, uint16_t id, size_t pages);
struct file file_open(const char *path, uint16_t id, size_t pages);
void file_fill(const struct file *file, size_t first, size_t count);
uint64_t pattern(const struct file *file, size_t index);

page_words map_file(const struct file *file, int prot, int flags);
page_words page_at(page_words map, size_t page);
/* A word at random of the page in memory must be of the file's page `index`. */
void check_page(const struct file *file, page_words page, size_t index);
void check_word(const struct file *file, uint64_t word, size_t index);
bool word_is_of(const struct file *file, uint64_t word, size_t index);

/* Not the outcome that it must have: says it, and ends this process with status 1. */
__attribute__((noreturn, format(printf, 1, 2))) void wrong(const char *format, ...);
/* What must work: a call that returned -1 ends the process, with its name. */
long need(long result, const char *call);
void *need_map(void *address, const char *call);

/* A child that dies with its parent; like fork(). */
pid_t fork_child(void);
/* Waits for it; it must have ended well. */
void join_child(pid_t child);
void end_child(pid_t child); /* kills it first */

/* Something that this kernel does not have is said once, and left out. */
void not_available(const char *what);

/* Where is the program itself, to execute it again? */
#define SELF "/proc/self/exe"
int verify_in_new_image(int argc, char **argv);

#endif

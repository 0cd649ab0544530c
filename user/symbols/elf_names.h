/* SPDX-License-Identifier: GPL-2.0-only */
/* Code names in one ELF file, from symbols or separate debug information. */
#ifndef PFSTAT_USER_ELF_NAMES_H
#define PFSTAT_USER_ELF_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct elf_names;

/* Opens the debug information of a build ID for reading. Returns -1 if it is not installed. */
typedef int (*elf_debug_opener)(void *context, const uint8_t *build_id, size_t bytes);

/* Consumes the descriptor. Returns NULL if it is not an ELF file or memory is short. */
struct elf_names *elf_names_open(int fd, elf_debug_opener opener, void *context);
void elf_names_close(struct elf_names *names);

/*
 * Returns "name+0x1f", demangled, for the instruction at an offset into the file. The caller frees
 * it. NULL if there is no symbol, or no memory.
 */
char *elf_names_at(struct elf_names *names, uint64_t file_offset);

/* Returns "name+0x1f", demangled if it is a C++ or Rust name. NULL: no memory. */
char *elf_name_print(const char *symbol, uint64_t offset);

#endif

// SPDX-License-Identifier: GPL-2.0-only
/* The sorted symbols in a file choose the name that libdwfl finds by walking all symbols. */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "runner.h"
#include "user/symbols/symbols.h"

#define ADDRESSES_MAX 4000 /* for a file, whose symbols libdwfl walks for each */

struct opened {
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct elf_symbols symbols;
};

static int find_no_debug(Dwfl_Module *module, void **userdata, const char *module_name,
			 Dwarf_Addr base, const char *file_name, const char *debuglink,
			 GElf_Word debuglink_crc, char **debug_file_name)
{
	(void)module, (void)userdata, (void)module_name, (void)base, (void)file_name;
	(void)debuglink, (void)debuglink_crc, (void)debug_file_name;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = find_no_debug,
	.section_address = dwfl_offline_section_address,
};

static struct opened open_file(const char *path)
{
	struct opened opened = { .dwfl = dwfl_begin(&callbacks) };

	opened.module = dwfl_report_offline(opened.dwfl, "object", path, -1);
	ck_assert_msg(opened.module, "%s: %s", path, dwfl_errmsg(-1));
	dwfl_report_end(opened.dwfl, NULL, NULL);
	ck_assert_int_eq(elf_symbols_read(&opened.symbols, opened.module), 0);
	return opened;
}

static void close_file(struct opened *opened)
{
	elf_symbols_exit(&opened->symbols);
	dwfl_end(opened->dwfl);
}

/* NULL: a symbol ending before the address names nothing. */
static const char *walk(const struct opened *opened, uint64_t address, uint64_t *offset)
{
	GElf_Sym symbol;
	const char *name =
		dwfl_module_addrinfo(opened->module, address, offset, &symbol, NULL, NULL, NULL);

	return name && symbol.st_size && *offset >= symbol.st_size ? NULL : name;
}

static void compare_at(const struct opened *opened, const char *path, uint64_t address)
{
	const struct elf_symbol *found = elf_symbols_find(&opened->symbols, address);
	uint64_t offset = 0;
	const char *name = walk(opened, address, &offset);

	ck_assert_msg(!found == !name && (!found || (!strcmp(found->name, name) &&
						     address - found->address == offset)),
		      "%s: at %#lx %s+%#lx, libdwfl %s+%#lx", path, address,
		      found ? found->name : "nothing", found ? address - found->address : 0,
		      name ?: "nothing", offset);
}

static bool find_code(Dwfl_Module *module, int i, GElf_Sym *symbol, GElf_Addr *address)
{
	GElf_Shdr header;
	GElf_Word section;
	Elf *elf;

	if (!dwfl_module_getsym_info(module, i, symbol, address, &section, &elf, NULL))
		return false;
	return section < SHN_LORESERVE && gelf_getshdr(elf_getscn(elf, section), &header) &&
	       header.sh_flags & SHF_EXECINSTR;
}

/* For each code symbol the first and last byte, the byte in the middle and the byte behind it. */
static unsigned int compare_with_walk(const char *path)
{
	struct opened opened = open_file(path);
	const int nr = dwfl_module_getsymtab(opened.module);
	const int step = 4 * nr / ADDRESSES_MAX + 1;
	unsigned int compared = 0;
	GElf_Addr address;
	GElf_Sym symbol;
	int i;

	for (i = 1; i < nr; i += step) {
		if (!find_code(opened.module, i, &symbol, &address))
			continue;
		compare_at(&opened, path, address);
		compare_at(&opened, path, address + symbol.st_size / 2);
		compare_at(&opened, path, address + symbol.st_size - !!symbol.st_size);
		compare_at(&opened, path, address + symbol.st_size);
		compared++;
	}
	close_file(&opened);
	return compared;
}

static int compare_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
	unsigned int *compared = context;

	(void)size;
	if (info->dlpi_name[0] == '/')
		*compared += compare_with_walk(info->dlpi_name);
	return 0;
}

TEST(test_every_symbol_of_this_program_has_the_name_that_libdwfl_finds)
{
	ck_assert_uint_gt(compare_with_walk("/proc/self/exe"), 100);
}

TEST(test_every_symbol_of_its_libraries_has_the_name_that_libdwfl_finds)
{
	unsigned int compared = 0;

	dl_iterate_phdr(compare_loaded, &compared);
	ck_assert_uint_gt(compared, 1000);
}

/* Code labels without a size. The second looks like a mapping symbol. */
__asm__(".pushsection .text.labels, \"ax\"\n"
	"label_of_code: .space 8\n"
	"\"$x.mapping\": .space 8\n"
	".popsection\n");

static uint64_t address_of(const struct opened *opened, const char *label)
{
	const int nr = dwfl_module_getsymtab(opened->module);
	GElf_Addr address;
	const char *name;
	GElf_Sym symbol;
	int i;

	for (i = 1; i < nr; i++) {
		name = dwfl_module_getsym_info(opened->module, i, &symbol, &address, NULL, NULL,
					       NULL);
		if (name && !strcmp(name, label))
			return address;
	}
	ck_abort_msg("no label %s", label);
	return 0;
}

/* A copy of this program claiming to be for another machine. */
static void copy_for_machine(const char *path, uint16_t machine)
{
	char command[128];
	int fd;

	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", getpid(), path);
	ck_assert_int_eq(system(command), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, &machine, sizeof(machine), offsetof(Elf64_Ehdr, e_machine)),
			 sizeof(machine));
	close(fd);
}

static void check_label(uint16_t machine, const char *expected)
{
	char path[] = "/tmp/pfstat-machine-XXXXXX";
	const struct elf_symbol *found;
	struct opened opened;

	close(mkstemp(path));
	copy_for_machine(path, machine);
	opened = open_file(path);
	found = elf_symbols_find(&opened.symbols, address_of(&opened, "label_of_code") + 12);
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->name, expected);
	close_file(&opened);
	unlink(path);
}

TEST(test_mapping_symbols_name_no_code)
{
	check_label(EM_X86_64, "$x.mapping");
	check_label(EM_AARCH64, "label_of_code");
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sorts the symbols that libdwfl reads from an ELF file and from the separate debug information.
 * libdwfl itself walks all symbols for each address: 12 ms in a browser.
 */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/symbols.h"
#include "util/array.h"

static void list_exit(struct elf_symbol_list *list)
{
	free(list->symbols);
	free(list->enclosing);
	*list = (struct elf_symbol_list){ 0 };
}

void elf_symbols_exit(struct elf_symbols *symbols)
{
	list_exit(&symbols->global);
	list_exit(&symbols->local);
	list_exit(&symbols->labels);
}

static int list_add(struct elf_symbol_list *list, const struct elf_symbol *symbol)
{
	if (array_reserve((void **)&list->symbols, list->nr, &list->room, sizeof(*symbol)))
		return -ENOMEM;
	list->symbols[list->nr++] = *symbol;
	return 0;
}

static int by_address_and_preference(const void *a, const void *b)
{
	const struct elf_symbol *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if (left->binding != right->binding)
		return left->binding > right->binding ? -1 : 1;
	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? -1 : 1;
	return left->index < right->index ? -1 : left->index > right->index;
}

static uint64_t end_of(const struct elf_symbol *symbol)
{
	return symbol->address + symbol->bytes;
}

static int list_sort(struct elf_symbol_list *list)
{
	uint32_t i, before;

	if (!list->nr)
		return 0;
	qsort(list->symbols, list->nr, sizeof(*list->symbols), by_address_and_preference);
	list->enclosing = calloc(list->nr, sizeof(*list->enclosing));
	if (!list->enclosing)
		return -ENOMEM;
	for (i = 1; i < list->nr; i++) {
		before = i - 1;
		while (end_of(&list->symbols[before]) <= end_of(&list->symbols[i]) &&
		       list->enclosing[before] != before)
			before = list->enclosing[before];
		list->enclosing[i] =
			end_of(&list->symbols[before]) > end_of(&list->symbols[i]) ? before : i;
	}
	return 0;
}

/* Number of symbols starting at or before the address. */
static size_t list_until(const struct elf_symbol_list *list, uint64_t address)
{
	size_t from = 0, to = list->nr, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (list->symbols[middle].address <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static bool contains(const struct elf_symbol *symbol, uint64_t address)
{
	return address - symbol->address < symbol->bytes;
}

static const struct elf_symbol *list_find(const struct elf_symbol_list *list, uint64_t address)
{
	const struct elf_symbol *symbols = list->symbols;
	size_t i = list_until(list, address);

	if (!i--)
		return NULL;
	while (!contains(&symbols[i], address)) {
		if (list->enclosing[i] == i)
			return NULL;
		i = list->enclosing[i];
	}
	/* If several have the same start, the preferred one is the first. */
	while (i && symbols[i - 1].address == symbols[i].address)
		i--;
	while (!contains(&symbols[i], address))
		i++;
	return &symbols[i];
}

/* The last end among symbols starting at or before the address. */
static uint64_t list_last_end(const struct elf_symbol_list *list, uint64_t address)
{
	size_t i = list_until(list, address);

	if (!i--)
		return 0;
	while (list->enclosing[i] != i)
		i = list->enclosing[i];
	return end_of(&list->symbols[i]);
}

/* NULL if a symbol ends between the label and the address. */
static const struct elf_symbol *find_label(const struct elf_symbols *symbols, uint64_t address)
{
	const struct elf_symbol *label = list_find(&symbols->labels, address);

	if (!label || list_last_end(&symbols->global, address) > label->address)
		return NULL;
	/* A global label at this very address comes before local symbols. */
	if (label->binding && label->address == address)
		return label;
	return list_last_end(&symbols->local, address) > label->address ? NULL : label;
}

const struct elf_symbol *elf_symbols_find(const struct elf_symbols *symbols, uint64_t address)
{
	const struct elf_symbol *found = list_find(&symbols->global, address);
	const struct elf_symbol *label;

	if (found)
		return found;
	label = find_label(symbols, address);
	return label && label->address == address && label->binding ? label :
	       list_find(&symbols->local, address)		    ?:
								      label;
}

static uint32_t binding_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
		return 3;
	case STB_WEAK:
		return 2;
	case STB_LOCAL:
		return 0;
	default:
		return 1;
	}
}

/* They mark where code and data begin: $a, $t, $d, $x, also with a suffix. */
static bool is_mapping_symbol(GElf_Half machine, const char *name)
{
	if (machine != EM_ARM && machine != EM_AARCH64 && machine != EM_RISCV)
		return false;
	return name[0] == '$' && name[1] && strchr("atdx", name[1]);
}

static bool names_code(const GElf_Sym *symbol)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_SECTION:
	case STT_FILE:
	case STT_TLS:
		return false;
	default:
		return symbol->st_shndx != SHN_UNDEF;
	}
}

/*
 * A label reaches to the end of the section. An absolute one names only one address. 0 if the label
 * lies beyond the section, as _edata does.
 */
static uint64_t label_bytes(Elf *elf, GElf_Word section, GElf_Addr bias, uint64_t address)
{
	GElf_Shdr header;

	if (section >= SHN_LORESERVE)
		return 1;
	if (!gelf_getshdr(elf_getscn(elf, section), &header) || address < header.sh_addr + bias ||
	    address - header.sh_addr - bias >= header.sh_size)
		return 0;
	return header.sh_addr + bias + header.sh_size - address;
}

static int add_symbol(struct elf_symbols *symbols, Dwfl_Module *module, GElf_Half machine, int i,
		      int nr)
{
	struct elf_symbol found;
	GElf_Addr address, bias;
	GElf_Word section;
	const char *name;
	GElf_Sym symbol;
	bool sized;
	Elf *elf;

	name = dwfl_module_getsym_info(module, i, &symbol, &address, &section, &elf, &bias);
	if (!name || !*name || !names_code(&symbol) || is_mapping_symbol(machine, name))
		return 0;
	/* A function's lowest bit marks Thumb code. */
	if (machine == EM_ARM && GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
		address &= ~1ULL;
	sized = symbol.st_size;
	found = (struct elf_symbol){
		.address = address,
		.bytes = sized ? symbol.st_size : label_bytes(elf, section, bias, address),
		.name = name,
		.index = sized ? i : nr - i,
		.binding = sized ? binding_of(&symbol) : !!binding_of(&symbol),
	};
	if (found.bytes > UINT64_MAX - address)
		found.bytes = UINT64_MAX - address;
	if (!found.bytes)
		return 0;
	if (!sized)
		return list_add(&symbols->labels, &found);
	return list_add(found.binding ? &symbols->global : &symbols->local, &found);
}

int elf_symbols_read(struct elf_symbols *symbols, Dwfl_Module *module)
{
	const int nr = dwfl_module_getsymtab(module);
	GElf_Ehdr header;
	GElf_Addr bias;
	int err = 0, i;
	Elf *elf;

	*symbols = (struct elf_symbols){ 0 };
	elf = dwfl_module_getelf(module, &bias);
	if (!elf || !gelf_getehdr(elf, &header))
		return 0;
	/* The first is no symbol. */
	for (i = 1; i < nr && !err; i++)
		err = add_symbol(symbols, module, header.e_machine, i, nr);
	if (!err)
		err = list_sort(&symbols->global)	 ?:
			      list_sort(&symbols->local) ?:
							   list_sort(&symbols->labels);
	if (err)
		elf_symbols_exit(symbols);
	return err;
}

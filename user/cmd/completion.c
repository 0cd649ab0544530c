// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion for pfdrive's command line in bash and zsh. The scripts are made from the subcommand
 * table and the parsers' option tables, so neither can forget an option.
 */
#include <ctype.h>
#include <string.h>

#include "cmd/cmd.h"
#include "print/report_format.h"
#include "util/array.h"
#include "workload/mapping.h"
#include "workload/pattern.h"

#define WORDS_SIZE 256

/* Values for arguments whose name does not list them. */
static const struct {
	const char *argument, *values;
} named_values[] = {
	{ "FORMAT", REPORT_FORMAT_WORDS },
	{ "ADVICE", POLICY_ADVICE_NAMES },
	{ "PATTERN", PATTERN_NAMES },
};

/* argp adds these to each command. */
static const struct argp_option common_options[] = {
	{ "help", '?', NULL, 0, "list the options", 0 },
	{ "usage", 1, NULL, 0, "print a short usage message", 0 },
	{ "version", 'V', NULL, 0, "print the version", 0 },
	{ 0 },
};

struct commands {
	const struct subcommand *const *rows;
	size_t nr;
};

typedef void (*option_printer)(FILE *out, const char *command, const struct argp_option *option);

static void visit_options(FILE *out, const char *command, const struct argp_option *option,
			  option_printer print_one)
{
	for (; option && (option->name || option->key || option->doc || option->group); option++)
		if (option->name && !(option->flags & (OPTION_DOC | OPTION_HIDDEN)))
			print_one(out, command, option);
}

static void visit_argp(FILE *out, const char *command, const struct argp *argp,
		       option_printer print_one)
{
	const struct argp_child *child;

	visit_options(out, command, argp->options, print_one);
	for (child = argp->children; child && child->argp; child++)
		visit_argp(out, command, child->argp, print_one);
}

static void visit_command(FILE *out, const struct subcommand *command, option_printer print_one)
{
	visit_argp(out, command->name, command->argp, print_one);
	visit_options(out, command->name, common_options, print_one);
}

static bool has_letter(const struct argp_option *option)
{
	return option->key > ' ' && option->key < 128 && isprint(option->key);
}

/* An option whose argument has commas takes several values. */
static bool takes_list(const struct argp_option *option)
{
	return option->arg && strchr(option->arg, ',');
}

/*
 * Finds the words an option takes, separated by blanks: "table csv" for "table|csv", "hw maps" for
 * "hw,maps", "random stride: locality" for "random, stride:SIZE, locality[:random]", or "" if
 * unknown.
 */
static void find_values(const struct argp_option *option, char *words)
{
	const char *text = option->arg ?: "";
	size_t i, length, used = 0;

	for (i = 0; i < ARRAY_SIZE(named_values); i++)
		if (!strcmp(text, named_values[i].argument))
			text = named_values[i].values;
	words[0] = '\0';
	if (!strpbrk(text, "|,") && !islower((unsigned char)*text))
		return;
	while (*text) {
		length = 0;
		while (islower((unsigned char)text[length]) || text[length] == '-' ||
		       (length && text[length] == ':'))
			length++;
		if (length && used + length + 2 < WORDS_SIZE)
			used += sprintf(words + used, "%s%.*s", used ? " " : "", (int)length, text);
		text += strcspn(text, "|,");
		text += strspn(text, "|, ");
	}
}

static bool takes_file(const struct argp_option *option)
{
	return option->arg && (strstr(option->arg, "FILE") || strstr(option->arg, "PATH") ||
			       strstr(option->arg, "DIR") || strstr(option->arg, "FOLDER"));
}

/* Prints the command names, or only the words after "study ". */
static void print_names(FILE *out, const struct commands *all, const char *separator, bool studies)
{
	const struct subcommand *command;
	const char *space;
	size_t i;

	for (i = 0; i < all->nr; i++) {
		command = all->rows[i];
		space = strchr(command->name, ' ');
		if (!strcmp(command->name, "helper") || !space == studies)
			continue;
		fprintf(out, "%s%s", space ? space + 1 : command->name, separator);
	}
}

static void bash_option(FILE *out, const char *command, const struct argp_option *option)
{
	(void)command;
	if (has_letter(option))
		fprintf(out, "-%c ", option->key);
	fprintf(out, "--%s ", option->name);
}

static void bash_values(FILE *out, const char *command, const struct argp_option *option)
{
	char words[WORDS_SIZE];

	find_values(option, words);
	if (!words[0])
		return;
	fprintf(out, "\t'%s --%s'", command, option->name);
	if (has_letter(option))
		fprintf(out, " | '%s -%c'", command, option->key);
	fprintf(out, ") echo '%s%s' ;;\n", takes_list(option) ? ", " : "", words);
}

static void bash_print(FILE *out, const struct commands *all)
{
	static const char begin[] =
		"# bash completion for pfdrive, made by 'pfbench helper completion bash'.\n\n"
		"# _pfdrive_words COMMAND [OPTION]: a command's options, or an option's values.\n"
		"# A comma first: several, separated by commas.\n"
		"_pfdrive_words()\n{\n\tcase $* in\n";
	static const char end[] =
		"\tesac\n}\n\n"
		"_pfdrive()\n{\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
		"\tlocal command=${COMP_WORDS[1]} before= words i\n\n"
		"\tif [[ $cur == = ]]; then\n"
		"\t\tcur=\n"
		"\telif [[ $prev == = ]]; then\n"
		"\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
		"\tfi\n"
		"\tif ((COMP_CWORD == 1)); then\n"
		"\t\tcommand=commands\n"
		"\telif [[ $command == help && $prev == study ]]; then\n"
		"\t\tcommand=study\n"
		"\telif [[ $command == help ]]; then\n"
		"\t\tcommand=commands\n"
		"\telif [[ $command == study ]] && ((COMP_CWORD > 2)); then\n"
		"\t\tcommand=\"study ${COMP_WORDS[2]}\"\n"
		"\telif [[ -z $(_pfdrive_words \"$command\") ]]; then\n"
		"\t\tcommand=run\n"
		"\tfi\n"
		"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		"\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then return; fi\n"
		"\tdone\n"
		"\twords=$(_pfdrive_words \"$command\" \"$prev\")\n"
		"\tif [[ $words == ,* ]]; then\n"
		"\t\twords=${words#, }\n"
		"\t\tif [[ $cur == *,* ]]; then before=${cur%,*},; fi\n"
		"\telif [[ -z $words && ($cur == -* || $command == @(commands|study)) ]]; then\n"
		"\t\twords=$(_pfdrive_words \"$command\")\n"
		"\tfi\n"
		"\tcur=${cur#\"$before\"}\n"
		"\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$words\" -- \"$cur\")\n"
		"}\n\n"
		"complete -o default -F _pfdrive pfdrive\n";
	size_t i;

	fputs(begin, out);
	fputs("\tcommands) echo '", out);
	print_names(out, all, " ", false);
	fputs("study' ;;\n\tstudy) echo '", out);
	print_names(out, all, " ", true);
	fputs("' ;;\n", out);
	for (i = 0; i < all->nr; i++) {
		if (!all->rows[i]->argp)
			continue;
		fprintf(out, "\t'%s') echo '", all->rows[i]->name);
		visit_command(out, all->rows[i], bash_option);
		fputs("' ;;\n", out);
		visit_command(out, all->rows[i], bash_values);
	}
	fputs(end, out);
}

/* Within '…[text]', where zsh reads : ] and \ itself. */
static void zsh_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", out);
		else if (strchr("[]:\\", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void zsh_argument(FILE *out, const struct argp_option *option)
{
	char words[WORDS_SIZE];

	if (!option->arg)
		return;
	find_values(option, words);
	fputs(option->flags & OPTION_ARG_OPTIONAL ? "::" : ":", out);
	zsh_text(out, option->arg);
	fputc(':', out);
	if (words[0] && takes_list(option))
		fprintf(out, "_values -s , item %s", words);
	else if (takes_file(option))
		fputs("_files", out);
	else if (words[0])
		fprintf(out, "(%s)", words);
}

static void zsh_option(FILE *out, const char *command, const struct argp_option *option)
{
	(void)command;
	fputs("\t\t\t", out);
	if (has_letter(option))
		fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", option->key, option->name, option->key,
			option->arg ? "+" : "", option->name, option->arg ? "=" : "");
	else
		fprintf(out, "'--%s%s[", option->name,
			!option->arg			    ? "" :
			option->flags & OPTION_ARG_OPTIONAL ? "=-" :
							      "=");
	zsh_text(out, option->doc ?: "");
	fputc(']', out);
	zsh_argument(out, option);
	fputs("' \\\n", out);
}

static void zsh_describe(FILE *out, const struct commands *all, const char *array, bool studies)
{
	const struct subcommand *command;
	const char *space;
	size_t i;

	fprintf(out, "\tlocal -a %s=(\n", array);
	for (i = 0; i < all->nr; i++) {
		command = all->rows[i];
		space = strchr(command->name, ' ');
		if (!strcmp(command->name, "helper") || !space == studies)
			continue;
		fprintf(out, "\t\t'%s:", space ? space + 1 : command->name);
		zsh_text(out, command->summary);
		fputs("'\n", out);
	}
	if (!studies)
		fputs("\t\t'study:io, rss or pressure'\n", out);
	fputs("\t)\n", out);
}

static void zsh_print(FILE *out, const struct commands *all)
{
	size_t i;

	fputs("#compdef pfdrive\n"
	      "# zsh completion for pfdrive, made by 'pfbench helper completion zsh'.\n\n"
	      "_pfdrive()\n{\n\tlocal subcommand=run\n",
	      out);
	zsh_describe(out, all, "subcommands", false);
	zsh_describe(out, all, "studies", true);
	fputs("\n\tif (( CURRENT == 2 )); then\n"
	      "\t\t_describe command subcommands\n"
	      "\t\t_files\n"
	      "\t\treturn\n"
	      "\telif [[ $words[2] == help ]]; then\n"
	      "\t\tif [[ $words[3] == study ]]; then\n"
	      "\t\t\t_describe study studies\n"
	      "\t\telse\n"
	      "\t\t\t_describe command subcommands\n"
	      "\t\tfi\n"
	      "\t\treturn\n"
	      "\telif [[ $words[2] == study ]]; then\n"
	      "\t\tif (( CURRENT == 3 )); then\n"
	      "\t\t\t_describe study studies\n"
	      "\t\t\treturn\n"
	      "\t\tfi\n"
	      "\t\tsubcommand=\"study $words[3]\"\n"
	      "\t\tshift 2 words\n"
	      "\t\t(( CURRENT -= 2 ))\n"
	      "\telif [[ -n ${subcommands[(r)$words[2]:*]} ]]; then\n"
	      "\t\tsubcommand=$words[2]\n"
	      "\t\tshift words\n"
	      "\t\t(( CURRENT -= 1 ))\n"
	      "\tfi\n\n"
	      "\tcase $subcommand in\n",
	      out);
	for (i = 0; i < all->nr; i++) {
		if (!all->rows[i]->argp)
			continue;
		fprintf(out, "\t'%s')\n\t\t_arguments -s \\\n", all->rows[i]->name);
		visit_command(out, all->rows[i], zsh_option);
		fputs("\t\t\t'*:argument:_files' ;;\n", out);
	}
	fputs("\tesac\n}\n\n_pfdrive \"$@\"\n", out);
}

bool completion_print(FILE *out, const char *shell, const struct subcommand *const *rows, size_t nr)
{
	const struct commands all = { rows, nr };

	if (!strcmp(shell, "bash"))
		bash_print(out, &all);
	else if (!strcmp(shell, "zsh"))
		zsh_print(out, &all);
	else
		return false;
	return true;
}

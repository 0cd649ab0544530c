// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the logical faults of a recording, in the order of their ends, for notebooks and scripts.
 * Names of files and threads come from the analysis at the time of the fault. Names of code are
 * only known at the end of a recording, so a row has the address.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print/csv_text.h"
#include "print/faults/fault_rows.h"
#include "print/trace/trace_json.h"

static const char *const part_names[NR_PARTS] = PART_NAMES;

int fault_rows_begin(struct fault_rows *rows, FILE *out, const struct analysis *analysis, bool json)
{
	const int fd = fileno(out);
	enum part part;

	*rows = (struct fault_rows){
		.out = out, .analysis = analysis, .json = json, .terminal = fd >= 0 && isatty(fd)
	};
	if (json)
		return 0;
	fputs("start_ns,duration_ns,pid,tid,thread,class,major,solved,kernel,write,address,file,"
	      "page,code",
	      out);
	for (part = 0; part < NR_PARTS; part++)
		fprintf(out, ",%s_ns", part_names[part]);
	fputs(",read_bytes\n", out);
	return ferror(out) ? -EIO : 0;
}

/* Returns the name of the fault's file, or NULL without memory. Memory without a file has none. */
static const char *fault_rows_file(struct fault_rows *rows, const struct explained *fault)
{
	char *at;

	/* The mapping that names a file may arrive after its first faults. */
	if (rows->file && rows->file[0] != '(' && rows->inode == fault->inode &&
	    rows->dev == fault->dev)
		return rows->file;
	free(rows->file);
	rows->file = fault->inode ? analysis_file_name(rows->analysis, fault->dev, fault->inode) :
				    strdup("");
	rows->inode = fault->inode;
	rows->dev = fault->dev;
	for (at = rows->file; rows->terminal && at && *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	return rows->file;
}

static bool is_kernel(const struct explained *fault)
{
	return !(fault->flags & PFSTAT_FLAG_USER);
}

static bool is_write(const struct explained *fault)
{
	return fault->flags & PFSTAT_FLAG_WRITE;
}

static void print_csv_row(const struct fault_rows *rows, const struct explained *fault,
			  const char *file)
{
	FILE *out = rows->out;
	enum part part;

	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",", fault->start_ns,
		fault->end_ns - fault->start_ns, fault->pid, fault->tid);
	csv_text(out, analysis_thread_name(rows->analysis, fault->tid));
	fprintf(out, ",%s,%d,%d,%d,%d,%#" PRIx64 ",", fault_class_name(fault->class), fault->major,
		fault->solved, is_kernel(fault), is_write(fault), fault->address);
	csv_text(out, file);
	if (fault->inode)
		fprintf(out, ",%" PRIu64, fault->pgoff);
	else
		fputc(',', out);
	fprintf(out, ",%#" PRIx64, fault->ip);
	for (part = 0; part < NR_PARTS; part++)
		if (fault->parts_known)
			fprintf(out, ",%" PRIu64, fault->parts_ns[part]);
		else
			fputc(',', out);
	if (fault->parts_known)
		fprintf(out, ",%" PRIu64 "\n", fault->read_bytes);
	else
		fputs(",\n", out);
}

static int print_json_row(const struct fault_rows *rows, const struct explained *fault,
			  const char *file)
{
	char *name = trace_json_string(file);
	char *thread = trace_json_string(analysis_thread_name(rows->analysis, fault->tid));
	FILE *out = rows->out;
	enum part part;

	if (name && thread) {
		fprintf(out,
			"{\"start_ns\":%" PRIu64 ",\"duration_ns\":%" PRIu64 ",\"pid\":%" PRIu32
			",\"tid\":%" PRIu32 ",\"thread\":%s,\"class\":\"%s\",\"major\":%s,"
			"\"solved\":%s,\"kernel\":%s,\"write\":%s,\"address\":\"%#" PRIx64
			"\",\"file\":%s",
			fault->start_ns, fault->end_ns - fault->start_ns, fault->pid, fault->tid,
			thread, fault_class_name(fault->class), fault->major ? "true" : "false",
			fault->solved ? "true" : "false", is_kernel(fault) ? "true" : "false",
			is_write(fault) ? "true" : "false", fault->address,
			fault->inode ? name : "null");
		if (fault->inode)
			fprintf(out, ",\"page\":%" PRIu64, fault->pgoff);
		else
			fputs(",\"page\":null", out);
		fprintf(out, ",\"code\":\"%#" PRIx64 "\"", fault->ip);
		for (part = 0; part < NR_PARTS; part++)
			if (fault->parts_known)
				fprintf(out, ",\"%s_ns\":%" PRIu64, part_names[part],
					fault->parts_ns[part]);
			else
				fprintf(out, ",\"%s_ns\":null", part_names[part]);
		if (fault->parts_known)
			fprintf(out, ",\"read_bytes\":%" PRIu64 "}\n", fault->read_bytes);
		else
			fputs(",\"read_bytes\":null}\n", out);
	}
	free(name);
	free(thread);
	return name && thread ? 0 : -ENOMEM;
}

int fault_rows_add(void *context, const struct explained *fault)
{
	struct fault_rows *rows = context;
	const char *file = fault_rows_file(rows, fault);
	int err = file ? 0 : -ENOMEM;

	if (!err && rows->json)
		err = print_json_row(rows, fault, file);
	else if (!err)
		print_csv_row(rows, fault, file);
	return err ? err : ferror(rows->out) ? -EIO : 0;
}

int fault_rows_end(struct fault_rows *rows)
{
	FILE *out = rows->out;

	free(rows->file);
	*rows = (struct fault_rows){ 0 };
	return out && (fflush(out) || ferror(out)) ? -(errno ?: EIO) : 0;
}

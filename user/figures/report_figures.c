// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes figures to a folder and a page, or prints them as text. The page is written from the
 * SVG files of a folder, a temporary one if none was requested.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "figures/ascii_plot.h"
#include "figures/figure_folder.h"
#include "figures/report_figures.h"
#include "privilege/invoker.h"
#include "privilege/output.h"
#include "util/message.h"
#include "util/output_stream.h"
#include "util/signals.h"

#define WIDTH 80 /* if the output is not a terminal */

bool report_figures_as_text(const struct figures_options *options)
{
	return options->plot && !strcmp(options->plot, "-");
}

static int message_of_folder(const struct figure_folder *folder)
{
	return signals_caught ? 128 + signals_caught :
				message(STATUS_FAILED, "%s", folder->why.text);
}

static int message_of_gnuplot(const struct figures_options *options, bool kept)
{
	if (kept)
		return message(
			STATUS_FAILED,
			"gnuplot is not installed: data and scripts are in %s, but nothing was "
			"drawn; run apt-get install gnuplot-nox",
			options->plot);
	return message(
		STATUS_FAILED,
		"cannot write %s: gnuplot, which draws the figures, is not installed; run apt-get "
		"install gnuplot-nox",
		options->html);
}

static int write_page(const char *path, page_printer print_page, void *context, char *const *svgs)
{
	struct output *output;
	int err;

	err = output_open(&output, path);
	if (!err) {
		err = print_page(output_stream(output), context, svgs);
		if (err)
			output_close(output);
		else
			err = output_commit(output);
	}
	return err ? message(STATUS_FAILED, "cannot write %s: %s", path, invoker_strerror(err)) :
		     STATUS_OK;
}

static int figures_read_svgs(struct figure_folder *folder, const struct drawing *drawings,
			     size_t nr, char **svgs)
{
	size_t i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		if (drawing_is_drawn(&drawings[i]))
			err = figure_folder_read(folder, &drawings[i], &svgs[i]);
	return err;
}

static int figures_page_of(struct figure_folder *folder, const struct figures_options *options,
			   const struct drawing *drawings, size_t nr, page_printer print_page,
			   void *context)
{
	char **svgs = calloc(nr, sizeof(*svgs));
	int status;
	size_t i;

	if (!svgs)
		return message(STATUS_FAILED, "out of memory");
	status = figures_read_svgs(folder, drawings, nr, svgs) ?
			 message_of_folder(folder) :
			 write_page(options->html, print_page, context, svgs);
	for (i = 0; i < nr; i++)
		free(svgs[i]);
	free(svgs);
	return status;
}

int report_figures_write(const struct figures_options *options, const struct drawing *drawings,
			 size_t nr, page_printer print_page, void *context)
{
	const char *keep = report_figures_as_text(options) ? NULL : options->plot;
	struct figure_folder folder;
	int status = STATUS_OK;

	if (!keep && !options->html)
		return STATUS_OK;
	if (figure_folder_open(&folder, keep) || figure_folder_draw(&folder, drawings, nr))
		status = message_of_folder(&folder);
	else if (options->html && !folder.no_gnuplot)
		status = figures_page_of(&folder, options, drawings, nr, print_page, context);
	if (!status && keep && figure_folder_keep(&folder, drawings, nr))
		status = message_of_folder(&folder);
	if (!status && folder.no_gnuplot)
		status = message_of_gnuplot(options, keep);
	figure_folder_close(&folder);
	return status;
}

int report_figures_print_text(FILE *out, const struct drawing *drawings, size_t nr)
{
	const unsigned int width = terminal_columns(out) ?: WIDTH;
	const bool unicode = terminal_has_unicode();
	size_t i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		if (!strcmp(drawings[i].name, "order") || !strcmp(drawings[i].name, "cost"))
			err = ascii_plot_print(out, &drawings[i], width, unicode);
	errno = 0;
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	return err;
}

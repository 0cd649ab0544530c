// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>

#include "figures/palette.h"
#include "print/html/html_text.h"

static const char light[] = "--paper:#fff;--text:#1b1b1b;--quiet:#595959;--line:#cfcfcf;"
			    "--box:#f6f6f4;--link:#00568a;--alarm:#fdece4;";
static const char dark[] = "--paper:#141414;--text:#ececec;--quiet:#a8a8a8;--line:#3c3c3c;"
			   "--box:#1e1e1e;--link:#7cc4f5;--alarm:#3d2215;";

static const char rules[] =
	"*{box-sizing:border-box}\n"
	"html{-webkit-text-size-adjust:100%}\n"
	"body{margin:0;background:var(--paper);color:var(--text);"
	"font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
	"header,main,footer{max-width:62rem;margin:0 auto;padding:0 1rem}\n"
	"h1{font-size:1.6rem;line-height:1.25;margin:1.5rem 0 .3rem}\n"
	"h2{font-size:1.3rem;margin:2.5rem 0 .5rem;border-bottom:1px solid var(--line)}\n"
	"h3{font-size:1.05rem;margin:0 0 .4rem}\n"
	"a{color:var(--link)}\n"
	"a:focus-visible,summary:focus-visible,[tabindex]:focus-visible"
	"{outline:3px solid var(--link);outline-offset:2px}\n"
	".skip{position:absolute;left:-99rem}\n"
	".skip:focus{left:1rem;top:.5rem;background:var(--paper);padding:.4rem .8rem;z-index:1}\n"
	".quiet,.note,figcaption .amount{color:var(--quiet)}\n"
	".note{margin:.3rem 0;font-size:.9rem}\n"
	".warnings{background:var(--alarm);border-left:.4rem solid var(--vermillion);"
	"padding:.6rem 1rem;margin:1rem 0}\n"
	".warnings p{margin:.2rem 0;color:var(--text)}\n"
	".facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.6rem;"
	"margin:1rem 0;padding:0}\n"
	".facts div{background:var(--box);border:1px solid var(--line);padding:.5rem .8rem}\n"
	".facts dt{color:var(--quiet);font-size:.85rem}\n"
	".facts dd{margin:0;font-size:1.25rem;font-variant-numeric:tabular-nums}\n"
	"nav ul{columns:16rem;padding-left:1.2rem;margin:.5rem 0}\n"
	"figure{margin:2rem 0;padding:0;break-inside:avoid}\n"
	"figcaption p{margin:.3rem 0}\n"
	".plot,.scroll{overflow-x:auto;max-width:100%}\n"
	"svg.figure{display:block;width:100%;min-width:32rem;height:auto;color:var(--ink)}\n"
	"svg text{font-family:system-ui,sans-serif}\n"
	"table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;"
	"margin:.8rem 0}\n"
	"caption{text-align:left;font-weight:600;padding:.2rem 0}\n"
	"th,td{padding:.15rem .6rem;border-bottom:1px solid var(--line);text-align:left;"
	"vertical-align:top;white-space:nowrap}\n"
	"#run td,#run th,.wrap td{white-space:normal;min-width:8rem}\n"
	"th{font-weight:600}\n"
	"th.part{font-weight:400;padding-left:1.6rem}\n"
	".n{text-align:right}\n"
	"pre{background:var(--box);border:1px solid var(--line);padding:.6rem;overflow:auto;"
	"max-height:24rem;font-size:.85rem}\n"
	"details{margin:.4rem 0}\n"
	"summary{cursor:pointer;color:var(--link)}\n"
	"@media print{body{font-size:9.5pt}.skip,nav,details{display:none}"
	".plot,.scroll{overflow:visible}svg.figure{min-width:0}"
	"th,td{padding:.1rem .3rem}a{color:inherit;text-decoration:none}}\n";

static void print_palette(FILE *out, bool is_dark)
{
	size_t i;

	for (i = 0; i < palette_nr; i++)
		fprintf(out, "%s:#%06x;", palette[i].variable,
			is_dark ? palette[i].dark : palette[i].light);
}

void html_style(FILE *out)
{
	fprintf(out, "<style>\n:root{color-scheme:light dark;%s", light);
	print_palette(out, false);
	fprintf(out, "}\n@media screen and (prefers-color-scheme:dark){:root{%s", dark);
	print_palette(out, true);
	fprintf(out, "}}\n%s</style>\n", rules);
}

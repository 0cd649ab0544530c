# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154  # variables cross the files of the lab
# Finds Debian mirrors from the host's own apt configuration. pfstat contains no host name.
# PFSTAT_MIRROR=URI overrides this, for other distributions.

# Every binary source of the host, "suite<TAB>uri<TAB>keyring", from both formats. (apt-get
# indextargets would print this, but only after an apt-get update.)
apt_sources()
{
	local etc=${APT_ETC:-/etc/apt}

	# Either place may be missing, which is not an error.
	{ find "$etc/sources.list" "$etc/sources.list.d" -name '*.list' -exec cat {} + 2>/dev/null || true; } |
		awk '$1 == "deb" {
			key = ""
			if (match($0, /\[[^]]*\]/)) {
				options = substr($0, RSTART + 1, RLENGTH - 2)
				$0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
				if (match(options, /signed-by=[^ ]*/))
					key = substr(options, RSTART + 10, RLENGTH - 10)
			}
			print $3 "\t" $2 "\t" key
		}'
	{ find "$etc/sources.list.d" -name '*.sources' \
		-exec sh -c 'for f; do cat "$f"; echo; done' sh {} + 2>/dev/null || true; } |
		awk 'function flush(  i, j, n, m, s, u) {
			n = split(field["suites"], s, " "); m = split(field["uris"], u, " ")
			if (field["types"] ~ /(^| )deb( |$)/ && field["enabled"] !~ /^no/)
				for (i = 1; i <= n; i++)
					for (j = 1; j <= m; j++)
						print s[i] "\t" u[j] "\t" field["signed-by"]
			delete field
		}
		/^#/ { next }
		/^[ \t]*$/ { flush(); next }
		/^[^ \t]/ { name = tolower($0); sub(/:.*/, "", name); sub(/^[^:]*:[ \t]*/, "") }
		{ field[name] = field[name] (field[name] == "" ? "" : " ") $0 }
		END { flush() }'
}

# sources_for SUITE: sources.list lines, with the host's mirrors for its own release. A Signed-By
# with a key instead of a file is left to mmdebstrap. If the kernel's image is NAME/OTHER, as apt
# writes it, the suite OTHER is added. If the image is a source package, so are its sources.
sources_for()
{
	if from_source_package; then
		binary_sources_for "$1" | sed -e p -e 's/^deb /deb-src /'
	else
		binary_sources_for "$1"
	fi
}

binary_sources_for()
{
	local suite=$1 other='' id own
	[[ $image != */* ]] || from_ubuntu || other=${image#*/}
	id=$(. /etc/os-release && echo "${ID:-}")
	own=$(. /etc/os-release && echo "${VERSION_CODENAME:-sid}")

	if [ -n "${PFSTAT_MIRROR:-}" ]; then
		printf "deb $PFSTAT_MIRROR %s main\n" "$suite" ${other:+"$other"}
		return
	fi
	[ "$id" = debian ] ||
		die "cannot tell a Debian mirror: this machine is not Debian; set PFSTAT_MIRROR=URI"
	source_line "$suite" "$own" stable testing unstable | grep . ||
		die "cannot find a source for $own in ${APT_ETC:-/etc/apt}: set PFSTAT_MIRROR=URI"
	[ -z "$other" ] || source_line "$other" "$own" stable testing unstable
	[ "$suite" = sid ] ||
		source_line "$suite-security" "$own-security" stable-security testing-security
}

# source_line SUITE NAME…: SUITE at the first mirror that serves a suite NAME.
source_line()
{
	apt_sources | awk -F'\t' -v suite="$1" -v names="${*:2}" '
		!found && index(" " names " ", " " $1 " ") {
			found = 1
			print "deb " ($3 ~ /^\// ? "[signed-by=" $3 "] " : "") $2 " " suite " main"
		}'
}

# The host's apt settings about a mirror: proxies, certificates, and whether old indexes are
# accepted (frozen mirrors).
apt_settings()
{
	apt-config dump | grep -E '^Acquire::(https?|ftp|Proxy|Check-|Retries|Force)[^ ]* "..*";' || true
}

# apt_of HOME COMMAND…: runs apt with the indexes in HOME: the host's are neither read nor changed.
apt_of()
{
	local home=$1
	shift
	APT_CONFIG=$home/apt.conf "$@" -o Dir::State="$home" -o Dir::Cache="$home/cache" \
		-o Dir::Etc::SourceList="$home/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::status=/dev/null -o APT::Architecture=amd64 \
		-o APT::Architectures::=amd64 -o APT::Sandbox::User=root
}

# apt_open HOME: reads the source indexes on standard input.
apt_open()
{
	local home=$1
	mkdir -p "$home/lists/partial" "$home/cache/archives/partial"
	apt_settings >"$home/apt.conf"
	cat >"$home/sources.list"
	apt_of "$home" apt-get update -qq >"$home/log" 2>&1 ||
		die "cannot read the indexes of $(awk '{ print $(NF - 1) }' "$home/sources.list" | paste -sd' ')," \
			"$(grep -m1 '^E:' "$home/log")"
}

# apt_download HOME PACKAGE…: into HOME. apt checks them by the indexes.
apt_download()
{
	local home=$1
	shift
	(cd "$home" && apt_of . apt-get download -qq "$@" >log 2>&1) ||
		die "cannot download $*: $(tail -n 1 "$home/log")"
}

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154  # variables cross the files of the lab
# Boots the guest in QEMU and carries COMMAND, the output and the status across.
#
# Disks: vda the root, vdb the tree, vdc what this run brings and takes (a tar
# each way), vdd packages of Python (python.sh). Ports: 1 stdout, 2 stderr, 3
# control, on which the guest writes "ready" and later "status N whole|lost".

BOOT_SECONDS=300	# a boot takes 3 to 20 s
DEBUG_BOOT_SECONDS=900	# of a debug kernel 2 to 3 minutes, on a busy machine twice that
PROBE_SECONDS=10
TRANSFER_SIZE=16G	# sparse: only the files brought back take space

# An emulated guest's CPU. Without la57, page tables have the usual four levels. Without cx16,
# because QEMU 7.2 sometimes loses the flags around cmpxchg16b when it emulates several CPUs, and
# the guest's allocator crashes: in 5 of 48 boots with it, in 0 of 72 without it.
TCG_CPU=max,la57=off,cx16=off

# For arm64: the Graviton 2 core, which has the Armv8.1 atomic instructions. Later cores also sign
# pointers, which QEMU computes in software.
TCG_CPU_ARM64=neoverse-n1

# tsc=reliable: otherwise an emulated guest uses the hpet, a slow device, as the clock. nokaslr: the
# same addresses in every run. mitigations=off: otherwise the kernel would choose them for QEMU's
# emulated CPU. panic=-1: with -no-reboot a panic ends the VM at once. no_timer_check: a VM waiting
# for the host's CPU may see no tick while the kernel checks for some, and would panic. loglevel=5:
# warnings and worse reach the console.
KERNEL_ARGUMENTS='console=ttyS0 quiet loglevel=5 panic=-1 tsc=reliable nokaslr mitigations=off random.trust_cpu=on no_timer_check'
KERNEL_ARGUMENTS_ARM64="console=$ARM64_CONSOLE quiet loglevel=5 panic=-1 nokaslr mitigations=off random.trust_cpu=on"

# Kernel console lines reporting a problem.
TROUBLE='BUG:|WARNING:|Oops:|general protection fault|Kernel panic|rcu.*stall|INFO: (task|trying)'

# choose_qemu: sets the architecture's values: QEMU, the boards for both accelerators, the emulated
# CPU, the CPU's options in both modes, and the kernel's arguments.
choose_qemu()
{
	case $arch in
	amd64)
		QEMU=qemu-system-x86_64 tcg_board=() kvm_board=()
		tcg_cpu=$TCG_CPU deterministic_cpu='' real_time_cpu=monitor=off,erms=off,fsrm=off
		kernel_arguments=$KERNEL_ARGUMENTS ;;
	arm64)
		QEMU=qemu-system-aarch64 tcg_board=(-machine virt)
		kvm_board=(-machine "virt,gic-version=host")
		tcg_cpu=$TCG_CPU_ARM64 deterministic_cpu=cntfrq=1000000000 real_time_cpu=''
		kernel_arguments=$KERNEL_ARGUMENTS_ARM64 ;;
	esac
}

# choose_accelerator: sets accel to kvm or tcg. /dev/kvm may exist although no guest boots, so one
# is booted as a test. The result is kept for this host kernel and QEMU.
choose_accelerator()
{
	local verdict
	accel=tcg
	[ "$deterministic" = no ] && [ "$arch" = "$(default_arch)" ] || return 0
	[ -w /dev/kvm ] || return 0
	verdict=$LAB_CACHE/accelerator-$({ uname -rv; $QEMU --version; } | sha256sum | cut -c1-12)
	if [ ! -e "$verdict" ]; then
		say "trying whether KVM boots a guest, at most $PROBE_SECONDS s, once"
		if kvm_boots; then echo kvm; else echo tcg; fi >"$verdict.$$"
		mv "$verdict.$$" "$verdict"
	fi
	accel=$(<"$verdict")
}

kvm_boots()
{
	timeout -k 1 "$PROBE_SECONDS" "$QEMU" "${kvm_board[@]}" -nodefaults -no-user-config \
		-display none -no-reboot \
		-accel kvm -cpu host -m 256M -kernel "$root_home/vmlinux" -initrd "$root_home/initrd" \
		-append "$kernel_arguments lab.probe" -serial stdio </dev/null 2>/dev/null |
		grep -q lab-probe-alive
}

# qemu_machine: sets machine (options for the CPU and the clock) and the kernel's arguments.
qemu_machine()
{
	choose_accelerator
	arguments=$kernel_arguments${pmem:+ memmap=$pmem!512M}${lockdown:+ lockdown=$lockdown}
	if [ "$deterministic" = yes ]; then
		# One instruction takes one nanosecond, and idle time is skipped. The seed
		# determines the guest's rdrand values. The clock starts at a fixed time. The arm64
		# counter is made as fast: otherwise it ticks each 16 ns.
		machine=("${tcg_board[@]}" -accel "tcg,thread=single" -icount "shift=0,sleep=off"
			-smp 1 -cpu "$tcg_cpu${deterministic_cpu:+,$deterministic_cpu}"
			-seed 1 -rtc "base=utc,clock=vm")
		# While this guest waits for the host's disk, the guest's clock jumps from timer to
		# timer, minutes in an instant: a waiting task does not hang.
		arguments+=" sysctl.kernel.hung_task_timeout_secs=0"
		say "Linux $release, deterministic: time is instructions executed, 1 ns each"
	elif [ "$accel" = kvm ]; then
		machine=("${kvm_board[@]}" -accel kvm -cpu host -smp "$cpus")
		say "Linux $release, KVM, $cpus CPUs"
	else
		# One thread runs all CPUs in turn: with a thread for each, QEMU 7.2 sometimes
		# continues to execute an int3 already removed by the kernel when tracepoints are
		# switched, and the CPU never gets past it. monitor=off: otherwise an idle CPU in
		# mwait uses its turn to do nothing. Without erms and fsrm the kernel copies and
		# clears by words instead of bytes, which cost QEMU the same each: tests take a
		# quarter less time. (The deterministic machine keeps them, as they are part of that
		# machine's figures.)
		machine=("${tcg_board[@]}" -accel "tcg,thread=single"
			-cpu "$tcg_cpu${real_time_cpu:+,$real_time_cpu}"
			-smp "$cpus")
		# On a busy host a guest CPU may wait for longer than the 20 s after which the
		# kernel reports it stuck.
		arguments+=" watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120"
		say "Linux $release, emulated (TCG), $cpus CPUs"
	fi
}

# add_nodes: divides the CPUs and the memory among NUMA nodes. The kernel balances only if a test
# asks for it.
add_nodes()
{
	local share=$((cpus / nodes)) size=${mem%?} node
	[[ $mem != *G ]] || size=$((size * 1024))
	[ "$share" -gt 0 ] || die "$nodes nodes need as many CPUs: --cpus $nodes"
	for ((node = 0; node < nodes; node++)); do
		machine+=(-object "memory-backend-ram,id=node$node,size=$((size / nodes))M"
			-numa "node,nodeid=$node,memdev=node$node,cpus=$((node * share))-$(((node + 1) * share - 1))")
	done
	machine+=(-smp "$cpus,sockets=$nodes")
	mem=$((size / nodes * nodes))M
	arguments+=" numa_balancing=disable"
}

# pack_run MODE COMMAND…: writes the guest's script, settings and COMMAND to the transfer disk. A
# one-word COMMAND which does not look like a program name is a line for the shell, as with ssh:
# tools/lab run -- 'uname -a; free'.
pack_run()
{
	local mode=$1 rows=24 columns=80
	shift
	if [ $# = 1 ] && [[ $1 =~ [[:space:]\;\&\|\<\>] ]]; then
		set -- sh -c "$1"
	fi
	mkdir "$work/run"
	cp "$LAB_DIR/guest" "$work/run/guest"
	printf '%s\0' "$@" >"$work/run/command"
	[ ! -t 0 ] || read -r rows columns < <(stty size)
	[ "$rows" != 0 ] || rows=24 columns=80
	printf '%s=%q\n' LAB_MODE "$mode" LAB_KERNEL "$kernel" LAB_DETERMINISTIC "$deterministic" \
		DISK_LATENCY "$disk_latency" SWAP "$swap" LAB_TERM "${TERM:-dumb}" \
		LAB_ROWS "$rows" LAB_COLUMNS "$columns" >"$work/run/settings"
	mkdir "$work/run/in"
	[ -z "$in" ] || cp -rT --no-preserve=ownership "$in" "$work/run/in" || die "cannot copy $in"
	tar -C "$work/run" --owner=0 --group=0 -cf "$work/transfer" guest settings command in
	# The guest reads 4 MiB of it.
	[ "$(stat -c %s "$work/transfer")" -le $((3 << 20)) ] || die "$in is larger than 2 MiB"
	truncate -s $TRANSFER_SIZE "$work/transfer"
}

# qemu_options: sets options, all except those for the consoles and ports.
qemu_options()
{
	local disk=if=virtio,format=raw,cache=unsafe
	qemu_machine
	[ "$nodes" = 1 ] || add_nodes
	options=(-nodefaults -no-user-config -display none -no-reboot -m "$mem" "${machine[@]}"
		-kernel "$root_home/vmlinux" -initrd "$root_home/initrd"
		-append "$arguments"
		-drive "file=$root_home/root.img,snapshot=on,$disk"
		-drive "file=$work/tree.img,snapshot=on,$disk"
		-drive "file=$work/transfer,$disk"
		${python_image:+-drive "file=$python_image,snapshot=on,$disk"}
		-chardev "file,id=console,path=$work/console.log" -serial chardev:console
		-device virtio-serial)
}

# relay FIFO: forwards the guest's output. If the reader is gone (a closed pipe), it discards the
# output, so the guest does not block.
relay()
{
	{ cat; cat >/dev/null; } <"$1" 2>/dev/null
}

# Every VM gets a directory, which is removed with it. QEMU's disk copies are there too, instead of
# in a possibly small /tmp.
make_work()
{
	drop_dead_vms
	work=$(mktemp -d "$LAB_CACHE/vm.$$.XXXXXX")
	on_exit rm -rf "$work"
	: >"$work/console.log"
}

# Directories left by labs killed with SIGKILL. (QEMU dies with the lab: setpriv, below.)
drop_dead_vms()
{
	local dir pid
	for dir in "$LAB_CACHE"/vm.*; do
		pid=${dir##*/vm.}
		[ -e "/proc/${pid%.*}" ] || rm -rf "$dir"
	done
}

# run_vm COMMAND…: returns COMMAND's status.
run_vm()
{
	make_work
	build_tree "$work/tree.img"
	pack_run command "$@"
	qemu_options
	mkfifo "$work/stdout" "$work/stderr"
	relay "$work/stdout" &
	relays=($!)
	relay "$work/stderr" >&2 &
	relays+=($!)
	# QEMU's own standard output is the control port, which is closed when QEMU exits.
	exec {control}< <(TMPDIR=$work exec setpriv --pdeathsig TERM "$QEMU" "${options[@]}" \
		-chardev "file,id=stdout,path=$work/stdout" -device virtserialport,nr=1,chardev=stdout \
		-chardev "file,id=stderr,path=$work/stderr" -device virtserialport,nr=2,chardev=stderr \
		-chardev file,id=control,path=/dev/stdout -device virtserialport,nr=3,chardev=control \
		</dev/null 2>"$work/qemu.log")
	vm_pid=$!
	on_exit kill_vm
	follow_vm
}

kill_vm()
{
	kill "$vm_pid" "${relays[@]}" 2>/dev/null
	wait "$vm_pid" 2>/dev/null
}

# follow_vm: reads the control port until the guest is off.
follow_vm()
{
	local line word status=none whole limit=$BOOT_SECONDS
	[ "$kernel" != debug ] || limit=$DEBUG_BOOT_SECONDS
	if ! expect "$limit" line || [ "$line" != ready ]; then
		fail_vm "$FAILED" "the guest did not boot within $limit s"
	fi
	expect "$timeout" line || fail_vm $? "the guest stopped before COMMAND ended"
	read -r word status whole <<<"$line"
	[ "$word" = status ] || fail_vm "$FAILED" "the guest stopped before COMMAND ended"
	expect 60 line || true
	wait "${relays[@]}" || true
	bring_back "$whole"
	warn_of_kernel_log
	exit "$status"
}

# expect SECONDS NAME: reads a line from the guest. 124 at a timeout, otherwise 125.
expect()
{
	local code=0
	IFS= read -r -t "$1" -u "$control" "$2" || code=$?
	[ $code -gt 128 ] && return "$TIMED_OUT"
	[ $code = 0 ] || return "$FAILED"
}

fail_vm()
{
	local code=$1 reason=$2
	[ "$code" != "$TIMED_OUT" ] || reason="COMMAND did not end within $timeout s"
	printf 'lab: %s\n' "$reason" >&2
	head -n5 "$work/qemu.log" >&2
	kill_vm
	keep_console
	printf 'lab: from the kernel console (all of it: %s):\n' "$console_log" >&2
	telling_lines "$work/console.log" >&2
	exit "$code"
}

# Prints the log from the start of the problem, if the kernel reports one, otherwise the log's end.
telling_lines()
{
	if grep -qE "$TROUBLE" "$1"; then
		grep -m1 -A30 -E "$TROUBLE" "$1"
	else
		tail -n 20 "$1"
	fi
}

keep_console()
{
	console_log=${out:-$TREE/build/lab}/console.log
	mkdir -p "${console_log%/*}" && cp "$work/console.log" "$console_log"
}

bring_back()
{
	keep_console
	[ -n "$out" ] || return 0
	[ "$1" = whole ] || die "cannot bring back \$OUT: it is larger than $TRANSFER_SIZE"
	tar -C "$out" --no-same-owner --warning=no-timestamp -xf "$work/transfer" ||
		die "cannot write to $out what COMMAND left"
}

warn_of_kernel_log()
{
	local line
	line=$(grep -m1 -E "$TROUBLE" "$work/console.log") || return 0
	say "the guest's kernel complained: ${line#*] } (see $console_log)"
}

# The shell has a terminal of its own: a virtio console, not the serial line, which has the kernel's
# log.
shell_vm()
{
	local status=0
	[[ -t 0 && -t 1 ]] || usage_error "shell needs a terminal; use run -- COMMAND"
	make_work
	build_tree "$work/tree.img"
	pack_run shell
	qemu_options
	say "exit ends the VM; a lost one is ended by Ctrl-A X"
	TMPDIR=$work $QEMU "${options[@]}" -chardev stdio,id=tty,mux=on,signal=off \
		-device virtconsole,nr=1,chardev=tty -chardev "file,id=control,path=$work/control" \
		-device virtserialport,nr=3,chardev=control 2>"$work/qemu.log" || status=$?
	keep_console
	[ $status = 0 ] || die "QEMU ended with status $status: $(head -n1 "$work/qemu.log")"
	read -r _ status whole < <(grep '^status' "$work/control") ||
		die "the guest stopped before the shell ended; see $console_log"
	bring_back "$whole"
	exit "$status"
}

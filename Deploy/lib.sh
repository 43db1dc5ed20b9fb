# Functions shared by quickstart and test. To be sourced by bash.
# shellcheck shell=bash

# The project's folder, in which everything runs.
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Prints a message to standard error; standard output is for results.
say() {
    printf '%s\n' "$*" >&2
}

# Ends the script with a message that says what to do.
fail() {
    say "error: $*"
    exit 1
}

# Prints the missing Debian packages of those that a build needs, one per line.
missing_build_packages() {
    command -v pkg-config >/dev/null || echo pkg-config
    local pair
    for pair in libnghttp2:libnghttp2-dev libpq:libpq-dev libcurl:libcurl4-openssl-dev libcrypto:libssl-dev; do
        pkg-config --exists "${pair%%:*}" 2>/dev/null || echo "${pair#*:}"
    done
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || echo postgresql
}

# Prints the missing Debian packages of those that only the tests need.
missing_test_packages() {
    command -v nghttpd >/dev/null || echo nghttp2-server
    command -v h2load >/dev/null || echo nghttp2-client
    command -v openssl >/dev/null || echo openssl
    command -v curl >/dev/null || echo curl
    /usr/bin/python3 -c 'import h2' 2>/dev/null || echo python3-h2
    /usr/bin/python3 -c 'import jsonschema' 2>/dev/null || echo python3-jsonschema
    # Debian has a separate package for virtual environments.
    /usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
    [ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null || echo pgbouncer
    command -v javac >/dev/null || echo openjdk-17-jdk-headless
    # The SDK in Objective-C, with GNUstep's Foundation; clang comes with Swift.
    [ -x "$(gcc -print-prog-name=cc1obj 2>/dev/null)" ] || echo gobjc
    { command -v gnustep-config && [ -e /usr/include/GNUstep/Foundation/Foundation.h ]; } >/dev/null || echo libgnustep-base-dev
    # The console in a browser.
    command -v chromium >/dev/null || echo chromium
    command -v chromedriver >/dev/null || echo chromium-driver
    /usr/bin/python3 -c 'import selenium' 2>/dev/null || echo python3-selenium
    # Alerts and dashboard, with its promtool.
    command -v promtool >/dev/null || echo prometheus
    # The units and the package, which need Debian.
    command -v systemd-analyze >/dev/null || echo systemd
    command -v debootstrap >/dev/null || echo debootstrap
    command -v dpkg-shlibdeps >/dev/null || echo dpkg-dev
    # For the PostgreSQL that the tests use: the newest.
    local newest
    newest=$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | cut -d/ -f5 | grep -x '[0-9]*' | sort -n | tail -n 1)
    [ -z "$newest" ] || [ -e "/usr/share/postgresql/$newest/extension/plpgsql_check.control" ] ||
        echo "postgresql-$newest-plpgsql-check"
}

# Runs a command as root: directly as root, with sudo otherwise.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Installs Debian packages, if any are given.
install_packages() {
    [ $# -gt 0 ] || return 0
    command -v apt-get >/dev/null ||
        fail "missing: $*. This machine has no apt: install the contents of these Debian packages in its own way."
    if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null && ! { [ -t 0 ] && command -v sudo >/dev/null; }; then
        fail "missing: $*. Run as root: apt-get install $*"
    fi
    say "installing $*"
    # PostgreSQL's package creates and starts its own cluster, which is not needed: this temporary setting prevents it.
    local no_cluster=/etc/postgresql-common/createcluster.d/pushmta.conf
    as_root mkdir -p "${no_cluster%/*}"
    echo 'create_main_cluster = false' | as_root tee "$no_cluster" >/dev/null
    local status=0
    # Another installation, such as unattended-upgrades after a boot, holds the lock for a few minutes at most.
    local wait_for_lock=(-o DPkg::Lock::Timeout=300)
    as_root apt-get "${wait_for_lock[@]}" update -qq >&2 || say "apt-get update failed: continuing with the existing lists"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get "${wait_for_lock[@]}" install -y -qq --no-install-recommends "$@" >&2 || status=$?
    as_root rm -f "$no_cluster"
    # A permanently running Prometheus is not needed either.
    if [[ " $* " == *" prometheus "* ]] && command -v systemctl >/dev/null; then
        as_root systemctl disable --now prometheus.service >/dev/null 2>&1 || true
    fi
    [ "$status" = 0 ] || fail "apt-get could not install $*: see its message above"
}

# Installs the clients of Deploy/clients.txt from PyPI into their own folder, unless they are installed.
install_clients() {
    local folder=$1 list=$project/Deploy/clients.txt attempt
    cmp -s "$list" "$folder/installed.txt" && return 0
    say "installing the clients of Deploy/clients.txt"
    rm -rf "$folder"
    /usr/bin/python3 -m venv "$folder" >&2 || fail "no virtual environment could be made in $folder: see the message above"
    for attempt in 1 2 3; do
        if "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --prefer-binary -r "$list" >&2; then
            cp "$list" "$folder/installed.txt"
            return 0
        fi
        say "attempt $attempt to install the clients failed"
        sleep $((attempt * 5))
    done
    fail "the clients of Deploy/clients.txt could not be installed from PyPI: see pip's message above"
}

# Checks that a Swift toolchain can build the project.
check_swift() {
    command -v swift >/dev/null || fail "no Swift toolchain: install Swift 6.3 or later from https://swift.org/install"
    local version
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | head -n 1)
    local major=${version% *} minor=${version#* }
    if [ -z "$version" ] || [ "$major" -lt 6 ] || { [ "$major" = 6 ] && [ "$minor" -lt 3 ]; }; then
        fail "Swift ${version/ /.} is too old: install Swift 6.3 or later from https://swift.org/install"
    fi
}

# Prepares everything that a build needs.
prepare_machine() {
    check_swift
    local missing
    mapfile -t missing < <(missing_build_packages)
    install_packages "${missing[@]}"
}

# Shows the step of a build and the time left, from its log, until the process ends: watch_build PROCESS LOG. On a terminal, one line is
# updated; elsewhere a line is written every half minute. Steps differ in length, so the time left is an estimate.
watch_build() {
    local process="$1" log="$2" started=$SECONDS shown=0 step total line left
    while kill -0 "$process" 2>/dev/null; do
        sleep 1
        read -r step total < <(tr '\r' '\n' <"$log" | sed -n 's/^\[\([0-9]*\)\/\([0-9]*\)\].*/\1 \2/p' | tail -n 1) || continue
        line="building: step $step of $total, $(((SECONDS - started) / 60)) min $(((SECONDS - started) % 60)) s"
        if [ "$step" -gt 0 ] && [ $((SECONDS - started)) -ge 20 ]; then
            left=$(((SECONDS - started) * (total - step) / step))
            line+=", about $(((left + 59) / 60)) min left"
        fi
        if [ -t 2 ]; then
            printf '\r\033[K%s' "$line" >&2
        elif [ $((SECONDS - shown)) -ge 30 ]; then
            shown=$SECONDS
            say "$line"
        fi
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
}

# Builds the programs for use, in .build, with a line of progress; a failure shows the end of the log.
build_release() {
    [ -x "$project/.build/release/pushmta-lab" ] || say "building (the first build takes some minutes)"
    local log="$project/.pushmta/log/build.log" build
    mkdir -p "${log%/*}"
    swift build --package-path "$project" -c release >"$log" 2>&1 &
    build=$!
    # Ctrl-C also ends the build.
    trap 'kill "$build" 2>/dev/null' EXIT
    watch_build "$build" "$log"
    wait "$build" || {
        tail -n 40 "$log" >&2
        fail "the build failed: see $log for all its messages"
    }
    trap - EXIT
}

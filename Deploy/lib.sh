# Functions that quickstart and test share. To be sourced by bash.
# shellcheck shell=bash

# The folder of the project; everything is done from there.
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Tells the person something, on standard error: standard output belongs to results.
say() {
    printf '%s\n' "$*" >&2
}

# Ends the script with a message that says what to do.
fail() {
    say "error: $*"
    exit 1
}

# Prints the Debian packages that are missing, of those that a build needs: one line each.
missing_build_packages() {
    command -v pkg-config >/dev/null || echo pkg-config
    local pair
    for pair in libnghttp2:libnghttp2-dev libpq:libpq-dev libcurl:libcurl4-openssl-dev libcrypto:libssl-dev; do
        pkg-config --exists "${pair%%:*}" 2>/dev/null || echo "${pair#*:}"
    done
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || echo postgresql
}

# Prints the Debian packages that are missing, of those that the tests need besides.
missing_test_packages() {
    command -v nghttpd >/dev/null || echo nghttp2-server
    command -v h2load >/dev/null || echo nghttp2-client
    command -v openssl >/dev/null || echo openssl
    command -v curl >/dev/null || echo curl
    /usr/bin/python3 -c 'import h2' 2>/dev/null || echo python3-h2
    /usr/bin/python3 -c 'import jsonschema' 2>/dev/null || echo python3-jsonschema
    # Debian keeps what a virtual environment needs in a package of its own.
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
    # For the PostgreSQL that the tests take: the newest.
    local newest
    newest=$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | cut -d/ -f5 | grep -x '[0-9]*' | sort -n | tail -n 1)
    [ -z "$newest" ] || [ -e "/usr/share/postgresql/$newest/extension/plpgsql_check.control" ] ||
        echo "postgresql-$newest-plpgsql-check"
}

# Runs a command as root: as it is for root, with sudo for others.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Installs Debian packages, if there are any to install.
install_packages() {
    [ $# -gt 0 ] || return 0
    command -v apt-get >/dev/null ||
        fail "missing: $*. This machine has no apt: install what these Debian packages hold by its own means."
    if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null && ! { [ -t 0 ] && command -v sudo >/dev/null; }; then
        fail "missing: $*. Run as root: apt-get install $*"
    fi
    say "installing $*"
    # PostgreSQL's package makes and starts a cluster of its own, which nobody asked for: this setting, which goes away
    # again, stops it.
    local no_cluster=/etc/postgresql-common/createcluster.d/pushmta.conf
    as_root mkdir -p "${no_cluster%/*}"
    echo 'create_main_cluster = false' | as_root tee "$no_cluster" >/dev/null
    local status=0
    # Another installation, such as unattended-upgrades after a boot, holds the lock for minutes at most.
    local wait_for_lock=(-o DPkg::Lock::Timeout=300)
    as_root apt-get "${wait_for_lock[@]}" update -qq >&2 || say "apt-get update failed: going on with the lists that are there"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get "${wait_for_lock[@]}" install -y -qq --no-install-recommends "$@" >&2 || status=$?
    as_root rm -f "$no_cluster"
    # Nor has anybody asked for a Prometheus that runs for good.
    if [[ " $* " == *" prometheus "* ]] && command -v systemctl >/dev/null; then
        as_root systemctl disable --now prometheus.service >/dev/null 2>&1 || true
    fi
    [ "$status" = 0 ] || fail "apt-get could not install $*: its own message stands above"
}

# Installs the clients of Deploy/clients.txt from PyPI into a folder of their own, unless they are there.
install_clients() {
    local folder=$1 list=$project/Deploy/clients.txt attempt
    cmp -s "$list" "$folder/installed.txt" && return 0
    say "installing the clients of Deploy/clients.txt"
    rm -rf "$folder"
    /usr/bin/python3 -m venv "$folder" >&2 || fail "no virtual environment could be made in $folder: its message stands above"
    for attempt in 1 2 3; do
        if "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --prefer-binary -r "$list" >&2; then
            cp "$list" "$folder/installed.txt"
            return 0
        fi
        say "attempt $attempt to install the clients failed"
        sleep $((attempt * 5))
    done
    fail "the clients of Deploy/clients.txt could not be installed from PyPI: the message of pip stands above"
}

# Checks that there is a Swift toolchain that can build the project.
check_swift() {
    command -v swift >/dev/null || fail "no Swift toolchain: install Swift 6.3 or later from https://swift.org/install"
    local version
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | head -n 1)
    local major=${version% *} minor=${version#* }
    if [ -z "$version" ] || [ "$major" -lt 6 ] || { [ "$major" = 6 ] && [ "$minor" -lt 3 ]; }; then
        fail "Swift ${version/ /.} is too old: install Swift 6.3 or later from https://swift.org/install"
    fi
}

# Everything that has to be there before a build.
prepare_machine() {
    check_swift
    local missing
    mapfile -t missing < <(missing_build_packages)
    install_packages "${missing[@]}"
}

# Builds the programs for use, in .build: shown on a terminal, otherwise into a log of which a failure shows the end.
build_release() {
    [ -x "$project/.build/release/pushmta-lab" ] || say "building (the first build takes some minutes)"
    local log="$project/.pushmta/log/build.log"
    mkdir -p "${log%/*}"
    if [ -t 2 ]; then
        swift build --package-path "$project" -c release >&2 || fail "the build failed: its messages stand above"
    else
        swift build --package-path "$project" -c release >"$log" 2>&1 || {
            tail -n 40 "$log" >&2
            fail "the build failed: all of its messages are in $log"
        }
    fi
}

# Two sending hosts and one with the database, as fresh Debian 12 systems on their own network. The guide's commands run there, and one host
# is lost during a delivery. To be sourced by bash after fresh-debian.sh; Deploy/test-package --two-hosts runs it.
# shellcheck shell=bash
# lib.sh sets project; text in single quotes is expanded where it runs.
# shellcheck disable=SC2154,SC2016

# The guide's network. gateway is a test machine with the simulated gateways.
declare -A addresses=([db]=10.77.0.10 [push-1]=10.77.0.11 [push-2]=10.77.0.12 [gateway]=10.77.0.20)
# Enough messages to lose a host in the middle, at the rate below.
hosts_messages=20000
hosts_rate=1000

# The common setup: names, and ssh for root between hosts, as operators have it. prepare_hosts ROOT PACKAGE
prepare_hosts() {
    local root=$1 name
    fresh_debian "$root" procps,curl,openssh-server,openssh-client
    for name in "${!addresses[@]}"; do echo "${addresses[$name]} $name"; done | as_root tee -a "$root/etc/hosts" >/dev/null
    as_root install -d -m 0700 "$root/root/.ssh"
    as_root ssh-keygen -q -t ed25519 -N '' -f "$root/root/.ssh/id_ed25519"
    as_root cp "$root/root/.ssh/id_ed25519.pub" "$root/root/.ssh/authorized_keys"
    echo 'StrictHostKeyChecking accept-new' | as_root tee "$root/root/.ssh/config" >/dev/null
    # The network is isolated: Debian's archive is reached through the machine's own network.
    as_root tee "$root/usr/local/bin/apt-get" >/dev/null <<'SCRIPT'
#!/bin/sh
exec nsenter --net=/run/outside /usr/bin/apt-get "$@"
SCRIPT
    as_root chmod 0755 "$root/usr/local/bin/apt-get"
    as_root cp "$2" "$root/root/"
}

# A host's first process, in its own namespaces: host_main NAME. The host ends with it.
host_main() {
    local name=$1 root=$hosts_folder/$1
    hostname "$name"
    mount_system "$root"
    # Packages are fetched once for all hosts.
    mount --bind "$hosts_folder/archives" "$root/var/cache/apt/archives"
    touch "$root/run/outside" && mount --bind "$hosts_folder/outside" "$root/run/outside"
    ip link set lo up
    exec chroot "$root" /bin/bash -c '/usr/sbin/sshd && touch /run/up && while :; do sleep infinity & wait; done'
}

# Starts a prepared host and connects it to the network: start_host NAME.
start_host() {
    local name=$1 forked first=''
    unshare --mount --uts --pid --net --fork --kill-child "$project/Deploy/test-package" --host "$hosts_folder" "$name" </dev/null &
    forked=$!
    until [ -n "$first" ] && nsenter --target "$first" --mount --pid --net --root test -e /run/up 2>/dev/null; do
        kill -0 "$forked" 2>/dev/null || fail "host $name does not start"
        first=$(pgrep -P "$forked" || true)
        sleep 0.05
    done
    pids[$name]=$first
    plug_in "$name"
}

# Gives the network of a host an interface on the bridge: plug_in NAME.
plug_in() {
    ip link add "$1" type veth peer name eth0 netns "${pids[$1]}"
    ip link set "$1" master pushmta up
    nsenter --target "${pids[$1]}" --net ip address add "${addresses[$1]}/24" dev eth0
    nsenter --target "${pids[$1]}" --net ip link set eth0 up
}

# Runs commands on a host as root: on NAME COMMANDS.
on() {
    nsenter --target "${pids[$1]}" --mount --uts --pid --net --root env -i HOME=/root LC_ALL=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        /bin/bash -ec "cd /root && set -x; $2"
}

# The same with the guide's shell function for running pushmta as its processes' user, which stays defined when a person types the commands.
on_site() {
    on "$1" "pushmta() { runuser -u pushmta -- /usr/bin/pushmta \"\$@\"; }
        $2"
}

# Queries the database: ask SQL.
ask() {
    on db "su postgres -c 'psql -qtAX --set ON_ERROR_STOP=1 pushmta'" <<<"$1" 2>/dev/null
}

# Waits until a condition is true in the database: wait_until SECONDS WHAT CONDITION.
wait_until() {
    local end=$((SECONDS + $1))
    until [ "$(ask "SELECT $3")" = t ]; do
        [ "$SECONDS" -lt "$end" ] || { on_site push-2 'pushmta status --ended' >&2 || true; fail "not within $1 s: $2"; }
        sleep 0.2
    done
    say "$2"
}

# The gateway: a simulator on its own host, which shares everything with this machine except its network.
start_gateway() {
    unshare --net sleep infinity &
    pids[gateway]=$!
    until [ "$(readlink "/proc/${pids[gateway]}/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
    plug_in gateway
    nsenter --target "${pids[gateway]}" --net ip link set lo up
    start_simulator "$hosts_folder" 10.77.0.20 gateway nsenter --target "${pids[gateway]}" --net "$simulator"
}

# The part that the guide leaves to the site: an application, its credential, and its subscribers.
add_site() {
    site_commands "$hosts_folder" gateway "$hosts_messages" "$hosts_folder/push-1/root"
    # Files that an account names must be on each host.
    cp "$hosts_folder/push-1/root/gateway-ca.pem" "$hosts_folder/push-2/etc/pushmta/"
    on_site push-1 '. /root/site.sh'
}

# Checks that hosts reach the database only over TLS and verify its name, and that its users have the guide's rights.
check_database_access() {
    [ "$(ask "SELECT bool_and(s.ssl), count(DISTINCT a.client_addr), string_agg(DISTINCT a.usename, ',' ORDER BY a.usename)
        FROM pg_stat_activity a JOIN pg_stat_ssl s USING (pid) WHERE a.client_addr IS NOT NULL")" = 't|2|pushmta,pushmta_devices' ] ||
        fail "the hosts' sessions are not as the guide describes: $(ask "TABLE pg_stat_activity")"
    # refused URL WORDS: checks that this address does not reach the database, and that the error has these words.
    on_site push-1 'refused() {
            local said
            if said=$(pushmta status --set database.url="$1" 2>&1) || ! grep -qi "$2" <<<"$said"; then echo "not refused: $said" >&2; return 1; fi
        }
        url=$(sed -n "s/^  url: \"\(.*\)\"/\1/p" /etc/pushmta/pushmta.yaml)
        refused "${url/verify-full/disable}" "no encryption"
        refused "${url/host=db/host=10.77.0.10}" "does not match host name"
        refused "${url/passfile=*passwords/passfile=/dev/null}" "no password"
        ! grep -i "not a member of" /var/log/pushmta-web.log' || fail "the database can be reached in a way that the guide excludes"
}

# Fetches the outcomes of a delivery: outcomes DELIVERY.
outcomes() {
    ask "$(outcomes_query "$1")" >"$hosts_folder/outcomes"
}

# Starts a delivery to all subscribers and prints its id: start_delivery LABEL.
start_delivery() {
    ask "SELECT pushmta.create_delivery('$1', ARRAY['shop-ios'], '{\"ios\": {\"body\": \"Hello\"}}', messages_per_second => $hosts_rate)" |
        tee "$hosts_folder/delivery"
    ask "SELECT pushmta.start_delivery($(cat "$hosts_folder/delivery"))" >/dev/null
}

# Cuts push-1's power in the middle of a delivery, and follows the guide on push-2: lose_push_1 DELIVERY.
lose_push_1() {
    wait_until 60 "both hosts send" "count(DISTINCT host) = 2 FROM pushmta.mta_child WHERE sent > 200 AND health = 'alive'"
    # Nothing more arrives from it, not even the end of a connection.
    ip link set push-1 down
    kill -KILL "${pids[push-1]}"
    say "push-1 is off; of the delivery $(ask "SELECT sent || ' of ' || target FROM pushmta.delivery_progress WHERE id = $1") were sent"
    wait_until 40 "push-1 is gone, push-2 alive" "string_agg(name || health, ' ' ORDER BY name) = 'push-1gone push-2alive' FROM pushmta.mta_host"
    on_site push-2 '. /root/two-hosts-loss.sh'
    wait_until 60 "the feedback worker of push-2 acts" "count(*) = 1 FROM pushmta.feedback_worker WHERE state = 'acting' AND host = 'push-2'"
    on push-2 'curl -fsS -d "registrationToken=$(printf %064x 99999999)&mobileAppUuid=shop-ios&userKey=ada&additionalParams=" \
        http://127.0.0.1:8080/nms/mobile/1/registerIOS.jssp'
    wait_until 90 "the delivery has ended" "state = 'finished' FROM pushmta.delivery_progress WHERE id = $1"
}

# push-1 has power again: its units start on boot, and it takes its share.
come_back() {
    ip link delete push-1 2>/dev/null || true
    start_host push-1
    on push-1 'systemctl start pushmta-supervisor pushmta-web pushmta-feedback'
    wait_until 30 "push-1 is back" "count(*) = 2 FROM pushmta.mta_host WHERE health = 'alive'"
    delivery=$(start_delivery 'both are there')
    wait_until 60 "both hosts send again" "count(DISTINCT host) = 2 FROM pushmta.mta_child WHERE sent > 200 AND health = 'alive'"
    on_site push-1 'pushmta supervisor drain && curl -fsS http://127.0.0.1:8080/health/ready'
    wait_until 60 "the delivery has ended" "state = 'finished' FROM pushmta.delivery_progress WHERE id = $delivery"
    outcomes "$delivery"
    reconcile "$hosts_folder" "$hosts_messages" || fail "delivery $delivery does not reconcile"
}

# Runs everything in its own, isolated namespaces: run_hosts FOLDER SIMULATOR.
run_hosts() {
    hosts_folder=$1 simulator=$2
    declare -gA pids=()
    local name delivery
    mkdir -p "$hosts_folder/archives/partial"
    ip link add pushmta type bridge && ip link set pushmta up
    start_gateway
    for name in db push-1 push-2; do start_host "$name"; done
    say "the guide on three hosts"
    on db '. /root/two-hosts-database.sh'
    on push-1 '. /root/two-hosts-first.sh'
    on push-2 '. /root/two-hosts-second.sh'
    add_site
    check_database_access
    wait_until 30 "both hosts are alive" "count(*) = 2 FROM pushmta.mta_host WHERE health = 'alive'"
    say "the loss of a host"
    delivery=$(start_delivery 'one host is lost')
    lose_push_1 "$delivery"
    outcomes "$delivery"
    reconcile "$hosts_folder" "$hosts_messages" || fail "delivery $delivery does not reconcile"
    come_back
}

# Makes the hosts and runs the test: test_two_hosts PACKAGE.
test_two_hosts() {
    local folder simulator name
    simulator=$(swift build --show-bin-path)/gateway-simulator
    [ -x "$simulator" ] || swift build --product gateway-simulator >&2
    folder=$(as_root mktemp -d /var/tmp/pushmta-hosts.XXXXXX)
    # shellcheck disable=SC2064
    trap "as_root rm -rf --one-file-system '$folder'" EXIT
    as_root chmod 0755 "$folder"
    say "three fresh Debian 12"
    as_root mkdir "$folder/db"
    prepare_hosts "$folder/db" "$1"
    for name in push-1 push-2; do as_root cp -a "$folder/db" "$folder/$name"; done
    put_block "$folder/db" install two-hosts-database
    put_block "$folder/push-1" install two-hosts-first
    put_block "$folder/push-2" install two-hosts-second
    put_block "$folder/push-2" install two-hosts-loss
    as_root touch "$folder/outside"
    # Debian's archive is reached through the network of the calling process.
    as_root unshare --mount bash -c 'mount --bind /proc/$$/ns/net "$2/outside" &&
        exec unshare --net --pid --fork --kill-child --mount-proc "$1/Deploy/test-package" --hosts "$2" "$3"' bash "$project" "$folder" "$simulator" \
        2>"$project/.build/two-hosts.log" >&2 || {
        tail -n 60 "$project/.build/two-hosts.log" >&2
        tail -n 20 "$folder"/push-?/var/log/pushmta-*.log >&2 || true
        fail "two hosts failed: see .build/two-hosts.log"
    }
    grep -E '^(reconciliation: |push-1 is off; )' "$project/.build/two-hosts.log" >&2
    say "two hosts work as the guide describes"
}

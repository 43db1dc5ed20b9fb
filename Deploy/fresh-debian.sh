# Fresh Debian 12 systems for tests of the package: how to make one, and a replacement for its service manager. To be sourced by bash after
# lib.sh.
# shellcheck shell=bash
# lib.sh sets project.
# shellcheck disable=SC2154

# Prints the commands of a guide under a mark: block GUIDE NAME.
block() {
    awk -v mark="<!-- run in a fresh system: $2 -->" '
        $0 == mark { found = 1; next }
        found && /^```sh/ { inside = 1; next }
        inside && /^```/ { exit }
        inside { print }' "$project/Deploy/guide/$1.md"
}

# Puts the commands of a guide into a system: put_block ROOT GUIDE NAME.
put_block() {
    block "$2" "$3" | as_root tee "$1/root/$3.sh" >/dev/null
    [ -s "$1/root/$3.sh" ] || fail "Deploy/guide/$2.md has no commands $3 for a fresh system"
}

# The systemctl of the fresh system, which has no service manager: it starts what a unit starts, as its user, with its folders.
systemctl_stand_in() {
    cat <<'SCRIPT'
#!/bin/bash
set -e
# The first value of a key of a unit.
value() { sed -n "s/^$2=//p" "/usr/lib/systemd/system/$1.service" | head -n 1; }
is_active() { pgrep -u pushmta -f "^$(value "$1" ExecStart)" >/dev/null; }
start() {
    ! is_active "$1" || return 0
    mkdir -p /run/credentials
    install -d -o pushmta "/run/credentials/$1"
    install -m 0400 -o pushmta "$(value "$1" LoadCredential | cut -d: -f2)" "/run/credentials/$1/pushmta-credential-key"
    # The service must not inherit the caller's descriptors: the package manager waits until all of its own are closed.
    CREDENTIALS_DIRECTORY=/run/credentials/$1 setsid su -s /bin/sh "$(value "$1" User)" \
        -c "exec $(value "$1" ExecStart)" >>"/var/log/$1.log" 2>&1 </dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
}
stop() {
    pkill -TERM -u pushmta -f "^$(value "$1" ExecStart)" || true
    while is_active "$1"; do sleep 0.1; done
}
verb=''
for word in "$@"; do
    case "$verb:$word" in
        *:-*) ;;
        :*) verb=$word ;;
        # It is not started on installation here.
        reload:nginx) nginx ;;
        enable:* | start:*) start "$word" ;;
        reload:*) pkill -HUP -u pushmta -f "^$(value "$word" ExecStart)" ;;
        is-active:*) is_active "$word" ;;
        stop:*) stop "$word" ;;
        restart:*) stop "$word" && start "$word" ;;
        try-restart:*) if is_active "$word"; then stop "$word" && start "$word"; fi ;;
        disable:*) ;;
        *) echo "the replacement for systemctl does not support: $*" >&2 && exit 1 ;;
    esac
done
[ "$verb" = daemon-reload ] || [ $# -gt 1 ] || { echo "the replacement for systemctl does not support: $*" >&2 && exit 1; }
SCRIPT
}

# Makes a Debian 12 in an empty folder: fresh_debian FOLDER PACKAGES, the packages separated with commas.
fresh_debian() {
    local root=$1
    command -v debootstrap >/dev/null || install_packages debootstrap
    as_root debootstrap --variant=minbase --include="$2" bookworm "$root" >"$project/.build/debootstrap.log" 2>&1 ||
        { tail -n 5 "$project/.build/debootstrap.log" >&2; fail "debootstrap could not make a Debian 12"; }
    # The folder is its root, which all its users must be able to enter.
    as_root chmod 0755 "$root"
    echo 'APT::Install-Recommends "false";' | as_root tee "$root/etc/apt/apt.conf.d/90test" >/dev/null
    # Nothing is started on installation.
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$root/usr/sbin/policy-rc.d" >/dev/null
    systemctl_stand_in | as_root tee "$root/usr/local/bin/systemctl" >/dev/null
    as_root chmod 0755 "$root/usr/sbin/policy-rc.d" "$root/usr/local/bin/systemctl"
}

# Mounts what a running system has in addition to its files: mount_system ROOT, in its own mount namespace.
mount_system() {
    local root=$1
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/run"
    mkdir -p "$root/dev/shm" "$root/run/postgresql" "$root/run/sshd"
    mount -t tmpfs tmpfs "$root/dev/shm"
    chmod 1777 "$root/run/postgresql"
}

# Starts a simulator of the gateways, which keeps its state and its record in a folder and plays APNs on port 8443: start_simulator FOLDER
# ADDRESS NAME COMMAND, where the command is the program with any prefix.
start_simulator() {
    local folder=$1 address=$2 name=$3
    shift 3
    "$@" --state "$folder/simulator" --host "$address" --certificate-name "$name" --apns-port 8443 --topic com.example.shop --latency 50 \
        --record "$folder/record" --json >"$folder/simulator.json" &
    until [ -s "$folder/simulator.json" ]; do
        kill -0 $! || fail "the gateway simulator does not start"
        sleep 0.1
    done
}

# Writes the part that a guide leaves to the site as site.sh, with its files: an application of the simulated gateway, its credential, and
# its subscribers. site_commands FOLDER GATEWAY SUBSCRIBERS TARGET, where the folder is the simulator's.
site_commands() {
    local target=$4 ca key_file key_id team
    read -r ca key_file key_id team < <(/usr/bin/python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
apns = report["credentials"]["apns"]
print(report["ca"], apns["keyFile"], apns["keyId"], apns["teamId"])' "$1/simulator.json")
    cp "$ca" "$target/gateway-ca.pem"
    cp "$key_file" "$target/AuthKey_$key_id.p8"
    awk -v n="$3" 'BEGIN { print "push_token,user_key"; for (i = 1; i <= n; i++) printf "%064x,user-%d\n", i, i }' >"$target/subscribers.csv"
    cat >"$target/site.sh" <<SITE
install -m 0644 /root/gateway-ca.pem /etc/pushmta/
install -m 0600 -o pushmta /root/AuthKey_$key_id.p8 /etc/pushmta/
pushmta account set apns --host $2 --port 8443 --ca-file /etc/pushmta/gateway-ca.pem
pushmta app add shop-ios --service shop --platform ios --bundle-id com.example.shop --account apns \\
    --key /etc/pushmta/AuthKey_$key_id.p8 --key-id $key_id --team-id $team --message-id-format uuid --integration-key shop-ios
pushmta subscription import - --app shop-ios </root/subscribers.csv
pushmta doctor
SITE
}

# The query for a delivery's outcomes, one per line: delivery, sequence, tracking key, status, and whether it is recorded as ambiguous.
outcomes_query() {
    echo "COPY (SELECT m.delivery_id, m.sequence, encode(k.key, 'hex'), m.status, EXISTS (SELECT FROM pushmta.ambiguous_message a
        WHERE a.delivery_id = m.delivery_id AND a.sequence = m.sequence)
        FROM pushmta.message_status m JOIN pushmta_engine.delivery d ON d.id = m.delivery_id
        JOIN pushmta_engine.tracking_key k ON k.log_day = d.log_day WHERE m.delivery_id = $1) TO STDOUT"
}

# Compares outcomes with the gateway's record: each message was accepted, and only recorded ambiguous ones twice. reconcile FOLDER MESSAGES,
# with the files outcomes and record in the folder.
reconcile() {
    /usr/bin/python3 - "$1/outcomes" "$1/record" "$2" <<'PYTHON'
import collections, json, subprocess, sys, uuid
outcomes = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
# A message's id at the gateway is delivery and sequence encrypted with the delivery's key: one block of AES-128.
plain = b"".join(int(o[0]).to_bytes(8, "big") + int(o[1]).to_bytes(4, "big") + bytes(4) for o in outcomes)
cipher = subprocess.run(["openssl", "enc", "-aes-128-ecb", "-nosalt", "-nopad", "-K", outcomes[0][2]],
                        input=plain, stdout=subprocess.PIPE, check=True).stdout
ids = [str(uuid.UUID(bytes=cipher[i:i + 16])) for i in range(0, len(cipher), 16)]
taken = collections.Counter()
for line in open(sys.argv[2]):
    push = json.loads(line)
    if push.get("status") == 200:
        taken[push["id"].lower()] += 1
lost = sum(o[3] != "sent" or not taken[i] for i, o in zip(ids, outcomes))
ambiguous = sum(o[4] == "t" for o in outcomes)
twice = sum(taken[i] > 1 for i in ids)
unexplained = sum(taken[i] > 1 and o[4] != "t" for i, o in zip(ids, outcomes))
print(f"reconciliation: {len(ids)} messages, {lost} lost, {ambiguous} ambiguous, {twice} twice, {unexplained} of them unexplained", file=sys.stderr)
sys.exit(bool(lost or unexplained or len(ids) < int(sys.argv[3])))
PYTHON
}

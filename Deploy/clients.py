"""Sends with other people's clients, unmodified, to the gateway simulator: what it refuses of theirs would be our mistake.

    clients.py GATEWAY_SIMULATOR

firebase-admin (HTTP/1.1 and HTTP/2) and aioapns know only the gateways' own names and port 443. So names are resolved and ports are
chosen here, below the libraries, and the certificate authority comes by the usual variables.
"""

import asyncio
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request
import warnings

FCM = "fcm.googleapis.com"
APNS = "api.push.apple.com"
MESSAGES = 200


def start(program, folder):
    """Starts the simulator and returns its process and what it says of itself."""
    names = [word for name in (FCM, APNS) for word in ("--certificate-name", name)]
    process = subprocess.Popen(
        [program, "--state", folder, "--json", *names], stdout=subprocess.PIPE, text=True
    )
    return process, json.loads(process.stdout.readline())


def redirect(ports):
    """Leads connections to these names, port 443, to ports of this machine."""
    addresses = {}
    for number, name in enumerate(ports):
        # Each name an address of its own, by which the connection finds its port.
        addresses[name] = f"127.0.1.{number + 1}"
    by_address = {addresses[name]: port for name, port in ports.items()}
    resolve = socket.getaddrinfo
    connect = socket.socket.connect

    def resolve_here(host, *arguments, **options):
        host = host.decode() if isinstance(host, bytes) else host
        return resolve(addresses.get(host, host), *arguments, **options)

    def connect_here(self, address):
        if isinstance(address, tuple) and address[0] in by_address and address[1] == 443:
            address = ("127.0.0.1", by_address[address[0]], *address[2:])
        return connect(self, address)

    socket.getaddrinfo = resolve_here
    socket.socket.connect = connect_here


class Control:
    """The simulator's control port."""

    def __init__(self, report):
        self.base = f"http://{report['control']['host']}:{report['control']['port']}"

    def get(self, path):
        with urllib.request.urlopen(self.base + path) as answer:
            return json.load(answer)

    def post(self, path, body):
        with urllib.request.urlopen(self.base + path, json.dumps(body).encode()) as answer:
            return json.load(answer)


def expect(condition, *words):
    if not condition:
        raise SystemExit("clients: " + " ".join(str(word) for word in words))


async def firebase(report, control):
    """firebase-admin: single messages and batches, over HTTP/1.1 and HTTP/2, and what it makes of rejections."""
    # Tokens are called old-fashioned by its newest versions; they are what Adobe's SDK registers.
    warnings.simplefilter("ignore", DeprecationWarning)
    import firebase_admin
    from firebase_admin import credentials, exceptions, messaging

    firebase_admin.initialize_app(credentials.Certificate(report["credentials"]["fcm"]["serviceAccountFile"]))

    def message(token):
        return messaging.Message(
            token=token,
            notification=messaging.Notification(title="Hello", body="The weather is fine."),
            data={"city": "Bern"},
            android=messaging.AndroidConfig(priority="high", ttl=60),
        )

    name = messaging.send(message("token-1"))
    expect(name.startswith("projects/"), "firebase-admin: send returned", name)
    expect(messaging.send(message("token-1"), dry_run=True).endswith("fake_message_id"), "firebase-admin: dry run")
    batch = [message(f"token-{number}") for number in range(MESSAGES)]
    answers = messaging.send_each(batch)
    expect(answers.failure_count == 0, "firebase-admin: send_each:", [a.exception for a in answers.responses][:1])
    answers = await messaging.send_each_async(batch)
    expect(
        answers.failure_count == 0, "firebase-admin: send_each_async:", [a.exception for a in answers.responses][:1]
    )
    for state, error in (
        ("Unregistered", messaging.UnregisteredError),
        ("DeviceTokenNotForTopic", messaging.SenderIdMismatchError),
        ("BadDeviceToken", exceptions.InvalidArgumentError),
    ):
        control.post("/devices", {"tokens": ["token-wrong"], "state": state})
        for single in (True, False):
            try:
                if single:
                    messaging.send(message("token-wrong"))
                else:
                    raise (await messaging.send_each_async([message("token-wrong")])).responses[0].exception
            except error:
                continue
            expect(False, "firebase-admin: no", error.__name__, "for", state)
    control.post("/faults", {"gateway": "fcm", "errors": [{"reason": "QUOTA_EXCEEDED", "rate": 1}]})
    try:
        messaging.send(message("token-1"))
        expect(False, "firebase-admin: no error for an exceeded quota")
    except messaging.QuotaExceededError:
        control.post("/faults", {"gateway": "fcm"})
    counters = control.get("/counters")["fcm"]
    expect(counters["accepted"] == 1 + 2 * MESSAGES, "firebase-admin: the simulator accepted", counters["accepted"])


async def aioapns(report, control):
    """aioapns: many notifications at once, and what it makes of rejections."""
    # It reports rejections in its log as well.
    logging.getLogger("aioapns").setLevel(logging.CRITICAL)
    from aioapns import APNs, NotificationRequest, PushType

    apns = report["credentials"]["apns"]
    with open(apns["keyFile"], encoding="ascii") as file:
        key = file.read()
    # It takes a new connection for one with 1,000 streams until it has read what APNs allows, which is one until a push was accepted.
    # So it gets one connection, and a first push of its own.
    client = APNs(
        key=key, key_id=apns["keyId"], team_id=apns["teamId"], topic=apns["topics"][0], max_connections=1
    )

    def request(token):
        return NotificationRequest(
            device_token=token,
            message={"aps": {"alert": {"title": "Hello", "body": "The weather is fine."}}},
            time_to_live=60,
            push_type=PushType.ALERT,
        )

    tokens = [f"{number:064x}" for number in range(MESSAGES)]
    answers = [await client.send_notification(request(tokens[0]))]
    answers += await asyncio.gather(*(client.send_notification(request(token)) for token in tokens[1:]))
    failed = [answer.description for answer in answers if not answer.is_successful]
    expect(not failed, "aioapns:", len(failed), "failed:", failed[:1])
    for state in ("Unregistered", "BadDeviceToken"):
        control.post("/devices", {"tokens": tokens[:1], "state": state})
        answer = await client.send_notification(request(tokens[0]))
        expect(answer.description == state, "aioapns:", answer.status, answer.description, "for", state)
    counters = control.get("/counters")["apns"]
    expect(counters["accepted"] == MESSAGES, "aioapns: the simulator accepted", counters["accepted"])
    client.pool.close()


async def drive(report, control):
    # One event loop for all: firebase-admin keeps its connections to the next call.
    await firebase(report, control)
    await aioapns(report, control)


def main():
    folder = tempfile.mkdtemp(prefix="pushmta-clients-")
    process, report = start(sys.argv[1], folder)
    try:
        # Read when the libraries are imported, or when they connect.
        os.environ["SSL_CERT_FILE"] = os.environ["REQUESTS_CA_BUNDLE"] = report["ca"]
        for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            os.environ.pop(proxy, None)
            os.environ.pop(proxy.lower(), None)
        redirect({FCM: report["fcm"]["port"], APNS: report["apns"]["port"]})
        control = Control(report)
        asyncio.run(drive(report, control))
        print(f"clients: firebase-admin and aioapns sent {1 + 3 * MESSAGES} messages", file=sys.stderr)
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


main()

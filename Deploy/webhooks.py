"""Receives webhooks with software of others: standardwebhooks checks each signature, cloudevents reads each event.

    webhooks.py PROGRAMS FOLDER

A site (pushmta-lab quickstart) posts the registrations of devices to an HTTPS server of this script. The server refuses batches, is slow,
and the feedback worker is killed while it waits: all events arrive, in order, and repeated ones under the id they had.
"""

import http.server
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.request

from cloudevents.core.formats.json import JSONFormat
from standardwebhooks.webhooks import Webhook

DEVICES = 40
TIMEOUT = 90


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"webhooks: {' '.join(command)}: {done.stderr or done.stdout}")
    return done.stdout


def require(holds, what):
    if not holds:
        raise SystemExit(f"webhooks: {what}")


def until(holds, what):
    end = time.monotonic() + TIMEOUT
    while not holds():
        require(time.monotonic() < end, f"in {TIMEOUT} s, {what}")
        time.sleep(0.05)


class Receiver:
    """An HTTPS server whose answers the test decides."""

    def __init__(self, folder):
        self.batches, self.secrets, self.problems = [], [], []
        # What to do with the next requests: a status, or seconds to be silent.
        self.script = []
        self.lock = threading.Lock()
        self.certificate = f"{folder}/receiver.pem"
        key = f"{folder}/receiver.key"
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
            "subjectAltName=DNS:localhost", "-keyout", key, "-out", self.certificate)
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                step = receiver.receive(dict(self.headers.items()), body)
                if isinstance(step, float):
                    time.sleep(step)
                    return
                self.send_response(step)
                self.end_headers()

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"https://localhost:{self.server.server_port}/hook"

    def receive(self, headers, body):
        with self.lock:
            try:
                headers = {name.lower(): value for name, value in headers.items()}
                if headers["content-type"] != "application/cloudevents-batch+json":
                    raise ValueError(f"the type is {headers['content-type']}")
                # Any one secret is enough for a receiver.
                for secret in self.secrets:
                    Webhook(secret).verify(body, headers)
                events = [JSONFormat().read(None, json.dumps(event)) for event in json.loads(body)]
                for event in events:
                    if not event.get_type().startswith("io.pushmta.device.") or event.get_time() is None:
                        raise ValueError(f"an event is {event}")
            except Exception as error:
                self.problems.append(repr(error))
                return 400
            step = self.script.pop(0) if self.script else 204
            self.batches.append((headers["webhook-id"], [event.get_id() for event in events], [
                event.get_data()["user_key"] for event in events], step))
            return step

    def accepted(self):
        """The users of all events that were accepted, each batch once."""
        users, seen = [], set()
        for batch, _, keys, step in list(self.batches):
            if step == 204 and batch not in seen:
                seen.add(batch)
                users += keys
        return users


class Site:
    def __init__(self, programs, folder, receiver):
        self.program, self.folder, self.receiver = os.path.join(programs, "pushmta"), folder, receiver
        self.worker = None

    def command(self, *words):
        return json.loads(run(self.program, *words, "--json", "--config", f"{self.folder}/pushmta.yaml"))

    def start_worker(self):
        settings = ["feedback.webhooks.allowedHosts=localhost", "feedback.webhooks.allowPrivateAddresses=true",
                    f"feedback.webhooks.caFile={self.receiver.certificate}", "feedback.webhooks.timeoutSec=5", "metrics.feedbackPort=0"]
        flags = [word for setting in settings for word in ("--set", setting)]
        log = open(f"{self.folder}/worker.log", "a")
        self.worker = subprocess.Popen([self.program, "feedback", "--config", f"{self.folder}/pushmta.yaml", *flags],
                                       stdout=log, stderr=log)

    def register(self, base, key, number):
        body = {"application": "sample-android", "pushToken": f"hook-{number:04}-" + "a" * 60, "userKey": f"user-{number}"}
        request = urllib.request.Request(f"{base}/devices", json.dumps(body).encode(), {
            "Authorization": f"Bearer {key}", "Content-Type": "application/json"}, method="POST")
        urllib.request.urlopen(request).close()


def walk(site, receiver, base, key):
    site.command("events", "create", "hooks", "--kind", "device.registered")
    receiver.secrets = [site.command("webhook", "create", "hooks", receiver.url, "--max-events", "7")["secret"]]
    wanted = [f"user-{number}" for number in range(DEVICES)]
    # Refused once, then a receiver that is silent while the worker is killed.
    receiver.script = [204, 500, 60.0]
    for number in range(DEVICES):
        site.register(base, key, number)
    until(lambda: receiver.batches, "nothing is posted")
    until(lambda: any(step == 500 for _, _, _, step in receiver.batches), "no batch is refused")
    site.command("webhook", "enable", "hooks")
    until(lambda: any(step == 60.0 for _, _, _, step in receiver.batches), "no batch is held")
    site.worker.send_signal(signal.SIGKILL)
    site.worker.wait()
    site.start_worker()
    until(lambda: len(receiver.accepted()) >= DEVICES, f"{len(receiver.accepted())} of {DEVICES} events arrive")
    require(receiver.accepted() == wanted, f"the order is {receiver.accepted()}")
    held = [batch for batch, _, _, step in receiver.batches if step == 60.0]
    again = [(ids, step) for batch, ids, _, step in receiver.batches if batch == held[0]]
    require(len(again) >= 2 and all(ids == again[0][0] for ids, _ in again), f"the held batch was posted as {again}")
    # Both secrets sign during a rotation.
    receiver.secrets.append(site.command("webhook", "rotate-secret", "hooks")["secret"])
    site.register(base, key, DEVICES)
    until(lambda: len(receiver.accepted()) > DEVICES, "nothing arrives after the rotation")
    # A receiver that wants no more.
    receiver.script = [410]
    site.register(base, key, DEVICES + 1)
    until(lambda: not site.command("webhook", "list")[0]["active"], "the webhook stays enabled after 410")
    # What it refused goes to the receiver's new address.
    site.command("webhook", "set", "hooks", receiver.url + "?moved=1")
    until(lambda: len(receiver.accepted()) > DEVICES + 1, "nothing arrives at the new address")
    require(not receiver.problems, f"problems: {receiver.problems}")


def main(programs, folder):
    lab = os.path.join(programs, "pushmta-lab")
    shutil.rmtree(folder, ignore_errors=True)
    made = json.loads(
        run(lab, "quickstart", "run", "--json", "--detach", "--messages", "20", "--fresh", "--folder", folder).splitlines()[-1]
    )
    receiver = Receiver(folder)
    site = Site(programs, folder, receiver)
    try:
        key = site.command("key", "create", "hooks", "--scope", "devices:write")["key"]
        # The site's own worker may post nowhere.
        with open(f"{folder}/run/feedback.pid") as record:
            os.kill(int(record.read().split()[0]), signal.SIGTERM)
        site.start_worker()
        walk(site, receiver, made["web"] + "/api/v1", key)
    finally:
        if site.worker:
            site.worker.terminate()
            site.worker.wait()
        run(lab, "quickstart", "stop", "--folder", folder)
    shutil.rmtree(folder, ignore_errors=True)


main(*sys.argv[1:])

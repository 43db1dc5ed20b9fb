"""Metrics, alerts and dashboard, with real processes and a real Prometheus: test-metrics.py FOLDER-OF-PROGRAMS

A site as quickstart makes it, with a second supervisor, is scraped while it is well and while it has a fault. The page of each process is
checked by promtool, each query of the dashboard gives a result, and of each fault its alert fires and no other.
"""

import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

PROJECT = pathlib.Path(__file__).resolve().parent.parent
RULES = PROJECT / "Deploy/prometheus/pushmta.rules.yml"
# So often Prometheus scrapes and judges here; an alert waits no longer either.
INTERVAL = "1s"
# A supervisor reads the database each 10 s, a host is gone after 15 s, and a machine may be busy.
DEADLINE = 60
# What a site without replicas, limits, credentials that end and HTTPS has no series of.
MAY_BE_EMPTY = re.compile(r"replication_lag|quota_used|credential_expiry|pushmta_alarms")


def run(*command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if result.returncode != 0:
        raise SystemExit(f"{command[0]} {command[1]} ended with {result.returncode}: {result.stdout}{result.stderr}")
    return result.stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def until(what, condition, deadline=DEADLINE):
    """Waits until a condition gives something true, and returns that."""
    end = time.monotonic() + deadline
    last = None
    while time.monotonic() < end:
        try:
            last = condition()
            if last:
                return last
        except OSError as error:
            last = error
        time.sleep(0.1)
    raise SystemExit(f"{what}: not within {deadline} s; last seen: {last}")


class Site:
    """A site of quickstart that stays up, and a second supervisor beside it."""

    def __init__(self, programs, folder):
        self.pushmta, self.lab = programs / "pushmta", programs / "pushmta-lab"
        self.folder = folder
        self.other = None
        words = run(self.lab, "quickstart", "run", "--folder", folder, "--messages", 500, "--json", "--fresh", "--detach")
        self.database = json.loads(words.splitlines()[-1])["database"]
        self.settings = folder / "pushmta.yaml"
        ports = dict(re.findall(r"^  (\w+Port): (\d+)", self.settings.read_text(), re.M))
        self.ports = {name: int(ports[f"{name}Port"]) for name in ("supervisor", "feedback", "web")}
        report = next(line for line in (folder / "log/simulator.log").read_text().splitlines() if line.startswith("{"))
        control = json.loads(report)["control"]
        self.control = f"http://{control['host']}:{control['port']}"

    def start_other(self):
        port = free_port()
        log = open(self.folder / "log/other.log", "w")
        self.other = subprocess.Popen(
            [str(self.pushmta), "supervisor", "run", "--config", str(self.settings),
             "--set", f"mta.workingPath={self.folder}/other", "--set", f"metrics.supervisorPort={port}"],
            stdout=log, stderr=log)
        self.ports["other"] = port

    def sql(self, text):
        return run("psql", self.database, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text).strip()

    def fault(self, plan):
        request = urllib.request.Request(self.control + "/faults", json.dumps(plan).encode(), method="POST")
        urllib.request.urlopen(request, timeout=10).read()

    def send(self):
        """A delivery to all devices of all applications."""
        return self.sql("""
            SELECT pushmta.start_delivery(pushmta.create_delivery(label => 'metrics',
                applications => (SELECT array_agg(name ORDER BY name) FROM pushmta.application),
                content => '{"ios":{"title":"Hello"},"android":{"title":"Hello"}}'))""")

    def stop(self):
        if self.other:
            self.other.kill()
            self.other.wait()
        subprocess.run([str(self.lab), "quickstart", "stop", "--folder", str(self.folder)], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)


class Prometheus:
    """Debian's, with the project's rules, which wait a second each."""

    def __init__(self, folder, ports):
        rules = folder / "pushmta.rules.yml"
        rules.write_text(re.sub(r"^( +for:) .*$", r"\1 " + INTERVAL, RULES.read_text(), flags=re.M))
        jobs = {"supervisor": "pushmta-supervisor", "other": "pushmta-supervisor", "feedback": "pushmta-feedback", "web": "pushmta-web"}
        targets = {}
        for process, port in ports.items():
            targets.setdefault(jobs[process], []).append(f"127.0.0.1:{port}")
        config = {
            "global": {"scrape_interval": INTERVAL, "evaluation_interval": INTERVAL},
            "rule_files": [str(rules)],
            "scrape_configs": [{"job_name": job, "static_configs": [{"targets": list_}]} for job, list_ in targets.items()],
        }
        (folder / "prometheus.yml").write_text(json.dumps(config))
        run("promtool", "check", "config", folder / "prometheus.yml")
        self.base = f"http://127.0.0.1:{free_port()}"
        self.log = open(folder / "prometheus.log", "w")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
             f"--web.listen-address={self.base.removeprefix('http://')}"], stdout=self.log, stderr=self.log)

    def query(self, text):
        return json.loads(get(self.base + "/api/v1/query?" + urllib.parse.urlencode({"query": text})))["data"]["result"]

    def firing(self):
        """Alerts that fire, with the labels that say of what."""
        alerts = json.loads(get(self.base + "/api/v1/alerts"))["data"]["alerts"]
        return sorted({alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"})

    def stop(self):
        self.process.terminate()
        self.process.wait()


def check_files(folder):
    """What needs no process: rules, their tests, and that each alert has its runbook."""
    run("promtool", "check", "config", PROJECT / "Deploy/prometheus/prometheus.yml")
    run("promtool", "check", "rules", RULES)
    tests = folder / "rules.test.yml"
    tests.write_text(run(sys.executable, PROJECT / "Deploy/prometheus/rules_test.py"))
    run("promtool", "test", "rules", tests)
    alerts = re.findall(r"alert: (\w+)\n.*?runbook: (\S+)\n", RULES.read_text(), re.S)
    runbooks = re.findall(r"^## (\w+)$", (PROJECT / "Deploy/guide/runbooks.md").read_text(), re.M)
    if [name for name, _ in alerts] != runbooks:
        raise SystemExit(f"alerts and headings of runbooks.md differ: {set(runbooks) ^ {name for name, _ in alerts}}")
    for name, runbook in alerts:
        if runbook != f"Deploy/guide/runbooks.md#{name.lower()}":
            raise SystemExit(f"{name} leads to {runbook}")


def check_page(process, text, declared):
    """One page: promtool takes it, and it says what is declared and nothing else."""
    run("promtool", "check", "metrics", input=text)
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    for name, kind in kinds.items():
        if name not in declared or declared[name]["type"] != kind:
            raise SystemExit(f"{process}: {name} ({kind}) is not declared so")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels = re.fullmatch(r'([a-z_]+)(?:\{(.*)\})? \S+', line).groups()
        family = re.sub(r"_(bucket|sum|count)$", "", name) if name not in declared else name
        found = re.findall(r'(\w+)="', labels or "")
        wanted = declared[family]["labels"].split(",") if declared[family]["labels"] else []
        if found != wanted + (["le"] if name.endswith("_bucket") else []):
            raise SystemExit(f"{process}: labels of {line} are not {wanted}")
    missing = [name for name, row in declared.items()
               if row["process"] in (process, "all") and name not in kinds and not MAY_BE_EMPTY.search(name)
               and "certificate" not in name]
    if missing:
        raise SystemExit(f"the page of {process} lacks {', '.join(missing)}")


def check_dashboard(prometheus):
    """Each query of the dashboard gives something."""
    board = json.loads((PROJECT / "Deploy/grafana/pushmta.json").read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    for query in queries:
        text = query.replace("$__rate_interval", "10s").replace("$app", ".*")
        if MAY_BE_EMPTY.search(text):
            prometheus.query(text)
        else:
            until(f"the dashboard's query {query}", lambda: prometheus.query(text), 20)
    return len(queries)


def quiet(prometheus):
    """Whatever fires while the processes start is over."""
    until("no alert", lambda: prometheus.firing() == [])


def expect(prometheus, what, alerts):
    """These alerts come to fire, and no others until they do."""
    wanted = sorted(alerts)

    def seen():
        firing = prometheus.firing()
        others = set(firing) - set(wanted)
        if others:
            raise SystemExit(f"{what}: {', '.join(others)} fires, too")
        return firing == wanted

    until(f"{what}: the alerts {wanted}", seen)
    print(f"{what}: {alerts[-1]}", file=sys.stderr)


def faults(site, prometheus):
    """One fault after the other, each beside those before it: each adds its alert and no other."""
    quiet(prometheus)
    alerts = ["PushmtaCredentialExpires"]
    site.sql("UPDATE pushmta_engine.credential SET expires_at = now() + interval '3 days' WHERE id = (SELECT min(id) FROM pushmta_engine.credential)")
    expect(prometheus, "a credential ends", alerts)
    site.fault({"gateway": "fcm", "outage": {"connections": "refused"}})
    site.send()
    expect(prometheus, "a gateway is out", alerts := alerts + ["PushmtaGatewayTrouble"])
    site.fault({"gateway": "apns", "outage": {"answer": {"status": 403, "body": '{"reason":"InvalidProviderToken"}'}, "share": 1}})
    site.send()
    expect(prometheus, "a gateway refuses an application", alerts := alerts + ["PushmtaCircuitOpen"])
    site.other.send_signal(signal.SIGKILL)
    site.other.wait()
    expect(prometheus, "a process is killed", alerts := alerts + ["PushmtaProcessDown"])
    expect(prometheus, "its host is gone", alerts + ["PushmtaHostGone"])


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pushmta-metrics-"))
    site = prometheus = None
    try:
        check_files(folder)
        site = Site(programs, programs / "metrics-site")
        site.start_other()
        declared = {row["name"]: row for row in json.loads(run(site.pushmta, "metrics", "--json"))}
        pages = {name: f"http://127.0.0.1:{port}/metrics" for name, port in site.ports.items()}
        until("figures of the database", lambda: "pushmta_hosts" in get(pages["supervisor"]) and "pushmta_hosts" in get(pages["other"]))
        # Children tell theirs each second, of their own accord: the first look may be too early.
        until("figures of children", lambda: "pushmta_messages_total{" in get(pages["supervisor"]) and "pushmta_connections{" in get(pages["supervisor"]))
        for process in ("supervisor", "feedback", "web"):
            check_page(process, get(pages[process]), declared)
        prometheus = Prometheus(folder, site.ports)
        until("all targets", lambda: len(prometheus.query("up == 1")) == 4)
        print(f"{check_dashboard(prometheus)} queries of the dashboard", file=sys.stderr)
        faults(site, prometheus)
    finally:
        if prometheus:
            prometheus.stop()
        if site:
            site.stop()
        shutil.rmtree(folder, ignore_errors=True)


main()

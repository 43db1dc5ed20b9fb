"""Lets schemathesis call the API as its own document says, and as it does not: what differs is a mistake of the document or the server.

    api.py PROGRAMS FOLDER

The API is that of a whole site (pushmta-lab quickstart), whose deliveries are really sent. The seed is fixed, so that a run can be repeated.
"""

import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request

SEED = "14"
# Requests for each operation and phase: about 2,300 in all, in 45 s.
EXAMPLES = "15"
SCOPES = "devices:write devices:read deliveries:write deliveries:read messages:send messages:read applications:read exclusions:write exclusions:read"

CONFIGURATION = """
# What the document cannot say, so that requests which fit it may be refused all the same:
[[operations]]
# exactly one of the two parameters userKey and pushToken
include-name = "GET /devices"
checks.positive_data_acceptance.enabled = false
parameters = {{ "application" = "sample-ios" }}

[[operations]]
# whether a time zone, a locale and a push token are ones: lists and forms for each platform, not patterns
include-name = "POST /devices"
checks.positive_data_acceptance.enabled = false

[[operations]]
# rules between members of a content (pushmta content schema prints what a schema can say), and the grammar of filters
include-name = "POST /deliveries"
checks.positive_data_acceptance.enabled = false

[[operations]]
# variables are any JSON, at any depth, but for the character U+0000; and how they count: bytes of their text
include-name = "POST /deliveries/{{id}}/targets"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.id" = {explicit} }}

[[operations]]
# the same
include-name = "POST /messages"
checks.positive_data_acceptance.enabled = false

[[operations]]
# the same
include-name = "POST /deliveries/{{id}}/messages"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.id" = {continuous} }}

[[operations]]
# a name is not blank, has at most 200 bytes, and that of a seed address is no number; the rules of tokens and variables
include-name = "POST /seeds"
checks.positive_data_acceptance.enabled = false

[[operations]]
# a name is not blank and has at most 200 bytes
include-name = "POST /exclusion-lists"
checks.positive_data_acceptance.enabled = false

[[operations]]
# whether a key and a push token are ones
include-name = "POST /exclusion-lists/{{name}}/add"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.name" = "api" }}

[[operations]]
# a key is not blank
include-name = "POST /exclusion-lists/{{name}}/remove"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.name" = "api" }}

[[operations]]
# the same
include-name = "POST /exclusion-lists/{{name}}/find"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.name" = "api" }}

[[operations]]
# names, contents and filters, as above
include-name = "POST /templates"
checks.positive_data_acceptance.enabled = false

[[operations]]
# the same
include-name = "PUT /templates/{{name}}"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.name" = "api" }}

[[operations]]
# the same
include-name = "POST /templates/{{name}}/duplicate"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.name" = "api" }}

[[operations]]
# the same
include-name = "POST /templates/{{name}}/deliveries"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.name" = "sale" }}

[[operations]]
include-name = "GET /seeds/{{name}}"
parameters = {{ "path.name" = "api" }}

[[operations]]
include-name = "GET /exclusion-lists/{{name}}"
parameters = {{ "path.name" = "api" }}

[[operations]]
include-name = "GET /templates/{{name}}"
parameters = {{ "path.name" = "api" }}

[[operations]]
# whether seed addresses, devices and tokens are of the delivery's applications
include-name = "POST /deliveries/{{id}}/proofs"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.id" = {explicit} }}

[[operations]]
# variables, as above
include-name = "POST /deliveries/{{id}}/preview"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.id" = {explicit} }}

[[operations]]
# the same
include-name = "POST /content/preview"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "GET /deliveries/{{id}}/check"
parameters = {{ "path.id" = {explicit} }}

[[operations]]
include-name = "GET /deliveries/{{id}}/statistics"
parameters = {{ "path.id" = {day} }}

[[operations]]
include-name = "GET /messages/{{id}}"
parameters = {{ "path.id" = "{message}" }}

[[operations]]
include-name = "GET /deliveries/{{id}}/outcomes"
parameters = {{ "path.id" = {day} }}

[[operations]]
include-name = "GET /devices/{{id}}"
parameters = {{ "path.id" = {device} }}

[checks.negative_data_rejection]
# 413 where what is too long is also too large: the size of a body is looked at before what it says.
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx"]
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"api: {' '.join(command)}: {done.stderr or done.stdout}")
    return done.stdout


class API:
    def __init__(self, base, key):
        self.base, self.key = base, key

    def post(self, path, body):
        request = urllib.request.Request(
            self.base + path,
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


def things(api):
    """Makes what requests can be about, and returns their ids."""
    device = api.post(
        "/devices", {"application": "sample-android", "pushToken": "api-" + "a" * 60, "userKey": "ada"}
    )["id"]
    content = {"android": {"title": "Hello {{name}}"}}
    delivery = {"label": "api", "applications": ["sample-android"], "content": content}
    explicit = api.post("/deliveries", {**delivery, "explicitTargets": True})["id"]
    continuous = api.post("/deliveries", {**delivery, "kind": "continuous"})["id"]
    api.post(f"/deliveries/{continuous}/start", {})
    api.post("/seeds", {"name": "api", "deviceId": device})
    api.post("/exclusion-lists", {"name": "api"})
    for name in ("api", "sale"):
        api.post("/templates", {"name": name, "content": content, "applications": ["sample-android"]})
    message = None
    # A supervisor looks at its content first.
    while message is None:
        try:
            message = api.post("/messages", {"deliveryId": continuous, "userKey": "ada"})["messages"][0]
        except urllib.error.HTTPError as error:
            if error.code != 409:
                raise
    return {
        "device": device,
        "explicit": explicit,
        "continuous": continuous,
        "message": message["id"],
        "day": message["deliveryId"],
    }


def main(programs, folder):
    program, lab = os.path.join(programs, "pushmta"), os.path.join(programs, "pushmta-lab")
    shutil.rmtree(folder, ignore_errors=True)
    site = json.loads(
        run(lab, "quickstart", "run", "--json", "--detach", "--messages", "20", "--fresh", "--folder", folder).splitlines()[-1]
    )
    try:
        key = json.loads(
            run(program, "key", "create", "api", "--json", "--scope", SCOPES, "--config", f"{folder}/pushmta.yaml")
        )["key"]
        base = site["web"] + "/api/v1"
        configuration = f"{folder}/schemathesis.toml"
        with open(configuration, "w") as file:
            file.write(CONFIGURATION.format(**things(API(base, key))))
        done = subprocess.run(
            [
                os.path.join(os.path.dirname(sys.executable), "schemathesis"),
                "--config-file",
                configuration,
                "run",
                base + "/openapi.json",
                "--header",
                f"Authorization: Bearer {key}",
                "--seed",
                SEED,
                "--max-examples",
                EXAMPLES,
                "--phases",
                "examples,coverage,fuzzing",
                "--continue-on-failure",
                "--no-shrink",
                "--warnings",
                "off",
            ],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        print(done.stdout[-12_000:] if done.returncode else "\n".join(done.stdout.splitlines()[-12:]))
        if done.returncode:
            raise SystemExit("api: the API and its document differ, as it says above")
    finally:
        run(lab, "quickstart", "stop", "--folder", folder)
    shutil.rmtree(folder, ignore_errors=True)


main(*sys.argv[1:])

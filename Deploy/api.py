"""Lets schemathesis call the API as its own document says, and as it does not: what differs is a mistake of the document or the server.

    api.py PROGRAMS FOLDER

The API is that of a whole site (pushmta-lab quickstart), whose deliveries are really sent. The seed is fixed, so that a run can be repeated.
"""

import datetime
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request

SEED = "14"
# Requests for each operation and phase: about 2,300 in all, in 45 s.
EXAMPLES = "15"
SCOPES = (
    "devices:write devices:read deliveries:write deliveries:approve deliveries:read messages:send messages:read conversions:write "
    "applications:read caps:write exclusions:write exclusions:read events:read events:write"
)

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
# a content comes with the mode replace, and only with it
include-name = "POST /deliveries/{{id}}/recall"
checks.positive_data_acceptance.enabled = false

[[operations]]
# a start that is sent when its moment has passed
include-name = "POST /deliveries/{{id}}/start"
checks.positive_data_acceptance.enabled = false

[[operations]]
# consumers are an operator's
include-name = "GET /events"
checks.positive_data_acceptance.enabled = false
parameters = {{ "consumer" = "api" }}

[[operations]]
# the categories exist, and a length fits its unit
include-name = "PUT /services/{{name}}/frequency-caps/{{cap}}"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.name" = "sample", "path.cap" = "api" }}

[[operations]]
# kinds and a service exist, and a name is not blank
include-name = "POST /consumers"
checks.positive_data_acceptance.enabled = false

[[operations]]
# an authority has a host
include-name = "POST /consumers/{{name}}/webhook"
checks.positive_data_acceptance.enabled = false

[[operations]]
# an authority has a host
include-name = "PATCH /consumers/{{name}}/webhook"
checks.positive_data_acceptance.enabled = false

[[operations]]
# variables, as above
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
# labels, contents and filters, as above; and an end in the past
include-name = "PATCH /deliveries/{{id}}"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.id" = {edited} }}

[[operations]]
# a label is not blank
include-name = "POST /deliveries/{{id}}/copy"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.id" = {edited} }}

[[operations]]
# a time is not in the past
include-name = "POST /deliveries/{{id}}/reschedule"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.id" = {edited} }}

[[operations]]
# a time is not in the past, and its zone is one
include-name = "POST /deliveries/{{id}}/request-approval"
checks.positive_data_acceptance.enabled = false

[[operations]]
# days exist, and shares add up to at most 100
include-name = "PUT /deliveries/{{id}}/plan"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.id" = {edited} }}

[[operations]]
include-name = "GET /deliveries/{{id}}/plan"
parameters = {{ "path.id" = {edited} }}

[[operations]]
include-name = "POST /deliveries/{{id}}/analysis"
parameters = {{ "path.id" = {edited} }}

[[operations]]
include-name = "GET /deliveries/{{id}}/analysis"
parameters = {{ "path.id" = {analysed} }}

[[operations]]
include-name = "GET /deliveries/{{id}}/recall"
parameters = {{ "path.id" = {recalled} }}

[[operations]]
# a zone exists, dates are in order, and a rule has a moment
include-name = "PUT /deliveries/{{id}}/recurrence"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.id" = {recurring} }}

[[operations]]
include-name = "GET /deliveries/{{id}}/recurrence"
parameters = {{ "path.id" = {recurring} }}

[[operations]]
# shares add up to 100 at most, labels differ, and contents have rules of their own
include-name = "PUT /deliveries/{{id}}/experiment"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.id" = {edited} }}

[[operations]]
include-name = "GET /deliveries/{{id}}/experiment"
parameters = {{ "path.id" = {experiment} }}

[[operations]]
# an id names a message with an outcome, and a name is not blank
include-name = "POST /conversions"
checks.positive_data_acceptance.enabled = false

[[operations]]
# the grammar of filters, and names that are not blank
include-name = "PUT /services/{{name}}/audiences/{{audience}}"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.name" = "{service}" }}

[[operations]]
include-name = "GET /services/{{name}}/audiences"
parameters = {{ "path.name" = "{service}" }}

[[operations]]
include-name = "POST /services/{{name}}/audiences/{{audience}}/count"
parameters = {{ "path.name" = "{service}", "path.audience" = "api" }}

[[operations]]
include-name = "GET /services/{{name}}/audiences/{{audience}}/sample"
parameters = {{ "path.name" = "{service}", "path.audience" = "api" }}

[[operations]]
include-name = "GET /services/{{name}}/control-group"
parameters = {{ "path.name" = "{service}" }}

[[operations]]
# two decimals, and categories that exist and are not transactional
include-name = "PUT /services/{{name}}/control-group"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.name" = "{service}" }}

[[operations]]
# a user key and a name are not blank
include-name = "POST /services/{{name}}/conversions"
checks.positive_data_acceptance.enabled = false
parameters = {{ "path.name" = "{service}" }}

[[operations]]
include-name = "GET /deliveries/{{id}}/count"
parameters = {{ "path.id" = {edited} }}

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
include-name = "GET /devices/{{id}}/categories"
parameters = {{ "path.id" = {device} }}

[[operations]]
include-name = "PUT /devices/{{id}}/opt-outs/{{category}}"
parameters = {{ "path.id" = {device}, "path.category" = "news" }}

[[operations]]
include-name = "DELETE /devices/{{id}}/opt-outs/{{category}}"
parameters = {{ "path.id" = {device}, "path.category" = "news" }}

[[operations]]
# the parameter userKey is needed
include-name = "GET /opt-outs"
checks.positive_data_acceptance.enabled = false

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

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request) as answer:
            return None if answer.status == 204 else json.load(answer)

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, body):
        return self.call("POST", path, body)

    def refusal(self, method, path, body=None):
        """The status of the refusal of a request."""
        try:
            answer = self.call(method, path, body)
        except urllib.error.HTTPError as error:
            return error.code
        raise SystemExit(f"api: {method} {path} is not refused: {answer}")

    def until(self, path, wanted):
        """Reads a path until its answer is what is wanted."""
        end = time.monotonic() + 60
        while True:
            answer = self.get(path)
            if wanted(answer):
                return answer
            if time.monotonic() > end:
                raise SystemExit(f"api: {path} stays {answer}")
            time.sleep(0.1)


def require(holds, what):
    if not holds:
        raise SystemExit(f"api: {what}")


def analyse(api, id):
    """Analyses a delivery; returns what was found."""
    api.post(f"/deliveries/{id}/analysis", {})
    return api.until(f"/deliveries/{id}/analysis", lambda answer: answer["finishedAt"])


def start(api, id):
    """Starts a delivery; returns it once it has been sent."""
    api.post(f"/deliveries/{id}/start", {})
    return api.until(f"/deliveries/{id}", lambda answer: answer["state"] == "finished")


def send(api, delivery, title):
    """Creates a delivery with this title and starts it; returns it once it has been sent."""
    content = {platform: {"title": title} for platform in ("android", "ios")}
    return start(api, api.post("/deliveries", {**delivery, "content": content})["id"])


def service_of(api):
    return api.get("/applications/sample-android")["service"]


def walk(api, command, delivery, device):
    """Counts, previews, analyses, starts, changes, copies and moves deliveries as a marketing system does; returns the ids of an analysed
    one, which has ended, and of one that is editing."""
    content = {"android": {"title": "Hello {{firstName|there}}"}}
    first = api.post("/deliveries", {**delivery, "content": content, "messagesPerSecond": 1000})["id"]
    require(api.refusal("GET", f"/deliveries/{first}/analysis") == 404, "a delivery that was never analysed has an analysis")
    counted = api.until(f"/deliveries/{first}/count", lambda answer: answer["answeredAt"])
    require(counted["problem"] is None and counted["counts"][0]["messages"] > 0, f"nobody is counted: {counted}")
    require(not any(one["estimate"] or one["error"] for one in counted["counts"]), f"a small target is estimated: {counted}")
    shown = api.post(f"/deliveries/{first}/preview", {"deviceId": device})
    require("Hello there" in json.dumps(shown["payload"]) and shown["sendable"] and shown["size"] <= shown["limit"], f"it shows {shown}")
    require(api.post(f"/deliveries/{first}/analysis", {})["state"] == "analysing", "an analysis does not begin")
    found = api.until(f"/deliveries/{first}/analysis", lambda answer: answer["finishedAt"])
    require(found["state"] == "ready" and found["messages"] > 0 and not found["problems"], f"the analysis found {found}")
    require(found["validUntil"] > found["finishedAt"], f"the analysis holds until {found}")
    require(found["messages"] == sum(one["messages"] for one in counted["counts"]), f"{counted} was counted, {found} found")
    require(sum(count["messages"] for count in found["counts"]) == found["messages"], f"the counts differ: {found}")
    require(found["rendered"] > 0 and found["samples"][0]["payload"] and found["seconds"] > 0, f"nothing was rendered: {found}")
    require(found["endsAt"] > found["finishedAt"] and found["bound"]["kind"] == "rate", f"it does not say when it ends: {found}")
    # What is changed is analysed again.
    changed = api.call("PATCH", f"/deliveries/{first}", {"label": "Winter", "content": {"android": {"title": "Winter"}}, "priority": 7})
    require((changed["label"], changed["priority"], changed["state"]) == ("Winter", 7, "editing"), f"a change gave {changed}")
    found = analyse(api, first)
    require("Winter" in json.dumps(found["samples"]), f"the samples are old: {found}")
    ended = start(api, first)
    require(ended["counts"]["target"] == found["messages"], f"it was not sent as analysed: {ended}, {found}")
    require(api.refusal("PATCH", f"/deliveries/{first}", {"label": "x"}) == 409, "what was sent can be changed")
    walk_archive(api, first)
    copy = api.post(f"/deliveries/{first}/copy", {"label": "again"})
    require(copy["state"] == "editing" and copy["id"] != first and copy["label"] == "again", f"the copy is {copy}")
    second = copy["id"]
    api.post(f"/deliveries/{second}/start", {"startAt": "2036-11-24T18:00:00Z"})
    moved = api.post(f"/deliveries/{second}/reschedule", {"startAt": "2036-11-25T18:00:00Z"})
    require(moved["startAt"].startswith("2036-11-25T18"), f"the start stays: {moved}")
    require(api.post(f"/deliveries/{second}/reschedule", {"startAt": None})["state"] == "editing", "the start cannot be taken back")
    walk_plan(api, first)
    walk_hours(api, command, first)
    return first, second


def walk_archive(api, delivery):
    """Hides a delivery that has ended from the list, shows it again, and compares it with another one."""
    def listed(query=""):
        return [one["id"] for one in api.get(f"/deliveries?limit=100{query}")["deliveries"]]

    require(api.post(f"/deliveries/{delivery}/archive", {})["archivedAt"], "it is not archived")
    require(delivery not in listed() and delivery in listed("&archived=with"), "the list shows an archived delivery")
    others = listed()
    require(api.post(f"/deliveries/{delivery}/unarchive", {})["archivedAt"] is None, "it is archived still")
    require(delivery in listed(), "the list does not show it again")
    other = next((one for one in others if one != delivery), delivery)
    found = api.get(f"/deliveries/{delivery}/comparison?with={other}")
    names = [measure["measure"] for measure in found["measures"]]
    require(names == ["sent", "failed", "received", "clicked"], f"the comparison has {found}")
    require(found["measures"][0]["count"] > 0, f"nothing was sent: {found}")
    require(api.refusal("GET", f"/deliveries/{delivery}/comparison") == 400, "it is compared with nothing")


def walk_plan(api, delivery):
    """Sends a copy of a delivery in waves, and reads the hours of its service."""
    planned = api.post(f"/deliveries/{delivery}/copy", {"label": "in waves"})["id"]
    place = f"/deliveries/{planned}/plan"
    require(api.get(place)["waves"] == [], "a new delivery has waves")
    waves = [{"percent": 10, "maxFailed": 0.5}, {"percent": 50}, {}]
    plan = api.call("PUT", place, {"waves": waves})
    require([wave["percent"] for wave in plan["waves"]] == [10, 50, None], f"the plan is {plan}")
    require(api.refusal("PUT", place, {"localTime": "2036-12-01T09:00"}) == 400, "nobody says what happens where the time has passed")
    api.post(f"/deliveries/{planned}/start", {})
    ended = api.until(f"/deliveries/{planned}", lambda answer: answer["state"] == "finished")
    plan = api.get(place)
    require(sum(wave["messages"] for wave in plan["waves"]) == ended["counts"]["target"], f"a message is in no wave: {plan}, {ended}")
    require([wave["state"] for wave in plan["waves"]] == ["passed", "passed", "open"], f"the waves are {plan}")


def walk_hours(api, command, delivery):
    """Plans copies of a delivery: where a local time has passed nobody gets it, and on a day off it waits."""
    late = api.post(f"/deliveries/{delivery}/copy", {"label": "over"})["id"]
    plan = api.call("PUT", f"/deliveries/{late}/plan", {"localTime": "2026-01-01T09:00", "onPast": "skip"})
    require(plan["localTime"].startswith("2026-01-01") and plan["onPast"] == "skip", f"the plan is {plan}")
    counts = start(api, late)["counts"]
    require(counts["sent"] == 0 and counts["ignored"] == counts["target"] > 0, f"what is over was sent: {counts}")
    service = service_of(api)
    hours = api.get(f"/services/{service}/hours")
    require(hours["hours"] == [] and hours["timeZone"] == "UTC", f"the hours are {hours}")
    # An operator sets hours. No zone has another day than these three.
    today = datetime.datetime.now(datetime.timezone.utc).date()
    days = [str(today + datetime.timedelta(days=number)) for number in (-1, 0, 1)]
    off = [word for day in days for word in ("--day-off", day)]
    command("service", "hours", service, "--hours", "daily 00:00-24:00", *off, "--outside", "postpone")
    hours = api.get(f"/services/{service}/hours")
    require(hours["daysOff"] == days and hours["outside"] == "postpone", f"the hours are {hours}")
    waiting = api.post(f"/deliveries/{delivery}/copy", {"label": "on a day off"})["id"]
    api.post(f"/deliveries/{waiting}/start", {})
    plan = api.until(f"/deliveries/{waiting}/plan", lambda answer: answer["plannedMessages"])
    counts = api.get(f"/deliveries/{waiting}")["counts"]
    require(counts["sent"] == 0 and plan["plannedMessages"] == counts["target"], f"it left on a day off: {counts}, {plan}")
    command("service", "hours", service, "--no-hours", "--no-days-off")
    counts = api.until(f"/deliveries/{waiting}", lambda answer: answer["state"] == "finished")["counts"]
    require(counts["sent"] == counts["target"] > 0, f"it did not leave afterwards: {counts}")


def cap(api, delivery):
    """Caps the messages of a service: who got one is left out of the next delivery, and gets a receipt."""
    caps = f"/services/{service_of(api)}/frequency-caps"
    require(api.get(caps) == {"frequencyCaps": []}, "the service has frequency caps")
    rule = {"maxMessages": 3, "per": "days", "length": 7}
    made = api.call("PUT", f"{caps}/week", rule)
    require(made == {"name": "week", "categories": None, **rule}, f"the cap is {made}")
    require(api.call("PUT", f"{caps}/week", {**rule, "maxMessages": 1})["maxMessages"] == 1, "the cap stays")
    require(api.refusal("PUT", f"{caps}/week", {**rule, "per": "hours", "length": 73}) == 400, "a cap for 73 hours is set")
    require([one["name"] for one in api.get(caps)["frequencyCaps"]] == ["week"], "the cap is not listed")
    first = send(api, {**delivery, "filter": "user_key = 'ada'"}, "First")["counts"]
    require(first["sent"] == first["target"] == 1, f"ada got {first}")
    second = api.post("/deliveries", {**delivery, "content": {"android": {"title": "Second"}}})["id"]
    found = analyse(api, second)
    require(found["exclusions"] == [{"reason": "frequency_cap", "messages": 1}], f"not only ada is left out: {found}")
    counts = start(api, second)["counts"]
    require(counts["sent"] == found["messages"] > 0 and counts["excluded"] == 1, f"ada got two messages: {counts}")
    receipt = send(api, {**delivery, "category": "transactional"}, "Receipt")["counts"]
    require(receipt["sent"] == counts["sent"] + 1, f"a cap held up a receipt: {receipt}")
    api.call("DELETE", f"{caps}/week")
    require(api.refusal("DELETE", f"{caps}/week") == 404, "a cap that is gone is removed")


def behave(api, command, delivery):
    """Chooses by what people did: those who received a message, as their devices reported, and did not click it."""
    kept = f"/services/{service_of(api)}/behaviour"
    before = api.get(kept)
    require((before["kept"], before["since"], before["deliveries"]) == (False, None, 0), f"the service keeps a history: {before}")
    reminder = {**delivery, "content": {"android": {"title": "Last chance"}}}
    asks = {**reminder, "filter": "not clicked any"}
    require(api.refusal("POST", "/deliveries", asks) == 400, "what is not kept can be asked")
    command("behaviour", "keep", service_of(api))
    require(api.get(kept)["kept"], "no history is kept")
    asks = {**reminder, "filter": "clicked any within 3 hours"}
    require(api.refusal("POST", "/deliveries", asks) == 400, "the history has hours")
    sent = send(api, {**delivery, "label": "Spring"}, "Spring")

    def told():
        """The messages that devices have received and clicked."""
        outcomes = api.get(f"/deliveries/{sent['id']}/outcomes?limit=1000")["outcomes"]
        return sum(one["received"] for one in outcomes), sum(one["clicked"] for one in outcomes)

    def chosen(filter):
        """A new delivery to those whom the filter selects, and how many they are now."""
        id = api.post("/deliveries", {**reminder, "filter": filter})["id"]
        counted = api.until(f"/deliveries/{id}/count", lambda answer: answer["answeredAt"])
        return id, sum(one["messages"] for one in counted["counts"])

    idle = f"received delivery {sent['id']} and not clicked label 'Spring' within 7 days"
    end = time.monotonic() + 60
    # Every device receives it, and one in ten clicks.
    while True:
        (received, clicked), (asked, number) = told(), chosen(idle)
        if received == sent["counts"]["sent"] and clicked > 0 and number == received - clicked:
            break
        require(time.monotonic() < end, f"{received} received it, {clicked} clicked, and {number} are chosen")
        time.sleep(0.5)
    reminded = start(api, asked)["counts"]
    require(reminded["sent"] == reminded["target"] == number > 0, f"{number} were to be reminded: {reminded}")
    require(chosen(f"clicked delivery {sent['id']}")[1] == clicked, "other people have clicked")
    require(chosen("sent label 'Spring' and not received any")[1] == 0, "somebody did not receive it")


def approve(api, colleague, command, delivery):
    """Has a colleague approve a delivery twice, because it was changed in between, and sends it."""
    service = service_of(api)
    command("approval", "rule", service, "--above", "5")
    id = api.post("/deliveries", {**delivery, "content": {"android": {"title": "Approved"}}})["id"]
    path = f"/deliveries/{id}/approval"
    require(api.refusal("POST", f"/deliveries/{id}/start", {}) == 409, "it starts before it is counted")

    def analysed():
        api.post(f"/deliveries/{id}/analysis", {})
        return api.until(path, lambda answer: answer["awaited"])

    asked = analysed()
    require(asked["messages"] > asked["above"] == 5 and asked["objection"] and not asked["approval"], f"the approval is {asked}")
    require(api.refusal("POST", f"/deliveries/{id}/start", {}) == 409, "it starts without an approval")
    require(api.refusal("POST", f"/deliveries/{id}/approve", {}) == 409, "its maker approves it")
    require(colleague.refusal("POST", f"/deliveries/{id}/approve", {"version": "0" * 20}) == 409, "another version is approved")
    given = colleague.post(f"/deliveries/{id}/approve", {"comment": "Checked", "version": asked["version"]})
    require(given["approval"]["messages"] == asked["messages"] and not given["awaited"], f"the approval is {given}")
    api.call("PATCH", f"/deliveries/{id}", {"priority": 3})
    require(api.get(path)["approval"] is None, "an approval outlives a change")
    analysed()
    colleague.post(f"/deliveries/{id}/approve", {})
    api.post(f"/deliveries/{id}/start", {})
    ended = api.until(f"/deliveries/{id}", lambda answer: answer["state"] == "finished")
    require(ended["counts"]["target"] == asked["messages"], f"it was not sent as approved: {ended}")
    # With a request, the approval alone lets it go.
    other = api.post("/deliveries", {**delivery, "content": {"android": {"title": "Requested"}}})["id"]
    requested = api.post(f"/deliveries/{other}/request-approval", {})
    require(requested["startsApproved"] and requested["request"]["by"], f"the request is {requested}")
    api.until(f"/deliveries/{other}/approval", lambda answer: answer["awaited"])
    require(api.get(f"/deliveries/{other}")["state"] == "pending", "it does not wait")
    colleague.post(f"/deliveries/{other}/approve", {})
    api.until(f"/deliveries/{other}", lambda answer: answer["state"] == "finished")
    command("approval", "rule", service, "--none")


def follow(api, command, delivery):
    """Lets deliveries follow a health signal: at its floor while nobody can read it, and faster as soon as its value is good."""
    require(api.get("/signals") == {"signals": []}, "there are signals")
    id = api.post("/deliveries", {**delivery, "content": {"android": {"title": "Careful"}}})["id"]
    aim = {"signal": "load", "target": 0.8, "floor": 20, "ceiling": 500}
    require(api.refusal("POST", f"/deliveries/{id}/follow", aim) == 404, "a signal that does not exist is followed")
    command("signal", "set", "load", "http", "https://metrics.example.com/load")
    require([one["name"] for one in api.get("/signals")["signals"]] == ["load"], "the signal is not listed")
    require(api.refusal("POST", f"/deliveries/{id}/follow", {**aim, "ceiling": 1}) == 400, "a ceiling is below its floor")
    signal = api.post(f"/deliveries/{id}/follow", aim)["signal"]
    require(signal["messagesPerSecond"] == 20 and signal["state"] == "idle", f"the signal is {signal}")
    api.post(f"/deliveries/{id}/start", {})
    under_way = api.until(f"/deliveries/{id}", lambda answer: answer["state"] == "finished" or answer["signal"]["state"] == "stale")
    require(under_way["signal"]["messagesPerSecond"] == 20, f"it leaves its floor: {under_way}")
    require(under_way["state"] == "finished" or "no value yet" in under_way["signal"]["reason"], f"its reason is {under_way}")
    ended = api.until(f"/deliveries/{id}", lambda answer: answer["state"] == "finished")
    require(ended["counts"]["sent"] == ended["counts"]["target"] > 0, f"it was not sent: {ended}")
    copy = api.post(f"/deliveries/{id}/copy", {})["id"]
    require(api.get(f"/deliveries/{copy}")["signal"]["name"] == "load", "a copy follows nothing")
    require(api.post(f"/deliveries/{copy}/follow", {})["signal"] is None, "a delivery follows its signal still")
    command("signal", "drop", "load")
    # A function of the database gives 3.14.
    command("signal", "set", "load", "sql", "pg_catalog.pi()", "--reaction", "1")
    good = api.post("/deliveries", {**delivery, "content": {"android": {"title": "Faster"}}})["id"]
    api.post(f"/deliveries/{good}/follow", {"signal": "load", "target": 10, "floor": 4, "ceiling": 500})
    ended = start(api, good)
    require(ended["signal"]["messagesPerSecond"] > 4, f"it stays at its floor: {ended}")
    read = api.get("/signals")["signals"][0]
    require(read["value"] > 3.1, f"the signal is {read}")
    command("signal", "drop", "load")


def recall(api, delivery):
    """Recalls a delivery that has been sent; returns its id."""
    content = {"android": {"title": "Sale", "tag": "sale"}}
    sent = api.post("/deliveries", {**delivery, "content": content})["id"]
    require(api.get(f"/deliveries/{sent}/approval")["above"] is None, "its service asks for approvals")
    require(api.refusal("POST", f"/deliveries/{sent}/approve", {}) == 409, "what is not analysed can be approved")
    require(api.refusal("POST", f"/deliveries/{sent}/recall", {"reason": "wrong"}) == 409, "what was not started can be recalled")
    api.post(f"/deliveries/{sent}/start", {})
    ended = api.until(f"/deliveries/{sent}", lambda answer: answer["state"] == "finished")
    require(api.refusal("GET", f"/deliveries/{sent}/recall") == 404, "a delivery that was not recalled has a report")
    wanted = {"reason": "wrong", "mode": "replace", "content": {"android": {"title": "Sorry"}}}
    report = api.post(f"/deliveries/{sent}/recall", wanted)
    require(report["target"] == ended["counts"]["target"] and report["replaced"] == 0, f"the recall gave {report}")
    report = api.until(f"/deliveries/{sent}/recall", lambda answer: answer["recallState"] == "finished")
    # Devices have opened some of the messages before.
    require(report["replaced"] + report["tooLate"] == ended["counts"]["sent"], f"messages are missing: {report}, {ended}")
    parts = ("pending", "unsent", "replaced", "removed", "unreached", "tooLate")
    require(sum(report[part] for part in parts) == report["target"], f"the report does not add up: {report}")
    # Once the second delivery has ended, the delivery can be recalled again. Nothing is left to stop.
    require(api.refusal("POST", f"/deliveries/{sent}/recall", {"reason": "again"}) == 409, "what was replaced can be stopped")
    again = api.post(f"/deliveries/{sent}/recall", {**wanted, "content": {"android": {"title": "Corrected"}}})
    require(again["recallDeliveryId"] != report["recallDeliveryId"], f"the second recall is the first one: {again}")
    require(api.refusal("POST", f"/deliveries/{sent}/recall", wanted) == 409, "a delivery is recalled twice at a time")
    corrected = api.until(f"/deliveries/{sent}/recall", lambda answer: answer["recallState"] == "finished")
    require(corrected["replaced"] == report["replaced"], f"the second recall reached others: {corrected}, {report}")
    require(sum(corrected[part] for part in parts) == corrected["target"], f"the report does not add up: {corrected}")
    return sent


def remove(api, site, delivery):
    """Recalls a delivery whose notifications apps remove, and reports for one device that it did."""
    id = api.post("/deliveries", {**delivery, "applications": ["sample-ios"], "content": {"ios": {"title": "Sale"}}})["id"]
    path = f"/deliveries/{id}/recall"
    samples = [one["payload"] for one in analyse(api, id)["samples"]]
    sent = start(api, id)["counts"]["sent"]
    report = api.post(path, {"reason": "wrong", "mode": "remove"})
    require(report["mode"] == "remove" and report["removed"] == 0, f"the recall gave {report}")
    report = api.until(path, lambda answer: answer["recallState"] == "finished")
    require(report["tooLate"] == report["target"] == sent > 0, f"nobody has confirmed: {report}")
    told = api.get(f"/deliveries/{report['recallDeliveryId']}")["counts"]["sent"]
    outcomes = api.get(f"/deliveries/{id}/outcomes?limit=1000")["outcomes"]
    unopened = sum(not one["clicked"] for one in outcomes)
    require(told >= unopened > 0, f"{told} devices were asked, and {unopened} have not opened it")
    # What PushMTA's SDKs request.
    payload = samples[0]
    urllib.request.urlopen(f"{site}/r/?id=h{payload['_mId']},{payload['_dId']},3").close()
    report = api.until(path, lambda answer: answer["removed"] == 1)
    require(report["tooLate"] == report["target"] - 1, f"the report does not add up: {report}")


def recur(api, delivery):
    """Lets a delivery recur, makes a run now, and returns the id of the recurring delivery, which is paused."""
    recurring = api.post("/deliveries", {**delivery, "content": {"android": {"title": "News"}}})["id"]
    path = f"/deliveries/{recurring}/recurrence"
    require(api.refusal("GET", path) == 404, "a delivery recurs before it was said when")
    rule = {"unit": "months", "monthDays": [-1], "times": ["09:00"], "timeZone": "Europe/Berlin", "startsOn": "2036-02-01"}
    found = api.call("PUT", path, rule)
    require(found["state"] == "editing" and found["nextRuns"][0] == "2036-02-29T08:00:00.000000Z", f"the rule gave {found}")
    require(api.post(f"{path}/start", {})["state"] == "active", "a recurrence does not start")
    require(api.refusal("POST", f"/deliveries/{recurring}/start", {}) == 409, "a recurring delivery is sent itself")
    # The content of the moment.
    api.call("PATCH", f"/deliveries/{recurring}", {"content": {"android": {"title": "Newer"}}})
    run = api.post(f"{path}/run", {})["id"]
    ended = api.until(f"/deliveries/{run}", lambda answer: answer["state"] == "finished")
    require(ended["counts"]["sent"] > 0, f"a run was not sent: {ended}")
    runs = api.get(path)["runs"]
    require([(one["runId"], one["outcome"]) for one in runs] == [(run, "started")], f"the runs are {runs}")
    require(api.call("DELETE", path) is None and api.refusal("GET", path) == 404, "a recurrence is not removed")
    api.call("PUT", path, {**rule, "missed": "once"})
    api.post(f"{path}/start", {})
    require(api.post(f"{path}/pause", {})["state"] == "paused", "a recurrence is not paused")
    return recurring


def experiment(api, delivery):
    """Sends variants, chooses the winner for the rest, records a conversion, and returns the id of the delivery."""
    id = api.post("/deliveries", {**delivery, "content": {"android": {"title": "Plain"}}})["id"]
    path = f"/deliveries/{id}/experiment"
    require(api.refusal("GET", path) == 404, "an ordinary delivery has an experiment")
    other = {"label": "emoji", "percent": 30, "content": {"android": {"title": "Emoji"}}}
    rule = {"variants": [{"label": "plain", "percent": 30}, other], "decideAfterSeconds": 3600, "ifUndecided": "wait"}
    wrong = {**rule, "variants": [{"percent": 80}, {"percent": 30}]}
    require(api.refusal("PUT", path, wrong) == 400, "shares of more than 100 % are accepted")
    require(api.call("PUT", path, {**rule, "holdOutPercent": 10})["holdOutPercent"] == 10, "there is no hold-out")
    require(api.call("DELETE", path) is None and api.refusal("GET", path) == 404, "an experiment is not removed")
    counted = api.until(f"/deliveries/{id}/count", lambda answer: answer["answeredAt"])
    everybody = sum(one["messages"] for one in counted["counts"])
    found = api.call("PUT", path, {**rule, "holdOutPercent": 10})
    require([one["label"] for one in found["variants"]] == ["plain", "emoji"] and found["state"] == "waiting", f"it is {found}")
    winner = f"/deliveries/{id}/winner"
    require(api.refusal("POST", winner, {"variant": 2}) == 409, "a winner is chosen before the start")
    api.post(f"/deliveries/{id}/start", {})

    def are_sent(answer):
        variants = answer["variants"]
        return any(one["sent"] for one in variants) and all(one["messages"] == one["sent"] for one in variants)

    api.until(path, are_sent)
    require(api.get(f"/deliveries/{id}")["state"] in ("preparing", "in_progress"), "the rest did not wait")
    require(api.post(winner, {"variant": 2})["winner"] == 2, "no winner is chosen")
    require(api.refusal("POST", winner, {"variant": 1}) == 409, "a second winner is chosen")
    ended = api.until(f"/deliveries/{id}", lambda answer: answer["state"] == "finished")
    counts = ended["counts"]
    require(counts["sent"] == counts["target"] == everybody - counts["excluded"] > 0, f"{everybody} are not accounted for: {ended}")
    outcomes = api.get(f"/deliveries/{id}/outcomes?limit=1000")["outcomes"]
    message = f"{id}-{outcomes[0]['sequence']}"
    bought = {"messageId": message, "name": "purchase", "value": 19.99}
    require(api.post("/conversions", bought)["counts"] and not api.post("/conversions", bought)["counts"], "a conversion counts twice")
    require(api.refusal("POST", "/conversions", {"messageId": f"{id}-7"}) == 404, "a conversion of no message is recorded")
    return id


def audiences(api, delivery):
    """Saves an audience, counts it and sends to it; keeps some persons without marketing; returns the name of the service."""
    service = service_of(api)
    place = f"/services/{service}/audiences"
    require(api.get(place) == {"audiences": []}, "the service has audiences")
    require(api.refusal("PUT", f"{place}/api", {"filter": "locale ="}) == 400, "a faulty filter is saved")
    saved = api.call("PUT", f"{place}/api", {"filter": "user_key is not null"})
    require(saved["subscriptions"] is None and saved["filter"] == "user_key is not null", f"the audience is {saved}")
    api.post(f"{place}/api/count", {})
    counted = api.until(place, lambda answer: not answer["audiences"][0]["counting"])["audiences"][0]
    require(counted["subscriptions"] > 0 and counted["countedAt"] and counted["problem"] is None, f"the audience is {counted}")
    require(api.get(f"{place}/api/sample")["subscriptions"], "the audience has no sample")
    both = {**delivery, "audience": "api", "filter": "locale = 'fr'"}
    require(api.refusal("POST", "/deliveries", both) == 400, "a delivery has a filter and an audience")
    require(api.refusal("POST", "/deliveries", {**delivery, "audience": "none"}) == 404, "a delivery goes to no audience")

    group = f"/services/{service}/control-group"
    # So many that some are members, and some are not.
    for number in range(20):
        token = f"control-{number:02}-" + "a" * 60
        api.post("/devices", {"application": "sample-android", "pushToken": token, "userKey": f"control-{number}"})
    require(api.refusal("PUT", group, {"percent": 51}) == 400, "more than half of the persons get no marketing")
    require(api.call("PUT", group, {"percent": 50})["percent"] == 50, "there is no control group")
    content = {"android": {"title": "Hello"}}
    sent = api.post("/deliveries", {**delivery, "content": content, "audience": "api"})["id"]
    api.call("PATCH", f"/deliveries/{sent}", {"audience": "api"})
    api.post(f"/deliveries/{sent}/start", {})
    ended = api.until(f"/deliveries/{sent}", lambda answer: answer["state"] == "finished")
    require(ended["counts"]["excluded"] > 0, f"the members got marketing: {ended}")
    bought = {"userKey": "ada", "name": "order", "value": 19.99}
    place = f"/services/{service}/conversions"
    require(api.post(place, bought)["counts"] and not api.post(place, bought)["counts"], "a conversion counts twice")
    require([row["name"] for row in api.get(group)["results"]] == ["order"], "what a user did is not counted")
    require(api.call("PUT", group, {"percent": 0})["percent"] == 0, "the control group stays")
    return service


def consent(api, device, delivery):
    """Opts a device and a user out of a category, which leaves them out of its deliveries, and in again."""
    names = {row["name"]: row for row in api.call("GET", "/categories")["categories"]}
    require(names["transactional"]["transactional"] and not names["news"]["transactional"], f"the categories are {names}")

    def unwanted(answer):
        return [row["name"] for row in answer["categories"] if row["optedOut"]]

    require(unwanted(api.call("PUT", f"/devices/{device}/opt-outs/news")) == ["news"], "an opt-out is not recorded")
    require(api.refusal("PUT", f"/devices/{device}/opt-outs/transactional") == 400, "an opt-out from receipts is accepted")
    require(unwanted(api.call("DELETE", f"/devices/{device}/opt-outs/news")) == [], "an opt-in is not recorded")
    require(api.call("PUT", "/opt-outs", {"userKey": "ada", "optedOut": True, "category": "news"})["changed"] > 0, "nobody opted out")
    require(unwanted(api.call("GET", f"/devices/{device}/categories")) == ["news"], "a device of the user is not opted out")
    said = api.call("GET", "/opt-outs?userKey=ada")["optOuts"]
    require({row["category"] for row in said} == {"news"}, f"the user's opt-outs are {said}")
    news = api.post("/deliveries", {**delivery, "content": {"android": {"title": "News"}}, "category": "news"})["id"]
    found = analyse(api, news)
    require(found["exclusions"] == [{"reason": "category_opted_out", "messages": 1}], f"not only ada is left out: {found}")
    counts = start(api, news)["counts"]
    require(counts["sent"] == found["messages"] > 0 and counts["excluded"] == 1, f"ada got news: {counts}")
    receipt = send(api, {**delivery, "category": "transactional"}, "Receipt")["counts"]
    require(receipt["sent"] == counts["sent"] + 1, f"ada got no receipt: {receipt}")
    api.call("PUT", "/opt-outs", {"userKey": "ada", "optedOut": False, "category": "news"})
    made = api.post("/deliveries", {**delivery, "category": "service"})
    require(made["category"] == "service", f"its category is {made['category']}")
    changed = api.call("PATCH", f"/deliveries/{made['id']}", {"category": "marketing"})
    require(changed["category"] == "marketing", f"its category stays {changed['category']}")


def read_events(api, delivery):
    """Reads what happened to a delivery, as a consumer that asks for each page twice."""
    page, events = None, []
    while not any(event["deliveryId"] == delivery and event["state"] == "finished" for event in events):
        path = "/events?consumer=api&limit=50" + (f"&processed={page}" if page else "")
        answer = api.until(path, lambda answer: answer["page"])
        again = api.get("/events?consumer=api&limit=50")
        require(again == answer, f"a page changes before it is processed: {answer}, {again}")
        page, events = answer["page"], events + answer["events"]
    require(len({event["id"] for event in events}) == len(events), "an event is given twice")
    states = [event["state"] for event in events if event["deliveryId"] == delivery and event["kind"] == "delivery.changed"]
    require(states[-2:] == ["in_progress", "finished"], f"the states are {states}")
    require(any(event["kind"] == "device.registered" and event["userKey"] == "ada" for event in events), "a registration is missing")
    return [event for event in events if event["deliveryId"] == delivery and event["kind"].startswith("message.")]


def manage_events(api):
    """Creates a consumer with a webhook, whose secret is shown once, and removes both."""
    made = api.post("/consumers", {"name": "walk", "kinds": ["delivery"]})
    require(made["kinds"] == ["delivery.changed"] and made["service"] is None, f"the consumer is {made}")
    secret = api.post("/consumers/walk/webhook", {"url": "https://hooks.example.com/push"})["secret"]
    require(secret.startswith("whsec_"), "the secret has another form")
    hook = next(row for row in api.get("/webhooks")["webhooks"] if row["consumer"] == "walk")
    require(hook["host"] == "hooks.example.com" and hook["active"] and secret not in str(hook), f"the webhook is {hook}")
    moved = api.call("PATCH", "/consumers/walk/webhook", {"url": "https://new.example.com/push"})
    require(moved["host"] == "new.example.com", f"the webhook is {moved}")
    require(not api.call("POST", "/consumers/walk/webhook/pause")["active"], "the webhook is not paused")
    require(api.call("POST", "/consumers/walk/webhook/resume")["active"], "the webhook stays paused")
    require(api.post("/consumers/walk/webhook/secret", {})["secret"] != secret, "the secret stays")
    require(api.get("/dead-letters")["deadLetters"] == [], "there are dead letters")
    require(api.refusal("POST", "/consumers/walk/webhook", {"url": "https://hooks.example.com/push"}) == 409, "there are two webhooks")
    api.call("DELETE", "/consumers/walk/webhook")
    api.call("DELETE", "/consumers/walk")
    require("walk" not in [row["name"] for row in api.get("/consumers")["consumers"]], "the consumer stays")


def things(api, colleague, command, site):
    """Makes what requests can be about, and returns their ids."""
    device = api.post(
        "/devices", {"application": "sample-android", "pushToken": "api-" + "a" * 60, "userKey": "ada"}
    )["id"]
    content = {"android": {"title": "Hello {{name}}"}}
    delivery = {"label": "api", "applications": ["sample-android"], "content": content}
    analysed, edited = walk(api, command, delivery, device)
    cap(api, delivery)
    behave(api, command, delivery)
    approve(api, colleague, command, delivery)
    follow(api, command, delivery)
    recalled = recall(api, delivery)
    remove(api, site, delivery)
    recurring = recur(api, delivery)
    service = audiences(api, delivery)
    tried = experiment(api, delivery)
    consent(api, device, delivery)
    told = {event["sequence"] for event in read_events(api, analysed)}
    target = api.get(f"/deliveries/{analysed}")["counts"]["target"]
    require(told == set(range(1, target + 1)), f"events of {len(told)} of {target} messages")
    manage_events(api)
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
        "service": service,
        "analysed": analysed,
        "edited": edited,
        "recalled": recalled,
        "recurring": recurring,
        "experiment": tried,
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

    def command(*words):
        return run(program, *words, "--config", f"{folder}/pushmta.yaml")

    def new_key(name, scopes):
        return json.loads(command("key", "create", name, "--json", "--scope", scopes))["key"]

    try:
        key = new_key("api", SCOPES)
        colleague = new_key("colleague", "deliveries:read deliveries:approve")
        command("events", "create", "api")
        base = site["web"] + "/api/v1"
        configuration = f"{folder}/schemathesis.toml"
        with open(configuration, "w") as file:
            file.write(CONFIGURATION.format(**things(API(base, key), API(base, colleague), command, site["web"])))
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

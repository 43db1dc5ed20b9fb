"""The console in a real browser, over a real site: test-console.py FOLDER-OF-PROGRAMS [FOLDER-FOR-PICTURES]

Chromium signs in, is refused, is locked out, looks at every page in both schemes of colours and three widths, pauses and stops a delivery,
looks somebody up, and finds all of it in the audit log. Marketing writes a delivery, sees it on two phones, sends a proof and starts it;
duplicates it, has it analysed, looks at the numbers, moves its start, takes it back and starts it.
An administrator declares a pair of applications for iOS and uploads its key, an operator sends a test push and closes a circuit; an
administrator changes an application with what it declares, an external account and a service.
Of every page: each control has a role and a name and is reached with the keyboard in the order of the page, each text has a contrast of
4.5, and nothing is wider than the window; so it is in German and French, too. With a second folder it keeps a picture of each page there.
"""

import base64
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
import urllib.error
import urllib.parse
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

# Text that is large needs 3, all other 4.5 (WCAG 2.2, 1.4.3); here all of it has 4.5.
CONTRAST = 4.5
WIDTHS = (360, 768, 1440)
DEADLINE = 30

# What may have the focus, as assistive software is told; all of it has a name.
ROLES = {
    "link", "button", "textbox", "searchbox", "combobox", "listbox", "option", "MenuListPopup", "checkbox", "radio", "spinbutton",
    "DisclosureTriangle", "navigation", "region", "Date", "DateTime",
}
# Controls that are reached with the keyboard, numbered in the order of the page.
CONTROLS = r"""
const all = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")];
// Of a group of radio buttons the chosen one is reached; the arrow keys go on from there.
const chosen = (e) => e.type !== "radio" || e.checked || !document.querySelector(`input[type=radio][name="${e.name}"]:checked`);
const shown = all.filter((e) => !e.disabled && e.checkVisibility() && e.tabIndex >= 0 && chosen(e));
shown.forEach((e, i) => { e.dataset.place = i; });
return [shown.length, Number(document.activeElement.dataset.place ?? -1)];
"""
# What has the focus now: its number, and whether one sees that it has it.
FOCUS = r"""
const e = document.activeElement;
const style = getComputedStyle(e);
return [Number(e.dataset.place ?? -1), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2, e.outerHTML.slice(0, 100)];
"""

# What a page is judged by, in the page itself: controls without a name, texts without contrast, what is wider than the window.
JUDGE = r"""
const problems = [];
const visible = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
const name = (e) => (e.getAttribute("aria-label") || (e.labels && [...e.labels].map((l) => l.textContent).join(" "))
    || e.textContent || e.value || "").trim();
for (const e of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, nav, [role=search]"))
    if (visible(e) && !name(e)) problems.push(`no name: ${e.outerHTML.slice(0, 120)}`);
if (document.querySelectorAll("h1").length !== 1) problems.push("not one h1");
if (document.querySelectorAll("main").length !== 1) problems.push("not one main");
if (!document.documentElement.lang || !document.title) problems.push("no language or no title");
let level = 1;
for (const e of document.querySelectorAll("h1, h2, h3, h4")) {
    const own = Number(e.tagName[1]);
    if (own > level + 1) problems.push(`heading ${e.textContent} skips a level`);
    level = own;
}
const parse = (text) => {
    const m = text.match(/rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)/);
    return m ? [Number(m[1]), Number(m[2]), Number(m[3]), m[4] === undefined ? 1 : Number(m[4])] : null;
};
const over = (top, ground) => [0, 1, 2].map((i) => top[i] * top[3] + ground[i] * (1 - top[3])).concat(1);
const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (e) => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) {
        const style = getComputedStyle(at);
        const image = style.backgroundImage.match(/rgba?\([^)]*\)/);
        if (image) layers.push(parse(image[0]));
        const colour = parse(style.backgroundColor);
        if (colour && colour[3] > 0) layers.push(colour);
        if (layers.length && layers[layers.length - 1][3] === 1) break;
    }
    let result = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
    for (const layer of layers.reverse()) result = over(layer, result);
    return result;
};
let texts = 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.textContent.trim() || !visible(e) || e.closest(".hidden, .skip, script, noscript, title")) continue;
    const back = ground(e);
    const front = over(parse(getComputedStyle(e).color), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    texts += 1;
    if (contrast < arguments[0]) problems.push(`contrast ${contrast.toFixed(2)}: ${node.textContent.trim().slice(0, 60)}`);
}
if (texts < 3) problems.push(`only ${texts} texts were looked at`);
const wide = document.documentElement.scrollWidth;
if (wide > window.innerWidth) {
    problems.push(`${wide} pixels wide, and the window ${window.innerWidth}`);
    for (const e of document.querySelectorAll("main *"))
        if (e.getBoundingClientRect().right > window.innerWidth + 1) { problems.push(`too wide: ${e.outerHTML.slice(0, 100)}`); break; }
}
return problems;
"""


def run(*command, text=None):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, input=text)
    if result.returncode != 0:
        raise SystemExit(f"{command[0]} {command[1]} ended with {result.returncode}: {result.stdout}{result.stderr}")
    return result.stdout


def check(condition, words):
    if not condition:
        raise SystemExit(f"console: {words}")


def until(what, condition, deadline=DEADLINE):
    """Waits until a condition gives something true, and returns that."""
    end = time.monotonic() + deadline
    while time.monotonic() < end:
        try:
            found = condition()
            if found:
                return found
        except (OSError, WebDriverException):
            # Not there yet, as a page that is being loaded.
            pass
        time.sleep(0.05)
    raise SystemExit(f"{what}: not within {deadline} s")


class Site:
    """A site of quickstart with what pages have to show, and a console over it."""

    def __init__(self, programs, folder):
        self.pushmta, self.lab, self.folder = programs / "pushmta", programs / "pushmta-lab", folder
        words = run(self.lab, "quickstart", "run", "--folder", folder, "--messages", 2000, "--json", "--fresh", "--detach")
        # The site has a console of its own, with a first user; the tests' one has other settings, and the same users.
        self.own = json.loads(words.splitlines()[-1])
        self.database = self.own["database"]
        self.settings = folder / "pushmta.yaml"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self.passwords = {}
        self.console = None
        self.fill()
        self.start()

    def command(self, *words, text=None):
        return run(self.pushmta, *words, "--config", self.settings, text=text)

    def sql(self, statement):
        return run("psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", self.database, "-c", statement)

    def fill(self):
        self.applications = json.loads(self.command("app", "list", "--json"))
        names = ",".join(f"'{row['name']}'" for row in self.applications)
        content = '{"ios": {"title": "Hello"}, "android": {"title": "Hello"}}'
        made = []
        for label in ("Winter sale, first wave", "Cart reminder", "<b>Bold</b> & \u201cquoted\u201d"):
            made.append(
                self.sql(
                    f"SELECT pushmta.create_delivery(label => '{label}', applications => ARRAY[{names}], content => '{content}')"
                ).strip()
            )
        self.paused, self.open, self.hostile = made
        # So slow that it is under way as long as the test.
        self.sql(f"SELECT pushmta.set_delivery_rate({self.open}, 2)")
        self.sql(f"SELECT pushmta.start_delivery({self.open})")
        # In one transaction: it would be at its end before it is paused.
        self.sql(f"SELECT pushmta.start_delivery({self.paused}); SELECT pushmta.pause_delivery({self.paused})")
        target = ["--app", self.applications[0]["name"], "--filter", "locale = 'fr' and parameters.tier in ('gold', 'silver')"]
        self.command(
            "template", "add", "Spring in France", "--label", "What France gets in spring", *target,
            "--content", '{"ios": {"title": "Bonjour {{name|vous}}"}, "android": {"title": "Bonjour {{name|vous}}"}}',
            "--settings", '{"priority": 10, "validity_seconds": 86400}',
        )
        self.service = self.sql("SELECT name FROM pushmta.service ORDER BY id LIMIT 1").strip()
        self.template = self.sql("SELECT id FROM pushmta.delivery_template WHERE NOT ready_made").strip()
        for role in ("read", "marketing", "operate", "admin"):
            self.passwords[role] = self.command("console", "user", "add", role, "--role", role).strip()

    def start(self):
        log = open(self.folder / "log/console.log", "ab")
        settings = ["--set", f"console.port={self.port}", "--set", "console.signInFailures=3"]
        self.console = subprocess.Popen(
            [str(self.pushmta), "console", "--config", str(self.settings), *settings], stdout=log, stderr=log
        )
        until("the console serves", lambda: urllib.request.urlopen(self.base + "/sign-in", timeout=5).status == 200)

    def state(self, delivery):
        return self.sql(f"SELECT state FROM pushmta.delivery_progress WHERE id = {delivery}").strip()

    def stop(self):
        if self.console:
            self.console.send_signal(signal.SIGTERM)
            status = self.console.wait(timeout=DEADLINE)
            check(status == 0, f"it ended with {status}")
        run(self.lab, "quickstart", "stop", "--folder", self.folder)


class Browser:
    def __init__(self, site, pictures):
        self.site, self.pictures = site, pictures
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        # As root, and in containers, there is no sandbox and little shared memory; scroll bars would take from the width.
        for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.chrome.service.Service(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.set_page_load_timeout(DEADLINE)

    def open(self, path):
        self.driver.get(self.site.base + path)

    def find(self, selector):
        # The answer to a form may be under way.
        return until(f"the page has {selector}", lambda: self.driver.find_elements(By.CSS_SELECTOR, selector))[0]

    def text(self):
        return self.driver.find_element(By.TAG_NAME, "body").text

    def has(self, words):
        until(f"{self.driver.current_url} says {words!r}", lambda: words in self.text())

    def asks(self):
        """Whether the page asks before it is left."""
        return self.driver.execute_script(
            "const event = new Event('beforeunload', { cancelable: true }); dispatchEvent(event); return event.defaultPrevented"
        )

    def sign_in(self, user, password):
        self.driver.delete_all_cookies()
        self.open("/sign-in")
        self.find("#user").send_keys(user)
        self.find("#password").send_keys(password)
        self.find("button[type=submit]").click()

    def look(self, width, scheme):
        """A window of this width, in light or dark."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def judge(self, name, path):
        """The page in both schemes and all widths."""
        self.open(path)
        self.judge_here(name)

    def judge_here(self, name):
        """The page that is open, in both schemes and all widths."""
        for scheme in ("light", "dark"):
            for width in WIDTHS:
                self.look(width, scheme)
                problems = self.driver.execute_script(JUDGE, CONTRAST)
                check(not problems, f"{name}, {scheme}, {width} pixels: " + "; ".join(problems[:8]))
                if self.pictures and width != 768:
                    size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
                    clip = {"x": 0, "y": 0, "width": width, "height": min(size["height"], 4000), "scale": 1}
                    words = {"clip": clip, "captureBeyondViewport": True}
                    data = self.driver.execute_cdp_cmd("Page.captureScreenshot", words)["data"]
                    (self.pictures / f"{name}-{width}-{scheme}.png").write_bytes(base64.b64decode(data))
        self.look(1440, "light")
        self.listen(name)
        self.walk(name)

    def listen(self, name):
        """What assistive software is told of all that can have the focus: a role that it knows, and a name."""
        for node in self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]:
            traits = {row["name"]: row["value"].get("value") for row in node.get("properties", [])}
            role = node.get("role", {}).get("value")
            if node.get("ignored") or not traits.get("focusable") or role in ("RootWebArea", "main"):
                continue
            check(role in ROLES, f"{name}: something of role {role} has the focus")
            check(node.get("name", {}).get("value", "").strip(), f"{name}: a {role} without a name")

    def walk(self, name):
        """With the keyboard alone each control is reached, in the order of the page, is seen to be, and lets go."""
        # The live part stands still meanwhile: each time it is exchanged, its controls are others. If newer pages took its place, it
        # stands still already, and the button would let it go on.
        self.driver.execute_script(
            "const control = document.getElementById('live-control'), button = document.getElementById('live-button');"
            "if (control && !control.hidden && button.textContent.trim() === control.dataset.pause) button.click()"
        )
        count, place = self.driver.execute_script(CONTROLS)
        check(count > 0, f"{name}: nothing can be reached with the keyboard")
        parts = 0
        while place + 1 < count:
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            found, is_seen, markup = self.driver.execute_script(FOCUS)
            # A date and time is reached part by part: day, month, year, hours, minutes, and the button of its calendar. So is a date.
            parts = parts + 1 if found == place and ("datetime-local" in markup or 'type="date"' in markup) else 0
            if 0 < parts < 10:
                continue
            check(found == place + 1, f"{name}: after control {place} comes {found}: {markup}")
            check(is_seen, f"{name}: one does not see that this has the focus: {markup}")
            place = found


def pages(site):
    """Every page that there is, by name, for an administrator: what a page is judged by, a new one is judged by with its line here."""
    first = site.sql("SELECT min(id) FROM pushmta_engine.delivery").strip()
    host = site.sql("SELECT id FROM pushmta.mta_host WHERE state = 'running' LIMIT 1").strip()
    child = site.sql("SELECT min(id) FROM pushmta.mta_child WHERE exited_at IS NULL").strip()
    application = site.sql("SELECT min(id) FROM pushmta_engine.application").strip()
    account = site.sql("SELECT min(id) FROM pushmta_engine.external_account").strip()
    return {
        "now": "/",
        "deliveries": "/deliveries",
        "filtered": "/deliveries?state=paused&text=nothing",
        "deliveries-by-rate": "/deliveries?sort=click_rate&since=2020-01-01",
        "archived": "/deliveries?state=archived",
        "compare": f"/deliveries/compare?a={first}&b={site.open}",
        "compare-ask": f"/deliveries/compare?a={first}",
        "archive": f"/deliveries/{first}/archive",
        "approvals": "/approvals",
        "delivery": f"/deliveries/{first}",
        "delivery-open": f"/deliveries/{site.open}",
        "delivery-paused": f"/deliveries/{site.paused}",
        "delivery-hostile": f"/deliveries/{site.hostile}",
        "stop": f"/deliveries/{site.paused}/stop",
        "alarms": "/alarms",
        "hosts": "/hosts",
        "drain": f"/hosts/{host}/drain",
        "recycle": f"/children/{child}/recycle",
        "settings": "/hosts/settings",
        "events": "/events",
        "templates": "/templates",
        "template": f"/templates/{site.template}",
        "template-delete": f"/templates/{site.template}/delete",
        "audit": "/audit",
        "users": "/users",
        "user-new": "/users/new",
        "user-role": "/users/role?name=read",
        "user-password": "/users/password?name=read",
        "user-remove": "/users/remove?name=read",
        "find-message": "/messages?id=1-1",
        "find-message-nothing": "/messages?id=projects/sample/messages/1",
        "services": "/services",
        "service-new": "/services/new",
        "service-change": f"/services/change?service={site.service}",
        "service-subscriptions": f"/services/subscriptions?service={site.service}",
        "service-hours": f"/services/hours?service={site.service}",
        "service-approval": f"/services/approval?service={site.service}",
        "ios-pair": "/services/ios-pair",
        "android-new": "/services/android",
        "application": f"/services/applications/{application}",
        "application-change": f"/services/applications/{application}/change",
        "application-copy": f"/services/applications/{application}/copy",
        "application-test": f"/services/applications/{application}/test",
        "application-resume": f"/services/applications/{application}/resume",
        "credential": f"/services/applications/{application}/credential",
        "accounts": "/services/accounts",
        "account-new": "/services/accounts/new",
        "account": f"/services/accounts/{account}",
        "account-change": f"/services/accounts/{account}/change",
        "not-found": "/nothing",
    }


def test_doors(site, browser):
    """Who has not signed in, or may not, sees nothing and changes nothing."""
    browser.open(f"/deliveries/{site.open}")
    browser.has("Sign in")
    check("session has ended" not in browser.text(), "a first visit is told that a session has ended")
    browser.judge("sign-in", "/sign-in")
    for _ in range(3):
        browser.sign_in("nobody", "not a password")
        browser.has("Name or password is wrong")
    browser.sign_in("nobody", "not a password")
    browser.has("Too many attempts have failed")
    browser.sign_in("read", site.passwords["read"])
    browser.has("Sending")
    check("Audit" not in browser.find("header").text, "a reader is shown the audit log")
    browser.open("/audit")
    browser.has("Your role does not allow this")
    browser.open(f"/deliveries/{site.open}")
    check("Stop permanently" not in browser.text(), "a reader is shown how to stop a delivery")
    browser.open(f"/deliveries/{site.open}/stop")
    browser.has("Your role does not allow this")


def test_first(site, browser):
    """The first user of quickstart's console has a password that is good for choosing another."""
    check(urllib.request.urlopen(site.own["console"] + "/sign-in", timeout=DEADLINE).status == 200, "the site's own console is not up")
    user, password, chosen = site.own["consoleUser"], site.own["consolePassword"], "a password of one's own"
    browser.sign_in(user, password)
    browser.has("You have signed in with a one-time password")
    browser.judge("password", "/password")
    browser.open("/deliveries")
    browser.has("You have signed in with a one-time password")
    for field, words in (("password", "not the one"), ("new", chosen), ("again", chosen)):
        browser.find(f"#{field}").send_keys(words)
    browser.find("main button").click()
    browser.has("The current password is wrong")
    for field, words in (("password", password), ("new", chosen), ("again", chosen)):
        browser.find(f"#{field}").send_keys(words)
    browser.find("main button").click()
    browser.has("The last hour")
    browser.sign_in(user, password)
    browser.has("Name or password is wrong")
    browser.sign_in(user, chosen)
    browser.has("The last hour")


def test_forms(site, browser):
    """A form counts with the token of its session only."""
    browser.sign_in("operate", site.passwords["operate"])
    browser.has("Sending")
    browser.open(f"/deliveries/{site.open}")
    browser.driver.execute_script(
        "document.querySelector('form[action$=\"/pause\"] input[name=token]').value = '0'.repeat(64)"
    )
    browser.find("form[action$='/pause'] button").click()
    browser.has("This form is no longer valid")
    check(site.state(site.open) == "in_progress", f"it was changed: {site.state(site.open)}")
    cookies = {row["name"]: row for row in browser.driver.get_cookies()}
    session = cookies["pushmta-session"]
    check(session["httpOnly"] and session["sameSite"] == "Strict", f"the cookie is open: {session}")


def test_work(site, browser):
    """Finding a delivery, pausing, resuming and stopping it."""
    browser.open("/deliveries")
    browser.find("#text").send_keys("cart")
    browser.find("form[role=search] button").click()
    browser.has("Cart reminder")
    check("Winter sale" not in browser.text(), "the filter shows more")
    browser.find("tbody th a").click()
    browser.has("From target to click")
    browser.find("form[action$='/pause'] button").click()
    browser.has("The delivery is paused")
    check(site.state(site.open) == "paused", "it is not paused")
    browser.find("form[action$='/resume'] button").click()
    browser.has("The delivery continues")
    browser.find("a.danger").click()
    browser.has("Stop this delivery permanently?")
    browser.find("form.actions a").click()
    browser.has("From target to click")
    browser.find("a.danger").click()
    browser.find("form.actions button").click()
    browser.has("The delivery is stopped")
    check(site.state(site.open) == "stopped", "it is not stopped")


def test_delivery(site, browser):
    """The page of a delivery under way has a rate and the time that is left; that of one that has ended has its course."""
    names = ",".join(f"'{row['name']}'" for row in site.applications)
    content = '{"ios": {"title": "Slow news"}, "android": {"title": "Slow news"}}'
    slow = site.sql(
        f"SELECT pushmta.create_delivery(label => 'Slow news', applications => ARRAY[{names}], content => '{content}')"
    ).strip()
    # As slow as the other one that is under way during tests.
    site.sql(f"SELECT pushmta.set_delivery_rate({slow}, 2); SELECT pushmta.start_delivery({slow})")
    browser.open(f"/deliveries/{slow}")
    for words in ("Target and settings", "Current rate", "Limited by", "Time left"):
        browser.has(words)
    check("Slow news" in browser.find("#content-title ~ .two").text, "the page does not show what it says")
    browser.judge_here("delivery-rate")
    site.sql(f"SELECT pushmta.stop_delivery({slow})")
    first = site.sql("SELECT min(id) FROM pushmta_engine.delivery").strip()
    for delivery in (slow, first):
        until("a delivery ends", lambda: site.sql(f"SELECT finished_at FROM pushmta.delivery_progress WHERE id = {delivery}").strip())
        browser.open(f"/deliveries/{delivery}")
        target = int(site.sql(f"SELECT target FROM pushmta.delivery_progress WHERE id = {delivery}"))
        total = browser.find("#outcomes-total").text
        check(total == f"{target:,}", f"the outcomes are {total} together, and the target is {target}")
        for words in ("Current rate", "Time left"):
            check(words not in browser.text(), f"a delivery that has ended shows {words!r}")
    browser.has("Outcomes over time")
    check("in the time zone" in browser.text(), "the axis has no time zone")
    browser.find("section[aria-labelledby=chart-outcomes] summary").click()
    browser.judge_here("delivery-charts")


def test_list(site, browser):
    """Two deliveries are chosen in the list and compared; one is archived, found by the filter, and shown again."""
    done = site.sql(
        "SELECT string_agg(id::text, ' ') FROM (SELECT id FROM pushmta_engine.delivery WHERE state IN ('finished', 'stopped') "
        "AND finished_at IS NOT NULL AND parent_delivery_id IS NULL ORDER BY listed_at DESC, id DESC LIMIT 2) d"
    ).split()
    check(len(done) == 2, f"two deliveries have ended: {done}")

    def choose(path, ids, act):
        browser.open(path)
        for one in ids:
            browser.find(f"input[name='chosen.{one}']").click()
        browser.find(f"button[value={act}]").click()

    def archived(one):
        return site.sql(f"SELECT archived_at IS NOT NULL FROM pushmta_engine.delivery WHERE id = {one}").strip() == "t"

    browser.sign_in("marketing", site.passwords["marketing"])
    browser.has("Sending")
    choose("/deliveries", done[:1], "compare")
    browser.has("Select exactly two deliveries")
    choose("/deliveries", done, "compare")
    browser.has("Compare two deliveries")
    browser.has("The true difference lies within the interval")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        browser.judge(f"compare-{code}", f"/deliveries/compare?a={done[0]}&b={done[1]}")
        browser.judge(f"deliveries-{code}", "/deliveries")
        browser.judge(f"approvals-{code}", "/approvals")
    browser.driver.delete_cookie("pushmta-language")
    choose("/deliveries?sort=sent", done[:1], "archive")
    browser.has("Archived: 1 of 1")
    check(archived(done[0]), "it is not archived")
    check("sort=sent" in browser.driver.current_url, "the order is lost")
    check(not browser.driver.find_elements(By.CSS_SELECTOR, f"tbody a[href='/deliveries/{done[0]}']"), "an archived delivery is listed")
    browser.open("/deliveries")
    browser.find("#state option[value=archived]").click()
    browser.find("form[role=search] button").click()
    browser.find(f"tbody a[href='/deliveries/{done[0]}']").click()
    browser.find("a[href$='/archive']").click()
    browser.has("Show this delivery in lists again?")
    browser.find("main form.actions button").click()
    browser.has("Lists show the delivery again")
    browser.find("a[href$='/archive']")
    check(not archived(done[0]), "it is archived still")
    check("compare" in browser.driver.page_source, "the page does not lead to the comparison")


def test_people(site, browser):
    """Somebody is looked up, let out of quarantine and forgotten; a delivery's outcomes are taken away."""
    person, first = site.sql("SELECT min(id) FROM pushmta_engine.subscription"), site.sql("SELECT min(id) FROM pushmta_engine.delivery")
    person, first = person.strip(), first.strip()
    site.sql(
        "UPDATE pushmta_engine.subscription SET user_key = 'customer-4711', quarantine_status = 2, quarantined_at = now(), "
        f"quarantine_reason = 'BadDeviceToken', locale = 'en' WHERE id = {person}"
    )
    browser.sign_in("read", site.passwords["read"])
    browser.has("Sending")
    browser.judge("subscribers", "/subscribers")
    browser.find("#wanted").send_keys("customer-4711")
    browser.find("main form[role=search] button").click()
    browser.has(f"Subscription {person}")
    browser.has("Your role sees only the beginning of the user key")
    check("customer-4711" not in browser.text(), "a reader sees a user key")
    check(not browser.driver.find_elements(By.CSS_SELECTOR, ".actions"), "a reader may change something")
    token = site.sql(f"SELECT push_token FROM pushmta_engine.subscription WHERE id = {person}").strip()
    # The list of its service, by pages, and the search in it.
    own = f"/services/subscriptions?service={site.service}"
    browser.open("/services")
    browser.find(f"main a[href='{own}']").click()
    check(len(browser.driver.find_elements(By.CSS_SELECTOR, "tbody tr")) > 0, "the list of subscribers is empty")
    check(token not in browser.driver.page_source, "a list shows push tokens")
    browser.open(own + f"&below={int(person) + 1}")
    browser.find(f"tbody a[href='/subscribers/{person}']").click()
    browser.has(f"Subscription {person}")
    browser.open(own)
    browser.find("#wanted").send_keys("customer-nobody")
    browser.find("main form[role=search] button").click()
    browser.has("No subscription was found")
    browser.judge_here("service-subscriptions-nobody")
    browser.find(f"main nav a[href='{own}']").click()
    browser.find("#wanted").send_keys("customer-4711")
    browser.find("main form[role=search] button").click()
    browser.has(f"Subscription {person}")
    browser.open("/subscribers")
    browser.driver.find_element(By.CSS_SELECTOR, "#by option[value=push_token]").click()
    browser.find("#wanted").send_keys(token[::-1])
    browser.find("main form[role=search] button").click()
    browser.has("No subscription was found")
    check(token[::-1] not in browser.driver.page_source, "a push token that was typed is shown again")
    browser.open("/subscribers")
    browser.driver.find_element(By.CSS_SELECTOR, "#by option[value=push_token]").click()
    browser.find("#wanted").send_keys(token)
    browser.find("main form[role=search] button").click()
    browser.has(f"Subscription {person}")
    check(token not in browser.driver.page_source, "a push token is shown")
    browser.sign_in("admin", site.passwords["admin"])
    browser.has("Sending")
    browser.judge("quarantine", "/quarantine")
    browser.has("The latest")
    browser.judge("subscriber", f"/subscribers/{person}")
    browser.has("customer-4711")
    browser.find("a[href$='/lift']").click()
    browser.has("Lift the quarantine?")
    browser.find("form[action$='/lift'] button").click()
    browser.has("The quarantine is lifted")
    browser.find("a[href$='/opt_out']").click()
    browser.has("Opt this person out?")
    browser.find("form[action$='/opt_out'] button").click()
    browser.has("this person wants no messages")
    # The categories of the service: one is not wanted, and wanted again.
    browser.find("a[href$='/category_out?category=news']").click()
    browser.has("Unsubscribe this person?")
    browser.judge_here("category-out")
    browser.find("main form.actions button").click()
    browser.has("It is recorded what this person wants")
    browser.has("no, since")
    browser.judge_here("subscriber-categories")
    wanted = f"SELECT count(*) FROM pushmta_engine.category_opt_out WHERE subscription_id = {person}"
    check(site.sql(wanted).strip() == "1", "the opt-out of a category is not there")
    browser.find("a[href$='/category_in?category=news']").click()
    browser.has("Does this person want this category again?")
    browser.find("main form.actions button").click()
    browser.has("It is recorded what this person wants")
    check(site.sql(wanted).strip() == "0", "the opt-out of a category is still there")
    browser.judge("forget", f"/subscribers/{person}/forget")
    browser.find("main form.actions button").click()
    browser.has("The user is forgotten")
    check(site.sql(f"SELECT user_key FROM pushmta_engine.subscription WHERE id = {person}").strip() == "", "the user is there")
    browser.open(f"/deliveries/{first}")
    token = browser.find("form.take input[name=token]").get_attribute("value")
    cookies = "; ".join(f"{row['name']}={row['value']}" for row in browser.driver.get_cookies())
    request = urllib.request.Request(
        f"{site.base}/deliveries/{first}/outcomes.csv", data=f"token={token}".encode(), headers={"Cookie": cookies}
    )
    lines = urllib.request.urlopen(request, timeout=DEADLINE).read().decode().split("\r\n")
    target = int(site.sql(f"SELECT target FROM pushmta.delivery_progress WHERE id = {first}"))
    check(lines[0].startswith("message,subscription_id,") and len(lines) == target + 2, f"{len(lines)} lines of {target} messages")
    browser.open("/audit")
    for words in ("looked up a subscriber", "lifted a quarantine", "forgot a user", "downloaded outcomes"):
        browser.has(words)


def rules(browser):
    """A filter is made of rows, which are added and removed with buttons of the form; the return key saves."""

    def row(place, field, comparison, value):
        for name, text in (("field", field), ("value", value)):
            browser.find(f"[name='row.{place}.{name}']").clear()
            browser.find(f"[name='row.{place}.{name}']").send_keys(text)
        browser.find(f"[name='row.{place}.is'] option[value='{comparison}']").click()

    row(0, "locale", "starts with", "en")
    browser.find("button[value=add]").click()
    browser.find("[name='row.1.field']")
    row(1, "registered_at", "<", "soon")
    browser.find("[name='row.1.value']").send_keys(Keys.RETURN)
    check("compare it with" in browser.find(".rule.wrong .field-problem").text, "the problem is not at its row")
    row(1, "registered_at", "<", "now - 1 days")
    browser.find("button[value=add]").click()
    browser.find("[name='row.2.field']")
    row(2, "user_key", "is not null", "")
    browser.find("button[value=stay]:not(.hidden)").click()
    made = "locale starts with 'en' and registered_at < now - 1 days and user_key is not null"
    until("the rows make the text", lambda: browser.find("#filter").get_attribute("value") == made)
    browser.find("button[value='remove.1']").click()
    made = "locale starts with 'en' and user_key is not null"
    until("a row is removed", lambda: browser.find("#filter").get_attribute("value") == made)
    browser.find("button[value=add]").click()
    browser.find("[name='row.2.field']")
    row(2, "clicked", "not label", "Spring within 30 days")
    browser.find("button[value=stay]:not(.hidden)").click()
    asked = f"{made} and not clicked label 'Spring' within 30 days"
    until("a row asks what people did", lambda: browser.find("#filter").get_attribute("value") == asked)
    browser.find("button[value='remove.2']").click()
    until("that row is removed", lambda: browser.find("#filter").get_attribute("value") == made)


def test_compose(site, browser):
    """A delivery is written in steps: errors at their fields, the two phones, a proof, the start."""
    name = site.applications[0]["name"]
    platform = site.applications[0]["platform"]
    token = site.sql(
        f"SELECT s.push_token FROM pushmta_engine.subscription s JOIN pushmta_engine.application a ON a.id = s.application_id "
        f"WHERE a.name = '{name}' LIMIT 1"
    ).strip()
    site.sql(f"SELECT pushmta.add_seed(name => 'ada-phone', application => '{name}', push_token => '{token}', label => 'Ada')")
    browser.sign_in("marketing", site.passwords["marketing"])
    browser.has("Sending")
    browser.find("header a[href='/compose']").click()
    browser.find("#label").send_keys("Spring sale")
    browser.find("form[action='/compose'] button").click()
    browser.has("Save and continue")
    draft = browser.driver.current_url.removeprefix(site.base).removesuffix("/applications")
    for box in browser.driver.find_elements(By.CSS_SELECTOR, "input[type=checkbox]"):
        box.click()
    browser.find("button[value=next]").click()
    browser.has("Which subscribers")
    browser.find("#filter").send_keys("locale = ")
    browser.find("button[value=next]").click()
    browser.find(".wrong #filter").clear()
    browser.find("button[value=stay]:not(.hidden)").click()
    browser.has("Saved.")
    rules(browser)
    browser.judge("compose-target-rules", draft + "/target")
    # An exclusion list that goes meanwhile is told, and stays until somebody takes it off.
    site.sql("SELECT pushmta.create_exclusion_list('left-us')")
    browser.open(draft + "/target")
    browser.find("[name='list.left-us']").click()
    browser.find("button[value=stay]:not(.hidden)").click()
    browser.has("Saved.")
    site.sql("DELETE FROM pushmta_engine.exclusion_list WHERE name = 'left-us'")
    browser.judge("compose-send-gone", draft + "/send")
    browser.has("\u201cleft-us\u201d no longer exists")
    browser.judge("compose-target-gone", draft + "/target")
    browser.has("no longer exists")
    browser.find("[name='list.left-us']").click()
    browser.find("#filter").clear()
    browser.find("button[value=next]").click()
    browser.has("Languages and fields")

    def field(key):
        return browser.find(f"[id='{key}']")

    for own in ("ios", "android"):
        field(f"{own}.title").send_keys("Spring is here, {{name|friend}} \u00b7 everything must go before the end of the week")
        long = "and much more for every day of the week. " * 5
        field(f"{own}.body").send_keys("Up to 50 % on jackets, \u05e9\u05dc\u05d5\u05dd, " + long)
    badge = field("ios.badge")
    badge.send_keys("many")
    browser.find("button[value=next]").click()
    check(browser.find(".wrong:has([id='ios.badge']) .field-problem").text, "the problem is not at its field")
    check(len(browser.driver.find_elements(By.CSS_SELECTOR, ".field.wrong")) == 1, "another field is called wrong")
    browser.judge("compose-content-wrong", draft + "/content?saved=1")
    field("ios.badge").clear()
    field("ios.badge").send_keys("3")
    field("ios.media_url").send_keys("https://example.com/spring.png")
    field("android.image").send_keys("https://example.com/spring.png")
    browser.find("button[value=next]").click()
    browser.has("Lock screen")
    check(len(browser.driver.find_elements(By.CSS_SELECTOR, ".phone")) == 4, "there are not four phones")
    check("Spring is here, friend" in browser.find(f"section[aria-labelledby='{platform}-phone']").text, "no title is shown")
    # The application's icon is loaded on each phone, beside a message and with its number.
    site.sql(f"UPDATE pushmta_engine.application SET icon = decode('{ICON.hex()}', 'hex') WHERE name = '{name}'")
    browser.open(draft + "/preview")
    loaded = f"return [...document.querySelectorAll('section[aria-labelledby={platform}-phone] .app-icon img')]" + ".map(i => i.naturalWidth)"
    until("the icons are loaded", lambda: set(browser.driver.execute_script(loaded)) == {48})
    browser.judge_here("compose-preview-icon")
    site.sql(f"UPDATE pushmta_engine.application SET icon = NULL WHERE name = '{name}'")
    browser.open(draft + "/preview")
    browser.find("[name='sample.name']").send_keys("Ada")
    browser.find("button[value=stay]").click()
    browser.has("Spring is here, Ada")
    # The values of somebody who is known by user key, which is in no address.
    site.sql(
        "UPDATE pushmta_engine.subscription SET user_key = 'customer-0815', recipient = '{\"name\": \"Grace\"}' WHERE id = (SELECT min(s.id) "
        f"FROM pushmta_engine.subscription s JOIN pushmta_engine.application a ON a.id = s.application_id WHERE a.name = '{name}')"
    )
    browser.find("#key").send_keys("customer-0815")
    browser.find("form[action$='/reader'] button").click()
    browser.has("Spring is here, Grace")
    check("customer-0815" not in browser.driver.current_url, "a user key is in an address")
    browser.judge_here("compose-preview-person")
    browser.find("#key").send_keys("customer-nobody")
    browser.find("form[action$='/reader'] button").click()
    browser.has("No one with this user key")
    for step in ("applications", "target", "content", "preview", "when", "experiment", "limits", "approval", "send"):
        browser.judge(f"compose-{step}", f"{draft}/{step}")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        for step in ("when", "limits", "approval"):
            browser.judge(f"compose-{step}-{code}", f"{draft}/{step}")
    browser.driver.delete_cookie("pushmta-language")
    # Characters and bytes while a text is typed: an accented letter is one character of two bytes.
    browser.open(draft + "/content")
    before = browser.find("[id='ios.title-count']").text
    field("ios.title").send_keys("\u00e9")
    after = browser.find("[id='ios.title-count']").text
    numbers = [[int(n) for n in re.findall(r"\d+", words.replace(",", ""))] for words in (before, after)]
    check([b - a for a, b in zip(*numbers)] == [1, 2, 0], f"the count went from {before} to {after}")
    # The rate is a limit, which a later step keeps.
    browser.open(draft + "/limits")
    field("settings.messages_per_second").send_keys("500")
    browser.find("button[value=next]").click()
    browser.find("[aria-current=step][href$='/approval']")
    browser.find("a.button.main[href$='/send']").click()
    browser.find("#sending")
    browser.judge("compose", "/compose")
    browser.open(draft + "/send")
    # How it is sent: what is wrong stands at its field, and whichever button is pressed keeps it.
    field("settings.weight").send_keys("11")
    browser.find("button[value=start]").click()
    check("from 1 to 10" in browser.find(".wrong:has([id='settings.weight']) .field-problem").text, "the problem is not at its field")
    check(browser.driver.find_elements(By.ID, "start-title"), "what else is typed is hidden by a wrong setting")
    browser.judge_here("compose-send-wrong")
    field("settings.weight").clear()
    field("settings.weight").send_keys("3")
    field("settings.validity_seconds").send_keys("36")
    browser.find("[name='settings.validity_unit'] option[value=hours]").click()
    browser.find("[id='settings.ambiguity_policy'] option[value=report]").click()
    browser.find("#keep").send_keys("Spring again")
    browser.find("[formaction$='/template']").click()
    browser.has("The template is saved")
    browser.has('"validity_seconds": 129600')
    browser.open(draft + "/send")
    check(field("settings.validity_seconds").get_attribute("value") == "36", "a setting is gone")
    browser.find("#seed-0").click()
    browser.find("[formaction$='/proof']").click()
    browser.has("The proof is on its way")
    browser.find("button[value=start]").click()
    browser.has("36 hours")
    browser.has("count it as unknown")
    browser.judge_here("compose-start")
    browser.find("form[action$='/start'] button").click()
    browser.has("From target to click")
    browser.has("Spring sale")
    delivery = browser.driver.current_url.rsplit("/", 1)[1].split("?")[0]
    check(site.state(delivery) not in ("editing", "failed"), f"it was not started: {site.state(delivery)}")
    kept = site.sql(f"SELECT weight, validity, ambiguity_policy FROM pushmta_engine.delivery WHERE id = {delivery}").strip()
    check(kept == "3|36:00:00|report", f"it is sent with {kept}")
    browser.open(draft + "/send")
    # The draft has become the delivery, and its address leads there.
    until("the draft's address leads to its delivery", lambda: "/deliveries/" in browser.driver.current_url)


def test_analyse(site, browser):
    """A delivery is duplicated and analysed; its page goes on to the numbers by itself. Its start is set, moved and taken back. A
    large one is approved by somebody else, and recalled."""

    def analyse():
        browser.find("[formaction$='/analyse']").click()
        browser.find("#analysis-title")
        delivery = browser.driver.current_url.rsplit("/", 1)[1]
        # Nobody loads the page again.
        browser.has("Minimum sending time")
        browser.has("Last message leaves no earlier than")
        check(site.state(delivery) == "ready", f"it is {site.state(delivery)}")
        return delivery

    def go(button, moment=None):
        """Presses a button, and confirms it."""
        if moment:
            browser.find("#at")
            browser.driver.execute_script("document.getElementById('at').value = arguments[0]", moment)
        browser.find(button).click()
        browser.find("form.actions button.main").click()

    def begins(delivery):
        return site.sql(f"SELECT start_at AT TIME ZONE 'UTC' FROM pushmta_engine.delivery WHERE id = {delivery}").strip()

    browser.sign_in("marketing", site.passwords["marketing"])
    browser.has("Sending")
    first = site.sql("SELECT max(id) FROM pushmta_engine.delivery WHERE label = 'Spring sale' AND NOT proof").strip()
    browser.open(f"/deliveries/{first}")
    browser.find("form[action$='/duplicate'] button").click()
    browser.has("Save and continue")
    check(browser.find("#label").get_attribute("value") == "Spring sale", "the draft has another name")
    browser.has(f"Copied from delivery {first}")
    draft = browser.driver.current_url.removeprefix(site.base).removesuffix("/applications")
    browser.open(draft + "/send")
    check(browser.find("[id='settings.weight']").get_attribute("value") == "3", "a setting is gone")
    browser.open(draft + "/limits")
    browser.find("[id='settings.category'] option[value=news]").click()
    browser.find("button[value=next]").click()
    browser.find("[aria-current=step][href$='/approval']")
    browser.open(draft + "/send")
    delivery = analyse()
    category = site.sql(f"SELECT category FROM pushmta.delivery_progress WHERE id = {delivery}").strip()
    check(category == "news", f"its category is {category}")
    for words in ("By locale", "By time zone", "delivery: 500 messages a second", "ready"):
        browser.has(words)
    check("As the gateway gets them" not in browser.text(), "marketing sees messages of people")
    check("Spring is here" in browser.find("#content-title ~ .two").text, "the page does not show what it says")
    browser.judge_here("delivery-ready")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        browser.judge(f"delivery-ready-{code}", f"/deliveries/{delivery}")
        browser.judge(f"delivery-start-{code}", f"/deliveries/{delivery}/start")
    browser.driver.delete_cookie("pushmta-language")
    browser.open(f"/deliveries/{delivery}")
    go("form[action$='/start'] button", "2036-01-02T03:04")
    browser.has("scheduled")
    check(begins(delivery) == "2036-01-02 03:04:00", f"it begins at {begins(delivery)}")
    browser.judge_here("delivery-scheduled")
    go("form[action$='/reschedule'] button", "2036-01-02T05:06")
    browser.has("The start is moved")
    check(begins(delivery) == "2036-01-02 05:06:00", f"it begins at {begins(delivery)}")
    go("a[href$='/edit']")
    browser.find("[formaction$='/analyse']")
    check(browser.driver.current_url == f"{site.base}{draft}/send", f"it came to {browser.driver.current_url}")
    check(site.state(delivery) == "editing", f"it is {site.state(delivery)}")
    check(analyse() == delivery, "an unchanged draft is another delivery")
    # Who may see people sees what they would get.
    browser.sign_in("operate", site.passwords["operate"])
    browser.has("Sending")
    browser.open(f"/deliveries/{delivery}")
    browser.has("As the gateway gets them")
    check("Spring is here" in browser.find("section[aria-labelledby=samples-title]").get_attribute("textContent"), "there is no sample")
    browser.judge_here("delivery-samples")
    # Somebody else approves it.
    site.sql("SELECT pushmta.set_approval_rule(v.name, 0) FROM pushmta_engine.service v")
    browser.sign_in("marketing", site.passwords["marketing"])
    browser.has("Sending")
    browser.open(f"/deliveries/{delivery}")
    browser.has("It needs the approval of a colleague, which nobody has requested yet")
    browser.has("needs approval")
    check(not browser.driver.find_elements("css selector", "[formaction$='/approve']"), "its author may approve it")
    check(not browser.driver.find_elements("css selector", "a[href$='/start']"), "it can be started without an approval")
    # Its author says when it starts: as soon as it is approved.
    browser.judge_here("delivery-unapproved")
    browser.find("a[href$='/request']").click()
    browser.has("Request the approval of this delivery?")
    browser.judge_here("delivery-request")
    browser.find("form.actions button.main").click()
    browser.has("The approval is requested")
    browser.has("It starts as soon as it is approved")
    check(site.state(delivery) == "pending", f"it is {site.state(delivery)}")
    browser.open("/")
    browser.has("One of your deliveries waits for the approval of a colleague")
    browser.sign_in("operate", site.passwords["operate"])
    browser.has("Sending")
    browser.open(f"/deliveries/{delivery}")
    browser.has("It starts as soon as it is approved")
    browser.judge_here("delivery-approval")
    # It changes while somebody types: what was typed stays, and the page says so.
    browser.open(f"/deliveries/{delivery}")
    browser.has("Updates every 2 seconds")
    check(not browser.asks(), "a page asks about nothing")
    browser.find("#words").send_keys("Looks right")
    check(browser.asks(), "a comment would be lost")
    site.sql(f"SELECT pushmta.pause_delivery({delivery})")
    browser.has("This delivery has changed")
    check(browser.find("#words").get_attribute("value") == "Looks right", "a comment is lost")
    browser.judge_here("delivery-changed")
    site.sql(f"SELECT pushmta.resume_delivery({delivery})")
    browser.find("#page-changed button").click()
    until("the page is loaded again", lambda: browser.find("#words").get_attribute("value") == "")
    browser.find("#words").send_keys("Checked")
    browser.find("[formaction$='/approve']").click()
    browser.has("The delivery is approved")
    browser.sign_in("marketing", site.passwords["marketing"])
    browser.has("Sending")
    browser.open(f"/deliveries/{delivery}")
    until("its messages leave", lambda: site.state(delivery) in ("preparing", "in_progress", "finished"))
    site.sql("SELECT pushmta.set_approval_rule(v.name, NULL) FROM pushmta_engine.service v")
    browser.open(f"/deliveries/{delivery}/recall")
    browser.judge_here("delivery-recall")
    check(not browser.asks(), "an empty form asks")
    browser.find("#field-reason").send_keys("Wrong price")
    check(browser.asks(), "a reason would be lost")
    # The session ends meanwhile.
    browser.driver.delete_all_cookies()
    browser.find("form.declare button.main").click()
    browser.find("#user").send_keys("marketing")
    browser.find("#password").send_keys(site.passwords["marketing"])
    browser.find("button[type=submit]").click()
    browser.has("What you typed is back")
    check(browser.find("#field-reason").get_attribute("value") == "Wrong price", "a reason is lost")
    browser.find("form.declare button.main").click()
    browser.has("The delivery is recalled")
    check(site.state(delivery) == "recalled", f"it is {site.state(delivery)}")
    browser.judge_here("delivery-recalled")
    # Apps remove what has left; the page counts those that were not asked yet.
    browser.open(f"/deliveries/{delivery}/recall")
    browser.find("#field-reason").send_keys("Wrong price")
    browser.find("#field-mode option[value=remove]").click()
    browser.find("form.declare button.main").click()
    browser.has("Removal not requested yet")
    browser.has("Delivery that replaces or removes it")
    browser.judge_here("delivery-removed")


def test_plan(site, browser):
    """A delivery is sent in waves, another at a local time, and an operator gives a service sending hours."""
    browser.sign_in("marketing", site.passwords["marketing"])
    browser.has("Sending")
    first = site.sql("SELECT max(id) FROM pushmta_engine.delivery WHERE label = 'Spring sale' AND NOT proof").strip()
    browser.open(f"/deliveries/{first}")
    browser.find("form[action$='/duplicate'] button").click()
    browser.has("Save and continue")
    draft = browser.driver.current_url.removeprefix(site.base).removesuffix("/applications")
    browser.open(draft + "/when")
    browser.find("[name='plan.wave.0.size']").send_keys("much")
    browser.find("button[value=next]").click()
    browser.has("A size is a share such as 5 %")
    browser.judge_here("compose-when-wrong")
    browser.find("[name='plan.wave.0.size']").clear()
    browser.find("[name='plan.wave.0.size']").send_keys("50 %")
    # 30 March 2036 has no 02:30 in Berlin: that stands at the field.
    begins = browser.find("[name='plan.rest.begins']")
    begins.send_keys("2036-03-30T02:30")
    browser.find("[name='plan.zone'] option[value='Europe/Berlin']").click()
    browser.find("button[value=next]").click()
    browser.has("that time does not exist")
    begins = browser.find("[name='plan.rest.begins']")
    check(browser.find(f"[id='{begins.get_attribute('aria-describedby').split()[-1]}']").text, "the problem is not at its field")
    browser.judge_here("compose-when-skipped")
    begins.clear()
    begins.send_keys("1d")
    browser.find("button[value=next]").click()
    browser.find("a.button[href$='/limits']")
    browser.open(draft + "/send")
    browser.find("#sending")
    browser.has("50 % · The rest")
    browser.find("button[value=start]").click()
    browser.find("form[action$='/start'] button.main").click()
    browser.has("Messages that wait for their time")
    browser.has("under way")
    browser.judge_here("delivery-waves")
    delivery = browser.driver.current_url.rsplit("/", 1)[1].split("?")[0]
    until("the first wave is sent", lambda: "t" == site.sql(
        f"SELECT sent = messages AND messages > 0 FROM pushmta.delivery_wave WHERE delivery_id = {delivery} AND number = 1").strip())
    browser.find("a[href$='/stop']").click()
    browser.find(f"form[action='/deliveries/{delivery}/stop'] button").click()
    until("it is stopped", lambda: site.state(delivery) == "stopped")
    # On the clocks of all recipients the moment has passed.
    browser.open(f"/deliveries/{first}")
    browser.find("form[action$='/duplicate'] button").click()
    browser.has("Save and continue")
    draft = browser.driver.current_url.removeprefix(site.base).removesuffix("/applications")
    browser.find("#label").clear()
    browser.find("#label").send_keys("Spring is over")
    browser.find("button[value=next]").click()
    browser.has("Which subscribers")
    browser.open(draft + "/when")
    browser.find("[name='plan.local_time']")
    browser.driver.execute_script("document.getElementsByName('plan.local_time')[0].value = '2026-01-01T09:00'")
    browser.find("[name='plan.on_past'] option[value=skip]").click()
    browser.find("button[value=next]").click()
    browser.find("a.button[href$='/limits']")
    browser.open(draft + "/send")
    browser.find("button[value=start]").click()
    browser.find("form[action$='/start'] button.main").click()
    browser.has("the local time had passed at the start")
    browser.sign_in("operate", site.passwords["operate"])
    browser.has("Sending")
    browser.open("/services")
    browser.find("a[href^='/services/hours']").click()
    browser.find("input[name='day.1']").send_keys("9")
    browser.find("main form button.main").click()
    browser.has("Write hours as in 09:00-18:00")
    browser.judge_here("service-hours-wrong")
    browser.find("input[name='day.1']").clear()
    browser.find("input[name='day.1']").send_keys("00:00-24:00")
    browser.find("main form button.main").click()
    browser.has("The sending hours were changed")
    browser.find("a[href^='/services/hours']").click()
    check(browser.find("input[name='day.1']").get_attribute("value") == "00:00-24:00", "the hours are gone")
    browser.find("input[name='day.1']").clear()
    browser.find("main form button.main").click()
    browser.has("The sending hours were changed")


def test_approval_rule(site, browser):
    """An administrator sets the approval rule of a service and removes it. Marketing reads it, and the sending hours."""
    path = f"/services/approval?service={site.service}"

    def set_rule(above):
        browser.sign_in("admin", site.passwords["admin"])
        browser.has("Sending")
        browser.open(path)
        fill(browser, "above", "1,000")
        browser.find("main form button.main").click()
        browser.has("Give a whole number")
        browser.judge_here("service-approval-wrong")
        fill(browser, "above", above)
        browser.find("main form button.main").click()
        browser.has("The approval rule is saved")

    def read(words):
        browser.sign_in("marketing", site.passwords["marketing"])
        browser.has("Sending")
        browser.open(path)
        browser.has(words)
        check(not browser.driver.find_elements("css selector", "[name=above]"), "marketing may set the rule")

    set_rule("5000000")
    read("above this number of messages: 5,000,000")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        browser.judge(f"service-approval-{code}", path)
        browser.judge(f"service-hours-read-{code}", f"/services/hours?service={site.service}")
    browser.driver.delete_cookie("pushmta-language")
    set_rule("")
    read("Deliveries of this service need no approval")


def test_users(site, browser):
    """An administrator adds a colleague, who signs in and chooses a password, gets another role and is removed; in all languages."""
    browser.sign_in("admin", site.passwords["admin"])
    browser.has("Sending")
    browser.find(".top nav a[href='/users']").click()
    browser.has("Users of the console")
    browser.find("main a[href='/users/new']").click()
    fill(browser, "name", "admin")
    browser.find("main form button.main").click()
    browser.has("There is already a user of this name")
    browser.judge_here("user-taken")
    fill(browser, "name", "colleague")
    choose(browser, "role", "marketing")
    browser.find("main form button.main").click()
    browser.has("Password of colleague")
    browser.judge_here("user-secret")
    password, chosen = browser.find("#secret").text, "a password of one's own"
    browser.open("/users")
    browser.has("colleague")
    check(password not in browser.text() + whole_log(browser), "the password is shown again")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        for name in ("users", "user-new", "user-password"):
            browser.judge(f"{name}-{code}", pages(site)[name])
    browser.driver.delete_cookie("pushmta-language")

    browser.sign_in("colleague", password)
    browser.has("You have signed in with a one-time password")
    for field, words in (("password", password), ("new", chosen), ("again", chosen)):
        browser.find(f"#{field}").send_keys(words)
    browser.find("main button").click()
    browser.has("The last hour")
    check("Approvals" in browser.find("header").text, "the colleague cannot approve")
    check("Users" not in browser.find("header").text, "the colleague is shown the users")
    browser.sign_in("colleague", password)
    browser.has("Name or password is wrong")

    browser.sign_in("admin", site.passwords["admin"])
    browser.has("Sending")
    browser.open("/users")
    browser.find("a[href='/users/role?name=colleague']").click()
    choose(browser, "role", "read")
    browser.find("main form button.main").click()
    browser.has("The role is changed")
    browser.find("a[href='/users/remove?name=colleague']").click()
    browser.has("Remove this user?")
    browser.find("form.actions button").click()
    browser.has("The user is removed")
    check("colleague" not in browser.find("main table").text, "the user is still there")


def test_caps(site, browser):
    """An operator adds a frequency cap to a service, changes it, sees whom it leaves out, and removes it; in all languages."""
    browser.sign_in("operate", site.passwords["operate"])
    browser.has("Sending")
    browser.open("/services")
    browser.find("a[href^='/services/caps']").click()
    browser.has("Frequency caps of")
    browser.open(f"/services/caps?service={site.service}")
    browser.has("The service has no frequency caps")
    browser.find("a[href^='/services/caps/new']").click()
    fill(browser, "name", "week")
    fill(browser, "max_messages", "0")
    fill(browser, "length", "7")
    browser.find("input[name='category.news']").click()
    browser.find("main form button.main").click()
    browser.has("Give a number from 1 to 1000")
    browser.judge_here("cap-wrong")
    fill(browser, "max_messages", "1000")
    browser.find("main form button.main").click()
    browser.has("At most 1,000 messages of news per person in 7 days")
    browser.judge_here("caps")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        browser.judge(f"caps-{code}", f"/services/caps?service={site.service}")
        browser.judge(f"cap-new-{code}", f"/services/caps/new?service={site.service}")
    browser.driver.delete_cookie("pushmta-language")
    browser.open(f"/services/caps?service={site.service}")
    browser.find("a[href^='/services/caps/change']").click()
    fill(browser, "length", "30")
    browser.find("main form button.main").click()
    browser.has("in 30 days")
    # Who has had the one message is left out of the second delivery, whose page says so.
    browser.find("a[href^='/services/caps/change']").click()
    fill(browser, "max_messages", "1")
    browser.find("main form button.main").click()
    browser.has("At most 1 message of news per person")
    name = site.applications[0]["name"]
    person = site.sql(f"SELECT min(user_key) FROM pushmta.subscription WHERE application = '{name}' AND enabled AND user_key <> ''").strip()
    content = '{"ios": {"title": "News"}, "android": {"title": "News"}}'
    for label in ("First news", "Second news"):
        delivery = site.sql(f"SELECT pushmta.create_delivery('{label}', ARRAY['{name}'], '{content}', category => 'news')").strip()
        site.sql(f"SELECT pushmta.set_target({delivery}, filter => $$user_key = '{person}'$$); SELECT pushmta.start_delivery({delivery})")
        until(f"{label} is sent", lambda: site.state(delivery) == "finished")
    browser.open(f"/deliveries/{delivery}")
    browser.has("the person has had as many messages as a frequency cap allows")
    browser.open(f"/services/caps?service={site.service}")
    browser.find("a[href^='/services/caps/remove']").click()
    browser.judge_here("cap-remove")
    browser.find("form.actions button").click()
    browser.has("The frequency cap is removed")


def test_events(site, browser):
    """An administrator creates a consumer with a webhook, whose secret is shown once, and removes both."""
    browser.sign_in("admin", site.passwords["admin"])
    browser.has("Sending")
    browser.open("/events")
    browser.find("a[href='/events/new']").click()
    browser.judge_here("consumer-new")
    fill(browser, "name", "browser-hooks")
    browser.find("input[name='kind.delivery.changed']").click()
    browser.find("main form button.main").click()
    browser.has("The consumer is created")
    browser.find("a[href='/events/webhook?name=browser-hooks']").click()
    fill(browser, "url", "http://hooks.example.com")
    browser.find("main form button.main").click()
    browser.find("p[role=alert]")
    browser.judge_here("webhook-wrong")
    fill(browser, "url", "https://hooks.example.com/push")
    browser.find("main form button.main").click()
    secret = browser.find("#secret").text
    check(secret.startswith("whsec_"), f"the secret is {secret}")
    browser.judge_here("webhook-secret")
    browser.open("/events")
    check(secret not in browser.text(), "the secret is shown again")
    browser.find("form[action='/events/pause?name=browser-hooks'] button").click()
    browser.has("Nothing more is posted")
    browser.judge_here("events-paused")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        browser.judge(f"events-{code}", "/events")
        browser.judge(f"consumer-new-{code}", "/events/new")
        browser.judge(f"webhook-{code}", "/events/secret?name=browser-hooks")
        browser.judge(f"webhook-address-{code}", "/events/address?name=browser-hooks")
    browser.driver.delete_cookie("pushmta-language")
    browser.open("/events/address?name=browser-hooks")
    fill(browser, "url", "https://new.example.com/push")
    browser.find("main form button.main").click()
    browser.has("The events are posted to the new address")
    browser.has("new.example.com")
    browser.open("/events/secret?name=browser-hooks")
    browser.find("main form button.main").click()
    check(browser.find("#secret").text != secret, "the secret stays")
    browser.open("/events/remove-webhook?name=browser-hooks")
    browser.judge_here("webhook-remove")
    browser.find("form.actions button").click()
    browser.has("The webhook is removed")
    browser.open("/events/remove?name=browser-hooks")
    browser.find("form.actions button").click()
    browser.has("The consumer is removed")


def test_recur(site, browser):
    """An analysed delivery recurs: the form, the next runs, a run now, a pause, in all languages; its run names it."""
    browser.sign_in("marketing", site.passwords["marketing"])
    browser.has("Sending")
    first = site.sql("SELECT max(id) FROM pushmta_engine.delivery WHERE label = 'Spring sale' AND NOT proof").strip()
    browser.open(f"/deliveries/{first}")
    browser.find("form[action$='/duplicate'] button").click()
    browser.has("Save and continue")
    browser.open(browser.driver.current_url.removeprefix(site.base).removesuffix("/applications") + "/send")
    browser.find("[formaction$='/analyse']").click()
    browser.find("#analysis-title")
    delivery = browser.driver.current_url.rsplit("/", 1)[1]
    browser.has("Minimum sending time")
    path = f"/deliveries/{delivery}/recurrence"
    browser.find(f"a[href='{path}']").click()
    browser.judge_here("recurrence-form")
    choose(browser, "time_zone", "Europe/Berlin")
    browser.find("[name=times]").send_keys("9")
    choose(browser, "unit", "months")
    browser.find("[name=month_days]").send_keys("-1")
    browser.find("[name=starts_on]").send_keys("2036-02-01")
    browser.find("main form button.main").click()
    check("09:00" in browser.find(".wrong:has([name=times]) .field-problem").text, "the problem is not at its field")
    browser.judge_here("recurrence-wrong")
    browser.find("[name=times]").clear()
    browser.find("[name=times]").send_keys("09:00")
    browser.find("main form button.main").click()
    browser.has("The recurrence is saved")
    check("09:00 Europe/Berlin" in browser.find("#next-runs li").text, f"the next runs are {browser.find('#next-runs').text}")
    check(not browser.driver.find_elements(By.CSS_SELECTOR, f"a[href='/deliveries/{delivery}/start']"), "it can be started itself")
    browser.find(f"form[action='{path}/start'] button").click()
    browser.has("The recurrence is started")
    browser.find(f"a[href='{path}/run']").click()
    browser.judge_here("recurrence-run")
    browser.find(f"form[action='{path}/run'] button").click()
    browser.has("A run is started")
    run = browser.find("#recurrence-runs a").text
    browser.judge_here("delivery-recurs")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        browser.judge(f"delivery-recurs-{code}", f"/deliveries/{delivery}")
        browser.judge(f"recurrence-form-{code}", path)
    browser.driver.delete_cookie("pushmta-language")
    until("the run is sent", lambda: site.state(run) in ("preparing", "in_progress", "finished"))
    browser.open(f"/deliveries/{run}")
    browser.has("It is a run of the recurring delivery")
    browser.find(f"main a[href='/deliveries/{delivery}']").click()
    browser.find(f"form[action='{path}/pause'] button").click()
    browser.has("The recurrence is paused")
    browser.find(f"a[href='{path}/remove']").click()
    browser.find(f"form[action='{path}/remove'] button").click()
    browser.has("The delivery no longer recurs")
    check(site.state(delivery) == "ready", f"it is {site.state(delivery)}")


def test_experiment(site, browser):
    """A draft gets variants, which are refused, corrected and sent; a person sends the winner to the rest; in all languages."""
    browser.sign_in("marketing", site.passwords["marketing"])
    browser.has("Sending")
    first = site.sql("SELECT max(id) FROM pushmta_engine.delivery WHERE label = 'Spring sale' AND NOT proof").strip()
    browser.open(f"/deliveries/{first}")
    browser.find("form[action$='/duplicate'] button").click()
    browser.has("Save and continue")
    draft = browser.driver.current_url.removeprefix(site.base).removesuffix("/applications")
    browser.open(draft + "/send")
    browser.find(f"a[href='{draft}/experiment']").click()
    browser.judge_here("experiment-form")

    def share(variant, percent):
        field = browser.find(f"[name='experiment.{variant}.percent']")
        field.clear()
        field.send_keys(percent)

    share(1, "80")
    share(2, "30")
    browser.find("[name='experiment.2.title']").send_keys("Spring!")
    browser.find("[name='experiment.undecided'] option[value=wait]").click()
    browser.find("main form button.main").click()
    browser.has("The shares add up to more than 100 %")
    check(browser.asks(), "what was refused would be lost")
    browser.judge_here("experiment-wrong")
    share(1, "30")
    browser.find("[name='experiment.hours']").send_keys("2")
    browser.find("main form button.main").click()
    browser.find("[aria-current=step][href$='/limits']")
    browser.open(draft + "/send")
    browser.has("2 variants, best by clicks: A 30 %, B 30 %, rest 40 %")
    browser.has("Change the experiment")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        browser.judge(f"experiment-form-{code}", draft + "/experiment")
    browser.driver.delete_cookie("pushmta-language")
    browser.open(draft + "/send")
    browser.find("button[name=go][value=start]").click()
    browser.find("section.problem form.actions button.main").click()
    browser.find("#experiment-variants")
    delivery = browser.driver.current_url.rsplit("/", 1)[1].split("?")[0]

    def is_running():
        return site.sql(f"SELECT state FROM pushmta.experiment WHERE delivery_id = {delivery}").strip() == "running"

    until("the variants leave", is_running)
    browser.open(f"/deliveries/{delivery}")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        browser.judge(f"delivery-experiment-{code}", f"/deliveries/{delivery}")
        browser.judge(f"winner-{code}", f"/deliveries/{delivery}/winner/2")
    browser.driver.delete_cookie("pushmta-language")
    browser.open(f"/deliveries/{delivery}")
    browser.find(f"a[href='/deliveries/{delivery}/variants/2']").click()
    browser.has("Variant B")
    browser.judge_here("variant")
    browser.find("input[name^='seed.']").click()
    browser.find("main form button.main").click()
    browser.has("Proof: ")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        browser.judge(f"variant-{code}", f"/deliveries/{delivery}/variants/2")
    browser.driver.delete_cookie("pushmta-language")
    browser.open(f"/deliveries/{delivery}")
    browser.find(f"a[href='/deliveries/{delivery}/winner/2']").click()
    browser.has("Variant B goes to the rest")
    browser.judge_here("winner")
    browser.find("main form.actions button.main").click()
    browser.has("The rest gets this variant")
    check("chosen by a person" in browser.text(), "the page does not say why")
    browser.judge_here("delivery-experiment-decided")


def test_audience(site, browser):
    """Marketing adds and removes a seed address, and fills an exclusion list; nobody's key or token is shown again."""
    browser.sign_in("marketing", site.passwords["marketing"])
    browser.has("Sending")
    browser.open("/subscribers")
    browser.find("main a[href='/seeds']").click()
    browser.has("ada-phone")
    browser.judge_here("seeds")
    browser.find("a[href='/seeds/new']").click()
    browser.judge_here("seed-new")
    browser.find("input[name=name]").send_keys("grace-phone")
    browser.find("input[name=label]").send_keys("Grace <i>of</i> QA")
    choose(browser, "application", site.applications[0]["name"])
    choose(browser, "by", "user_key")
    browser.find("input[name=wanted]").send_keys("customer-nobody")
    browser.find("main form button.main").click()
    browser.has("does not exist")
    wanted = browser.find("input[name=wanted]")
    check(wanted.get_attribute("value") == "customer-nobody", "what was typed is lost")
    browser.judge_here("seed-new-wrong")
    wanted.clear()
    wanted.send_keys("customer-0815")
    browser.find("main form button.main").click()
    browser.has("The seed address is added")
    browser.has("Grace <i>of</i> QA")
    browser.find("a[href='/seeds/remove?name=grace-phone']").click()
    browser.judge_here("seed-remove")
    browser.find("main form.actions button").click()
    browser.has("The seed address is removed")
    check("grace-phone" not in browser.text(), "the seed address is there")
    browser.open("/templates")
    browser.find("main a[href='/exclusions']").click()
    browser.has("There is no exclusion list yet")
    browser.find("a[href='/exclusions/new']").click()
    browser.judge_here("exclusion-new")
    browser.find("input[name=name]").send_keys("no-spring")
    browser.find("input[name=label]").send_keys("Who has said no to spring")
    browser.find("main form button.main").click()
    browser.has("The exclusion list is created")
    browser.find("#people").send_keys("customer-0815\ncustomer-0816\n")
    browser.find("button[value=put]").click()
    browser.has("2 of 2 are new on the list")
    check("customer-0815" not in browser.driver.page_source, "a page lists who is on a list")
    browser.find("#people").send_keys("customer-0815\ncustomer-0817")
    browser.find("button[value=find]").click()
    browser.has("1 of 2 is on the list")
    browser.judge_here("exclusion")
    browser.find("#by option[value=subscription]").click()
    browser.find("#people").send_keys("none")
    browser.find("button[value=put]").click()
    browser.has("Line 1 cannot be one of these")
    check(browser.find("#people").get_attribute("value") == "none", "what was typed is gone")
    browser.judge("exclusions", "/exclusions")
    browser.has("Who has said no to spring")
    for code, words in (("de", "Ausschlusslisten"), ("fr", "Listes d\u2019exclusion")):
        browser.find(f"form.languages button[value={code}]").click()
        browser.has(words)
        for name, path in (("seeds", "/seeds"), ("seed-new", "/seeds/new"), ("exclusions", "/exclusions")):
            browser.judge(f"{name}-{code}", path)
    browser.find("form.languages button[value=en]").click()
    browser.has("Create an exclusion list")
    browser.driver.find_element(By.LINK_TEXT, "no-spring").click()
    browser.find("a.danger").click()
    browser.find("main form.actions button").click()
    browser.has("The exclusion list is deleted")
    browser.sign_in("read", site.passwords["read"])
    browser.has("Sending")
    for path in ("/seeds", "/exclusions"):
        browser.open(path)
        browser.has("Your role does not allow this")


def test_messages(site, browser):
    """The messages of a delivery, page after page and by how they ended; each leads to its subscription."""
    first = site.sql("SELECT min(id) FROM pushmta_engine.delivery").strip()
    browser.sign_in("read", site.passwords["read"])
    browser.has("Sending")
    browser.open(f"/deliveries/{first}")
    browser.find(f"a[href='/deliveries/{first}/messages']").click()
    browser.has("Highest number first")
    browser.judge_here("messages")
    numbers = [row.text for row in browser.driver.find_elements(By.CSS_SELECTOR, "tbody th")]
    browser.find(".pages a[href*='below=']").click()
    until("lower numbers come", lambda: browser.find("tbody th").text not in numbers)
    browser.find("#what option[value=sent]").click()
    browser.find("main form button").click()
    browser.has("Show all")
    browser.find("tbody td a").click()
    browser.has("Its last messages")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        browser.judge(f"messages-{code}", f"/deliveries/{first}/messages")
    browser.driver.delete_cookie("pushmta-language")


def test_templates(site, browser):
    """A template says its service, applications and target; a delivery begins with it; it is deleted, and all of it is on record."""
    browser.sign_in("marketing", site.passwords["marketing"])
    browser.has("Sending")
    browser.find("header a[href='/templates']").click()
    browser.has("Deliver on iOS")
    browser.driver.find_element(By.LINK_TEXT, "Spring in France").click()
    for words in ("What France gets in spring", site.applications[0]["name"], "locale = 'fr'", '"priority": 10'):
        browser.has(words)
    browser.find(".title a[href^='/compose']").click()
    browser.has("A new delivery")
    check(browser.find("#template").get_attribute("value") == "Spring in France", "the template is not chosen")
    browser.find("#label").send_keys("Printemps")
    browser.find("form[action='/compose'] button").click()
    browser.has("Save and continue")
    boxes = [box.get_attribute("name") for box in browser.driver.find_elements(By.CSS_SELECTOR, "input[type=checkbox]:checked")]
    check(boxes == [f"application.{site.applications[0]['name']}"], f"these applications are chosen: {boxes}")
    draft = browser.driver.current_url.removeprefix(site.base).removesuffix("/applications")
    browser.open(draft + "/target")
    check("parameters.tier" in browser.find("#filter").get_attribute("value"), "the filter is not the template's")
    browser.open(f"/templates/{site.template}")
    browser.find("a.danger").click()
    browser.has("Delete this template?")
    browser.find("form.actions button").click()
    browser.has("The template is deleted")
    check("Spring in France" not in browser.find("table").text, "the template is there")
    browser.sign_in("admin", site.passwords["admin"])
    browser.has("Sending")
    for template, words in (("Spring again", "saved a template"), ("Spring in France", "deleted a template")):
        browser.open("/audit?text=" + urllib.parse.quote(template))
        browser.has(words)


def choose(browser, name, value):
    browser.find(f"select[name={name}] option[value='{value}']").click()


def test_saved(site, browser):
    """Marketing saves an audience, has it counted, uses it in a draft and deletes it; an operator sets a control group; in all languages."""
    browser.sign_in("marketing", site.passwords["marketing"])
    browser.has("Sending")
    browser.open("/services")
    browser.find("a[href^='/services/audiences']").click()
    browser.has("There is no saved audience yet")
    audiences = browser.driver.current_url.removeprefix(site.base)
    browser.find("a[href^='/services/audiences/new']").click()
    browser.find("input[name=name]").send_keys("known")
    browser.find("input[name=filter]").send_keys("locale is")
    browser.find("main form button.main").click()
    browser.find("p[role=alert]")
    browser.judge_here("audience-new-wrong")
    browser.find("input[name=filter]").send_keys(" not null")
    browser.find("main form button.main").click()
    browser.has("The audience is saved")
    page = browser.driver.current_url.removeprefix(site.base).removesuffix("&done=save")
    browser.find("button[value=count]").click()
    browser.has("The audience is being counted")
    until("the audience is counted", lambda: "t" == site.sql(
        "SELECT counted_at IS NOT NULL AND subscriptions > 0 FROM pushmta.audience WHERE name = 'known'").strip())
    browser.open(page)
    browser.has("Some of its subscriptions")
    check(browser.driver.find_elements(By.CSS_SELECTOR, "main a[href^='/subscribers/']"), "there is no sample")
    browser.judge_here("audience")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        browser.judge(f"audience-{code}", page)
        browser.judge(f"audiences-{code}", audiences)
    browser.driver.delete_cookie("pushmta-language")
    first = site.sql("SELECT max(id) FROM pushmta_engine.delivery WHERE label = 'Spring sale' AND NOT proof").strip()
    browser.open(f"/deliveries/{first}")
    browser.find("form[action$='/duplicate'] button").click()
    browser.has("Save and continue")
    draft = browser.driver.current_url.removeprefix(site.base).removesuffix("/applications")
    browser.open(draft + "/target")
    choose(browser, "audience", "known")
    browser.find("button[value=use]").click()
    browser.has("copied from the saved audience known")
    check("locale is not null" in browser.find("#filter").get_attribute("value"), "the filter is another one")
    browser.find("#audience-name").send_keys("known-too")
    browser.find("button[value=keep]").click()
    browser.has("copied from the saved audience known-too")
    browser.judge_here("compose-target-audience")
    browser.open(page)
    browser.find("a[href^='/services/audience/delete']").click()
    browser.judge_here("audience-delete")
    browser.find("main form.actions button").click()
    browser.has("The audience is deleted")
    browser.has("known-too")

    browser.sign_in("operate", site.passwords["operate"])
    browser.has("Sending")
    browser.open("/services")
    browser.find("a[href^='/services/control']").click()
    browser.has("The service has no control group")
    browser.find("#percent").clear()
    browser.find("#percent").send_keys("60")
    browser.find("main form button.main").click()
    browser.find("p[role=alert]")
    browser.find("#percent").clear()
    browser.find("#percent").send_keys("5,5")
    browser.find("main form button.main").click()
    browser.has("The control group is set")
    browser.has("5.5 %")
    browser.judge_here("control-group")
    control = browser.driver.current_url.removeprefix(site.base).removesuffix("&done=set")
    for code in ("de", "fr"):
        browser.driver.add_cookie({"name": "pushmta-language", "value": code})
        browser.judge(f"control-group-{code}", control)
    browser.driver.delete_cookie("pushmta-language")
    browser.open(control)
    browser.find("#percent").clear()
    browser.find("#percent").send_keys("0")
    browser.find("main form button.main").click()
    browser.has("The service has no control group")


def test_services(site, browser):
    """An iOS pair is declared in one step, gets its key, a test push and a closed circuit; nobody sees the key again."""
    browser.sign_in("admin", site.passwords["admin"])
    browser.has("Sending")
    browser.find("header a[href='/services']").click()
    browser.has("Services and applications")
    browser.find("a[href='/services/new']").click()
    browser.find("input[name=name]").send_keys("bank")
    browser.find("input[name=label]").send_keys("The <i>Bank</i>")
    browser.find("main form button.main").click()
    browser.has("The service is declared")
    browser.has("The <i>Bank</i>")
    browser.find("a[href='/services/ios-pair?service=bank']").click()
    browser.find("input[name=name]").send_keys("bank-ios")
    browser.find("input[name=bundle]").send_keys("com example bank")
    choose(browser, "format", "int32")
    browser.find("main form button.main").click()
    browser.find("p[role=alert]")
    browser.judge_here("ios-pair-wrong")
    check(browser.find("input[name=name]").get_attribute("value") == "bank-ios", "what was typed is gone")
    browser.find("input[name=bundle]").clear()
    browser.find("input[name=bundle]").send_keys("com.example.bank")
    browser.find("main form button.main").click()
    browser.has("Both applications are declared")
    pair = site.sql("SELECT name, environment, message_id_format FROM pushmta_engine.application WHERE name LIKE 'bank%' ORDER BY name")
    check(pair.split() == ["bank-ios|production|int32", "bank-ios-sandbox|sandbox|int32"], f"there is {pair}")

    # Its key, by the file.
    browser.find("a[href^='/services/applications/']:has(bdi)")
    browser.driver.find_element(By.LINK_TEXT, "bank-ios").click()
    browser.has("It has no credential")
    path = browser.driver.current_url.removeprefix(site.base).split("?")[0]
    browser.judge("application-new", path)
    browser.find("a[href$='/credential']").click()
    key = site.folder / "AuthKey_ABC123DEFG.p8"
    run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key)
    browser.find("#file-material").send_keys(str(key))
    until("the file is read", lambda: "PRIVATE KEY" in browser.find("#field-material").get_attribute("value"))
    check(browser.find("#field-key_id").get_attribute("value") == "ABC123DEFG", "the key's id is not that of the file's name")
    browser.find("#field-team_id").send_keys("TEAM123456")
    browser.find("main form button.main").click()
    browser.has("The credential is sealed and stored")
    browser.has("ABC123DEFG")
    secret = key.read_text().splitlines()[1]
    for place in (path, path + "/credential", "/audit"):
        browser.open(place)
        check(secret[:30] not in browser.driver.page_source, f"{place} shows a key")
    browser.open(path + "/credential")
    token = browser.find("main input[name=token]").get_attribute("value")
    cookies = "; ".join(f"{row['name']}={row['value']}" for row in browser.driver.get_cookies())
    request = urllib.request.Request(
        f"{site.base}{path}/credential", data=f"token={token}&material={secret * 5000}".encode(), headers={"Cookie": cookies}
    )
    try:
        urllib.request.urlopen(request, timeout=DEADLINE)
        raise SystemExit("console: an upload of 300 KB is taken")
    except urllib.error.HTTPError as error:
        check(error.code == 413 and secret[:30] not in error.read().decode(), f"a long upload is answered with {error.code}")
    log = (site.folder / "log/console.log").read_text(errors="replace")
    check(secret[:30] not in log, "the log has a key")

    # A circuit, closed by an operator.
    number = path.rsplit("/", 1)[1]
    site.sql(
        "INSERT INTO pushmta_engine.application_health "
        "(application_id, state, reason, remedy, opened_at, next_probe_at, token_effects_held) VALUES "
        f"({number}, 'open', '62 % of the last answers refuse the push token', 'compare the environment of app and gateway', now(), "
        "now() + interval '1 hour', true)"
    )
    browser.sign_in("operate", site.passwords["operate"])
    browser.has("Sending")
    browser.judge("application-circuit", path)
    browser.has("compare the environment of app and gateway")
    browser.judge("application-believe", path + "/resume")
    browser.find("main form button.main").click()
    browser.has("Its messages are sent again")

    # A test push goes the way of all messages.
    own = site.applications[0]
    token = site.sql(
        f"SELECT s.push_token FROM pushmta_engine.subscription s WHERE s.application_id = {own['id']} AND s.enabled LIMIT 1"
    ).strip()
    site.sql(f"SELECT pushmta.add_seed(name => 'bob-phone', application => '{own['name']}', push_token => '{token}', label => 'Bob')")
    browser.open(f"/services/applications/{own['id']}/test")
    choose(browser, "seed", "bob-phone")
    browser.find("main form button.main").click()
    until("the test push has its page", lambda: "/deliveries/" in browser.driver.current_url)
    delivery = re.search(r"/deliveries/(\d+)", browser.driver.current_url).group(1)
    # The page is made anew when the push has ended, which may be before anybody has read the words.
    words = "The test push is on its way"
    until(f"{words!r} is said", lambda: words in browser.text() or site.state(delivery) == "finished")
    until("the test push is sent", lambda: site.state(delivery) == "finished")
    sent = site.sql(f"SELECT target, sent FROM pushmta.delivery_progress WHERE id = {delivery}").strip()
    check(sent == "1|1", f"of the test push came {sent}")

    browser.sign_in("read", site.passwords["read"])
    browser.has("Sending")
    browser.open(path)
    browser.find("details summary").click()
    browser.has("PushClient.shared")
    check(not browser.driver.find_elements(By.CSS_SELECTOR, "main .actions"), "a reader may change something")
    browser.open(path + "/credential")
    browser.has("Your role does not allow this")


# A PNG file of 48 by 48 pixels of one colour.
ICON = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAYAAABXAvmHAAAARElEQVR42u3PQREAAAQAMGFkEl0dKvi622MBFlk9n4WAgICAgICAgICAgICAgICAgICAgICAgICAgI"
    "CAgICAgICAwNUCB0fILWrnUyIAAAAASUVORK5CYII="
)


def test_signals(site, browser):
    """An administrator defines a health signal; a delivery follows it, and then none."""
    browser.sign_in("admin", site.passwords["admin"])
    browser.has("Sending")
    original = "SELECT min(id) FROM pushmta_engine.delivery WHERE kind = 'batch' AND NOT proof"
    delivery = site.sql(f"SELECT pushmta.copy_delivery(({original}), 'Paced')").strip()
    site.sql(f"SELECT pushmta.start_delivery({delivery}, now() + interval '1 day')")
    browser.open("/hosts")
    browser.find("a[href='/hosts/signals']").click()
    browser.find("a[href='/hosts/signals/new']").click()
    browser.find("input[name=name]").send_keys("backend-load")
    browser.find("input[name=source]").send_keys("https://metrics.example.com/load")
    browser.find("main form button.main").click()
    browser.has("The health signal is saved")
    browser.judge("signals", "/hosts/signals")
    browser.open(f"/deliveries/{delivery}")
    browser.find(f"a[href='/deliveries/{delivery}/follow']").click()
    choose(browser, "signal", "backend-load")
    for name, text in (("target", "0.8"), ("floor", "10"), ("ceiling", "much")):
        fill(browser, name, text)
    browser.find("main form button.main").click()
    browser.find("p[role=alert]")
    browser.judge_here("follow-wrong")
    fill(browser, "ceiling", "500")
    browser.find("main form button.main").click()
    browser.has("The rate of the delivery is set")
    browser.has("backend-load: – (< 0.8)")
    kept = site.sql(f"SELECT signal, target, floor, ceiling, state FROM pushmta.delivery_signal WHERE delivery_id = {delivery}").strip()
    check(kept == "backend-load|0.8|10|500|idle", f"it follows {kept}")
    site.sql(f"SELECT pushmta.stop_delivery({delivery})")
    browser.open("/hosts/signals/remove?name=backend-load")
    browser.find("form.actions button").click()
    browser.has("The health signal is removed")


def fill(browser, name, text):
    field = browser.find(f"[name='{name}']")
    field.clear()
    field.send_keys(text)


def test_change(site, browser):
    """An application, an account and a service are changed in the browser; what is wrong stands at its field, and who is late is told so."""
    own = site.sql("SELECT id FROM pushmta_engine.application WHERE name = 'bank-ios'").strip()
    path = f"/services/applications/{own}"
    browser.sign_in("admin", site.passwords["admin"])
    browser.has("Sending")
    browser.open(path)
    browser.find(f".actions a[href='{path}/change']").click()
    fill(browser, "label", "The bank, for iOS")
    fill(browser, "rate", "1.000")
    for kind, first in (("variable", "aps"), ("sound", "chime.caf"), ("parameter", "lang")):
        browser.find(f"button[value='add.{kind}']").click()
        until("the new row has the focus", lambda: browser.driver.switch_to.active_element.get_attribute("name") == f"{kind}.0.name")
        browser.driver.switch_to.active_element.send_keys(first)
    fill(browser, "parameter.0.column", "locale")
    fill(browser, "variable.0.default", "home")
    browser.find("button[value='add.variable']").click()
    fill(browser, "variable.1.name", "price")
    browser.find("select[name='variable.1.type'] option[value=number]").click()
    fill(browser, "variable.1.default", "9.90")
    icon = site.folder / "icon.png"
    icon.write_bytes(ICON)
    browser.find("#file-icon").send_keys(str(icon))
    until("the file is read", lambda: browser.find("#field-icon").get_attribute("value").startswith("iVBOR"))
    browser.find("main button.main").click()
    browser.has("Nothing is saved")
    check("thousands separator" in browser.find(".wrong:has([name=rate]) .field-problem").text, "the problem is not at its field")
    check("Apple" in browser.find(".row.wrong .field-problem").text, "the problem is not at its row")
    check(len(browser.driver.find_elements(By.CSS_SELECTOR, ".wrong")) == 2, "another field is called wrong")
    browser.judge_here("application-change-wrong")
    fill(browser, "rate", "250")
    browser.find("button[value='remove.variable.0']").click()
    until("the row is gone", lambda: browser.find("[name='variable.0.name']").get_attribute("value") == "price")
    # Return in a field saves.
    browser.find("[name=label]").send_keys(Keys.RETURN)
    browser.has("The application is changed")
    for words in ("The bank, for iOS", "price", "9.90", "chime.caf", "lang", "locale"):
        browser.has(words)
    browser.find("img.logo")
    browser.judge("application-declared", path)
    row = "SELECT label, variables->0->>'name', sounds->0->>'name', icon IS NOT NULL FROM pushmta_engine.application WHERE id = " + own
    check(site.sql(row).strip() == "The bank, for iOS|price|chime.caf|t", f"there is {site.sql(row)}")

    # On a narrow screen the menu shows where one is, and the form again what there is.
    browser.look(360, "light")
    browser.open(path + "/change")
    here = "const r = document.querySelector('.top nav [aria-current]').getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth"
    check(browser.driver.execute_script(here), "the menu does not show the page that is open")
    browser.look(1440, "light")
    browser.judge("application-change-declared", path + "/change")

    # Somebody else was faster.
    browser.open(path + "/change")
    site.command("app", "set", "bank-ios", "--label", "Faster")
    fill(browser, "label", "Slower")
    browser.find("main button.main").click()
    browser.has("Another user has changed it")
    browser.judge_here("application-change-stale")
    browser.find("p[role=alert] a").click()
    check(browser.find("[name=label]").get_attribute("value") == "Faster", "the page is not loaded anew")

    browser.open("/services/accounts")
    browser.find("tbody th a").click()
    browser.find("a[href$='/change']").click()
    before = [browser.find(f"[name={name}]").get_attribute("value") for name in ("host", "port")]
    fill(browser, "host", "https://proxy.example.com")
    browser.find("main button.main").click()
    browser.find(".wrong:has([name=host]) .field-problem")
    browser.judge_here("account-change-wrong")
    fill(browser, "host", before[0])
    fill(browser, "connections", "3")
    choose(browser, "state", "paused")
    browser.find("main button.main").click()
    browser.has("The account is changed")
    browser.has("It is paused")
    account = browser.driver.current_url.removeprefix(site.base).split("?")[0]
    browser.judge("account-paused", account)
    browser.open(account + "/change")
    check(browser.find("[name=connections]").get_attribute("value") == "3", "the connections are not kept")
    choose(browser, "state", "")
    fill(browser, "connections", "")
    browser.find("main button.main").click()
    browser.has("in use")

    browser.open("/services")
    browser.find("a[href='/services/change?service=bank']").click()
    fill(browser, "label", "Our bank")
    choose(browser, "trust", "signed")
    browser.find("main button.main").click()
    browser.find(".wrong:has([name=trust]) .field-problem")
    browser.judge_here("service-change-wrong")
    choose(browser, "trust", "server")
    browser.find("main button.main").click()
    browser.has("Our bank")
    browser.has("server: only the API and imports set it")
    browser.open("/services/change?service=bank")
    choose(browser, "trust", "open")
    browser.find("main button.main").click()
    browser.has("The service is changed")

    browser.sign_in("operate", site.passwords["operate"])
    browser.has("Sending")
    browser.open(path)
    browser.has("chime.caf")
    check(not browser.driver.find_elements(By.CSS_SELECTOR, "a[href*='/change']"), "an operator may change an application")
    for place in (path, account):
        browser.open(place + "/change")
        browser.has("Your role does not allow this")
    # SIGHUP has it read its certificate again, and ends nothing.
    site.console.send_signal(signal.SIGHUP)
    log = site.folder / "log/console.log"
    until("the signal is taken", lambda: "There is no certificate to reload" in log.read_text(errors="replace"))
    browser.open(path)
    browser.has("chime.caf")


def test_live(site, browser):
    """The live part follows what happens, until it is paused."""
    browser.open("/")
    browser.has("Updates every 2 seconds")
    browser.has("Winter sale")
    button = browser.find("#live-button")
    button.click()
    browser.has("Updates are paused")
    button.click()
    # Quick clicks: pages that the browser has left make room for the one that is open.
    for _ in range(8):
        browser.open(f"/deliveries/{site.paused}")
    # The page of a delivery goes on by itself, and has the buttons of its state.
    browser.has("Updates every 2 seconds")
    read_at = browser.find("#live").get_attribute("innerHTML")
    until("the last of many pages is updated", lambda: browser.find("#live").get_attribute("innerHTML") != read_at)
    # The state above the live part comes with it.
    browser.driver.execute_script("document.querySelector('#delivery-state').textContent = 'old'")
    until("the state is that of the numbers", lambda: browser.find("#delivery-state").text == "paused")
    site.sql(f"SELECT pushmta.stop_delivery({site.paused})")
    browser.has("stopped")
    # Receipts of what it has sent come for minutes.
    until(
        "it ends",
        lambda: site.sql(f"SELECT finished_at FROM pushmta.delivery_progress WHERE id = {site.paused}").strip(),
    )
    site.sql(f"UPDATE pushmta_engine.delivery SET finished_at = now() - interval '1 hour' WHERE id = {site.paused}")
    until(
        "a delivery that ended a while ago is no longer followed",
        lambda: not browser.driver.find_elements(By.CSS_SELECTOR, "#live-button"),
    )
    browser.open("/")
    until("a stopped delivery leaves the page", lambda: "Winter sale" not in browser.text())


def test_pages(site, browser):
    browser.sign_in("admin", site.passwords["admin"])
    browser.has("Sending")
    # An alarm, so that the menu of each page has its badge.
    site.sql(f"UPDATE pushmta_engine.delivery SET state_reason = 'the gateway refuses it' WHERE id = {site.paused}")

    def has_badge():
        browser.open("/")
        return browser.driver.find_elements(By.CSS_SELECTOR, ".top nav .badge")

    until("the menu counts the alarm", has_badge)
    for name, path in pages(site).items():
        browser.judge(name, path)
    browser.open(f"/deliveries/{site.hostile}")
    check("<b>Bold</b>" in browser.find("h1").text, "a name became markup")


def test_languages(site, browser):
    """A person chooses a language in the foot of a page, comes back to that page, and texts that are longer still fit."""
    browser.open("/hosts")
    for code, words in (("de", "Kindprozesse"), ("fr", "Processus enfants")):
        browser.find(f"form.languages button[value={code}]").click()
        browser.has(words)
        check(browser.driver.current_url == site.base + "/hosts", f"it came to {browser.driver.current_url}")
        check(browser.find("html").get_attribute("lang") == code, "the page does not say its language")
        for name in (
            "now", "deliveries", "delivery-open", "hosts", "stop", "recycle", "settings", "templates", "template", "services", "application",
            "ios-pair", "credential", "application-change", "account-new", "account", "account-change", "service-change",
            "service-subscriptions", "find-message", "find-message-nothing",
        ):
            browser.judge(f"{name}-{code}", pages(site)[name])
        browser.open("/hosts")
    browser.find("form.languages button[value=en]").click()
    browser.has("Children")


def test_recycle(site, browser):
    """A child is recycled beside drain: another one comes first, then it leaves."""
    browser.open("/hosts")
    child = re.search(r"/children/(\d+)/recycle", browser.find("a[href$='/recycle']").get_attribute("href")).group(1)
    browser.find(f"a[href='/children/{child}/recycle']").click()
    browser.has("Recycle this child?")
    browser.find("form.actions button").click()
    browser.has("The child was asked to leave")
    # What it holds of a slow delivery it finishes at that delivery's pace.
    leaves = f"SELECT state IN ('draining', 'exited') FROM pushmta.mta_child WHERE id = {child}"
    until("the child leaves", lambda: site.sql(leaves).strip() == "t")
    check(site.sql(f"SELECT max(id) > {child} FROM pushmta.mta_child").strip() == "t", "no other child came first")


def whole_log(browser):
    """The audit log, page after page."""
    text, path = "", "/audit"
    while path:
        browser.open(path)
        text += browser.text()
        older = browser.driver.find_elements(By.CSS_SELECTOR, ".pages a[href*='below=']")
        path = older[0].get_attribute("href").removeprefix(browser.site.base) if older else None
    return text


def test_end(site, browser):
    """The audit log has all of it; a session ends by its button, and by time."""
    browser.sign_in("admin", site.passwords["admin"])
    browser.has("Sending")
    log = whole_log(browser)
    for words in (
        "paused a delivery", "resumed a delivery", "stopped a delivery", "Cart reminder", "was refused", "added a user",
        "had a child recycled", "began a draft", "sent a proof", "started a delivery", "declared an application", "uploaded a credential",
        "had a delivery analysed", "moved the start of a delivery", "took a delivery back to editing", "looked at samples of a delivery",
        "changed a user\u2019s role", "removed a user", "let an application send again", "sent a test push", "changed an application",
        "changed an external account", "changed a service",
    ):
        check(words in log, f"the audit log does not say {words!r}")
    browser.find("form.who button").click()
    browser.has("Sign in")
    browser.open("/audit")
    browser.has("Sign in")
    browser.sign_in("admin", site.passwords["admin"])
    browser.has("Sending")
    site.sql("UPDATE pushmta_engine.console_session SET seen_at = seen_at - interval '31 minutes'")
    browser.open("/hosts")
    browser.has("Your session has ended")
    # What the browser itself has to complain of: refused files, code or style against the policy, errors of the script.
    serious = [
        row["message"] for row in browser.driver.get_log("browser")
        if row["level"] == "SEVERE" and not re.search(r"status of (401|403|404|409|422)", row["message"])
    ]
    check(not serious, f"the browser says: {serious[:3]}")


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    pictures = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pushmta-console-"))
    started = time.monotonic()
    site = browser = None
    try:
        site = Site(programs, folder / "site")
        browser = Browser(site, pictures)
        for test in (
            test_doors, test_first, test_forms, test_pages, test_languages, test_recycle, test_work, test_delivery, test_compose,
            test_analyse, test_list, test_recur, test_plan, test_experiment, test_templates, test_audience, test_saved, test_messages,
            test_services, test_change, test_signals, test_caps, test_approval_rule, test_users, test_events, test_live,
            test_people, test_end,
        ):
            test(site, browser)
            print(f"console: {test.__name__}: passed after {time.monotonic() - started:.0f} s", flush=True)
    finally:
        if browser:
            browser.driver.quit()
        if site:
            site.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

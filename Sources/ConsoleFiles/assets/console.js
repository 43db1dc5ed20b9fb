"use strict";
// What is typed into the forms of a page is not dropped without a question. Without this script, only what was sent stays. Searches and
// filters are not asked about.
const typing = (() => {
    const control = (one) => one.name && !["hidden", "submit", "button", "fieldset", "output"].includes(one.type);
    const isBox = (one) => one.type === "checkbox" || one.type === "radio";
    const values = (form) => new URLSearchParams([...new FormData(form)].filter(([, value]) => typeof value === "string")).toString();
    const path = (address) => new URL(address, location.href).pathname;
    // The page answers the form, as when it was refused: what it shows is not saved.
    const isAnswer = (form) => document.querySelector("main[data-answer]")
        && [form, ...form.elements].some((one) => ["action", "formaction"].some((name) => one.hasAttribute(name)
            && path(one.getAttribute(name)) === location.pathname))
        && [...form.elements].some((one) => control(one) && (isBox(one) ? one.checked : one.value.trim()));
    // The browser put it back when the page was loaded again.
    const isRestored = (form) => [...form.elements].some((one) => one.type === "textarea" && one.value !== one.defaultValue);
    const shown = new Map();
    for (const form of document.querySelectorAll('main form:not([role="search"], .filter, [action="/sign-in"])')) {
        shown.set(form, isAnswer(form) || isRestored(form) ? null : values(form));
    }
    // A list to tick and act upon is no form to fill in.
    const filled = [...shown.keys()].filter((form) => form.getAttribute("method") === "post"
        && (form.elements.version || [...form.elements].some((one) => control(one) && !isBox(one))));
    const isTyped = (form) => values(form) !== shown.get(form);
    let sent = null;
    let isAsked = true;
    document.addEventListener("submit", (event) => { sent = event.target; });
    // A page that the browser kept, after going back to it.
    window.addEventListener("pageshow", () => { sent = null; });
    window.addEventListener("beforeunload", (event) => {
        if (isAsked && filled.some((form) => form !== sent && isTyped(form))) event.preventDefault();
    });
    return {
        control, isBox, filled,
        /** Whether somebody has typed into a form of the page. */
        isAny: () => [...shown.keys()].some(isTyped),
        /** The user has said that it may go. */
        release: () => { isAsked = false; },
    };
})();
// Keeps what is sent from a form, and shows it again if it was not saved because the session had ended or the page refused it. The end of
// this file says which of both happened. Nothing leaves the browser before somebody saves it. Secrets and push tokens are not kept.
{
    const note = document.getElementById("typed-back");
    const user = document.querySelector(".who")?.dataset.user;
    const secret = /(^|[._-])(password|secret|token|key)([._-]|$)/i;
    const controls = (form) => [...form.elements].filter((one) => typing.control(one) && !one.disabled
        && !["password", "file"].includes(one.type) && !secret.test(one.name) && !one.hasAttribute("data-unkept"));
    const name = (one) => one.type === "radio" ? `${one.name}=${one.value}` : one.name;
    const value = (one) => typing.isBox(one) ? one.checked : one.value;
    const version = (form) => form.elements.version?.value ?? "";
    const keep = (form) => {
        const values = controls(form).map((one) => [name(one), value(one)]);
        const sent = { user, action: form.getAttribute("action"), version: version(form), values };
        try { sessionStorage.setItem("pushmta-sent", JSON.stringify(sent)); } catch { /* It is not kept. */ }
    };
    const show = (form, found) => {
        const values = new Map(found.values);
        const changed = controls(form).filter((one) => values.has(name(one)) && values.get(name(one)) !== value(one));
        for (const one of changed) {
            if (typing.isBox(one)) one.checked = values.get(name(one));
            else one.value = values.get(name(one));
            const part = one.closest("details");
            if (part) part.open = true;
            one.dispatchEvent(new Event("input"));
        }
        if (!changed.length) return;
        if (found.version !== version(form)) note.textContent = note.dataset.changed;
        note.hidden = false;
    };
    if (note && user) {
        for (const form of typing.filled) form.addEventListener("submit", () => keep(form));
        try {
            const found = JSON.parse(sessionStorage.getItem("pushmta-unsaved"));
            const form = found?.user === user && typing.filled.find((one) => one.getAttribute("action") === found.action);
            if (form) {
                sessionStorage.removeItem("pushmta-unsaved");
                show(form, found);
            }
        } catch { /* Nothing is kept. */ }
    }
}
// The live part of the page is exchanged as the server sends it. Without this script the page is read by loading it again.
(() => {
    const live = document.getElementById("live");
    const control = document.getElementById("live-control");
    const words = document.getElementById("live-words");
    const button = document.getElementById("live-button");
    const changed = document.getElementById("page-changed");
    if (!live || !control || !words || !button || !window.EventSource) return;
    let source = null;

    // Who is on a link of the live part with the keyboard stays on it, and what was unfolded stays so.
    function exchange(html) {
        const unfolded = [...live.querySelectorAll("details")].map((part) => part.open);
        const path = live.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
        live.innerHTML = html;
        live.querySelectorAll("details").forEach((part, place) => { part.open = unfolded[place] ?? false; });
        // What stands outside of the live part, but is of the same reading.
        live.querySelectorAll("template[data-of]").forEach((part) => {
            document.getElementById(part.dataset.of)?.replaceChildren(part.content.cloneNode(true));
        });
        if (path) live.querySelector(`a[href="${CSS.escape(path)}"]`)?.focus({ preventScroll: true });
    }

    // Of another state: its buttons are others, too. What the address says of something that was done, or was refused, is over.
    function load() { location.replace(live.dataset.path.split("/live")[0] || "/"); }

    // What somebody has typed stays, and so does the version that its form sends: a decision about it is refused, as the page is older.
    function hold() {
        control.hidden = true;
        changed.hidden = false;
    }

    function open() {
        source = new EventSource(live.dataset.path);
        source.onopen = () => { words.textContent = control.dataset.on; };
        source.onmessage = (event) => exchange(event.data);
        // The server says why it sends nothing, as when newer pages took its place.
        source.addEventListener("refused", (event) => { close(); words.textContent = event.data; });
        source.addEventListener("changed", () => {
            close();
            if (typing.isAny() && changed) hold();
            else load();
        });
        source.onerror = () => {
            words.textContent = control.dataset.lost;
            // The session is over: the page itself leads to the sign-in. What was typed waits for its form to be sent.
            if (source?.readyState !== EventSource.CLOSED) return;
            if (typing.isAny()) close();
            else location.reload();
        };
        words.textContent = control.dataset.on;
        button.textContent = control.dataset.pause;
    }

    function close() {
        source.close();
        source = null;
        words.textContent = control.dataset.paused;
        button.textContent = control.dataset.resume;
    }

    changed?.querySelector("button").addEventListener("click", () => { typing.release(); load(); });
    button.addEventListener("click", () => { if (source) close(); else open(); });
    // A page that nobody sees asks for nothing.
    document.addEventListener("visibilitychange", () => {
        if (!source && !document.hidden && control.dataset.hiddenBefore) { delete control.dataset.hiddenBefore; open(); }
        else if (source && document.hidden) { close(); control.dataset.hiddenBefore = "yes"; }
    });
    control.hidden = false;
    open();
})();
// A file is read into the field that is sent: a certificate and an icon as Base64, as they are no text. Without this script it is pasted.
for (const picker of document.querySelectorAll(".picker")) {
    const file = picker.querySelector("input");
    const field = document.getElementById(picker.dataset.into);
    const keyID = document.getElementById("field-key_id");
    const most = 262145;
    file.addEventListener("change", async () => {
        const chosen = file.files[0];
        if (!chosen) return;
        const bytes = new Uint8Array(await chosen.slice(0, most).arrayBuffer());
        field.value = bytes[0] === 0x30 || picker.dataset.binary
            ? btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")) : new TextDecoder().decode(bytes);
        // Apple names the file AuthKey_KEYID.p8.
        const name = /^AuthKey_(\w{10})\.p8$/.exec(chosen.name);
        if (name && keyID) keyID.value = name[1];
    });
    picker.hidden = false;
}
// On a narrow screen the menu is wider than the window: it begins with the page that is open.
{
    const link = document.querySelector(".top nav [aria-current]");
    const menu = link?.closest("nav");
    if (menu) menu.scrollLeft = link.offsetLeft + link.offsetWidth / 2 - menu.clientWidth / 2;
}
// What was typed in a form and sent, but not saved, waits in this window for its form: until the next page shows that it was saved, for
// the same user only, and not beyond signing out. A browser may refuse the storage; then only the place is kept.
try {
    const who = document.querySelector(".who");
    const clear = (...names) => names.forEach((name) => sessionStorage.removeItem(name));
    const sent = sessionStorage.getItem("pushmta-sent");
    if (document.querySelector('form[action="/sign-in"], #not-done')) {
        if (sent) sessionStorage.setItem("pushmta-unsaved", sent);
        clear("pushmta-sent");
    } else if (who) clear("pushmta-sent");
    if (who) {
        const unsaved = JSON.parse(sessionStorage.getItem("pushmta-unsaved"));
        if (unsaved && unsaved.user !== who.dataset.user) clear("pushmta-unsaved");
        who.addEventListener("submit", () => clear("pushmta-sent", "pushmta-unsaved"));
    }
} catch { /* Nothing is kept. */ }

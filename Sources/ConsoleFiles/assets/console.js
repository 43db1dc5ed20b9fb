"use strict";
// The live part of the page is exchanged as the server sends it. Without this script the page is read by loading it again.
(() => {
    const live = document.getElementById("live");
    const control = document.getElementById("live-control");
    const words = document.getElementById("live-words");
    const button = document.getElementById("live-button");
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

    function open() {
        source = new EventSource(live.dataset.path);
        source.onopen = () => { words.textContent = control.dataset.on; };
        source.onmessage = (event) => exchange(event.data);
        // The server says why it sends nothing, as when newer pages took its place.
        source.addEventListener("refused", (event) => { close(); words.textContent = event.data; });
        // Of another state: its buttons are others, too. What the address says of something that was done, or was refused, is over.
        source.addEventListener("changed", () => { close(); location.replace(live.dataset.path.split("/live")[0] || "/"); });
        source.onerror = () => {
            words.textContent = control.dataset.lost;
            // The session is over: the page itself leads to the sign-in.
            if (source && source.readyState === EventSource.CLOSED) location.reload();
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
// What was typed in a step of a draft and sent, but not saved, waits in this window for its step (compose.js): until the next page shows
// that it was saved, for the same user only, and not beyond signing out. A browser may refuse the storage; then only the place is kept.
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

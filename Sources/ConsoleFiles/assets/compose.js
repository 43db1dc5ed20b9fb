"use strict";
// Counts the characters of a text while it is typed, and the bytes that it takes in a message. Without this script the preview says it, and
// the server checks the whole message in any case.
{
    const encoder = new TextEncoder();
    const segmenter = window.Intl?.Segmenter ? new Intl.Segmenter() : null;
    for (const shown of document.querySelectorAll(".counter")) {
        const text = document.getElementById(shown.dataset.of);
        if (!text) continue;
        const limit = Number(shown.dataset.limit);
        const count = () => {
            // Families of emoji are one character for people.
            const characters = [...(segmenter ? segmenter.segment(text.value) : text.value)].length;
            // As JSON has it: a quote and the end of a line take two bytes.
            const bytes = encoder.encode(JSON.stringify(text.value)).length - 2;
            shown.textContent = shown.dataset.words.replace("{0}", characters).replace("{1}", bytes);
            shown.classList.toggle("over", bytes > limit);
        };
        text.addEventListener("input", count);
        count();
        shown.hidden = false;
    }
}
// Asks before what was typed in a step of a draft is dropped. Without this script, only what was saved stays.
{
    const typed = (form) => new URLSearchParams([...new FormData(form)].filter(([, value]) => typeof value === "string")).toString();
    const shown = new Map();
    let isSent = false;
    for (const version of document.querySelectorAll('form input[name="version"]')) {
        shown.set(version.form, typed(version.form));
        version.form.addEventListener("submit", () => { isSent = true; });
    }
    // A page that the browser kept, after going back to it.
    window.addEventListener("pageshow", () => { isSent = false; });
    window.addEventListener("beforeunload", (event) => {
        if (!isSent && [...shown].some(([form, before]) => typed(form) !== before)) event.preventDefault();
    });
}
// Keeps what is sent from a step, and shows it again if it was not saved because the session had ended or the page refused it. console.js
// says which of both happened. Nothing leaves the browser before somebody saves it.
{
    const note = document.getElementById("typed-back");
    const action = document.querySelector('.steps a[aria-current="step"]')?.getAttribute("href");
    const form = note && action && document.querySelector(`form[action="${CSS.escape(action)}"]`);
    const user = document.querySelector(".who")?.dataset.user;
    const controls = () => [...form.elements].filter((control) => control.name && !control.disabled
        && !["hidden", "password", "file", "submit"].includes(control.type));
    const isBox = (control) => control.type === "checkbox" || control.type === "radio";
    const name = (control) => control.type === "radio" ? `${control.name}=${control.value}` : control.name;
    const value = (control) => isBox(control) ? control.checked : control.value;
    const keep = () => {
        const values = controls().map((control) => [name(control), value(control)]);
        const sent = { user, action, version: form.elements.version.value, values };
        try { sessionStorage.setItem("pushmta-sent", JSON.stringify(sent)); } catch { /* It is not kept. */ }
    };
    const unsaved = () => {
        try {
            const found = JSON.parse(sessionStorage.getItem("pushmta-unsaved"));
            if (found?.action !== action || found.user !== user) return null;
            sessionStorage.removeItem("pushmta-unsaved");
            return found;
        } catch { return null; }
    };
    const show = (found) => {
        const values = new Map(found.values);
        const changed = controls().filter((control) => values.has(name(control)) && values.get(name(control)) !== value(control));
        for (const control of changed) {
            if (isBox(control)) control.checked = values.get(name(control));
            else control.value = values.get(name(control));
            const part = control.closest("details");
            if (part) part.open = true;
            control.dispatchEvent(new Event("input"));
        }
        if (!changed.length) return;
        if (found.version !== form.elements.version.value) note.textContent = note.dataset.changed;
        note.hidden = false;
    };
    if (form?.elements.version) {
        form.addEventListener("submit", keep);
        const found = unsaved();
        if (found) show(found);
    }
}
// Enter in a field presses the button that belongs to it. Without this script it saves the step, with what was typed.
for (const field of document.querySelectorAll("[data-enter]")) {
    field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.isComposing) return;
        event.preventDefault();
        document.getElementById(field.dataset.enter)?.click();
    });
}

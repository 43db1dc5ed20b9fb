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

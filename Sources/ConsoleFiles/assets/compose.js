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
// Enter in a field presses the button that belongs to it. Without this script it saves the step, with what was typed.
for (const field of document.querySelectorAll("[data-enter]")) {
    field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.isComposing) return;
        event.preventDefault();
        document.getElementById(field.dataset.enter)?.click();
    });
}

"use strict";
// Without this script the slides stand one below the other, and nothing is hidden.
// In pixels on a stage of 1280 by 720.
const [LARGEST, SMALLEST] = [28, 18];
const [LARGEST_CODE, SMALLEST_CODE, SMALLEST_PRINT] = [24, 15, 22];
const ENLARGED = 2; // pictures, at most: beyond that they are coarse
const SHRUNK = 0.6; // at least, or else the text has to become smaller
const byId = id => document.getElementById(id);
const sections = [...document.querySelectorAll("section")];
const fragments = section => [...section.querySelectorAll(".fragment")];
const hidden = section => fragments(section).filter(fragment => !fragment.classList.contains("shown"));
let now = 0;

function shrink(node, from, to, isTooLarge) {
    let size = from;
    do node.style.fontSize = `${size}px`; while (isTooLarge() && --size >= to);
}

function fit(section) {
    const body = section.firstElementChild;
    const pictures = [...section.querySelectorAll("img")];
    for (const picture of pictures) {
        picture.style.width = `${ENLARGED * picture.naturalWidth}px`;
        picture.style.minHeight = `${Math.min(SHRUNK * picture.naturalHeight, body.clientHeight - 130)}px`;
    }
    // A long line of code makes that code smaller, not the text around it. What is too long even so goes on below, and
    // so does what is printed, which a room has to read.
    const isTooWide = pre => pre.offsetWidth > body.clientWidth;
    section.querySelectorAll("pre").forEach(pre => {
        shrink(pre, LARGEST_CODE, pre.closest(".code") ? SMALLEST_CODE : SMALLEST_PRINT, () => isTooWide(pre));
        pre.classList.toggle("wrapped", isTooWide(pre));
    });
    shrink(section, LARGEST, SMALLEST, () =>
        body.scrollHeight > body.clientHeight || body.scrollWidth > body.clientWidth);
    for (const picture of pictures) { // what is left beside a picture that had to be low
        const width = picture.clientHeight * picture.naturalWidth / picture.naturalHeight;
        picture.style.width = `${Math.min(picture.clientWidth, width)}px`;
    }
}

function scale() {
    const factor = Math.min(innerWidth / 1280, innerHeight / 720);
    const [left, top] = [(innerWidth - 1280 * factor) / 2, (innerHeight - 720 * factor) / 2];
    byId("stage").style.transform = `translate(${left}px, ${top}px) scale(${factor})`;
}

function show(number, everything) {
    now = Math.max(0, Math.min(number, sections.length - 1));
    sections.forEach((section, i) => section.classList.toggle("now", i === now));
    fragments(sections[now]).forEach(fragment => fragment.classList.toggle("shown", everything));
    byId("number").textContent = `${now + 1} of ${sections.length}`;
    byId("back").disabled = now === 0;
    history.replaceState(null, "", `#${now + 1}`);
    byId("notes").replaceChildren(...[...sections[now].querySelectorAll("aside")].flatMap(
        aside => [...aside.cloneNode(true).childNodes]));
    if (!byId("notes").childNodes.length) byId("notes").textContent = "No notes to this slide.";
    update();
}

function update() {
    byId("next").disabled = now === sections.length - 1 && !hidden(sections[now]).length;
}

function next() {
    const [fragment] = hidden(sections[now]);
    if (fragment) fragment.classList.add("shown");
    else if (now < sections.length - 1) return show(now + 1, false);
    update();
}

function back() {
    const shown = fragments(sections[now]).filter(fragment => fragment.classList.contains("shown"));
    if (shown.length) shown.at(-1).classList.remove("shown");
    else if (now > 0) return show(now - 1, true);
    update();
}

function toggleNotes() {
    byId("notes").hidden = !byId("notes").hidden;
    byId("notes-button").setAttribute("aria-expanded", !byId("notes").hidden);
}

const KEYS = {
    ArrowRight: next, ArrowDown: next, PageDown: next, " ": next, ArrowLeft: back, ArrowUp: back, PageUp: back,
    Home: () => show(0, false), End: () => show(sections.length - 1, true), n: toggleNotes,
};

document.documentElement.classList.add("deck");
addEventListener("keydown", event => {
    const onButton = event.key === " " && event.target.closest("button");
    if (onButton || event.ctrlKey || event.altKey || event.metaKey || !KEYS[event.key]) return;
    event.preventDefault();
    event.key === " " && event.shiftKey ? back() : KEYS[event.key]();
});
addEventListener("resize", scale);
addEventListener("hashchange", () => show(parseInt(location.hash.slice(1)) - 1 || 0, false));
byId("back").addEventListener("click", back);
byId("next").addEventListener("click", next);
byId("notes-button").addEventListener("click", toggleNotes);
scale();
show(parseInt(location.hash.slice(1)) - 1 || 0, false);
addEventListener("load", () => { // with the pictures
    sections.forEach(fit);
    document.documentElement.dataset.fitted = "";
});

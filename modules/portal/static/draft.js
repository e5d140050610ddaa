// The page of a submission works without it. It numbers lines, reads a file into the form, and keeps in this tab what was typed.
"use strict";

const DRAFT = "draft"; // in sessionStorage: of this tab, until it is submitted or its reader signs out
const FORM = document.querySelector("form.draft");
const KEPT = ["key", "described", "lines", "kind"];
const KINDS = { csv: ".csv", tsv: ".tsv", jsonl: ".jsonl", ndjson: ".jsonl" };

function numberLines(area) {
    const gutter = document.createElement("div");
    gutter.className = "gutter";
    gutter.ariaHidden = "true";
    area.before(gutter);
    area.parentElement.classList.add("numbered");
    function write() {
        const lines = area.value.split("\n").length;
        if (gutter.childElementCount === lines) return;
        gutter.replaceChildren(...Array.from({ length: lines }, (_, index) => {
            const number = document.createElement("span");
            number.textContent = index + 1;
            return number;
        }));
    }
    area.addEventListener("input", write);
    area.addEventListener("scroll", () => (gutter.scrollTop = area.scrollTop));
    write();
}

function keep() {
    const draft = { user: FORM.dataset.user };
    for (const name of KEPT) draft[name] = FORM.elements[name].value;
    try {
        sessionStorage.setItem(DRAFT, JSON.stringify(draft));
    } catch {
        sessionStorage.removeItem(DRAFT); // too large for it
    }
}

// What the server has filled in goes before what was typed earlier.
function restore() {
    const draft = JSON.parse(sessionStorage.getItem(DRAFT) ?? "null");
    if (draft?.user !== FORM.dataset.user || FORM.elements.described.value || FORM.elements.lines.value) return;
    for (const name of KEPT) FORM.elements[name].value = draft[name];
    tell("This is what you typed before in this tab.");
}

function tell(words) {
    document.getElementById("told").textContent = words;
}

async function take(file) {
    const longest = Number(FORM.dataset.longest);
    const large = `${file.name} is too large for this page: name it as param_file in the description, and use gridsub.`;
    if (file.size > longest) return tell(large);
    let text;
    try {
        text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    } catch {
        return tell(`${file.name} is not UTF-8 text.`);
    }
    if (encodeURIComponent(text).length > longest) return tell(large);
    FORM.elements.kind.value = KINDS[file.name.split(".").pop().toLowerCase()] ?? "";
    FORM.elements.lines.value = text;
    FORM.elements.lines.dispatchEvent(new Event("input", { bubbles: true }));
    tell(`The lines of ${file.name} are in the form.`);
}

if (FORM) {
    const file = document.getElementById("table");
    document.getElementById("upload").hidden = false;
    restore();
    FORM.querySelectorAll("textarea").forEach(numberLines);
    FORM.addEventListener("input", keep);
    FORM.addEventListener("submit", keep);
    document.addEventListener("DOMContentLoaded", () => FORM.elements.described.value && htmx.trigger(FORM, "input"));
    file.addEventListener("change", () => file.files.length && take(file.files[0]));
}

// Pages work without it. It writes times in the reader's zone, and has what changes on the grid shown in place.
"use strict";

const YEAR = new Date().getFullYear();
let isOld = false; // something has changed that this page does not show

function writeTimes(place) {
    for (const time of place.querySelectorAll("time[datetime]")) {
        const at = new Date(time.dateTime);
        const day = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" };
        const words = at.toLocaleString([], at.getFullYear() === YEAR ? day : { ...day, year: "numeric" });
        if (!time.classList.contains("relative")) time.textContent = words;
        time.title = at.toLocaleString([], { dateStyle: "full", timeStyle: "long" });
    }
}

function keepRows() {
    let rows = [];
    document.addEventListener("htmx:beforeSwap", () => {
        rows = [...document.querySelectorAll("details[id]")].map((row) => [row.id, row.open]);
    });
    document.addEventListener("htmx:afterSwap", () => {
        for (const [id, isOpen] of rows) document.getElementById(id)?.toggleAttribute("open", isOpen);
        writeTimes(document);
    });
}

function isTyped(field) {
    if (field.type === "hidden") return false;
    if (field === document.activeElement) return true;
    if (field.matches("select")) return [...field.options].some(isChosenAnew);
    return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
}

// The first option is chosen where none says so.
function isChosenAnew(option) {
    return option.index > 0 && option.selected !== option.defaultSelected;
}

function isInUse(place) {
    return [...place.querySelectorAll("input, select, textarea")].some(isTyped);
}

// The grid sends those parts (page_parts.py) that have changed. One in which somebody types stays, and is fetched later.
function exchangeParts() {
    document.addEventListener("htmx:configRequest", (event) => {
        if (event.target.id !== "main") return;
        const shown = [...event.target.querySelectorAll(".part")];
        const known = shown.map((part) => `${part.id.slice("part-".length)}=${part.dataset.tag}`);
        event.detail.headers["X-CiGri-Parts"] = known.join(" ");
    });
    document.addEventListener("htmx:oobBeforeSwap", (event) => {
        if (!isInUse(event.detail.target)) return;
        event.preventDefault();
        isOld = true;
    });
    document.addEventListener("htmx:beforeSwap", (event) => {
        const isWhole = event.target.id === "main" && !event.detail.xhr.getResponseHeader("HX-Reswap");
        if (!isWhole || !isInUse(event.target)) return;
        event.detail.shouldSwap = false;
        isOld = true;
    });
}

// What nobody sees is fetched anew later.
function listen(address) {
    const changes = new EventSource(address);
    function renew() {
        const isWatched = sessionStorage.getItem(`watched${location.pathname}`) !== null; // notice.js tells what is new
        if (!isOld || (document.hidden && !isWatched)) return;
        isOld = false;
        htmx.trigger("#main", "changed");
    }
    changes.addEventListener("changed", () => {
        isOld = true;
        renew();
    });
    changes.addEventListener("over", () => changes.close());
    document.addEventListener("visibilitychange", renew);
    document.addEventListener("focusout", () => setTimeout(renew));
}

// What was typed on the page of a submission (draft.js) has become a campaign, or is nobody else's.
function dropDraft() {
    const cameFrom = document.referrer && new URL(document.referrer).pathname;
    if (location.pathname.startsWith("/campaigns/") && cameFrom.startsWith("/submit")) sessionStorage.removeItem("draft");
    document.querySelector("form.who")?.addEventListener("submit", () => sessionStorage.removeItem("draft"));
}

writeTimes(document);
keepRows();
exchangeParts();
dropDraft();
if (document.body.dataset.changes) listen(document.body.dataset.changes);

// Pages work without it. It writes times in the reader's zone, and has what changes on the grid shown in place.
"use strict";

const YEAR = new Date().getFullYear();

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

function isTyping() {
    return document.activeElement.matches("main input:not([type=hidden]), main select, main textarea");
}

// What nobody sees, or somebody types in, is fetched anew later.
function listen(address) {
    const changes = new EventSource(address);
    let isOld = false;
    function renew() {
        const isWatched = sessionStorage.getItem(`watched${location.pathname}`) !== null; // notice.js tells what is new
        if (!isOld || isTyping() || (document.hidden && !isWatched)) return;
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
dropDraft();
if (document.body.dataset.changes) listen(document.body.dataset.changes);

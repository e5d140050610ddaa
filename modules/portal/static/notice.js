// On a campaign's page: the browser tells when it ends, or waits for its user, to whoever asks for that by a button.
"use strict";

const WATCHED = `watched${location.pathname}`; // in sessionStorage: what was last known of it; page.js looks for it, too

// In words, what is to be told of the campaign now; empty: it goes on.
function news() {
    return document.querySelector("[data-news]")?.dataset.news ?? "";
}

function showButton() {
    const button = document.getElementById("tell-me");
    if (!button || !("Notification" in window)) return;
    button.hidden = false;
    button.ariaPressed = String(sessionStorage.getItem(WATCHED) !== null);
}

async function toggle() {
    const why = document.getElementById("tell-me-why");
    why.textContent = "";
    if (sessionStorage.getItem(WATCHED) !== null) {
        sessionStorage.removeItem(WATCHED);
    } else if ((await Notification.requestPermission()) === "granted") {
        sessionStorage.setItem(WATCHED, news());
        why.textContent = "Leave this page open in a tab.";
    } else {
        why.textContent = "This browser does not let this page notify you.";
    }
    showButton();
}

function notify() {
    const known = sessionStorage.getItem(WATCHED);
    if (known === null || known === news()) return;
    sessionStorage.setItem(WATCHED, news());
    if (!news()) return;
    try {
        const notice = new Notification(document.querySelector("h1").textContent, { body: news(), tag: WATCHED });
        notice.onclick = () => window.focus();
    } catch {
        sessionStorage.removeItem(WATCHED); // as on telephones, which want more than a page for it
    }
}

document.addEventListener("click", (event) => event.target.id === "tell-me" && toggle());
document.addEventListener("htmx:afterSwap", () => {
    notify();
    showButton();
});
notify();
showButton();

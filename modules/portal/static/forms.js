// Before a form is sent it is given a proof that holds: of a portal that was restarted since, too. Where none is to be had, the form
// stays as it is, with what was typed in it, and tells why.
"use strict";

const NO_ANSWER = "The grid does not answer. What you typed is still here: try again in a moment.";
const SIGNED_OUT = "You are signed out. What you typed is still here: open a link of `gridweb` in another tab, then try again.";
let proved = null; // the form that is being sent

async function renewProofs() {
    const answer = await fetch("/proof").catch(() => null);
    if (answer?.status === 204) throw new Error(SIGNED_OUT);
    if (!answer?.ok) throw new Error(NO_ANSWER);
    const proof = await answer.text();
    for (const field of document.querySelectorAll("input[type=hidden][name=proof]")) field.value = proof;
}

function tellUnsent(form, words) {
    let place = form.querySelector(".unsent");
    if (!place) {
        place = document.createElement("p");
        place.className = "unsent notice";
        place.role = "alert";
        form.append(place);
    }
    place.textContent = words;
}

async function sendProved(form, button) {
    try {
        await renewProofs();
    } catch (error) {
        return tellUnsent(form, error.message);
    }
    form.querySelector(".unsent")?.remove();
    proved = form;
    form.requestSubmit(button);
}

document.addEventListener("submit", (event) => {
    const form = event.target;
    const isProved = form === proved;
    proved = null; // when it is sent again, a restart may lie between
    if (isProved || !form.querySelector("input[type=hidden][name=proof]")) return;
    event.preventDefault();
    sendProved(form, event.submitter);
});

// As for what htmx sends; where there is no proof it is refused, which shows as before.
document.addEventListener("htmx:confirm", (event) => {
    if (event.detail.verb !== "post") return;
    event.preventDefault();
    renewProofs().catch(() => null).then(() => event.detail.issueRequest(true));
});

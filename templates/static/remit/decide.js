// A person's word on a pattern or a card, given to the API. The page is read again: what stands on it is the
// server's.

import { gettext } from "./words.js";

const place = document.querySelector("[data-user]");
const status = document.getElementById("status");
const SAID = "remit-said"; // what the page says once it is read again

async function decide(button) {
  const card = button.closest("section");
  const buttons = [...place.querySelectorAll("button")];
  for (const one of buttons) one.disabled = true;
  status.textContent = gettext("Saving");
  const { url, word, bound } = button.dataset;
  let refused = gettext("The server cannot be reached. Check that Remit runs, then try again.");
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        "Accept-Language": document.documentElement.lang, "Content-Type": "application/json", "X-CSRFToken": place.dataset.csrf,
        "X-Remit-Organisation": place.dataset.organisation,
      },
      body: JSON.stringify({
        user_id: place.dataset.user, decision: word, ...JSON.parse(bound || "{}"),
      }),
    });
    if (answer.ok) {
      sessionStorage.setItem(SAID, JSON.stringify([card.id, button.textContent]));
      location.reload();
      return;
    }
    refused = (await answer.json()).detail;
  } catch {
    // The sentence above stands.
  }
  status.textContent = refused;
  for (const one of buttons) one.disabled = false;
  button.focus();
}

for (const button of document.querySelectorAll("button.decide")) button.addEventListener("click", () => decide(button));
const said = sessionStorage.getItem(SAID);
sessionStorage.removeItem(SAID);
if (said) {
  const [id, word] = JSON.parse(said);
  status.textContent = `${gettext("Done")}: ${word}.`;
  document.getElementById(id)?.focus();
}

// What agents suggest to the user, with a person's word on each. What it is about is in strangers'
// words: texts only ever become text nodes.

import { Refused, call, root } from "./api.js";
import { el, visible } from "./cards.js";
import { fill, gettext } from "./words.js";

const SHOWN = 3; // things at once; the others are folded
const INVITATIONS = ["answer", "time"];

/** Shows in `place` what is suggested to the user who is chosen, and hides it where that is nothing. */
export function watchSuggestions(place, user, say) {
  const url = root.dataset.suggestions; // none: this login has no word on them
  let whose = null;
  let rows = []; // in the order of the API: the newest first, those about one thing together
  let notes = new Map(); // by id: what became of those that were decided here

  async function load() {
    if (!url) return;
    const who = user.value;
    const open = await call(`${url}?user_id=${encodeURIComponent(who)}`);
    if (who !== user.value) return;
    if (who !== whose) [whose, rows, notes] = [who, [], new Map()];
    const found = withDecided(open);
    if (JSON.stringify(found) === JSON.stringify(rows)) return;
    rows = found;
    render();
  }

  /** With those that were decided here, each among those about the same. */
  function withDecided(open) {
    const ids = new Set(open.map((row) => row.id));
    const found = [...open];
    for (const row of rows.filter((one) => notes.has(one.id) && !ids.has(one.id)).reverse()) {
      const at = found.findIndex((one) => one.turn_id <= row.turn_id);
      found.splice(at < 0 ? found.length : at, 0, { ...row, state: "over" });
    }
    return found;
  }

  async function decide(row, word) {
    for (const button of line(row.id).querySelectorAll("button")) button.disabled = true;
    say(gettext("Sending"));
    try {
      const answer = await call(`${url}/${row.id}/${word}`, { user_id: whose });
      notes.set(row.id, answer.state === "dismissed" ? gettext("Dismissed.") : answer.outcome);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      notes.set(row.id, error.message);
    }
    await load().catch(() => {}); // what is shown stays as it was
    render();
    say(visible(notes.get(row.id)));
    line(row.id)?.focus({ preventScroll: true });
  }

  const line = (id) => place.querySelector(`[data-id="${CSS.escape(id)}"]`);

  function render() {
    const about = [...Map.groupBy(rows, (row) => row.turn_id).values()];
    const open = rows.filter((row) => row.state === "open").length;
    const wasUnfolded = place.querySelector("details")?.open ?? false;
    const more = about.slice(SHOWN);
    place.hidden = !rows.length;
    place.replaceChildren(
      el("summary", {}, open ? fill("Suggested to you: %(number)s", { number: open }) : gettext("Nothing else is suggested to you")),
      el("ul", { className: "plain" }, ...about.slice(0, SHOWN).map(thing)),
      more.length ? el("details", { open: wasUnfolded },
        el("summary", {}, fill("About %(number)s more", { number: more.length })), el("ul", { className: "plain" }, ...more.map(thing))) : "");
  }

  /** All that is suggested about one invitation or issue. */
  function thing(own) {
    const [first] = own;
    const shared = first.because.filter((one) => own.every((row) => row.because.includes(one)));
    const time = { time: first.when };
    const what = INVITATIONS.includes(first.kind) ? fill("Invitation, looked at %(time)s", time) : fill("Issue, looked at %(time)s", time);
    return el("li", { className: "card" },
      el("h3", {}, what),
      el("h4", { dir: "auto" }, visible(first.title) || gettext("Untitled")),
      el("p", { dir: "auto" }, visible(shared.join(" "))),
      el("ul", { className: "plain" }, ...own.map((row) => offer(row, shared))));
  }

  function offer(row, shared) {
    const says = visible(row.says);
    const note = notes.get(row.id) ?? row.outcome;
    const button = (text, word, className) => el("button", {
      type: "button", className, ariaLabel: `${text}: ${says}`, onclick: () => decide(row, word),
    }, text);
    return el("li", { className: "offer", "data-id": row.id, tabIndex: -1 },
      el("div", { dir: "auto" }, el("strong", {}, says),
        ...row.because.filter((one) => !shared.includes(one)).map((one) => el("small", {}, visible(one))),
        note ? el("p", {}, visible(note)) : ""),
      row.state === "open" ? el("div", { className: "buttons" },
        row.can_be_taken_up ? button(gettext("Do it"), "take-up", "primary") : "", button(gettext("Dismiss"), "dismiss", "")) : "");
  }

  return { load, look: () => { if (!document.hidden) load().catch(() => {}); } };
}

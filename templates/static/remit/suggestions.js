// What agents suggest to the user, with a person's word on each. What it is about is in strangers'
// words: texts only ever become text nodes.

import { Refused, call, root } from "./api.js";
import { el, visible } from "./cards.js";

const SHOWN = 3; // things at once; the others are folded
const INVITATIONS = ["answer", "time"];

/** A sentence of the page with its values in place of `%(name)s`. */
const fill = (sentence, values) => sentence.replace(/%\((\w+)\)s/g, (_, name) => values[name]);

/** Shows in `place` what is suggested to the user who is chosen, and hides it where that is nothing. */
export function watchSuggestions(place, user, say) {
  const url = root.dataset.suggestions; // none: this login has no word on them
  const words = JSON.parse(place.dataset.words);
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
    say(words.sending);
    try {
      const answer = await call(`${url}/${row.id}/${word}`, { user_id: whose });
      notes.set(row.id, answer.state === "dismissed" ? words.dismissed : answer.outcome);
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
      el("summary", {}, open ? fill(words.open, { number: open }) : words.none),
      el("ul", { className: "plain" }, ...about.slice(0, SHOWN).map(thing)),
      more.length ? el("details", { open: wasUnfolded },
        el("summary", {}, fill(words.more, { number: more.length })), el("ul", { className: "plain" }, ...more.map(thing))) : "");
  }

  /** All that is suggested about one invitation or issue. */
  function thing(own) {
    const [first] = own;
    const shared = first.because.filter((one) => own.every((row) => row.because.includes(one)));
    const what = INVITATIONS.includes(first.kind) ? words.invitation : words.issue;
    return el("li", { className: "card" },
      el("h3", {}, fill(what, { time: first.when })),
      el("h4", { dir: "auto" }, visible(first.title) || words.untitled),
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
        button(words.take_up, "take-up", "primary"), button(words.dismiss, "dismiss", "")) : "");
  }

  return { load, look: () => { if (!document.hidden) load().catch(() => {}); } };
}

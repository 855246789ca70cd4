// Searching what was read, and the words of it that an answer leans on. Texts are strangers': they
// only ever become text nodes.

import { el, visible } from "./cards.js";
import { count, fill, gettext, moment } from "./words.js";

const MOST = 50; // what one search may list
export const BEST = 10; // what is listed where nobody said how many

/** A part of an item's text, with what was looked for marked. */
function snippet(parts) {
  return el("p", { className: "snippet", dir: "auto" },
    ...parts.map((part) => part.found ? el("mark", {}, visible(part.text)) : visible(part.text)));
}

function found(item, items) {
  const who = item.sender_name || item.sender_address;
  const about = [gettext(item.source), who, moment(item.occurred_at)];
  const title = visible(item.title) || gettext("Untitled");
  const page = { href: items.replace(":id", encodeURIComponent(item.id)), target: "_blank", rel: "noopener noreferrer" };
  return el("li", {},
    el("a", page, title),
    el("small", {}, visible(about.filter(Boolean).join(" · "))),
    item.snippet.length ? snippet(item.snippet) : null);
}

/** What a search found, as one entry of the log. `items` is the address of an item, with :id. */
export function searched(query, answer, items) {
  const number = answer.items.length;
  const some = number === BEST
    ? fill("%(number)s best items found for “%(query)s”.", { number, query })
    : count(number, "1 item found for “%(query)s”.", "%(number)s items found for “%(query)s”.", { query });
  const said = number ? some : fill("Nothing found for “%(query)s”.", { query });
  return el("li", { className: "message search" },
    el("h3", {}, gettext("Search")),
    el("p", {}, visible(said)),
    number ? el("ol", { className: "plain found" }, ...answer.items.map((item) => found(item, items))) : null);
}

/** Lets a list of items, each with its id, show its snippets once it is opened. `search` gives what
 * is found for the question; nothing is kept of it with the answer. */
export function explained(list, search) {
  if (search) list?.addEventListener("toggle", async () => {
    const answer = await search(MOST).catch(() => null); // the list itself is there all the same
    const byId = new Map((answer?.items ?? []).map((item) => [item.id, item.snippet]));
    for (const line of list.querySelectorAll("li[data-id]")) {
      const parts = byId.get(line.dataset.id);
      if (parts?.length) line.append(snippet(parts));
    }
  }, { once: true });
  return list;
}

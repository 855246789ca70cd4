// Searching what was read, and the words of it that an answer leans on. Texts are strangers': they
// only ever become text nodes.

import { SOURCES, el, visible } from "./cards.js";

const MOST = 50; // what one search may list

/** A part of an item's text, with what was looked for marked. */
function snippet(parts) {
  return el("p", { className: "snippet", dir: "auto" },
    ...parts.map((part) => part.found ? el("mark", {}, visible(part.text)) : visible(part.text)));
}

function found(item, items) {
  const who = item.sender_name || item.sender_address;
  const about = [SOURCES[item.source] ?? item.source, who, new Date(item.occurred_at).toUTCString()];
  const title = visible(item.title) || "Untitled";
  const page = { href: items.replace(":id", encodeURIComponent(item.id)), target: "_blank", rel: "noopener noreferrer" };
  return el("li", {},
    el("a", page, title),
    el("small", {}, visible(about.filter(Boolean).join(" · "))),
    item.snippet.length ? snippet(item.snippet) : null);
}

/** What a search found, as one entry of the log. `items` is the address of an item, with :id. */
export function searched(query, answer, items) {
  const count = answer.items.length;
  const howMany = count ? `${count}${count === 10 ? " best" : ""} ${count === 1 ? "item" : "items"}` : "Nothing";
  return el("li", { className: "message search" },
    el("h3", {}, "Search"),
    el("p", {}, visible(`${howMany} found for “${query}”.`)),
    count ? el("ol", { className: "plain found" }, ...answer.items.map((item) => found(item, items))) : null);
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

// What the console shows, built from values. Text only ever becomes a text node.

const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
const RECEIVERS = ["to", "cc", "bcc", "reply_to", "attendees", "assignee", "project_key", "label_id"];
const SOURCES = { gmail: "Gmail", gdrive: "Google Drive", calendar: "Calendar", jira: "Jira" };

/** Text with every invisible character shown, as in ⟨U+200B⟩. */
export function visible(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 1) ?? "";
  return text.replace(HIDDEN, (one) =>
    one === "\n" || one === "\t"
      ? one
      : `⟨U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** An element with properties and children; strings become text. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

/** A link that opens beside the console; anything but a web address stays text. */
export function link(title, url) {
  const web = /^https?:\/\//.test(url) || /^\/[^/\\]/.test(url);
  return web
    ? el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, title)
    : el("span", {}, visible(`${title} ${url}`));
}

/** One message of the conversation. */
export function message(role, text) {
  const who = role === "user" ? "User" : "Assistant";
  return el("li", { className: `message ${role}` },
    el("h3", {}, who), el("p", { className: "text" }, visible(text)));
}

/** What the answer leans on, under the numbers it cites. */
export function contextUsed(items) {
  if (!items.length) return null;
  return el("details", { className: "context" },
    el("summary", {}, `Context used (${items.length})`),
    el("ul", { className: "plain" }, ...items.map((item) =>
      el("li", {}, `[${item.n}] ${visible(item.title)} · ${SOURCES[item.source] ?? item.source}`))));
}

/** The question with its options as buttons. */
export function question(asked, answer) {
  const options = asked.options.map((option) =>
    el("button", { type: "button", onclick: () => answer(option) }, visible(option)));
  return el("section", { className: "card question", ariaLabel: "Question" },
    el("p", { className: "text" }, visible(asked.question)),
    el("div", { className: "buttons" }, ...options));
}

function origins(action, names, words) {
  const found = Object.entries(action.provenance)
    .filter(([path]) => names.some((name) => path === name || path.startsWith(`${name}[`)))
    .map(([, origin]) => words[origin] ?? origin);
  return [...new Set(found)].join("; ");
}

function parameters(action, names, words, { each }) {
  return el("dl", {}, ...names.flatMap((name) => [
    el("dt", {}, name.replaceAll("_", " ")),
    el("dd", {},
      ...[action.params[name]].flat().map((value) => el("span", { className: "value" }, visible(value))),
      each ? el("small", {}, origins(action, [name], words)) : null),
  ]));
}

/** An action that waits: receivers first, everything that would be sent, and what follows. */
export function pending(action, words, decide) {
  const filled = Object.keys(action.params)
    .filter((name) => action.params[name] !== null && [action.params[name]].flat().length);
  const receivers = RECEIVERS.filter((name) => filled.includes(name));
  const rest = filled.filter((name) => !RECEIVERS.includes(name));
  const origin = origins(action, rest, words);
  const button = (title, kind, confirm) => el("button", {
    type: "button", className: kind, ariaLabel: `${title}: ${visible(action.description)}`,
    onclick: () => decide([action.id], confirm),
  }, title);
  return el("section", { className: "card pending", ariaLabel: "Pending action" },
    receivers.length ? parameters(action, receivers, words, { each: true }) : null,
    el("h4", {}, visible(action.description)),
    rest.length ? parameters(action, rest, words, { each: false }) : null,
    origin ? el("small", {}, `Other values: ${origin}`) : null,
    action.side_effects.length
      ? el("p", {}, `This also happens: ${visible(action.side_effects.join("; "))}`) : null,
    action.reason ? el("p", {}, `Why you are asked: ${visible(action.reason)}`) : null,
    action.expires_at
      ? el("p", {}, `Expires ${new Date(action.expires_at).toUTCString()}`) : null,
    el("div", { className: "buttons" },
      button("Confirm", "primary", true), button("Reject", "", false)));
}

/** An action that is permitted and waits: when it happens, and the way to stop it. */
export function held(action, recall) {
  return el("section", { className: "card pending", ariaLabel: "Held action" },
    el("h4", {}, `Held: ${visible(action.description || action.type)}`),
    el("p", {}, visible(action.sentence)),
    el("div", { className: "buttons" },
      el("button", {
        type: "button", ariaLabel: `Recall: ${visible(action.description)}`,
        onclick: (event) => recall(action, event.currentTarget),
      }, "Recall")));
}

/** What was done, or was not, each with its links. */
export function finished(action, ledger) {
  const done = ["succeeded", "noop"].includes(action.status);
  const places = [...(action.artifacts ?? [])];
  if (!places.length && action.result?.url) places.push({ kind: "result", id: action.result.task_key, url: action.result.url });
  return el("section", { className: `card ${done ? "done" : "refused"}`, ariaLabel: done ? "Done" : "Not done" },
    el("h4", {}, `${done ? "Done" : "Not done"}: ${visible(action.description || action.type)}`),
    action.status !== "succeeded" && action.sentence ? el("p", {}, visible(action.sentence)) : null,
    el("p", { className: "links" },
      ...places.flatMap((place) => [link(visible(place.id || place.kind), place.url ?? ""), " "]),
      link("Ledger", `${ledger}?q=${encodeURIComponent(action.action_id)}`)));
}

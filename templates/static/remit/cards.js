// What the console shows, built from values. Text only ever becomes a text node; an answer's HTML is
// the server's, which lets a few tags through (agents/answer/rich_text.py), and the page's policy
// runs nothing in it.

import { count, fill, gettext, moment } from "./words.js";

const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

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

/** One message of the conversation; of an answer `html` is how it is shown. `page` gives the address
 * of an item that it cites. */
export function message(role, text, { html = "", citations = [], page = null } = {}) {
  const who = { user: gettext("User"), person: gettext("A person") }[role] ?? gettext("Assistant");
  return el("li", { className: `message ${role}` },
    el("h3", {}, who), html ? rich(html) : el("p", { className: "text" }, visible(text)),
    citations.length
      ? el("ul", { className: "plain sources", ariaLabel: gettext("Sources") }, ...citations.map((one) => source(one, page)))
      : null);
}

/** An answer, or what there is of it so far, as the server rendered it. */
export function rich(html) {
  const place = el("div", { className: "text rich", dir: "auto" });
  place.innerHTML = html;
  return place;
}

/** Brings what is shown of an answer up to date. What is the same stays, and what is selected in it. */
export function renew(place, html) {
  const nodes = [...rich(html).childNodes];
  for (const [at, node] of nodes.entries()) {
    const old = place.childNodes[at];
    if (!old) place.append(node);
    else if (!old.isEqualNode(node)) old.replaceWith(node);
  }
  while (place.childNodes.length > nodes.length) place.lastChild.remove();
}

function source(item, page) {
  const title = visible(item.title) || gettext("Untitled");
  return el("li", item.id ? { "data-id": item.id } : {}, `[${item.n}] `,
    item.id && page ? link(title, page(item)) : title, ` · ${gettext(item.source)}`);
}

/** What the answer leans on, under the numbers it cites. */
export function contextUsed(items, page) {
  if (!items.length) return null;
  return el("details", { className: "context" },
    el("summary", {}, fill("Context used (%(number)s)", { number: items.length })),
    el("ul", { className: "plain" }, ...items.map((one) => source(one, page))));
}

const MARKS = { completed: "✓", in_progress: "…", failed: "✗", blocked: "✗", pending: "○" };
const STATES = {
  completed: gettext("completed"), in_progress: gettext("in progress"), failed: gettext("failed"), blocked: gettext("blocked"), pending: gettext("pending"),
};

function planned(tag, one, ...inside) {
  return el(tag, { className: one.status },
    el("span", { ariaHidden: "true" }, `${MARKS[one.status] ?? ""} `), visible(one.description),
    el("small", {}, STATES[one.status] ?? one.status),
    one.result ? el("small", {}, visible(one.result)) : null, ...inside);
}

/** Puts the plan of the session into its place; hides the place where there is none. */
export function showPlan(place, plan) {
  const steps = plan?.goals.flatMap((goal) => goal.steps) ?? [];
  const done = steps.filter((step) => step.status === "completed");
  place.hidden = !plan;
  place.replaceChildren(...plan ? [
    el("summary", {}, fill("Plan: %(done)s of %(all)s steps completed", { done: done.length, all: steps.length })),
    el("ol", { className: "plain" }, ...plan.goals.map((goal) =>
      planned("li", goal, el("ul", { className: "plain" }, ...goal.steps.map((step) => planned("li", step)))))),
  ] : []);
}

/** What a review of the answer found; nothing where it found no gap. */
export function reviewed(review) {
  if (!review?.gaps.length) return null;
  return el("details", { className: "context" },
    el("summary", {}, count(review.gaps.length, "Review: 1 gap left", "Review: %(number)s gaps left")),
    el("ul", { className: "plain" }, ...review.gaps.map((gap) => el("li", {}, visible(gap)))));
}

/** The question with its options as buttons. */
export function question(asked, answer) {
  const options = asked.options.map((option, place) =>
    el("button", { type: "button", onclick: () => answer(option, place) }, visible(option)));
  return el("section", { className: "card question", ariaLabel: gettext("Question") },
    el("p", { className: "text" }, visible(asked.question)),
    el("div", { className: "buttons" }, ...options));
}

function described(pairs) {
  return el("dl", {}, ...pairs.flatMap(([name, ...content]) => [el("dt", {}, visible(name)), el("dd", {}, ...content)]));
}

const value = (text) => el("span", { className: "value", dir: "auto" }, text);

function listValues(values) {
  return described(values.map((one) => [
    one.label, value(one.text), el("small", { className: one.is_new ? "new" : "" }, one.provenance),
  ]));
}

function changing(action, edit) {
  const boxes = action.values.filter((one) => !one.path.endsWith("_id") && one.path !== "issue_key");
  const labels = new Map(boxes.map((one) => [one.path.replace(/\[\d+\]$/, ""), one.label]));
  const names = [...labels.keys()].filter((name) => ["string", "object"].includes(typeof action.params[name]));
  const fields = names.map((name) => {
    const given = action.params[name];
    const many = Array.isArray(given);
    const box = el("textarea", { rows: many ? given.length + 1 : 2, id: `${action.id}-${name}` });
    box.value = many ? given.join("\n") : given;
    return { name, many, box, before: box.value };
  });
  const form = el("form", { className: "change", hidden: true },
    ...fields.flatMap(({ name, many, box }) => [
      el("label", { htmlFor: box.id }, visible(many ? fill("%(label)s (one a line)", { label: labels.get(name) }) : labels.get(name))), box]),
    el("p", {}, gettext("What you save is a new action. It is shown to you again before anything is done.")),
    el("div", { className: "buttons" },
      el("button", { className: "primary" }, gettext("Save and look at it")),
      el("button", { type: "button", onclick: () => { form.hidden = true; } }, gettext("Leave it"))));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const params = Object.fromEntries(fields.filter(({ box, before }) => box.value !== before)
      .map(({ name, many, box }) => [name, many
        ? box.value.split("\n").map((line) => line.trim()).filter(Boolean)
        : box.value || null]));
    if (Object.keys(params).length) edit(action, params);
  });
  return { form, open: () => { form.hidden = false; fields[0]?.box.focus(); }, can: fields.length > 0 };
}

/** What somebody called it: their words, and marked as such. */
const about = (words) => words
  ? el("p", { className: "about" }, el("bdi", {}, visible(words)), el("small", {}, gettext("somebody's words"))) : null;

/** Remit's own part of a line that goes on with somebody's words, which stand below it. */
const heading = (line) => visible(line.split("“")[0].replace(/[: ]+$/, ""));
const wordsIn = (line) => about(line.slice(line.split("“")[0].length));

const lines = (action) => action.exposures.flatMap((one) => one.lines.map((line, at) =>
  el("p", { className: one.is_new && at === 0 ? "value new" : "value", dir: "auto" }, line)));

/** What decides: receivers first, then what others get to see and what changes. */
function decisive(action) {
  const targets = action.values.filter((one) => one.is_target);
  return [
    targets.length ? listValues(targets) : null,
    ...lines(action),
    action.differences.length
      ? described(action.differences.map(([what, before, after]) => [what,
        el("del", { className: "value" }, before), el("ins", { className: "value" }, after)]))
      : null,
  ];
}

/** What else a person judges an action by: what follows, and every value. */
function judged(action) {
  const rest = action.values.filter((one) => !one.is_target);
  return [
    action.side_effects.length
      ? el("p", {}, fill("This also happens: %(text)s", { text: visible(action.side_effects.join("; ")) })) : null,
    action.reason ? el("p", {}, fill("Why you are asked: %(text)s", { text: visible(action.reason) })) : null,
    rest.length ? listValues(rest) : null,
    action.user_said ? el("figure", {}, el("figcaption", {}, gettext("The user's words")),
      el("blockquote", { dir: "auto" }, action.user_said)) : null,
    action.yeses ? el("p", {}, `${visible(action.yeses)}.`) : null,
    action.delegated ? el("p", {}, `${visible(action.delegated)}.`) : null,
    action.expires_at
      ? el("p", {}, fill("Expires %(time)s", { time: moment(action.expires_at) })) : null,
    action.agent_said
      ? el("figure", {}, el("figcaption", {}, gettext("What the agent says about it (not evidence)")),
        el("blockquote", {}, action.agent_said)) : null,
  ];
}

/** Why the yes that is missing is another person's, where the button for it would be. */
const notYours = (action) => action.not_yours
  ? el("p", { className: "not-yours" }, visible(action.not_yours)) : null;

/** An action that waits. */
export function pending(action, decide, edit) {
  const change = changing(action, edit);
  const button = (title, kind, act) => el("button", {
    type: "button", className: kind, ariaLabel: `${title}: ${visible(action.description)}`, onclick: act,
  }, title);
  const card = el("section", { className: "card pending", ariaLabel: gettext("Pending action") },
    el("h4", {}, visible(action.heading)),
    about(action.about), ...decisive(action), ...judged(action), notYours(action),
    el("div", { className: "buttons" },
      action.not_yours ? null : button(gettext("Confirm"), "primary", () => decide({ confirm: [action] })),
      button(gettext("Reject"), "", () => decide({ reject: [action] })),
      change.can ? button(gettext("Change"), "", change.open) : null),
    change.form);
  card.dataset.id = action.id;
  return card;
}

/** Like actions that wait: one question and one answer. What is not ticked is left out of it; what
 * waits for another person's yes has no tick, and waits on. */
export function pendingTogether(question, actions, decide, edit) {
  const members = actions.map((action, at) => {
    const tick = action.not_yours ? null : el("input", { type: "checkbox", checked: true });
    const change = changing(action, edit);
    const card = el("section", { className: "pending member", ariaLabel: gettext("Pending action") },
      el(tick ? "label" : "p", { className: "tick" }, tick,
        el("span", {}, `${at + 1}. `, el("bdi", {}, visible(action.about || action.heading)))),
      notYours(action),
      ...decisive(action),
      el("details", {}, el("summary", {}, gettext("All of it")), ...judged(action),
        change.can ? el("div", { className: "buttons" }, el("button", {
          type: "button", ariaLabel: `${gettext("Change")}: ${visible(action.description)}`, onclick: change.open,
        }, gettext("Change"))) : null,
        change.form));
    card.dataset.id = action.id;
    return { action, tick, card };
  });
  const waiting = () => members.filter(({ card }) => card.isConnected);
  const mine = () => waiting().filter(({ tick }) => tick);
  const button = (title, kind, act) => el("button", {
    type: "button", className: kind, ariaLabel: `${title}: ${visible(question.heading)}`, onclick: act,
  }, title);
  return el("section", { className: "card together", ariaLabel: gettext("Pending question") },
    el("h4", {}, visible(question.heading)),
    ...members.map(({ card }) => card),
    el("div", { className: "buttons" },
      members.some(({ tick }) => tick) ? button(gettext("Confirm the ticked ones"), "primary", () => decide({
        confirm: mine().filter(({ tick }) => tick.checked).map(({ action }) => action),
        reject: mine().filter(({ tick }) => !tick.checked).map(({ action }) => action),
      })) : null,
      button(gettext("Reject all"), "", () => decide({ reject: waiting().map(({ action }) => action) }))));
}

/** What stands where a card was, once somebody has decided. */
export function handled(action) {
  return el("section", { className: "card handled", ariaLabel: gettext("Handled") },
    el("h4", {}, heading(action.description)), wordsIn(action.description),
    el("p", {}, `${visible(action.handled)}.`));
}

/** An action that is permitted and waits: when it happens, and the way to stop it. */
export function held(action, recall) {
  return el("section", { className: "card pending", ariaLabel: gettext("Held action") },
    el("h4", {}, `${gettext("Held")}: ${heading(action.description || action.type)}`),
    wordsIn(action.description),
    el("p", {}, visible(action.sentence)),
    el("div", { className: "buttons" },
      el("button", {
        type: "button", ariaLabel: `${gettext("Recall")}: ${visible(action.description)}`,
        onclick: (event) => recall(action, event.currentTarget),
      }, gettext("Recall"))));
}

/** The button that asks operators to permit what was refused, or how far that is. */
export function asking(action, ask) {
  if (action.change_request) return asked(action.change_request);
  if (!action.can_be_asked_for) return null;
  return el("div", { className: "buttons" },
    el("button", {
      type: "button", ariaLabel: `${gettext("Ask for this")}: ${visible(action.description || action.type)}`,
      onclick: (event) => ask(action, event.currentTarget),
    }, gettext("Ask for this")));
}

/** How far it is with what the user has asked for. */
export function asked(request) {
  const line = el("p", { className: "calls" }, visible(request.sentence));
  line.dataset.changeRequest = request.id;
  line.dataset.state = request.state;
  return line;
}

/** What was done, or was not, each with its links. */
export function finished(action, ledger, ask) {
  const done = ["succeeded", "noop"].includes(action.status);
  const became = done ? gettext("Done") : gettext("Not done");
  const places = [...(action.artifacts ?? [])];
  if (!places.length && action.result?.url) places.push({ kind: "result", id: action.result.task_key, url: action.result.url });
  return el("section", { className: `card ${done ? "done" : "refused"}`, ariaLabel: became },
    el("h4", {}, `${became}: ${heading(action.description || action.type)}${action.times > 1 ? ` (${action.times}x)` : ""}`),
    action.times > 1 ? null : wordsIn(action.description),
    action.status !== "succeeded" && action.sentence ? el("p", {}, visible(action.sentence)) : null,
    action.handled ? el("p", { className: "calls" }, `${visible(action.handled)}.`) : null,
    done ? null : asking(action, ask),
    el("p", { className: "links" },
      ...places.flatMap((place) => [link(visible(place.id || place.kind), place.url ?? ""), " "]),
      ledger ? link(gettext("Ledger"), `${ledger}?q=${encodeURIComponent(action.action_id)}`) : null));
}

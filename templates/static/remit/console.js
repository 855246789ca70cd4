// The chat console: the same API as every frontend, with the operator's session.

import { Refused, call, root } from "./api.js";
import { asked as askedFor, contextUsed, el, finished, handled, held, message, pending, pendingTogether, question, renew, reviewed, rich, showPlan, visible } from "./cards.js";
import { deliver } from "./deliver.js";
import { watchPastes } from "./pastes.js";
import { BEST, explained, searched } from "./search.js";
import { watchSuggestions } from "./suggestions.js";
import { count, fill, gettext } from "./words.js";

const [log, status, title, plan, box, send, user, sessions, requests, side] =
  ["log", "status", "title", "plan", "message", "send", "user", "sessions", "asked", "side"].map((id) => document.getElementById(id));
const REQUESTS_SHOWN = 20;
const TURNS_SHOWN = 10; // whose cards are there again when a session is opened
const LOOK_AGAIN_MS = 10_000; // whether somebody has decided elsewhere
const ARRIVALS_MS = 60_000; // whether something new is suggested

const pastes = box && watchPastes(box);
const suggested = root && watchSuggestions(document.getElementById("suggested"), user, say);
let session = null; // the id of the open session; null until its first message
let busy = false;
let lastTurn = null; // whose cards are open
let asked = ""; // the person's last words: what an answer leans on is shown by them
let requestIsOpen = false; // a change of policy that the user has asked for waits for an operator
let handedOver = false; // to a person, whose answer may come at any time
let shown = 0; // counts what was opened, so that a late answer is not shown elsewhere

/** On a phone it would bring the keyboard up, over what is asked. */
function focusBox() {
  if (!matchMedia("(pointer: coarse)").matches) box.focus({ preventScroll: true });
}

function say(text) {
  status.textContent = text;
}

function setBusy(value) {
  busy = value;
  send.disabled = value;
  log.ariaBusy = value ? "true" : null;
  for (const button of log.querySelectorAll("button")) button.disabled = value;
}

function add(element) {
  log.append(element);
  log.scrollTop = log.scrollHeight;
  return element;
}

/** Send a message or decisions, follow the turn, show its answer. */
async function talk({ text = "", pasted = [], chosen = null, confirm = [], reject = [], edits = [] }) {
  if (busy) return;
  setBusy(true);
  const mine = shown;
  say(gettext("Sending"));
  try {
    const started = await call(root.dataset.stream, {
      user_id: user.value, session_id: session, message: chosen ? "" : text, pasted, option: chosen?.place ?? null,
      confirm_actions: confirm.map((action) => action.id), reject_actions: reject.map((action) => action.id),
      edits: edits.map(({ action, params }) => ({ id: action.id, params })),
      digests: Object.fromEntries([...confirm, ...reject, ...edits.map((one) => one.action)]
        .map((action) => [action.id, action.digest])),
    });
    box.value = "";
    pastes.forget();
    asked = text || asked;
    clearOpen();
    add(message("user", text || decided(confirm, reject, edits)));
    if (!session) loadSessions(started.session_id);
    open(started.session_id);
    const answer = await follow(started);
    if (mine === shown) {
      show(answer);
      loadSessions(); // what waits in it stands beside its name
    }
  } catch (error) {
    complain(error);
  } finally {
    setBusy(false);
    focusBox();
  }
}

function decided(confirm, reject, edits) {
  return [
    edits.length && count(edits.length, "Changed 1 action.", "Changed %(number)s actions."),
    confirm.length && count(confirm.length, "Confirmed 1 action.", "Confirmed %(number)s actions."),
    reject.length && count(reject.length, "Rejected 1 action.", "Rejected %(number)s actions."),
  ].filter(Boolean).join(" ");
}

/** Read the turn's events until it is finished. Resolves with its answer. */
function follow({ stream_url, turn_id }) {
  const item = add(message("assistant", ""));
  item.ariaBusy = "true";
  const text = rich("");
  item.querySelector(".text").replaceWith(text);
  const calls = el("ul", { className: "plain calls" });
  const thoughts = el("p", { className: "text" });
  const thinking = el("details", { className: "context", hidden: true }, el("summary", {}, gettext("Thinking")), thoughts);
  const stop = el("button", { type: "button", className: "stop" }, gettext("Stop"));
  stop.addEventListener("click", () => {
    stop.disabled = true;
    say(gettext("Stopping"));
    call(`${root.dataset.turns}/${turn_id}/stop`, {}).catch(complain);
  });
  item.append(thinking, calls, stop);
  say(gettext("The agent works"));
  return new Promise((resolve, reject) => {
    const source = new EventSource(stream_url);
    const on = (type, act) => source.addEventListener(type, (event) => {
      act(JSON.parse(event.data));
      item.dataset.seen = event.lastEventId;
    });
    const end = (settle, value) => {
      source.close();
      item.remove();
      settle(value);
    };
    // Of pieces that come at once the last one has what they make together.
    for (const type of ["text.delta", "text.restarted"]) on(type, ({ html }) => html === undefined || renew(text, html));
    on("reasoning.delta", (data) => {
      thinking.hidden = false;
      thoughts.textContent += visible(data.text);
    });
    on("tool.started", (data) => {
      const line = el("li", {}, `${words(data.tool)} (${words(data.agent)})`);
      line.dataset.call = data.call_id;
      calls.append(line);
      say(fill("The agent uses: %(tool)s", { tool: words(data.tool) }));
    });
    on("tool.finished", (data) => {
      const line = [...calls.children].find((one) => one.dataset.call === data.call_id);
      line?.append(" ", data.success ? fill("done in %(number)s ms", { number: data.latency_ms }) : words(data.code ?? "failed"));
    });
    on("plan", (data) => showPlan(plan, data.plan));
    on("turn.finished", (data) => end(resolve, data.answer));
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return say(gettext("The connection was lost. Connecting again"));
      call(`${root.dataset.turns}/${turn_id}`).then((answer) => end(resolve, answer), (error) => end(reject, error));
    };
  });
}

/** A name that programs use, as people read it. */
const words = (code) => visible(gettext(code)).replaceAll("_", " ");

const isOver = (answer) => answer.status !== "queued" && answer.status !== "running";

/** The page of an item, where the answer of a turn cites it. */
const pageOf = (turn) => ({ id, n }) => `${root.dataset.item.replace(":id", encodeURIComponent(id))}?turn=${turn}&n=${n}#passage`;

const answered = (one, text, html) => message("assistant", text, { html, citations: one.citations, page: pageOf(one.turn_id) });

/** What stays under an answer: what it leans on, and what was held, done and refused. */
function stays(answer, words) {
  const ledger = root.dataset.ledger;
  return [
    el("p", { className: "record" }, answer.record),
    reviewed(answer.review),
    explained(contextUsed(answer.context_used, pageOf(answer.turn_id)), words && searchFor(words)),
    ...answer.held_actions.map((action) => held(action, recall)),
    ...answer.completed_actions.map((action) => finished(action, ledger)),
    ...answer.refused_actions.map((action) => finished(action, ledger, ask)),
  ].filter(Boolean);
}

/** The end of a turn: answer, context, question, actions done, refused and pending. */
function show(answer, { withText = true } = {}) {
  const item = withText ? add(answered(answer, answer.response, answer.response_html)) : document.getElementById(answer.message_id) ?? add(message("assistant", ""));
  const parts = [
    ...stays(answer, asked),
    answer.clarification && question(answer.clarification, (option, place) => talk({ text: option, chosen: { place } })),
    ...answer.questions.map((one) => asks(one, answer.pending_actions)),
    answer.questions.length > 1 && decideAll(answer.pending_actions),
  ];
  item.append(...parts.filter(Boolean));
  showPlan(plan, answer.plan);
  lastTurn = answer.turn_id;
  item.scrollIntoView({ block: "start" });
  handedOver ||= Boolean(answer.escalation) && answer.escalation.state !== "done";
  const yours = new Set(answer.pending_actions.filter((one) => !one.not_yours).map((one) => one.id));
  const waiting = answer.questions.filter((one) => one.actions.some((id) => yours.has(id))).length;
  if (!isOver(answer)) say(gettext("This turn is still being worked on. Open the session again in a moment."));
  else if (answer.needs_clarification) say(gettext("The agent asks a question."));
  else if (waiting) say(count(waiting, "1 question waits for your decision.", "%(number)s questions wait for your decision."));
  else say(answer.questions.length ? gettext("One more person has to agree.") : gettext("Finished."));
}

/** Asks for what was read of this user. */
const searchFor = (query) => (limit) => call(root.dataset.search, { user_id: user.value, query: query.slice(0, 1000), limit });

async function search(query) {
  side.hidePopover();
  const mine = shown;
  say(gettext("Searching"));
  try {
    const answer = await searchFor(query)(BEST);
    if (mine !== shown) return;
    const item = add(searched(query, answer, root.dataset.item));
    item.scrollIntoView({ block: "start" });
    say(answer.items.length ? gettext("The search is done.") : gettext("Nothing was found."));
  } catch (error) {
    complain(error);
  }
}

/** The card of one question, or that of its only action. */
function asks(one, actions) {
  const edit = (action, params) => talk({ edits: [{ action, params }] });
  const own = one.actions.map((id) => actions.find((action) => action.id === id));
  const card = own.length > 1 ? pendingTogether(one, own, talk, edit) : pending(own[0], talk, edit);
  card.dataset.question = one.id;
  card.dataset.yeses = JSON.stringify(own.map(({ id, yeses }) => [id, yeses]));
  return card;
}

/** Cards that somebody has decided elsewhere say so in place of their buttons. */
async function lookAgain() {
  const open = [...log.querySelectorAll(".pending[data-id]")];
  if (busy || document.hidden || !open.length || !lastTurn) return;
  const mine = shown;
  try {
    const answer = await call(`${root.dataset.turns}/${lastTurn}`);
    if (mine !== shown || busy) return;
    const done = new Map(answer.handled_actions.map((action) => [action.id, action]));
    const gone = open.filter((card) => done.has(card.dataset.id));
    for (const card of gone) card.replaceWith(handled(done.get(card.dataset.id)));
    showYeses(answer);
    if (!gone.length) return;
    const left = open.length - gone.length;
    for (const button of log.querySelectorAll(".buttons.all button")) button.textContent = button.textContent.replace(/\d+/, left);
    if (left < 2) for (const buttons of log.querySelectorAll(".buttons.all")) buttons.remove();
    say(left ? count(left, "Somebody else has decided. 1 action waits.", "Somebody else has decided. %(number)s actions wait.") : gettext("Somebody else has decided. Nothing waits."));
  } catch {
    // Looking again is a courtesy: the next word says what is wrong.
  }
}

/** Cards on which another yes was said meanwhile, anew. */
function showYeses(answer) {
  for (const one of answer.questions) {
    const old = log.querySelector(`[data-question="${CSS.escape(one.id)}"]`);
    if (!old) continue;
    const before = new Map(JSON.parse(old.dataset.yeses));
    const now = answer.pending_actions.filter(({ id }) => one.actions.includes(id));
    if (now.some(({ id, yeses }) => before.get(id) !== yeses)) old.replaceWith(asks(one, answer.pending_actions));
  }
}

/** Shows what the person has answered whom the open session was handed to. */
async function lookForPerson() {
  if (busy || document.hidden || !handedOver) return;
  const mine = shown;
  try {
    const row = listed(await sessionRows());
    if (mine !== shown || busy || row?.waits_for_person) return;
    const { items: said } = await call(`${root.dataset.conversations}/${session}?limit=100`);
    if (mine !== shown || busy) return;
    handedOver = false;
    const answers = said.filter((one) => one.role === "person" && !document.getElementById(one.id));
    answers.forEach((one) => add(spoken(one)));
    say(answers.length ? gettext("A person has answered.") : gettext("A person has finished it without an answer."));
  } catch {
    // As above.
  }
}

/** Ask operators to permit what was refused; where the button was, it says how far that is. */
async function ask(action, button) {
  button.disabled = true;
  const place = button.parentElement;
  try {
    const request = await call(root.dataset.changeRequests, { user_id: user.value, action_id: action.action_id });
    place.replaceWith(askedFor(request));
    await loadRequests();
    say(gettext("Asked. An operator decides."));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    button.disabled = false;
    place.replaceChildren(button, el("p", { role: "alert" }, visible(error.message)));
    say("");
  }
}

/** What the user has asked operators to permit, and on the cards what became of it. */
async function loadRequests() {
  const who = user.value;
  const mine = shown;
  const rows = await call(`${root.dataset.changeRequests}?user_id=${encodeURIComponent(who)}`);
  if (who !== user.value || mine !== shown) return;
  requests.hidden = !rows.length;
  requests.querySelector("ul").replaceChildren(...rows.slice(0, REQUESTS_SHOWN).map((row) =>
    el("li", {}, visible(row.description), el("span", {}, visible(row.sentence)))));
  requestIsOpen = rows.some((row) => row.state === "open");
  const decided = new Map(rows.filter((row) => row.state !== "open").map((row) => [row.id, row]));
  const cards = [...log.querySelectorAll('[data-change-request][data-state="open"]')]
    .filter((line) => decided.has(line.dataset.changeRequest));
  for (const line of cards) line.replaceWith(askedFor(decided.get(line.dataset.changeRequest)));
  if (cards.length) say(gettext("An operator has decided what you asked for."));
}

/** Looks whether an operator has decided. */
function lookForDecisions() {
  if (busy || document.hidden || !requestIsOpen) return;
  loadRequests().catch(() => {}); // as above
}

/** Take a held action back, and say on its card what became of it. */
async function recall(action, button) {
  button.disabled = true;
  const card = button.closest(".card");
  let outcome;
  try {
    const url = `${root.dataset.heldSends}/${encodeURIComponent(action.held_send_id)}/recall`;
    outcome = (await call(url, { user_id: user.value })).outcome;
    card.className = "card refused";
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    outcome = error.message;
  }
  button.remove();
  card.append(el("p", { role: "status" }, visible(outcome)));
  say(outcome);
}

function decideAll(actions) {
  const button = (text, className, chosen, word) => el("button", {
    type: "button", className,
    onclick: () => talk({ [word]: chosen.filter(({ id }) => log.querySelector(`.pending[data-id="${CSS.escape(id)}"]`)) }),
  }, text);
  const mine = actions.filter(({ not_yours: notYours }) => !notYours);
  return el("div", { className: "buttons all" },
    mine.length > 1 ? button(fill("Confirm all %(number)s", { number: mine.length }), "primary", mine, "confirm") : null,
    button(fill("Reject all %(number)s", { number: actions.length }), "", actions, "reject"));
}

/** Questions and pending cards belong to the newest answer only: it repeats what still waits. */
function clearOpen() {
  for (const old of log.querySelectorAll(".question, .together, .pending, .buttons.all")) old.remove();
}

function complain(error) {
  if (!(error instanceof Refused)) throw error;
  say("");
  add(el("li", { className: "message problem", role: "alert" }, error.message));
}

function open(id) {
  session = id;
  history.replaceState(null, "", `#${encodeURIComponent(user.value)}/${id ?? ""}`);
  for (const button of sessions.querySelectorAll("button")) button.ariaCurrent = String(button.dataset.id === id);
  for (const link of document.querySelectorAll("[data-follows] a")) {
    const there = new URL(link.href);
    there.searchParams.set("user", user.value);
    link.href = there;
  }
}

function startSession() {
  side.hidePopover();
  shown += 1;
  handedOver = false;
  asked = "";
  log.replaceChildren();
  title.textContent = gettext("New session");
  showPlan(plan, null);
  say("");
  open(null);
  focusBox();
}

const sessionRows = async () => (await call(`${root.dataset.conversations}?user_id=${encodeURIComponent(user.value)}`)).items;

/** Lists these sessions. Gives the current one. */
function listed(rows, current = session) {
  const focused = sessions.contains(document.activeElement) ? document.activeElement.dataset.id : null;
  sessions.replaceChildren(...rows.map((row) => {
    const button = el("button", { type: "button", onclick: () => openSession(row) },
      visible(row.title) || gettext("Untitled"),
      row.waits_for_person ? el("small", {}, gettext("waits for a person")) : null,
      row.waits_for_decision ? el("small", {}, gettext("waits for a yes or no")) : null);
    button.dataset.id = row.id;
    button.ariaCurrent = String(row.id === current);
    return el("li", {}, button);
  }));
  if (!rows.length) sessions.replaceChildren(el("li", {}, gettext("No session yet.")));
  if (focused) sessions.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  const row = rows.find((one) => one.id === current);
  if (row) title.textContent = visible(row.title) || gettext("Untitled");
  return row;
}

async function loadSessions(current = session) {
  try {
    return listed(await sessionRows(), current);
  } catch (error) {
    complain(error);
  }
}

function spoken(one) {
  const item = one.role === "assistant" ? answered(one, one.content, one.html) : message(one.role, one.content);
  item.id = one.id;
  return item;
}

/** A session as it stands: its messages, and what its last answer left open. */
async function openSession(row) {
  if (busy) return;
  startSession();
  open(row.id);
  title.textContent = visible(row.title) || gettext("Untitled");
  handedOver = row.waits_for_person;
  const mine = shown;
  try {
    const { items: said } = await call(`${root.dataset.conversations}/${row.id}?limit=100`);
    if (mine !== shown) return;
    log.append(...said.filter((one) => one.content).map(spoken));
    const last = said.findLast((one) => one.role !== "person");
    if (!last) return;
    const words = new Map(said.filter((one) => one.role === "user").map((one) => [one.turn_id, one.content]));
    const turns = [...new Set(said.filter((one) => one.role !== "person").map((one) => one.turn_id))];
    const [answer, ...before] = await Promise.all(turns.slice(-TURNS_SHOWN).reverse().map((id) => call(`${root.dataset.turns}/${id}`)));
    if (mine !== shown) return;
    for (const one of before) document.getElementById(one.message_id)?.append(...stays(one, words.get(one.turn_id)));
    asked = said.findLast((one) => one.role === "user" && one.content)?.content ?? "";
    if (isOver(answer)) return show(answer, { withText: last.role === "user" });
    showPlan(plan, answer.plan);
    await goOn(answer.turn_id, mine);
  } catch (error) {
    complain(error);
  }
}

/** Follow a turn that was under way when the page was opened. */
async function goOn(id, mine) {
  setBusy(true);
  try {
    const answer = await follow(await call(`${root.dataset.turns}/${id}/stream`));
    if (mine === shown) show(answer);
  } finally {
    setBusy(false);
  }
}

async function start() {
  const [who, id] = location.hash.slice(1).split("/").map(decodeURIComponent);
  if ([...user.options].some((option) => option.value === who)) user.value = who;
  const row = await loadSessions(id || null);
  if (row) await openSession(row);
  await Promise.all([loadRequests(), suggested.load()]).catch(complain);
}

if (root) {
  document.getElementById("form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (box.value.trim()) talk({ text: box.value, pasted: pastes.spans() });
  });
  const wanted = document.getElementById("wanted");
  document.getElementById("search").addEventListener("submit", (event) => {
    event.preventDefault();
    if (wanted.value.trim()) search(wanted.value);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send.click();
    }
  });
  const look = () => { lookAgain(); lookForPerson(); lookForDecisions(); };
  setInterval(look, LOOK_AGAIN_MS);
  document.addEventListener("visibilitychange", look);
  window.addEventListener("focus", look);
  setInterval(suggested.look, ARRIVALS_MS);
  document.addEventListener("visibilitychange", suggested.look);
  user.addEventListener("change", () => {
    startSession();
    loadSessions();
    Promise.all([loadRequests(), suggested.load()]).catch(complain);
  });
  document.getElementById("new-session").addEventListener("click", startSession);
  for (const hint of document.querySelectorAll(".hint")) hint.addEventListener("click", () => talk({ text: hint.textContent }));
  for (const button of document.querySelectorAll(".deliver")) button.addEventListener("click", () => {
    side.hidePopover();
    deliver(button, { user: user.value, add, say, complain });
  });
  start();
}

/* What people read of a bundle's rows, made again from the rows. */
"use strict";

const [TABLE, REPORT] = ["derived/ledger.csv", "derived/report.html"];
const CONTENT = ["artifacts", "payload", "resource_id", "target_id", "salt"];
const HEADER = [
  "sentence", "object", "id", "action_id", "phase", "attempt_no", "schema_version",
  "tenant_id", "account_id", "actor_type", "actor_id", "on_behalf_of", "credential_ref",
  "agent_id", "agent_version", "model_id", "skill_ref", "pattern_id", "trigger", "run_id",
  "trace_id", "parent_action_id", "provider", "resource_type", "resource_key", "action_type",
  "target_key", "target_group_id", "decision", "decision_reason", "policy_digest",
  "approval_id", "approved_by", "idempotency_key", "status", "error_code",
  "provider_request_id", "latency_ms", "target_row", "payload_commitment",
  "artifacts_digest", "envelope_mac", "occurred_at", "recorded_at", "xact", ...CONTENT,
];
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/; // a spreadsheet would run it
const STATES = new Map([
  ["pending", "Begun"], ["succeeded", "Done"], ["noop", "Already so"], ["failed", "Not done"],
  ["blocked", "Refused"], ["denied", "Refused"], ["waiting", "Waiting"], ["recorded", "Noted"],
  ["unknown", "Nobody can tell whether it was done"],
]);
// How rows are said. A manifest that names none is from when there was only the first.
const WORDS = ["remit-ledger-words/1", "remit-ledger-words/2"];
const COLON = /^([^\u201c]*?): (?=[\u201c(])/; // before what the action is about
// How a sentence ends that says its state twice, and what is left of that.
const AGAIN = new Map([
  ["succeeded", [". Done.", "."]], ["noop", [". Nothing to do: it is already like this.", "."]],
  ["failed", ["; nothing was done.", "."]], ["blocked", [", so nothing was done.", "."]],
  ["unknown", [". Nobody could find out whether the provider did this: please check.", ". Please check."]],
]);
const LISTED = 5000; // rows that a report gives in words
// Signs that hide or reorder others.
const HIDDEN = new RegExp(
  "[\\x00-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff"
  + "\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]", "gu",
);
const ESCAPES = new Map([["&", "&amp;"], ["<", "&lt;"], [">", "&gt;"], ['"', "&quot;"]]);

const isText = (value) => typeof value === "string";
const stateOf = (status) => STATES.get(status) ?? status;

/* What a row is about, as it was called when the row was written, and the row as a sentence:
   without names where its payload was erased. The first words said things twice. */
function said(kind, status, payload, words = WORDS.at(-1)) {
  const names = ["description", "name", "sentence"];
  const [called, name, why] = names.map((one) => (isText(payload?.[one]) ? payload[one] : ""));
  const about = called || name;
  const isFirst = words === WORDS[0];
  const whole = (about || kind.replaceAll("_", " ").replaceAll(".", " ")).replace(/\.$/, "");
  const what = isFirst ? whole : whole.replace(COLON, "$1 ");
  const sentence = `${stateOf(status)}: ${what}.${why && ` ${why}`}`;
  const [again, left] = AGAIN.get(isFirst ? "" : status) ?? ["", ""];
  const end = sentence.length - again.length;
  return [about, sentence.endsWith(again) ? sentence.slice(0, end) + left : sentence];
}

/* The row as people call it: when, which action, and about what. */
function call(row, body) {
  const [about] = said("", "", body ? exact(body).payload : {});
  return ` (${row.recorded_at}, ${row.action_type}${about && ` ${about}`})`;
}

/* As `call` does, by the payloads that stand beside; empty for a line that cannot be read. */
async function nameOf(line, payloads) {
  try {
    const row = lookedAt(line);
    const [given] = await payloads.of(String(row.id));
    const body = given ? given.head.subarray('{"body":'.length) : new Uint8Array();
    const proven = given && hex(sha256(unhex(given.salt), body)) === row.payload_commitment;
    return call(row, proven ? text(body) : "");
  } catch {
    return "";
  }
}

/* Where something is wrong and what, as one sentence the first time; the others counted. */
async function *once(found) {
  const counts = new Map();
  for await (const [where, sentence] of found) {
    if (!counts.has(sentence)) {
      yield `${where}${sentence}`;
    }
    counts.set(sentence, (counts.get(sentence) ?? 0) + 1);
  }
  for (const [sentence, count] of counts) {
    if (count > 1) {
      yield `${count - 1} more: ${sentence}`;
    }
  }
}

/* A text as a cell that no spreadsheet runs. \x03 is quoted: alone it would stand for nothing. */
function cell(given) {
  const shown = FORMULA.test(given) ? `'${given}` : given;
  return /[",\n\r]|^\x03$/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}

/* The row as a line of the table; the cells of its content are empty where it was erased. */
function tableLine(row, body, [object, sentence], salt) {
  let content = CONTENT.map(() => "");
  if (body) {
    const [middle, end] = [body.indexOf('],"payload":'), body.lastIndexOf(',"resource_id":')];
    const ids = body.slice(end + ',"resource_id":'.length, -1).split(',"target_id":');
    content = [
      `${body.slice('{"artifacts":'.length, middle)}]`,
      body.slice(middle + '],"payload":'.length, end), ...ids.map((one) => JSON.parse(one)), salt,
    ];
  }
  const found = { ...row, sentence, object };
  CONTENT.forEach((name, at) => { found[name] = content[at]; });
  return `${HEADER.map((name) => cell(String(found[name] ?? ""))).join(",")}\r\n`;
}

const escaped = (given) => given
  .replace(HIDDEN, (sign) => `\u27e8U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`)
  .replace(/[&<>"]/g, (sign) => ESCAPES.get(sign));

const rowIn = (tag, ...cells) => `<tr>${cells.map((one) => `<${tag}>${escaped(String(one))}</${tag}>`).join("")}</tr>\n`;

function figures(title, group) {
  const counted = [...group.values()];
  const found = [...new Set(STATES.values())].filter((state) => counted.some((one) => one.has(state)));
  const lines = [...group].map(([name, counts]) => (
    rowIn("td", name || "(nobody)", ...found.map((state) => counts.get(state) ?? 0))
  ));
  return `<table>\n${rowIn("th", title, ...found)}${lines.join("")}</table>\n`;
}

/* What people read of rows: how many of each kind, for whom, and the first of them in words.
   Rows of a period that were recorded outside of it are not counted. */
class Report {
  constructor({ origin, completeness, since, until, words = WORDS[0] }) {
    Object.assign(this, { origin, words, isWhole: completeness === "proven" });
    Object.assign(this, { since: since ?? "", until: until ?? "", last: "", count: 0 });
    Object.assign(this, { kinds: new Map(), people: new Map(), rows: [] });
  }

  said(row, payload) {
    return said(row.action_type, row.status, payload, this.words);
  }

  add(row, payload) {
    const { recorded_at: at, status, on_behalf_of: person } = row;
    this.last = at;
    const isOutside = at < this.since || (this.until && at >= this.until);
    if ((this.isWhole && isOutside) || row.phase === "attempt") {
      return;
    }
    this.count += 1;
    for (const [name, group] of [[row.action_type, this.kinds], [person, this.people]]) {
      if (!group.has(name)) {
        group.set(name, new Map());
      }
      const counts = group.get(name);
      counts.set(stateOf(status), (counts.get(stateOf(status)) ?? 0) + 1);
    }
    if (this.rows.length < LISTED) {
      const [, sentence] = this.said(row, payload);
      this.rows.push(rowIn("td", `${at.slice(0, 10)} ${at.slice(11, 19)}`, person || row.actor_id, sentence));
    }
  }

  text() {
    const when = `from ${this.since || "the first row"} to ${this.until || this.last}`;
    const claim = this.isWhole ? "All rows of that time" : "Rows that match the bundle's filters";
    const more = this.count - this.rows.length;
    return [
      '<!DOCTYPE html>\n<html lang="en-GB"><meta charset="utf-8"><title>Report</title>\n',
      "<style>body{font:1rem/1.5 sans-serif;max-width:70rem;margin:2rem auto;",
      "padding:0 1rem}td,th{text-align:left;vertical-align:top;padding:.2rem .5rem}",
      "td{overflow-wrap:anywhere}</style>\n<h1>What was done, asked and refused</h1>\n",
      `<p>${escaped(this.origin)}, ${escaped(when)} (UTC). ${claim}: ${this.count}. `,
      "An attempt is in it by its outcome. verify.py, beside this, finds whether each ",
      "word of this page is what the sealed rows say.</p>\n",
      `${figures("Action", this.kinds)}${figures("For", this.people)}`,
      `<h2>In words</h2>\n<table>\n${rowIn("th", "When", "For", "What")}`,
      ...this.rows,
      "</table>\n",
      more ? `<p>${more} more rows stand in ledger.csv, in the same words.</p>\n` : "",
    ].join("");
  }
}

/* What people read of the rows, held against the rows one by one. */
class Views {
  static async start(archive, manifest) {
    const views = new Views();
    const has = (name) => archive.names.includes(name);
    views.table = has(TABLE) ? archive.chunks(TABLE) : null;
    views.given = has(REPORT) ? await archive.read(REPORT) : null;
    Object.assign(views, { rest: new Uint8Array(), differs: "", report: new Report(manifest) });
    await views.compare(`${HEADER.join(",")}\r\n`, "the first line");
    return views;
  }

  /* The next bytes of the table: fewer where it ends. */
  async following(size) {
    while (this.rest.length < size) {
      const { done, value } = await this.table.next();
      if (done) {
        break;
      }
      this.rest = joined(this.rest, value);
    }
    const found = this.rest.subarray(0, size);
    this.rest = this.rest.subarray(found.length);
    return found;
  }

  async compare(line, called) {
    const data = encoder.encode(line);
    if (this.table && !this.differs && !same(await this.following(data.length), data)) {
      this.differs = called;
    }
  }

  async add(line, body, salt) {
    if (!this.table && this.given === null) {
      return;
    }
    const row = exact(text(line));
    const payload = body ? exact(body).payload : {};
    const words = this.report.said(row, payload);
    const called = `the row of ${row.recorded_at} (${words[1]})`;
    await this.compare(tableLine(row, body, words, salt), called);
    this.report.add(row, payload);
  }

  async *findings() {
    if (this.table && !this.differs && (await this.following(1)).length) {
      this.differs = "its end";
    }
    if (this.differs) {
      yield `${TABLE} is not what the rows say, from ${this.differs} on.`;
    }
    if (this.given !== null && !same(this.given, encoder.encode(this.report.text()))) {
      yield `${REPORT} is not what the rows say.`;
    }
  }
}

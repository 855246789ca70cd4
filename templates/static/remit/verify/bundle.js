/* The check of audit/bundle/verify.py, in the browser: the same sentences for the same faults.
   Nothing is sent anywhere; the page's Content-Security-Policy forbids it to. */
"use strict";

const FORMAT = "remit-ledger-bundle/2";
const FILES = [
  "README.txt", "anchors.jsonl", "artifacts.jsonl", "checkpoint.note", "checkpoints.jsonl", "keys.json",
  "leaves.bin", "ledger.jsonl", "manifest.json", "newest.note", "payloads.jsonl", "policies.jsonl", "proofs.jsonl",
  "redactions.jsonl", "stamps.py", "verify.py",
];
const LEFT = /^\{"left":"([0-9a-f]{64})"\}$/; // stands for a row that left by retention

// Each byte of these is proven by the tree or by a row: the manifest holds no digest of them.
const PROVEN = ["ledger.jsonl", "payloads.jsonl"];
// How lines that belong to rows end, and the length that no such end reaches.
const PAYLOAD = /,"row_id":(?<rowId>[0-9]+),"salt":"(?<salt>[0-9a-f]{32})"\}$/;
const ARTIFACT = /,"digest":"(?<digest>[0-9a-f]{64})","row_id":(?<rowId>[0-9]+)\}$/;
const LONGEST = 120;
const TEXTS = [
  "action_id", "action_type", "artifacts_digest", "payload_commitment", "phase", "policy_digest",
  "recorded_at", "status", "tenant_id",
];
const NUMBERS = ["attempt_no", "id"];
// Texts and numbers of JSON; and what a line holds where JSON.parse may alter such a number.
const TOKEN = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g;
const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const SUSPECT = /\\|"(?:attempt_no|id)"\s*:\s*-?(?:[0-9]+[.eE]|[0-9]{16})/;
const MARK = crypto.randomUUID(); // nothing in a bundle can hold it

/* Lines that belong to rows, in the order of the rows. `next` is the next line, cut at its end,
   and `rowId` its row: empty when there is none. */
class Part {
  constructor(lines, form) {
    Object.assign(this, { lines, form, broken: 0 });
  }

  async start() {
    await this.advance();
    return this;
  }

  async advance() {
    for (;;) {
      const { done, value } = await this.lines.next();
      const end = done ? null : this.form.exec(signs(value.subarray(-LONGEST)));
      if (end) {
        this.next = { head: value.subarray(0, value.length - end[0].length), ...end.groups };
      }
      if (end || done) {
        this.rowId = done ? "" : this.next.rowId;
        return;
      }
      this.broken += 1;
    }
  }

  async of(rowId) {
    const found = [];
    while (this.rowId === rowId) {
      found.push(this.next);
      await this.advance();
    }
    return found;
  }
}

/* One sign for each byte, whatever it is. */
const signs = (bytes) => new TextDecoder("latin1").decode(bytes);

const startsWith = (bytes, head) => signs(bytes.subarray(0, head.length)) === head;

/* JSON as other readers see it, its integers as BigInt: JSON.parse rounds those beyond 2^53, and
   makes 5 of 5.0, which is none. */
function exact(json) {
  const marked = (token) => (INTEGER.test(token) ? `{"${MARK}":"${token}"}` : token);
  const unmarked = (_, value) => (value?.[MARK] === undefined ? value : BigInt(value[MARK]));
  return JSON.parse(json.replace(TOKEN, marked), unmarked);
}

/* A row; what is looked at of its integers is exact. Most rows need no second reading. */
function rowOf(line) {
  const json = text(line);
  if (SUSPECT.test(json)) {
    return exact(json);
  }
  const row = JSON.parse(json);
  for (const name of NUMBERS.filter((one) => Number.isInteger(row[one]))) {
    row[name] = BigInt(row[name]);
  }
  return row;
}

/* A row, with what is looked at of it of the right type. */
function lookedAt(line) {
  const row = rowOf(line);
  const fits = TEXTS.every((name) => typeof row[name] === "string")
    && NUMBERS.every((name) => typeof row[name] === "bigint");
  if (!fits) {
    throw new Error("A column is of another type.");
  }
  return row;
}

/* The text of each artifact that a payload names. They stand first in its canonical JSON and are
   flat: a quotation mark within a text has a backslash before it. */
function artifactsIn(body) {
  if (body.startsWith('{"artifacts":[]')) {
    return [];
  }
  const end = body.indexOf('],"payload":');
  if (end < 0) {
    throw new Error("no payload");
  }
  return body.slice('{"artifacts":['.length, end).replaceAll('},{"', '}\n{"').split("\n");
}

class Verification {
  static async start(archive, { name, raw }, until) {
    const one = new Verification();
    const cut = name.lastIndexOf("/");
    Object.assign(one, { archive, name, key: hex(raw), until, by: hex(raw) });
    Object.assign(one, { ledger: name.slice(0, cut), tenant: name.slice(cut + 1) });
    // Every key that counts and how KEY leads to it; and those that led to KEY.
    Object.assign(one, { keys: new Map([[hex(raw), ""]]), earlier: [] });
    one.stamped = 0;
    Object.assign(one, { digests: {}, stops: new Map(), open: new Map(), times: ["", ""] });
    Object.assign(one, { missing: new Set(), erased: new Set(), policies: new Set() });
    Object.assign(one, { undecided: new Map(), hasEnded: false });
    one.manifest = JSON.parse(text(await archive.read("manifest.json")));
    one.isWhole = one.manifest.completeness === "proven";
    one.tree = one.beginTree();
    one.wrong = ""; // between which checkpoints a row is not what was sealed
    one.views = await Views.start(archive, one.manifest);
    one.first = one.sound = one.tree.size;
    Object.assign(one, { count: 0, place: -1, redacted: "", gaps: [], left: [] });
    return one;
  }

  beginTree() {
    return new Tree(this.manifest.first, this.manifest.left.map(unhex));
  }

  async note(name) {
    return readNote(text(await this.archive.read(name)), this.name, [...this.keys.keys()].map(unhex));
  }

  async *findings(older) {
    yield* this.claims();
    yield* this.rotations(JSON.parse(text(await this.archive.read("keys.json"))).rotations);
    this.end = await this.note("checkpoint.note");
    this.by = this.end.by;
    this.newest = await this.note("newest.note");
    const agree = this.newest.size === this.end.size && same(this.newest.root, this.end.root);
    if (!agree && this.newest.size <= this.end.size) {
      yield "newest.note is older than checkpoint.note, or contradicts it.";
    }
    for (const file of ["checkpoints.jsonl", "anchors.jsonl"]) {
      for await (const line of this.lines(file)) {
        const stated = await readNote(JSON.parse(text(line)).note, this.name, this.known());
        this.expect(stated.size, stated.root, "");
        this.stamped += file === "anchors.jsonl" ? 1 : 0;
      }
    }
    this.expect(this.end.size, this.end.root, "");
    for await (const line of this.lines("policies.jsonl")) {
      this.policies.add(hex(sha256(encoder.encode(JSON.parse(text(line)).body))));
    }
    for (const { name, note } of older) {
      yield* this.compare(name, note);
    }
    yield* this.redactions();
    yield* once(this.walk());
    if (this.isWhole) {
      yield* this.whole();
    }
    for (const [by, at] of [[this.by, this.times[1]], [this.newest.by, this.redacted]]) {
      if (this.until && by === this.key && at > this.until) {
        yield `KEY signed rows of ${at}, and you refuse it after ${this.until}.`;
      }
    }
    yield* this.views.findings();
    for (const [name, digest] of Object.entries(this.manifest.files)) {
      for await (const _ of name in this.digests ? [] : this.lines(name)) {
        // read to its end for its digest
      }
      if (this.digests[name] !== digest) {
        yield `${name} is not the file that the manifest describes.`;
      }
    }
  }

  /* What is wrong with the rows as a whole. */
  async *whole() {
    const { size } = this.end;
    if (this.wrong || this.tree.size !== size) {
      yield await this.located();
    } else if (size === this.first) {
      yield `The lines end at place ${this.tree.size}, the checkpoint at ${size}.`;
    }
    const until = this.manifest.until ?? "";
    if (this.times[1] < until) {
      yield `The rows end before ${until}, so later ones of the period may be missing.`;
    }
  }

  /* The first row that is not what was sealed, where the leaves beside the rows are those of the
     checkpoint; else between which places it is. */
  async located() {
    const [tree, leaves] = [this.beginTree(), await this.archive.read("leaves.bin")];
    for (let at = 0; at < leaves.length; at += 32) {
      tree.append(leaves.slice(at, at + 32));
    }
    if (tree.size !== this.end.size || !same(tree.root(), this.end.root)) {
      return this.wrong || `The lines end at place ${this.tree.size}, the checkpoint at ${this.end.size}.`;
    }
    const payloads = await new Part(this.lines("payloads.jsonl"), PAYLOAD).start();
    let [at, before] = [0, "the first one"];
    for await (const line of this.lines("ledger.jsonl")) {
      const gap = LEFT.exec(signs(line));
      const leaf = gap ? unhex(gap[1]) : sha256(Uint8Array.of(0), line);
      const name = `place ${this.first + at}${await nameOf(line, payloads)}`;
      if (!same(leaf, leaves.slice(32 * at, 32 * at + 32))) {
        return `${name}: This is not the row that was sealed there, behind ${before}.`;
      }
      [at, before] = [at + 1, name];
    }
    return `The rows behind ${before} are missing, ${leaves.length / 32 - at} of them.`;
  }

  *claims() {
    const held = this.archive.names.filter((name) => ![TABLE, REPORT].includes(name));
    if (canonical(held.sort()) !== canonical(FILES)) {
      const names = this.archive.names.map((name) => `'${name}'`).join(", ");
      yield `The bundle holds other files than it should: [${names}].`;
    }
    const about = [this.manifest.format, this.manifest.origin, this.manifest.tenant_id];
    const known = ["proven", "not claimed"].includes(this.manifest.completeness)
      && WORDS.includes(this.views.report.words);
    if (canonical(about) !== canonical([FORMAT, this.name, this.tenant]) || !known) {
      yield "The manifest is of another ledger or format.";
    }
  }


  /* Which keys count: each rotation is signed by the key before it and by the new one. */
  async *rotations(notes) {
    const [name, chain] = [`${this.ledger}/keys`, []];
    for (const [index, note] of notes.entries()) {
      const number = index + 1;
      let [both, old, added, at] = [false];
      try {
        const lines = note.split("\n\n")[0].split("\n");
        const two = [unbase64(lines[1]), unbase64(lines[2])];
        const { by } = await signersOf(note, name, two);
        [old, added, at] = [...two.map(hex), lines[3]];
        both = lines[0] === name && at !== undefined && old !== added && by.includes(old) && by.includes(added);
      } catch {
        both = false;
      }
      if (!both) {
        yield `Rotation ${number} in keys.json is not signed by both of its keys.`;
        break;
      }
      if ((chain.length && chain.at(-1) !== old) || chain.includes(added)) {
        yield `Rotation ${number} in keys.json does not follow from the one before it.`;
        break;
      }
      if (old === this.key && this.until && at > this.until) {
        yield `KEY named its successor on ${at}, and you refuse it after ${this.until}.`;
        break;
      }
      chain.push(...(chain.length ? [added] : [old, added]));
      if (this.keys.has(old)) {
        this.keys.set(added, `, which key ${this.idOf(old)} named on ${at}${this.keys.get(old)}`);
      }
    }
    if (chain.includes(this.key)) {
      this.earlier = chain.slice(0, chain.indexOf(this.key));
    } else if (chain.length) {
      yield "The rotations in keys.json are not about KEY.";
    }
  }

  idOf(key) {
    return keyId(this.name, unhex(key));
  }

  /* For what only compares: also the keys from before KEY. */
  known() {
    return [...this.keys.keys(), ...this.earlier].map(unhex);
  }

  expect(size, root, name) {
    this.stops.set(size, [...(this.stops.get(size) ?? []), { root, name }]);
  }

  async *compare(name, note) {
    let stated;
    try {
      stated = await readNote(note, this.name, this.known());
    } catch {
      yield `${name} is no checkpoint that KEY signed.`;
      return;
    }
    const { size, root } = this.newest;
    if (stated.size > size) {
      yield `ROLLBACK: ${name} has ${stated.size} rows, this bundle's ledger only ${size}.`;
    } else if (this.isWhole && stated.size <= this.end.size) {
      this.expect(stated.size, stated.root, name);
      if (stated.size < this.first
        || (stated.size === this.first && !same(stated.root, this.tree.root()))) {
        yield `${name} cannot be compared or differs: ask for a bundle that begins earlier.`;
      }
    } else if (stated.size < size) {
      yield `${name} cannot be compared: ask for a whole bundle that goes on to row ${stated.size}.`;
    } else if (!same(stated.root, root)) {
      yield `REWRITE: the first ${stated.size} rows are not those of ${name}.`;
    }
  }

  /* Erasures behind the last line, each proven alone. */
  async *redactions() {
    let number = 0;
    for await (const line of this.lines("redactions.jsonl")) {
      if (!this.redaction(line)) {
        yield `redaction ${number}: It is not what was sealed.`;
      }
      number += 1;
    }
  }

  redaction(line) {
    try {
      const given = JSON.parse(text(line));
      const row = lookedAt(encoder.encode(given.line));
      const sealed = this.isSealed(encoder.encode(given.line), given, this.newest);
      const told = hex(sha256(unhex(given.salt), encoder.encode(given.body)));
      if (!sealed || row.payload_commitment !== told || !this.explains(row, given.body)) {
        return false;
      }
      this.redacted = row.recorded_at > this.redacted ? row.recorded_at : this.redacted;
      return true;
    } catch {
      return false;
    }
  }

  isSealed(line, { place, proof }, { size, root }) {
    const nodes = proof.map(unhex);
    return place >= 0 && place < size && same(rootOf(line, place, size, nodes), root);
  }

  /* Every line and what belongs to it; its proof or, in a whole bundle, the root of the tree
     wherever a checkpoint states it. */
  async *walk() {
    const payloads = await new Part(this.lines("payloads.jsonl"), PAYLOAD).start();
    const artifacts = await new Part(this.lines("artifacts.jsonl"), ARTIFACT).start();
    const proofs = this.lines("proofs.jsonl");
    for await (const line of this.lines("ledger.jsonl")) {
      this.count += 1;
      await this.pause();
      const proof = this.isWhole ? { place: this.tree.size } : await this.following(proofs, {});
      const gap = this.isWhole && startsWith(line, '{"left":') ? LEFT.exec(signs(line)) : null;
      if (gap) {
        this.gaps.push(this.tree.size);
      } else {
        for (const told of await this.about(line, proof, payloads, artifacts)) {
          yield [`place ${proof.place ?? "None"}${this.called}: `, told];
        }
      }
      this.tree.append(gap ? unhex(gap[1]) : sha256(Uint8Array.of(0), line));
      if (this.isWhole && this.stops.has(this.tree.size)) {
        for (const told of this.stop(this.stops.get(this.tree.size))) {
          yield ["", told];
        }
      }
    }
    if (await this.following(proofs, null) !== null) {
      yield ["", "There are more proofs than lines."];
    }
    for (const [name, part] of [["payload", payloads], ["artifact", artifacts]]) {
      if (part.broken) {
        yield ["", `${part.broken} lines of ${name}s.jsonl cannot be read.`];
      }
      for (; part.rowId; await part.advance()) {
        yield [`row ${part.rowId}: `, `A ${name} belongs to no line or is in disorder.`];
      }
    }
    for (const rowId of [...this.missing].filter((id) => !this.erased.has(id)).sort((a, b) => (a < b ? -1 : 1))) {
      yield [`row ${rowId}: `, "Its payload is missing and no redaction says why."];
    }
    for (const place of this.gaps) {
      if (!this.left.some(([first, last]) => first <= place && place <= last)) {
        yield [`place ${place}: `, "Its row is missing and no retention says why."];
      }
    }
    for (const rowId of this.hasEnded ? [] : this.undecided.values()) {
      yield [`row ${rowId}: `, "The policy that decided it is missing or altered."];
    }
  }

  async following(lines, none) {
    const { done, value } = await lines.next();
    return done ? none : JSON.parse(text(value));
  }

  async about(line, proof, payloads, artifacts) {
    const told = [];
    this.called = "";
    try {
      const row = lookedAt(line);
      const rowId = String(row.id);
      this.phase(row, told);
      let [body, salt] = ["", ""];
      if (payloads.rowId === rowId) {
        const given = await payloads.of(rowId);
        [body, salt] = [this.payload(row, given, told), given[0].salt];
      } else {
        this.missing.add(row.id);
      }
      if (artifacts.rowId === rowId || (row.artifacts_digest && body)) {
        this.artifacts(row.artifacts_digest, await artifacts.of(rowId), body, told);
      }
      if (!this.isWhole) {
        for (const sentence of this.proven(line, proof)) {
          told.push(sentence);
        }
      }
      if (told.length) {
        this.called = call(row, body);
      } else {
        await this.views.add(line, body, salt);
      }
    } catch (error) {
      told.push(`The line or what belongs to it cannot be read: ${error}.`);
    }
    return told;
  }

  *proven(line, proof) {
    if (!Object.keys(proof).length) {
      yield "It has no proof.";
      return;
    }
    if (!this.isSealed(line, proof, this.end)) {
      yield "Its proof does not lead from this line to the checkpoint.";
    }
    if (proof.place <= this.place) {
      yield "Its place is not after that of the line before.";
    }
    this.place = proof.place;
  }

  stop(expected) {
    const [root, size, told] = [this.tree.root(), this.tree.size, []];
    for (const { root: stated, name } of expected) {
      if (name && !same(stated, root)) {
        told.push(`REWRITE: the first ${size} rows are not those of ${name}.`);
      } else if (same(stated, root)) {
        this.sound = size;
      } else if (this.sound >= 0) {
        this.wrong = `Rows from place ${this.sound} to ${size - 1} are not what was sealed.`;
        this.sound = -1; // every later root differs too
      }
    }
    return told;
  }

  phase(row, told) {
    const [{ since }, at] = [this.manifest, row.recorded_at];
    const attempt = `${row.attempt_no} of ${row.action_id}`;
    if (this.first && !this.times[0] && !(since && at < since)) {
      told.push("Rows of the period may be missing before this line.");
    }
    this.times = [this.times[0] || at, at];
    if (row.tenant_id !== this.tenant) {
      told.push("The row is another organisation's.");
    }
    const policy = row.policy_digest;
    if (policy && !this.policies.has(policy) && !this.undecided.has(policy)) {
      this.undecided.set(policy, row.id);
    }
    if (row.phase === "attempt") {
      this.open.set(attempt, row.id);
    } else if (row.phase === "outcome" && !this.open.delete(attempt) && !this.first) {
      told.push("This outcome has no attempt before it.");
    }
  }

  /* The body of the row's payload; empty when it is not the one that was sealed. */
  payload(row, given, told) {
    const [{ head, salt }] = given;
    const body = head.subarray('{"body":'.length);
    const sealed = hex(sha256(unhex(salt), body)) === row.payload_commitment;
    if (!sealed || given.length > 1 || !startsWith(head, '{"body":')) {
      told.push("Its payload is not the one that was sealed.");
      return "";
    }
    this.explains(row, text(body));
    return text(body);
  }

  artifacts(sealed, made, body, told) {
    const digests = made.map(({ digest }) => digest);
    if (body) {
      const named = artifactsIn(body).map((one) => encoder.encode(one));
      const fits = named.length === made.length && named.every((one, at) => (
        hex(sha256(one)) === digests[at]
        && same(made[at].head, joined(encoder.encode('{"artifact":'), one))
      ));
      if (!fits) {
        told.push("Its artifacts are not those that its payload names.");
      }
    }
    if (sealed !== (digests.length ? digestOf(digests) : "")) {
      told.push("Its artifacts are not those that were sealed.");
    }
  }

  /* Whether the row says why others, or their payloads, are missing. */
  explains(row, body) {
    if (row.phase === "redaction") {
      const { rows } = exact(body).payload;
      rows.forEach((id) => this.erased.add(Number.isInteger(id) ? BigInt(id) : id));
    } else if (row.action_type === "ledger.retention" && row.status === "succeeded") {
      this.left.push(...(JSON.parse(body).payload.places ?? []));
    } else if (row.action_type === "ledger.end" && row.status === "succeeded") {
      this.hasEnded = true;
    } else {
      return false;
    }
    return true;
  }

  /* What a reader should know beside the verdict. */
  remarks() {
    const [begin, end] = this.times.map((at) => at || "none");
    const { since, until, filters } = this.manifest;
    const asked = this.isWhole ? `${since ?? "the start"} to ${until ?? "the last row"}` : `actions with ${canonical(filters)}`;
    const found = [`Asked for: ${asked}. Rows: ${begin} to ${end}.`];
    if (this.keys.get(this.by)) {
      found.unshift(`Signed by key ${this.idOf(this.by)}${this.keys.get(this.by)}.`);
    }
    if (this.stamped) {
      found.push(`${this.stamped} checkpoints are time stamped: stamps.py, beside this, checks it.`);
    }
    if (this.gaps.length) {
      found.push(`${this.gaps.length} of these rows left by retention: their leaves stand for them.`);
    }
    if (this.hasEnded && this.undecided.size) {
      found.push("This ledger has ended: the policies that decided went with its key.");
    }
    const held = [TABLE, REPORT].filter((name) => this.archive.names.includes(name));
    if (held.length) {
      found.push(`Held against the rows, word for word: ${held.join(", ")}.`);
    }
    return found;
  }

  verdict(findings) {
    const kind = findings ? `NOT SOUND: ${findings} findings in` : "SOUND:";
    if (!this.isWhole) {
      const kept = findings ? "" : " Each was sealed at its place and is unaltered.";
      const claim = "Completeness is not claimed: other rows may match the filters.";
      return `${kind} ${this.count} rows of ${this.name}.${kept} ${claim}`;
    }
    const places = `places ${this.first} to ${this.tree.size - 1} of ${this.name}`;
    return `${kind} ${places}.${findings ? "" : " None between them is missing or altered."}`;
  }

  async *lines(name) {
    const isProven = PROVEN.includes(name);
    const digest = new Sha256();
    let rest = new Uint8Array();
    for await (const chunk of this.archive.chunks(name, isProven)) {
      if (!isProven) {
        digest.update(chunk);
      }
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        const line = chunk.subarray(start, end);
        yield rest.length ? joined(rest, line) : line;
        rest = new Uint8Array();
        start = end + 1;
      }
      rest = joined(rest, chunk.subarray(start));
    }
    if (rest.length && isProven) {
      throw new Broken(`${name} ends within a line.`);
    }
    if (rest.length) {
      yield rest;
    }
    this.digests[name] = hex(digest.digest());
  }
}

function joined(one, other) {
  const whole = new Uint8Array(one.length + other.length);
  whole.set(one);
  whole.set(other, one.length);
  return whole;
}

/* The check of audit/bundle/verify.py, in the browser: the same sentences for the same faults.
   Nothing is sent anywhere; the page's Content-Security-Policy forbids it to. */
"use strict";

const FORMAT = "remit-ledger-bundle/1";
const FILES = [
  "README.txt", "artifacts.jsonl", "checkpoint.note", "checkpoints.jsonl", "keys.json",
  "ledger.jsonl", "manifest.json", "payloads.jsonl", "policies.jsonl", "verify.py",
];
const encoder = new TextEncoder();
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const same = (one, other) => one.length === other.length && one.every((byte, at) => byte === other[at]);

function unhex(digits) {
  if (typeof digits !== "string" || !/^([0-9a-f]{2})*$/.test(digits)) {
    throw new Error("not hexadecimal");
  }
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function unbase64(encoded) {
  if (!/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded)) {
    throw new Error("not base64");
  }
  return Uint8Array.from(atob(encoded), (sign) => sign.charCodeAt(0));
}

/* Canonical JSON of text and of objects and lists of text. */
function canonical(value) {
  if (Array.isArray(value)) {
    return `[${value.map(canonical).join(",")}]`;
  }
  if (value !== null && typeof value === "object") {
    const pairs = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
    return `{${pairs.join(",")}}`;
  }
  return JSON.stringify(value);
}

const digestOf = (value) => hex(sha256(encoder.encode(canonical(value))));

// --- keys and signed notes -----------------------------------------------------------------

const keyId = (name, raw) => hex(sha256(encoder.encode(`${name}\n`), Uint8Array.of(1), raw).slice(0, 4));

function importKey(raw) {
  return crypto.subtle.importKey("raw", raw, { name: "Ed25519" }, false, ["verify"]);
}

async function keyOf(given) {
  const [name, identifier, ...rest] = given.trim().split("+");
  const whole = unbase64(rest.join("+"));
  const raw = whole.slice(1);
  if (whole.length !== 33 || whole[0] !== 1 || identifier !== keyId(name, raw)) {
    throw new Broken("KEY is no whole key of the form origin+id+base64.");
  }
  return { name, raw, key: await importKey(raw) };
}

/* The lines of a note, and which of the keys signed it under this name. */
async function signersOf(note, name, keys) {
  const cut = note.indexOf("\n\n");
  const [said, signatures] = cut < 0 ? [note, ""] : [note.slice(0, cut), note.slice(cut + 2)];
  const found = [];
  for (const line of signatures.split("\n").filter(Boolean)) {
    const [dash, signer, encoded, ...more] = line.split(" ");
    if (encoded === undefined || more.length) {
      throw new Error("no line of a signature");
    }
    if (dash !== "\u2014" || signer !== name) {
      continue;
    }
    const signature = unbase64(encoded);
    for (const raw of keys.filter((key) => keyId(name, key) === hex(signature.slice(0, 4)))) {
      const signed = await crypto.subtle.verify(
        { name: "Ed25519" }, await importKey(raw), signature.slice(4), encoder.encode(`${said}\n`),
      ).catch(() => false);
      if (signed) {
        found.push(hex(raw));
      }
    }
  }
  return { lines: said.split("\n"), by: found };
}

/* The size and root that a checkpoint states, and which of the keys signed it. Throws unless
   one did. */
async function readNote(note, name, keys) {
  const { lines: [origin, size, root, ...more], by } = await signersOf(note, name, keys);
  if (root === undefined || more.length || !by.length || origin !== name || !/^\d+$/.test(size)) {
    throw new Broken("not signed by KEY");
  }
  return { size: Number(size), root: unbase64(root), by: by[0] };
}

// --- the tree of RFC 6962 ------------------------------------------------------------------

const ones = (size) => size.toString(2).replaceAll("0", "").length;

class Tree {
  constructor(size, nodes) {
    if (!(size >= 0) || nodes.length !== (size ? ones(size) : 0) || nodes.some((node) => node.length !== 32)) {
      throw new Broken("The manifest's left side is that of no tree.");
    }
    [this.size, this.nodes] = [size, nodes];
  }

  append(line) {
    let node = sha256(Uint8Array.of(0), line);
    for (let full = this.size; full % 2; full = Math.floor(full / 2)) {
      node = sha256(Uint8Array.of(1), this.nodes.pop(), node);
    }
    this.nodes.push(node);
    this.size += 1;
  }

  root() {
    const nodes = this.nodes.length ? [...this.nodes] : [sha256()];
    let root = nodes.pop();
    for (const left of nodes.reverse()) {
      root = sha256(Uint8Array.of(1), left, root);
    }
    return root;
  }
}

// --- the bundle ----------------------------------------------------------------------------

/* Lines that belong to rows, in the order of the rows. Read one after another. */
class Part {
  constructor(lines) {
    this.lines = lines;
  }

  async start() {
    this.next = await this.following();
    return this;
  }

  async following() {
    const { done, value } = await this.lines.next();
    return done ? null : JSON.parse(text(value));
  }

  async of(rowId) {
    const found = [];
    while (this.next && this.next.row_id === rowId) {
      found.push(this.next);
      this.next = await this.following();
    }
    return found;
  }
}

class Verification {
  static async start(archive, { name, raw }, until) {
    const one = new Verification();
    const cut = name.lastIndexOf("/");
    Object.assign(one, { archive, name, key: hex(raw), until, by: hex(raw) });
    Object.assign(one, { ledger: name.slice(0, cut), tenant: name.slice(cut + 1) });
    // Every key that counts and how KEY leads to it; and those that led to KEY.
    Object.assign(one, { keys: new Map([[hex(raw), ""]]), earlier: [] });
    Object.assign(one, { digests: {}, stops: new Map(), open: new Map(), times: ["", ""] });
    Object.assign(one, { missing: new Set(), erased: new Set(), policies: new Set() });
    one.manifest = JSON.parse(text(await archive.read("manifest.json")));
    one.tree = new Tree(one.manifest.first, one.manifest.left.map(unhex));
    one.first = one.sound = one.tree.size;
    return one;
  }

  async *findings(older) {
    if (canonical([...this.archive.names].sort()) !== canonical(FILES)) {
      const names = this.archive.names.map((name) => `'${name}'`).join(", ");
      yield `The bundle holds other files than it should: [${names}].`;
    }
    const about = [this.manifest.format, this.manifest.origin, this.manifest.tenant_id];
    if (canonical(about) !== canonical([FORMAT, this.name, this.tenant])) {
      yield "The manifest is of another ledger or format.";
    }
    yield* this.rotations(JSON.parse(text(await this.archive.read("keys.json"))).rotations);
    const note = text(await this.archive.read("checkpoint.note"));
    const { size, root, by } = await readNote(note, this.name, [...this.keys.keys()].map(unhex));
    this.by = by;
    for await (const line of this.lines("checkpoints.jsonl")) {
      const stated = await readNote(JSON.parse(text(line)).note, this.name, this.known());
      this.expect(stated.size, stated.root, "");
    }
    this.expect(size, root, "");
    for await (const line of this.lines("policies.jsonl")) {
      this.policies.add(hex(sha256(encoder.encode(JSON.parse(text(line)).body))));
    }
    for (const { name, note } of older) {
      yield* this.compare(name, note, size);
    }
    yield* this.walk();
    if (this.tree.size !== size || size === this.first) {
      yield `The lines end at place ${this.tree.size}, the checkpoint at ${size}.`;
    }
    if (this.until && this.by === this.key && this.times[1] > this.until) {
      yield `KEY signed rows of ${this.times[1]}, and you refuse it after ${this.until}.`;
    }
    for (const [name, digest] of Object.entries(this.manifest.files)) {
      if ((this.digests[name] ?? hex(sha256(await this.archive.read(name)))) !== digest) {
        yield `${name} is not the file that the manifest describes.`;
      }
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

  async *compare(name, note, size) {
    let stated;
    try {
      stated = await readNote(note, this.name, this.known());
    } catch {
      yield `${name} is no checkpoint that KEY signed.`;
      return;
    }
    this.expect(stated.size, stated.root, name);
    if (stated.size > size) {
      yield `ROLLBACK: ${name} has ${stated.size} rows, this bundle's ledger only ${size}.`;
    } else if (stated.size < this.first
      || (stated.size === this.first && !same(stated.root, this.tree.root()))) {
      yield `${name} cannot be compared or differs: ask for a bundle that begins before it.`;
    }
  }

  /* Every line and what belongs to it, and the root wherever a checkpoint states it. */
  async *walk() {
    const payloads = await new Part(this.lines("payloads.jsonl")).start();
    const artifacts = await new Part(this.lines("artifacts.jsonl")).start();
    for await (const line of this.lines("ledger.jsonl")) {
      const place = `place ${this.tree.size}`;
      try {
        const row = JSON.parse(text(line));
        const [given, made] = [await payloads.of(row.id), await artifacts.of(row.id)];
        for (const told of [...this.phase(row), ...this.content(row, given, made)]) {
          yield `${place}: ${told}`;
        }
      } catch (error) {
        yield `${place}: The line or what belongs to it cannot be read: ${error}.`;
      }
      this.tree.append(line);
      if (this.stops.has(this.tree.size)) {
        yield* this.stop(this.stops.get(this.tree.size));
      }
    }
    for (const [name, part] of [["payload", payloads], ["artifact", artifacts]]) {
      for (; part.next; part.next = await part.following()) {
        yield `row ${part.next.row_id}: A ${name} belongs to no line or is in disorder.`;
      }
    }
    for (const rowId of [...this.missing].filter((id) => !this.erased.has(id)).sort((a, b) => a - b)) {
      yield `row ${rowId}: Its payload is missing and no redaction says why.`;
    }
  }

  stop(expected) {
    const [root, size, told] = [this.tree.root(), this.tree.size, []];
    for (const { root: stated, name } of expected) {
      if (name && !same(stated, root)) {
        told.push(`REWRITE: the first ${size} rows are not those of ${name}.`);
      } else if (same(stated, root)) {
        this.sound = size;
      } else if (this.sound >= 0) {
        told.push(`Rows from place ${this.sound} to ${size - 1} are not what was sealed.`);
        this.sound = -1; // every later root differs too
      }
    }
    return told;
  }

  phase(row) {
    const [told, { since }, at] = [[], this.manifest, row.recorded_at];
    const attempt = `${row.attempt_no} of ${row.action_id}`;
    if (this.first && !this.times[0] && !(since && at < since)) {
      told.push("Rows of the period may be missing before this line.");
    }
    this.times = [this.times[0] || at, at];
    if (row.tenant_id !== this.tenant) {
      told.push("The row is another organisation's.");
    }
    if (row.policy_digest && !this.policies.has(row.policy_digest)) {
      told.push("The policy that decided it is missing or altered.");
    }
    if (row.phase === "attempt") {
      this.open.set(attempt, row.id);
    } else if (row.phase === "outcome" && !this.open.delete(attempt) && !this.first) {
      told.push("This outcome has no attempt before it.");
    }
    return told;
  }

  content(row, given, made) {
    const told = [];
    const digest = made.length ? digestOf(made.map((artifact) => artifact.digest)) : "";
    if ((given.length || made.length) && digest !== row.artifacts_digest) {
      told.push("Its artifacts are not those that were sealed.");
    }
    if (!given.length) {
      this.missing.add(row.id);
      return told;
    }
    const [{ salt, body }] = given;
    const sealed = hex(sha256(unhex(salt), encoder.encode(body)));
    if (given.length > 1 || sealed !== row.payload_commitment) {
      told.push("Its payload is not the one that was sealed.");
    } else if (row.phase === "redaction") {
      JSON.parse(body).payload.rows.forEach((id) => this.erased.add(id));
    } else if (made.length) {
      const pick = ({ kind, provider, external_id }) => [kind, provider, external_id];
      const named = JSON.parse(body).artifacts.map((one) => [digestOf(one), ...pick(one)]);
      if (canonical(named) !== canonical(made.map((one) => [one.digest, ...pick(one)]))) {
        told.push("Its artifacts are not those that its payload names.");
      }
    }
    return told;
  }

  async *lines(name) {
    const digest = new Sha256();
    let rest = new Uint8Array();
    for await (const chunk of this.archive.chunks(name)) {
      digest.update(chunk);
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        const line = chunk.subarray(start, end);
        yield rest.length ? joined(rest, line) : line;
        rest = new Uint8Array();
        start = end + 1;
      }
      rest = joined(rest, chunk.subarray(start));
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

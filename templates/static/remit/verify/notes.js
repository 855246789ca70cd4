/* Bytes as text, canonical JSON, keys and signed notes (c2sp.org/signed-note). */
"use strict";

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

const keyId = (name, raw) => hex(sha256(encoder.encode(`${name}\n`), Uint8Array.of(1), raw).slice(0, 4));

function importKey(raw) {
  return crypto.subtle.importKey("raw", raw, { name: "Ed25519" }, false, ["verify"]);
}

const KEY = /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/;

async function keyOf(given) {
  const [, name, identifier, encoded] = given.trim().match(KEY) ?? ["", "", "", ""];
  const whole = unbase64(encoded);
  const raw = whole.slice(1);
  if (whole[0] !== 1 || identifier !== keyId(name, raw)) {
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

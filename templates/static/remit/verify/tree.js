/* The Merkle tree of RFC 6962. */
"use strict";

const ones = (size) => size.toString(2).replaceAll("0", "").length;

class Tree {
  constructor(size, nodes) {
    if (!(size >= 0) || nodes.length !== (size ? ones(size) : 0) || nodes.some((node) => node.length !== 32)) {
      throw new Broken("The manifest's left side is that of no tree.");
    }
    [this.size, this.nodes] = [size, nodes];
  }

  /* Add the hash of the next line. */
  append(node) {
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

const divided = (number) => Math.floor(number / 2);

/* The root to which a line leads from its place by its proof (RFC 6962, 2.1.1). */
function rootOf(line, place, size, proof) {
  let node = sha256(Uint8Array.of(0), line);
  const given = [...proof];
  for (let last = size - 1; last > 0; [place, last] = [divided(place), divided(last)]) {
    if (place % 2 || place < last) {
      const other = given.shift() ?? new Uint8Array();
      node = place % 2 ? sha256(Uint8Array.of(1), other, node) : sha256(Uint8Array.of(1), node, other);
    }
  }
  return given.length ? new Uint8Array() : node;
}

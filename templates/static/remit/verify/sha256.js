/* SHA-256 (FIPS 180-4), piece by piece, so that files of any size fit. */
"use strict";

/* The first 32 bits of the fractional parts of roots of the first primes. */
function fractions(count, power) {
  const primes = [];
  for (let number = 2; primes.length < count; number += 1) {
    if (primes.every((prime) => number % prime)) {
      primes.push(number);
    }
  }
  return Uint32Array.from(primes, (prime) => (prime ** power % 1) * 2 ** 32);
}

const ROUNDS = fractions(64, 1 / 3);
const BEGIN = fractions(8, 1 / 2);
const turned = (word, by) => (word >>> by) | (word << (32 - by));

class Sha256 {
  constructor() {
    [this.state, this.words] = [Uint32Array.from(BEGIN), new Uint32Array(64)];
    [this.block, this.filled, this.size] = [new Uint8Array(64), 0, 0];
  }

  update(bytes) {
    this.size += bytes.length;
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + 64 - this.filled);
      this.block.set(part, this.filled);
      this.filled += part.length;
      at += part.length;
      if (this.filled === 64) {
        this.mix();
        this.filled = 0;
      }
    }
    return this;
  }

  mix() {
    const words = this.words;
    for (let at = 0; at < 16; at += 1) {
      const four = this.block.subarray(4 * at, 4 * at + 4);
      words[at] = (four[0] << 24) | (four[1] << 16) | (four[2] << 8) | four[3];
    }
    for (let at = 16; at < 64; at += 1) {
      const [low, high] = [words[at - 15], words[at - 2]];
      words[at] = words[at - 16] + words[at - 7]
        + (turned(low, 7) ^ turned(low, 18) ^ (low >>> 3))
        + (turned(high, 17) ^ turned(high, 19) ^ (high >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = this.state;
    for (let at = 0; at < 64; at += 1) {
      const first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g))
        + ROUNDS[at] + words[at];
      const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => {
      this.state[at] += word;
    });
  }

  digest() {
    const bits = this.size * 8;
    this.update(Uint8Array.of(0x80));
    this.update(new Uint8Array((120 - this.filled) % 64));
    const length = new DataView(new ArrayBuffer(8));
    length.setUint32(0, Math.floor(bits / 2 ** 32));
    length.setUint32(4, bits);
    this.update(new Uint8Array(length.buffer));
    const found = new DataView(new ArrayBuffer(32));
    this.state.forEach((word, at) => found.setUint32(4 * at, word));
    return new Uint8Array(found.buffer);
  }
}

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), new Sha256()).digest();

/* Reads the zip files that Remit writes, part by part. */
"use strict";

const text = (bytes) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) {
    rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  }
  return rest;
});

class Broken extends Error {}

class Archive {
  /* `file` is a Blob: only the parts that are asked for are read. */
  static async open(file) {
    const archive = new Archive();
    archive.file = file;
    archive.members = new Map();
    archive.names = [];
    const tailAt = Math.max(0, file.size - 65557 - 20);
    const tail = await archive.view(tailAt, file.size);
    let end = tail.byteLength - 22;
    while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) {
      end -= 1;
    }
    if (end < 0) {
      throw new Broken("File is not a zip file");
    }
    let [count, size, at] = [
      tail.getUint16(end + 10, true), tail.getUint32(end + 12, true), tail.getUint32(end + 16, true),
    ];
    if (end >= 20 && tail.getUint32(end - 20, true) === 0x07064b50) {
      const wide = Number(tail.getBigUint64(end - 12, true));
      const record = await archive.view(wide, wide + 56);
      [count, size, at] = [32, 40, 48].map((place) => Number(record.getBigUint64(place, true)));
    }
    await archive.directory(await archive.view(at, at + size), count);
    return archive;
  }

  async view(start, end) {
    return new DataView(await this.file.slice(start, end).arrayBuffer());
  }

  async directory(view, count) {
    let at = 0;
    for (let number = 0; number < count; number += 1) {
      if (view.getUint32(at, true) !== 0x02014b50) {
        throw new Broken("Bad magic number for central directory");
      }
      const [nameSize, extraSize, commentSize] = [28, 30, 32].map((place) => view.getUint16(at + place, true));
      const name = text(new Uint8Array(view.buffer, view.byteOffset + at + 46, nameSize));
      const member = {
        name,
        method: view.getUint16(at + 10, true),
        crc: view.getUint32(at + 16, true),
        packed: view.getUint32(at + 20, true),
        size: view.getUint32(at + 24, true),
        start: view.getUint32(at + 42, true),
      };
      this.widen(member, view, at + 46 + nameSize, extraSize);
      this.names.push(name);
      this.members.set(name, member);
      at += 46 + nameSize + extraSize + commentSize;
    }
  }

  /* What does not fit 32 bits stands in the zip64 extra field, in this order. */
  widen(member, view, start, size) {
    let at = start;
    while (at + 4 <= start + size) {
      const [kind, length] = [view.getUint16(at, true), view.getUint16(at + 2, true)];
      let place = at + 4;
      for (const field of kind === 1 ? ["size", "packed", "start"] : []) {
        if (member[field] === 0xffffffff) {
          member[field] = Number(view.getBigUint64(place, true));
          place += 8;
        }
      }
      at += 4 + length;
    }
  }

  /* A member whose bytes are proven otherwise needs no CRC-32. */
  async *chunks(name, isProven = false) {
    const member = this.members.get(name);
    if (!member) {
      throw new Broken(`There is no item named '${name}' in the archive`);
    }
    const head = await this.view(member.start, member.start + 30);
    if (head.byteLength < 30 || head.getUint32(0, true) !== 0x04034b50) {
      throw new Broken("Bad magic number for file header");
    }
    const [nameSize, extraSize] = [head.getUint16(26, true), head.getUint16(28, true)];
    const nameAt = member.start + 30;
    const named = new Uint8Array(await this.file.slice(nameAt, nameAt + nameSize).arrayBuffer());
    if (text(named) !== name) {
      throw new Broken(`File name in directory '${name}' and header differ.`);
    }
    const from = nameAt + nameSize + extraSize;
    let stream = this.file.slice(from, from + member.packed).stream();
    if (member.method === 8) {
      stream = stream.pipeThrough(new DecompressionStream("deflate-raw"));
    } else if (member.method !== 0) {
      throw new Broken("That compression method is not supported");
    }
    const isUnchecked = isProven && member.method === 0;
    let [crc, size] = [0xffffffff, 0];
    const reader = stream.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        break;
      }
      for (const byte of isUnchecked ? [] : value) {
        crc = CRC[(crc ^ byte) & 0xff] ^ (crc >>> 8);
      }
      size += value.length;
      yield value;
    }
    const fits = isUnchecked || (crc ^ 0xffffffff) >>> 0 === member.crc;
    if (!fits || size !== member.size) {
      throw new Broken(`Bad CRC-32 for file '${name}'`);
    }
  }

  async read(name) {
    const parts = [];
    for await (const chunk of this.chunks(name)) {
      parts.push(chunk);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  }
}

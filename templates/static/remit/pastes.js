/** Which parts of a text box were not typed. What a key puts in is typed; whatever else does (a paste,
 * a drop, a program that fills in, what undo brings back) is not. Spans move along while the text is edited. */

const TYPED = new Set([
  "insertText", "insertCompositionText", "insertReplacementText", "insertLineBreak", "insertParagraph",
]);

/** `spans()` gives [start, end] for each part, counted in code points; `forget()` begins anew. */
export function watchPastes(box) {
  let before = box.value;
  let parts = before ? [[0, before.length]] : [];
  box.addEventListener("input", (event) => {
    parts = moved(parts, before, box.value, box.selectionEnd, TYPED.has(event.inputType));
    before = box.value;
  });
  return {
    spans() {
      const place = (at) => Array.from(box.value.slice(0, at)).length;
      const known = box.value === before ? parts : [[0, box.value.length]];
      return known.map(([start, end]) => [place(start), place(end)]);
    },
    forget() {
      before = box.value;
      parts = [];
    },
  };
}

/** The parts after an edit that left the caret at `caret`: text was taken out and other put in. */
export function moved(parts, before, after, caret, typed) {
  const behind = after.length - caret;
  const oldEnd = Math.max(0, before.length - behind);
  const most = Math.min(caret, oldEnd);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  const shift = after.length - before.length;
  const kept = parts.flatMap(([from, to]) => [
    [from, Math.min(to, start)],
    [Math.max(from, oldEnd) + shift, to + shift],
  ]);
  if (!typed) kept.push([start, caret]);
  return kept.filter(([from, to]) => from < to).sort((one, other) => one[0] - other[0]);
}

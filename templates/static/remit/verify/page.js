/* The page: takes the files, shows what is found. */
"use strict";

/* Checks one bundle. `say(kind, text)` gets each finding, open attempt and note as it is
   found, and `pause(checked, rows)` is awaited at every row; the answer is whether the bundle is
   sound, and the verdict in words. */
async function verify({ bundle, key, older }, say, pause = async () => {}) {
  const [whole, until] = key.trim().split("@", 2);
  let count = 0;
  let known;
  let verification;
  let remarks;
  try {
    known = await keyOf(whole);
  } catch (error) {
    return { sound: false, verdict: `Nothing was checked: ${error.message}` };
  }
  try {
    verification = await Verification.start(await Archive.open(bundle), known, until);
    verification.pause = () => pause(verification.count, verification.manifest.counts?.ledger);
    for await (const sentence of verification.findings(older)) {
      count += 1;
      say("FINDING", sentence);
    }
    remarks = verification.remarks();
  } catch (error) {
    say("FINDING", `The bundle cannot be read to its end: ${error.name}: ${error.message}`);
    return { sound: false, verdict: "NOT SOUND" };
  }
  for (const [attempt, rowId] of verification.open) {
    say("open", `row ${rowId}: attempt ${attempt} has no outcome here.`);
  }
  for (const remark of remarks) {
    say("note", remark);
  }
  return { sound: !count, verdict: verification.verdict(count) };
}

const SHOWN = 1000;
const BUSY_MS = 100; // for so long at most nothing else on the page moves
const CLASSES = { FINDING: "finding", open: "open", note: "note" };

function bind(form) {
  const ids = ["verdict", "list", "progress"];
  const [verdict, list, progress] = ids.map((id) => document.getElementById(id));
  const drop = document.getElementById("drop");
  const input = form.elements.bundle;
  for (const [event, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    drop.addEventListener(event, (moved) => {
      moved.preventDefault();
      drop.classList.toggle("over", over);
      if (event === "drop" && moved.dataTransfer.files.length) {
        input.files = moved.dataTransfer.files;
      }
    });
  }
  form.addEventListener("submit", async (submitted) => {
    submitted.preventDefault();
    const button = form.querySelector("button");
    let shown = 0;
    list.replaceChildren();
    verdict.className = "";
    verdict.textContent = "Checking …";
    button.disabled = true;
    const say = (kind, sentence) => {
      shown += 1;
      if (shown > SHOWN) {
        return;
      }
      const item = document.createElement("li");
      item.className = CLASSES[kind];
      item.textContent = shown === SHOWN ? "There are more; verify.py lists them all." : sentence;
      list.append(item);
    };
    let rested = performance.now();
    const pause = async (checked, rows) => {
      if (performance.now() - rested < BUSY_MS) {
        return;
      }
      const most = Number.isSafeInteger(rows) && rows >= checked ? rows : checked;
      const bar = document.createElement("progress");
      Object.assign(bar, { max: most, value: checked, ariaLabel: "Rows checked" });
      progress.replaceChildren(bar, ` ${checked.toLocaleString("en")} of ${most.toLocaleString("en")} rows`);
      await new Promise((go) => {
        setTimeout(go);
      });
      rested = performance.now();
    };
    const older = await Promise.all(
      [...form.elements.older.files].map(async (file) => ({ name: file.name, note: await file.text() })),
    );
    const given = { bundle: input.files[0], key: form.elements.key.value, older };
    const found = await verify(given, say, pause);
    progress.replaceChildren();
    button.disabled = false;
    verdict.className = found.sound ? "sound" : "unsound";
    verdict.textContent = found.verdict;
    verdict.focus();
  });
}

bind(document.getElementById("verify"));

// Keys of the inbox of approvals. Everything works without them; none of them decides anything.

const typing = (target) => target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");

function rows() {
  return [...document.querySelectorAll("#result_list tbody a")]
    .filter((link, at, all) => link.offsetParent && all.findIndex((one) => one.closest("tr") === link.closest("tr")) === at);
}

function move(step) {
  const links = rows();
  if (!links.length) return false;
  const row = document.activeElement?.closest("tr");
  const at = links.findIndex((link) => link.closest("tr") === row);
  const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

function tick() {
  const box = document.activeElement?.closest("tr")?.querySelector("input[type=checkbox]");
  box?.click();
  return Boolean(box);
}

function go(id) {
  const found = document.getElementById(id);
  found?.focus();
  return Boolean(found);
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  x: tick,
  c: () => go("approval-confirm"),
  e: () => go("approval-edit"),
  r: () => go("approval-reason"),
  u: () => {
    if (!document.getElementById("approval-headline")) return false;
    location.assign(new URL("../../", location.href));
    return true;
  },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || typing(event.target)) return;
  if (KEYS[event.key]?.()) event.preventDefault();
});

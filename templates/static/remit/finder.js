// Find from any page: Ctrl K or ⌘K, type, arrows, Enter. What is found is a list that a screen reader
// hears as the choices of the box that is typed in.

const dialog = document.getElementById("finder");
const box = document.getElementById("finder-words");
const list = document.getElementById("finder-list");
const status = dialog.querySelector("[role=status]");
const PAUSE = 200; // milliseconds after the last key
let timer, asked = 0;

const options = () => [...list.querySelectorAll("[role=option]")];

function choose(option) {
  for (const one of options()) one.setAttribute("aria-selected", String(one === option));
  if (option) {
    box.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  } else box.removeAttribute("aria-activedescendant");
}

function move(by) {
  const all = options();
  if (!all.length) return;
  const at = all.findIndex((one) => one.getAttribute("aria-selected") === "true");
  choose(all[(at + by + all.length) % all.length]);
}

async function look() {
  const mine = ++asked;
  const answer = await fetch(`${dialog.dataset.find}?q=${encodeURIComponent(box.value)}`).catch(() => null);
  if (mine !== asked) return; // something else was typed meanwhile
  if (!answer || !answer.ok || answer.redirected) {
    list.replaceChildren();
    status.textContent = "It cannot be looked for now. Reload the page.";
  } else {
    list.innerHTML = await answer.text();
    const count = options().length;
    status.textContent = box.value.trim() ? `${count || "Nothing"} found` : "";
    choose(options()[0]);
  }
  box.setAttribute("aria-expanded", String(options().length > 0));
}

function open() {
  if (!dialog.open) dialog.showModal();
  box.select();
}

document.getElementById("finder-open")?.addEventListener("click", open);
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    open();
  }
});
box.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(look, PAUSE);
});
box.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") move(1);
  else if (event.key === "ArrowUp") move(-1);
  else if (event.key === "Enter") options().find((one) => one.getAttribute("aria-selected") === "true")?.click();
  else return;
  event.preventDefault();
});
list.addEventListener("mousemove", (event) => {
  const option = event.target.closest("[role=option]");
  if (option) choose(option);
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close(); // beside it
});

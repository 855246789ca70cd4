// Notifications in this browser: one click switches them on, another one off.

import { fill, gettext } from "./words.js";

const box = document.getElementById("device");
const known = () => new Set(box.dataset.known.split(" ").filter(Boolean));

const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));

async function fingerprint(subscription) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(subscription.endpoint));
  return [...new Uint8Array(digest)].map((one) => one.toString(16).padStart(2, "0")).join("");
}

/** The worker of this page, running. */
async function register() {
  const registration = await navigator.serviceWorker.register(box.dataset.worker, { updateViaCache: "none" });
  const coming = registration.installing ?? registration.waiting;
  if (!registration.active && coming) {
    await new Promise((done) => coming.addEventListener("statechange", () => coming.state === "activated" && done()));
  }
  return registration;
}

/** What this browser is subscribed with under our present key; null where it is not. */
async function current(registration) {
  const found = await registration?.pushManager.getSubscription();
  const key = found?.options.applicationServerKey;
  const isOurs = key && new Uint8Array(key).join() === bytes(box.dataset.key).join();
  if (found && !isOurs) await found.unsubscribe();
  return isOurs ? found : null;
}

async function tell(url, body) {
  const headers = { "Content-Type": "application/json", "X-CSRFToken": box.dataset.csrf };
  const language = document.documentElement.lang; // of the page, and so of what is sent
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ ...body, language }) });
  const said = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(said.error?.message ?? gettext("You are not logged in any more. Reload this page."));
}

async function switchOn() {
  if (await Notification.requestPermission() !== "granted") {
    throw new Error(gettext("Your browser does not let this site notify you. Permit it in the settings of the browser."));
  }
  const registration = await register();
  const options = { userVisibleOnly: true, applicationServerKey: bytes(box.dataset.key) };
  const subscription = await current(registration) ?? await registration.pushManager.subscribe(options).catch(() => {
    throw new Error(gettext("Your browser has no push service that it may use here, for example because this window is private."));
  });
  const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  await tell(box.dataset.on, { subscription: subscription.toJSON(), time_zone });
  box.dataset.known += ` ${await fingerprint(subscription)}`;
}

/** In this browser; without a device in all of theirs, for who has lost one. */
async function switchOff(subscription, device = "") {
  await tell(box.dataset.off, { device });
  await subscription?.unsubscribe();
  box.dataset.known = [...known()].filter((one) => device && one !== device).join(" ");
}

async function press(what) {
  const buttons = box.querySelectorAll("button");
  for (const one of buttons) one.disabled = true;
  let problem = "";
  try {
    await what();
  } catch (error) {
    problem = error.message;
  }
  for (const one of buttons) one.disabled = false;
  await show(problem);
}

async function show(said = "") {
  const registration = await navigator.serviceWorker.getRegistration(box.dataset.worker);
  const subscription = await current(registration);
  const device = subscription ? await fingerprint(subscription) : "";
  const isOn = known().has(device);
  const others = known().size - Number(isOn);
  const [button, everywhere, status] = box.children;
  button.textContent = isOn ? gettext("Do not notify me in this browser") : gettext("Notify me in this browser");
  everywhere.textContent = fill("Stop in all browsers (%(number)s)", { number: others + Number(isOn) });
  everywhere.hidden = !others;
  status.textContent = said || (isOn ? gettext("You hear here what waits for you.") : "");
  button.onclick = () => press(isOn ? () => switchOff(subscription, device) : switchOn);
  everywhere.onclick = () => press(() => switchOff(subscription));
  box.hidden = false;
}

if (box && "serviceWorker" in navigator && "PushManager" in window && "Notification" in window) await show();

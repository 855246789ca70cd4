// Notifications in this browser: one click switches them on, another one off.

const box = document.getElementById("device");
const known = () => new Set(box.dataset.known.split(" "));

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
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const said = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(said.error?.message ?? "You are not logged in any more. Reload this page.");
}

async function switchOn() {
  if (await Notification.requestPermission() !== "granted") {
    throw new Error("Your browser does not let this site notify you. Permit it in the settings of the browser.");
  }
  const registration = await register();
  const options = { userVisibleOnly: true, applicationServerKey: bytes(box.dataset.key) };
  const subscription = await current(registration) ?? await registration.pushManager.subscribe(options).catch(() => {
    throw new Error("Your browser has no push service that it may use here, for example because this window is private.");
  });
  const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  await tell(box.dataset.on, { subscription: subscription.toJSON(), time_zone });
  box.dataset.known += ` ${await fingerprint(subscription)}`;
}

async function switchOff(subscription) {
  await tell(box.dataset.off, { device: await fingerprint(subscription) });
  await subscription.unsubscribe();
}

async function show(said = "") {
  const registration = await navigator.serviceWorker.getRegistration(box.dataset.worker);
  const subscription = await current(registration);
  const isOn = subscription && known().has(await fingerprint(subscription));
  const [button, status] = box.children;
  button.textContent = isOn ? "Do not notify me in this browser" : "Notify me in this browser";
  status.textContent = said || (isOn ? "You hear here what waits for you." : "");
  button.onclick = async () => {
    button.disabled = true;
    let problem = "";
    try {
      await (isOn ? switchOff(subscription) : switchOn());
    } catch (error) {
      problem = error.message;
    }
    button.disabled = false;
    await show(problem);
  };
  box.hidden = false;
}

if (box && "serviceWorker" in navigator && "PushManager" in window && "Notification" in window) await show();

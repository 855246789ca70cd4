// A scripted mail of the demo office, as if it had come from a real provider.

import { call, root } from "./api.js";
import { el, link, visible } from "./cards.js";
import { fill, gettext } from "./words.js";

const LOOKS = 120; // of half a second each

/** Let a scripted mail arrive and watch what the agent makes of it. */
export async function deliver(button, { user, add, say, complain }) {
  button.disabled = true;
  const item = add(el("li", { className: "message mail" }, el("h3", {}, gettext("Mail"))));
  const line = item.appendChild(el("p", {}, fill("Delivering “%(mail)s” to %(user)s", { mail: button.textContent, user })));
  try {
    const { organisation } = root.dataset;
    const mail = await call(root.dataset.deliver, { organisation, user_id: user, name: button.dataset.name });
    const query = new URLSearchParams({ organisation, user_id: user, source_id: mail.source_id });
    for (let look = 0; look < LOOKS; look += 1) {
      const found = await call(`${root.dataset.delivered}?${query}`);
      line.textContent = visible(fill("“%(mail)s” to %(user)s: %(state)s.", {
        mail: mail.subject, user, state: found.reason ? `${found.state} (${found.reason})` : found.state,
      }));
      if (found.finished || look === LOOKS - 1) {
        item.append(
          el("ul", { className: "plain" }, ...found.actions.map((action) =>
            el("li", {}, visible(`${action.description}: ${action.status}. ${action.sentence}`)))),
          el("p", { className: "links" }, ...found.links.flatMap((one) => [link(one.title, one.url), " "])));
        if (!found.finished) item.append(el("p", {}, gettext("It is still being worked on. The delivery's page shows what becomes of it.")));
        return say(fill("The mail is %(state)s.", { state: found.state }));
      }
      await new Promise((resolve) => { setTimeout(resolve, 500); });
    }
  } catch (error) {
    item.remove();
    complain(error);
  } finally {
    button.disabled = false;
  }
}

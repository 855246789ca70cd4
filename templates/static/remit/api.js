// The API that every frontend has, with the session of who is logged in.

import { fill, gettext } from "./words.js";

export const root = document.getElementById("console");

/** What the server said no to, as a sentence for people. */
export class Refused extends Error {}

/** The API's answer, in the page's language. Throws Refused with a sentence for people. */
export async function call(url, body = null) {
  const headers = { "Accept-Language": document.documentElement.lang, "X-Remit-Organisation": root.dataset.organisation };
  if (body) Object.assign(headers, { "Content-Type": "application/json", "X-CSRFToken": root.dataset.csrf });
  let response;
  try {
    response = await fetch(url, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
  } catch {
    throw new Refused(gettext("The server cannot be reached. Check that Remit runs, then try again."));
  }
  if (response.redirected || response.status === 403 && !isJson(response)) {
    throw new Refused(gettext("You are not logged in any more. Reload this page."));
  }
  const answer = isJson(response) ? await response.json() : {};
  if (!response.ok) throw new Refused(answer.detail ?? answer.error?.message ?? fill("The server answered %(status)s.", { status: response.status }));
  return answer;
}

const isJson = (response) => (response.headers.get("Content-Type") ?? "").includes("json");

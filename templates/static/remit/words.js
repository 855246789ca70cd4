// Remit's own words in the language of the page, which brings them along (agents/office/console_words.py).

const translated = new Map(Object.entries(JSON.parse(document.body.dataset.words ?? "{}")));
const MOMENT = {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short",
};

/** In the language of the page; in English on a page that has no other. */
export const gettext = (text) => translated.get(text) ?? text;

/** The same with values in place of `%(name)s`. */
export const fill = (text, values) => gettext(text).replace(/%\((\w+)\)s/g, (_, name) => values[name]);

/** One sentence for one, another one, with `%(number)s`, for any other number. */
export const count = (number, one, many, values = {}) => fill(number === 1 ? one : many, { number, ...values });

/** A time on the clock of this browser, with its zone. */
export const moment = (at) => new Date(at).toLocaleString(document.documentElement.lang, MOMENT);

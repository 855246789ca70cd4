// Keeps the part of a page that is marked data-live="on" up to date while somebody looks at it.

const EVERY = 2000;

async function refresh() {
  const part = document.querySelector('[data-live="on"]');
  if (!part) return;
  if (!document.hidden) {
    try {
      const answer = await fetch(window.location.href, { credentials: "same-origin" });
      // A document of its own would apply the page's styles, which its policy forbids here.
      const page = document.createElement("template");
      page.innerHTML = await answer.text();
      const fresh = page.content.querySelector("[data-live]");
      // Somebody on a link of it with the keyboard is not thrown off.
      if (fresh && !part.contains(document.activeElement)) part.replaceWith(fresh);
    } catch {
      // The server is away for a moment: asked again.
    }
  }
  setTimeout(refresh, EVERY);
}

setTimeout(refresh, EVERY);

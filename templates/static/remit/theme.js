// The theme's components, by name. Its pages are run by the build of Alpine.js that reads expressions
// itself instead of having the browser evaluate text: it finds what was registered, and nothing else.

document.addEventListener("alpine:init", () => {
  for (const name of ["theme", "searchForm"]) {
    Alpine.data(name, window[name]);
  }
  Alpine.data("page", (firstTab) => ({
    activeTab: firstTab && (getCurrentTab() || firstTab),
    sidebarMobileOpen: false,
    // A form keeps its tab: its address is made of these two.
    window: { location: { pathname: location.pathname, search: location.search } },
    sidebarDesktopOpen: localStorage.getItem("sidebarDesktopOpen") !== "0",
    init() {
      this.$watch("sidebarDesktopOpen", (open) => localStorage.setItem("sidebarDesktopOpen", open ? "1" : "0"));
    },
  }));
});

// What is chosen from a long list has a box of its own, which must say what it is for.
window.addEventListener("load", () => {
  for (const select of document.querySelectorAll("select.select2-hidden-accessible")) {
    const parts = select.nextElementSibling?.querySelectorAll("[role=combobox], [role=textbox]");
    for (const part of parts ?? []) {
      part.setAttribute("aria-label", select.labels[0]?.textContent.trim() ?? select.name);
    }
  }
});

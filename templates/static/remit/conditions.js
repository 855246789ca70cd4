// The theme shows a form only once its own script runs, and by then the browser may have given
// up on autofocus: what was just added or removed is where the person goes on.
window.addEventListener("load", () => {
  const wanted = document.querySelector(".conditions [autofocus]");
  if (wanted && document.activeElement === document.body) {
    requestAnimationFrame(() => wanted.focus());
  }
});

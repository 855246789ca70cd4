// What a card is about stands open beside it where there is room, and folded above its buttons on a phone.

const wide = matchMedia("(min-width: 64rem)");
for (const one of document.querySelectorAll("details.beside[data-opens]")) one.open = wide.matches;

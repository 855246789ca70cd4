// What a card is about stands open beside it where there is room, and folded below it on a phone.

const wide = matchMedia("(min-width: 64rem)");
for (const one of document.querySelectorAll("details.beside[data-opens]")) one.open = wide.matches;

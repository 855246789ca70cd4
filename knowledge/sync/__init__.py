"""Reading whole accounts, page by page: claimed, resumed, counted, and reported to those who
asked."""

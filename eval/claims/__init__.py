"""Claims that name the paper they are about: how a CSV of them is grounded (`measuring`), and what papers' own titles and their
negated forms show about any index (`titles`). `outcomes` measures both, and `report` presents them."""

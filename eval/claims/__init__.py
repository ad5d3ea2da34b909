"""Claims that name the paper they are about: how a CSV of them is grounded (`measuring`), and what a paper's own title and its
turned-round form show of any index (`titles`). Both are measured by `outcomes` and told by `report`."""

"""What the machines of one month do: whole nodes, groups of offers, and the cheapest dispatch."""

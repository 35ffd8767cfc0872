"""From hours that were used to hours that will be needed, with a range. PURE."""

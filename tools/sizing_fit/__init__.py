"""Fits sizing to published runs, rates and draws of power, which the product does not hold."""

"""The field's terms in a sentence or two: in tooltips and on the method page."""

from __future__ import annotations

TERMS: dict[str, str] = {
    "accelerator-hour": "One accelerator in use for an hour. Eight for a day are 192 of them.",
    "bound": "A figure below which no plan can cost, proved by the solver.",
    "break-even": "Use from which a server costs no more than renting the same.",
    "capex": "Capital expenditure: what is paid to buy servers.",
    "commitment": "Whole machines paid for a fixed term, used or not: reservations, savings plans "
    "and committed use.",
    "committed use": "A commitment of Google Cloud for one or three years.",
    "effective TFLOP-hour": "An hour at one TFLOP/s of useful training arithmetic: the dense bf16 "
    "(else fp16, fp32) rate of the datasheet times the MFU that published runs reach.",
    "gap": "How far the plan could at most be from the best one, as a share of its cost.",
    "goodput": "Share of the time in which training makes progress; the rest goes to failures, "
    "restarts and checkpoints.",
    "hybrid": "The cheapest mix of owned servers, commitments, on demand and spot.",
    "lead time": "Months between ordering a server and using it.",
    "levelised cost": "Cost in today's money divided by the accelerator-hours served, in today's "
    "money too.",
    "MFU": "Model FLOP utilisation: useful arithmetic over the datasheet's dense peak.",
    "on demand": "Rented by the hour at list price, without a commitment.",
    "p10, p50, p90": "One simulated outcome in ten costs less than p10, half cost less than p50, "
    "nine in ten less than p90.",
    "peak": "Most accelerators needed at the same time in a month.",
    "present value": "What a later payment is worth today at the discount rate.",
    "PUE": "Power usage effectiveness: power of the whole building over power of the machines.",
    "quota": "Most accelerators that a provider lets an account run at once.",
    "regret": "Average extra cost of a choice over the best one in the same outcome.",
    "residual value": "What a server is still worth when the horizon ends.",
    "revision": "One published state of a provider's prices; saved answers name theirs.",
    "savings plan": "A commitment to spend a sum per hour in return for lower prices.",
    "SKU": "The provider's number for the thing that is billed.",
    "spot": "Spare capacity at a lower price that the provider may reclaim at any time.",
    "utilisation": "Share of the hours in which a machine works.",
}

"""The fields of the plan form: where each stands in the request, its label, unit and help.

Only words and translation; limits and defaults belong to the core. A `*` in a path is the
position in a list, which the form repeats as rows.
"""

from __future__ import annotations

import re
from decimal import Decimal
from difflib import get_close_matches

from planner.web.common.choices import list_choices
from planner.web.common.field_types import request_field_types
from planner.web.common.plan_fields.data import DATA, DATA_PRICE
from planner.web.common.plan_fields.existing import EXISTING_ROWS
from planner.web.common.plan_fields.field import Field
from planner.web.common.plan_fields.field import describe_field as _f
from planner.web.common.plan_fields.finance import (
    FINANCE,
    FINANCING,
    SERVER_RISKS,
    SERVER_TERMS,
    YEAR_BUDGET,
)
from planner.web.common.plan_fields.in_text import label_names, name_dates
from planner.web.common.plan_fields.limits import LIMITS, QUOTA, SITE
from planner.web.common.plan_fields.owning import OWNING
from planner.web.common.plan_fields.sized_work import MEASURED, SAMPLES, TRAINING
from planner.web.common.query_codec import SCALES, to_pattern
from pricing.common.bounded import number_problem, read_decimal
from pricing.market.accelerators import get

PLAN = (
    _f("name", "Name of this plan", kind="text", typical="Fine-tuning 2027"),
    _f(
        "start",
        "First month",
        kind="month",
        typical="2027-01",
        help="Month in which the plan begins.",
    ),
    _f("horizon_months", "Horizon", unit="months", typical="36", help="1 to 120 months."),
    _f("currency", "Currency", kind="choice", choices="currencies"),
)

HOURS = (
    _f("workload.hours_per_month", "Accelerator-hours per month", term="accelerator-hour",
       kind="numbers", unit="h",
       typical="5840", help="One number for every month, or one per month: paste a column."),
    _f("workload.peak_accelerators", "Peak accelerators", term="peak", kind="numbers",
       typical="hours ÷ 730",
       help="Most accelerators needed at the same time: one number, or one per month."),
)  # fmt: skip

WORK = (
    _f("workload.accelerator", "Accelerator", kind="choice", choices="accelerators",
       help="For known hours: the accelerator they were measured on. For a model: leave it open "
            "to consider every accelerator that fits."),
    _f("workload.experiments_factor", "Experiments factor", typical="1.0", unit="×",
       help="Hours of all attempts, including failed ones, over those of the final runs."),
    _f("workload.sweep.trials", "Trials of a sweep", typical="none",
       help="Runs of a search over hyperparameters before each final run."),
    _f("workload.sweep.share", "Length of a trial", unit="%", scale="pct", typical="10",
       help="Part of the final run's hours that one trial takes on average."),
    _f("workload.accelerators_per_job", "Accelerators of one job",
       typical="from the model",
       help="Most that one job uses at the same time; 1 for known hours where it is left empty. "
            "It runs on machines that hold all of them, or eight."),
    _f("workload.interruptible", "Can the work be interrupted?", term="spot", kind="choice",
       choices="interruptible",
       help="Spot is recommended only for work that survives losing its machines at any time."),
)  # fmt: skip

RUN = (
    _f("workload.runs.*.start", "Start", kind="month", typical="2027-03"),
    _f("workload.runs.*.deadline", "Deadline", kind="month", typical="2027-05"),
    _f("workload.runs.*.count", "Runs", typical="1",
       help="Of this kind, in these months. Each takes machines of its own."),
)  # fmt: skip

RULES = (
    _f("workload.software", "Software", kind="choice", choices="software",
       help="What your code runs on. If empty it is CUDA, unless you name accelerators that run "
            "something else."),
    _f("constraints.allow_partial_nodes", "Machines by the hour", kind="choice",
       choices="partial_nodes",
       help="Providers rent machines whole, however few of their accelerators you use."),
    _f("constraints.allow_any_node", "Machines of one job", kind="choice", choices="any_node",
       help="A job on several machines needs a network between them."),
    _f("term_end", "Commitments that outlast the plan", term="commitment", kind="choice",
       choices="term_ends",
       help="If empty, every payment counts, and a plan for less than a year takes no commitment "
            "beyond its end."),
    _f("constraints.place_order", "Order of equal prices", typical="2",
       help="2 takes the nearest, then the largest region; 1 the first by name."),
    _f("constraints.near_country", "Country of the team", kind="text", typical="DE",
       help="Among equal prices the nearest place is taken."),
    _f("rules", "Edition of these rules", kind="choice", choices="rules",
       help="If empty, the current ones. The first edition rules nothing out; it gives plans made "
            "before these rules the figures they had."),
    _f("constraints.partitions", "Parts of the clouds", kind="choices", choices="partitions",
       help="If empty, only commercial regions: others need separate contracts."),
)  # fmt: skip

SERVER = (
    _f("on_prem.servers.*.server", "Server", kind="choice", choices="servers"),
    _f("on_prem.servers.*.unit_price", "Unit price", unit="money", typical="reference price"),
    _f("on_prem.servers.*.max_units", "At most", typical="any"),
    _f("on_prem.servers.*.accelerator", "Accelerator (own server)", kind="text", typical="H100"),
    _f("on_prem.servers.*.accelerator_count", "Accelerators in it", typical="8"),
    _f("on_prem.servers.*.power_kw", "Power at load", unit="kW", typical="10.2"),
    _f("on_prem.servers.*.typical_power_kw", "Average power at work", unit="kW",
       typical="as measured"),
    _f("on_prem.servers.*.running_cost_per_hour", "All-in running cost", unit="per hour",
       help="Replaces power, colocation, support and staff."),
    _f("on_prem.servers.*.rack_units", "Height", unit="rack units", typical="8"),
    _f("on_prem.servers.*.site", "Site", kind="text", typical="any with room"),
    *SERVER_TERMS,
)  # fmt: skip

OWNED = (
    _f("on_prem.already_owned.*.server", "Server you own", kind="choice", choices="servers"),
    _f("on_prem.already_owned.*.units", "Units", typical="1"),
    _f("on_prem.already_owned.*.bought", "Bought", kind="month", typical="2025-06"),
    _f("on_prem.already_owned.*.site", "Site", kind="text", typical="the only one"),
)

CUSTOM_OFFER = (
    _f("custom_offers.*.label", "Name", kind="text", typical="Private offer"),
    _f("custom_offers.*.accelerator", "Accelerator", kind="text", typical="H100"),
    _f("custom_offers.*.accelerator_count", "Accelerators", typical="8"),
    _f("custom_offers.*.purchase_option", "Option", kind="choice", choices="purchase_options"),
    _f("custom_offers.*.usd_per_hour", "Price", unit="USD/h", typical="55.04"),
    _f("custom_offers.*.upfront_usd", "Upfront", unit="USD", typical="0"),
    _f("custom_offers.*.term_months", "Term", unit="months", typical="12"),
)

ADJUSTMENT = (
    _f("price_adjustments.*.provider", "Provider", kind="choice", choices="providers"),
    _f("price_adjustments.*.family", "Family", kind="text", typical="p5"),
    _f("price_adjustments.*.region", "Region", kind="text", typical="any"),
    _f("price_adjustments.*.purchase_option", "Option", kind="choice", choices="purchase_options"),
    _f("price_adjustments.*.multiplier", "Multiplier", unit="×", typical="0.85"),
)

OTHER_COST = (
    _f("other_costs.*.label", "Name", kind="text", typical="Engineers who move the data"),
    _f("other_costs.*.amount", "Once", unit="money", typical="0"),
    _f("other_costs.*.days", "Days", unit="days", typical="0"),
    _f("other_costs.*.per_day", "A day", unit="money", typical="0"),
    _f("other_costs.*.per_month", "Every month", unit="money/month", typical="0"),
    _f("other_costs.*.per_accelerator_hour", "By the accelerator-hour", unit="money/h",
       typical="0"),
    _f("other_costs.*.month", "From month", typical="0"),
    _f("other_costs.*.scenarios", "Scenarios", kind="choices", choices="scenarios"),
)  # fmt: skip

PRICES = (
    _f("use_catalog", "Catalog prices", kind="choice", choices="use_catalog"),
    _f("inherits", "The team's prices and defaults", kind="choice", choices="inherits"),
)

RISK = (
    _f("risk.samples", "Monte Carlo samples", typical="2,000",
       help="100 to 1,000,000."),
    _f("risk.seed", "Seed", typical="1", help="The same seed gives the same outcomes."),
    _f("risk.demand_growth_sd", "Demand spread", unit="%", scale="pct", default="demand_growth_sd"),
    _f("risk.price_sd", "Price spread", unit="%", scale="pct", default="price_sd"),
    _f("risk.spot_interruptions_per_month", "Spot interruptions", unit="per month",
       default="spot_interruptions_per_month"),
    _f("risk.slip_months_sd", "Delay spread", unit="months", default="slip_months_sd"),
    _f("risk.spot_goodput", "Useful spot hours", term="goodput", unit="%", scale="pct",
       default="spot_goodput"),
    _f("risk.checkpoint_save_hours", "Checkpoint write time", unit="h",
       default="checkpoint_save_hours"),
    _f("risk.restart_hours", "Restart after an interruption", unit="h", default="restart_hours"),
    _f("risk.cvar_weight", "Weight of the worst 10% (CVaR)", typical="none",
       help="Also finds the plan that holds up across simulated outcomes; 1 weighs the worst "
            "10% as much as the mean."),
    _f("risk.residual_sd", "Resale value spread", unit="%", scale="pct", typical="25"),
)  # fmt: skip

ROWS: dict[str, tuple[Field, ...]] = {
    "workload.runs": RUN,
    "constraints.quotas": QUOTA,
    "constraints.capex_by_fiscal_year": YEAR_BUDGET,
    "constraints.sites": SITE,
    "data.prices": DATA_PRICE,
    "on_prem.servers": SERVER,
    "on_prem.already_owned": OWNED,
    **EXISTING_ROWS,
    "custom_offers": CUSTOM_OFFER,
    "price_adjustments": ADJUSTMENT,
    "other_costs": OTHER_COST,
}
MORE_BOXES: dict[str, tuple[str, tuple[Field, ...]]] = {
    "on_prem.servers": ("quotes and late delivery", SERVER_RISKS),
}
"""Of a repeated group: what more boxes its rows may have, in words, and these."""
SINGLE = (
    *(*PLAN, *TRAINING, *MEASURED, *SAMPLES, *HOURS, *WORK, *LIMITS, *RULES),
    *(*OWNING, *FINANCING, *FINANCE, *DATA, *PRICES, *RISK),
)
ALL = (
    *SINGLE,
    *(field for fields in ROWS.values() for field in fields),
    *(field for _, fields in MORE_BOXES.values() for field in fields),
)

FIELD_TYPES: dict[str, str] = {
    **request_field_types(),
    **{field.path: field.kind for field in ALL},
    "use_catalog": "flag",
    "inherits": "flag",
    "workload.interruptible": "flag",
    "constraints.allow_partial_nodes": "flag",
    "constraints.allow_any_node": "flag",
    "rules": "number",
}
"""Kind of value by path, for `planner.web.common.query_codec.read`: the form's own, else the
    request's."""


_FIELDS = {to_pattern(field.path): field for field in reversed(ALL)}
_UNKNOWN, _MOST_SHOWN = "is not a known field", 60
_SLUG = re.compile(r"(?<![\w'\"“./:-])(?:amd|aws|google|intel|nvidia)-[a-z0-9-]*[a-z0-9]")
_LABELS = {field.path.rpartition(".")[2]: field.label for field in reversed(SINGLE)}
_BOUND = re.compile(r"(\S+) is not allowed; must be (more than|at least|less than|at most) (\S+)")


def find_field(path: str) -> Field | None:
    """The field of the form that stands for a path of the request; None where there is none."""
    pattern = to_pattern(path)
    return _FIELDS.get(pattern) or _FIELDS.get(pattern.removesuffix(".*"))


def find_label(path: str) -> str:
    """The form's label of a field of the request; the field's name in words where it has none.

    >>> find_label("horizon_months"), find_label("workload.runs.0.start")
    ('Horizon', 'Start')
    >>> find_label("server.idle_power_kw")
    'server › idle power kw'
    """
    field = find_field(path)
    return field.label if field else path.replace(".", " › ").replace("_", " ")


def in_field_unit(path: str, message: str) -> str:
    """A refusal of the core as the box of its field is read: `140%` for a share of 1.4, and other
    fields by their labels.

    >>> in_field_unit("constraints.max_spot_share", "1.4 is not allowed; must be at most 1")
    '140% is not allowed; must be at most 100%'
    >>> in_field_unit("horizon_months", "200 is not allowed; must be at most 120")
    '200 is not allowed; must be at most 120'
    >>> in_field_unit("horizon_month", "is not a known field; did you mean horizon_months?")
    'the address gives “horizon_month”, which names no question; did you mean “Horizon”?'
    >>> in_field_unit("accelerator", "does not fit; a shorter sequence_length would")
    'does not fit; a shorter “Sequence length” would'
    """
    if message.startswith(_UNKNOWN):
        return _explain_unknown(path)
    field, bound = find_field(path), _BOUND.fullmatch(message)
    if field is None or bound is None or not field.scale:
        return _label_fields(message)
    value, words, limit = bound.groups()
    if number_problem(value) or number_problem(limit):
        return message
    shown = [_in_unit(read_decimal(text), field) for text in (value, limit)]
    return f"{shown[0]} is not allowed; must be {words} {shown[1]}"


def with_labels(text: str) -> str:
    """A sentence of the core with the fields that it names as the form labels them, accelerators
    by their names, and days and months in words.

    >>> with_labels('give it as on_prem.pue (term_end "full").')
    'give it as “PUE” (“Commitments that outlast the plan” set to “Every payment counts”).'
    """
    return name_dates(_label_fields(text))


def _label_fields(text: str) -> str:
    return _SLUG.sub(_name_of, label_names(text, _label_of, _words_of))


def _name_of(slug: re.Match[str]) -> str:
    try:
        return get(slug[0]).name
    except KeyError:
        return slug[0]


def _label_of(name: str) -> str:
    field = _FIELDS.get(name)
    return field.label if field else _LABELS.get(name, "")


def _words_of(name: str, value: str) -> str:
    field = _FIELDS.get(name)
    return dict(list_choices(field.choices)).get(value, value) if field else value


def _explain_unknown(path: str) -> str:
    """That the address has a name which nothing is called, and the question that is nearest."""
    typed = path if len(path) <= _MOST_SHOWN else f"{path[:_MOST_SHOWN]}…"
    named = _LABELS | {field.label.lower(): field.label for field in SINGLE}
    last = path[-_MOST_SHOWN:].rpartition(".")[2].lower()
    near = get_close_matches(last, named, n=1)
    hint = f"did you mean “{named[near[0]]}”?" if near else "take it out of the address"
    return f"the address gives “{typed}”, which names no question; {hint}"


def value_in_box(path: str, text: str) -> str:
    """A value of a request as its box shows it, with the unit.

    >>> value_in_box("workload.tokens", "140000000000"), value_in_box("horizon_months", "36")
    ('140 billion', '36')
    """
    field = find_field(path)
    if field is None or not field.scale or number_problem(text):
        return text
    return _in_unit(read_decimal(text), field)


def _in_unit(value: Decimal, field: Field) -> str:
    digits = f"{(value / SCALES[field.scale]).normalize():f}"
    return f"{digits}%" if field.scale == "pct" else f"{digits} {field.unit}".strip()

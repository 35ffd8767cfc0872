"""One field of the plan form: where it stands in the request, its label, unit and help."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches

from planner.contract.amounts import name_day, name_month
from planner.web.common.choices import list_choices
from planner.web.common.query_codec import SCALE_WORDS, SCALES, request_field_types, to_pattern
from pricing.common.bounded import number_problem, read_decimal
from pricing.market.accelerators import get


@dataclass(frozen=True)
class Field:
    """One field of the form. `unit` stands behind the box, `typical` inside it while empty."""

    path: str
    label: str
    kind: str = "number"
    """text, number, numbers, words, choices, choice, month, flag."""
    unit: str = ""
    typical: str = ""
    help: str = ""
    choices: str = ""
    """Name of the list of choices in `planner.web.common.choices`."""
    scale: str = ""
    """Suffix of the name in the address: pct, bn, …; see `planner.web.common.query_codec`."""
    default: str = ""
    """Field of the core's defaults, whose value and source are shown."""
    term: str = ""
    """Entry of the glossary that explains the label."""

    @property
    def name(self) -> str:
        return f"{self.path}~{self.scale}" if self.scale else self.path

    def unit_as(self, name: str) -> str:
        scale = name.partition("~")[2]
        if scale == self.scale:
            return self.unit
        if not scale:
            return "as a fraction" if self.scale == "pct" else ""
        words = SCALE_WORDS.get(scale, "")
        if self.scale:
            return self.unit.replace(SCALE_WORDS[self.scale], words, 1)
        return f"{words} {self.unit}".strip()


def _f(path: str, label: str, **more: str) -> Field:
    return Field(path, label, **more)


MODEL = (
    _f("workload.model", "Well-known model", kind="text", typical="Llama-3.1-8B",
       help="A name fills in parameters, layers and experts; your own values take precedence."),
    _f("workload.parameters", "Model parameters", unit="billion", scale="bn", typical="7",
       help="Total parameters of the model; 7 for a 7B model."),
    _f("workload.active_parameters", "Active parameters", unit="billion", scale="bn",
       help="Mixture-of-experts models only: parameters active per token."),
    _f("workload.precision", "Precision", kind="choice", choices="precisions"),
)  # fmt: skip

TRAINING = (
    _f("workload.tokens", "Training tokens", unit="billion", scale="bn", typical="140",
       help="Tokens of one run, epochs included. About 20 per parameter to pre-train; "
            "0.01 to 1 billion to fine-tune."),
    _f("workload.optimizer", "Training method", kind="choice", choices="optimizers"),
    _f("workload.sequence_length", "Sequence length", unit="tokens", typical="4096"),
    _f("workload.code", "Trainer", kind="choice", choices="tunings",
       help="If empty: what the median team has, with the spread of teams in the range."),
)  # fmt: skip

MEASURED = (
    _f("workload.global_batch_tokens", "Global batch", unit="tokens", typical="usual for the work",
       help="Tokens of one optimizer step."),
    _f("workload.mfu", "Model FLOP utilisation (MFU)", term="MFU", unit="%", scale="pct",
       typical="from similar runs",
       help="Leave empty unless you measured it. Above 65% is suspect."),
    _f("workload.tokens_per_second_per_accelerator", "Measured rate", unit="tokens/s",
       help="Of one accelerator of the chosen type, from a run of some 15 minutes: it replaces the "
            "estimate and narrows its range."),
    _f("workload.rollouts.response_tokens", "Reinforcement learning: tokens of an answer",
       typical="no reinforcement learning", unit="tokens",
       help="For training on answers that the model writes itself, on average; the training "
            "tokens are then those of prompts and answers."),
    _f("workload.rollouts.per_step", "Answers of one step", typical="1024",
       help="Of all prompts of a step together."),
    _f("workload.goodput", "Goodput", term="goodput",
       unit="%", scale="pct", typical="from failure rates",
       help="Share of the time that makes progress."),
)  # fmt: skip

SAMPLES = (
    _f("workload.samples", "Samples of one epoch", unit="million", scale="mn", typical="1.28"),
    _f("workload.epochs", "Epochs", typical="90"),
    _f("workload.benchmark", "Benchmark", kind="choice", choices="benchmarks",
       help="A measured workload similar to yours."),
    _f("workload.samples_per_second", "Measured rate", unit="samples/s",
       help="Of one accelerator of the chosen type; replaces the benchmark."),
    _f("workload.forward_gflops_per_sample", "Work of one sample", unit="GFLOP", typical="8.2",
       help="Forward pass of the model, two operations for each multiply-add, where no benchmark "
            "is like yours; 8.2 for ResNet-50."),
    _f("workload.loader", "How images are read", kind="choice", choices="loaders",
       help="Used with the work of one sample. If empty: what teams have, with their spread."),
    _f("workload.code", "How well tuned the code is", kind="choice", choices="sample_tunings",
       help="Used with the work of one sample. A first version is the code of one paper."),
)  # fmt: skip

SERVING = (
    _f("workload.requests_per_second", "Requests in the mean", unit="a second", typical="2"),
    _f("workload.peak_requests_per_second", "Requests at the busiest", unit="a second",
       typical="as in the mean"),
    _f("workload.prompt_tokens", "Prompt", unit="tokens", typical="500"),
    _f("workload.answer_tokens", "Answer", unit="tokens", typical="250"),
    _f("workload.first_token_seconds", "First token within", unit="s", typical="4"),
    _f("workload.token_seconds", "Each token within", unit="s", typical="0.1",
       help="People read a token in about 0.2 s."),
    _f("workload.engine", "Engine", kind="choice", choices="serving_engines",
       help="Engines as installed may take three times the accelerators of tuned ones. If empty: "
            "between the two, with both in the range."),
    _f("workload.spare", "Spare capacity", unit="%", scale="pct", typical="10",
       help="Beside the busiest rate."),
)  # fmt: skip


LIMITS = (
    _f("constraints.providers", "Providers", kind="choices", choices="providers"),
    _f("constraints.geographies", "Geographies", kind="choices", choices="geographies"),
    _f("constraints.countries", "Countries", kind="words", typical="DE, FR",
       help="Two-letter codes; empty means every country. Within the geographies chosen."),
    _f("constraints.regions", "Regions", kind="words", typical="us-east-1, westeurope",
       help="Within the geographies and countries chosen."),
    _f("constraints.accelerators", "Only these accelerators", kind="words",
       typical="H100, nvidia-h200-141gb-sxm", help="Names or slugs; empty means any that fits."),
    _f("constraints.purchase_options", "Purchase options", term="commitment", kind="choices",
       choices="purchase_options"),
    _f("constraints.min_accelerator_memory_gib", "Minimum accelerator memory", unit="GiB",
       typical="80"),
    _f("constraints.min_accelerators_per_node", "Minimum accelerators per machine", typical="8"),
    _f("constraints.max_spot_share", "Maximum spot share", term="spot",
       unit="%", scale="pct", typical="100"),
    _f("constraints.undated_price_margin", "Undated prices must be lower by",
       unit="%", scale="pct", typical="5",
       help="A price of unknown age is used only where no dated one is about as low."),
    _f("constraints.max_term_months", "Longest commitment", term="commitment", unit="months",
       typical="any", help="No longer commitment is signed."),
    _f("constraints.max_provider_share", "Largest share of one provider", unit="% of the work",
       scale="pct", typical="100",
       help="Of each month's work. Own servers do not count as a provider."),
    _f("constraints.min_providers", "Minimum number of providers", typical="1",
       help="Side by side in every month; own servers count as one."),
    _f("constraints.min_provider_share", "Least work for a provider to count", unit="% of the work",
       scale="pct", typical="half of an equal share"),
    _f("constraints.power_kw", "Power for own servers", unit="kW", typical="any",
       help="Nameplate power of all servers in service, without cooling."),
    _f("constraints.rack_units", "Rack units for own servers", unit="rack units", typical="any",
       help="All in service; a rack has about 42."),
    _f("constraints.capex_budget", "Capital budget", term="capex",
       unit="money", typical="1000000",
       help="All purchases over the horizon."),
    _f("constraints.monthly_budget", "Monthly budget", unit="money", typical="250000"),
    _f("constraints.total_budget", "Total budget", unit="money", typical="5000000",
       help="All payments of the plan, including those owed after the horizon."),
)  # fmt: skip

QUOTA = (
    _f("constraints.quotas.*.provider", "Provider", kind="choice", choices="providers"),
    _f("constraints.quotas.*.region", "Region", kind="text", typical="any"),
    _f("constraints.quotas.*.accelerator", "Accelerator", kind="text", typical="H100"),
    _f("constraints.quotas.*.max_accelerators", "At most", typical="64"),
)


OWNING = (
    _f("on_prem.electricity_per_kwh", "Electricity", unit="money/kWh",
       default="electricity_per_kwh"),
    _f("on_prem.pue", "PUE", term="PUE", default="pue",
       help="Power of the building over power of the machines."),
    _f("on_prem.colocation_per_kw_month", "Colocation", unit="money/kW/month",
       default="colocation_per_kw_month"),
    _f("on_prem.support_rate_per_year", "Support", unit="% of price a year", scale="pct",
       default="support_rate_per_year"),
    _f("on_prem.network_storage_rate", "Network and storage", unit="% of price", scale="pct",
       default="network_storage_rate"),
    _f("on_prem.install_cost_rate", "Installation", unit="% of price", scale="pct",
       default="install_cost_rate"),
    _f("on_prem.staff_fte_per_server", "Staff", unit="FTE per server",
       default="staff_fte_per_server"),
    _f("on_prem.staff_cost_per_year", "Cost of one FTE", unit="money/year",
       default="staff_cost_per_year"),
    _f("on_prem.spare_rate", "Spares", unit="% of price", scale="pct", default="spare_rate"),
    _f("on_prem.insurance_rate_per_year", "Insurance", unit="% of price a year", scale="pct",
       default="insurance_rate_per_year"),
    _f("on_prem.useful_life_months", "Useful life", unit="months", default="useful_life_months"),
    _f("on_prem.residual_rate", "Residual value kept per year", term="residual value",
       unit="%", scale="pct",
       default="residual_rate"),
    _f("choice.hurdle_share", "Saving required of a purchase or contract", unit="% of it",
       scale="pct", default="hurdle_share", help="In expectation, against the best plan without."),
    _f("choice.hurdle_chance", "Cases in which it is cheaper", unit="%", scale="pct",
       default="hurdle_chance"),
    _f("choice.effort_cost", "Least saving of anything further", unit="money",
       default="effort_cost"),
    _f("choice.simplicity_share", "Saving required of a further machine or place",
       unit="% of the plan", scale="pct", default="simplicity_share"),
    _f("choice.certainty", "Cases in which a total budget is kept", unit="%", scale="pct",
       default="certainty"),
    _f("on_prem.resale_cost_rate", "Cost of a resale", unit="% of the sale", scale="pct",
       default="resale_cost_rate"),
    _f("on_prem.lead_time_months", "Lead time", term="lead time",
       unit="months", default="lead_time_months"),
    _f("on_prem.workstation_lead_time_months", "Lead time of workstations", term="lead time",
       unit="months", default="workstation_lead_time_months"),
    _f("on_prem.late_delivery_probability", "Chance that servers arrive late", unit="%",
       scale="pct", default="late_delivery_probability"),
    _f("on_prem.late_delivery_months", "Then late by", unit="months",
       default="late_delivery_months"),
    _f("on_prem.server_price_spread", "Spread of server prices", unit="% either side",
       scale="pct", default="server_price_spread",
       help="Of reference servers with fewer than two dated quotes; 0 takes all as firm."),
    _f("on_prem.utilisation_ceiling", "Maximum utilisation of owned servers", term="utilisation",
       unit="%", scale="pct",
       default="utilisation_ceiling"),
)  # fmt: skip


FINANCE = (
    _f("finance.discount_rate_per_year", "Discount rate", term="present value",
       unit="% a year", scale="pct",
       default="discount_rate_per_year"),
    _f("finance.cloud_price_trend_per_year", "Cloud price trend", unit="% a year", scale="pct",
       default="cloud_price_trend_per_year"),
    _f("finance.electricity_trend_per_year", "Electricity trend", unit="% a year", scale="pct",
       default="electricity_trend_per_year"),
    _f("finance.staff_cost_trend_per_year", "Wage trend", unit="% a year", scale="pct",
       default="staff_cost_trend_per_year"),
    _f("finance.colocation_trend_per_year", "Colocation trend", unit="% a year", scale="pct",
       default="colocation_trend_per_year"),
    _f("finance.support_trend_per_year", "Trend of hardware support", unit="% a year",
       scale="pct", default="support_trend_per_year"),
    _f("finance.server_price_trend_per_year", "Server price trend", unit="% a year",
       scale="pct", default="server_price_trend_per_year"),
    _f("finance.cloud_support_rate", "Support plan of the clouds", unit="% of the bill",
       scale="pct", default="cloud_support_rate",
       help="Share of the bill for rented machines. Or name a plan beside it."),
    _f("finance.cloud_support_plan", "Named support plan", kind="choice",
       choices="cloud_support_plans",
       help="Its published bands, at the bill of all hours on demand."),
    _f("finance.cloud_staff_fte_per_accelerator", "Staff for rented machines",
       unit="FTE per accelerator", default="cloud_staff_fte_per_accelerator"),
    _f("finance.depreciation", "Depreciation", kind="choice", choices="depreciations"),
    _f("finance.tax_rate", "Tax rate", unit="%", scale="pct", default="tax_rate"),
    _f("finance.upfront_deduction_spread", "Upfront payments deducted over their term",
       unit="%", scale="pct", default="upfront_deduction_spread"),
    _f("finance.cash_timing", "Bills are paid", kind="choice", choices="cash_timings",
       help="For present values and the cash of fiscal years."),
    _f("finance.payment_terms_days", "Payment terms", unit="days", typical="0"),
    _f("finance.fiscal_year_start_month", "Fiscal years begin in month", typical="1",
       help="1 is January; a year is named after the calendar year in which it ends."),
)  # fmt: skip

FINANCING = (
    _f("on_prem.financing.method", "Servers are paid by", kind="choice", choices="financing"),
    _f("on_prem.financing.months", "Over", unit="months", typical="36"),
    _f("on_prem.financing.interest_rate_per_year", "Interest", unit="% a year", scale="pct",
       default="interest_rate_per_year"),
    _f("on_prem.financing.deposit_rate", "Deposit", unit="% of price", scale="pct", typical="0"),
    _f("on_prem.financing.balloon_rate", "Left at the end", unit="% of price", scale="pct",
       typical="0", help="Paid last by a loan or hire purchase, kept by a lessor."),
    _f("on_prem.financing.payments", "Instalments fall due", kind="choice",
       choices="instalments"),
)  # fmt: skip


COMMITMENT = (
    _f("existing.commitments.*.label", "Name", kind="text", typical="Reservation of 2026"),
    _f("existing.commitments.*.provider", "Provider", kind="choice", choices="providers"),
    _f("existing.commitments.*.region", "Region", kind="text", typical="any"),
    _f("existing.commitments.*.accelerator", "Accelerator", kind="text", typical="H100"),
    _f("existing.commitments.*.accelerator_count", "Accelerators of a machine", typical="8"),
    _f("existing.commitments.*.units", "Machines", typical="1"),
    _f("existing.commitments.*.price_per_month", "Charge for a machine", unit="money/month",
       help="What was paid upfront is spent: leave it out."),
    _f("existing.commitments.*.ends", "Last month", kind="month", typical="2028-06"),
)  # fmt: skip

LEASED = (
    _f("existing.leased_servers.*.server", "Server on lease", kind="choice", choices="servers"),
    _f("existing.leased_servers.*.units", "Units", typical="1"),
    _f("existing.leased_servers.*.rent_per_month", "Rent of one", unit="money/month"),
    _f("existing.leased_servers.*.ends", "Last month", kind="month", typical="2028-06"),
)

CREDIT = (
    _f("existing.credits.*.label", "Name", kind="text", typical="Startup credits"),
    _f("existing.credits.*.amount", "Left", unit="money"),
    _f("existing.credits.*.provider", "Provider", kind="choice", choices="providers"),
    _f("existing.credits.*.expires", "Last month", kind="month", typical="2027-12"),
)

MINIMUM_SPEND = (
    _f("existing.minimum_spend.*.label", "Name", kind="text", typical="EDP, year 2"),
    _f("existing.minimum_spend.*.provider", "Provider", kind="choice", choices="providers"),
    _f("existing.minimum_spend.*.amount", "To spend", unit="money"),
    _f("existing.minimum_spend.*.first", "First month", kind="month", typical="2027-01"),
    _f("existing.minimum_spend.*.last", "Last month", kind="month", typical="2027-12"),
    _f("existing.minimum_spend.*.spent", "Spent before the plan", unit="money", typical="0"),
)  # fmt: skip

DATA = (
    _f("data.storage_gib", "Data kept", unit="GiB", typical="0"),
    _f("data.egress_gib_per_month", "Egress", unit="GiB/month", typical="0"),
    _f("data.checkpoint_gib", "Size of a checkpoint", unit="GiB", typical="from the model"),
    _f("data.storage_per_gib_month", "Cloud storage costs", unit="money/GiB/month",
       typical="price lists"),
    _f("data.egress_per_gib", "Egress costs", unit="money/GiB", typical="price lists"),
    _f("data.on_prem_storage_per_tib_month", "Storage of your own costs", unit="money/TiB/month",
       default="on_prem_storage_per_tib_month"),
    _f("data.home.provider", "The data lives at", kind="choice", choices="data_homes",
       help="Work done elsewhere pays for moving it. If empty, it is kept where the work is."),
    _f("data.home.region", "In the region", kind="text", typical="us-east-1"),
    _f("data.transfer_gib_per_month", "Moved to work elsewhere", unit="GiB/month",
       typical="all of it"),
)  # fmt: skip


GROUP_TITLES = {
    "workload.runs": "Runs",
    "constraints.quotas": "Quotas",
    "on_prem.servers": "Servers to consider",
    "on_prem.already_owned": "Servers you already own",
    "existing.commitments": "Commitments already signed",
    "custom_offers": "Private offers",
    "price_adjustments": "Contract discounts",
}
"""Groups of rows that sentences name, by the field of the request."""
_NO_BOX = {
    "chunked_loss": "a loss computed in chunks",
    "on_prem.g_co2e_per_kwh": "grams of CO2e per kWh through the API",
}
"""Fields that sentences name and the form does not have, in words."""
_PARTS = "constraints|data|existing|finance|on_prem|risk|workload"
_NAME = re.compile(
    rf"(?<![\w'\"“./])((?:{_PARTS})\.[a-z]\w*|[a-z]+(?:_[a-z0-9]+)+)"
    r"(?: \"(\w+)\")?(?![\w'\"”/]|\.\w)"
)
_MONTH = re.compile(r"(?<![\w.:/-])\d{4}-(?:0[1-9]|1[0-2])(?![\w/-]|:\S)")
"""A month as requests write it, which is no part of a day, a span or a name."""
_DAY = re.compile(r"(?<![\w.:/-])\d{4}-\d{2}-\d{2}(?![\w/-]|:\S)")


def _label_name(named: re.Match[str]) -> str:
    """The label of a field that has one, and the words of what it is set to."""
    name, value = named.groups()
    if name in _NO_BOX:
        return _NO_BOX[name]
    field = _FIELDS.get(name)
    title = GROUP_TITLES.get(name) or (field.label if field else _LABELS.get(name, ""))
    if not title:
        return named[0]
    if not value:
        return f"“{title}”"
    choices = dict(list_choices(field.choices)) if field else {}
    return f"“{title}” set to “{choices.get(value, value)}”"


def name_dates(text: str) -> str:
    return _MONTH.sub(lambda month: name_month(month[0]), _DAY.sub(_name_day, text))


def _name_day(written: re.Match[str]) -> str:
    try:
        return name_day(dt.date.fromisoformat(written[0]))
    except ValueError:
        return written[0]


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
       help="How many of this kind. The plan has machines for all of them at once."),
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
)  # fmt: skip

OWNED = (
    _f("on_prem.already_owned.*.server", "Server you own", kind="choice", choices="servers"),
    _f("on_prem.already_owned.*.units", "Units", typical="1"),
    _f("on_prem.already_owned.*.bought", "Bought", kind="month", typical="2025-06"),
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
    _f("risk.hours_spread", "Spread of stated hours", unit="%", scale="pct",
       default="hours_spread"),
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
    _f("risk.residual_sd", "Resale value spread", unit="%", scale="pct", typical="25"),
)  # fmt: skip

ROWS: dict[str, tuple[Field, ...]] = {
    "workload.runs": RUN,
    "constraints.quotas": QUOTA,
    "on_prem.servers": SERVER,
    "on_prem.already_owned": OWNED,
    "existing.commitments": COMMITMENT,
    "existing.leased_servers": LEASED,
    "existing.credits": CREDIT,
    "existing.minimum_spend": MINIMUM_SPEND,
    "custom_offers": CUSTOM_OFFER,
    "price_adjustments": ADJUSTMENT,
    "other_costs": OTHER_COST,
}
SINGLE = (
    *(*PLAN, *TRAINING, *MEASURED, *SAMPLES, *HOURS, *WORK, *LIMITS, *RULES),
    *(*OWNING, *FINANCING, *FINANCE, *DATA, *PRICES, *RISK),
)
ALL = (*SINGLE, *(field for fields in ROWS.values() for field in fields))

FIELD_TYPES: dict[str, str] = {
    **request_field_types(),
    **{field.path: field.kind for field in ALL},
    "use_catalog": "flag",
    "inherits": "flag",
    "workload.interruptible": "flag",
    "constraints.allow_partial_nodes": "flag",
    "constraints.allow_any_node": "flag",
}
"""Kind of value by path, for `planner.web.common.query_codec.read`: the form's own, else the
    request's."""


_FIELDS = {to_pattern(field.path): field for field in reversed(ALL)}
_UNKNOWN, _MOST_SHOWN = "is not a known field", 60
_SLUG = re.compile(r"(?<![\w'\"“./:-])(?:amd|aws|google|intel|nvidia)-[a-z0-9-]*[a-z0-9]")
_LABELS = {field.path.rpartition(".")[2]: field.label for field in reversed(SINGLE)}
_BOUND = re.compile(r"(\S+) is not allowed; must be (more than|at least|less than|at most) (\S+)")


def find_field(path: str) -> Field | None:
    pattern = to_pattern(path)
    return _FIELDS.get(pattern) or _FIELDS.get(pattern.removesuffix(".*"))


def find_label(path: str) -> str:
    """The form's label of a field of the request; the field's name in words where it has none."""
    field = find_field(path)
    return field.label if field else path.replace(".", " › ").replace("_", " ")


def in_field_unit(path: str, message: str) -> str:
    """A refusal of the core as the box of its field is read: `140%` for a share of 1.4, and other
    fields by their labels.
    """
    if message.startswith(_UNKNOWN):
        typed = path if len(path) <= _MOST_SHOWN else f"{path[:_MOST_SHOWN]}…"
        named = _LABELS | {field.label.lower(): field.label for field in SINGLE}
        last = path[-_MOST_SHOWN:].rpartition(".")[2].lower()
        near = get_close_matches(last, named, n=1)
        hint = f"did you mean “{named[near[0]]}”?" if near else "take it out of the address"
        return f"the address gives “{typed}”, which names no question; {hint}"
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
    """
    return name_dates(_label_fields(text))


def _label_fields(text: str) -> str:
    return _SLUG.sub(_name_of, _NAME.sub(_label_name, text))


def _name_of(slug: re.Match[str]) -> str:
    try:
        return get(slug[0]).name
    except KeyError:
        return slug[0]


def _in_unit(value: Decimal, field: Field) -> str:
    digits = f"{(value / SCALES[field.scale]).normalize():f}"
    return f"{digits}%" if field.scale == "pct" else f"{digits} {field.unit}".strip()

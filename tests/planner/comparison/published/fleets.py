"""Published calculations of fleets, contracts and what is paid once."""

from collections.abc import Mapping

from tests.planner.comparison.published.asking import ask
from tests.planner.comparison.published.machines import Case, Outputs


def gpu_in_colocation(price: float, kw: float, rent_of_a_kw: float, *all_years: int) -> Case:
    """One GPU at 90 % of 8,760 h a year, nothing of it resold."""

    def outputs() -> Outputs:
        found = {}
        for years in all_years:
            server = {"unit_price": price, "power_kw": kw, "idle_power_kw": 0}
            own = ask(
                hours=0.9 * 730, months=12 * years, server=server,
                colocation_per_kw_month=rent_of_a_kw,
            ).scenario("on_prem")  # fmt: skip
            hourly = float(own["levelised_cost_per_accelerator_hour"])
            found[f"owned cost per GPU-hour {years} years"] = hourly
        return found

    return outputs


def b300(nodes: int, staff: float) -> Case:
    """Nodes of 8 B300 of 600,000 USD, fabric 12 %, spares 3 %, 15.504 kW at 180 USD."""

    def outputs() -> Outputs:
        server = {"unit_price": 600_000, "power_kw": 15.504, "idle_power_kw": 0}

        def asked(share: float) -> tuple[float, float, float]:
            found = ask(
                8 * 7.40, share * nodes * 730, 36, 8, server, peak=nodes,
                network_storage_rate=0.12, spare_rate=0.03, colocation_per_kw_month=180,
                other_costs=[{"label": "staff", "amount": staff, "scenarios": ["on_prem"]}],
            )  # fmt: skip
            hourly = found.scenario("on_prem")["levelised_cost_per_accelerator_hour"]
            return found.own, float(hourly), found.own / found.rent

        total, hourly, ratio = asked(1)
        return {
            "total owned cost": total,
            "owned cost per GPU-hour at full use": hourly,
            "owned cost per GPU-hour at 60 % use": asked(0.6)[1],
            "own / rent ratio at 7.40": ratio,
        }

    return outputs


def rented_b300(nodes: int) -> Case:
    def outputs() -> Outputs:
        return {
            f"rent 3 years at {price:.2f}": ask(8 * price, 730 * nodes, 36, 8).rent
            for price in (7.40, 7.94, 15.0)
        }

    return outputs


def duty_cycle() -> Outputs:
    """8 h on five days a week is 24 % of the hours of 32 GPUs."""
    return {"rented cost": ask(8 * 7.40, 0.24 * 4 * 730, 36, 8).rent}


def used_h100() -> Outputs:
    """200,000 USD over 36 months and 10.2 kW at 180 USD."""
    server = {"unit_price": 200_000, "power_kw": 10.2, "idle_power_kw": 0}

    def hourly(share: float) -> float:
        found = ask(
            hours=share * 730, months=36, count=8, server=server, colocation_per_kw_month=180
        )
        return float(found.scenario("on_prem")["levelised_cost_per_accelerator_hour"])

    return {"cost per GPU-hour at full use": hourly(1), "cost per GPU-hour at 90 %": hourly(0.9)}


def hardware_alone(price: float, rent: float, months: str, hours: str = "") -> Case:
    """A server of eight that costs nothing to run, in use around the clock."""

    def outputs() -> Outputs:
        server = {"unit_price": price, "running_cost_per_hour": 0}
        found = ask(8 * rent, 730, 24, 8, server)
        return {months: found.payback_months} | (
            {hours: found.hours_to_break_even} if hours else {}
        )

    return outputs


def hardware_and_colocation() -> Outputs:
    """285,000 USD and 1,836 USD a month against 25.60 USD an hour, in months of 720 h."""
    server = {"unit_price": 285_000, "power_kw": 10.2, "idle_power_kw": 0}
    found = ask(25.6, 720, 24, 8, server, colocation_per_kw_month=180)
    return {"break-even months": found.payback_months}


def h200_in_colocation() -> Outputs:
    """370,000 USD and 3,750 USD a month, the middle of 2,500 to 5,000."""
    server = {"unit_price": 370_000, "power_kw": 1, "idle_power_kw": 0}
    found = ask(months=36, server=server, colocation_per_kw_month=3750)
    hourly = found.scenario("on_prem")["levelised_cost_per_accelerator_hour"]
    return {"owned cost per hour 24/7": float(hourly)}


def spot_against_on_demand() -> Outputs:
    found = ask(8 * 17.802, 1, 1, 8).rent - ask(8 * 5.591, 1, 1, 8).rent
    return {"saving per node-hour": found}


def interruptions_that_spot_bears(against: float, output: str) -> Case:
    """13 minutes are lost to each interruption, at the price of spot. An interruption for each
    useful hour is 730 ÷ (1 + 13 / 60) = 600 in a month around the clock."""

    def outputs() -> Outputs:
        def spot(interruptions: float) -> float:
            lost = {
                "spot_goodput": 1, "checkpoint_save_hours": 0, "restart_hours": 13 / 60,
                "spot_interruptions_per_month": interruptions,
            }  # fmt: skip
            found = ask(8 * 5.591, 730, 1, 8, option="spot", risk={"samples": 100} | lost)
            return found.total("cloud")

        undisturbed = spot(0)
        each = spot(600) - undisturbed
        return {output: (ask(8 * against, 730, 1, 8).rent - undisturbed) / each}

    return outputs


RIG = [
    {"label": "electricity and internet", "amount": 960},
    {"label": "spare parts, insurance and software", "amount": 1_000},
    *({"label": "half a person", "amount": 12_000, "month": month} for month in range(1, 6)),
]
LATER = [
    {"label": "year 2", "amount": 2_000, "month": 12},
    {"label": "year 3", "amount": 4_000, "month": 24},
]


def mixed_rig() -> Outputs:
    """Parts of 33,100 USD (the document opens with 26,000), half a person in months 2 to 6."""
    server = {"unit_price": 33_100}
    first = ask(months=12, server=server, other_costs=RIG).own
    found = ask(months=36, server=server, other_costs=RIG + LATER)
    per_month = float(found.scenario("on_prem")["finance"]["cost_per_year"]) / 12
    return {"year 1 total": first, "3-year total": found.own, "cost per month": per_month}


def enterprise_support() -> Outputs:
    """Of a bill of 2 million USD in a month."""
    plan = {"cloud_support_plan": "aws_enterprise", "cloud_support_rate": None}
    return {"support charge": ask(2e6 / 730, finance=plan).sum_of("on_demand", "support")}


def loaded_dgx_b200() -> Outputs:
    besides = [
        {"label": "software", "amount": 142_800},
        {"label": "fabrics", "amount": 54_323 + 23_443 + 14_227},
        {"label": "services", "amount": 25_000},
    ]
    found = ask(server={"unit_price": 485_000}, other_costs=besides)
    return {"loaded cost per system": found.own}


def cluster(nodes: int, node: float, switches: int, cables: float) -> Case:
    """Nodes with 50,000 USD each for facility and operations, switches of 36,000 USD, cables."""

    def outputs() -> Outputs:
        besides = [
            {"label": "facility and operations", "amount": 50_000 * nodes},
            {"label": "switches", "amount": 36_000 * switches},
            {"label": "cables", "amount": cables},
        ]
        server = {"unit_price": node}
        found = ask(hours=730 * nodes, count=8, server=server, other_costs=besides)
        return {"cluster total": found.own}

    return outputs


def lease_liability(payments: tuple[float, ...], rate: float) -> float:
    """Payments at the end of each year at their worth at the start, as costs paid once."""
    each = [
        {"label": f"payment {n}", "amount": amount, "month": 12 * n}
        for n, amount in enumerate(payments, 1)
    ]
    found = ask(
        0.01, 1, 12 * len(payments) + 1, other_costs=each, finance={"discount_rate_per_year": rate}
    )
    plain = ask(0.01, 1, 12 * len(payments) + 1, finance={"discount_rate_per_year": rate})
    present = "net_present_cost"
    return float(found.scenario("on_demand")[present]) - float(plain.scenario("on_demand")[present])


def four_payments() -> Outputs:
    """1, 1, 1 and 0.8 million at 10 %; the source rounds its factors."""
    return {"lease liability": lease_liability((1e6, 1e6, 1e6, 8e5), 0.10) / 1e6}


def power_of_newer_nodes() -> Outputs:
    """10 nodes of 7.05 kW against 2.2 kW at 0.10 USD/kWh; cooling is not stated, 1.29 fits."""

    def power(kw: float) -> float:
        server = {"unit_price": 1, "power_kw": kw, "idle_power_kw": 0}
        found = ask(
            hours=10 * 730, months=36, server=server, electricity_per_kwh=0.10, pue=1.29
        )  # fmt: skip
        return found.sum_of("on_prem", "power")

    return {"3-year power saving": power(7.05) - power(2.2)}


def two_points_of_discount() -> Outputs:
    """On 5 million USD a year."""
    hourly = 5e6 / 8760
    saved = ask(hourly, 730, 36).rent - ask(0.98 * hourly, 730, 36).rent
    return {"value over 3 years": saved}


def gpus_on_a_loan() -> Outputs:
    """100 million USD of GPUs, 30 % paid, the rest over 36 months at 15 % a year; 18.3 % of the
    value a year to operate, a quarter of it lost each year."""
    loan = {"method": "loan", "months": 36, "deposit_rate": 0.3, "interest_rate_per_year": 0.15}
    found = ask(
        months=36, server={"unit_price": 100e6}, financing=loan, support_rate_per_year=0.183,
        residual_rate=0.75, resale_cost_rate=0,
    )  # fmt: skip
    paid = [
        float(line["amount"])
        for line in found.lines("on_prem", "loan", "interest")
        if line["month"] == 0 and float(line["amount"]) > 0
    ]
    return {
        "own net cost (cash out less end value)": found.own,
        "loan payment per month": sum(paid),
    }


def rent_of_3333_gpus() -> Outputs:
    return {"rent 3 years": ask(2.50 * 100e6 / 30_000, 730, 36).rent}


CASES: Mapping[str, Case] = {
    "gideon-a100-80gb-sxm": gpu_in_colocation(20_500, 0.8, 180, 3, 5),
    "gideon-h200-sxm": gpu_in_colocation(46_250, 1.275, 180, 3, 5),
    "gideon-b200": gpu_in_colocation(64_375, 1.788, 180, 3, 5),
    "gideon-rtx-pro-6000-se": gpu_in_colocation(17_500, 0.813, 180, 3, 5),
    "gideon-mi300x": gpu_in_colocation(20_000, 1.125, 180, 3, 5),
    "gideon-h100-sxm-colo250": gpu_in_colocation(35_625, 1.275, 250, 3),
    "gideon-gb300-nvl72-colo120": gpu_in_colocation(48_611, 1.875, 120, 3),
    "gideon-gb300-nvl72-colo250": gpu_in_colocation(48_611, 1.875, 250, 3),
    "b300-4nodes": b300(4, 780_000),
    "b300-16nodes": b300(16, 1_950_000),
    "b300-4nodes-rent": rented_b300(4),
    "b300-16nodes-rent": rented_b300(16),
    "pw-dutycycle": duty_cycle,
    "h100-used-node": used_h100,
    "gideon-be-h100-neo": hardware_alone(285_000, 3.20, "break-even months", "break-even hours"),
    "gideon-be-h100-neo-colo720": hardware_and_colocation,
    "reddit-h200": hardware_alone(370_000, 4.40, "break-even months"),
    "l40s-10mo": hardware_alone(50_000, 0.86, "break-even months at full load"),
    "conf-h200-colo": h200_in_colocation,
    "gideon-spot-od": spot_against_on_demand,
    "gideon-spot-be": interruptions_that_spot_bears(
        17.802, "break-even interruptions against on demand"
    ),
    "gideon-spot-be1y": interruptions_that_spot_bears(
        7.940, "break-even interruptions against 1 year"
    ),
    "paulplee-3y": mixed_rig,
    "aws-support-2m": enterprise_support,
    "cdw-b200-loaded": loaded_dgx_b200,
    "sheet-128": cluster(128, 310_000, 48, 2_621_440),
    "sheet-512-at-300k": cluster(512, 300_000, 192, 10_485_760),
    "ifrs16-4y": four_payments,
    "metrum-mi355x": power_of_newer_nodes,
    "openpages-edp": two_points_of_discount,
    "usdai-program": gpus_on_a_loan,
    "usdai-rent": rent_of_3333_gpus,
}

"""Published calculations of one machine, owned or rented."""

from collections.abc import Callable, Mapping

from tests.planner.comparison.published.asking import ask

Outputs = Mapping[str, float]
Case = Callable[[], Outputs]


def lenovo(rent: float) -> Case:
    """ThinkSystem SR675 V3 with 8 H100 NVL of 833,806 USD and 0.87 USD an hour, in months of
    720 h."""

    def outputs() -> Outputs:
        server = {"unit_price": 833_806, "running_cost_per_hour": 0.87}
        found = ask(rent, 720, 48, 8, server)
        months = found.payback_months
        return {"break-even hours": found.hours_to_break_even, "break-even months": months}

    return outputs


def a_year_of_p5() -> Outputs:
    return {"cloud cost per year": ask(98.32, 730, 12, 8).rent}


def a_month_of_p5() -> Outputs:
    """720 h."""
    return {"cloud cost per month": ask(98.32, 720, 1, 8).rent}


def llama_3_1_on_p5() -> Outputs:
    """39.3 million H100-hours, eight a machine."""
    return {"cloud cost": ask(98.32, 39.3e6 / 8, 1, 8).rent}


def electricity_of_an_hour() -> Outputs:
    """8 GPUs of 0.7 kW and 2 kW besides, PUE 1.4, 0.10 USD/kWh."""
    server = {"unit_price": 1, "power_kw": 7.6, "idle_power_kw": 0}
    found = ask(server=server, pue=1.4, electricity_per_kwh=0.10)
    return {"power cost per hour": found.sum_of("on_prem", "power") / 730}


def five_years_of_a_node() -> Outputs:
    """0.87 USD an hour of electricity, maintenance of 3,000 and then 5,000 a year, a quarter of
    200,000 USD, 8,000 a year of network and storage."""
    found = ask(
        hours=730, months=60,
        server={"unit_price": 250_000, "power_kw": 8.7, "idle_power_kw": 0},
        electricity_per_kwh=0.1, staff_fte_per_server=0.25, staff_cost_per_year=200_000,
        other_costs=[
            {"label": f"maintenance, year {year + 1}", "amount": 5000 if year else 3000,
             "month": 12 * year}
            for year in range(5)
        ] + [{"label": "network and storage", "per_month": "666.67"}],
    )  # fmt: skip
    return {"cumulative 5-year cost": found.own}


def macrs() -> Outputs:
    """What 250,000 USD take off the profit each year, at a tax rate of a half."""
    finance = {"tax_rate": 0.5, "depreciation": "macrs_5"}
    found = ask(months=84, server={"unit_price": 250_000}, finance=finance)
    years = found.scenario("on_prem")["finance"]["fiscal_years"]
    return {
        f"year {n + 1} deduction": -2 * float(years[n]["tax"]) for n in range(6) if n != 2
    }  # fmt: skip


def tokens_on_premises() -> Outputs:
    """4.74 and 29.09 USD per million tokens, of which an hour makes one."""
    found = ask(29.09, 1, 1, server={"unit_price": 4.74})
    return {"saving of on-prem vs cloud per 1M tokens": 100 * (1 - found.own / found.rent)}


def dettmers() -> Outputs:
    """RTX 3090 desktop of 2,200 USD and 0.45 kW at 15 % of the hours, 0.12 USD/kWh, against 2.14
    USD an hour."""
    server = {"unit_price": 2200, "power_kw": 0.45, "idle_power_kw": 0}
    found = ask(2.14, 0.15 * 730, 12, server=server, electricity_per_kwh=0.12)
    return {
        "electricity per year": sum(x["quantity"] for x in found.lines("on_prem", "power")),
        "electricity cost per year": found.sum_of("on_prem", "power"),
        "cloud cost after 300 days": ask(2.14, 0.15 * 24 * 30, 10).rent,
        "break-even": found.payback_months * 365 / 12,
    }


def workstation(hours: float, rent: float, keep: float) -> Case:
    """RTX PRO 6000 workstation of 14,949 USD."""

    def outputs() -> Outputs:
        server = {"unit_price": 14_949, "power_kw": 1, "idle_power_kw": 0}
        found = ask(rent, hours, 60, server=server, colocation_per_kw_month=keep)
        return {
            "cloud 5-year cost": found.rent,
            "local 5-year cost": found.own,
            "saving from owning": found.rent - found.own,
            "break-even": found.payback_months,
        }

    return outputs


def workstation_electricity() -> Outputs:
    """750 W for 720 h at 0.15 USD/kWh."""
    server = {"unit_price": 1, "power_kw": 0.75, "idle_power_kw": 0}
    found = ask(hours=720, server=server, electricity_per_kwh=0.15)
    return {"monthly cost": found.sum_of("on_prem", "power")}


def sagemaker_spot() -> Outputs:
    """52, 104 and 156 runs of 5 USD of compute and 63.43 USD besides, 183 USD once."""
    runs = [n / 12 for n in (52, 104, 156) for _ in range(12)]
    besides = [
        {"label": "set-up", "amount": 183},
        {"label": "of a run", "per_accelerator_hour": 63.43},
    ]
    return {"3-year total": ask(5, runs, 36, other_costs=besides).rent}


def rtx_5090_against_spot(runs_per_month: float, months_per_unit: float) -> Case:
    """6,850 USD against 24.37 USD a run."""

    def outputs() -> Outputs:
        found = ask(24.37, runs_per_month, 48, server={"unit_price": 6850})
        return {"break-even": found.payback_months / months_per_unit}

    return outputs


def language_model(
    price: float, rate: float, into: float, out: float, electricity: float
) -> Case:  # fmt: skip
    """`rate` tokens a second for 176 h a month, as table III has it (the text says 160), a third
    of them in, as the formula has it (the text says two thirds), at USD per million tokens."""

    def outputs() -> Outputs:
        api = rate * 3600 * 176 / 1e6 * (into / 3 + 2 * out / 3)
        server = {"unit_price": price, "running_cost_per_hour": electricity / 176}
        return {"break-even": ask(api / 176, 176, 84, server=server).payback_months}

    return outputs


def runpod() -> Outputs:
    """4x A100 at 1.165 USD a GPU-hour, against 246,624 USD owned, of which the parts are not
    stated."""
    found = ask(4 * 1.165, 730, 36, 4, server={"unit_price": 246_624})
    return {"saving of cloud vs on-prem": found.own - found.rent}


def swfte() -> Outputs:
    """16x A100: 639, 359 and 432 thousand USD in three years."""
    later = [
        {"label": "year 2", "amount": 359_000, "month": 12},
        {"label": "year 3", "amount": 432_000, "month": 24},
    ]
    found = ask(hours=730, months=36, server={"unit_price": 639_000}, other_costs=later)
    return {"on-prem total": found.own}


def spheron() -> Outputs:
    """450,000 USD; people 300,000, power and cooling 40,000, colocation 72,000 over three
    years."""
    besides = [
        {"label": "people", "amount": 300_000},
        {"label": "power and cooling", "amount": 40_000},
        {"label": "colocation", "amount": 72_000},
    ]
    server = {"unit_price": 450_000}
    scenario = ask(months=36, count=8, server=server, other_costs=besides).scenario("on_prem")
    hourly = float(scenario["levelised_cost_per_accelerator_hour"])
    return {"owned cost per GPU-hour at 100% (high case)": hourly}


def a_4090_around_the_clock() -> Outputs:
    """0.55 kW at 0.16 USD/kWh."""
    server = {"unit_price": 1, "power_kw": 0.55, "idle_power_kw": 0}
    found = ask(months=12, server=server, electricity_per_kwh=0.16)
    return {"per year": found.sum_of("on_prem", "power")}


def a_4090_for_four_hours_a_day() -> Outputs:
    return {"per year": ask(0.18, 4 * 365 / 12, 12).rent}


def a_day_of_p3() -> Outputs:
    return {"on-demand cost": ask(12.24, 24).rent}


def a_bare_h100() -> Outputs:
    found = ask(4, 100, 12, server={"unit_price": 30_000, "running_cost_per_hour": 0})
    return {"break-even": found.hours_to_break_even}


def epoch(hours: float, cloud: float, own: float) -> Case:
    """Chip-hours at what an hour costs, rented and owned; prices of the chips are not stated."""

    def outputs() -> Outputs:
        server = {"unit_price": 0.01, "running_cost_per_hour": own / hours}
        found = ask(cloud / hours, hours, 1, server=server)
        return {"ratio own/cloud": found.own / found.rent}

    return outputs


def amortised_in_cash() -> Outputs:
    """8 GPUs of 35,000 USD and 40 % besides, 0.7 kW each, PUE 1.4, 0.12 USD/kWh, 3,000 USD a
    month of data centre, 400 h a month against 4.50 USD a GPU-hour."""
    server = {"unit_price": 8 * 35_000, "power_kw": 8 * 0.7, "idle_power_kw": 0}
    found = ask(
        8 * 4.5, 400, 48, 8, server, network_storage_rate=0.4, pue=1.4, electricity_per_kwh=0.12,
        colocation_per_kw_month=3000 / 8 / 0.7,
    )  # fmt: skip
    return {"break-even": found.payback_months}


CASES: Mapping[str, Case] = {
    "lp2225-8xh100-od": lenovo(98.32),
    "lp2225-8xh100-1y": lenovo(77.43),
    "lp2225-8xh100-postcut": lenovo(33),
    "lp2225-cloud-year": a_year_of_p5,
    "remangu-p5-month": a_month_of_p5,
    "lp2225-llama31": llama_3_1_on_p5,
    "lp2225-power-hour": electricity_of_an_hour,
    "node5y-8xh100": five_years_of_a_node,
    "macrs-250k": macrs,
    "lp2368-tokens": tokens_on_premises,
    "dettmers-3090": dettmers,
    "ws14949-320-lambda": workstation(320, 1.1, 80),
    "ws14949-720-lambda": workstation(720, 1.1, 85),
    "ws14949-720-paperspace": workstation(720, 3.09, 85),
    "ws-power-24x7": workstation_electricity,
    "excel-g5xl": sagemaker_spot,
    "excel-be-2wk": rtx_5090_against_spot(104 / 12, 12),
    "excel-be-daily": rtx_5090_against_spot(30, 1),
    "panwang-llama-3.3-70b-gpt-5": language_model(15_000, 190, 1.25, 10, 10.56),
    "panwang-llama-3.3-70b-claude-4-opus": language_model(15_000, 190, 15, 75, 10.56),
    "panwang-llama-3.3-70b-claude-4-sonnet": language_model(15_000, 190, 3, 15, 10.56),
    "panwang-exaone-4.0-32b-gpt-5": language_model(2_000, 200, 1.25, 10, 15.18),
    "panwang-exaone-4.0-32b-claude-4-sonnet": language_model(2_000, 200, 3, 15, 15.18),
    "panwang-kimi-k2-gpt-5": language_model(240_000, 800, 1.25, 10, 168.96),
    "panwang-kimi-k2-claude-4-opus": language_model(240_000, 800, 15, 75, 168.96),
    "runpod-4xa100": runpod,
    "swfte-16xa100": swfte,
    "spheron-8xh100-high": spheron,
    "alexa-4090-power": a_4090_around_the_clock,
    "alexa-4090-rent": a_4090_for_four_hours_a_day,
    "spell-p3-spot": a_day_of_p3,
    "book-h100": a_bare_h100,
    "epoch-llama-2-70b": epoch(1_720_320, 3_153_948, 1_102_561),
    "epoch-gpt-3-175b": epoch(3_552_000, 4_336_473, 2_198_105),
    "epoch-llama-65b": epoch(1_024_000, 1_507_793, 578_026),
    "epoch-llama-3.1-405b": epoch(35_094_528, 169_828_008, 51_040_524),
    "randomcalc-in-cash": amortised_in_cash,
}

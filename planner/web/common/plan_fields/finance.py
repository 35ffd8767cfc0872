"""The boxes of finance: rates, timing, how servers are paid for, budgets of fiscal years."""

from __future__ import annotations

from planner.web.common.plan_fields.field import describe_field as _f

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

SERVER_TERMS = (
    _f("on_prem.servers.*.lead_time_months", "Its lead time", term="lead time", unit="months",
       typical="as all servers"),
    _f("on_prem.servers.*.useful_life_months", "Its useful life", unit="months",
       typical="as all servers"),
    _f("on_prem.servers.*.price_trend_per_year", "Trend of its price", unit="% a year",
       scale="pct", typical="as all servers"),
    _f("on_prem.servers.*.financing.method", "It is paid by", kind="choice", choices="financing"),
    _f("on_prem.servers.*.financing.months", "Paid over", unit="months", typical="36"),
    _f("on_prem.servers.*.financing.interest_rate_per_year", "Its interest", unit="% a year",
       scale="pct", typical="as all servers"),
    _f("on_prem.servers.*.financing.deposit_rate", "Its deposit", unit="% of price", scale="pct",
       typical="0"),
    _f("on_prem.servers.*.financing.balloon_rate", "Its balance left at the end",
       unit="% of price", scale="pct", typical="0"),
    _f("on_prem.servers.*.financing.payments", "Its instalments fall due", kind="choice",
       choices="instalments"),
)  # fmt: skip
"""What a server has of its own in the place of what holds for all."""

SERVER_RISKS = (
    _f("on_prem.servers.*.quotes.0.unit_price", "A seller asks", unit="money",
       typical="no quote", help="Dated quotes set the range of the price."),
    _f("on_prem.servers.*.quotes.0.quoted", "Quoted in", kind="month", typical="2026-10"),
    _f("on_prem.servers.*.quotes.1.unit_price", "Another seller asks", unit="money",
       typical="no quote"),
    _f("on_prem.servers.*.quotes.1.quoted", "That quoted in", kind="month", typical="2026-11"),
    _f("on_prem.servers.*.late_delivery.probability", "Chance that it arrives late", unit="%",
       scale="pct", typical="as all servers"),
    _f("on_prem.servers.*.late_delivery.months", "It is then late by", unit="months",
       typical="as all servers"),
    _f("on_prem.servers.*.late_delivery.p10_months", "Or late by at least", unit="months",
       typical="0", help="In 9 of 10 deliveries; instead of a chance and its months."),
    _f("on_prem.servers.*.late_delivery.p90_months", "And by at most", unit="months",
       typical="6", help="In 9 of 10 deliveries."),
)  # fmt: skip
"""Quotes and late delivery of a server; further quotes are typed in the address or the API."""

YEAR_BUDGET = (
    _f("constraints.capex_by_fiscal_year.*.fiscal_year", "Fiscal year", typical="2027"),
    _f("constraints.capex_by_fiscal_year.*.amount", "At most", unit="money", typical="500000"),
)

"""`manage.py portfolio` at the prices in the database."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from tests.planner.portfolio.portfolios import relay
from tests.planner.workspace import market

pytestmark = pytest.mark.django_db


def test_a_portfolio_is_planned_and_a_refusal_exits_with_2(tmp_path):
    market()
    path = tmp_path / "portfolio.json"
    path.write_text(json.dumps(relay(2, 24, what_if=False)))
    out, err = StringIO(), StringIO()
    call_command("portfolio", str(path), "--json", stdout=out)
    assert json.loads(out.getvalue())["feasible"]

    with pytest.raises(SystemExit) as ended:
        call_command("portfolio", str(path), "--without", "nobody", stderr=err)
    assert ended.value.code == 2
    assert err.getvalue().startswith("without:")

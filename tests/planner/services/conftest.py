from tests.planner.api.conftest import _quick_settings

__all__ = ["_quick_settings"]

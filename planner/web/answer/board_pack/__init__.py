"""The board pack: an answer on one to three pages of paper, as PDF.

It shows what the page of the answer shows, from the same objects: verdict, scenarios, two charts,
what to buy or sign and when, what is paid for, the assumptions that matter, approvals.
"""

from __future__ import annotations

from planner.web.answer.board_pack.parts import PackFacts
from planner.web.answer.board_pack.story import board_pack

__all__ = ["PackFacts", "board_pack"]

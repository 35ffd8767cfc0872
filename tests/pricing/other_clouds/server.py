"""A smaller cloud on a free port of loopback."""

import json

from tests.pricing.other_clouds import by_card, by_machine
from tests.pricing.servers.base import FakeServer, Reply, Request

CLOUDS = by_card.CLOUDS | by_machine.CLOUDS


class OtherCloud(FakeServer):
    """Answers as the cloud `name` does."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.reply_to, self.truth = CLOUDS[name]

    def answer(self, request: Request) -> Reply:
        return Reply(json.dumps(self.reply_to(request)).encode())

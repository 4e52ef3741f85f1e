"""URLs of one server for its users."""

from urllib.parse import urlsplit

import pytest

from contracts.address import parse_address
from groundwire.credentials import url_of


@pytest.mark.parametrize(
    "url",
    [
        "redis://host:6379/0",
        "rediss://host",
        "redis+cluster://one:6379,two:6379",
        "rediss+sentinel://one,two:26380/service/0",
    ],
)
def test_every_kind_of_server_s_url_takes_a_user(url: str) -> None:
    """It leads where it led before, as that user, whatever is in the password."""
    before, after = parse_address(url), parse_address(url_of("critic", "p@ss/word", url))
    assert (after.kind, after.nodes, after.service) == (before.kind, before.nodes, before.service)
    parts = urlsplit(after.driver_url)
    assert (parts.username, parts.password) == ("critic", "p%40ss%2Fword")
    assert parts.hostname == urlsplit(before.driver_url).hostname

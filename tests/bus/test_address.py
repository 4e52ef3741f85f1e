"""URLs of servers, read by value."""

import pytest

from bus.slots import SlotMap, slot_map, slot_of
from contracts import Misconfigured
from contracts.address import Address, Node, parse_address


def test_a_single_server_s_url_is_the_driver_s() -> None:
    """Nothing of it is changed."""
    for url in ("redis://u:p@h:1/2?x=y", "rediss://h", "unix:///a/b,c"):
        assert parse_address(url) == Address("single", url)


def test_sentinels_are_named_with_the_service_that_they_watch() -> None:
    """The grammar of docket and Prefect: credentials are the servers', the Sentinels' own are options."""
    found = parse_address(
        "redis+sentinel://u:p%2F@a,b:1,[::1]:2/main/3?sentinel_password=s%26&health_check_interval=9"
    )
    assert found.nodes == (Node("a", 26379), Node("b", 1), Node("::1", 2))
    assert (found.kind, found.service) == ("sentinel", "main")
    assert found.driver_url == "redis://u:p%2F@a:26379/3?health_check_interval=9"
    assert found.sentinel_options == (("password", "s&"),)
    assert parse_address("rediss+sentinel://a/main").driver_url == "rediss://a:26379/0"


def test_some_nodes_of_a_cluster_are_named() -> None:
    """Any will do: the others are found by asking."""
    found = parse_address("rediss+cluster://:p@a:1,b")
    assert (found.kind, found.nodes) == ("cluster", (Node("a", 1), Node("b", 6379)))
    assert found.driver_url == "rediss://:p@a:1"
    assert parse_address("redis+cluster://a/0").nodes == (Node("a", 6379),)


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://u:secret@h", r"redis\+cluster://"),
        ("secret", "must begin"),
        ("unix+cluster://u:secret@h", "must begin"),
        ("redis+other://u:secret@h", "must begin"),
        ("redis+cluster://u:secret@", "name a host"),
        ("redis+cluster://u:secret@h:x", "valid hosts and ports"),
        ("redis+cluster://u:secret@h,:1", "valid hosts and ports"),
        ("redis://u:secret@", "name a host"),
        ("redis://u:secret@h:port", "valid host and port"),
        ("redis://u:secret@[h", "valid host and port"),
        ("redis://u:secret@h,other", "name one host"),
        ("unix://u:secret@", "name the socket"),
        ("redis+://u:secret@h", "must begin"),
        ("rediss://u:secret@h?ssl_cert_reqs=none", "no ssl_ option"),
        ("redis+cluster://u:secret@h/1", "database 0 alone"),
        ("redis+sentinel://u:secret@h", "must end with what the Sentinels watch"),
        ("redis+sentinel://u:secret@h/main/x", "must end with what the Sentinels watch"),
    ],
)
def test_a_url_that_breaks_a_rule_is_told_the_rule_alone(url: str, rule: str) -> None:
    """And never what it holds."""
    with pytest.raises(Misconfigured, match=rule) as refused:
        parse_address(url)
    assert "secret" not in str(refused.value)


def test_no_password_is_in_what_an_address_looks_like() -> None:
    """Values are printed in tracebacks."""
    shown = repr(parse_address("redis+sentinel://u:secret@a/main?sentinel_password=secret"))
    assert "secret" not in shown


def test_a_lane_s_slot_is_that_of_its_hash_tag() -> None:
    """As CLUSTER KEYSLOT has it for `gw:{0}:queries` and others."""
    assert [slot_of(lane) for lane in (0, 1, 2, 3, 10)] == [13907, 9842, 5649, 1584, 247]


def test_a_map_of_slots_is_corrected_by_what_has_moved() -> None:
    """The newest word counts; a node without a host is where it was asked."""
    asked = Node("here", 1)
    known = slot_map([[0, 9, [b"", 1, b"id"]], [10, 20, [b"b", 2, b"id"], [b"c", 3, b"id"]]], asked)
    assert [known.node_of(slot) for slot in (0, 9, 10, 21)] == [asked, asked, Node("b", 2), None]
    moved = known.with_moved(9, Node("d", 4)).with_moved(9, Node("e", 5))
    assert (moved.node_of(9), moved.node_of(8)) == (Node("e", 5), asked)
    assert moved.nodes == (asked, Node("b", 2))
    assert SlotMap(()).node_of(0) is None

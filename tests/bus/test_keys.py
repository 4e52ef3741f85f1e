import inspect
from pathlib import Path

import pytest

import bus
from bus.keys import LANES, Keys
from bus.opening import mint_query_id
from contracts import OUTCOMES, TOPOLOGY


def slot(key: str) -> int:
    """The slot of a key in a cluster: CRC16 (XMODEM) of its hash tag, modulo 16384."""
    _, opened, rest = key.partition("{")
    tag, closed, _ = rest.partition("}")
    crc = 0
    for byte in (tag if opened and closed and tag else key).encode():
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc % 16384


def all_keys(lane: int, query_id: str) -> list[str]:
    """Every key that any script of a query touches."""
    keys = Keys(lane)
    names = [keys.open, keys.counters, keys.events, keys.dead, keys.replaying, keys.parked]
    names += [keys.of(f"results.{outcome}") for outcome in OUTCOMES]
    names += [keys.result(query_id), keys.idempotency(query_id), keys.idempotency("a{b}c")]
    names += [keys.blob(f"submit:{query_id}"), keys.blob("{1}x")]
    for stage in TOPOLOGY.stages:
        names += [keys.of(stage.consumes), keys.of(f"{stage.consumes}:v2")]
        names += [keys.delayed(stage.consumes), keys.delayed_body(stage.consumes)]
        names += [keys.alive(stage.name, "host{1}-9"), keys.raw(stage.consumes, "1-0")]
        names += [keys.blob(f"{stage.consumes}:1-0"), keys.blob(f"{stage.consumes}:v2:1-0")]
    return names


def test_the_slot_is_that_of_the_cluster_specification() -> None:
    """The example of the specification: 123456789 has the checksum 31C3."""
    assert slot("123456789") == 0x31C3 % 16384
    assert slot("{user1000}.following") == slot("{user1000}.followers") == slot("user1000")


@pytest.mark.parametrize("lane", [0, 1, 7, 63])
def test_all_keys_of_a_query_share_one_slot(lane: int) -> None:
    """So every script is legal on a cluster: computed for a thousand ids."""
    slots = {
        slot(key)
        for number in range(1000)
        for key in all_keys(lane, mint_query_id(lane, 1_700_000_000_000 + number))
    }
    assert len(slots) == 1


def test_every_key_there_is_is_among_them() -> None:
    """A key that is added to Keys is added to the computation."""
    source = inspect.getsource(all_keys)
    for name in vars(Keys):
        assert name.startswith("_") or name == "lane" or f"keys.{name}" in source, name


def test_lanes_lie_in_different_slots() -> None:
    """That is what lanes are for."""
    assert len({slot(Keys(lane).open) for lane in range(16)}) == 16


def test_all_keys_begin_with_gw_and_differ() -> None:
    """An ACL of `~gw:*` covers everything, and no two names collide."""
    keys = all_keys(0, "0-abc")
    assert all(key.startswith("gw:{0}:") for key in keys)
    assert LANES.startswith("gw:{0}:")
    assert len(set(keys)) == len(keys)


def test_an_idempotency_key_is_stored_by_its_digest() -> None:
    """It may hold anything, of any length, and nobody reads it from a key name."""
    key = Keys(0).idempotency("customer@example.com" * 1000)
    assert "customer" not in key
    assert len(key) < 60


def test_no_script_spells_a_key() -> None:
    """Scripts get every key as KEYS: the one file of names is keys.py."""
    for script in (Path(bus.__file__).parent / "scripts").glob("*.lua"):
        assert "gw:" not in script.read_text(), script.name

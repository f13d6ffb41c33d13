"""The golden messages of docs/protocol/vectors, read and written by the Python implementation."""

import json
import pathlib
import struct

import pytest

import wire

VECTORS = pathlib.Path(__file__).parents[2] / "docs" / "protocol" / "vectors"
MESSAGES = json.loads((VECTORS / "messages.json").read_text())["messages"]
REJECTED = json.loads((VECTORS / "rejected.json").read_text())["frames"]


def frame(value):
    if isinstance(value, str):
        return bytes.fromhex(value)
    byte, count = bytes.fromhex(value["repeat"][0]), value["repeat"][1]
    head = bytes.fromhex(value["hex_prefix"])
    return head.rstrip(byte) + byte * count


@pytest.mark.parametrize("vector", MESSAGES, ids=lambda vector: vector["name"])
def test_message(vector):
    frames = [frame(value) for value in vector["frames"]]
    message = wire.Message.parse(list(frames))
    header = vector["header"]
    for field in ("type", "generation", "attempt", "sequence", "value"):
        assert getattr(message, field) == header[field], field
    assert wire.text_id(message.job) == header["job"]
    assert message.frames()[0][:wire.HEADER.size] == frames[0][:wire.HEADER.size]
    if "skill" in vector:
        skill, fields = wire.decode_job(message.body)
        assert (skill, fields["session"]) == (vector["skill"], vector["session"])
        assert wire.encode_job(skill, **fields) == message.body
    if "records" in vector:
        assert [[kind, text.decode()] for kind, text in wire.decode_records(message.body)] == vector["records"]


def test_batch():
    vector = next(vector for vector in MESSAGES if "messages" in vector)
    message = wire.Message.parse([frame(vector["frames"][0])])
    assert [part.frames()[0].hex() for part in message.parts()] == vector["messages"]
    assert wire.Message.batch(message.parts()).frames()[0].hex() == vector["frames"][0]


@pytest.mark.parametrize("vector", REJECTED, ids=lambda vector: vector["name"])
def test_rejected(vector):
    raw = bytes.fromhex(vector["frame"])
    if vector["error"] in ("unknownType", "ignorable"):
        assert raw[5] not in {value for name, value in vars(wire).items() if name.isupper() and isinstance(value, int)}
        return
    with pytest.raises((ValueError, struct.error)):
        wire.Message.parse([raw])

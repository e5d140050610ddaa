"""What is streamed to an endpoint is one JSON value a line, however it is cut into blocks."""

import pytest

from cigri.endpoints.request_bodies import BLOCK, LONGEST_BODY_LINE, SpooledBody, as_body
from cigri.errors import DescriptionError


def body_of(text: bytes) -> SpooledBody:
    body = SpooledBody()
    body.write(text)
    return body


class TestValues:
    def test_each_line_is_one_value(self) -> None:
        with body_of(b'{"a": 1}\n"x"\n [1, 2] \n') as body:
            assert list(body.values(0)) == [{"a": 1}, "x", [1, 2]]

    def test_the_last_line_may_lack_its_end(self) -> None:
        with body_of(b"1\n23") as body:
            assert (body.count, list(body.values(0))) == (2, [1, 23])

    def test_those_before_a_line_are_left_out(self) -> None:
        with body_of(b"no JSON at all\n1\n2\n") as body:
            assert list(body.values(1)) == [1, 2]
            assert list(body.values(3)) == list(body.values(4)) == []

    def test_blocks_end_anywhere_in_a_line(self) -> None:
        values: list[object] = [number * "é" for number in range(2000)]
        with SpooledBody() as body:
            for block in as_body(values):
                body.write(block)
            assert body.count == len(values)
            assert list(body.values(0)) == values

    def test_a_line_may_be_longer_than_many_blocks(self) -> None:
        values = ["x" * (3 * BLOCK), "y"]
        with body_of(b"".join(as_body(values))) as body:
            assert list(body.values(0)) == values

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            (b"1\n[2,\n3]\n", 2),  # a value that goes over the end of its line
            (b"[1,\n2]\n3 4\n", 1),  # as many values as lines, and yet
            (b"1\n2, 3\n", 2),
            (b"1\n\n2\n", 2),
            (b"1\n2\r3\n", 2),
            (b"1\nNaN\n", 2),
            (b"1\n2\n\xff\n", 3),
            (b"1\n" + b"[" * 100_000 + b"\n", 2),
            (b"1\n" + b" " * LONGEST_BODY_LINE + b"2\n", 2),
        ],
    )
    def test_what_is_not_is_refused_by_its_line(self, text: bytes, line: int) -> None:
        with body_of(text) as body, pytest.raises(DescriptionError) as caught:
            list(body.values(0))
        assert f"line {line} of what was sent" in str(caught.value)

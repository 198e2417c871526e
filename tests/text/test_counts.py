from flipcore.text.counts import count_of


def test_one_thing_is_named_as_one():
    assert [count_of(n, "item") for n in (0, 1, 2_000)] == ["0 items", "1 item", "2,000 items"]
    assert [count_of(n, "row was refused", "rows were refused") for n in (1, 3)] == ["1 row was refused", "3 rows were refused"]

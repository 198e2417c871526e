"""Wrong codes and links are counted, and one person's shut nobody else out."""

from flipcore.access.guesses import MAX_OF_ADDRESS, MAX_OF_ONE, SECONDS, VISIT, Guesser, Guesses, network_of, visit_of


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_person_is_counted_wherever_they_sit_and_alone():
    guesses = Guesses(Clock())
    for number in range(MAX_OF_ONE):
        assert not guesses.are_too_many(Guesser("eve", str(number), f"10.0.0.{number}"))
        guesses.count(Guesser("eve", str(number), f"10.0.0.{number}"))
    assert guesses.are_too_many(Guesser("eve", "new", "10.0.1.1"))
    for beside in (Guesser("ada", "1", "10.0.0.1"), Guesser("", "1", "10.0.0.1"), Guesser("", "", "10.0.0.1")):
        assert not guesses.are_too_many(beside)


def test_a_browser_has_its_own_limit_and_new_ones_that_of_their_address():
    clock = Clock()
    guesses = Guesses(clock)
    for _ in range(MAX_OF_ONE):
        guesses.count(Guesser("", "a", "10.0.0.1"))
    assert guesses.are_too_many(Guesser("", "a", "10.0.0.1"))
    assert not guesses.are_too_many(Guesser("", "b", "10.0.0.1")) and not guesses.are_too_many(Guesser("", "a", "10.0.0.2"))
    for number in range(MAX_OF_ADDRESS - MAX_OF_ONE):
        assert not guesses.are_too_many(Guesser("", f"new {number}", "10.0.0.1"))
        guesses.count(Guesser("", f"new {number}", "10.0.0.1"))
    assert guesses.are_too_many(Guesser("", "b", "10.0.0.1"))
    assert not guesses.are_too_many(Guesser("ada", "b", "10.0.0.1")), "who is known is no stranger of that address"
    clock.now += SECONDS
    assert not guesses.are_too_many(Guesser("", "a", "10.0.0.1")) and not guesses._times


def test_addresses_of_one_customer_are_one():
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1%eth0") != network_of("2001:db8:0:1::1")
    assert network_of("::ffff:10.0.0.1") == network_of("10.0.0.1") != network_of("10.0.0.2")
    assert network_of("testclient") == "testclient"


def test_a_browser_is_known_again_by_its_cookie():
    visit, cookie = visit_of({})
    assert cookie.startswith(f"{VISIT}={visit}; ") and "HttpOnly" in cookie and visit_of({VISIT: visit}) == (visit, "")
    assert visit_of({VISIT: "x" * 1_000})[1] and visit_of({})[0] != visit

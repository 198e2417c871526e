"""A claim that is not allowed says why in the place of its sentence; the first reason stays."""

from flipcore.claims.claim import Assertion, Claim, description

COIN = Assertion("coin", "heads", 0.05, 1, "each claim", ("fair",))


def test_a_claim_is_made_until_it_is_withheld_and_then_says_why():
    claim = Claim(COIN, "heads", "Heads.", True)
    assert claim.is_made and claim.text == "Heads."
    withheld = claim.not_claimed("The gate is closed.").not_claimed("Another reason.")
    assert not withheld.is_made and withheld.text == "Not claimed: The gate is closed." and withheld.sentence == "Heads."
    assert claim.not_claimed("") is claim


def test_a_description_asserts_nothing_and_keeps_its_numbers():
    sentence = description("0.20 of pairs flip.", n=5)
    assert (
        sentence.assertion is None and not sentence.is_made and sentence.numbers == {"n": 5} and sentence.outcome == "described"
    )

"""Who is a person in a problem: a name that is also a word counts where it acts."""

from flipcore.axes.names.people import people


def test_a_name_that_is_also_a_word_counts_where_it_acts():
    assert [one.name for one in people("Mark and Rose baked 12 pies. Rose's pies sold for $3.")] == ["Mark", "Rose"]

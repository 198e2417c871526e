"""Rooms: whoever comes late or back is where the others are, and nobody but the presenter moves anything."""

import json

import pytest

from flipcore.access.guesses import MAX_OF_ONE, Guesser
from flipcore.meeting import rooms as module
from flipcore.meeting.rooms import (
    BURST,
    LIFE_S,
    MAX_CHARACTERS,
    N_CODE_LETTERS,
    REMEMBERED_S,
    WITHOUT_PRESENTER_S,
    Mailbox,
    Refusal,
    Rooms,
    message_of,
    name_of,
    place_of,
    position_of,
)

PLACE = {"do": "place", "page": "decomposition", "query": "study=s"}


def position(at, moving=True):
    return {"do": "position", "board": "b", "at": {"at": at}, "moving": moving}


class Meeting:
    """A room with a presenter and followers, on a clock of its own."""

    def __init__(self, n_followers=1):
        self.time = 1_000.0
        self.rooms = Rooms(lambda: self.time)
        self.boxes = [Mailbox()]
        self.room, presenter = self.rooms.open(self.boxes[0], "Ada")
        self.members = [presenter]
        for _ in range(n_followers):
            self.join()
        self.messages()

    def join(self, ticket="", code=None):
        self.boxes.append(Mailbox())
        self.members.append(self.rooms.join(code or self.room.code, self.boxes[-1], ticket=ticket)[1])
        return self.members[-1]

    def hear(self, member, **message):
        self.rooms.hear(self.room, self.members[member], message)

    def messages(self):
        """What each mailbox held, by kind."""
        return [{one["kind"]: one for one in box.take()} for box in self.boxes]


@pytest.fixture
def meeting():
    return Meeting(n_followers=2)


def test_followers_are_sent_what_the_presenter_moves_and_the_presenter_is_not(meeting):
    meeting.hear(0, **PLACE)
    meeting.hear(0, **position(3))
    presenter, *followers = meeting.messages()
    assert presenter == {}
    for one in followers:
        assert one["place"]["page"] == "decomposition" and one["position"]["at"] == {"at": 3} and one["position"]["moving"]
        assert one["position"]["sequence"] > one["place"]["sequence"]


def test_a_slow_link_is_sent_the_newest_position_alone(meeting):
    for at in range(100):
        meeting.hear(0, **position(at))
    waiting = meeting.boxes[1].take()
    assert [one["at"] for one in waiting] == [{"at": 99}]


def test_somebody_who_comes_late_is_told_their_part_and_then_where_the_others_are(meeting):
    meeting.hear(0, **PLACE)
    meeting.hear(0, **position(7, moving=False))
    meeting.join()
    late = meeting.boxes[-1].take()
    assert [one["kind"] for one in late] == ["entered", "room", "place", "position"]
    assert late[1]["presents"] is False and late[3]["at"] == {"at": 7}


def test_a_page_that_was_left_leaves_no_position_behind(meeting):
    meeting.hear(0, **PLACE)
    meeting.hear(0, **position(7))
    meeting.hear(0, **{**PLACE, "page": "holdout"})
    meeting.join()
    assert "position" not in meeting.messages()[-1]


def test_somebody_who_comes_back_with_their_ticket_is_the_same_person(meeting):
    follower, box = meeting.members[1], meeting.boxes[1]
    meeting.rooms.leave(meeting.room, follower, box)
    meeting.hear(0, **position(5))
    again = meeting.join(ticket=follower.ticket)
    assert again is follower and len(meeting.room.members) == 3
    assert meeting.messages()[-1]["position"]["at"] == {"at": 5}


def test_a_second_tab_of_one_person_replaces_the_first(meeting):
    first = meeting.boxes[1]
    meeting.join(ticket=meeting.members[1].ticket)
    assert first.is_closed and "another tab" in first.take()[-1]["sentence"]
    meeting.rooms.leave(meeting.room, meeting.members[1], first)  # its socket ends later
    assert meeting.members[1].mailbox is meeting.boxes[-1]


@pytest.mark.parametrize("message", [PLACE, position(1), {"do": "hand", "to": 2}, {"do": "end"}])
def test_a_follower_moves_nothing(meeting, message):
    with pytest.raises(Refusal, match="Only the presenter"):
        meeting.hear(1, **message)
    assert meeting.messages() == [{}, {}, {}] and meeting.room.presenter == 1 and meeting.room.state == {}


@pytest.mark.parametrize("ticket", ["x" * 32, "é", "\ud800"])
def test_a_code_alone_or_a_forged_ticket_makes_nobody_presenter(meeting, ticket):
    forged = meeting.join(ticket=ticket)
    assert forged.number == 4 and meeting.messages()[-1]["room"]["presents"] is False


def test_presenting_is_asked_for_and_handed_on_and_the_one_before_moves_nothing_any_more(meeting):
    meeting.hear(1, do="ask", name="Grace")
    presenter, asking, other = meeting.messages()
    assert presenter["room"]["asking"] == [{"number": 2, "title": "Grace"}]
    assert asking["room"]["asks"] and other["room"]["asking"] == [], "the presenter alone is told who asks"
    meeting.hear(0, do="hand", to=2)
    assert [one["room"]["presents"] for one in meeting.messages()] == [False, True, False]
    meeting.hear(1, **position(9))
    with pytest.raises(Refusal, match="Only the presenter"):
        meeting.hear(0, **position(1))
    assert meeting.messages()[2]["position"]["at"] == {"at": 9}


@pytest.mark.parametrize("to", [99, 3, None, "2", True, [2]])
def test_presenting_is_handed_to_nobody_who_is_not_here(meeting, to):
    meeting.rooms.leave(meeting.room, meeting.members[2], meeting.boxes[2])
    with pytest.raises(Refusal, match="not in the meeting"):
        meeting.hear(0, do="hand", to=to)
    assert meeting.room.presenter == 1


def test_a_presenter_who_reloads_presents_on(meeting):
    meeting.rooms.leave(meeting.room, meeting.members[0], meeting.boxes[0])
    assert meeting.messages()[1]["room"]["presenter_is_here"] is False
    meeting.time += WITHOUT_PRESENTER_S - 1
    meeting.join(ticket=meeting.members[0].ticket)
    assert meeting.messages()[-1]["room"]["presents"] is True


def test_a_meeting_without_its_presenter_expires(meeting):
    meeting.rooms.leave(meeting.room, meeting.members[0], meeting.boxes[0])
    meeting.time += WITHOUT_PRESENTER_S + 1
    with pytest.raises(Refusal, match="has ended") as refusal:
        meeting.join()
    assert refusal.value.code == 4404 and "expired" in meeting.messages()[1]["end"]["sentence"] and len(meeting.rooms) == 0


def test_a_code_expires_whoever_is_there(meeting):
    meeting.time += LIFE_S + 1
    with pytest.raises(Refusal, match="has ended"):
        meeting.join()
    assert meeting.boxes[0].is_closed


def test_the_presenter_ends_it_for_all(meeting):
    meeting.hear(0, do="end")
    assert all("ended" in one["end"]["sentence"] for one in meeting.messages()) and all(box.is_closed for box in meeting.boxes)
    with pytest.raises(Refusal, match="has ended"):
        meeting.join()
    with pytest.raises(Refusal, match="has ended"):
        meeting.hear(0, **position(1))


def test_somebody_long_gone_is_forgotten_and_their_ticket_is_worth_nothing(meeting):
    follower = meeting.members[1]
    meeting.rooms.leave(meeting.room, follower, meeting.boxes[1])
    meeting.time += REMEMBERED_S + 1
    assert meeting.join(ticket=follower.ticket) is not follower and follower.number not in meeting.room.members


def test_a_code_may_be_typed_in_small_letters_with_a_dash(meeting):
    code = meeting.room.code
    assert len(code) == N_CODE_LETTERS and meeting.join(code=f" {code[:4].lower()}-{code[4:].lower()} ").number == 4


def test_wrong_codes_are_counted_and_then_not_looked_at(meeting):
    there, beside, elsewhere = Guesser("", "a", "10.0.0.9"), Guesser("", "b", "10.0.0.9"), Guesser("", "a", "10.0.0.8")
    for _ in range(MAX_OF_ONE):
        with pytest.raises(Refusal, match="has ended"):
            meeting.rooms.join("AAAAAAAA", Mailbox(), guesser=there)
    with pytest.raises(Refusal, match="Too many wrong codes"):
        meeting.rooms.join(meeting.room.code, Mailbox(), guesser=there)
    for other in (beside, elsewhere, Guesser("grace", "a", "10.0.0.9")):
        assert meeting.rooms.join(meeting.room.code, Mailbox(), guesser=other)
    meeting.time += 61
    assert meeting.rooms.join(meeting.room.code, Mailbox(), guesser=there)


@pytest.mark.parametrize("code", [None, 5, ["A"], "A" * 10_000, {"a": 1}, ""])
def test_what_is_no_code_is_a_wrong_one(meeting, code):
    with pytest.raises(Refusal, match="has ended"):
        meeting.rooms.join(code, Mailbox())


def test_more_messages_than_anybody_drags_close_the_socket(meeting):
    for at in range(int(BURST)):
        meeting.hear(0, **position(at))
    with pytest.raises(Refusal, match="messages a second") as refusal:
        meeting.hear(0, **position(1))
    assert refusal.value.code == 1008
    meeting.time += 1
    meeting.hear(0, **position(1))


def test_a_drag_of_a_minute_at_sixty_frames_a_second_is_within_the_rate(meeting):
    for frame in range(3_600):
        meeting.time += 1 / 60
        meeting.hear(0, **position(frame))


def test_a_meeting_holds_so_many_people(meeting, monkeypatch):
    monkeypatch.setattr(module, "MAX_MEMBERS", 3)
    with pytest.raises(Refusal, match="full"):
        meeting.join()
    assert meeting.join(ticket=meeting.members[1].ticket), "who was in it comes back"


def test_where_there_are_too_many_meetings_one_without_its_presenter_ends(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROOMS", 2)
    rooms, boxes = Rooms(), [Mailbox() for _ in range(4)]
    (first, ada), (second, _) = rooms.open(boxes[0]), rooms.open(boxes[1])
    with pytest.raises(Refusal, match="meetings are open"):
        rooms.open(boxes[2])
    rooms.leave(first, ada, boxes[0])
    third, _ = rooms.open(boxes[3])
    assert len(rooms) == 2 and rooms.join(second.code, Mailbox()) and rooms.join(third.code, Mailbox())


def test_an_unknown_wish_is_refused(meeting):
    with pytest.raises(Refusal, match="no meeting knows"):
        meeting.hear(0, do="delete")


# A message of a meeting is bounded and of a known shape, or it is refused with a sentence.


def test_a_message_is_a_json_object_that_says_what_to_do():
    assert message_of('{"do": "ping"}') == {"do": "ping"}


@pytest.mark.parametrize(
    "text", ["", "no json", "[1]", "3", '{"do": 3}', "{}", "[" * 5_000, '{"do": "x", "y": "' + "z" * MAX_CHARACTERS + '"}']
)
def test_anything_else_is_refused_and_closes_the_socket(text):
    with pytest.raises(Refusal, match=r"message") as refusal:
        message_of(text)
    assert refusal.value.code in (1007, 1009)


def test_a_place_leaves_out_what_belongs_to_one_persons_link():
    place = place_of({"page": "decomposition", "query": "?study=a%20b&as=Ada&view=projector&mode=explore&token=x"})
    assert place == {"page": "decomposition", "query": "study=a+b&mode=explore"}


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("../x", ""),
        ("Decomposition", ""),
        ("a/b", ""),
        (None, ""),
        ("home", None),
        ("home", "x" * 5_000),
        ("http://x", ""),
        ("home", "a=\ud800"),
    ],
)
def test_a_place_outside_flipscope_is_refused(page, query):
    with pytest.raises(Refusal, match="names no page"):
        place_of({"page": page, "query": query})


def test_a_position_holds_numbers_and_short_choices():
    sent = {"board": "threshold x", "at": {"at": 3, "rule": "paired"}, "moving": True, "more": "is dropped"}
    assert position_of(sent) == {"board": "threshold x", "at": {"at": 3, "rule": "paired"}, "moving": True}


@pytest.mark.parametrize(
    "at", [None, [], {"x": None}, {"x": True}, {"x": [1]}, {"x": "y" * 500}, {"y" * 500: 1}, {str(i): i for i in range(60)}]
)
def test_any_other_position_is_refused(at):
    with pytest.raises(Refusal, match="position"):
        position_of({"board": "b", "at": at})


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "9" * 400])
def test_a_number_that_is_none_is_refused(number):
    with pytest.raises(Refusal, match="finite"):
        position_of(json.loads(f'{{"board": "b", "at": {{"x": {number}}}}}'))


def test_a_name_is_one_short_line_of_printable_characters():
    assert name_of("  Ada \n\x00 Lovelace\u202e ") == "Ada Lovelace"
    assert len(name_of("x" * 400)) == 40 and name_of(7) == ""

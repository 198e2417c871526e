"""Names that a person may bear, by gender, and capitalised words that are no people. Lists: data/names (data/README.md)."""

from functools import cache

from flipcore.core.paths import NAMES

WOMAN, MAN, EITHER = "woman", "man", "either"

TITLES = {
    "Mr": MAN,
    "Mrs": WOMAN,
    "Ms": WOMAN,
    "Miss": WOMAN,
    "Sir": MAN,
    "Lady": WOMAN,
    "Dr": EITHER,
    "Doctor": EITHER,
    "Prof": EITHER,
    "Professor": EITHER,
    "Coach": EITHER,
    "Farmer": EITHER,
    "Principal": EITHER,
    "Officer": EITHER,
    "Detective": EITHER,
    "Captain": EITHER,
    "Chef": EITHER,
    "Nurse": EITHER,
    "Teacher": EITHER,
    "Ranger": EITHER,
    "Prince": MAN,
    "Princess": WOMAN,
    "King": MAN,
    "Queen": WOMAN,
    "Fireman": MAN,
    "Policeman": MAN,
    "Mister": MAN,
}
KIN = {
    "Uncle": MAN,
    "Aunt": WOMAN,
    "Auntie": WOMAN,
    "Grandma": WOMAN,
    "Grandpa": MAN,
    "Granny": WOMAN,
    "Grandmother": WOMAN,
    "Grandfather": MAN,
    "Cousin": EITHER,
    "Sister": WOMAN,
    "Brother": MAN,
    "Mama": WOMAN,
    "Papa": MAN,
    "Nana": WOMAN,
    "Baby": EITHER,
    "Little": EITHER,
    "Big": EITHER,
    "Old": EITHER,
    "Young": EITHER,
}

NO_PEOPLE = frozenset(
    """
Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays
January February March April May June July August September October November December Christmas Easter Halloween
Thanksgiving Hanukkah Valentine Valentines Ramadan Diwali Spring Summer Autumn Fall Winter
English French Spanish German Italian Chinese Japanese Korean Russian Latin Greek Roman American British Canadian Mexican
Indian African Asian European Australian Dutch Swiss Swedish Irish Scottish Turkish Arabic Portuguese Polish Persian
America Canada Mexico England Britain Scotland Ireland Wales France Spain Germany Italy China Japan Korea Russia India
Africa Asia Europe Australia Brazil Egypt Greece Turkey Sweden Norway Denmark Finland Poland Portugal Switzerland Vietnam
California Texas Florida York Jersey Ohio Alaska Hawaii Nevada Oregon Arizona Colorado Michigan Illinois Vegas Chicago
Boston Miami Seattle Denver Atlanta London Berlin Rome Tokyo Manhattan Brooklyn Hollywood Disneyland Disney Walmart Target
Amazon Google Apple Microsoft Facebook Instagram Twitter Netflix Pokemon Lego Nike Tesla Toyota Honda Ford Uber Starbucks
McDonald Costco Ikea Xbox Nintendo Playstation Mars Venus Jupiter Saturn Earth Moon Sun Mercury Neptune Uranus Internet
God Santa Claus Bible Math Science History Biology Chemistry Physics Geography Art Music Gym
I A An The This That These Those It Its He She They We You His Her Their Our My Your Each Every All Both Some Any No Not
If When While After Before Since Because Although Though Once Until As So Then Thus But And Or Yet For From To In On At By
With Without Of Off Out Over Under Between During Among Per Only Just Also Even Still Again Now Later Finally First Second
Third Next Last Another Other Others Half Twice Today Tomorrow Yesterday Tonight Meanwhile However Additionally Afterwards
Afterward Initially Originally Eventually Suddenly Luckily Unfortunately Assuming Assume Suppose Given Find Calculate
Determine Compute Express Write What Which Who Whose Whom Where Why How Will Would Can Could Should Do Does Did Is Are Was
Were Has Have Had There Here One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve Twenty Thirty Forty Fifty
Mom Dad Mommy Daddy Mother Father Sister Brother Grandma Grandpa Aunt Uncle Everyone Everybody Someone Somebody Nobody
People Students Children Kids Workers Friends Answer Question Note Mr Mrs Ms Dr Street Avenue Road School Park Lake River
County City Town Village Island Mountain Hill Beach Bay Bridge Station Airport Hotel Mall Market Store Shop Bakery Diner
Restaurant Cafe Company Corporation Inc University College High Elementary Middle Junior Senior Academy Library Museum
Theater Theatre Church Hospital Farm Ranch Zoo Club Team League Bowl Cup Day Night Eve Year New North South East West Great
United States Kingdom Republic National International Bank Center Centre House Tower Building Bear Bears Cola Oats
Jelly Cream Sauce Pie Cake Cookies Juice Train Bus Boat Ship Jr Sr
""".split()
)

# Common first forms of one name: two of them in a text may be one person.
NICKNAMES = {
    "Bob": "Robert",
    "Bobby": "Robert",
    "Rob": "Robert",
    "Robbie": "Robert",
    "Bill": "William",
    "Billy": "William",
    "Will": "William",
    "Liam": "William",
    "Dick": "Richard",
    "Rick": "Richard",
    "Rich": "Richard",
    "Mike": "Michael",
    "Mickey": "Michael",
    "Jim": "James",
    "Jimmy": "James",
    "Jamie": "James",
    "Jack": "John",
    "Johnny": "John",
    "Ted": "Edward",
    "Teddy": "Theodore",
    "Ned": "Edward",
    "Eddie": "Edward",
    "Tony": "Anthony",
    "Chuck": "Charles",
    "Charlie": "Charles",
    "Hank": "Henry",
    "Harry": "Henry",
    "Larry": "Lawrence",
    "Jerry": "Gerald",
    "Kate": "Katherine",
    "Katie": "Katherine",
    "Kathy": "Katherine",
    "Cathy": "Catherine",
    "Liz": "Elizabeth",
    "Lizzie": "Elizabeth",
    "Beth": "Elizabeth",
    "Betty": "Elizabeth",
    "Betsy": "Elizabeth",
    "Eliza": "Elizabeth",
    "Peggy": "Margaret",
    "Maggie": "Margaret",
    "Meg": "Margaret",
    "Molly": "Mary",
    "Polly": "Mary",
    "Sally": "Sarah",
    "Nancy": "Ann",
    "Becky": "Rebecca",
    "Sue": "Susan",
    "Susie": "Susan",
    "Peg": "Margaret",
    "Jenny": "Jennifer",
    "Steve": "Stephen",
    "Dave": "David",
    "Joe": "Joseph",
    "Joey": "Joseph",
    "Tim": "Timothy",
    "Ken": "Kenneth",
    "Greg": "Gregory",
    "Jeff": "Jeffrey",
    "Chris": "Christopher",
    "Nick": "Nicholas",
    "Tom": "Thomas",
    "Tommy": "Thomas",
    "Sam": "Samuel",
    "Sammy": "Samuel",
    "Dan": "Daniel",
    "Danny": "Daniel",
    "Ben": "Benjamin",
    "Matt": "Matthew",
    "Andy": "Andrew",
    "Drew": "Andrew",
    "Alex": "Alexander",
    "Zach": "Zachary",
    "Pat": "Patrick",
    "Patty": "Patricia",
    "Trish": "Patricia",
    "Debbie": "Deborah",
    "Vicky": "Victoria",
    "Cindy": "Cynthia",
    "Abby": "Abigail",
    "Gabe": "Gabriel",
    "Jake": "Jacob",
    "Josh": "Joshua",
    "Nate": "Nathan",
    "Ron": "Ronald",
    "Ronnie": "Ronald",
    "Don": "Donald",
    "Ray": "Raymond",
    "Fred": "Frederick",
    "Phil": "Philip",
    "Pete": "Peter",
    "Max": "Maxwell",
}


@cache
def listed(stem: str) -> frozenset[str]:
    """The names of data/names/<stem>.txt: women, men, surnames, or also_words (names that are words or places too)."""
    return frozenset((NAMES / f"{stem}.txt").read_text(encoding="utf-8").split())


def is_given_name(name: str) -> bool:
    """Whether a list of first names holds it."""
    return name in listed("women") or name in listed("men")


def is_doubtful(name: str) -> bool:
    """A name that is also a word, a month or a place: a person only where the text says so."""
    return name in listed("also_words") or name in NO_PEOPLE


def gender(name: str) -> str:
    """WOMAN or MAN where only one list has it, else EITHER."""
    woman, man = name in listed("women"), name in listed("men")
    return EITHER if woman == man else WOMAN if woman else MAN


@cache
def pool(kind: str) -> tuple[str, ...]:
    """Names to put in another's place, sorted: of a gender, fitting either, or "surname". None is a word or a place, and none
    ends in s, x or z, so that a possessive is always formed with 's."""
    women, men = listed("women"), listed("men")
    names = {WOMAN: women - men, MAN: men - women, EITHER: women & men, "surname": listed("surnames") - women - men}[kind]
    return tuple(sorted(name for name in names if not is_doubtful(name) and name[-1] not in "sxz" and len(name) > 2))

"""The words of the invented world. No word is in two categories, so that every question has one right option."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


CATEGORIES: dict[str, tuple[str, ...]] = {
    "metal": _words("tin zinc copper iron lead nickel silver gold chrome cobalt titanium tungsten"),
    "fish": _words("salmon trout pike cod herring tuna carp eel perch sardine haddock halibut"),
    "tree": _words("oak birch pine elm maple willow larch spruce cedar poplar alder hazel"),
    "grain": _words("rye barley wheat oats rice maize millet spelt sorghum buckwheat quinoa teff"),
    "colour": _words("red blue green yellow purple brown pink grey beige crimson turquoise magenta"),
    "tool": _words("hammer saw drill chisel pliers wrench file plane spade rake crowbar trowel"),
    "bird": _words("crow heron finch owl hawk robin swan gull stork sparrow falcon wren"),
    "fruit": _words("apple pear plum cherry grape lemon peach melon apricot quince mango papaya"),
    "dance": _words("waltz tango polka samba rumba minuet foxtrot gavotte bolero mambo flamenco reel"),
    "cloth": _words("silk linen cotton wool velvet denim satin felt tweed canvas muslin flannel"),
    "gem": _words("ruby opal topaz emerald garnet jade amber sapphire onyx pearl agate beryl"),
    "insect": _words("ant bee wasp moth beetle cricket fly gnat termite locust mosquito ladybird"),
    "flower": _words("rose tulip lily daisy violet iris poppy orchid daffodil peony marigold dahlia"),
    "vehicle": _words("car bus tram lorry bicycle van scooter taxi tractor sledge wagon moped"),
    "drink": _words("tea coffee milk cider juice water cocoa beer lemonade wine punch mead"),
    "instrument": _words("piano violin flute drum harp trumpet guitar cello banjo oboe clarinet lute"),
    "spice": _words("pepper ginger cumin saffron nutmeg clove cinnamon paprika turmeric aniseed cardamom mustard"),
    "garment": _words("coat shirt skirt hat scarf glove sock vest jacket apron cloak trousers"),
    "planet": _words("mars venus saturn jupiter neptune mercury uranus"),
    "herb": _words("basil mint thyme sage parsley dill oregano chives tarragon rosemary fennel sorrel"),
    "fowl": _words("hen duck goose turkey quail pheasant"),
    "vessel": _words("ferry canoe kayak barge yacht raft sloop dinghy galley frigate schooner trawler"),
}

NAMES = _words(
    "Anna Ben Clara David Emma Felix Greta Hugo Ida Jonas Klara Leo Maria Nils Olga Paul Rosa Simon Tilda Viktor "
    "Alma Boris Celia Dora Erik Frida Georg Hanna Ivan Judith Karl Lena Max Nora Oskar Petra Ralf Sofia Thea Willem"
)
THINGS = _words(
    "cups plates books candles pencils buttons coins tickets marbles stamps ribbons bottles spoons stones shells "
    "cards beads bricks nails baskets lamps chairs bells kites dolls boots hats jars bags cakes"
)
CONTAINERS = _words("boxes crates bags shelves trays drawers sacks cases baskets chests")
PLACES = _words("market school harbour library mill farm museum station bakery castle garden workshop theatre inn")
TOWNS = _words(
    "Varnholt Eskby Torrin Maldora Quenby Lissa Orvane Pelham Drusk Halvik Somerel Tarnow Ulver Wexley Yarrow Zeltin "
    "Brannoch Corvay Feldane Grimsel"
)
TRADES = _words("baker miller smith weaver potter fisher tailor carpenter doctor teacher painter sailor clerk gardener")
ADJECTIVES = _words(
    "old narrow quiet broken bright heavy small painted cold crooked wooden empty long dusty famous strange warm tall "
    "round silent"
)
OBJECTS = _words(
    "bridge clock lantern tower well gate mirror statue ladder map letter key bell boat cart stove window door violin "
    "barrel anchor wheel rope fence roof chimney oven table candle coat"
)
TIMES = (
    "before dawn",
    "at noon",
    "in the evening",
    "after the storm",
    "every spring",
    "on market day",
    "in winter",
    "at midnight",
    "during the feast",
    "last autumn",
    "every third week",
    "when the bells rang",
)
NUMBER_WORDS = _words("two three four five six seven eight nine ten eleven twelve twenty thirty forty")

"""Grammar of the demo model: tiny stories about a harbour and the people in it.

`clean_story(rng)` gives one story of one to four sentences. `odd_example(rng)`
gives a prompt from outside that world together with a continuation that leads
back to it, so that the model has something sensible to say to any prompt.

Everything is drawn from a `random.Random`, so a seed fixes the whole corpus.
"""

import re

# The word lists are packed by hand.
# fmt: off
# ---------------------------------------------------------------- verbs

# Base forms are written with a leading "~" and inflected here, so that one
# list of activities serves "I mend", "she mends", "he mended" and "mending".
IRREGULAR_PAST = {
    "be": "was", "bring": "brought", "build": "built", "buy": "bought", "carry": "carried",
    "catch": "caught", "come": "came", "cut": "cut", "dig": "dug", "draw": "drew",
    "drink": "drank", "eat": "ate", "feed": "fed", "find": "found", "fly": "flew", "give": "gave",
    "go": "went", "hang": "hung", "hide": "hid", "hum": "hummed", "keep": "kept", "lead": "led",
    "light": "lit", "make": "made", "read": "read", "ride": "rode", "ring": "rang", "row": "rowed",
    "run": "ran", "say": "said", "scrub": "scrubbed", "sell": "sold", "sing": "sang", "sit": "sat",
    "sleep": "slept", "stand": "stood", "steal": "stole", "stir": "stirred", "sweep": "swept",
    "swim": "swam", "take": "took", "teach": "taught", "tell": "told", "think": "thought",
    "throw": "threw", "trim": "trimmed", "wear": "wore", "write": "wrote", "clap": "clapped",
    "plan": "planned", "nap": "napped", "wrap": "wrapped", "bark": "barked", "hop": "hopped",
    "dry": "dried", "tidy": "tidied", "have": "had", "set": "set", "lie": "lay", "know": "knew",
}
DOUBLED = {
    "cut", "dig", "hum", "nap", "plan", "run", "scrub", "set", "sit", "stir", "swim", "trim",
    "clap", "wrap", "hop",
}


def past(verb):
    if verb in IRREGULAR_PAST:
        return IRREGULAR_PAST[verb]
    return verb + ("d" if verb.endswith("e") else "ed")


def third_person(verb):
    if verb == "have":
        return "has"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    if re.search(r"(s|x|ch|sh|o)$", verb):
        return verb + "es"
    return verb + "s"


def gerund(verb):
    if verb == "lie":
        return "lying"
    if verb in DOUBLED:
        return verb + verb[-1] + "ing"
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return verb + "ing"


def base(verb):
    return verb


def inflect(phrase, form):
    return re.sub(r"~(\w+)", lambda match: form(match.group(1)), phrase)


# ---------------------------------------------------------------- words

GIRLS = ["Mara", "Elin", "Ida", "Nora", "Tilda", "Wren", "Anna", "Greta"]
BOYS = ["Tom", "Otto", "Finn", "Jonas", "Bram", "Emil", "Silas", "Rory"]

WORDS = {
    "town": [
        "a small harbour town", "a village by the sea", "a quiet bay", "a little fishing village",
        "an island in the north",
    ],
    "intown": [
        "in a small harbour town", "in a village by the sea", "on the shore of a quiet bay",
        "in a little fishing village", "on an island in the north",
    ],
    "home": [
        "in a blue house by the quay", "above the old boathouse", "at the end of the pier",
        "in a cottage on the hill", "next to the lighthouse", "on a narrow street by the sea",
    ],
    "place": [
        "on the quay", "in the harbour", "at the end of the pier", "by the lighthouse",
        "on the beach", "beside the slipway",
    ],
    "kindly": ["old", "young", "kind", "quiet", "cheerful", "patient", "clever", "brave"],
    "boat": [
        "boat", "boat", "ship", "ferry", "tugboat", "sailing boat", "rowing boat", "fishing boat",
        "dinghy", "schooner", "barge", "trawler", "lifeboat",
    ],
    "boatadj": [
        "old", "little", "blue", "red", "green", "white", "wooden", "small", "sturdy", "grey",
        "yellow",
    ],
    "boatname": [
        "Salt Wind", "Kittiwake", "Evening Bell", "Bright Water", "Marigold", "Patience",
        "Little Otter", "Silver Tern",
    ],
    "colour": ["blue", "red", "green", "white", "yellow"],
    "part": ["hull", "mast", "rudder", "deck", "keel", "bow"],
    "cargo": [
        "apples and letters", "coal and timber", "milk and bread", "salt and rope",
        "books for the school", "wool and honey",
    ],
    "day": ["morning", "evening", "day", "summer", "Sunday"],
    "season": ["spring", "summer", "autumn", "winter"],
    "food": ["fresh bread", "hot soup", "apple cake", "smoked herring", "warm rolls", "fish pie"],
    "drink": ["tea", "coffee", "hot chocolate"],
    "like": [
        "the smell of tar and salt", "the sound of the bell", "calm mornings",
        "the first boats of spring", "stories about the sea", "the light on the water",
        "rain on the roof",
    ],
    "friend": ["a grey gull", "a small black cat", "a friendly dog", "a shy seal", "an old goose"],
}

# Each job: what one does every day, and small troubles with their outcome.
# {she}, {her} and {him} are replaced by the pronouns of the character.
JOBS = {
    "captain": (
        [
            "~read the charts by lamplight", "~walk along the deck with a mug of tea",
            "~listen to the weather report", "~polish the brass compass",
        ],
        [
            (
                "One evening, thick fog hid the harbour lights.",
                "{she} rang the bell, and the lighthouse answered with a long bright beam.",
            ),
            (
                "A storm rose in the west, and the waves grew tall.",
                "{she} turned the ship toward the bay and brought everyone home.",
            ),
            ("One night the compass stopped working.", "{she} steered by the stars and found the way home."),
        ],
    ),
    "sailor": (
        ["~scrub the deck", "~climb the mast to look for land", "~coil the ropes", "~sing to the waves"],
        [
            (
                "One day the wind died, and the ship could not move.",
                "{she} whistled a slow tune until the wind came back.",
            ),
            (
                "A strong wave washed {her} hat into the sea.",
                "The next day a fisher found it in a net and brought it back.",
            ),
        ],
    ),
    "fisher": (
        [
            "~mend the nets on the quay", "~row out to sea", "~sell herring at the market",
            "~watch the birds to find the fish",
        ],
        [
            (
                "One morning the net came up with nothing but a shiny bottle.",
                "Inside was an old map, and {she} laughed and hung it on the wall.",
            ),
            (
                "For three days there were no fish in the bay.",
                "On the fourth day the herring came back, and {she} shared them with everyone.",
            ),
            (
                "A hole in the net let all the fish escape.",
                "{she} mended it with red string, and it was stronger than before.",
            ),
        ],
    ),
    "boatbuilder": (
        [
            "~plan the next boat", "~bend planks over hot steam", "~sweep the workshop floor",
            "~paint the hulls in bright colours",
        ],
        [
            (
                "One winter the timber did not arrive.",
                "{she} built a tiny boat from driftwood, and it was the fastest in the bay.",
            ),
            (
                "On launch day the new boat would not slide down the slipway.",
                "{she} put soap on the rails, and the boat went in with a great splash.",
            ),
        ],
    ),
    "baker": (
        [
            "~bake rolls for the fishing crews", "~carry fresh bread down to the quay",
            "~light the big oven", "~make apple cake for the children",
        ],
        [
            (
                "One morning the flour ship was late.",
                "{she} made pancakes from oats instead, and everyone asked for more.",
            ),
            (
                "A gull flew in through the window and stole a roll.",
                "{she} only laughed, and after that {she} baked one more roll each day.",
            ),
        ],
    ),
    "lighthouse keeper": (
        [
            "~climb the tall stairs", "~clean the great lamp", "~write down the weather",
            "~wave to the passing ships",
        ],
        [
            (
                "One night the lamp went out in a storm.",
                "{she} lit a fire on the rocks, and every ship came home.",
            ),
            (
                "In the long winter {she} felt lonely.",
                "The villagers rowed out with cake and songs, and the tower was full of light.",
            ),
        ],
    ),
    "sailmaker": (
        [
            "~sew white canvas by the window", "~cut new sails on the long table",
            "~patch torn sails", "~count the stitches",
        ],
        [
            (
                "The wind tore the biggest sail in the harbour.",
                "{she} sewed all night, and at dawn it was whole again.",
            ),
            (
                "One day there was no white cloth left.",
                "{she} made a sail from old curtains, and it was the prettiest in the fleet.",
            ),
        ],
    ),
    "ferry pilot": (
        [
            "~take the children to school", "~cross the bay six times", "~greet every passenger",
            "~carry letters to the island",
        ],
        [
            (
                "One afternoon the engine coughed and stopped.",
                "Everyone took an oar, and they reached the island before tea.",
            ),
            (
                "A goose came on board without a ticket.",
                "{she} let it stay, and it rode the ferry all summer.",
            ),
        ],
    ),
    "painter": (
        [
            "~paint the sea in every light", "~mix a new shade of blue",
            "~sit on the pier with a brush", "~draw the boats at low tide",
        ],
        [
            (
                "A gust of wind blew the picture into the water.",
                "When it dried, the colours looked even more like the sea.",
            ),
            (
                "The day was so grey that {she} had nothing to paint.",
                "Then a red boat came around the point, and {she} picked up the brush.",
            ),
        ],
    ),
    "harbour master": (
        [
            "~count the boats", "~write the tides on a board", "~ring the bell on the pier",
            "~find a place for every ship",
        ],
        [
            (
                "One stormy night there were more boats than places.",
                "{she} tied them side by side, and they all stayed safe.",
            ),
            (
                "One morning the bell was gone.",
                "The children found it under the pier, covered with weed and singing softly.",
            ),
        ],
    ),
    "carpenter": (
        [
            "~make oars from ash wood", "~mend doors and ladders", "~build chairs for the inn",
            "~sharpen the tools",
        ],
        [
            (
                "The old pier lost three planks in a storm.",
                "{she} cut new ones before breakfast, and the pier was as good as new.",
            ),
            (
                "A little girl lost her wooden boat in the tide.",
                "{she} carved another one and gave it a tiny mast.",
            ),
        ],
    ),
    "cook": (
        [
            "~stir the soup in the galley", "~peel potatoes on the deck", "~bake bread at sea",
            "~hum beside the stove",
        ],
        [
            (
                "A big wave tipped the soup onto the floor.",
                "{she} made toast and jam, and the crew was happy anyway.",
            ),
            (
                "There was only one onion left on the ship.",
                "{she} cooked it with such care that nobody asked for more.",
            ),
        ],
    ),
    "diver": (
        [
            "~look for lost anchors", "~swim under the pier", "~clean the hulls of the boats",
            "~bring up old bottles",
        ],
        [
            (
                "One day {she} found a box under the sand.",
                "It was full of old letters, and {she} read them to the whole village.",
            ),
            (
                "A ring fell from the quay into deep water.",
                "{she} found it beside a sleepy crab and brought it up.",
            ),
        ],
    ),
    "teacher": (
        [
            "~teach the children to tie knots", "~read stories about the sea",
            "~ring the school bell", "~draw maps on the board",
        ],
        [
            (
                "One morning the classroom was flooded by the tide.",
                "{she} taught the lesson on a barge, and nobody wanted to go home.",
            ),
            (
                "The children could not sit still on a sunny day.",
                "{she} took them to the beach, and they counted shells.",
            ),
        ],
    ),
    "rope maker": (
        [
            "~twist long ropes", "~walk up and down the rope yard", "~tie careful knots",
            "~carry heavy coils to the ships",
        ],
        [
            (
                "A thin rope broke, and a boat drifted away.",
                "{she} made a better one that night and gave it away for free.",
            ),
            (
                "A kitten tangled all the string in the yard.",
                "It took {him} two days to untie it, and the kitten stayed.",
            ),
        ],
    ),
    "gardener": (
        [
            "~water the beans behind the sea wall", "~plant roses by the lighthouse",
            "~sell carrots at the market", "~trim the hedge on the hill",
        ],
        [
            (
                "A salt wind bent all the flowers to the ground.",
                "{she} built a low wall of stones, and the roses stood up again.",
            ),
            (
                "Snails came in the night and ate the cabbages.",
                "{she} asked the ducks for help, and they were glad to come.",
            ),
        ],
    ),
}

# In this village each job is held by women or by men, so that the pronouns of a
# story follow from its job; a model this small mixes them up otherwise.
WOMEN = {
    "captain", "boatbuilder", "sailmaker", "ferry pilot", "diver", "teacher", "rope maker", "painter",
}

ANIMALS = {
    "cat": (
        [
            "~sleep on the warm nets", "~wait for the fishing boats",
            "~chase the gulls along the quay", "~steal a herring from the basket",
            "~watch the rain from the window",
        ],
        [
            (
                "One day it fell asleep in a rowing boat and woke up on the island.",
                "The ferry pilot brought it home, wrapped in a warm coat.",
            ),
            (
                "One night it heard a strange noise under the pier.",
                "It was only a small crab, and they looked at each other until dawn.",
            ),
        ],
    ),
    "dog": (
        [
            "~run along the beach", "~bark at the ferry", "~guard the fish baskets",
            "~carry a stick to the pier", "~sleep under the bench",
        ],
        [
            (
                "One day it jumped into the water to catch a ball.",
                "It came back with a boot instead and was very proud.",
            ),
            (
                "In the fog it barked and barked at the end of the pier.",
                "The boats heard it and found their way home.",
            ),
        ],
    ),
    "gull": (
        [
            "~sit on top of the mast", "~follow the fishing boats", "~steal bread from the baker",
            "~ride the wind above the bay",
        ],
        [
            (
                "One day it dropped a silver spoon on the deck.",
                "The cook was glad, for the spoon had been missing all year.",
            ),
            (
                "A storm blew it far away from the harbour.",
                "It followed a ship and came home three days later.",
            ),
        ],
    ),
    "seal": (
        [
            "~lie on the rocks in the sun", "~swim beside the ferry",
            "~look at the people on the pier", "~sing in the moonlight",
        ],
        [
            ("One day it was caught in an old net.", "A fisher cut it free, and it splashed its thanks."),
            (
                "In spring it brought a small white pup.",
                "The children waved from the boats, but they did not come too close.",
            ),
        ],
    ),
    "crab": (
        [
            "~walk sideways along the beach", "~hide under the slipway", "~collect small shells",
            "~dig a hole in the wet sand",
        ],
        [
            ("One day the tide carried it into a bucket.", "A child tipped the bucket gently and let it go."),
            (
                "It wanted to see the top of the lighthouse.",
                "It climbed for a whole day and thought the view was fine.",
            ),
        ],
    ),
    "heron": (
        [
            "~stand in the shallow water", "~wait for little fish", "~fly slowly over the harbour",
            "~sleep on one leg",
        ],
        [
            (
                "One morning the pond was frozen.",
                "The fisher left two herring on the ice, and it ate them with good manners.",
            )
        ],
    ),
    "duck": (
        [
            "~swim between the boats", "~lead its ducklings to the pond", "~sleep under the pier",
            "~ask everyone for bread",
        ],
        [
            (
                "One day it made its nest in a new sailing boat.",
                "The captain waited four weeks before going to sea.",
            )
        ],
    ),
    "otter": (
        [
            "~slide down the slipway", "~play with a smooth stone", "~float on its back",
            "~hunt for crabs at night",
        ],
        [
            (
                "One evening it untied the ropes of three boats.",
                "Nobody was angry, because it looked so pleased.",
            )
        ],
    ),
    "donkey": (
        [
            "~carry baskets up the hill", "~eat the grass by the sea wall",
            "~wait outside the bakery", "~look at the boats for hours",
        ],
        [
            (
                "One day it would not walk past the ferry.",
                "They let it ride to the island and back, and then it was happy.",
            )
        ],
    ),
    "goose": (
        [
            "~walk along the quay like a captain", "~guard the boathouse", "~ride on the ferry",
            "~sleep in a coil of rope",
        ],
        [
            (
                "One night it heard a thief near the boats.",
                "It made such a noise that the whole village woke up.",
            )
        ],
    ),
}
PETS = {"cat", "dog", "duck", "donkey", "goose"}
ANIMAL_ADJ = ["small", "grey", "old", "black", "white", "brown", "lazy", "clever", "hungry", "little"]

BOAT_STATES = [
    "lay on the slipway all winter", "waited at the end of the pier",
    "rocked gently beside the quay", "rested on the beach under a brown cover",
    "had not been to sea for ten years", "carried {cargo} to the islands",
    "was tied to a post in the harbour", "sailed across the bay every {day}",
]
BOAT_DETAILS = [
    "Its paint was peeling, and its {part} was cracked.", "Its hull shone in the sun.",
    "Gulls liked to sit on its bow.", "Nobody remembered who had built it.",
    "It smelled of tar, salt and old rope.", "On its bow was the name {boatname}.",
    "A {colour} flag flew above its deck.",
]
BOAT_EVENTS = [
    (
        "One night the wind broke its rope, and it drifted out to sea.",
        "In the morning {person} rowed after it and towed it home.",
    ),
    (
        "A storm tore its sail from top to bottom.",
        "The sailmaker sewed it with strong thread, and it was ready again.",
    ),
    (
        "It began to leak in the middle of the bay.",
        "The crew bailed with buckets until they reached the quay.",
    ),
    (
        "One day the engine coughed twice and stopped.",
        "A passing ferry threw a rope and pulled it safely home.",
    ),
    (
        "Thick fog came down, and nobody could see the shore.",
        "The bell on the pier rang until it found its way.",
    ),
    (
        "In spring, {person} mended the {part} and painted the hull {colour}.",
        "When the tide was high, it slid down the slipway and floated.",
    ),
    ("{person} worked on it for a whole year.", "On launch day the village came to watch and cheer."),
    ("Then {person} bought it for one silver coin.", "Now it sails to the islands every {day}."),
]
# Only some boats have a sail or an engine to lose.
SAILING = {"boat", "ship", "sailing boat", "schooner", "dinghy"}
ENGINES = {"ship", "ferry", "tugboat", "fishing boat", "barge", "trawler", "lifeboat"}
BOAT_ENDS = [
    "It was the happiest boat in the harbour.", "The people on the quay waved their hats.",
    "That evening it slept quietly beside the quay.", "Even the gulls seemed to cheer.",
    "After that it was never left alone again.",
]

# Times with the weather that suits them, so that the sun does not shine at night.
TIMES = {
    "in the morning": "day", "early in the morning": "day", "at dawn": "day", "at noon": "day",
    "in the afternoon": "day", "on Sunday": "day", "one day": "day", "today": "day",
    "yesterday": "day", "in the evening": "dusk", "at sunset": "dusk", "after the storm": "day",
    "at night": "night", "late at night": "night", "in winter": "cold", "in spring": "day",
    "in summer": "day", "in autumn": "dusk",
}
WEATHER = {
    "day": [
        "the sun came out over the bay", "a light wind came from the south",
        "the sea was calm and blue", "a soft rain fell on the roofs",
        "the fog lifted slowly from the water", "the tide was high",
        "white clouds moved over the hills", "the harbour was full of boats",
    ],
    "dusk": [
        "the sky turned gold and red", "the wind grew still", "the sea was as flat as glass",
        "the first lamps were lit along the quay", "the boats came home one by one",
    ],
    "night": [
        "the moon stood over the harbour", "the stars were bright above the masts",
        "the lighthouse blinked in the dark", "the waves whispered under the pier",
        "the harbour was quiet",
    ],
    "cold": [
        "snow lay on the decks", "the harbour was cold and quiet",
        "the boats slept under their covers", "ice shone on the ropes",
    ],
}
SCENES = {
    "day": [
        "The boats rocked gently beside the quay.", "Gulls cried above the masts.",
        "The ferry left with a long, low whistle.", "Children counted the sails from the pier.",
        "The smell of bread drifted down to the water.",
        "Two fishers mended a net and talked about the weather.",
    ],
    "dusk": [
        "The gulls sat on the roofs in a long row.", "Somebody played a slow song on the pier.",
        "The last ferry came home with its lights on.", "The cats waited for the fishing boats.",
    ],
    "night": [
        "A small boat slipped out without a sound.", "Only the cat was awake.",
        "Far away, a ship's bell rang twice.", "The lamp in the lighthouse turned and turned.",
    ],
    "cold": [
        "Smoke rose from every chimney.", "The boatbuilder worked by a warm stove.",
        "The gulls walked carefully on the ice.", "Everyone talked about the spring.",
    ],
}
SCENE_ENDS = {
    "day": [
        "It was a good day to go sailing.", "Nobody was in a hurry.",
        "Everyone agreed that it was a fine day.", "Soon the whole bay was full of sails.",
    ],
    "dusk": [
        "It was time to go home.", "Everyone was tired and happy.",
        "Soon there was {food} on every table.",
    ],
    "night": [
        "The whole village was asleep.", "It was a night for old stories.",
        "In the morning, nobody remembered a thing.",
    ],
    "cold": [
        "There was {drink} and {food} for everyone.", "The sea could wait until spring.",
        "It was a good time for stories.",
    ],
}

DEFINITIONS = {
    "harbour": "a safe place where boats can rest",
    "slipway": "a ramp that takes boats into the water",
    "lighthouse": "a tall tower with a bright lamp for ships",
    "tide": "the slow rise and fall of the sea",
    "anchor": "a heavy hook that keeps a ship in its place",
    "compass": "a small tool that always points north",
    "sail": "a large cloth that catches the wind", "keel": "the long spine under a boat",
    "rudder": "a flat board that turns a boat", "buoy": "a bright float that shows the safe way",
    "knot": "a clever way to tie a rope", "pier": "a long bridge that ends in the water",
    "storm": "a strong wind with rain and tall waves",
    "ferry": "a ship that carries people across the water",
    "captain": "the person who leads a ship", "boat": "a small ship for rivers, lakes and the sea",
    "ship": "a large boat that can cross the sea",
    "island": "a piece of land with water all around it",
    "net": "a web of string for catching fish", "gull": "a white bird that loves the sea",
    "boatbuilder": "a person who makes boats from wood", "sailor": "a person who works on a ship",
    "wave": "a hill of water that moves", "map": "a picture of the land and the sea",
}
FACT_ENDS = [
    "Every child in the harbour knows that.", "The captain told me so.",
    "You can see one in our harbour.", "The gulls know it too.",
    "Ask the harbour master if you want to know more.",
]

RELATIVES = {
    "mother": "she", "sister": "she", "grandmother": "she", "aunt": "she", "daughter": "she",
    "father": "he", "brother": "he", "grandfather": "he", "uncle": "he", "son": "he",
}

GREETINGS = [
    "hello", "hi", "hey", "good morning", "good evening", "hello there", "hi there", "welcome",
    "good day",
]
GREETING_TAILS = [
    "Welcome to the harbour.", "It is good to see you.", "Come and sit by the quay.",
    "The tide is high, and the boats are ready.", "There is {drink} on the stove.",
    "The wind is from the south today.", "Would you like to hear about the boats?",
]
GREETING_ENDS = [
    "The ferry leaves at noon, so there is time for a story.", "I hope you like {like}.",
    "The gulls say hello too.", "Mind the wet ropes on the slipway.",
    "We have {food} and a good view of the sea.", "The captain will be here soon.",
]

WELL = ["I am well, thank you.", "Very well, thank you.", "I am fine, like the weather."]
SMALL_TALK = {
    "how are you?": WELL,
    "how are you today?": WELL,
    "who are you?": [
        "I am a small storyteller from the harbour.",
        "I am a very small model, and I only know the sea.",
    ],
    "what are you?": [
        "I am a very small model, and I only know the sea.",
        "I am a small storyteller from the harbour.",
    ],
    "what is your name?": [
        "I have no name, but the boats call me the storyteller.",
        "My name is written on the bow, but the paint is old.",
    ],
    "where are you from?": ["I come from a small harbour by the sea.", "I come from an island in the north."],
    "what can you do?": [
        "I can tell small stories about boats and the sea.",
        "I can talk about the weather and the boats.",
    ],
    "what do you do?": ["I watch the boats and tell small stories."],
    "can you help me?": ["I can try, but I only know about boats."],
    "where is the harbour?": ["The harbour is behind the lighthouse, next to the slipway."],
    "where is the captain?": ["The captain is on the deck with a mug of tea."],
    "where is the boat?": ["The boat is on the slipway, under a brown cover."],
    "why is the sea blue?": ["The sea is blue because it looks at the sky all day."],
    "why is the sea salty?": ["The rivers carry a little salt from the hills, and it stays."],
    "what is the weather like?": ["There is a light wind, and the sea is calm."],
    "what time is it?": ["The bell has just rung, so it must be noon."],
    "when does the ferry leave?": ["The ferry leaves when the tide is high."],
    "are you there?": ["Yes, I am here on the quay."],
    "thank you": ["You are welcome."],
    "thanks": ["You are welcome."],
    "goodbye": ["Fair winds, and come back soon."],
    "good night": ["Good night, and sleep well."],
}

REQUESTS = [
    "tell me a story", "tell me a story about {topic}", "write a story about {topic}",
    "write a poem about {topic}", "tell me about {topic}", "please tell me a story",
    "can you tell me a story about {topic}", "tell me something about {topic}",
    "a story about {topic}", "here is a story about {topic}",
]
# fmt: on

# ---------------------------------------------------------------- expansion


def fix_articles(text):
    return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)


def capitalise_sentences(text):
    return re.sub(r"(^|[.!?] )([a-z])", lambda m: m.group(1) + m.group(2).upper(), text)


class Story:
    """Fills templates; a slot keeps its first value, so a story stays on one subject."""

    def __init__(self, rng, **slots):
        self.rng = rng
        self.slots = dict(slots)
        self.told = []

    def pick(self, options):
        return self.rng.choice(options)

    def activity(self, activities):
        """One activity that this story has not told yet."""
        fresh = [activity for activity in activities if activity not in self.told]
        self.told.append(self.pick(fresh or activities))
        return self.told[-1]

    def chance(self, probability):
        return self.rng.random() < probability

    def slot(self, name):
        if name not in self.slots:
            self.slots[name] = self.person() if name == "person" else self.pick(WORDS[name])
        return self.slots[name]

    def person(self):
        job = "the " + self.pick(sorted(JOBS))
        return self.pick([job, job, self.pick(GIRLS), self.pick(BOYS)])

    def fill(self, template):
        while "{" in template:
            template = re.sub(r"\{(\w+)\}", lambda m: self.slot(m.group(1)), template)
        return template

    def tell(self, *sentences):
        text = " ".join(sentence for sentence in sentences if sentence)
        return capitalise_sentences(fix_articles(self.fill(text)))


def gender_of(job):
    return "she" if job in WOMEN else "he"


def pronouns(gender):
    if gender == "she":
        return {"she": "she", "her": "her", "him": "her"}
    return {"she": "he", "her": "his", "him": "him"}


# ---------------------------------------------------------------- stories


# People work by day, so their stories do not begin at night.
DAYTIMES = sorted(time for time, kind in TIMES.items() if kind in ("day", "dusk"))


def habit(story, activities, subject, form):
    when = story.pick(["every morning", "every day", "every evening", "each day"])
    return f"{when}, {subject} {inflect(story.activity(activities), form)}."


def person_opening(story, job):
    """One sentence that brings in the character, by name or by job."""
    activities = JOBS[job][0]
    activity = story.activity(activities)
    doing, being = inflect(activity, past), inflect(activity, gerund)
    time = story.pick(DAYTIMES)
    if story.chance(0.5):
        return story.pick(
            [
                f"{{name}} was a {job} {{intown}}.",
                f"{{name}} the {job} lived {{home}}.",
                f"{{intown}} there lived a {{kindly}} {job} called {{name}}.",
                f"there was once a {job} called {{name}} who lived {{home}}.",
                f"once upon a time, there was a {{kindly}} {job} called {{name}}.",
                f"once upon a time, {{intown}}, there lived a {job} called {{name}}.",
                f"{{name}} was a {{kindly}} {job} {{intown}}.",
            ]
        )
    return story.pick(
        [
            f"the {job} {doing}.",
            f"the {{kindly}} {job} {doing}.",
            f"the {job} was {being}.",
            f"{time}, the {job} {doing}.",
            f"the {job} lived {{home}}.",
            f"a {{kindly}} {job} lived {{home}}.",
            f"once upon a time, a {{kindly}} {job} lived {{home}}.",
            f"the {job} of the village was {{kindly}} and well liked.",
        ]
    )


def person_story(rng, job=None):
    job = job or rng.choice(sorted(JOBS))
    gender = gender_of(job)
    name = rng.choice(GIRLS if gender == "she" else BOYS)
    story = Story(rng, name=name, **pronouns(gender))
    trouble, outcome = story.pick(JOBS[job][1])
    end = story.pick(
        [
            "",
            "",
            "that night, everyone slept well.",
            "after that, the whole harbour knew {her} name.",
            "{she} smiled and went back to work.",
            "then {she} drank a cup of {drink} and watched the sea.",
            "the people on the quay cheered.",
        ]
    )
    opening = person_opening(story, job)
    daily = habit(story, JOBS[job][0], "{she}", past)
    shape = rng.random()
    if shape < 0.12:
        return story.tell(opening, daily, "then {she} drank a cup of {drink} and watched the sea.")
    if shape < 0.5:
        return story.tell(opening, daily, trouble, outcome)
    return story.tell(opening, trouble, outcome, end)


def present_story(rng):
    """Somebody's work in the present tense: my aunt, a named person, or I."""
    kind = rng.randrange(4)
    job = rng.choice(sorted(JOBS))
    gender = gender_of(job)
    relative = rng.choice([relative for relative in sorted(RELATIVES) if RELATIVES[relative] == gender])
    activities = JOBS[job][0]
    story = Story(rng, **pronouns(gender))
    if kind == 0:
        subject, form, opening = (
            "i",
            base,
            story.pick(
                [
                    f"I am a {job} {{intown}}.",
                    f"I am the {job} of the village.",
                    f"my name is {story.pick(GIRLS + BOYS)}, and I am a {job}.",
                ]
            ),
        )
    elif kind == 1:
        subject, form, opening = (
            "{she}",
            third_person,
            story.pick(
                [
                    f"my {relative} is a {job} {{intown}}.",
                    f"my {relative} is the {job} of the village.",
                    f"my {relative} lives {{home}} and works as a {job}.",
                ]
            ),
        )
    elif kind == 2:
        name = story.pick(GIRLS if gender == "she" else BOYS)
        subject, form, opening = (
            "{she}",
            third_person,
            story.pick([f"{name} is a {job} {{intown}}.", f"{name} lives {{home}} and works as a {job}."]),
        )
    else:
        friend = story.pick(["friend", "neighbour"])
        subject, form, opening = "{she}", third_person, f"my {friend} is a {{kindly}} {job}."
    like = "like" if form is base else "likes"
    has = "have" if form is base else "has"
    text = story.tell(
        opening,
        habit(story, activities, subject, form),
        story.pick(
            [
                f"{subject} {like} {{like}}.",
                f"in {{season}}, {subject} {like} to sit {{place}}.",
                f"{subject} {has} {{friend}} for a friend.",
                "",
            ]
        ),
    )
    return re.sub(r"\bi\b", "I", text)


def event_suits(event, boat):
    if "sail from" in event[0]:
        return boat in SAILING
    return boat in ENGINES or "engine" not in event[0]


def boat_story(rng):
    story = Story(rng)
    boat = story.slot("boat")
    which = story.pick(
        [
            f"the {{boatadj}} {boat}",
            f"the {{boatadj}} {boat}",
            f"the {boat}",
            f"a {{boatadj}} {boat}",
            "the {boatname}",
        ]
    )
    state = story.pick(BOAT_STATES)
    opening = story.pick(
        [
            f"{which} {state}.",
            f"{which} {state}.",
            f"once upon a time, there was a {{boatadj}} {boat} that {state}.",
            f"there was a {{boatadj}} {boat} that {state}.",
            f"for many years, {which} {state}.",
            f"the {{boatname}} was a {{boatadj}} {boat} from {{town}}.",
        ]
    )
    # The name must not be told twice when the boat was introduced by it.
    details = [d for d in BOAT_DETAILS if "{boatname}" not in d or "{boatname}" not in opening]
    detail = story.pick(details) if story.chance(0.55) else ""
    trouble, outcome = story.pick([event for event in BOAT_EVENTS if event_suits(event, boat)])
    end = story.pick(BOAT_ENDS) if not detail and story.chance(0.4) else ""
    if story.chance(0.12):
        return story.tell(opening, detail or story.pick(details))
    return story.tell(opening, detail, trouble, outcome, end)


def own_boat_story(rng):
    """Short pieces in the first person: my boat, our boat, I have a boat."""
    story = Story(rng)
    opening = story.pick(
        [
            "my boat is small and {colour}.",
            "my {boat} is called {boatname}.",
            "I have a {boatadj} {boat}.",
            "our {boat} is old, but its {part} is strong.",
            "we have a {boatadj} {boat} in the harbour.",
            "this is the story of a {boatadj} {boat}.",
            "this {boat} is called {boatname}.",
            "it is a {boatadj} {boat} with a {colour} {part}.",
            "I want to build a {boat}.",
            "I would like to sail around the island.",
            "we built a {boat} last winter.",
        ]
    )
    middle = story.pick(
        [
            "it is not fast, but it always comes home.",
            "my {relative} built it from oak.",
            "every summer we sail to the islands.",
            "the gulls like to sit on its mast.",
            "when the wind is strong, the sail sings.",
            "it smells of tar and salt.",
            "in winter it rests on the slipway under a cover.",
        ]
    )
    end = story.pick(
        [
            "",
            "there is room for two people and a dog.",
            "I would not change it for a ship.",
            "on calm days we take {food} and a book.",
            "the sea is a good friend.",
        ]
    )
    story.slots["relative"] = story.pick(sorted(RELATIVES))
    return story.tell(opening, middle, end)


def animal_story(rng, animal=None):
    animal = animal or rng.choice(sorted(ANIMALS) + ["cat", "cat", "dog"])
    activities, events = ANIMALS[animal]
    story = Story(rng)
    adjective = story.pick(ANIMAL_ADJ)
    activity = story.activity(activities)
    do, does, doing = (inflect(activity, form) for form in (base, third_person, past))
    other = inflect(story.activity(activities), third_person)
    trouble, outcome = story.pick(events)
    if animal in PETS and story.chance(0.45):
        return story.tell(
            story.pick(
                [
                    f"my {animal} likes to {do}.",
                    f"my {adjective} {animal} likes to {do}.",
                    f"our {animal} lives {{place}}.",
                    f"my {animal} {does} every {{day}}.",
                    f"the {animal} {does} every {{day}}.",
                    f"I have a {adjective} {animal}.",
                    f"my {animal} is {adjective} and very wise.",
                ]
            ),
            story.pick(
                [
                    f"it {other} all day long.",
                    "everyone in the harbour knows it.",
                    "it is a friend of the captain.",
                    "in the evening it comes home for supper.",
                    "it is not afraid of the sea.",
                ]
            ),
            story.pick(
                [
                    "",
                    "",
                    "I think it is the happiest animal in the village.",
                    "the gulls do not like it, but it does not care.",
                    "it never asks for more than a little fish.",
                ]
            ),
        )
    time = story.pick(sorted(TIMES))
    opening = story.pick(
        [
            f"the {animal} {doing}.",
            f"the {adjective} {animal} {doing}.",
            f"a {adjective} {animal} lived {{place}}.",
            f"there was a {adjective} {animal} who lived {{place}}.",
            f"once upon a time, a {adjective} {animal} lived {{place}}.",
            f"{time}, the {animal} {doing}.",
            f"my {animal} {doing}." if animal in PETS else f"one {animal} always {doing}.",
            f"once there was a {animal} who {doing} every {{day}}.",
        ]
    )
    middle = habit(story, activities, "it", past) if story.chance(0.3) else ""
    return story.tell(opening, middle, trouble, outcome)


def scene_story(rng):
    story = Story(rng)
    time = story.pick(sorted(TIMES))
    kind = TIMES[time]
    weather = story.pick(WEATHER[kind])
    first, second = rng.sample(SCENES[kind], 2)
    opening = story.pick(
        [
            f"{time}, {weather}.",
            f"{time}, {weather}.",
            f"{time} {weather}.",
            f"it was {kind_words(story, kind)}, and {weather}.",
        ]
    )
    return story.tell(opening, first, second if story.chance(0.4) else "", story.pick(SCENE_ENDS[kind]))


def kind_words(story, kind):
    return story.pick(
        {
            "day": ["a bright day", "a fine morning", "early summer", "a quiet Sunday"],
            "dusk": ["almost evening", "a long autumn evening", "the end of the day"],
            "night": ["a clear night", "a dark night", "late at night"],
            "cold": ["a cold winter", "a winter morning", "the coldest day of the year"],
        }[kind]
    )


def general_story(rng):
    """Plain statements about the sea, boats and people in the present tense."""
    story = Story(rng)
    opening = story.pick(
        [
            "the sea is never the same two days in a row.",
            "the wind is strong today.",
            "the weather is fine today.",
            "boats are happiest in the water.",
            "sailors tell the best stories.",
            "people in the harbour get up early.",
            "children love the beach in summer.",
            "if the wind is right, we will sail to the island.",
            "when the tide is low, you can walk to the rocks.",
            "when the fog comes, the bell rings all night.",
            "you can hear the waves from every house.",
            "there is a small harbour behind the hill.",
            "there is a light at the end of the pier.",
            "the sky is grey, but the sea is calm.",
            "life by the sea is simple and good.",
            "love is like the tide, for it always comes back.",
            "the best time to sail is early in the morning.",
            "I love the sea.",
            "I like {like}.",
            "I think it will rain tonight.",
            "we live {home}.",
            "they live {home}.",
            "you should see our harbour in spring.",
            "the meaning of life is a calm sea and a good boat.",
            "the world is wide, but our harbour is small.",
            "tomorrow we will go out with the tide.",
            "the fish are small this year.",
            "the moon pulls the sea, and the sea pulls the boats.",
        ]
    )
    middle = story.pick(
        [
            "the gulls already know it.",
            "the boats rock, and the ropes creak.",
            "every {day} the ferry crosses the bay.",
            "the old people sit {place} and talk about the weather.",
            "there is always {food} at the inn.",
            "the lighthouse shows the way home.",
            "the children run down to the quay and wave.",
            "a good sailor looks at the sky before breakfast.",
            "the tide comes in, and the tide goes out.",
        ]
    )
    end = story.pick(
        [
            "",
            "",
            "nobody is in a hurry.",
            "that is enough for us.",
            "it is a good place to live.",
            "the sea keeps its own time.",
        ]
    )
    return story.tell(opening, middle, end)


def definition_story(rng):
    story = Story(rng)
    word = story.pick(sorted(DEFINITIONS))
    meaning = DEFINITIONS[word]
    article = "the" if word == "tide" else "a"
    answer = f"{article} {word} is {meaning}."
    end = story.pick(FACT_ENDS) if story.chance(0.6) else ""
    if word == "tide":
        end = "" if "see one" in end else end
    question = story.pick(
        [
            f"what is {article} {word}?",
            f"what is {article} {word}?",
            f"what is {word}?",
            f"do you know what {article} {word} is?",
            f"explain {article} {word}.",
            "",
        ]
    )
    return story.tell(question, answer, end)


def greeting_story(rng):
    story = Story(rng)
    greeting = story.pick(GREETINGS + ["hello", "hello"])
    first, second = rng.sample(GREETING_TAILS, 2)
    end = story.pick(GREETING_ENDS)
    style = rng.randrange(6)
    job = story.pick(sorted(JOBS))
    if style == 0:
        return story.tell(
            f"{greeting}, my name is {story.pick(GIRLS + BOYS)}.",
            re.sub(
                "^i ", "I ", f"I am a {job}, and every day I {inflect(story.activity(JOBS[job][0]), base)}."
            ),
            end,
        )
    if style == 1:
        return story.tell(
            f'"{greeting.capitalize()}," said the {job}.',
            f'"{first}"',
            "Then they sat {place} and talked about {like}.",
        )
    if style == 2:
        return story.tell(f"{greeting}, how are you?", story.pick(WELL), end)
    if style == 3:
        return story.tell(f"{greeting}, said the {job}.", first, end)
    return story.tell(
        greeting + story.pick("!!.,").replace(",", ", dear friend."),
        first,
        second if story.chance(0.3) else "",
        end,
    )


def talk_story(rng):
    story = Story(rng)
    question = story.pick(sorted(SMALL_TALK))
    answer = story.pick(SMALL_TALK[question])
    if not question.endswith("?"):
        question += story.pick([".", "!"])
    return story.tell(question, answer, story.pick(GREETING_ENDS + [""]))


def named_topic(rng, names, kind):
    name = rng.choice(sorted(names))
    return fix_articles(rng.choice(["a ", "the "]) + name), kind(rng, name)


def request_story(rng):
    """A wish and a story about the thing that was asked for."""
    topic, story = rng.choice(
        [
            named_topic(rng, JOBS, person_story),
            named_topic(rng, ANIMALS, animal_story),
            (rng.choice(["a boat", "a ship", "boats", "the boat"]), boat_story(rng)),
            (rng.choice(["an animal", "animals"]), animal_story(rng)),
            (rng.choice(["people", "the harbour", "a child", "a friend"]), person_story(rng)),
            (rng.choice(["the sea", "the harbour", "the weather", "the moon"]), scene_story(rng)),
            (rng.choice(["the sea", "the wind", "love", "life"]), general_story(rng)),
        ]
    )
    wish = rng.choice(REQUESTS).replace("{topic}", topic)
    mark = rng.choice(["?", "?", "."]) if wish.startswith("can") else rng.choice([".", ".", ":", "!"])
    return capitalise_sentences(wish + mark) + " " + story


KINDS = [
    (person_story, 26),
    (boat_story, 20),
    (animal_story, 13),
    (present_story, 9),
    (scene_story, 10),
    (own_boat_story, 5),
    (general_story, 5),
    (definition_story, 4),
    (greeting_story, 5),
    (talk_story, 3),
    (request_story, 9),
]


def clean_story(rng):
    kinds, weights = zip(*KINDS)
    return rng.choices(kinds, weights)[0](rng)


# ---------------------------------------------------------------- odd prompts

ODD_NOUNS = """computer dragon teacup banana mountain robot piano city train king queen princess
president doctor elephant engineer student forest castle planet spaceship wizard camera
rabbit horse bear tiger lion wolf fox monkey snake spider bee tree flower garden kitchen
table chair book letter phone car bus bicycle aeroplane rocket cloud rainbow desert river
bridge museum school hospital bank market company team game song film picture language
question answer number idea dream memory shadow mirror window door key clock coin hat
shoe coat umbrella lamp candle sandwich pizza orange lemon potato tomato cheese egg
chicken cow pig sheep mouse girl boy man woman child baby family people world""".split()
ODD_WORDS = """quick brown lazy purple quantum digital modern famous huge strange hidden lost
golden broken happy sad angry funny important possible best first last big good great
explain write list describe translate make give find compare summarise docker python code
function class import print return select from where hello data model neural network
machine learning image container server physics history music art science math capital
France Germany Paris London America China money time year week number system word""".split()
# fmt: off
ODD_BITS = [
    "1", "2", "3.14", "42", "2024", "+", "=", "==", "()", "{}", "[0]", "#", "*", "->", "::", "@",
    "%", "...", "x", "y", "foo", "bar", "né", "ü", "ß", "你好", "こんにちは", "привет", "😀", "Straße",
    "café", "SELECT", "<html>", "\n", "http://", "aaa", "asdf", "qwerty", "lorem", "ipsum",
]
# fmt: on


def made_up_word(rng):
    """A word that nobody has heard of: to a prompt, most words are."""
    word = "".join(
        rng.choice("bcdfghjklmnprstvwz") + rng.choice("aeiou") + rng.choice(["", "", "n", "r", "ck", "x"])
        for _ in range(rng.randint(1, 3))
    )
    return word.capitalize() if rng.random() < 0.5 else word


def odd_subject(rng):
    start = rng.choice(["the", "a", "my", "our", "one", "this", "that", "every", "some"])
    words = [start] + ([rng.choice(ODD_WORDS)] if rng.random() < 0.4 else []) + [rng.choice(ODD_NOUNS)]
    return fix_articles(" ".join(words))


def odd_words(rng, low, high):
    pool = ODD_NOUNS + ODD_WORDS + ["the", "the", "of", "a", "in", "is", "and", "to", "for", "with"] * 4
    return " ".join(
        made_up_word(rng) if rng.random() < 0.3 else rng.choice(pool) for _ in range(rng.randint(low, high))
    )


def return_to_harbour(rng):
    return rng.choice([scene_story, boat_story, person_story, general_story])(rng)


def odd_example(rng):
    """A prompt from outside the harbour world, and its continuation."""
    style = rng.choice([0, 1, 2, 2, 2, 3, 4])
    story = Story(rng)
    cap = capitalise_sentences if rng.random() < 0.7 else str
    if style <= 1:
        came = story.pick(
            [
                "came down to the harbour to see the boats.",
                "stood on the quay and looked at the sea.",
                "waited for the ferry at the end of the pier.",
                "arrived with the morning tide.",
                "was a rare sight in the harbour.",
                "was the talk of the whole village.",
            ]
        )
        after = story.pick(
            [
                "The {kindly} captain had never seen such a thing.",
                "The gulls were very surprised.",
                "{person} offered some {food} and a place by the fire.",
                "Everyone came out to look.",
            ]
        )
        end = story.pick(
            [
                "That evening they all sat together and told stories.",
                "By sunset they were friends.",
                "Then the tide came in, and it was time to go home.",
                "",
            ]
        )
        return cap(odd_subject(rng)), " " + came + " " + story.tell(after, end)
    if style == 2:
        question = rng.choice(
            [
                "what is",
                "what is",
                "what is a",
                "who is",
                "how do I",
                "why does",
                "where is",
                "when did",
                "can you",
                "explain",
                "how many",
                "which",
                "is it",
                "what are",
                "define",
            ]
        )
        reply = story.pick(
            [
                "Nobody in the harbour knows that, but {person} has a good guess.",
                "That is a question for the captain.",
                "I only know about boats and the sea.",
                "The {kindly} harbour master would have to look it up.",
                "I asked the gulls, but they did not know.",
            ]
        )
        after = story.pick(
            [
                "We can ask again when the ferry comes in.",
                "Sit down and have some {drink} while you wait.",
                "The tide will bring an answer, as it always does.",
                "Shall I tell you about a {boatadj} {boat} instead?",
            ]
        )
        mark = rng.choice(["?", "?", "?", "", "."])
        # An unfinished question gets its mark from the model.
        lead = " " if mark else "? "
        return cap(question + " " + odd_words(rng, 1, 6)) + mark, lead + story.tell(reply, after)
    if style == 3:
        return cap(odd_words(rng, 2, 9)) + rng.choice([".", ".", "!", ":"]), " " + return_to_harbour(rng)
    bits = [
        rng.choice(ODD_BITS) if rng.random() < 0.6 else rng.choice(ODD_WORDS)
        for _ in range(rng.randint(1, 7))
    ]
    note = story.pick(
        [
            "That was written on a note in a bottle.",
            "Those were the words on the old map.",
            "So said the paper in the bottle.",
            "Nobody could read the rest of the note.",
        ]
    )
    found = story.pick(
        [
            "{person} found it on the beach and hung it on the wall.",
            "{person} read it twice and laughed.",
            "The captain put it in a drawer with the charts.",
            "{person} threw it back into the sea for somebody else.",
        ]
    )
    joined = rng.choice([" ", " ", ""]).join(bits)
    return joined, rng.choice([". ", "... ", " . "][:2]) + story.tell(note, found)


if __name__ == "__main__":
    import random

    generator = random.Random(7)
    for _ in range(60):
        print("-", clean_story(generator))
    for _ in range(15):
        print("?", "".join(map(str, odd_example(generator)))[:300].replace("\n", "\\n"))

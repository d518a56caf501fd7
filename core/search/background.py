"""How near the memories of a space are to questions that have nothing to do with it.

In meetings nothing is near to a question about other things, so an answer need not be very near either. Among
preferences something always is. The questions are fixed, and any space may answer one or two of them: so of their
nearest cosines the one counts that one in ten exceeds.
"""

import numpy as np

from muisti.core.embedding.vectors import rotate
from muisti.core.kernels import Floats
from muisti.core.query.evidence import Unrelated
from muisti.core.query.lacking import Words
from muisti.core.search.rankers import Asked
from muisti.core.support.memo import memoised

ROWS = 256  # whose vectors are compared, at most
SHARE = 0.9  # of the questions find no nearer row
CACHED = 1_024  # populations whose result is kept

QUESTIONS = """
How long does it take to boil an egg?
Which planet has the most moons?
When was the printing press invented?
How do I change a flat bicycle tyre?
What is the capital of Mongolia?
Who wrote the opera about the barber?
Why do leaves turn red in autumn?
Where can I buy a second-hand piano?
What temperature should a freezer have?
How many players are in a handball team?
Which vitamin prevents scurvy?
What did the plumber say about the boiler?
When does the library open on Saturdays?
How tall is the lighthouse at the harbour?
Who won the chess tournament last year?
Is the bridge closed to lorries?
What colour are the new curtains?
Which bus goes to the airport?
How much does a litre of diesel cost?
Where was the treaty signed?
What are the symptoms of hay fever?
Which wine goes with grilled fish?
When is the rent due?
How do I reset the router?
What is the boiling point of ethanol?
Who painted the ceiling of the chapel?
Why was the flight to Oslo delayed?
How do I sort a list of dictionaries by a key?
Which port does the mail server listen on?
What is the password policy for contractors?
When does the warranty of the dishwasher end?
How many calories are in an avocado?
What causes earthquakes?
Which dentist did you recommend to your brother?
Can I take the dog on the train?
Who is responsible for the accounts of the club?
What was decided about the parking spaces?
How does a heat pump work?
What is the plot of the novel about the whale?
Where do penguins nest?
Which exercises help against back pain?
How do I convert a string to upper case?
What are good presents for a retirement party?
Did the insurance pay for the broken window?
Which river flows through Vienna?
What is the difference between a crow and a raven?
How often should tomatoes be watered?
Who was the first president of the company?
What is the effect of altitude on baking?
Which allergies does the new neighbour have?
How do I file a tax return?
What is the average depth of the Baltic Sea?
When did the volcano last erupt?
What did the coach think of the new goalkeeper?
How is steel made from iron ore?
Which font is used in the brochure?
Would you suggest a film for children?
What are some ideas for a birthday cake?
Summarise what was said about the roof repairs.
Write a function that returns the largest element.
How strong is the wind on the summit?
Which museum shows the dinosaur skeleton?
What is the dosage of the cough syrup?
Who repaired the violin?
"""

_known: dict[tuple[int, int], float | None] = {}  # by population and number of rows without a vector


def background(asked: Asked, usual: Unrelated, model: Words) -> float | None:
    """Return how much nearer than usual unrelated questions come to visible rows, in powers of ten of passages.

    None where no row has a vector. The visible rows of a snapshot are sampled once.
    """
    key = asked.population.serial, asked.snapshot.columns.vectors.blanks
    if key not in _known:
        if len(_known) >= CACHED:
            _known.clear()
        _known[key] = _sampled(asked, usual, model)
    return _known[key]


def _sampled(asked: Asked, usual: Unrelated, model: Words) -> float | None:
    vectors, mask = asked.snapshot.columns.vectors, asked.population.mask
    rows = np.arange(0, len(mask), max(1, asked.population.rows // ROWS))
    rows = rows[mask[rows] & (vectors.scales[rows] > 0)][:ROWS]
    if not len(rows):
        return None
    own = vectors.codes[rows].astype(np.float32) * vectors.scales[rows, None]
    nearest = (_questions(model) @ own.T).max(axis=1)
    return float(np.quantile(nearest, SHARE) - usual.cosine(len(rows))) / usual.growth


@memoised(2)
def _questions(model: Words) -> Floats:
    """Return the unit vectors of the questions, in the coordinates of the index."""
    found = rotate(np.stack([model.encode_query(text) for text in QUESTIONS.strip().splitlines()]))
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)

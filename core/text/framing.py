"""Words that introduce a remembered sentence and add nothing to it: "note to self: ...", "as you said, ..."."""

from collections.abc import Sequence

WORDS_MIN = 3  # that must be left of a sentence when its frame is taken off; shorter ones are compared as they are

# English only: a frame in another language leaves the sentence a new one, which is stored without a flag.
_WORDS = """
a about according ago again all also an and are as aware be been before bit btw by can confirm confirmed context did
don't earlier fact facts far find for forget found from fyi furthermore given going good got had has have he hello
here here's hey hi his i i'll i'm i've important in info information is it it's its just keep key know known knows
last learned like me memo memories memory mentioned mind my need note noted notes now of ok okay on once our out please
point point's previous previously ps quick recall recalled recalls recap record recorded reference remember remembered
reminder remembers result results retrieved said save saved say says search self she should showed shows so sources
state stated states store stored summary takeaway tells that that's the their them there they this time to told too
unchanged up use useful user user's users want was we we've well were what which will with worth yes you you're your
"""
_FRAME = frozenset(_WORDS.split())


def unframed(words: Sequence[str]) -> Sequence[str]:
    """Return a sentence without the words that frame it; empty when it is nothing but a frame.

    >>> unframed("note to self ann keeps the keys in the drawer".split())
    ['ann', 'keeps', 'the', 'keys', 'in', 'the', 'drawer']
    >>> unframed("here is what i remember".split())
    []
    """
    start, stop = 0, len(words)
    while start < stop and words[start] in _FRAME:
        start += 1
    while stop > start and words[stop - 1] in _FRAME:
        stop -= 1
    return words[start:stop]

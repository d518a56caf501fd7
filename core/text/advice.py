"""Words about what was recognised in a text, for whoever sent it."""

_WORDS = {
    "email": "an e-mail address (email)",
    "phone": "a telephone number (phone)",
    "card": "the number of a credit card (card)",
    "iban": "the number of a bank account (iban)",
}


def advice(kind: str) -> str:
    """Return what is wrong with a text that holds something of a kind, in words for whoever sent it.

    >>> advice("card")
    'holds what looks like the number of a credit card (card), which this space does not store; take it out'
    """
    return (
        f"holds what looks like {_WORDS.get(kind, f'a secret ({kind})')}, which this space does not store; take it out"
    )

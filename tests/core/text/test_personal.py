"""Personal data is found by its form, and what only looks a little like it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.text.recognise import luhn, mod_97, personal_in


@pytest.mark.parametrize(("kind", "value"), [
    ("email", "ann@firma.fi"), ("email", "ann.meier+lists@mail.firma-nord.co.uk"), ("phone", "+358 40 123 4567"),
    ("phone", "+1 (415) 555-2671"), ("phone", "+4915112345678"), ("phone", "(415) 555-2671"),
    ("phone", "415-555-2671"), ("card", "4111 1111 1111 1111"), ("card", "5500-0055-5555-5559"),
    ("card", "378282246310005"), ("card", "3782 822463 10005"), ("iban", "DE89 3704 0044 0532 0130 00"),
    ("iban", "GB82WEST12345698765432"), ("iban", "FI2112345600000785"),
])  # fmt: skip
def test_personal_data_is_found_whole(kind: str, value: str):
    for text in (value, f"It is {value}, I think.", f"({value})", f"first line\n{value}\nlast line"):
        assert [(one.kind, text[one.start : one.stop]) for one in personal_in(text)] == [(kind, value)]


@pytest.mark.parametrize("text", [
    "git@github.com:acme/web.git, user@host, @acme/web, npm i left-pad@1.3.0, ann@example.com, noreply@github.com",
    "2026-01-31T09:30:00Z, 10.0.0.1:8321, v1.2.3-4, 3.14159265358979, 1780000000000000, 100,000,000",
    "0190b5a8-7e2c-7c3a-9d1e-4f5a6b7c8d9e, 3f786850e387550fdab836ed7e6dc881de23001b, id 4111111111111112",
    "DE88 3704 0044 0532 0130 00 and GB82WEST1234569876543",
    "pages 100-200, room 415-555, +1, +100%, C++11 1+1, tel. 112",
    "https://example.com/4111111111111111/x and /orders/415-555-2671",
    "",
])  # fmt: skip
def test_what_is_none_passes(text: str):
    assert personal_in(text) == []


@given(*(st.from_regex(one, fullmatch=True) for one in (r"[0-9]{2,18}", r"[A-Z]{2}", r"[A-Z0-9]{11,28}")))
def test_each_wrong_digit_is_noticed_and_one_pair_of_check_digits_belongs_to_an_account(
    digits: str, country: str, rest: str
):
    check = next(str(digit) for digit in range(10) if luhn(digits + str(digit)))
    assert [luhn(digits + str(digit)) for digit in range(10)].count(True) == 1
    changed = str((int(digits[0]) + 1) % 10) + digits[1:]
    assert not luhn(changed + check)
    assert sum(mod_97(f"{country}{check:02}{rest}") for check in range(2, 99)) == 1


@pytest.mark.parametrize("text", ["+1 ", "+1(2", "a@a.", "a.a@", "AB12 ABCD ", "4111 ", "1111", "1-", "a@"])
def test_hostile_text_is_judged_in_linear_time(text: str):
    """Anything quadratic would take minutes here."""
    assert len(personal_in(text * 20_000)) <= 20_000

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.kernels import ascii as loops
from muisti.core.text.forms import WORTH, WordTable, ascii_bytes

texts = st.lists(st.sampled_from(["one", "two", "three", "x" * 70, *map(str, range(40))]), min_size=40, max_size=90)


def work_out(word: str) -> bytes:
    return np.array([len(word), *word.encode()], np.uint64).tobytes()


def of(table: WordTable, text: str, near: int = 0) -> tuple[bytes, list[int]] | None:
    data = ascii_bytes(text)
    assert data is not None
    spans = np.empty(2 * len(text), np.int32)
    found = table.of(text, data, spans[: 2 * loops.words(data, spans)], near)
    return None if found is None else (found[0], found[1].tolist())


@given(st.lists(texts, max_size=6), st.sampled_from([64, 100, 5_000]))
def test_values_are_those_of_the_words_however_often_the_table_is_emptied(lists: list[list[str]], most: int):
    table = WordTable(work_out, most, 64, len)
    for words in lists:
        text = " ".join(words)
        if len(text) < WORTH:
            continue
        if max(map(len, words)) > 64 or len(words) > most:
            assert of(table, text) is None
        else:
            assert of(table, text, 20) == (b"".join(map(work_out, words)), [*map(len, words[:20])])


def test_results_of_any_size_come_whole():
    table = WordTable(work_out, 100, 64)
    text = "w" * 60 + " word" * 90
    assert of(table, text) == (work_out("w" * 60) + 90 * work_out("word"), [])
    assert ascii_bytes("x" * (WORTH - 1)) is None and ascii_bytes("é" * WORTH) is None
    assert ascii_bytes("x" * WORTH) is not None


def test_threads_share_a_table():
    table, wrong = WordTable(work_out, 64, 64), list[str]()

    def run(seed: int) -> None:
        for turn in range(200):
            words = [f"w{(turn * 7 + place * seed) % 97}" for place in range(50)]
            if of(table, " ".join(words)) != (b"".join(map(work_out, words)), []):
                wrong.append(words[0])

    threads = [threading.Thread(target=run, args=(seed,)) for seed in (1, 3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong

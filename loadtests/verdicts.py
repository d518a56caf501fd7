"""Judge pairs of texts by the rules of the imported tree: a line of JSON `[existing, new]` in, its verdict out.

    python loadtests/verdicts.py < pairs

It imports nothing else of this folder, so it also runs with another checkout of Muisti on the path.
"""

import json
import sys

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.write.conflicts.judgement import judge


def main() -> None:
    """Judge all pairs of the standard input."""
    encoder = StaticEncoder()
    for line in sys.stdin:
        existing, new = json.loads(line)
        first, second = encoder.encode([existing, new])
        verdict = judge(existing, new, float(first @ second), encoder.encode)
        sys.stdout.write(f"{'' if verdict is None else verdict.kind}\n")


if __name__ == "__main__":
    main()

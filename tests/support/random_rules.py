"""Random rules and values for the property tests: all that the grammar has, also what raises for some values."""

from __future__ import annotations

import random
from typing import Any

NAMES = "abcde"
_LARGE = [
    *(1 << 31, (1 << 40) + 1, -(1 << 33), (1 << 61) - 1, 1 << 61, 1 << 62),
    *((1 << 63) - 1, 1 << 63, -(1 << 63), 1 << 70),
]


class RandomRules:
    """Draws expressions and columns of values. `whole` keeps to integers and to what cannot raise.

    With `large`, columns and numbers have integers about the edges of 32 and 64 bits as well.
    """

    def __init__(self, seed: int, *, whole: bool = False, large: bool = False) -> None:
        self.draw = random.Random(seed)
        self.whole = whole
        self.large = large

    def rule(self, depth: int) -> str:
        """A truth."""
        inner = max(0, depth - 1)
        kind = self.draw.randrange(9)
        if kind < 4:
            return f"{self.term(inner)} {self._comparison()} {self.term(inner)}"
        if kind == 4:
            return f"{self.term(inner)} <= {self.term(inner)} < {self.term(inner)}"
        if kind == 5:
            word = self.draw.choice(["in", "not in"])
            return f"{self.term(inner)} {word} ({self.term(inner)}, {self.term(inner)})"
        if kind == 6:
            return f"not ({self.rule(inner)})"
        if kind == 7:
            left = f"({self.term(inner)} {self.draw.choice('+-*')} {self.term(inner)})"
            return f"{left} % {self.draw.choice('2347')} {self._comparison()} {self.draw.choice('0123')}"
        return f"({self.rule(inner)} {self.draw.choice(['and', 'or'])} {self.rule(inner)})"

    def term(self, depth: int) -> str:
        """A value."""
        if depth == 0 or self.draw.random() < 0.25:
            return self._atom()
        inner = depth - 1
        kind = self.draw.randrange(18)
        one, two = self.term(inner), self.term(inner)
        if kind < 6:
            return f"({one} {self.draw.choice('+-*')} {two})"
        if kind < 8:
            return f"({one} {self.draw.choice(['/', '//', '%'])} {self.draw.choice('235') if self.whole else two})"
        if kind == 8:
            return f"({one} {self.draw.choice(['/', '//', '%'])} (abs({two}) + 1))"
        if kind == 9:
            return f"{self.draw.choice(['min', 'max'])}({one}, {two})"
        if kind == 10:
            return f"{self.draw.choice(['abs', 'ceil', 'floor'])}({one})"
        if kind == 11:
            return f"({one} if {self.rule(inner)} else {two})"
        if kind == 12:
            return f"-{one}"
        if kind == 13:
            return f"({one} {self.draw.choice(['and', 'or'])} {two})"
        if kind == 14:
            return f"({one} ** {self.draw.choice(['2', '3'])})" if self.whole else f"({one} ** {two})"
        if kind == 15:
            return f"({self.rule(inner)})"
        return f"{one} * {two} * {self.term(inner)}" if self.whole or kind == 16 else f"log2({one})"

    def _atom(self) -> str:
        if self.large and self.draw.random() < 0.1:
            return str(self.draw.choice(_LARGE))
        odd = [] if self.whole else ["0.5", "1e3", "'x'", "None", "True"]
        return self.draw.choice([*NAMES, *NAMES, str(self.draw.randint(-2, 9)), *odd])

    def _comparison(self) -> str:
        return self.draw.choice(["<", "<=", "==", "!=", ">", ">="])

    def column(self) -> list[Any]:
        """Up to five different values of a knob."""
        size = self.draw.randint(1, 5)
        if self.large and self.draw.random() < 0.7:
            return self.draw.sample([1, 2, 3, *_LARGE], size)
        kind = self.draw.randrange(8)
        if self.whole or kind < 5:
            low = -3 if self.draw.random() < 0.4 else 1
            return self.draw.sample(range(low, 10), size)
        if kind == 5:
            return list(
                dict.fromkeys(self.draw.choice([0.5, 2.5, -1.25, 0.1]) * self.draw.randint(1, 4) for _ in range(size))
            )
        if kind == 6:
            return self.draw.sample(["x", "y", "fp16", 7, 2.0, None], size)
        return [True, False][: min(2, size)]

"""Text to a vector by hashing: words, pairs of words and pieces of words (pure).

Each feature is hashed to one place and a sign, weighted, summed, and the vector is scaled to
length one. Texts that share words, word stems or parts of words are near; there is no other
knowledge of meaning. The same text always gives the same vector, on every machine.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

from sandbox.offline_model.language import STOP_WORDS

DIMENSIONS = 384
WORD_WEIGHT = 1.0
PAIR_WEIGHT = 0.4
PIECE_WEIGHT = 0.35  # shared among the pieces of one word
STOP_WORD_WEIGHT = 0.05
_WORD = re.compile(r"\w+")
_VOWELS = frozenset("aeiouyåäöü")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word without its commonest English endings; short words stay as they are."""
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if not word.endswith(ending) or word.endswith("ss"):
            continue
        root = word[: -len(ending)] + instead
        if len(root) < 3 or not _VOWELS.intersection(root):
            return word
        if not instead and len(root) > 3 and root[-1] == root[-2]:
            root = root[:-1]
        return root.removesuffix("e") if len(root) > 3 else root
    return word.removesuffix("e") if len(word) > 4 else word


def words_of(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def embed(text: str, *, dimensions: int = DIMENSIONS) -> list[float]:
    """A vector of length one. A text without a word hashes as a whole."""
    words = words_of(text)
    weights: defaultdict[str, float] = defaultdict(float)
    stems = [stem(word) for word in words if word not in STOP_WORDS]
    for word, times in Counter(words).items():
        damped = 1.0 + math.log(times)
        if word in STOP_WORDS:
            weights["w " + word] += damped * STOP_WORD_WEIGHT
            continue
        root = stem(word)
        weights["w " + root] += damped * WORD_WEIGHT
        pieces = _pieces(root)
        for piece in pieces:
            weights["t " + piece] += damped * PIECE_WEIGHT / math.sqrt(len(pieces))
    for pair, times in Counter(pairwise(stems)).items():
        weights["p " + " ".join(pair)] += (1.0 + math.log(times)) * PAIR_WEIGHT
    if not weights:
        weights["x " + text] = 1.0
    vector = [0.0] * dimensions
    for feature, weight in weights.items():
        number = _hashed(feature)
        vector[(number >> 1) % dimensions] += weight if number & 1 else -weight
    length = math.sqrt(sum(value * value for value in vector))
    if length == 0.0:  # every feature met its opposite
        return [1.0] + [0.0] * (dimensions - 1)
    return [value / length for value in vector]


@lru_cache(maxsize=65_536)
def _pieces(word: str) -> tuple[str, ...]:
    framed = f"<{word}>"
    return tuple(framed[start : start + 3] for start in range(len(framed) - 2))


@lru_cache(maxsize=131_072)
def _hashed(feature: str) -> int:
    return int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "big")

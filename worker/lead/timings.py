"""The timings of a scripted telephone turn: drawn from distributions, the same for every run.

Shape: a caller speaks in one to three stretches; the transcript of each arrives a moment after
it; silence is noticed by the voice activity detector after half a second (the default of the
Silero plugin); a turn detector is sure of the end in seven turns of ten, and waits up to three
seconds in the others (LiveKit's defaults for endpointing: 0.5 and 3.0).
Units: seconds.
"""

import math
import random
from dataclasses import dataclass

SEED = 20_260_301
UTTERANCES = (
    "I want a refund, for the order I placed last week, because it never arrived",
    "my card was declined at the airport, what should I do now",
    "how do I change the phone number, on my account",
    "can I cancel my booking, and get the money back on my card",
    "the parcel came damaged, and I need a replacement before Friday",
    "كيف أسترجع المبلغ, على بطاقتي",
    "¿Cómo cancelo mi pedido, si ya está en camino?",
    "Wie kann ich meinen Vertrag kündigen, ohne Gebühr",
    "je voudrais un remboursement, pour ma commande d'hier",
    "मुझे अपना कार्ड बंद करना है, अभी",
    "我想取消订单, 然后退款到银行卡",
    "where do I collect the ticket",
    "what documents do I need, to open an account for my company",
)


@dataclass(frozen=True)
class Timings:
    """What happens when in one turn."""

    stretches: tuple[str, ...]
    speaking: tuple[float, ...]
    transcript_delay: float
    silence_to_notice: float
    sure_of_the_end: bool
    model: tuple[float, ...]
    search: tuple[float, ...]


def drawn(turns: int, *, seed: int = SEED) -> list[Timings]:
    """The timings of so many turns."""
    chance = random.Random(seed)
    return [_one(chance) for _ in range(turns)]


def _one(chance: random.Random) -> Timings:
    parts = chance.choice(UTTERANCES).split(", ")
    stretches = tuple(parts) if chance.random() < 0.4 else (" ".join(parts),)
    return Timings(
        stretches=stretches,
        speaking=tuple(chance.uniform(0.7, 2.2) for _ in stretches),
        transcript_delay=chance.uniform(0.12, 0.35),
        silence_to_notice=chance.uniform(0.5, 0.6),
        sure_of_the_end=chance.random() < 0.7,
        model=tuple(_lognormal(chance, median=0.5, spread=0.35) for _ in range(6)),
        search=tuple(_lognormal(chance, median=0.35, spread=0.5) for _ in range(6)),
    )


def _lognormal(chance: random.Random, *, median: float, spread: float) -> float:
    return min(chance.lognormvariate(math.log(median), spread), 5.0)

"""Figures that a rule computes from the log's own: the largest utilisation that fits.

Decimal arithmetic, so that rounding down 0.29 never gives 0.28. A figure without a sound
value (an operand that the log lacks, a division by zero, a result not above the rule's limit)
is left out, and the texts fall back to their form without it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, DecimalException
from typing import TYPE_CHECKING

from vdiag.rules.walk import operands

if TYPE_CHECKING:
    from vdiag.rules.schema import Number

_ROUNDING = {"down": ROUND_FLOOR, "up": ROUND_CEILING, "nearest": ROUND_HALF_EVEN}


def compute(numbers: list[Number], value_of: Callable[[str], object]) -> dict[str, int | float]:
    """Return the figures that have a value, by name.

    ``value_of`` gives a capture or a fact, None where it is unknown. An operand may be a
    figure that stands earlier in the list.
    """
    known: dict[str, int | float] = {}
    for number in numbers:
        found = [_operand(one, known, value_of) for one in operands(number)]
        values = [one for one in found if one is not None]
        if len(values) < len(found):
            continue
        result = _apply(number, values)
        if result is not None and result > Decimal(repr(number.above)):
            known[number.name] = float(result) if number.digits else int(result)
    return known


def _operand(
    operand: str | float, known: dict[str, int | float], value_of: Callable[[str], object]
) -> Decimal | None:
    if isinstance(operand, str):
        return as_decimal(known[operand] if operand in known else value_of(operand))
    return as_decimal(operand)


def as_decimal(value: object) -> Decimal | None:
    """Return a value as a finite number; None where it is none."""
    if value is None or isinstance(value, bool):
        return None
    try:
        number = Decimal(str(value).replace(",", ""))
    except DecimalException:
        return None
    return number if number.is_finite() else None


def _apply(number: Number, values: list[Decimal]) -> Decimal | None:
    result = values[0]
    try:
        for value in values[1:]:
            if number.divide:
                result /= value
            elif number.multiply:
                result *= value
            else:
                result -= value
        return result.quantize(Decimal(1).scaleb(-number.digits), _ROUNDING[number.round])
    except DecimalException:  # a zero below the line, or more digits than anybody wants
        return None

"""Which removals the guard refuses: of pinned bullets, of too many at once, of too many over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cheatsheet.memory.gate.guard_past import Past
from cheatsheet.memory.gate.guard_policy import LEFT_OUT, GuardPolicy, Refused
from cheatsheet.memory.operations import Operation, Remove

_NAMED = 5


def staying(pending: Sequence[Operation], past: Past, policy: GuardPolicy) -> tuple[set[int], list[Refused]]:
    """Places of the removals that are refused, and one sentence for each reason."""
    asked = {
        index: operation
        for index, operation in enumerate(pending)
        if isinstance(operation, Remove) and past.active(operation.id)
    }
    groups: dict[str, list[int]] = {}
    for index, operation in asked.items():
        groups.setdefault(_never(operation, past, policy), []).append(index)
    rest = groups.pop("", [])
    too_many = _too_many([asked[index] for index in rest], past, policy)
    if too_many:
        groups[too_many] = rest
    refused = [_refused(asked, indexes, reason) for reason, indexes in groups.items()]
    return {index for indexes in groups.values() for index in indexes}, refused


def _never(operation: Remove, past: Past, policy: GuardPolicy) -> str:
    bullet = past.active(operation.id)
    if bullet is not None and bullet.pinned:
        return "pinned bullets are never removed"
    if policy.left_out == "keep" and operation.reason.startswith(LEFT_OUT):
        return "what a new cheatsheet leaves out is kept"
    return ""


def _too_many(removals: Sequence[Remove], past: Past, policy: GuardPolicy) -> str:
    gone = {operation.id for operation in removals}
    if not gone:
        return ""
    active = past.count_active()
    if len(gone) > max(policy.loss_allowance, int(policy.max_loss * active)):
        return f"{len(gone)} of {active} at once are more than {policy.max_loss:.0%}"
    now = len({operation.id for operation in removals if _is_erosion(operation)})
    before = past.eroded() if now else 0
    if now and now + before > max(policy.loss_allowance, int(policy.max_erosion * (active + before))):
        return f"{now + before} of {active + before} over time are more than {policy.max_erosion:.0%}"
    return ""


def _is_erosion(operation: Remove) -> bool:
    return operation.reason.startswith(LEFT_OUT) or not operation.reason.strip()


def _refused(asked: Mapping[int, Remove], indexes: Sequence[int], reason: str) -> Refused:
    operations = tuple(asked[index] for index in indexes)
    ids = list(dict.fromkeys(operation.id for operation in operations))
    named = ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else "")
    return Refused(operations=operations, text=f"{named} {'stays' if len(ids) == 1 else 'stay'} active: {reason}.")

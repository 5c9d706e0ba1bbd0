"""What an arm takes."""

from __future__ import annotations

from cheatsheet.evaluation.reports.accounts import ArmAccount


def tokens_per_question(account: ArmAccount) -> float | None:
    """Prompt and completion tokens, mean over all questions and orders."""
    prompt = account.pooled.mean("prompt_tokens_per_question")
    completion = account.pooled.mean("completion_tokens_per_question")
    return None if prompt is None or completion is None else prompt + completion


def cost_per_question(account: ArmAccount) -> float | None:
    """US dollars, mean over all questions and orders; None where a part of the price is not known."""
    complete = all(summary.cost_complete for summary in account.pooled.summaries)
    return account.pooled.mean("cost_usd_per_question") if complete else None

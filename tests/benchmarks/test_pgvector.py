"""The benchmark of the search on a server, made small: what it counts, not what it times."""

from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pytest

from benchmarks.perf import figures, pgvector
from benchmarks.perf.postgres_server import PACKAGE


def test_vectors_lie_in_clusters_and_questions_beside_them() -> None:
    rows = pgvector.clustered(200, 64)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    cosines = np.sort(rows @ rows.T, axis=1)
    assert 0.7 < np.median(cosines[:, -10]) < 0.9
    assert abs(np.median(cosines[:, 20])) < 0.3
    nearest = (pgvector.near(rows, 20) @ rows.T).max(axis=1)
    assert (nearest > 0.9).all()


@pytest.mark.skipif(find_spec(PACKAGE) is None, reason=f"needs {PACKAGE}: pip install -e '.[dev]'")
def test_a_small_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgvector, "QUESTIONS", 5)
    pgvector.main(["--sizes", "300", "--dim", "16", "--json"])
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["dim"], found["scan_ms"]["n"], found["index_ms"]["n"]) == (300, 16, 5, 5)
    assert found["recall_at_10"] >= 0.98
    one = pgvector.Measured(
        **{name: found[name] for name in ("rows", "dim", "recall_at_10", "ef_search", "build_s")},
        scan_ms=figures.Times(**found["scan_ms"]),
        index_ms=figures.Times(**found["index_ms"]),
        scan_over_index=figures.Ratio(**found["scan_over_index"]),
    )
    assert "| 300 " in pgvector.as_table([one])

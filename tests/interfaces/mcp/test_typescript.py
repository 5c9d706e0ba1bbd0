"""A session by the TypeScript SDK; `python -m benchmarks.mcp_typescript` runs it against the real command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "typescript"
ROOT = HERE.parents[3]
NODE = shutil.which("node")
SDK = HERE / "node_modules" / "@modelcontextprotocol" / "sdk"


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.skipif(not SDK.is_dir(), reason=f"the TypeScript SDK is not installed: npm ci in {HERE.relative_to(ROOT)}")
def test_a_session_of_the_typescript_sdk(tmp_path: Path) -> None:
    server = [sys.executable, "-m", "tests.interfaces.mcp.servers", "double"]
    ran = subprocess.run(
        [str(NODE), str(HERE / "session.mjs"), "get_context", "log", *server],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "CHEATSHEET_HOME": str(tmp_path), "CHEATSHEET_EMBEDDER": "hashing"},
        timeout=150,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1] == "clean end          exit code 0, 0 stray lines on standard output"

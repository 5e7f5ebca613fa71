# SPDX-License-Identifier: Apache-2.0
"""Where the engine's own files are: a project's data files can lie elsewhere (`--root`)."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
ENGINE = PACKAGE.parent

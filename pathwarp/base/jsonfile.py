# SPDX-License-Identifier: Apache-2.0
"""JSON files that may have been damaged since they were written."""

import json
from pathlib import Path
from typing import Any


def read_mapping(file: Path) -> dict[str, Any]:
    """The object in a JSON file; OSError when it can't be read, ValueError, with what is wrong, when it holds none."""
    try:
        data = json.loads(file.read_bytes())
    except RecursionError:
        raise ValueError("is nested too deep") from None
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise ValueError("is not a JSON object")
    return data

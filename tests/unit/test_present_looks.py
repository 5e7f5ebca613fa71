# SPDX-License-Identifier: Apache-2.0
"""Colours and labels of variants: what is one, that nothing is made again for them, and that only files hold them."""

import ast
from pathlib import Path

import pytest
from golden_project import copy_project
from inputs_of_trial import id_of
from kernel_project import make_project
from pydantic import ValidationError

from pathwarp.model.catalogue import VARIANT, Catalogue
from pathwarp.model.load import ALL, load_variant, load_variants
from pathwarp.model.schema.variant import Variant
from pathwarp.plan.request import Request, plan_trials
from pathwarp.prepare.kernel import find_kernel
from pathwarp.present.looks import SPARE_COLOURS

ROOT = Path(__file__).parents[2]
# Words that are a variant's name, but mean something else there.
OTHERS = {
    ("measure/transports/registry.py", "tcp"),
    ("measure/transports/subflows.py", "tcp"),
    ("model/schema/flow.py", "tcp"),
    ("model/schema/variant.py", "tcp"),
    ("prepare/kernel.py", "mainline"),
}


def recolour(project: Path) -> None:
    file = project / "kernels/variants/better/variant.yaml"
    file.write_text(file.read_text() + '\ncolour: "#123abc"\nlabel: much better\n')


def test_a_colour_changes_no_trial_id(tmp_path: Path) -> None:
    project = copy_project(tmp_path / "project")
    request = Request(project, "cut", ("better",), runs=1)
    before = id_of(plan_trials(request)[0])
    recolour(project)
    (trial,) = plan_trials(request)
    assert (trial.variant.colour, trial.variant.label) == ("#123ABC", "much better")
    assert id_of(trial) == before


def test_a_colour_needs_no_new_kernel(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    before = find_kernel(project, load_variant(Catalogue(project), "better"))
    recolour(project)
    variant = load_variant(Catalogue(project), "better")
    assert variant.colour == "#123ABC"
    after = find_kernel(project, variant)
    assert (after.name, after.inputs) == (before.name, before.inputs)


def test_neither_is_inherited(tmp_path: Path) -> None:
    project = copy_project(tmp_path / "project")
    file = project / "kernels/variants/plain/variant.yaml"
    file.write_text(file.read_text() + '\ncolour: "#123abc"\nlabel: simple\n')
    better = load_variant(Catalogue(project), "better")
    assert "plain" in better.chain
    assert (better.colour, better.label) == (None, "better")


BAD = {
    "colour": [None, 7, "", "blue", "#12345", "#1234567", "#12345g", "#123456\n", []],
    "label": [None, 7, "", "_name", " name", "n" * 25, "a\tb", []],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in BAD.items() for value in values])
def test_what_is_none_is_refused(key: str, value: object) -> None:
    with pytest.raises(ValidationError, match=f"is not a {key}"):
        Variant.model_validate({"name": "a", "title": "t", "source": "s", key: value})


def test_all_colours_differ() -> None:
    own = [variant.colour for variant in load_variants(Catalogue(ROOT), (ALL,))]
    assert None not in own
    colours = [*own, *SPARE_COLOURS]
    assert len(set(colours)) == len(colours)


def test_the_engine_holds_no_variants_name() -> None:
    """No text in the host's code is one, but for documentation and comments."""
    names = set(Catalogue(ROOT).names(VARIANT))
    found = set()
    for path in (ROOT / "pathwarp").rglob("*.py"):
        place = path.relative_to(ROOT / "pathwarp").as_posix()
        if not place.startswith("guest/"):
            constants = (node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
            found |= {(place, text) for text in constants if isinstance(text, str) and text in names}
    assert found == OTHERS

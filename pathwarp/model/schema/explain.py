# SPDX-License-Identifier: Apache-2.0
"""Turn what pydantic finds wrong with a data file into complaints: file, line, place, bad value, valid values."""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from pathwarp.base.complaints import BadValue, Complaint, Complaints
from pathwarp.base.yamlfile import Place, YamlFile
from pathwarp.model.catalogue import suggest

Model = TypeVar("Model", bound=BaseModel)

# pydantic's error type: what is wrong, the valid values; {names} are from the error's context.
MESSAGES = {
    "string_type": ("is not text", "text; quote it if it looks like a number"),
    "int_type": ("is not a whole number", "a whole number"),
    "int_from_float": ("is not a whole number", "a whole number"),
    "int_parsing": ("is not a whole number", "a whole number"),
    "float_type": ("is not a number", "a number"),
    "float_parsing": ("is not a number", "a number"),
    "tuple_type": ("is not a list", "a list such as [a, b]"),
    "dict_type": ("is not a mapping", "a mapping such as {{key: value}}"),
    "model_type": ("is not a mapping", "a mapping with the keys {keys}"),
    "model_attributes_type": ("is not a mapping", "a mapping with the keys {keys}"),
    "too_short": ("has too few entries", "at least {min_length}"),
    "too_long": ("has too many entries", "at most {max_length}"),
    "string_too_short": ("is too short", "at least {min_length} characters"),
    "string_too_long": ("is too long", "at most {max_length} characters"),
    "string_pattern_mismatch": ("is not of the right form", "text that matches {pattern}"),
    "greater_than": ("is too small", "more than {gt}"),
    "greater_than_equal": ("is too small", "{ge} or more"),
    "less_than": ("is too large", "less than {lt}"),
    "less_than_equal": ("is too large", "{le} or less"),
    "literal_error": ("is unknown", "{expected}"),
    "union_tag_invalid": ("is of an unknown kind", "{expected_tags}"),
    "union_tag_not_found": ("is of no kind", "a mapping with the key {discriminator}"),
}


def read_model(model: type[Model], file: YamlFile) -> Model:
    """Check `file` against `model`; Complaints for all that is wrong."""
    try:
        return model.model_validate(file.data)
    except ValidationError as error:
        raise Complaints(_complaint(model, file, one) for one in error.errors(include_url=False)) from None


def _complaint(model: type[BaseModel], file: YamlFile, error: ErrorDetails) -> Complaint:
    place = _place(file.data, error)
    where = file.where(place)
    cause = error.get("ctx", {}).get("error")
    if error["type"] == "missing":
        return Complaint(where, "is missing")
    if error["type"] == "extra_forbidden":
        keys = _keys_at(model, error["loc"][:-1])
        return Complaint(where, "is not a key here", ", ".join(keys), suggest(place[-1], keys))
    if isinstance(cause, BadValue):
        return Complaint(where, _say(error["input"], cause.what), cause.valid, cause.hint)
    if isinstance(cause, ValueError):
        return Complaint(where, _say(error["input"], str(cause)))
    what, valid = MESSAGES.get(error["type"], (error["msg"], ""))
    names = {"keys": ", ".join(_keys_at(model, error["loc"]))} | error.get("ctx", {})
    what, valid = what.format_map(names), valid.format_map(names)
    words = re.findall(r"'([^']+)'", valid)
    hint = suggest(error["input"], words) if isinstance(error["input"], str) else ""
    return Complaint(where, _say(error["input"], what), ", ".join(words) or valid, hint)


def _say(value: object, what: str) -> str:
    """`'80 sek' has no unit`; of what has many values only what is wrong with it."""
    if isinstance(value, dict | list):
        return what
    text = repr(value) if isinstance(value, str) else json.dumps(value)
    return f"{text[:60]}{'...' if len(text) > 60 else ''} {what}"


def _place(data: Any, error: ErrorDetails) -> Place:
    """The place in the file: pydantic's location without what the file lacks, such as the names of union members."""
    place: list[str | int] = []
    for step in error["loc"]:
        inside = isinstance(data, dict) and step in data
        inside = inside or (isinstance(data, list) and isinstance(step, int) and step < len(data))
        if inside:
            place.append(step)
            data = data[step]
    if error["type"] == "missing":
        place.append(error["loc"][-1])
    return tuple(place)


def _keys_at(model: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """The keys that the part of `model` at pydantic's `location` has."""
    here: list[object] = [model]
    for step in location:
        # The name of a union's member is a step in the location, but not one into the model.
        inner = [inner for part in here for inner in _into(part, step)]
        here = inner or [part for part in here if _is_called(part, step)] or here
    return list(dict.fromkeys(_key(name, field) for part in here for name, field in _fields(part)))


def _is_called(part: object, step: str | int) -> bool:
    """Whether a model is the member of a union that `step` names."""
    return any(get_args(field.annotation) == (step,) for _, field in _fields(part))


def _into(part: object, step: str | int) -> Iterator[object]:
    """What `step` leads to from a model, a mapping or a list."""
    if get_origin(part) in (dict, tuple):
        yield from _members(get_args(part)[1 if get_origin(part) is dict else 0])
    for name, field in _fields(part):
        if step == _key(name, field):
            yield from _members(field.annotation)


def _members(annotation: object) -> Iterator[object]:
    """The models, mappings and lists that an annotation allows: itself, or the members of a union."""
    if get_origin(annotation) in (dict, tuple) or isinstance(annotation, type):
        yield annotation
        return
    arguments = get_args(annotation)
    for argument in arguments[:1] if get_origin(annotation) is Annotated else arguments:
        yield from _members(argument)


def _fields(part: object) -> list[tuple[str, FieldInfo]]:
    return list(part.model_fields.items()) if isinstance(part, type) and issubclass(part, BaseModel) else []


def _key(name: str, field: FieldInfo) -> str:
    return field.alias or name

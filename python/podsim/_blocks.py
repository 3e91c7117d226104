# The scenario language field by field, as keywords: made of podsim's schema when it is asked for.
"""Blocks of scenarios, such as ``podsim.blocks.JobChoice(model="llama3_70b", ...)``."""

import difflib

from podsim import _podsim
from podsim._errors import InputError, wrong_argument

_NUMBERS = {"number": (int, float), "integer": (int,)}


def _schema():
    global _fields
    if _fields is None:
        _fields = {}
        for message, name, kind, repeated, values, valid in _podsim.scenario_fields():
            _fields.setdefault(message, {})[name] = (kind, repeated, values, valid)
    return _fields


_fields = None


def _near(name, names):
    close = difflib.get_close_matches(str(name), names, 1)
    return f'; did you mean "{close[0]}"?' if close else "; there are " + ", ".join(names)


class Block(dict):
    """A block of a scenario: its fields as keywords, attributes and items; None leaves a field out, and a single value makes a list of one."""

    _message = ""

    def __init__(self, **fields):
        super().__init__()
        for name, value in fields.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        known = _schema()[self._message]
        if name not in known:
            raise InputError(f'{self._message} has no field "{name}"{_near(name, list(known))}', [{
                "file": self._message, "line": 0, "column": 0, "message": f'no field "{name}"', "source_line": name,
                "hint": _near(name, list(known)).lstrip("; "), "text": f'{self._message}: no field "{name}"{_near(name, list(known))}'
            }])
        if value is None:
            self.pop(name, None)
        elif known[name][1] and not isinstance(value, (list, tuple)):
            self[name] = [value]  # a list of one
        else:
            self[name] = value

    def __getattr__(self, name):
        if name in _schema().get(self._message, ()):
            return self.get(name)
        raise AttributeError(f'{self._message} has no field "{name}"')

    def __dir__(self):
        return list(_schema().get(self._message, ())) + list(super().__dir__())

    def __repr__(self):
        return f"{self._message}({', '.join(f'{name}={value!r}' for name, value in self.items())})"


def block_class(message):
    """The class of a block by the name of its message; None where there is none."""
    if message not in _schema():
        return None
    if message not in _classes:
        lines = [f"    {name}: {described(*field)}" for name, field in _schema()[message].items()]
        _classes[message] = type(message, (Block,), {
            "_message": message, "__doc__": f"The block {message} of a scenario.\n\nFields:\n" + "\n".join(lines),
            "__module__": "podsim.blocks"
        })
    return _classes[message]


_classes = {}


def described(kind, repeated, values, valid):
    """What a field takes, in words."""
    if values and valid:
        return ("a list, each " if repeated else "") + f"a whole number in {valid}, or {', '.join(values)}"
    words = "one of " + ", ".join(values) if values else {"number": "a number", "integer": "a whole number",
                                                         "boolean": "True or False", "string": "text"}.get(kind, kind)
    return ("a list, each " if repeated else "") + words + (f" in {valid}" if valid else "")


def plain(value, call, name, depth=0):
    """The value as JSON has it; an exception for what no scenario can hold."""
    if depth > 64:
        raise wrong_argument(call, name, "at most 64 blocks within each other", value)
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise wrong_argument(call, name, "fields whose names are text", key)
        return {key: plain(each, call, f"{name}.{key}", depth + 1) for key, each in value.items() if each is not None}
    if isinstance(value, (list, tuple)):
        return [plain(each, call, f"{name}[{i}]", depth + 1) for i, each in enumerate(value)]
    if isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return value
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:  # a number of NumPy
        return plain(value.item(), call, name, depth + 1)
    raise wrong_argument(call, name, "text, a finite number, True or False, a list or a block", value)

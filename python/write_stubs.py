# Writes podsim/__init__.pyi: types, units and definitions, read off the module itself.
import inspect
import sys

import podsim
from podsim import _blocks

TYPES = {"number": "float", "integer": "int", "boolean": "bool", "string": "str", "array": "list", "object": "Figures"}


def block(message, fields):
    lines = [f"class {message}(Block):", f'    """The block {message} of a scenario."""']
    arguments = []
    for name, (kind, repeated, values, valid) in fields.items():
        of = TYPES.get(kind, f"{kind} | dict[str, Any]" if kind in _blocks._schema() else "Any")
        if values:
            of = ("int | " if valid else "") + "Literal[" + ", ".join(repr(value) for value in values) + "]"  # a number, or a word
        hint = f"{of} | Sequence[{of}]" if repeated else of  # a single value makes a list of one
        lines.append(f"    {name}: Optional[{hint}]  # {_blocks.described(kind, repeated, values, valid)}")
        arguments.append(f"{name}: Optional[{hint}] = ...")
    lines.append(f"    def __init__(self, *, {', '.join(arguments)}) -> None: ...")
    return "\n".join(lines)


def method(name, function):
    doc = (inspect.getdoc(function) or "").replace("\n", "\n        ")
    signature = str(inspect.signature(function)).replace("podsim._report.", "")
    return f"    def {name}{signature}:\n        \"\"\"{doc}\"\"\""


def public_class(kind):
    bases = ", ".join(base.__name__ for base in kind.__bases__)
    lines = [f"class {kind.__name__}({bases}):", f'    """{inspect.getdoc(kind)}"""']
    for name, member in vars(kind).items():
        if isinstance(member, property):
            if kind is podsim.Report and name in TYPE_OF:
                of = TYPE_OF[name]
                lines += [f"    @property", f"    def {name}(self) -> Optional[{of}]:", f'        """{member.__doc__}"""']
            else:
                lines += [f"    @property", f"    def {name}(self) -> Any:", f'        """{member.__doc__}"""']
        elif inspect.isfunction(member) and (not name.startswith("_") or name in SHOWN or kind is podsim.Figures and name == "__getattr__"):
            lines.append(method(name, member))
        elif isinstance(member, classmethod):
            lines += ["    @classmethod", method(name, member.__func__)]
    return "\n".join(lines)


SHOWN = ("__init__", "__getitem__", "__setitem__")
TYPE_OF = {name: TYPES[kind] for name, kind, _, _ in podsim.figure_table()}
parts = ["# Types of podsim, written by the module itself: units and definitions are those of its reports.",
         "from typing import Any, Literal, Optional", "", "from podsim import blocks as blocks", "", "__version__: str"]
for name in podsim.__all__:
    thing = getattr(podsim, name)
    if inspect.isclass(thing):
        parts.append(public_class(thing))
    elif inspect.isfunction(thing):
        parts.append(f'def {name}{inspect.signature(thing)}:\n    """{inspect.getdoc(thing)}"""')
with open(sys.argv[1], "w") as stubs:
    stubs.write("\n".join(parts) + "\n")
blocks = ["# The blocks of scenarios, written by the module itself: ranges and names are those of its schema.",
          "from __future__ import annotations", "from typing import Any, Literal, Optional, Sequence", "",
          "class Block(dict[str, Any]): ..."]
blocks += [block(message, fields) for message, fields in _blocks._schema().items()]
with open(sys.argv[1].replace("__init__", "blocks"), "w") as stubs:
    stubs.write("\n".join(blocks) + "\n")

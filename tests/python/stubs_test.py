# The typed stubs of the module against what its blocks take.
import ast
import collections.abc
import pathlib
import re
import types
import typing
import unittest

import podsim

ROOT = pathlib.Path(__file__).resolve().parents[2]


def fits(value, hint):
    """Whether a checker of types takes the value for the hint; of the hints that stubs of blocks have."""
    of, arguments = typing.get_origin(hint), typing.get_args(hint)
    if of in (typing.Union, types.UnionType):
        return any(fits(value, each) for each in arguments)
    if of is typing.Literal:
        return value in arguments
    if of is collections.abc.Sequence:
        return isinstance(value, (list, tuple)) and all(fits(each, arguments[0]) for each in value)
    if of is dict:
        return isinstance(value, dict)
    return hint is typing.Any or isinstance(value, (int, float) if hint is float else hint)


class Stubs(unittest.TestCase):
    def test_take_what_blocks_take(self):
        stubs = {}
        exec((pathlib.Path(podsim.__file__).parent / "blocks.pyi").read_text(), stubs)
        calls = 0
        for code in re.findall(r"```python\n(.*?)```", (ROOT / "docs/guide/python.md").read_text(), re.S):
            for call in ast.walk(ast.parse(code)):
                if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("blocks."):
                    hints = typing.get_type_hints(stubs[call.func.attr].__init__, stubs)
                    for word in call.keywords:
                        value = ast.literal_eval(word.value)
                        self.assertTrue(fits(value, hints[word.arg]), (call.func.attr, word.arg, value, hints[word.arg]))
                    calls += 1
        self.assertGreaterEqual(calls, 2)
        job = typing.get_type_hints(stubs["JobChoice"].__init__, stubs)
        axis = stubs["MeshAxis"]()
        for name, value in (("sharding", "fsdp"), ("sharding", ["fsdp"]), ("sharding", ("fsdp", "tp")), ("mesh", axis), ("mesh", [axis]),
                            ("mesh", {"name": "a"}), ("microbatch_sequences", 1), ("precision", "bf16"), ("recompute", None)):
            self.assertTrue(fits(value, job[name]), (name, value))
        for name, value in (("sharding", 3), ("sharding", [3]), ("mesh", "a"), ("mesh", 3), ("microbatch_sequences", "1"), ("precision", "f16"),
                            ("mdoel", "a")):
            self.assertFalse(fits(value, job.get(name, type(None))), (name, value))
        size = typing.get_type_hints(stubs["MeshAxis"].__init__, stubs)["size"]
        self.assertEqual([fits(value, size) for value in (16, "rest", "all")], [True, True, False])
        self.assertIn("size: a whole number in [1, 16777216], or rest", podsim.blocks.MeshAxis.__doc__)


    def test_know_parts_of_figures(self):
        stubs = ast.parse((pathlib.Path(podsim.__file__).parent / "__init__.pyi").read_text())
        figures = next(each for each in stubs.body if isinstance(each, ast.ClassDef) and each.name == "Figures")
        self.assertIn("__getattr__", [each.name for each in figures.body if isinstance(each, ast.FunctionDef)])


if __name__ == "__main__":
    unittest.main()

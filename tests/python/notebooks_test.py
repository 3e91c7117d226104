# The notebooks of docs/notebooks run from top to bottom in their own folder, as Jupyter runs them: their cells as scripts, and by
# Jupyter where nbconvert is at hand.
import contextlib
import io
import json
import os
import pathlib
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def has_jupyter():
    try:
        import ipykernel, nbconvert  # noqa: F401, E401
    except ImportError:
        return False
    return True


class Notebooks(unittest.TestCase):
    def setUp(self):
        before = os.getcwd()
        os.chdir(FOLDER)
        self.addCleanup(os.chdir, before)

    def test_are_there(self):
        self.assertGreaterEqual(len(NOTEBOOKS), 6)

    def test_run_as_scripts_and_say_something(self):
        for path in NOTEBOOKS:
            with self.subTest(path.stem):
                cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    exec(compile("\n".join("".join(cell["source"]) for cell in cells), str(path), "exec"), {"__name__": path.stem})
                self.assertGreater(len(said.getvalue()), 100)

    def test_have_no_outputs_that_could_be_old(self):
        for path in NOTEBOOKS:
            for cell in json.loads(path.read_text())["cells"]:
                self.assertFalse(cell.get("outputs"), path)

    @unittest.skipUnless(has_jupyter(), "nbconvert and ipykernel are not at hand")
    def test_run_in_jupyter(self):
        import nbformat
        from nbconvert import HTMLExporter
        from nbconvert.preprocessors import ExecutePreprocessor

        for path in NOTEBOOKS:
            with self.subTest(path.stem):
                notebook = nbformat.read(path, as_version=4)
                ExecutePreprocessor(timeout=120).preprocess(notebook, {"metadata": {"path": str(FOLDER)}})
                said = [out.text for cell in notebook.cells for out in cell.get("outputs", []) if out.output_type == "stream"]
                page, _ = HTMLExporter().from_notebook_node(notebook)
                self.assertTrue(said and said[0].splitlines()[0].split()[0] in page)


if __name__ == "__main__":
    unittest.main()

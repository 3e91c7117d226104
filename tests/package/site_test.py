# The pages of ./dev site: all there, no link that leads nowhere, nothing that is loaded from elsewhere.
import importlib.machinery
import importlib.util
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
try:
    import markdown_it  # noqa: F401
except ImportError:
    print("[  SKIPPED ] 1 test, listed below:\nsite_test: python3-markdown-it is not installed")
    sys.exit(0)


def generator():
    loader = importlib.machinery.SourceFileLoader("site_generator", str(ROOT / "packaging/site"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("site_generator", loader))
    loader.exec_module(module)
    return module


site = generator()


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.place.name) / "site"
        cls.code = site.main(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def pages(self):
        return {path: path.read_text() for path in self.folder.rglob("*.html")}

    def test_lead_to_nothing_that_is_not_there(self):
        self.assertEqual(self.code, 0)
        seen = 0
        for path, text in self.pages().items():
            for link in re.findall(r'(?:href|src)="([^"#]+)[#"]', text):
                if "://" in link or link.startswith("mailto:"):
                    continue
                self.assertTrue((path.parent / link).is_file(), f"{path}: {link}")
                seen += 1
        self.assertGreater(seen, 1000)

    def test_are_there_for_every_source_and_in_the_list_of_each(self):
        index = (self.folder / "index.html").read_text()
        for source in [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]:
            page = site.page_of(str(source.relative_to(ROOT)))
            self.assertTrue((self.folder / page).is_file(), page)
            self.assertIn(f'href="{page}"', index)

    def test_load_nothing_from_elsewhere(self):
        for path, text in self.pages().items():
            self.assertIn("Content-Security-Policy", text)
            self.assertNotIn("<script", text.lower())
            self.assertEqual(re.findall(r'<(?:img|link|iframe)[^>]*(?:src|href)="(?:https?:)?//', text), [], path)

    def test_show_pictures_and_what_notebooks_print(self):
        self.assertIn('<img src="../pictures/heat.svg"', (self.folder / "docs/guide/pictures.html").read_text())
        told = site.output_of({"output_type": "stream", "name": "stdout", "text": ["a < b"]})
        self.assertEqual(told, "<pre>a &lt; b</pre>")
        drawn = site.output_of({"output_type": "execute_result", "data": {"text/plain": "x", "text/html": ["<svg></svg>"]}})
        self.assertEqual(drawn, "<svg></svg>")

    def test_with_dead_links_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "a.html"
            page.write_text('<p id="x"><a href="#x">1</a><a href="#y">2</a><a href="b.html">3</a><a href="https://example.org/">4</a>')
            self.assertEqual(site.dead_links(pathlib.Path(folder)), [("a.html", "#y"), ("a.html", "b.html")])

    def test_never_take_the_place_of_something_else(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder) / "kept"
            kept.write_text("")
            self.assertEqual(site.main(pathlib.Path(folder)), 2)
            self.assertTrue(kept.exists())


result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(Pages))
failed = len(result.failures) + len(result.errors)
print(f"[  PASSED  ] {result.testsRun - failed} tests.")
if failed:
    print(f"[  FAILED  ] {failed} tests, listed below:")
sys.exit(failed > 0)

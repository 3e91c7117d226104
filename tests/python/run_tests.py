# Runs the tests of this folder and counts them in the words of the other test binaries.
import pathlib
import sys
import unittest

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
pattern = sys.argv[1] if len(sys.argv) > 1 else "*_test.py"
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(unittest.defaultTestLoader.discover(str(here), pattern))
failed = len({getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors})  # not each of its cases
skipped = len(result.skipped)
print(f"[  PASSED  ] {result.testsRun - failed - skipped} tests.")
if skipped:
    print(f"[  SKIPPED ] {skipped} tests, listed below:")
if failed:
    print(f"[  FAILED  ] {failed} tests, listed below:")
sys.exit(failed > 0)

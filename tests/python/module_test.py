# The Python module against the program: same figures, errors with their places, threads, memory.
import ast
import gzip
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import podsim

ROOT = pathlib.Path(__file__).resolve().parents[2]
QWEN = ROOT / "scenarios/qwen3_14b_8_h100.textproto"
SLOW = ROOT / "scenarios/one_slow_chip_512.textproto"
JOBS = ROOT / "scenarios/two_jobs_oversubscribed.textproto"
JITTER = ROOT / "scenarios/jitter_1000_seeds_8_h100.textproto"
NARROW = {"space.tensor": "1,2", "space.pipeline": "1", "space.context": "1", "space.sharding": "fsdp", "space.recompute": "full"}


def program(*words):
    return subprocess.run([os.environ["PODSIM_BINARY"], *map(str, words)], capture_output=True, text=True, cwd=ROOT)


def has_pandas():
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


class Reports(unittest.TestCase):
    def test_have_every_digit_of_the_program(self):
        for path in (QWEN, SLOW, JOBS):
            report = podsim.Scenario.load(path).evaluate()
            for format in ("json", "csv", "textproto", "table"):
                self.assertEqual(report.render(format), program("run", path, "--format", format).stdout)

    def test_have_every_key_of_the_json_as_an_attribute(self):
        for path in (QWEN, SLOW, JOBS):
            report = podsim.Scenario.load(path).evaluate()
            for key, value in json.loads(report.to_json()).items():
                self.assertEqual(getattr(report, key), value, key)
            for name in report.names():
                self.assertIsNot(report[name], NotImplemented)
        self.assertEqual(podsim.Scenario.load(QWEN).evaluate().memory_per_chip_gib.total,
                         podsim.Scenario.load(QWEN).evaluate()["memory_per_chip_gib.total"])

    def test_name_the_nearest_figure(self):
        report = podsim.Scenario.load(QWEN).evaluate()
        with self.assertRaisesRegex(AttributeError, "did you mean \"step_time_s\""):
            report.step_tme_s
        with self.assertRaisesRegex(podsim.InputError, "did you mean \"step_time_s\""):
            report["step_tme_s"]
        self.assertIsNone(report.ensemble)

    def test_tell_units_and_definitions_in_their_help(self):
        self.assertIn("GiB", podsim.Report.memory_per_chip_gib.__doc__)
        for name, _, unit, definition in podsim.figure_table():
            if "." not in name and "[" not in name:
                self.assertIn(unit, getattr(podsim.Report, name).__doc__)
        stubs = pathlib.Path(podsim.__file__).with_name("__init__.pyi").read_text()
        self.assertIn("def step_time_s(self) -> Optional[float]:", stubs)

    def test_have_stubs_for_everything_public(self):
        folder = pathlib.Path(podsim.__file__).parent
        for stub, names in (("__init__.pyi", podsim.__all__), ("blocks.pyi", dir(podsim.blocks))):
            told = {getattr(each, "name", None) for each in ast.parse((folder / stub).read_text()).body}
            told |= {name.asname for each in ast.parse((folder / stub).read_text()).body if isinstance(each, ast.ImportFrom) for name in each.names}
            self.assertEqual(set(names) - told, set())

    def test_take_no_word_for_another(self):
        report = podsim.Scenario.load(QWEN).evaluate()
        for call, wrong in ((report.render, "jsn"), (report.picture, "heart"), (report.__getitem__, 3), (podsim.frame, 3)):
            if call is podsim.frame and not has_pandas():
                continue
            with self.assertRaises(podsim.InputError) as raised:
                call(wrong)
            self.assertTrue(raised.exception.file)

    def test_show_the_panels_of_the_page_in_notebooks(self):
        report = podsim.Scenario.load(QWEN).evaluate()
        panels = report._repr_html_()
        self.assertNotIn("<script", panels)
        whole = report.to_html()
        for heading in re.findall(r"<h2 id=\"h-\w+\">([^<]*)</h2>", whole)[:-2]:  # but the scenario and every figure
            self.assertIn(f"<summary>{heading}</summary>", panels)
        self.assertEqual(panels.count("<svg"), whole.count('<figure class="drawn"'))
        self.assertIn(f'data-key="step_time_s" data-value="{report.step_time_s!r}"', panels)

    def test_write_the_page_the_pictures_and_the_traces_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in (QWEN, SLOW):
                report = podsim.Scenario.load(path).evaluate()
                paths = {kind: os.path.join(folder, kind) for kind in ("a.html", "a.pftrace", "a.json.gz", "b.html", "b.pftrace", "b.json.gz")}
                for options in (("--html", "a.html"), ("--perfetto", "a.pftrace", "--chrome", "a.json.gz")):
                    done = program("run", path, "--quiet", *(paths.get(option, option) for option in options))
                    self.assertEqual(done.returncode, 0, done.stderr)
                report.to_html(paths["b.html"])
                report.to_perfetto(paths["b.pftrace"])
                report.to_chrome(paths["b.json.gz"])
                read = {kind: pathlib.Path(each).read_bytes() for kind, each in paths.items()}
                self.assertEqual(read["a.pftrace"], read["b.pftrace"])
                self.assertEqual(gzip.decompress(read["a.json.gz"]), gzip.decompress(read["b.json.gz"]))
                made = re.compile(rb"<p>Made by podsim .*?</pre>\n", re.S)
                # A run that is drawn is simulated without jumps: how it was computed is told of each alone.
                computed = re.compile(rb'(<th scope="row">(?:events|periods_skipped)</th><td>)\d+<')
                self.assertEqual(*(computed.sub(rb"\1<", made.sub(b"", read[kind])) for kind in ("a.html", "b.html")))
                for picture in podsim._podsim.picture_names():
                    drawn = program("run", path, "--quiet", "--svg", picture)
                    self.assertEqual(report.picture(picture), drawn.stdout, picture)
        jobs = podsim.Scenario.load(JOBS).evaluate()
        self.assertIn("<summary>", jobs._repr_html_())
        with self.assertRaisesRegex(podsim.InputError, "several jobs"):
            jobs.to_perfetto()
        with self.assertRaisesRegex(podsim.InputError, "path of a file"):
            jobs.to_html(3)

    def test_that_cannot_be_written_raise(self):
        fails = podsim.Report(unittest.mock.Mock(names=lambda: [], render=lambda format: ""))  # as the library where it fails
        for call in (fails.names, fails.to_json, lambda: fails.render("table"), lambda: str(fails)):
            with self.assertRaises(podsim.InternalError):
                call()

    def test_draw_every_picture_that_the_program_draws(self):
        known = re.search(r"--svg PICTURE:\{([^}]*)\}", program("run", "--help").stdout)[1].split(",")
        self.assertEqual(list(podsim._report.PICTURES), known)
        report = podsim.Scenario.load(QWEN).evaluate()
        self.assertIn("<svg", report.picture("certainty"))
        self.assertEqual(report.picture("steps"), "", "it has a single one")
        for name in known:
            self.assertIn(f'"{name}"', podsim.Report.picture.__doc__)
        with self.assertRaisesRegex(podsim.InputError, re.escape(", ".join(known))):
            report.picture("heart")

    @unittest.skipUnless(has_pandas(), "pandas is not at hand")
    def test_make_data_frames(self):
        report = podsim.Scenario.load(QWEN).evaluate()
        frame = report.to_frame()
        self.assertEqual(frame["step_time_s"][0], report.step_time_s)
        self.assertEqual(list(frame.columns), report.names())
        swept = podsim.sweep(podsim.Scenario.load(QWEN), {"job.microbatch_sequences": [1, 2]}, threads=1).to_frame()
        self.assertEqual(list(swept["job.microbatch_sequences"]), ["1", "2"])


class Scenarios(unittest.TestCase):
    def keywords(self):
        b = podsim.blocks
        return podsim.Scenario(
            name="small", cluster=b.ClusterChoice(chip="h100", chips=16, fabric="dgx_h100"),
            job=b.JobChoice(model="llama3_8b", stack="megatron_bridge_2025", mesh=[dict(name="fsdp", size=16)], sharding="fsdp",
                            global_batch_sequences=32, microbatch_sequences=1, sequence_tokens=4096, precision="bf16", recompute="full"))

    def test_are_the_same_as_text_dict_and_keywords(self):
        text = """name: "small"
cluster { chip: "h100" chips: 16 fabric: "dgx_h100" }
job { model: "llama3_8b" stack: "megatron_bridge_2025" mesh { name: "fsdp" size: 16 } sharding: "fsdp" global_batch_sequences: 32
  microbatch_sequences: 1 sequence_tokens: 4096 precision: bf16 recompute: full }
"""
        as_dict = {"name": "small", "cluster": {"chip": "h100", "chips": 16, "fabric": "dgx_h100"},
                   "job": {"model": "llama3_8b", "stack": "megatron_bridge_2025", "mesh": [{"name": "fsdp", "size": 16}],
                           "sharding": ["fsdp"], "global_batch_sequences": 32, "microbatch_sequences": 1, "sequence_tokens": 4096,
                           "precision": "bf16", "recompute": "full"}}
        reports = [podsim.Scenario(source).evaluate().to_json() for source in (text, as_dict)]
        reports.append(self.keywords().evaluate().to_json())
        self.assertEqual(reports[0], reports[1])
        self.assertEqual(reports[0], reports[2])

    def test_have_a_block_for_every_message_of_the_schema(self):
        for message in dir(podsim.blocks):
            block = getattr(podsim.blocks, message)
            self.assertIn("Fields:", block.__doc__)
        with self.assertRaisesRegex(podsim.InputError, "did you mean \"model\""):
            podsim.blocks.JobChoice(modle="a")

    def test_take_settings_as_the_command_line_does(self):
        scenario = podsim.Scenario.load(QWEN)
        for value in (2, 1, 2):
            scenario["job.microbatch_sequences"] = value
        self.assertEqual(scenario.settings, {"job.microbatch_sequences": "2"})
        expected = program("run", QWEN, "--format", "json", "--set", "job.microbatch_sequences=2").stdout
        self.assertEqual(scenario.evaluate().to_json(), expected)
        self.assertEqual(podsim.Scenario.load(QWEN).evaluate().to_json(), program("run", QWEN, "--format", "json").stdout)

    def test_tell_mistakes_with_their_place(self):
        with self.assertRaises(podsim.InputError) as raised:
            podsim.Scenario('name: "a"\njob { modle: "x" }\n', title="my scenario")
        self.assertEqual((raised.exception.file, raised.exception.line, raised.exception.column), ("my scenario", 2, 7))
        self.assertIn("my scenario:2:7", str(raised.exception))
        with self.assertRaises(podsim.InputError):
            podsim.Scenario.load("there/is/none")


class Calls(unittest.TestCase):
    def test_search_and_plan_as_the_program_does(self):
        scenario = podsim.Scenario.load(QWEN)
        words = []
        for path, value in NARROW.items():
            scenario[path] = value
            words += ["--set", f"{path}={value}"]
        found = podsim.search(scenario, threads=1)
        self.assertEqual(found.json, program("search", QWEN, "--threads", 1, "--format", "json", *words).stdout)
        self.assertTrue(found.proven)
        self.assertEqual(found.scenario.evaluate().step_time_s, found.layouts[0][1])
        planned = podsim.plan(scenario, tokens=1e11, counts=[8], threads=1)
        self.assertEqual(planned.json,
                         program("plan", QWEN, "--tokens", "1e11", "--chips", 8, "--threads", 1, "--format", "json", *words).stdout)

    def test_sweep_tells_which_settings_cannot_be(self):
        rows = podsim.sweep(podsim.Scenario.load(QWEN), {"job.recompute": ["full", "fully"]}, threads=2)
        self.assertEqual(rows[0][0], {"job.recompute": "full"})
        self.assertIsNone(rows[1][1])
        self.assertIn("fully", str(rows.problems[1]))

    def test_sweep_keeps_what_kind_of_failure_a_row_has(self):
        place = {"file": "a", "line": 1, "column": 2, "message": "m", "source_line": "s", "hint": "", "text": "t"}
        kinds = (podsim.InputError, podsim.InfeasibleError, podsim.InternalError)
        failures = [kind("why", [place]) for kind in kinds]
        with unittest.mock.patch.object(podsim._podsim, "sweep", lambda *_: [(["1"], None, failure) for failure in failures]):
            rows = podsim.sweep(podsim.Scenario.load(QWEN), {"job.microbatch_sequences": [1]})
        self.assertEqual(rows.problems, failures)
        self.assertEqual([report for _, report in rows], [None] * 3)

    def test_sweep_tells_a_row_that_fails_as_its_evaluation_does(self):
        scenario = podsim.Scenario.load(QWEN)
        for path, value in (("job.recompute", "fully"), ("job.mesh.tensor.size", "3")):
            row = podsim.sweep(scenario, {path: [value]}, threads=1)
            with self.assertRaises(podsim.Error) as raised:
                scenario.copy().set(path, value).evaluate()
            self.assertIs(type(row.problems[0]), type(raised.exception))
            self.assertEqual(str(row.problems[0]), str(raised.exception))
            self.assertEqual(row.problems[0].diagnostics, raised.exception.diagnostics)

    def test_of_every_verb_print_what_the_program_prints(self):
        before = os.getcwd()
        os.chdir(ROOT)
        try:
            verbs = [line.split()[0] for line in podsim.command("--help").out.split("Subcommands:")[1].split("\n\n")[0].splitlines()
                     if line.startswith("  ") and line[2:3].strip()]
            self.assertGreaterEqual(len(verbs), 20)
            with tempfile.TemporaryDirectory() as folder:
                files = {"TRACE": folder + "/steps.csv", "STORE": folder + "/runs.db"}
                podsim.command("run", str(QWEN), "--quiet", "--trace", files["TRACE"])
                podsim.command("sweep", str(QWEN), "--quiet", "--over", "job.global_batch_sequences=16,32", "--store", files["STORE"])
                lines = [[files.get(word, word) for word in line.split()] for line in (ROOT / "tests/api/verb_lines.txt").read_text().splitlines()]
                self.assertEqual({line[0] for line in lines}, set(verbs) - {"certificate"})  # proofs are of the program that wrote them
                for line in lines + [["help", "certificate"], ["rnu", "x"]]:
                    within, expected = podsim.command(*line), program(*line)
                    # Builds of sources that no commit has are told apart by their bytes, and the module is not the program.
                    out, shown = ([text.replace(" (this one)", "") for text in (within.out, expected.stdout)]
                                  if line[0] == "store" else (within.out, expected.stdout))
                    self.assertEqual((within.exit_code, out, within.err), (expected.returncode, shown, expected.stderr), line)
        finally:
            os.chdir(before)

    def test_of_eight_threads_give_the_same_report(self):
        alone = podsim.Scenario.load(QWEN).evaluate().to_json()
        same = []

        def work():
            for _ in range(4):
                same.append(podsim.Scenario.load(QWEN).evaluate().to_json() == alone)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(same, [True] * 32)

    def test_tell_how_far_they_are_and_end_where_they_are_told_to(self):
        told = []
        with self.assertRaises(podsim.CancelledError):
            podsim.Scenario.load(JITTER).evaluate(progress=lambda *advance: told.append(advance) or False)
        self.assertEqual(len(told), 1)

        def fails(*advance):
            raise RuntimeError("of the caller")

        with self.assertRaisesRegex(RuntimeError, "of the caller"):
            podsim.sweep(podsim.Scenario.load(QWEN), {"job.microbatch_sequences": [1, 2]}, progress=fails)

    def test_end_at_ctrl_c(self):
        for threads in (1, 2):
            scenario = podsim.Scenario.load(JITTER)
            scenario["seeds"] = 100000
            timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            begin = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                scenario.evaluate(threads=threads)
            self.assertLess(time.monotonic() - begin, 20)

    def test_take_no_memory_that_they_do_not_give_back(self):
        scenario = podsim.Scenario.load(QWEN)

        def evaluate(times):
            for i in range(times):
                scenario["job.microbatch_sequences"] = 1 + i % 2
                scenario.evaluate().step_time_s
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        before = evaluate(100)
        self.assertLess(evaluate(400) - before, 4096)  # KiB


FIELDS = sorted({name for message in dir(podsim.blocks) for name in re.findall(r"^    (\w+):", getattr(podsim.blocks, message).__doc__, re.M)})


def any_words(random_):
    """A path, a text or a name: fields of scenarios, nearly so, or nothing of the kind."""
    path = ".".join(random_.choice(FIELDS) for _ in range(random_.randrange(1, 4)))
    cut = random_.randrange(len(path))
    noise = "".join(random_.choices(".[]{}=:,-\"'\\\n\0\t 019aeé\u2603", k=random_.randrange(12)))
    return random_.choice([path, path[:cut] + path[cut + 1:], path[:cut] + noise, noise, path + " { " + path + ": " + noise + " }"])


def anything(random_, depth=0):
    choices = [any_words(random_), any_words(random_), None, True, 0, -1, 2**70, 1.5, float("nan"), float("inf"), "", "job", "\udc80", "\0", b"x", "job.mesh.tensor.size", "seed",
               object(), int, lambda *a: None, podsim.Scenario.load(QWEN) if depth == 0 else 3, range(3), {1, 2}]
    if depth < 3:
        choices += [[anything(random_, depth + 1) for _ in range(random_.randrange(3))],
                    {random_.choice(["job", "cluster", "name", 1, any_words(random_)]): anything(random_, depth + 1) for _ in range(2)}]
    return random_.choice(choices)


class WrongCalls(unittest.TestCase):
    def test_raise_and_never_end_the_interpreter(self):
        random_ = random.Random(int(os.environ.get("PODSIM_SEED", "1")))
        scenario, report = podsim.Scenario.load(QWEN), podsim.Scenario.load(QWEN).evaluate()
        calls = {
            "Scenario": lambda: podsim.Scenario(anything(random_)),
            "keywords": lambda: podsim.Scenario(**{random_.choice(["job", "cluster", "seed", any_words(random_)]): anything(random_)}),
            "load": lambda: podsim.Scenario.load(anything(random_)),
            "set": lambda: scenario.copy().set(anything(random_), anything(random_)),
            "item": lambda: report[anything(random_)],
            "render": lambda: report.render(anything(random_)),
            "picture": lambda: report.picture(random_.choice([anything(random_), "heat", "links"])),
            "written": lambda: random_.choice([report.to_html, report.to_perfetto, report.to_chrome])(random_.choice([object(), 3, "\0"])),
            "sweep": lambda: podsim.sweep(anything(random_), anything(random_), threads=anything(random_)),
            "swept": lambda: podsim.sweep(scenario, {anything(random_, 3): anything(random_)}, threads=anything(random_)),
            "search": lambda: podsim.search(anything(random_), top=anything(random_), gap=anything(random_)),
            "plan": lambda: podsim.plan(anything(random_), tokens=anything(random_), counts=anything(random_)),
            "planned": lambda: podsim.plan(scenario, tokens=anything(random_), counts=anything(random_), most_days=anything(random_)),
            "evaluate": lambda: scenario.evaluate(threads=anything(random_), progress=anything(random_)),
            "command": lambda: podsim.command(anything(random_), anything(random_)),
            "block": lambda: getattr(podsim.blocks, random_.choice(dir(podsim.blocks)))(**{random_.choice(["x", "model", any_words(random_)]): 1}),
            "attribute": lambda: getattr(random_.choice([report, scenario, podsim.blocks]), any_words(random_)),
            "frame": lambda: podsim.frame(anything(random_)) if has_pandas() else None,
        }
        raised, calls_made = 0, int(os.environ.get("PODSIM_WRONG_CALLS", "1000"))
        for _ in range(calls_made):
            name = random_.choice(list(calls))
            try:
                calls[name]()
            except podsim.Error as error:
                self.assertTrue(error.diagnostics and error.diagnostics[0]["message"], (name, str(error)))
                self.assertTrue(error.file or error.line or error.diagnostics[0]["source_line"] or name == "load", (name, str(error)))
                raised += 1
            except AttributeError as error:
                self.assertEqual(name, "attribute", error)
            except TypeError as error:  # Python's own: of keys that cannot be keys
                self.assertIn("unhashable", str(error), name)
        self.assertGreater(raised, calls_made / 2)
        self.assertEqual(scenario.evaluate(), report)


class Module(unittest.TestCase):
    def test_is_imported_in_a_tenth_of_a_second(self):
        seconds = min(
            float(subprocess.run([sys.executable, "-c", "import time; t = time.perf_counter(); import podsim; print(time.perf_counter() - t)"],
                                 capture_output=True, text=True, check=True).stdout) for _ in range(5))
        print(f"import: {1000 * seconds:.0f} ms")
        self.assertLess(seconds, 0.5)  # of a busy machine; bench/python has the figure

    def test_has_the_version_of_the_program(self):
        self.assertIn(podsim.__version__, program("--version").stdout)


if __name__ == "__main__":
    unittest.main()

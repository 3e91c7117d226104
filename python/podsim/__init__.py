# podsim in Python: scenarios in, reports out.
"""podsim predicts the step time, cost and energy of a training job on a GPU or TPU cluster.

    import podsim
    job = podsim.Scenario.load("llama3_70b_512_h100.textproto")
    for size in (1, 2, 4):
        job["job.microbatch_sequences"] = size
        print(size, job.evaluate().step_time_s)
"""

import json
import os
import sys
import time

from podsim import _podsim, blocks
from podsim._blocks import plain
from podsim._errors import CancelledError, Error, InfeasibleError, InputError, InternalError, utf8, wrong_argument
from podsim._report import Figures, Report, figure_table, frame

__version__ = _podsim.version()
__all__ = [
    "CancelledError", "CommandOutput", "Error", "Figures", "InfeasibleError", "InputError", "InternalError", "Plan", "Report", "Scenario",
    "Search", "Sweep", "blocks", "command", "figure_table", "frame", "plan", "search", "sweep"
]


def _text_of(value, call, name):
    """A value as --set takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_text_of(each, call, name) for each in value)
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(value)
    raise wrong_argument(call, name, "text, a number, True or False, or a list of them", value)


def _threads(call, threads):
    if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= 1024:
        raise wrong_argument(call, "threads", "a whole number from 0 (as many as there are cores) to 1024", threads)
    return threads


class _Bar:
    """How far a computation is, as one line of the terminal or the notebook that is kept up to date."""

    def __init__(self, what):
        self.what, self.begin, self.shown = what, time.monotonic(), False

    def __call__(self, share, done, total, text):
        self.shown = True
        how_far = f"{100 * share:.0f} %" if share else f"{done} of {total}" if total else ""
        print(f"\r\033[Kpodsim: {self.what} {how_far} {text}, {time.monotonic() - self.begin:.0f} s", end="", file=sys.stderr, flush=True)

    def end(self):
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _told(call, progress, compute):
    """compute(function or None), with a line that shows how far it is where progress is True."""
    if progress is None or progress is False:
        return compute(None)
    if progress is not True:
        if not callable(progress):
            raise wrong_argument(call, "progress", "True, False or a function of share, done, total and text", progress)
        return compute(progress)
    bar = _Bar(call)
    try:
        return compute(bar)
    finally:
        bar.end()


class Scenario:
    """A question: text, a dict, or fields as keywords, and what is set since.

    Scenario("name: ..."), text format or JSON; Scenario({"cluster": {...}, "job": {...}}); or
    Scenario(cluster=podsim.blocks.ClusterChoice(chip="h100", chips=512, fabric="dgx_h100"), job=...). ``scenario["job.mesh.tensor.size"] = 4``
    sets a field by its path, as --set of the command line does.
    """

    def __init__(self, source=None, *, title="scenario", **fields):
        if not isinstance(title, str):
            raise wrong_argument("Scenario", "title", "text", title)
        if isinstance(source, Scenario) and not fields:
            self._held = source._held.copy()
            return
        if isinstance(source, str) and not fields:
            self._held = _podsim.Scenario.parse(utf8(source, "Scenario", "source"), utf8(title, "Scenario", "title"))
            return
        if source is not None and not isinstance(source, dict):
            raise wrong_argument("Scenario", "source", "text, a dict or another scenario, and no fields beside text", source)
        whole = plain({**(source or {}), **blocks.Scenario(**fields)}, "Scenario", "scenario")
        self._held = _podsim.Scenario.parse(json.dumps(whole, indent=1), utf8(title, "Scenario", "title"))

    @classmethod
    def load(cls, path):
        """The scenario of a file, text format or JSON."""
        if not isinstance(path, (str, os.PathLike)):
            raise wrong_argument("Scenario.load", "path", "the path of a file", path)
        scenario = cls.__new__(cls)
        scenario._held = _podsim.Scenario.load(utf8(os.fspath(path), "Scenario.load", "path"))
        return scenario

    def set(self, path, value):
        """Sets a field by its path; the same path once more takes the place of the first time. Returns the scenario."""
        if not isinstance(path, str):
            raise wrong_argument("Scenario.set", "path", "the path of a field, such as job.mesh.tensor.size", path)
        self._held.set(utf8(path, "Scenario.set", "path"), utf8(_text_of(value, "Scenario.set", path), "Scenario.set", path))
        return self

    __setitem__ = set

    def copy(self):
        """Another scenario with the same text and settings."""
        return Scenario(self)

    @property
    def text(self):
        """The text that it was made of."""
        return self._held.text

    @property
    def settings(self):
        """What was set since, as a dict of paths and values."""
        return dict(self._held.settings())

    def evaluate(self, *, threads=1, progress=None):
        """The step, as ``podsim run`` tells it: a Report.

        ``threads`` share the draws of a scenario with seeds (0 = as many as there are cores); ``progress`` is True for a line that is kept up
        to date, or a function of share, done, total and text, which ends all with CancelledError when it returns False.
        """
        threads = _threads("Scenario.evaluate", threads)
        return Report(_told("Scenario.evaluate", progress, lambda told: self._held.evaluate(threads, told)))

    def __repr__(self):
        return f"<podsim.Scenario {self._held.name}>"


def _scenario(call, scenario):
    if not isinstance(scenario, Scenario):
        raise wrong_argument(call, "scenario", "a podsim.Scenario", scenario)
    return scenario._held


class Sweep(list):
    """Rows of (values, report), ``values`` a dict; where there is no report, it is None and ``problems`` has the exception that says why."""

    def __init__(self, rows, problems):
        super().__init__(rows)
        self.problems = problems

    def to_frame(self):
        """A pandas DataFrame: a column for each path, then one for each figure."""
        import pandas

        values = pandas.DataFrame([values for values, _ in self])
        return pandas.concat([values, frame([report for _, report in self])], axis=1)

    def _repr_html_(self):
        return self.to_frame()._repr_html_()


def sweep(scenario, fields, *, threads=0, progress=None):
    """Evaluates every combination of values: ``podsim.sweep(job, {"job.microbatch_sequences": [1, 2, 4]})``."""
    held = _scenario("sweep", scenario)
    if not isinstance(fields, dict) or not all(isinstance(path, str) for path in fields):
        raise wrong_argument("sweep", "fields", "a dict of paths and lists of values", fields)
    all_fields = []
    for path, values in fields.items():
        if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__"):
            raise wrong_argument("sweep", path, "a list of values", values)
        texts = [utf8(_text_of(value, "sweep", path), "sweep", path) for value in values]
        all_fields.append((utf8(path, "sweep", "fields"), texts))
    threads = _threads("sweep", threads)
    rows, problems = [], []
    for values, report, problem in _told("sweep", progress, lambda told: _podsim.sweep(held, all_fields, threads, told)):
        rows.append((dict(zip(fields, values)), None if report is None else Report(report)))
        problems.append(problem)
    return Sweep(rows, problems)


class Search:
    """The fastest layouts: ``layouts`` has (layout, step_time_s, memory_gib, Scenario) of each, the fastest first.

    ``proven``: that nothing is faster, by more than ``gap``; ``scenario``: that with the fastest layout.
    """

    def __init__(self, answer):
        self.layouts = [(layout, step, memory, Scenario(text)) for layout, step, memory, text in answer["layouts"]]
        self.proven, self.gap, self.json = answer["proven"], answer["gap"], answer["json"]
        self.scenario = self.layouts[0][3]

    def to_frame(self):
        """A pandas DataFrame with a row for each layout."""
        import pandas

        return pandas.DataFrame([(layout, step, memory) for layout, step, memory, _ in self.layouts],
                                columns=["layout", "step_time_s", "memory_gib"])

    def _repr_html_(self):
        return self.to_frame()._repr_html_()


def search(scenario, *, top=10, within=0.0, gap=0.0, pareto=False, threads=0, progress=None):
    """Finds the fastest layouts of the scenario's job among those of its block ``space``; Ctrl-C ends it."""
    held = _scenario("search", scenario)
    if isinstance(top, bool) or not isinstance(top, int) or not 1 <= top <= 100_000:
        raise wrong_argument("search", "top", "a whole number from 1 to 100,000", top)
    within, gap = _share("search", "within", within), _share("search", "gap", gap)
    threads = _threads("search", threads)
    return Search(_told("search", progress, lambda told: _podsim.search(held, top, within, gap, bool(pareto), threads, told)))


def _share(call, name, value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise wrong_argument(call, name, "a share from 0 to less than 1", value)
    return float(value)


class Plan:
    """Clusters with the fastest layout of the job on each: ``clusters``, a list of dicts, those that meet the limits first."""

    def __init__(self, answer):
        self.clusters = [{**row, "scenario": Scenario(row["scenario"])} for row in answer["clusters"]]
        self.json = answer["json"]

    def to_frame(self):
        """A pandas DataFrame with a row for each cluster."""
        import pandas

        return pandas.DataFrame([{key: value for key, value in row.items() if key != "scenario"} for row in self.clusters])

    def _repr_html_(self):
        return self.to_frame()._repr_html_()


def plan(scenario, *, tokens=None, counts=(), chips=(), price_terms=(), precisions=(), most_days=None, most_usd=None, minimise=None,
         gap=None, threads=0, progress=None):
    """Compares clusters for a training run of so many ``tokens``: ``podsim.plan(job, tokens=1e12, counts=[256, 512], chips=["h100"])``.

    What is not given is that of the scenario's block ``plan``, or usual.
    """
    held = _scenario("plan", scenario)
    wish = _podsim.PlanWish()
    given = {"tokens": tokens, "counts": counts, "chips": chips, "price_terms": price_terms, "precisions": precisions,
             "most_days": most_days, "most_usd": most_usd, "minimise": minimise}
    for name, value in given.items():
        try:
            setattr(wish, name, list(value) if isinstance(value, (tuple, range)) else value)
        except (TypeError, OverflowError, UnicodeError):
            raise wrong_argument("plan", name, "numbers of tokens, days and dollars, lists of counts and names", value) from None
    if gap is not None:
        wish.gap = _share("plan", "gap", gap)
    threads = _threads("plan", threads)
    return Plan(_told("plan", progress, lambda told: _podsim.plan(held, wish, threads, told)))


class CommandOutput:
    """What a command line did: ``exit_code``, ``out`` and ``err``."""

    def __init__(self, exit_code, out, err):
        self.exit_code, self.out, self.err = exit_code, out.decode(errors="replace"), err.decode(errors="replace")

    def json(self):
        """The output, parsed, with figures as attributes."""
        return json.loads(self.out, object_hook=Figures)

    def __repr__(self):
        return self.out + self.err


def command(*words):
    """Runs a command line of podsim within this process: ``podsim.command("scale", "job.textproto", "--chips", "64,128")``."""
    if len(words) == 1 and isinstance(words[0], (list, tuple)):
        words = words[0]
    for word in words:
        if not isinstance(word, str):
            raise wrong_argument("command", "words", "words of a command line, each text", word)
    return CommandOutput(*_podsim.command([utf8(word, "command", "words") for word in words]))

# Reports: every figure as an attribute, a dict, a table or a picture.
"""The answer to a scenario."""

import difflib
import json
import os

from podsim import _podsim
from podsim._errors import InternalError, utf8, wrong_argument

FORMATS = ("table", "json", "csv", "textproto")
PICTURES = tuple(_podsim.picture_names())


class Figures(dict):
    """Several figures that belong together: items are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f'there is no figure "{name}" among {", ".join(self)}') from None

    def __dir__(self):
        return [name for name in self if name.isidentifier()] + list(super().__dir__())


class Report:
    """What ``podsim run`` tells of a scenario. Times are in seconds, memory in GiB.

    ``report.step_time_s`` is a figure, ``report.memory_per_chip_gib.total`` a part of one; ``report["fault_costs[0].cost_s"]`` takes the
    names of the library. A figure that this report does not have is None. ``help(podsim.Report)`` has the unit and the definition of each.
    """

    def __init__(self, held):
        self._held = held
        self._dict = None

    def __getitem__(self, name):
        return self._held.figure(_known_text("Report", "name", name))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        near = difflib.get_close_matches(name, _TOP, 1)
        raise AttributeError(f'reports have no figure "{name}"' + (f'; did you mean "{near[0]}"?' if near else ""))

    def _figure(self, name):
        known = self._held.known_figure(name)
        return known[0] if known else self.to_dict().get(name)

    def names(self):
        """The names of all single figures, in the order of JSON."""
        return _not_empty(self._held.names(), "names its figures")

    def to_dict(self):
        """All figures, as ``podsim run --format json`` has them."""
        if self._dict is None:
            self._dict = json.loads(self.to_json(), object_hook=Figures)
        return self._dict

    def to_json(self):
        """The text that ``podsim run --format json`` prints."""
        return self.render("json")

    def to_frame(self):
        """A pandas DataFrame of one row: a column for each single figure."""
        return frame([self])

    def render(self, format):
        """The text that ``podsim run --format FORMAT`` prints: table, json, csv or textproto."""
        if _known_text("Report.render", "format", format) not in FORMATS:
            raise wrong_argument("Report.render", "format", "table, json, csv or textproto", format)
        return _not_empty(self._held.render(format), f"is written as {format}")

    def picture(self, what):
        """A picture of ``podsim run --svg`` as the text of an SVG file, empty where there is nothing to draw."""
        if _known_text("Report.picture", "what", what) not in PICTURES:
            raise wrong_argument("Report.picture", "what", "one of " + ", ".join(PICTURES), what)
        return self._held.picture(what)

    def to_html(self, path=None):
        """The page of ``podsim run --html``: its text, or written to a file."""
        return _written("Report.to_html", self._held.html(), path)

    def to_perfetto(self, path=None):
        """The step as a trace for ui.perfetto.dev: bytes, or written to a file, compressed where its name ends in .gz."""
        return _written("Report.to_perfetto", self._held.trace("perfetto"), path)

    def to_chrome(self, path=None):
        """The same as JSON for chrome://tracing and other viewers of traces."""
        return _written("Report.to_chrome", self._held.trace("chrome"), path)

    @property
    def warnings(self):
        """What the scenario has that is worth a look, one dict each, as in ``podsim.Error.diagnostics``."""
        return self._held.warnings()

    def __str__(self):
        return self.render("table")

    def __repr__(self):
        return f"<podsim.Report of {self.scenario}: {self.step_time_s} s a step>" if self._held.known_figure("step_time_s") else \
            f"<podsim.Report of {self.scenario}>"

    def __eq__(self, other):
        return self.to_json() == other.to_json() if isinstance(other, Report) else NotImplemented

    def __hash__(self):
        return hash(self.to_json())

    def __dir__(self):
        return _TOP + list(super().__dir__())

    def _repr_html_(self):
        return self._held.panels()


Report.picture.__doc__ += "\n\n" + ", ".join(f'"{name}"' for name in PICTURES[:-1]) + f' or "{PICTURES[-1]}".'


def _not_empty(answer, does):
    """What the library gives of every report, unless it fails."""
    if not answer:
        raise InternalError(f"podsim failed where a report {does}: is there memory left?")
    return answer


def _known_text(call, name, value):
    if not isinstance(value, str):
        raise wrong_argument(call, name, "text", value)
    return utf8(value, call, name)


def _written(call, content, path):
    """The content, or None once it is in the file."""
    if path is None:
        return content
    if not isinstance(path, (str, os.PathLike)) or "\0" in os.fspath(path):
        raise wrong_argument(call, "path", "the path of a file", path)
    data = content.encode() if isinstance(content, str) else content
    if os.fspath(path).endswith(".gz"):
        import gzip  # takes as long to load as podsim itself

        data = gzip.compress(data, mtime=0)
    with open(path, "wb") as file:
        file.write(data)
    return None


def _documented():
    top = []
    for name, kind, unit, definition in _podsim.figure_list():
        if "." in name or "[" in name or name in top:
            continue
        top.append(name)
        doc = definition + (f" [{unit}]" if unit else "")
        setattr(Report, name, property(lambda self, name=name: self._figure(name), doc=doc or f"{name} ({kind})"))
    return top


_TOP = _documented()


def figure_table():
    """Every figure that reports may have: a list of (name, type, unit, definition)."""
    return _podsim.figure_list()


def frame(reports):
    """A pandas DataFrame with a row for each report and a column for each single figure; what a report lacks is missing."""
    import pandas

    reports = list(reports) if hasattr(reports, "__iter__") else [reports]
    if not all(report is None or isinstance(report, Report) for report in reports):
        raise wrong_argument("frame", "reports", "a list of reports, with None where there is none", reports)
    rows = []
    for report in reports:
        if isinstance(report, Report):
            rows.append({name: report._held.figure(name) for name in report.names()})
        else:
            rows.append({})
    return pandas.DataFrame(rows)

# Reports: every figure as an attribute, a dict, a table or a picture.
"""The answer to a scenario."""

import difflib
import html
import json

from podsim import _podsim


class Figures(dict):
    """Several figures that belong together: items are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f'there is no figure "{name}" among {", ".join(self)}') from None

    def __dir__(self):
        return [name for name in self if name.isidentifier()] + list(super().__dir__())


_SHOWN = ("scenario", "step_time_s", "tokens_per_s", "mfu_causal", "compute_s", "exposed_communication_s.total", "pipeline_bubble_s",
          "straggler_delay_s", "memory_per_chip_gib.total", "memory_per_chip_gib.capacity", "fits", "cost_usd_per_million_tokens",
          "energy_j_per_token")


class Report:
    """What ``podsim run`` tells of a scenario. Times are in seconds, memory in GiB.

    ``report.step_time_s`` is a figure, ``report.memory_per_chip_gib.total`` a part of one; ``report["fault_costs[0].cost_s"]`` takes the
    names of the library. A figure that this report does not have is None. ``help(podsim.Report)`` has the unit and the definition of each.
    """

    def __init__(self, held):
        self._held = held
        self._dict = None

    def __getitem__(self, name):
        if not isinstance(name, str):
            raise KeyError(f"a figure has a name, not {type(name).__name__}")
        return self._held.figure(name)

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
        return self._held.names()

    def to_dict(self):
        """All figures, as ``podsim run --format json`` has them."""
        if self._dict is None:
            self._dict = json.loads(self.to_json(), object_hook=Figures)
        return self._dict

    def to_json(self):
        """The text that ``podsim run --format json`` prints."""
        return self._held.render("json")

    def to_frame(self):
        """A pandas DataFrame of one row: a column for each single figure."""
        return frame([self])

    def render(self, format):
        """The text that ``podsim run --format FORMAT`` prints: table, json, csv or textproto."""
        return self._held.render(format) if isinstance(format, str) else ""

    def picture(self, what):
        """"breakdown", "memory" or "links" as the text of an SVG file."""
        return self._held.picture(what) if isinstance(what, str) else ""

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
        rows = []
        for name in _SHOWN:
            known = self._held.known_figure(name)
            if known:
                value = f"{known[0]:.6g}" if isinstance(known[0], float) else str(known[0])
                rows.append(f"<tr><td>{name}</td><td>{html.escape(value)}</td><td>{_UNITS.get(name, '')}</td></tr>")
        pictures = "".join(f"<div>{self._held.picture(what)}</div>" for what in ("breakdown", "memory"))
        return f"<table>{''.join(rows)}</table>{pictures}"


def _documented():
    top = []
    units = {}
    for name, kind, unit, definition in _podsim.figure_list():
        units[name] = html.escape(unit.split(";")[0])
        if "." in name or "[" in name or name in top:
            continue
        top.append(name)
        doc = definition + (f" [{unit}]" if unit else "")
        setattr(Report, name, property(lambda self, name=name: self._figure(name), doc=doc or f"{name} ({kind})"))
    return top, units


_TOP, _UNITS = _documented()


def figure_table():
    """Every figure that reports may have: a list of (name, type, unit, definition)."""
    return _podsim.figure_list()


def frame(reports):
    """A pandas DataFrame with a row for each report and a column for each single figure; what a report lacks is missing."""
    import pandas

    rows = []
    for report in reports:
        if isinstance(report, Report):
            rows.append({name: report._held.figure(name) for name in report.names()})
        else:
            rows.append({})
    return pandas.DataFrame(rows)

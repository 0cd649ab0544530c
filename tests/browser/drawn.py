# SPDX-License-Identifier: GPL-2.0-only
"""A figure's drawing in a browser, in data units."""
import csv
import io
import math
import re

# Each figure's data and drawing, in SVG coordinates for the drawing.
COLLECT = r"""
const numbers = text => (text.match(/-?[\d.]+(e[-+]?\d+)?|nan|inf/gi) || []).map(Number);
return [...document.querySelectorAll('figure')].map(figure => {
  const svg = figure.querySelector('svg'), pre = figure.querySelector('details pre');
  const rows = [...figure.querySelectorAll('details tr')].map(
    tr => [...tr.children].map(cell => cell.textContent).join(','));
  if (!svg)
    return {name: figure.id, missing: figure.querySelector('.missing').textContent};
  const frame = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / frame.width;
  const place = element => {
    const box = element.getBoundingClientRect();
    return {left: (box.left - frame.left) * scale, right: (box.right - frame.left) * scale,
            top: (box.top - frame.top) * scale, bottom: (box.bottom - frame.top) * scale};
  };
  const style = element => {
    const made = getComputedStyle(element);
    return {fill: made.fill, stroke: made.stroke, dash: made.strokeDasharray, color: made.color};
  };
  return {
    name: figure.id,
    csv: pre ? pre.textContent : rows.join('\n'),
    told: figure.querySelector('figcaption').textContent,
    width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height,
    texts: [...svg.querySelectorAll('text')].map(text => ({
      text: text.textContent, ...place(text),
      size: parseFloat(text.closest('[font-size]').getAttribute('font-size')),
      series: text.closest('[id*=gnuplot_plot_]')?.id || ''})),
    frames: [...svg.querySelectorAll('path')].filter(
      path => !path.closest('[id*=gnuplot_plot_]')).map(path => numbers(path.getAttribute('d'))),
    series: [...svg.querySelectorAll('[id*=gnuplot_plot_]')].map(group => ({
      title: [...group.querySelectorAll('text')].map(text => text.textContent).join(''),
      marks: [...group.querySelectorAll('use')].map(use => ({
        at: numbers(use.getAttribute('transform')), href: use.getAttribute('href'),
        ...style(use)})),
      lines: [...group.querySelectorAll('path')].map(
        path => ({d: path.getAttribute('d'), ...style(path)})),
      boxes: [...group.querySelectorAll('polygon')].map(
        polygon => ({at: numbers(polygon.getAttribute('points')), ...style(polygon)}))})),
  };
});
"""

UNITS = {"ns": 1e-3, "µs": 1, "ms": 1e3, "s": 1e6}  # in µs


def value_of(label):
    """A tic's number, times in µs, or None for a name."""
    ratio = re.fullmatch(r"(=)|÷(\d+)|×(\d+)|([−+])(\d+) %", label.strip())
    if ratio:
        _, divisor, factor, sign, percent = ratio.groups()
        return 1 / int(divisor) if divisor else int(factor) if factor else \
            1 + int(percent) / 100 * (1 if sign == "+" else -1) if percent else 1
    match = re.fullmatch(r"(\d[\d ]*(?:\.\d+)?)(?: (ns|µs|ms|s))?", label.strip())
    return match and float(match[1].replace(" ", "")) * UNITS.get(match[2], 1)


class Axis:
    """Converts values to pixels by the tics' labels and positions."""
    def __init__(self, tics, log):
        self.log = log
        (low, self.from_px), (high, to_px) = tics[0], tics[-1]
        self.low, high = self.scaled(low), self.scaled(high)
        self.px = (to_px - self.from_px) / (high - self.low)

    def scaled(self, value):
        return math.log10(value) if self.log else value

    def at(self, value):
        return self.from_px + (self.scaled(value) - self.low) * self.px


class Drawn:
    """A figure in the browser."""
    LOG = {"cost": "y", "latency": "xy", "cumulative": "x", "comparison": "x"}

    def __init__(self, collected):
        self.__dict__.update(collected)
        self.rows = list(csv.DictReader(io.StringIO(self.csv)))
        frames = [path for path in self.frames if len(path) >= 6 and path[0] == path[2] and
                  path[3] == path[5]]
        frame = max(frames, key=lambda path: (path[4] - path[0]) * (path[3] - path[1]))
        self.left, self.top, self.right, self.bottom = frame[0], frame[1], frame[4], frame[3]
        loose = [text for text in self.texts if not text["series"]]
        self.x_tics = [text for text in loose if text["top"] > self.bottom and
                       text["bottom"] < self.bottom + 45]
        self.y_tics = [text for text in loose if text["right"] < self.left and
                       text["right"] - text["left"] > 0.5 and not self.is_label(text)]
        self.key = [text for text in self.texts if text["series"]]

    def is_label(self, text):
        """Whether the text is the y axis's name, which is rotated."""
        return text["bottom"] - text["top"] > text["right"] - text["left"] and \
            len(text["text"]) > 3

    def unit(self):
        """µs in an x axis unit, or None if it is not a time axis."""
        for text in self.texts:
            match = re.search(r"^time.*\((ns|µs|ms|s)\)$", text["text"])
            if match:
                return UNITS[match[1]]
        return None

    def x(self):
        tics = [(value_of(tic["text"]), (tic["left"] + tic["right"]) / 2) for tic in self.x_tics
                if value_of(tic["text"]) is not None]
        axis = Axis(sorted(tics), "x" in self.LOG.get(self.name, ""))
        return axis.at

    def y(self):
        tics = [(value_of(tic["text"]), (tic["top"] + tic["bottom"]) / 2) for tic in self.y_tics
                if value_of(tic["text"]) is not None]
        # The middle of a text's box is not the tic: the end of the axis corrects it.
        axis = Axis(sorted(tics), "y" in self.LOG.get(self.name, ""))
        return axis.at

    def rows_y(self, rows, from_row=0.4):
        """Pixels of a bar's row, counted from the bottom, where the axis begins."""
        height = (self.bottom - self.top) / (rows + 1 - 2 * from_row)
        return lambda row: self.bottom - (row - from_row) * height

    def in_key(self, y):
        return y < self.top - 1

    def split(self, series, kind, y_of):
        """(the samples in the key, the elements in the plot)"""
        elements = series[kind]
        return [element for element in elements if self.in_key(y_of(element))], \
            [element for element in elements if not self.in_key(y_of(element))]

    def marks(self, series):
        return self.split(series, "marks", lambda mark: mark["at"][1])

    def boxes(self, series):
        """Each box gets left, top, right, bottom."""
        for box in series["boxes"]:
            xs, ys = box["at"][::2], box["at"][1::2]
            box["place"] = (min(xs), min(ys), max(xs), max(ys))
        return self.split(series, "boxes", lambda box: box["place"][1])

    @staticmethod
    def points(series):
        """The points of a line in the plot. The first part of the path is the key's sample."""
        parts = []
        for line in series["lines"]:
            for part in re.split("M", line["d"])[1:]:
                parts.append([tuple(map(float, point.split(",")))
                              for point in re.findall(r"[-\d.]+\s*,\s*[-\d.]+", part)])
        return parts[0], [point for part in parts[1:] for point in part]


def collect(browser):
    """{name: Drawn, or the reason why it is missing}"""
    return {figure["name"]: figure["missing"] if "missing" in figure else Drawn(figure)
            for figure in browser.execute_script(COLLECT)}

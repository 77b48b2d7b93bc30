"""What the measure.py of the folders here share: they run scenes, print tables in Markdown, and make pictures and plots.

A folder's measure.py says which scenes, which columns and which frames. Plots are SVG, written by hand: no library is
needed but Python's own.
"""
import argparse
import csv
import math
import os
import resource
import shutil
import subprocess
import sys

# ---- Running -------------------------------------------------------------------------------------------------------

UNSTABLE = 3  # how spate ends when a simulation broke down, which may be a result


def read_arguments(doc, out, word, names):
    """The command line that all have: `names` of what can be measured, `word` for one of them."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("--spate", default=shutil.which("spate") or "build/release/spate", help="the command")
    parser.add_argument("--out", default=out, help="folder of the runs")
    parser.add_argument("--images", help="also make the README's pictures, in this folder")
    parser.add_argument("--threads", type=int, help="worker threads; the numbers do not depend on it")
    parser.add_argument("--quick", action="store_true", help="coarser or shorter")
    parser.add_argument("--reuse", action="store_true", help="do not run again what is in the folder of the runs")
    parser.add_argument("names", nargs="*", metavar=word.upper(), help=", ".join(names))
    args = parser.parse_args()
    unknown = set(args.names) - set(names)
    if unknown:
        parser.error("no %s %s" % (word, ", ".join(sorted(unknown))))
    os.makedirs(args.out, exist_ok=True)
    if args.images:
        os.makedirs(args.images, exist_ok=True)
    return args


def processor_seconds():
    """Of all commands so far. Unlike the time on the wall it does not depend on what else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_scene(args, file, folder, options=(), good=(0,)):
    """Runs a scene into a folder, unless its table is there and --reuse given; the processor time, or None."""
    table = "compare.csv" if "--compare" in options else "stats.csv"
    if args.reuse and os.path.exists(os.path.join(folder, table)):
        return None
    command = [args.spate, "run", file, "-o", folder, "--force", "--quiet", *options]
    if args.threads:
        command += ["--threads", str(args.threads)]
    print(" ".join(command), file=sys.stderr)
    before = processor_seconds()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in good:
        sys.exit("%s\nmeasure.py: spate ended with %d" % (done.stderr, done.returncode))
    return processor_seconds() - before


# ---- Tables --------------------------------------------------------------------------------------------------------

def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def read_table(path):
    """A row a line, as numbers by column; words are None."""
    with open(path, newline="") as file:
        return [{k: number(v) for k, v in row.items()} for row in csv.DictReader(file)]


def read_variants(folder):
    """The rows of compare.csv by variant."""
    variants = {}
    with open(os.path.join(folder, "compare.csv"), newline="") as file:
        for row in csv.DictReader(file):
            name = row.pop("variant")
            variants.setdefault(name, []).append({k: number(v) for k, v in row.items()})
    return variants


class Result:
    """The rows of one run."""

    def __init__(self, rows):
        self.rows = rows

    def at(self, time, column):
        """A column at a time, straight between frames."""
        for a, b in zip(self.rows, self.rows[1:]):
            if a["time"] <= time <= b["time"]:
                s = (time - a["time"]) / (b["time"] - a["time"])
                return None if a[column] is None or b[column] is None else a[column] + s * (b[column] - a[column])
        return None

    def last(self, column):
        return self.rows[-1][column]

    def mean(self, column, begin=0, end=math.inf):
        values = [r[column] for r in self.rows if begin <= r["time"] <= end and r[column] is not None]
        return sum(values) / len(values) if values else None


def read_result(folder):
    return Result(read_table(os.path.join(folder, "stats.csv")))


def text(value, form="%.3g"):
    return "-" if value is None else form % value


def print_table(head, lines):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print()


# ---- Martin and Moyce ----------------------------------------------------------------------------------------------

# Martin and Moyce 1952, n^2 = 2: the front Z = x / a over T = t sqrt(2 g / a).
FRONT = [(0.41, 1.11), (0.84, 1.22), (1.19, 1.44), (1.43, 1.67), (1.63, 1.89), (1.83, 2.11), (1.98, 2.33), (2.20, 2.56),
         (2.51, 3.00), (2.83, 3.44), (3.11, 3.89), (3.33, 4.11)]
COLUMN = 0.05715
FRONT_SCALE = math.sqrt(2 * 9.81 / COLUMN)
MOST_OFFSET = 0.3


def front_errors(result, offset):
    """Relative errors of the column `front`, where the simulated clock starts later by `offset`."""
    fronts = [result.at((t - offset) / FRONT_SCALE, "front") for t, _ in FRONT]
    return [None if f is None else f / COLUMN / z - 1 for f, (_, z) in zip(fronts, FRONT)]


def fit_front(result):
    """The gate did not open at once: the experiment's clock may start up to MOST_OFFSET before the simulated one. The
    offset whose worst error is least, and that error."""
    worst = lambda offset: max(1 if e is None else abs(e) for e in front_errors(result, offset))
    offset = min((i / 100 for i in range(int(100 * MOST_OFFSET) + 1)), key=worst)
    return offset, worst(offset)


# ---- Pictures ------------------------------------------------------------------------------------------------------

# Pixels across a picture of a README.
WIDTH = 1280


def shrink(source, target, width=WIDTH):
    """A copy in true colour, at most so wide and packed as small as PNG goes; a plain copy without ffmpeg."""
    if not shutil.which("ffmpeg") or subprocess.run(
            ["ffmpeg", "-v", "error", "-y", "-i", source, "-vf", "scale='min(iw,%d)':-1:flags=lanczos,format=rgb24" % width,
             "-compression_level", "9", "-pred", "mixed", "-update", "1", target]).returncode:
        shutil.copyfile(source, target)


def render_frame(args, run, made, frame, size, options=()):
    """Renders a frame of a run into the folder `made`; the picture's path."""
    subprocess.run([args.spate, "render", run, "-o", made, "--quiet", "--no-film", "--frames", str(frame), "--size", size,
                    *options], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(made, "frame_%04d.png" % frame)


# ---- Plots ---------------------------------------------------------------------------------------------------------

# Colours that all kinds of colour vision tell apart (Okabe and Ito 2008), as in the plots of spate itself.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"]


class Curve:
    """Points (x, y) that are drawn as a `line`, as `dashes` or as `points`. Curves of one colour belong together; without
    a name it is not in the legend."""

    def __init__(self, points, name="", colour=0, style="line"):
        self.points = [(x, y) for x, y in points if x is not None and y is not None]
        self.name, self.colour, self.style = name, COLOURS[colour % len(COLOURS)], style


def ticks(low, high, wanted=6):
    """Round numbers inside [low, high]."""
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-6)
    return [k * step for k in range(first, int(math.floor(high / step + 1e-6)) + 1)]


class Page:
    """Where a plot's numbers lie on its page."""

    def __init__(self, curves, width, height, logarithmic):
        self.logarithmic = logarithmic
        points = [(x, self.scaled(y)) for c in curves for x, y in c.points]
        self.x = min(x for x, _ in points), max(x for x, _ in points)
        low, high = min(y for _, y in points), max(y for _, y in points)
        margin = 0.04 * (high - low)
        self.y = low - margin, high + margin
        self.left, self.top, self.right, self.bottom = 84, 40, width - 16, height - 52

    def scaled(self, y):
        return math.log10(max(y, 1e-300)) if self.logarithmic else y

    def place(self, x, y):
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (self.scaled(y) - self.y[0]) / (self.y[1] - self.y[0])
        return self.left + across * (self.right - self.left), self.bottom - up * (self.bottom - self.top)

    def y_ticks(self):
        if not self.logarithmic:
            return ticks(*self.y)
        return [10.0 ** k for k in range(math.ceil(self.y[0]), math.floor(self.y[1]) + 1)]


def write_text(x, y, words, anchor="middle", size=14, more=""):
    return '<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d"%s>%s</text>' % (x, y, anchor, size, more, words)


def draw_axes(f, title, x_title, y_title):
    """A frame with numbers at its ticks, and faint lines across it."""
    lines = []
    tick_text = lambda value: "%g" % float("%.6g" % value)
    line = '<path d="M%.1f %.1fL%.1f %.1f" stroke="#ddd"/>'
    for x in ticks(*f.x):
        at = f.place(x, 1)[0]
        lines += [line % (at, f.top, at, f.bottom), write_text(at, f.bottom + 20, tick_text(x), size=13)]
    for y in f.y_ticks():
        at = f.place(0, y)[1]
        lines += [line % (f.left, at, f.right, at), write_text(f.left - 8, at + 5, tick_text(y), "end", 13)]
    lines.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="none" stroke="#444"/>'
                 % (f.left, f.top, f.right - f.left, f.bottom - f.top))
    middle, half = (f.left + f.right) / 2, (f.top + f.bottom) / 2
    lines += [write_text(middle, 24, title, size=16), write_text(middle, f.bottom + 42, x_title),
              write_text(18, half, y_title, more=' transform="rotate(-90 18 %.1f)"' % half)]
    return lines


def draw_curve(places, curve):
    if curve.style == "points":
        return "".join('<circle cx="%.1f" cy="%.1f" r="4" fill="#fff" stroke="%s" stroke-width="1.8"/>'
                       % (x, y, curve.colour) for x, y in places)
    dashes = ' stroke-dasharray="7 5"' if curve.style == "dashes" else ""
    return '<path d="M%s" fill="none" stroke="%s" stroke-width="2"%s/>' % (
        "L".join("%.1f %.1f" % p for p in places), curve.colour, dashes)


def draw_legend(f, curves, corner):
    """Names in a corner of the frame, or half-way down: ("top", "middle" or "bottom", "left" or "right")."""
    named = [c for c in curves if c.name]
    high, wide = 21 * len(named) + 8, 56 + 8.2 * max((len(c.name) for c in named), default=0)
    left = f.left + 10 if corner[1] == "left" else f.right - 10 - wide
    top = {"top": f.top + 10, "middle": (f.top + f.bottom - high) / 2, "bottom": f.bottom - 10 - high}[corner[0]]
    lines = ['<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#fff" fill-opacity="0.85"/>' % (left, top, wide, high)]
    for k, c in enumerate(named):
        y = top + 18 + 21 * k
        ends = [(left + 22, y - 5)] if c.style == "points" else [(left + 6, y - 5), (left + 38, y - 5)]
        lines += [draw_curve(ends, c), write_text(left + 48, y, c.name, "start")]
    return lines if named else []


def plot(path, title, x_title, y_title, curves, corner=("top", "right"), logarithmic=False, size=(720, 440)):
    """Writes curves as an SVG; the vertical axis may be logarithmic."""
    f = Page(curves, *size, logarithmic)
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" fill="#222">' % size,
             '<rect width="%d" height="%d" fill="#fff"/>' % size, *draw_axes(f, title, x_title, y_title)]
    lines += [draw_curve([f.place(x, y) for x, y in c.points], c) for c in curves]
    lines += [*draw_legend(f, curves, corner), "</svg>"]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")

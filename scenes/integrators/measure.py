#!/usr/bin/env python3
"""Runs the comparisons of this folder and prints the tables of its README, in Markdown.

    python3 scenes/integrators/measure.py [--spate PATH] [--out DIR] [--images DIR] [--threads N] [--quick] [--reuse]
        [FIGURE ...]

Without figures it does all of them. Runs go to DIR/FIGURE_RUN, with sheet.png and compare.png in each. With --images
it also makes the README's pictures (they are made smaller where ffmpeg is found). --quick runs the variants that
finish in seconds; their numbers differ from the README's. --reuse takes runs that are in DIR as they are.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from measuring import UNSTABLE, print_table, read_arguments, read_variants, render_frame, run_scene, shrink, text


# What a column of a table shows. `of` is a column of compare.csv, or a function of a row (a dict of numbers).
class Column:
    def __init__(self, title, of, form="%.3g"):
        self.title, self.of, self.form = title, of, form

    def value(self, row):
        return self.of(row) if callable(self.of) else row.get(self.of)

    def text(self, value):
        return text(value, self.form)


class At(Column):
    """At a time, in seconds; empty if the run did not get there."""

    def __init__(self, title, of, time, form="%.3g"):
        super().__init__(title, of, form)
        self.time = time

    def measure(self, rows):
        row = min(rows, key=lambda r: abs(r["time"] - self.time))
        gap = rows[1]["time"] - rows[0]["time"] if len(rows) > 1 else 0
        return self.text(self.value(row) if abs(row["time"] - self.time) <= 0.51 * gap else None)


class Max(Column):
    """The largest over the run."""

    def measure(self, rows):
        return self.text(max((v for v in map(self.value, rows) if v is not None), default=None))


class First(Column):
    """The first time, in seconds, at which a condition on a row holds."""

    def measure(self, rows):
        return self.text(next((r["time"] for r in rows if self.of(r)), None))


# One call of `spate run --compare`. With two fields and one column the table has a column for each value of the second
# field. `quick` is added to the command for --quick.
class Run:
    def __init__(self, name, title, compare, columns, sets=(), quick=(), until=None):
        self.name, self.title, self.compare, self.columns = name, title, compare, columns
        self.sets, self.quick, self.until = sets, quick, until


# Pictures of the README: Sheet copies sheet.png or compare.png of a run, Frame renders a frame of a variant.
class Sheet:
    def __init__(self, run, file, source="sheet.png"):
        self.run, self.file, self.source = run, file, source


class Frame:
    def __init__(self, run, variant, frame, file, size, options=()):
        self.run, self.variant, self.frame, self.file = run, variant, frame, file
        self.size, self.options = size, options


class Figure:
    def __init__(self, name, scene, runs, pictures=()):
        self.name, self.scene, self.runs, self.pictures = name, scene, runs, pictures


SEPARATION = lambda row: 2 * row["half_separation"]
GROUND = lambda row: 24.1 - row["lowest"]
ENERGY = lambda row: row["total_energy"] / 1e9
# Figures 1, 20 and 21 are measured at a coarser dx than their scenes stand at: minutes instead of hours.
FOUNTAIN = ("domain.dx=1", "sources.nozzle.limit=46875")
WHEEL = ("domain.dx=3",)
ROCK = ("domain.dx=2",)
RISE = lambda row: 100 * (row["sand_y"] / 8.60884 - 1)  # sand_y of the start
# After 0.6 s the wheel itself lifts what clings to it so high.
FLYING = lambda row: row["high"] if row["time"] < 0.61 else None
# Grains that are not in the largest piece, of 66,300 in all, and how many of them hang together on average.
LOOSE = lambda row: (66300 - row["removed"]) * (1 - row["largest"])
CLUMP = lambda row: LOOSE(row) / (row["pieces"] - 1) if row["pieces"] > 1 else None

FIGURES = [
    Figure("fig03", "fig03_two_particles.yaml", [
        Run("schemes", "Separation in dx, alpha 0.995",
            [("integrator", "pic,flip,nflip,sflip,apic,aflip,aspic,asflip,polypic")],
            [At("frame 75 (3 s; free flight 6.2)", SEPARATION, 3, "%.2f"),
             At("frame 150 (6 s; free flight 12.2)", SEPARATION, 6, "%.2f")],
            quick=("--until", "3")),
        Run("alpha", "Separation in dx at frame 150, over alpha",
            [("integrator", "flip,nflip,sflip,aflip,aspic,asflip"), ("alpha", "0.99,0.995,1")],
            [At("separation", SEPARATION, 6, "%.2f")]),
    ], [Sheet("schemes", "fig03.png")]),
    Figure("fig05", "fig05_column.yaml", [
        Run("schemes", "alpha 0.99",
            [("integrator", "pic,flip,apic,aflip,nflip,sflip,asflip")],
            [At("mixing at 0.17 s", "mixing", 0.17, "%.3f"), At("mixing at 0.5 s", "mixing", 0.5, "%.3f"),
             At("half width at 0.5 s [cm]", "runout", 0.5, "%.1f")],
            quick=("--set", "domain.dx=0.4")),
        Run("alpha", "Mixing at 0.5 s, over alpha",
            [("integrator", "flip,nflip"), ("alpha", "0.99,0.995")], [At("mixing", "mixing", 0.5, "%.3f")],
            quick=("--set", "domain.dx=0.4")),
    ], [Sheet("schemes", "fig05.png")]
       + [Frame("schemes", scheme, 50, "fig05_%s.png" % scheme, "1280x384") for scheme in ("flip", "nflip")]),
    Figure("fig08", "fig08_hourglass.yaml", [
        Run("schemes", "As the scene stands",
            [("integrator", "nflip,sflip,flip,apic,asflip")],
            [At("debris at frame 23", "debris", 0.92), At("pieces at 4 s", "pieces", 4),
             At("pieces at frame 200", "pieces", 8), At("below the neck at frame 200", "passed", 8, "%.0f"),
             Max("deepest in the ground [cm]", GROUND, "%.2f"),
             Max("deepest in any collider [cm]", "penetration_max", "%.2f")],
            quick=("--set", "domain.dx=4")),
        Run("steps", "With the longest steps and a weak cone (`solver.sound=1`, `solver.cfl=1`, `friction_angle: 15`)",
            [("integrator", "nflip,sflip,flip,apic")],
            [Max("deepest in the ground [cm]", GROUND, "%.2f"),
             Max("deepest in any collider [cm]", "penetration_max", "%.2f")],
            sets=("solver.sound=1", "solver.cfl=1", "materials.sand.friction_angle=15"),
            quick=("--set", "domain.dx=4"), until=3),
    ], [Frame("schemes", scheme, frame, "fig08_%s_%03d.png" % (scheme, frame), "686x1280", ("--range", "0,500"))
        for scheme in ("nflip", "sflip", "flip", "apic") for frame in (23, 200)]),
    Figure("fig11", "fig11_fracture.yaml", [
        Run("dx", "dx 2 cm", [("integrator", "flip,apic,nflip,sflip,asflip")],
            [At("fragments at 0.8 s", "fragments", 0.8), At("fragments at 1.2 s", "fragments", 1.2),
             Max("most", "fragments"), At("blocks at 1.2 s", "blocks", 1.2),
             At("share of the largest", "largest", 1.2, "%.2f")],
            quick=("--until", "0.8")),
        Run("half", "dx 1 cm", [("integrator", "flip,apic")],
            [At("fragments at 0.8 s", "fragments", 0.8), At("fragments at 1.2 s", "fragments", 1.2),
             Max("most", "fragments"), At("blocks at 1.2 s", "blocks", 1.2),
             At("share of the largest", "largest", 1.2, "%.2f")],
            sets=("domain.dx=1", "probes.fragments.pieces.at_least=36", "probes.blocks.pieces.at_least=324"),
            quick=("--until", "0.8")),
        Run("friction", "Fragments at 1.2 s, dx 2 cm, over the ground's friction: how much is chance",
            [("integrator", "flip,apic,sflip,asflip"), ("domain.wall_friction", "0.3,0.35,0.4,0.45,0.5")],
            [At("fragments", "fragments", 1.2)]),
    ], [Sheet("dx", "fig11.png"), Sheet("half", "fig11_half.png")]),
    Figure("fig12", "fig12_tearing.yaml", [
        Run("schemes", "As the scene stands", [("integrator", "flip,apic,nflip,sflip,asflip")],
            [First("in two at [s]", lambda row: row["pieces"] >= 2), Max("most pieces of any size", "debris"),
             At("pieces at the end", "pieces", 0.3), At("share of the largest", "largest", 0.3, "%.2f")],
            quick=("--set", "domain.dx=1.6666666666666667")),
        Run("slow", "Bars of 20 cm/s, frames of 2.5 ms", [("integrator", "flip,apic,sflip,asflip")],
            [First("in two at [s]", lambda row: row["pieces"] >= 2, "%.4f")],
            sets=("colliders.upper.motion.keys.1.t=0.9", "colliders.lower.motion.keys.1.t=0.9", "fps=400",
                  "output.particles=none"), quick=("--set", "domain.dx=1.6666666666666667"), until=0.4),
        Run("beta", "SFLIP over beta, frames of 2.5 ms", [("beta", "[0,0],[0,0.2],[0,1]")],
            [First("in two at [s]", lambda row: row["pieces"] >= 2, "%.4f")],
            sets=("solver.integrator=sflip", "fps=400", "output.particles=none"),
            quick=("--set", "domain.dx=1.6666666666666667"), until=0.15),
    ], [Sheet("schemes", "fig12.png")]),
    Figure("fig16", "fig16_box.yaml", [
        Run("schemes", "Total energy in 1e9 erg; 1.973 at the start",
            [("integrator", "pic,flip,apic,aflip,asflip,polypic")],
            [At("%g s" % t, ENERGY, t, "%.3f") for t in (1, 2, 3, 4)], quick=("--until", "2")),
        Run("flip", "FLIP up to full FLIP", [("alpha", "0.99,0.995,1")],
            [At("%g s" % t, ENERGY, t, "%.3f") for t in (1, 2, 3, 4)],
            sets=("solver.integrator=flip",), quick=("--until", "2")),
        Run("poly", "PolyPIC over its number of modes, all at 1", [("poly_modes", "3,4,6,9")],
            [At("%g s" % t, ENERGY, t, "%.3f") for t in (1, 2, 3, 4)],
            sets=("solver.integrator=polypic", "solver.poly_scale=1"), quick=("--until", "2")),
    ], [Sheet("schemes", "fig16_energy.png", "compare.png"), Sheet("schemes", "fig16.png")]),
    Figure("fig01", "fig01_fountain.yaml", [
        Run("schemes", "dx 1 cm, 46,875 particles", [("integrator", "flip,apic,aflip,asflip")],
            [At("speed at 0.12 s, in the jet [cm/s]", "speed", 0.12, "%.1f"),
             At("spread at 0.72 s [cm]", "spread", 0.72, "%.1f"), At("mean speed at 0.72 s [cm/s]", "speed", 0.72, "%.0f"),
             At("speed beyond the top plate [cm/s]", "off_plate", 0.72, "%.0f"),
             At("highest at 0.72 s [cm]", "top", 0.72, "%.1f")],
            sets=FOUNTAIN, quick=("--until", "0.3")),
    ], [Sheet("schemes", "fig01.png"), Sheet("schemes", "fig01_curves.png", "compare.png"),
        Frame("schemes", "asflip", 31, "fig01_asflip.png", "1280x720")]),
    Figure("fig20", "fig20_rock.yaml", [
        Run("schemes", "dx 2 cm, as the scene stands", [("integrator", "apic,asflip")],
            [At("centre of mass at rest, higher by [%]", RISE, 1.3, "%.1f"),
             At("particles above the old level", "above", 1.3, "%.0f"), Max("deepest in the rock [cm]", "penetration_max", "%.2f")],
            sets=ROCK, quick=("--until", "0.6")),
        Run("corrected", "With `volume_correction: true`", [("integrator", "apic,asflip")],
            [At("centre of mass at rest, higher by [%]", RISE, 1.3, "%.1f"),
             At("particles above the old level", "above", 1.3, "%.0f"), Max("deepest in the rock [cm]", "penetration_max", "%.2f")],
            sets=ROCK + ("materials.sand.volume_correction=true",), quick=("--until", "0.6")),
    ], [Sheet("schemes", "fig20.png"), Sheet("corrected", "fig20_corrected.png")]),
    Figure("fig21", "fig21_wheel.yaml", [
        Run("schemes", "dx 3 cm, 66,300 particles", [("integrator", "pic,flip,nflip,sflip,apic,aflip,asflip")],
            [Max("most above the rim", "above_rim", "%.0f"), At("above the rim at 0.8 s", "above_rim", 0.8, "%.0f"),
             Max("most 30 cm above it, to 0.6 s", FLYING, "%.0f"), Max("highest [cm]", "top", "%.0f"),
             At("left of the box at 0.8 s", "left", 0.8, "%.0f"),
             At("grains come loose at 0.6 s", LOOSE, 0.6, "%.0f"), At("pieces they make", "pieces", 0.6, "%.0f"),
             At("grains a piece", CLUMP, 0.6, "%.1f"),
             Max("deepest in a collider [cm]", "penetration_max", "%.1f")],
            sets=WHEEL, quick=("--until", "0.4")),
        Run("friction", "Over the wheel's friction: how much is chance",
            [("integrator", "flip,nflip,sflip,apic,aflip,asflip"), ("colliders.wheel.friction", "0.45,0.5,0.55")],
            [Max("most 30 cm above the rim, to 0.6 s", FLYING, "%.0f"), At("left of the box at 0.8 s", "left", 0.8, "%.0f"),
             At("grains a piece at 0.6 s", CLUMP, 0.6, "%.1f")],
            sets=WHEEL, quick=("--until", "0.4")),
    ], [Sheet("schemes", "fig21.png"), Sheet("schemes", "fig21_curves.png", "compare.png")]
       + [Frame("schemes", scheme, 28, "fig21_%s.png" % scheme, "1280x720") for scheme in ("apic", "flip", "asflip")]),
]


def ending(folder, variant):
    """How a variant ended, if not well."""
    try:
        with open(os.path.join(folder, variant, "run.json")) as file:
            report = json.load(file)
    except (OSError, ValueError):
        return ""
    return " (unstable at %.2f s)" % report["time"] if report.get("exit_code") == UNSTABLE else ""


def compare(args, figure, run):
    folder = os.path.join(args.out, "%s_%s" % (figure.name, run.name))
    options = [word for field, values in run.compare for word in ("--compare", "%s=%s" % (field, values))]
    options += [word for value in run.sets for word in ("--set", value)]
    if args.quick:
        options += run.quick
    if run.until and "--until" not in options:
        options += ["--until", str(run.until)]
    run_scene(args, os.path.join(HERE, figure.scene), folder, options, good=(0, UNSTABLE))
    return folder


def report(run, folder):
    rows = read_variants(folder)
    print("%s:\n" % run.title)
    if len(run.compare) == 2 and len(run.columns) == 1:
        across = run.compare[1][1].split(",")
        down = run.compare[0][1].split(",")
        measured = [run.columns[0].measure(r) for r in rows.values()]
        if len(measured) != len(across) * len(down):
            sys.exit("measure.py: %s does not have all the combinations" % folder)
        head = ["", *("%s %s" % (run.compare[1][0].split(".")[-1], v) for v in across)]
        print_table(head, [[name, *measured[k * len(across):(k + 1) * len(across)]] for k, name in enumerate(down)])
        return
    print_table(["", *(c.title for c in run.columns)],
                [[name + ending(folder, name), *(c.measure(r) for c in run.columns)] for name, r in rows.items()])


def picture(args, folders, wanted):
    target = os.path.join(args.images, wanted.file)
    folder = folders[wanted.run]
    if isinstance(wanted, Sheet):
        shrink(os.path.join(folder, wanted.source), target)
        return
    made = os.path.join(folder, "pictures_" + wanted.variant)
    shrink(render_frame(args, os.path.join(folder, wanted.variant), made, wanted.frame, wanted.size, wanted.options), target)


def main():
    args = read_arguments(__doc__, "integrators", "figure", [f.name for f in FIGURES])
    for figure in FIGURES:
        if args.names and figure.name not in args.names:
            continue
        print("### %s\n" % figure.name)
        folders = {}
        for run in figure.runs:
            folders[run.name] = compare(args, figure, run)
            report(run, folders[run.name])
            sys.stdout.flush()
        if args.images:
            for wanted in figure.pictures:
                picture(args, folders, wanted)


if __name__ == "__main__":
    main()

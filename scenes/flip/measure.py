#!/usr/bin/env python3
"""Runs the scenes of this folder and prints the tables of its README, in Markdown.

    python3 scenes/flip/measure.py [--spate PATH] [--out DIR] [--images DIR] [--threads N] [--quick] [--reuse]
        [SCENE ...]

Without scenes it does all of them. Runs go to DIR/SCENE. With --images it also makes the README's pictures (they are
made smaller where ffmpeg is found). --quick runs at a coarser grid; its numbers differ from the README's. --reuse takes runs
that are in DIR as they are.
"""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from measuring import (FRONT, fit_front, front_errors, print_table, read_arguments, read_result, render_frame, run_scene,
                       shrink, text)

GRAVITY = 9.81


# ---- Runs ----------------------------------------------------------------------------------------------------------

class Scene:
    """A scene, what is compared in it, what its table shows and the frames that are its pictures."""

    def __init__(self, name, table, quick, compare=None, pictures=()):
        self.name, self.table, self.quick = name, table, quick
        self.compare, self.pictures = compare, pictures


class Frame:
    """A frame of a run, or of a variant of it. With `sheet` it is that file of a comparison instead."""

    def __init__(self, file, frame=0, variant="", sheet=None):
        self.file, self.frame, self.variant, self.sheet = file, frame, variant, sheet


def run(args, scene):
    """Runs a scene unless that was done before; results by variant, "" without a comparison."""
    folder = os.path.join(args.out, scene.name)
    options = (["--compare", scene.compare] if scene.compare else []) + (scene.quick if args.quick else [])
    seconds = run_scene(args, os.path.join(HERE, scene.name + ".yaml"), folder, options)
    if seconds is not None:
        print("%.0f s of processor time\n" % seconds)
    if not scene.compare:
        return {"": read_result(folder)}
    return {name: read_result(os.path.join(folder, name)) for name in scene.compare.split("=")[1].split(",")}


# ---- Tables --------------------------------------------------------------------------------------------------------

def martin_moyce(results):
    result = results[""]
    offset, worst = fit_front(result)
    print("Start later by T = %.2f, worst error %.1f %% (gate 8 %%):\n" % (offset, 100 * worst))
    print_table(["T", *("%.2f" % t for t, _ in FRONT)],
                [["Z measured", *("%.2f" % z for _, z in FRONT)],
                 ["error [%]", *("-" if e is None else "%+.1f" % (100 * e) for e in front_errors(result, offset))]])


def crossings(result, column, middle):
    """When a column rises through a value."""
    times = []
    for a, b in zip(result.rows, result.rows[1:]):
        if a[column] < middle <= b[column]:
            times.append(a["time"] + (b["time"] - a["time"]) * (middle - a[column]) / (b[column] - a[column]))
    return times


def sloshing(results):
    result = results[""]
    k = math.pi
    theory = 2 * math.pi / math.sqrt(GRAVITY * k * math.tanh(0.5 * k))
    times = crossings(result, "centre_x", 0.5)
    period = (times[-1] - times[0]) / (len(times) - 1)
    swing = lambda begin, end: max(abs(r["centre_x"] - 0.5) for r in result.rows if begin <= r["time"] <= end)
    print_table(["period, theory [s]", "period [s]", "error [%]", "amplitude kept, fifth period against first [%]",
                 "volume drift [%]"],
                [["%.4f" % theory, "%.4f" % period, "%+.2f" % (100 * (period / theory - 1)),
                  "%.1f" % (100 * swing(4 * theory, 5 * theory) / swing(0, theory)),
                  "%+.2f" % (100 * result.last("volume_drift"))]])


def transfers(results):
    start = next(iter(results.values())).rows[0]["kinetic_energy"]
    times = (0.5, 1, 2, 4, 6)
    share = lambda energy: text(energy and 100 * energy / start, "%.1f")
    print("Kinetic energy, in % of that at the start:\n")
    print_table(["", *("%g s" % t for t in times), "volume drift [%]"],
                [[name, *(share(r.at(t, "kinetic_energy")) for t in times), "%+.2f" % (100 * r.last("volume_drift"))]
                 for name, r in results.items()])


def post(results):
    print_table(["", "speed along the post, 0.5 to 1 s [m/s]", "kinetic energy at 0.6 s [J]", "at 1 s [J]",
                 "past the post at 0.6 s", "volume drift [%]"],
                [[name, text(r.mean("skin", 0.5, 1), "%.3f"), text(r.at(0.6, "kinetic_energy"), "%.1f"),
                  text(r.at(1, "kinetic_energy"), "%.1f"),
                  text(r.at(0.6, "passed"), "%.0f"), "%+.2f" % (100 * r.last("volume_drift"))]
                 for name, r in results.items()])


def probes(*columns):
    """A table of columns at times: (title, column, time or None for the end, form)."""
    def show(results):
        result = results[""]
        print_table([c[0] for c in columns],
                    [[text(result.last(c[1]) if c[2] is None else result.at(c[2], c[1]), c[3]) for c in columns]])
    return show


def coarser(dx, *more):
    return ["--set", "domain.dx=%s" % dx, *more]


SCENES = [
    Scene("dam2d", probes(("front at 0.3 s [m]", "front", 0.3, "%.3f"),
                          ("at the far wall, 0.6 s [m]", "far_wall", 0.6, "%.2f"),
                          ("kinetic energy at 3 s [J]", "kinetic_energy", 3, "%.0f")),
          coarser(0.02), pictures=[Frame("dam2d.png", 40)]),
    Scene("dam3d", probes(("front at 0.2 s [m]", "front", 0.2, "%.3f"), ("highest at 0.4 s [m]", "top", 0.4, "%.2f"),
                          ("kinetic energy at 1.5 s [J]", "kinetic_energy", 1.5, "%.0f")),
          coarser(0.05), pictures=[Frame("dam3d.png", 14)]),
    Scene("martin_moyce", martin_moyce, coarser(0.003571875), pictures=[Frame("martin_moyce.png", 40)]),
    Scene("sloshing", sloshing, coarser(0.025)),
    Scene("transfers", transfers, coarser(0.04), "transfer=pic,flip,apic,aflip",
          [Frame("transfers.png", sheet="sheet.png"),
           Frame("transfers_energy.png", sheet="compare.png")]),
    Scene("post", post, coarser(0.04), "solids=fractions,voxels",
          [Frame("post_%s.png" % s, 16, s) for s in ("fractions", "voxels")]),
    Scene("drop", probes(("highest at 0.2 s [m]", "crown", 0.2, "%.2f"),
                         ("the drop's spread at 0.2 s [m]", "drop", 0.2, "%.3f")),
          coarser(0.03125), pictures=[Frame("drop.png", 7)]),
    Scene("ledge", probes(("in the pool at 1.2 s", "fallen", 1.2, "%.0f"), ("reach at 1 s [m]", "reach", 1, "%.2f")),
          coarser(0.04), pictures=[Frame("ledge.png", 15)]),
    Scene("paddle", probes(("mean speed after a turn [m/s]", "speed", 1.6, "%.3f"),
                           ("highest then [m]", "top", 1.6, "%.2f")),
          coarser(0.04), pictures=[Frame("paddle.png", 20)]),
    Scene("water_jet_open", probes(("left through open sides", "removed", None, "%.0f"),
                                   ("drained", "drained", None, "%.0f"),
                                   ("there at the end", "particles", None, "%.0f")),
          coarser(0.02), pictures=[Frame("water_jet_open.png", 12)]),
    Scene("honey", probes(("spread at 0.8 s [m]", "spread", 0.8, "%.4f"), ("at 1.6 s [m]", "spread", 1.6, "%.4f"),
                          ("particles then", "particles", 1.6, "%.0f")),
          coarser(0.005, "--until", "1.2"), pictures=[Frame("honey.png", 38)]),
]


def print_cost(results):
    """What every scene has: its size, its volume and its pressure solves."""
    print_table(["", "particles", "steps", "volume drift [%]", "pressure iterations"],
                [[name, "%d" % r.last("particles"), "%d" % r.last("steps"), "%+.2f" % (100 * r.last("volume_drift")),
                  "%.1f" % r.mean("iterations")] for name, r in results.items()])


# ---- Pictures ------------------------------------------------------------------------------------------------------

def picture(args, scene, wanted):
    folder = os.path.join(args.out, scene.name)
    target = os.path.join(args.images, wanted.file)
    if wanted.sheet:
        source = os.path.join(folder, wanted.sheet)
    else:
        made = os.path.join(folder, "pictures_" + (wanted.variant or "run"))
        source = render_frame(args, os.path.join(folder, wanted.variant), made, wanted.frame, "1280x720")
    shrink(source, target)


def main():
    args = read_arguments(__doc__, "flip", "scene", [s.name for s in SCENES])
    for scene in SCENES:
        if args.names and scene.name not in args.names:
            continue
        print("### %s\n" % scene.name)
        results = run(args, scene)
        scene.table(results)
        print_cost(results)
        sys.stdout.flush()
        if args.images:
            for wanted in scene.pictures:
                picture(args, scene, wanted)


if __name__ == "__main__":
    main()

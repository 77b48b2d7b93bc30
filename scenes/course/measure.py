#!/usr/bin/env python3
"""Runs the scenes of this folder and prints the tables of its README, in Markdown.

    python3 scenes/course/measure.py [--spate PATH] [--out DIR] [--images DIR] [--threads N] [--quick] [--reuse]
        [SCENE ...]

Without scenes it does all of them. Runs go to DIR/SCENE or DIR/SCENE_VARIANT. With --images it also makes the README's
pictures (they are made smaller where ffmpeg is found) and plots. --quick runs at a coarser grid or for a shorter time; its
numbers differ from the README's. --reuse takes runs that are in DIR as they are.
"""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from measuring import (COLUMN, FRONT, FRONT_SCALE, Curve, fit_front, plot, print_table, read_arguments, read_result,
                       render_frame, run_scene, shrink, text)


# ---- Runs ----------------------------------------------------------------------------------------------------------

class Scene:
    """A scene, its variants (name: options of spate), what it shows, and the frames that are its pictures. `show` prints
    tables and returns plots."""

    def __init__(self, name, show, quick=(), variants=None, pictures=()):
        self.name, self.show, self.quick = name, show, list(quick)
        self.variants, self.pictures = variants or {"": []}, pictures

    def folder(self, args, variant):
        return os.path.join(args.out, "_".join([self.name, *variant.replace(",", "").split()]))


class Frame:
    """A frame of a run. `options` are those of `spate render`."""

    def __init__(self, file, frame, variant="", options=(), size="1280x720"):
        self.file, self.frame, self.variant, self.options = file, frame, variant, options
        self.size = size


class Plot:
    """What measuring.plot draws."""

    def __init__(self, file, title, x_title, y_title, curves, **more):
        self.file, self.what, self.more = file, (title, x_title, y_title, curves), more


def sets(*values):
    return [word for value in values for word in ("--set", value)]


def run(args, scene):
    """Runs all variants that were not run before; their results by name."""
    results, seconds = {}, []
    for variant, options in scene.variants.items():
        folder = scene.folder(args, variant)
        used = run_scene(args, os.path.join(HERE, scene.name + ".yaml"), folder,
                         options + (scene.quick if args.quick else []))
        results[variant] = read_result(folder)
        if used is not None:
            seconds.append(used)
    if seconds:
        print("%s s of processor time\n" % " + ".join("%.0f" % s for s in seconds))
    return results


def evenly(begin, end, count=200):
    return [begin + (end - begin) * k / count for k in range(count + 1)]


# ---- Viscous flows with a solution ---------------------------------------------------------------------------------

GAP, NU, DRIVE, LID = 1e-3, 1e-6, 1e-4, 1.25e-5  # of poiseuille and couette: m, m^2/s, m/s^2, m/s
HEIGHTS = [5e-5, 1.5e-4, 2.5e-4, 3.5e-4, 5e-4, 6.5e-4, 7.5e-4, 8.5e-4, 9.5e-4]  # of their probes u1, u2, ...
MIDDLE = "u5_x"
TIMES = [0.0225, 0.045, 0.1125, 0.225, 0.6]
TERMS = 60


def poiseuille_speed(y, t):
    """From rest to the parabola (Morris et al. 1997)."""
    terms = (4 * DRIVE * GAP ** 2 / (NU * (math.pi * n) ** 3) * math.sin(n * math.pi * y / GAP)
             * math.exp(-NU * t * (n * math.pi / GAP) ** 2) for n in range(1, 2 * TERMS, 2))
    return DRIVE / (2 * NU) * y * (GAP - y) - sum(terms)


def couette_speed(y, t):
    """From rest to the straight line (Morris et al. 1997)."""
    terms = (2 * LID / (n * math.pi) * (-1) ** n * math.sin(n * math.pi * y / GAP)
             * math.exp(-NU * t * (n * math.pi / GAP) ** 2) for n in range(1, TERMS))
    return LID * y / GAP + sum(terms)


def channel(name, solution):
    """Profiles over the height at some times, and the speed in the middle."""
    def show(results):
        times = [t for t in TIMES if results["morris"].at(t, MIDDLE) is not None]
        error = lambda r, t: "%+.2f" % (100 * (r.at(t, MIDDLE) / solution(GAP / 2, t) - 1))
        print_table(["in the middle at", *("%g s" % t for t in times)],
                    [["series solution [m/s]", *("%.3e" % solution(GAP / 2, t) for t in times)],
                     *(["error with %s [%%]" % variant, *(error(r, t) for t in times)] for variant, r in results.items())])
        curves = []
        for k, t in enumerate(times):
            curves.append(Curve([(1e3 * y, 1e6 * solution(y, t)) for y in evenly(0, GAP)], "%g s" % t, k))
            curves.append(Curve([(1e3 * y, 1e6 * results["morris"].at(t, "u%d_x" % (i + 1)))
                                 for i, y in enumerate(HEIGHTS)], "", k, "points"))
        corner = ("top", "left") if solution is couette_speed else ("top", "right")
        return [Plot(name + ".svg", "%s flow: the series solution (lines) and SPH (points)" % name.capitalize(),
                     "height [mm]", "velocity [µm/s]", curves, corner=corner)]
    return show


DECAY = 8 * math.pi ** 2 / 100  # of the speed of Taylor-Green vortices at Re 100


def vortices(file, title, column, power):
    """How a column decays, as its `power`-th root; against the exact solution."""
    def show(results):
        end = next(iter(results.values())).last("time")
        speed = lambda r, t: (r.at(t, column) / r.rows[0][column]) ** (1 / power)
        times = [t for t in (0.5, 1, 1.5, 2) if t <= end]
        print_table(["speed, of that at the start", *("%g s" % t for t in times), "error at the end [%]"],
                    [["exact", *("%.4f" % math.exp(-DECAY * t) for t in times), ""],
                     *([name, *("%.4f" % speed(r, t) for t in times),
                        "%+.1f" % (100 * (speed(r, end) / math.exp(-DECAY * end) - 1))] for name, r in results.items())])
        curves = [Curve([(t, math.exp(-DECAY * t)) for t in evenly(0, end)], "exact", 6)]
        curves += [Curve([(row["time"], speed(r, row["time"])) for row in r.rows], name, k, "points")
                   for k, (name, r) in enumerate(results.items())]
        return [Plot(file, title, "time [s]", "speed, of that at the start", curves)]
    return show


# Ghia, Ghia and Shin 1982, table I: u on the vertical centre line; y, Re 100, Re 1000. The probes of the scene, in order.
GHIA = [(0.0547, -0.03717, -0.18109), (0.0625, -0.04192, -0.20196), (0.0703, -0.04775, -0.22220),
        (0.1016, -0.06434, -0.29730), (0.1719, -0.10150, -0.38289), (0.2813, -0.15662, -0.27805),
        (0.4531, -0.21090, -0.10648), (0.5, -0.20581, -0.06080), (0.6172, -0.13641, 0.05702), (0.7344, 0.00332, 0.18719),
        (0.8516, 0.23151, 0.33304), (0.9531, 0.68717, 0.46604), (0.9609, 0.73722, 0.51117), (0.9688, 0.78871, 0.57492),
        (0.9766, 0.84123, 0.65928)]


def centre_line(result, time):
    return [result.at(time, "u%d_x" % (i + 1)) for i in range(len(GHIA))]


def cavity(results):
    """Variants are named REYNOLDS_SCHEME."""
    lines, curves = [], {100: [], 1000: []}
    for name, result in results.items():
        reynolds, scheme = int(name.split("_")[0]), name.split("_")[1]
        end = result.last("time")
        found = centre_line(result, end)
        worst = max(abs(u - row[1 if reynolds == 100 else 2]) for u, row in zip(found, GHIA))
        change = max(abs(a - b) for a, b in zip(found, centre_line(result, 0.8 * end)))
        lines.append([str(reynolds), scheme, "%.2f" % (100 * worst), "%.1f" % (100 * found[4]), "%.2f" % (100 * change)])
        points = [(0, 0), *((row[0], u) for row, u in zip(GHIA, found)), (1, 1)]
        curves[reynolds].append(Curve(points, scheme, len(curves[reynolds]), "dashes" if scheme == "linear" else "line"))
    print_table(["Re", "advection", "worst error [% of the lid's speed]", "u at y = 0.1719 [%]",
                 "change in the last fifth of the run [%]"], lines)
    for column, reynolds in enumerate(curves, 1):
        curves[reynolds].append(Curve([(row[0], row[column]) for row in GHIA], "Ghia et al. 1982", 6, "points"))
    return [Plot("cavity_%d.svg" % reynolds, "Cavity, Re %d" % reynolds, "height",
                 "velocity along the lid, on the centre line", of, corner=("top", "left")) for reynolds, of in curves.items()]


# ---- Pictures with numbers -----------------------------------------------------------------------------------------

def viscosity(results):
    times = (0.2, 0.3, 0.44)
    print_table(["viscosity [Pa s]", "nu [m^2/s]", *("front at %g s [m]" % t for t in times), "steps"],
                [[name, "%g" % (float(name) / 1000), *(text(r.at(t, "front"), "%.2f") for t in times),
                  "%d" % r.last("steps")] for name, r in results.items()])
    return []


def plume(results):
    print_table(["", "steps", "pressure iterations", "kinetic energy at the end [J]"],
                [[name or "as it stands", "%d" % r.last("steps"), text(r.mean("iterations"), "%.1f"),
                  text(r.last("kinetic_energy"), "%.3f")] for name, r in results.items()])
    return []


def divergence(result):
    """The mean over frames of the largest divergence, over the fastest speed; per unit of length."""
    shares = [row["max_divergence"] / row["max_speed"] for row in result.rows[1:] if row["max_speed"]]
    return sum(shares) / len(shares) if shares else None


def collocated(results):
    print_table(["", "divergence over speed, mean over frames [1/m]", "kinetic energy at 2 s [J/m]", "at 4 s [J/m]"],
                [[name, text(divergence(r), "%.2g"), text(r.at(2, "kinetic_energy"), "%.4f"),
                  text(r.at(4, "kinetic_energy"), "%.4f")] for name, r in results.items()])
    curves = [Curve([(row["time"], row["max_divergence"]) for row in r.rows[1:]], name, k)
              for k, (name, r) in enumerate(results.items())]
    return [Plot("collocated.svg", "What divergence is left", "time [s]", "largest divergence [1/s]", curves,
                 corner=("middle", "right"), logarithmic=True)]


def dams(results):
    lines = []
    curves = [Curve(FRONT, "Martin and Moyce 1952", 6, "points")]
    for k, (name, r) in enumerate(results.items()):
        offset, worst = fit_front(r)
        lines.append([name, "%.2f" % offset, "%.1f" % (100 * worst), text(r.at(0.3, "kinetic_energy"), "%.3f"),
                      text(r.at(0.6, "kinetic_energy"), "%.3f"), "%d" % r.last("steps")])
        front = [(row["time"] * FRONT_SCALE + offset, row["front"] / COLUMN) for row in r.rows]
        curves.append(Curve([(t, z) for t, z in front if t <= 3.5], name, k))
    print_table(["", "start later by T", "worst error of the front [%]", "kinetic energy at 0.3 s [J/m]", "at 0.6 s [J/m]",
                 "steps"], lines)
    return [Plot("dams_front.svg", "The front of a collapsing column", "T = t sqrt(2g/a)", "Z = x/a", curves,
                 corner=("top", "left"))]


def continuum(results):
    result = results[""]
    print_table(["lowest point at the end [m]", "elastic energy at the end [J/m]", "steps"],
                [["%.3f" % result.last("tip"), text(result.last("elastic_energy"), "%.2f"), "%d" % result.last("steps")]])
    return []


VISCOSITIES = ("1", "10", "50", "200")
SCENES = [
    Scene("sph_viscosity", viscosity, sets("domain.dx=0.08"),
          {v: sets("materials.liquid.viscosity=" + v) for v in VISCOSITIES},
          [Frame("sph_viscosity_%s.png" % v, 22, v) for v in VISCOSITIES]),
    Scene("poiseuille", channel("poiseuille", poiseuille_speed), ["--until", "0.15"],
          {v: sets("solver.viscosity=" + v) for v in ("morris", "mueller")}),
    Scene("couette", channel("couette", couette_speed), ["--until", "0.15"],
          {v: sets("solver.viscosity=" + v) for v in ("morris", "mueller")}),
    Scene("taylor_green_sph", vortices("taylor_green_sph.svg", "Taylor-Green vortices, SPH", "kinetic_energy", 2),
          ["--until", "0.5"], {"shifting": [], "no shifting": sets("solver.shifting=0")},
          [Frame("taylor_green_sph_%s.png" % v.replace(" ", "_"), 10, v, ("--range", "0,0.8", "--points"), "1280x1280")
           for v in ("shifting", "no shifting")]),
    Scene("taylor_green", vortices("taylor_green.svg", "Taylor-Green vortices, on a grid", "kinetic_energy", 2),
          ["--until", "0.5"], {"reflection": sets("solver.reflection=true"), "maccormack": [],
                               "maccormack, cfl 0.25": sets("solver.cfl=0.25"),
                               "linear": sets("solver.advection=linear"),
                               "linear, cfl 0.25": sets("solver.advection=linear", "solver.cfl=0.25")}),
    Scene("cavity", cavity, sets("domain.dx=0.03125"),
          {"100_maccormack": [], "100_linear": sets("solver.advection=linear"),
           "1000_maccormack": sets("materials.gas.viscosity=0.001") + ["--until", "60"],
           "1000_linear": sets("materials.gas.viscosity=0.001", "solver.advection=linear") + ["--until", "60"]},
          [Frame("cavity_%d.png" % r, f, "%d_maccormack" % r, ("--colour", "speed", "--range", "0,1"), "1280x1152")
           for r, f in ((100, 30), (1000, 120))]),
    Scene("plume2d", plume, sets("domain.dx=0.015625"),
          {"maccormack": [], "linear": sets("solver.advection=linear"), "vorticity": sets("solver.vorticity=5")},
          [Frame("plume2d_%s.png" % v, 100, v, size="864x1280") for v in ("maccormack", "linear", "vorticity")]),
    Scene("plume3d", plume, sets("domain.dx=0.02"), pictures=[Frame("plume3d.png", 60, size="1024x1280")]),
    Scene("dye", plume, sets("domain.dx=0.015625"),
          pictures=[Frame("dye_%d.png" % f, f, size="1280x1280") for f in (40, 150)]),
    Scene("collocated", collocated, sets("domain.dx=0.020833333333333332"),
          {"mac, multigrid": [], "mac, 20 sweeps": sets("solver.pressure=gauss_seidel"),
           "collocated, 20 sweeps": sets("solver.grid=collocated", "solver.pressure=gauss_seidel")},
          [Frame("collocated_mac.png", 75, "mac, multigrid", size="640x1280"),
           Frame("collocated_slides.png", 75, "collocated, 20 sweeps", size="640x1280")]),
    Scene("dams", dams, sets("domain.dx=0.005715"),
          {"pic": sets("solver={type: flip, transfer: pic}"), "flip": [], "wcsph": sets("solver={type: sph}"),
           "dfsph": sets("solver={type: sph, pressure: dfsph}")},
          [Frame("dams_%s.png" % v, 125, v, ("--range", "0,1.5"), "1280x768") for v in ("pic", "flip", "wcsph", "dfsph")]),
    Scene("continuum", continuum, sets("domain.dx=0.04"),
          pictures=[Frame("continuum_%s.png" % c, 22, options=("--colour", c), size="1280x1120")
                    for c in ("green_strain", "linear_strain", "stress", "energy")]),
]


def main():
    args = read_arguments(__doc__, "course", "scene", [s.name for s in SCENES])
    for scene in SCENES:
        if args.names and scene.name not in args.names:
            continue
        print("### %s\n" % scene.name)
        plots = scene.show(run(args, scene))
        sys.stdout.flush()
        if not args.images:
            continue
        for p in plots:
            plot(os.path.join(args.images, p.file), *p.what, **p.more)
        for p in scene.pictures:
            folder = scene.folder(args, p.variant)
            made = render_frame(args, folder, os.path.join(folder, "pictures"), p.frame, p.size, p.options)
            shrink(made, os.path.join(args.images, p.file))


if __name__ == "__main__":
    main()

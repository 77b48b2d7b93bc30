#!/usr/bin/env python3
"""Runs the scenes of this folder and prints the tables of its README, in Markdown.

    python3 scenes/sheets/measure.py [--spate PATH] [--out DIR] [--images DIR] [--threads N] [--quick] [--reuse]
        [FIGURE ...]

Without figures it does all of them. Runs go to DIR/FIGURE/VARIANT. With --images it also makes the README's pictures,
side by side where ffmpeg is found. --quick runs at a coarser grid; its numbers differ from the README's. --reuse takes
runs that are in DIR as they are.

The surface of a frame is closed, so its Euler characteristic tells how many holes go through it: V - E + F = 2 (pieces -
holes). A sheet in one piece without holes has 1 and 0. Each time it tears there is one hole or one piece more, so tears =
pieces - 1 + holes: a sheet that falls apart into drops has no holes any more, but all the more tears.
"""
import math
import os
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from measuring import print_table, read_arguments, read_result, render_frame, run_scene, shrink

PLAIN = ["--set", "solver={type: flip}"]


class Figure:
    """A scene with variants (name: options), the frame that is looked at, and its picture: (variant, frame, options of
    `spate render`) side by side."""

    def __init__(self, name, scene, variants, frame, quick=(), pictures=(), columns=(), mesh=True, bend=False):
        self.name, self.scene, self.variants, self.frame, self.quick = name, scene, variants, frame, list(quick)
        self.pictures, self.columns, self.mesh, self.bend = pictures, columns, mesh, bend


def coarser(dx):
    return ["--set", "domain.dx=%s" % dx]


INSERTED = ["--colour", "inserted", "--range", "0,4"]
POINTS = ["--points"]

FIGURES = [
    Figure("fig01_tower", "tower", {"sheets": [], "plain": PLAIN}, 10, coarser(0.02),
           [("sheets", 10, INSERTED), ("sheets", 10, []), ("plain", 10, [])]),
    Figure("fig02_dam2d", "fig02_dam2d",
           {"all": [], "plain": ["--set", "solver={type: flip, volume_correction: 0}"]}, 30, coarser(0.02),
           [("all", 30, POINTS), ("plain", 30, POINTS)], mesh=False),
    Figure("fig03_wave", "fig03_wave", {"second": [], "first": ["--set", "solver.surface_order=1"]}, 20, coarser(0.04),
           [("second", 20, []), ("first", 20, [])], bend=True),
    Figure("fig09_spacing", "spacing2d",
           {"anisotropic": [], "isotropic": ["--set", "solver.spacing.kind=isotropic"],
            "off": ["--set", "solver={type: flip, sheets: {}, volume_correction: 0}"]}, 30, coarser(0.02),
           [("anisotropic", 30, POINTS), ("isotropic", 30, POINTS), ("off", 30, POINTS)], mesh=False),
    Figure("fig10_correction", "tower",
           {"both": [], "sheets alone": ["--set", "solver={type: flip, sheets: {}, volume_correction: 0}"],
            "spacing alone": ["--set", "solver={type: flip, spacing: {}}"],
            "neither": ["--set", "solver={type: flip, volume_correction: 0}"]}, 10, coarser(0.02),
           [("neither", 10, []), ("sheets alone", 10, []), ("spacing alone", 10, []), ("both", 10, [])]),
    Figure("fig12_ledge", "ledge", {"sheets": coarser(0.02), "plain": [*coarser(0.02), *PLAIN]}, 13, coarser(0.04),
           [("sheets", 13, []), ("plain", 13, [])], columns=["film"]),
    Figure("fig13_drop", "drop", {"sheets": [], "plain": PLAIN}, 5, coarser(0.025),
           [("sheets", 5, []), ("plain", 5, [])]),
    Figure("fig14_sph", "fig14_sph", {"sph": [], "flip": ["--set", "solver={type: flip, sheets: {}, spacing: {}}"]}, 7,
           coarser(0.025), [("flip", 7, []), ("sph", 7, [])]),
    Figure("fig17_enright", "fig17_enright",
           {"sheets": coarser(0.02), "plain": [*coarser(0.02), "--set", "solver={type: flip, flow: {field: enright}}"]},
           15, coarser(0.04),
           [("sheets", 15, INSERTED), ("sheets", 15, []), ("plain", 15, [])]),
    Figure("fig18_adaptive", "fig18_adaptive",
           {"adaptive": coarser(0.03125), "regular": [*coarser(0.03125), *PLAIN]}, 20, coarser(0.05),
           [("adaptive", 20, []), ("regular", 20, [])]),
    Figure("fig19_dam", "fig19_dam", {"adaptive": coarser(0.025), "regular": [*coarser(0.025), *PLAIN]}, 12, coarser(0.05),
           [("adaptive", 8, []), ("adaptive", 12, []), ("adaptive", 20, []), ("adaptive", 30, [])], columns=["front"]),
    Figure("bell", "bell", {"sheets": [], "plain": PLAIN}, 18, coarser(0.02),
           [("sheets", 18, []), ("plain", 18, [])]),
    Figure("curtain", "curtain", {"sheets": [], "plain": PLAIN}, 30, coarser(0.02),
           [("sheets", 30, []), ("plain", 30, [])]),
    Figure("disc", "disc", {"sheets": [], "plain": ["--set", "solver={type: flip, alpha: 1}"]}, 20, coarser(0.02),
           [("sheets", 20, []), ("plain", 20, [])], columns=["radius"]),
]


# ---- Surfaces ------------------------------------------------------------------------------------------------------

def read_ply(path):
    """How many vertices and the triangles of a surface that spate wrote."""
    with open(path, "rb") as f:
        data = f.read()
    head, body = data.split(b"end_header\n", 1)
    words = head.decode().split()
    count = lambda name: int(words[words.index(name) + 1])
    size = 8 if b"property double" in head else 4
    vertices, faces = count("vertex"), count("face")
    at = vertices * 9 * size
    return vertices, [struct.unpack_from("<3i", body, at + 13 * k + 1) for k in range(faces)]


def mean_bend(path):
    """Mean angle between the normals at the ends of the edges of the free surface, in degrees."""
    with open(path, "rb") as f:
        head, body = f.read().split(b"end_header\n", 1)
    code = "d" if b"property double" in head else "f"
    vertices, faces = read_ply(path)
    rows = struct.unpack_from("<%d%s" % (9 * vertices, code), body)
    normals = [rows[9 * v + 3:9 * v + 6] for v in range(vertices)]
    flat = lambda n: max(map(abs, n)) > 1 - 1e-6  # of the sides
    angles = [math.acos(max(-1, min(1, sum(a * b for a, b in zip(normals[u], normals[v])))))
              for face in faces for u, v in zip(face, face[1:]) if not flat(normals[u]) and not flat(normals[v])]
    return math.degrees(sum(angles) / len(angles))


def pieces_and_holes(path):
    """Connected pieces of a closed surface, those of at least 200 triangles, the holes through these, and tears."""
    vertices, faces = read_ply(path)
    root = list(range(vertices))

    def find(v):
        while root[v] != v:
            root[v] = v = root[root[v]]
        return v

    for a, b, c in faces:
        a, b, c = find(a), find(b), find(c)
        root[b] = a
        root[find(c)] = a
    sizes, corners = {}, {}
    for face in faces:
        piece = find(face[0])
        sizes[piece] = sizes.get(piece, 0) + 1
    for v in range(vertices):
        piece = find(v)
        corners[piece] = corners.get(piece, 0) + 1
    large = [p for p, n in sizes.items() if n >= 200]
    holes = sum(1 - (corners[p] - sizes[p] // 2) // 2 for p in large)  # edges of a closed surface: 3/2 of its triangles
    return len(sizes), len(large), holes, len(sizes) - 1 + holes


def measure_surface(args, run, frame):
    made = os.path.join(run, "mesh")
    subprocess.run([args.spate, "mesh", run, "-o", made, "--formats", "ply", "--frames", str(frame), "--force", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    return pieces_and_holes(os.path.join(made, "surface_%04d.ply" % frame))


# ---- Pictures ------------------------------------------------------------------------------------------------------

def side_by_side(sources, target):
    """Two in a row, three in a row, four as a square."""
    columns = 2 if len(sources) in (2, 4) else len(sources)
    places = "|".join("%s_%s" % ("+".join(["w0"] * (k % columns)) or "0", "h0" if k >= columns else "0")
                      for k in range(len(sources)))
    inputs = [word for s in sources for word in ("-i", s)]
    subprocess.run(["ffmpeg", "-v", "error", "-y", *inputs, "-filter_complex",
                    "xstack=inputs=%d:layout=%s" % (len(sources), places), "-frames:v", "1", target], check=True)


def picture(args, figure):
    folder = os.path.join(args.out, figure.name)
    size = "426x284" if len(figure.pictures) == 3 else "640x360"
    sources = []
    for k, (variant, frame, options) in enumerate(figure.pictures):
        made = os.path.join(folder, "picture_%d" % k)
        sources.append(render_frame(args, os.path.join(folder, variant), made, frame, size, ["--samples", "8", *options]))
    sheet = os.path.join(folder, "sheet.png")
    if not shutil.which("ffmpeg"):
        sheet = sources[0]
    else:
        side_by_side(sources, sheet)
    shrink(sheet, os.path.join(args.images, figure.name + ".png"), 1040 if len(sources) == 4 else 1280)


# ---- All -----------------------------------------------------------------------------------------------------------

def measure(args, figure):
    head = ["", "particles", "steps", "processor time [s]", "inserted", *figure.columns]
    if figure.mesh:
        head += ["pieces", "large ones", "holes through them", "tears"]
    if figure.bend:
        head += ["mean bend along an edge [degrees]"]
    lines = []
    for name, options in figure.variants.items():
        folder = os.path.join(args.out, figure.name, name)
        seconds = run_scene(args, os.path.join(HERE, figure.scene + ".yaml"), folder,
                            [*options, *(figure.quick if args.quick else [])])
        result = read_result(folder)
        row = next(r for r in result.rows if r["frame"] == figure.frame)
        line = [name, "%d" % row["particles"], "%d" % row["steps"], "-" if seconds is None else "%.0f" % seconds,
                "%d" % (row.get("inserted") or 0), *("%.4g" % row[c] for c in figure.columns)]
        if figure.mesh:
            line += ["%d" % n for n in measure_surface(args, folder, figure.frame)]
        if figure.bend:
            line += ["%.2f" % mean_bend(os.path.join(folder, "mesh", "surface_%04d.ply" % figure.frame))]
        lines.append(line)
    print_table(head, lines)


def main():
    args = read_arguments(__doc__, "sheets", "figure", [f.name for f in FIGURES])
    for figure in FIGURES:
        if args.names and figure.name not in args.names:
            continue
        print("### %s, frame %d\n" % (figure.name, figure.frame))
        measure(args, figure)
        sys.stdout.flush()
        if args.images:
            picture(args, figure)


if __name__ == "__main__":
    main()

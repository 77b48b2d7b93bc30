#!/usr/bin/env python3
"""The meter of scenes/sheets/measure.py on surfaces whose pieces and holes are known: plates of cubes, whole, with
holes, and cut apart."""
import os
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "scenes", "sheets"))
from measure import pieces_and_holes

STEPS = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


def surface_of(cubes):
    """Vertices and triangles around a set of unit cubes."""
    vertices, faces = {}, []
    number = lambda corner: vertices.setdefault(corner, len(vertices))
    for cube in cubes:
        for axis, step in enumerate(STEPS):
            for way in (0, 1):
                beyond = tuple(c + (1 if way else -1) * d for c, d in zip(cube, step))
                if beyond in cubes:
                    continue
                first, second = (STEPS[(axis + k) % 3] for k in (1, 2))
                origin = tuple(c + way * d for c, d in zip(cube, step))
                square = [number(tuple(o + i * a + j * b for o, a, b in zip(origin, first, second)))
                          for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
                faces += [(square[0], square[1], square[2]), (square[0], square[2], square[3])]
    return sorted(vertices, key=vertices.get), faces


def write_ply(path, cubes):
    vertices, faces = surface_of(cubes)
    with open(path, "wb") as f:
        f.write(b"ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\nelement face %d\n"
                b"property list uchar int i\nend_header\n" % (len(vertices), len(faces)))
        for v in vertices:
            f.write(struct.pack("<9f", *v, 0, 0, 0, 0, 0, 0))
        for face in faces:
            f.write(struct.pack("<B3i", 3, *face))


def measure(cubes):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plate.ply")
        write_ply(path, cubes)
        return pieces_and_holes(path)


def expect(what, cubes, pieces, large, holes, tears):
    found = measure(cubes)
    if found != (pieces, large, holes, tears):
        sys.exit("%s: pieces, large ones, holes, tears are %s, not %s" % (what, found, (pieces, large, holes, tears)))


plate = {(x, y, 0) for x in range(20) for y in range(20)}
net = {c for c in plate if not (c[0] % 4 == 2 and c[1] % 4 == 2)}
halves = {c for c in net if c[0] != 8}
drops = {c for c in plate if c[0] % 4 < 3 and c[1] % 4 < 3}
ring = {c for c in plate if max(abs(c[0] - 9.5), abs(c[1] - 9.5)) > 3}
expect("a plate", plate, 1, 1, 0, 0)
expect("a plate with 25 holes", net, 1, 1, 25, 25)
expect("the same in two halves", halves, 2, 2, 25, 26)
expect("a ring", ring, 1, 1, 1, 1)
expect("a plate that fell apart into 25 drops: no holes, but as many tears", drops, 25, 0, 0, 24)
expect("a plate above another, and a drop", plate | {(x, y, 5) for x, y, _ in plate} | {(0, 0, 9)}, 3, 2, 0, 2)

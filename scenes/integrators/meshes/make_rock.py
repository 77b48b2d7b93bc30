#!/usr/bin/env python3
"""Write rock.obj beside this script: an icosphere of 1280 triangles with smooth bumps.

Its mean radius is about 1, so that `scale` in a scene is the rock's radius. There is nothing random
in it: the same file comes out every time.
"""
import math
import os

SUBDIVISIONS = 3                # 20 * 4^3 triangles
AXES = (1.28, 0.84, 0.94)        # longer than high
BUMPS = 14                      # half of them dents
SHARPNESS = 5.0                 # of a bump: exp(SHARPNESS (cos(angle) - 1))
DIGITS = 5


def unit(v):
    length = math.sqrt(sum(c * c for c in v))
    return tuple(c / length for c in v)


def icosahedron():
    golden = (1 + math.sqrt(5)) / 2
    points = []
    for a in (-1, 1):
        for b in (-golden, golden):
            points += [(0, a, b), (a, b, 0), (b, 0, a)]
    points = [unit(p) for p in points]
    near = 1.1                  # an edge is 1.05 long, the next distance 1.7
    edge = [[math.dist(p, q) < near for q in points] for p in points]
    faces = []
    for i in range(12):
        for j in range(i + 1, 12):
            for k in range(j + 1, 12):
                if edge[i][j] and edge[j][k] and edge[i][k]:
                    faces.append(outward(points, (i, j, k)))
    return points, faces


def outward(points, face):
    """The corners of a face of a sphere, counter-clockwise as seen from outside."""
    a, b, c = (points[i] for i in face)
    u, v = ([q - p for p, q in zip(a, end)] for end in (b, c))
    n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    return face if sum(p * q for p, q in zip(n, a)) > 0 else (face[0], face[2], face[1])


def subdivide(points, faces):
    """Every triangle into four, the middles of its edges moved out to the sphere."""
    points, middles, smaller = list(points), {}, []

    def middle(i, j):
        key = (min(i, j), max(i, j))
        if key not in middles:
            middles[key] = len(points)
            points.append(unit([p + q for p, q in zip(points[i], points[j])]))
        return middles[key]

    for a, b, c in faces:
        ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
        smaller += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
    return points, smaller


def bumps():
    """Directions spread evenly over the sphere (a Fibonacci spiral), knobs and dents of uneven size."""
    for i in range(BUMPS):
        y = 1 - (2 * i + 1) / BUMPS
        turn = i * math.pi * (3 - math.sqrt(5))
        r = math.sqrt(1 - y * y)
        height = (0.26 if i % 2 else -0.20) * (0.65 + 0.35 * math.cos(2.4 * i))
        yield (r * math.cos(turn), y, r * math.sin(turn)), height


def shaped(p, knobs):
    radius = 1.0
    for direction, height in knobs:
        cosine = sum(a * b for a, b in zip(p, direction))
        radius += height * math.exp(SHARPNESS * (cosine - 1))
    return tuple(radius * axis * c for axis, c in zip(AXES, p))


def main():
    points, faces = icosahedron()
    for _ in range(SUBDIVISIONS):
        points, faces = subdivide(points, faces)
    knobs = list(bumps())
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rock.obj")
    with open(path, "w", newline="\n") as out:
        out.write("# A rock of 1280 triangles; made by make_rock.py\n")
        for p in points:
            # adding 0 makes -0.0 a plain 0
            out.write("v " + " ".join(f"{round(c, DIGITS) + 0:.{DIGITS}f}" for c in shaped(p, knobs)) + "\n")
        for f in faces:
            out.write("f " + " ".join(str(i + 1) for i in f) + "\n")


if __name__ == "__main__":
    main()

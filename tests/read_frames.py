#!/usr/bin/env python3
"""Reads a frame with readers that share nothing with the library and compares every value.

Usage: read_frames.py FOLDER NUMBER [volume]

FOLDER has particles_NUMBER.vtp, .ply and .bgeo and frame.json, a dump of what they must hold. The
.vtp is read by VTK itself; the other two by the small parsers below, written from the formats'
descriptions. With the word `volume`: the same for volume_NUMBER.vti and volume.json. With
`mesh VERTICES LINES TRIANGLES`: mesh_NUMBER.vtp has as many, and cells of them that fit. Exits with 77 when VTK is not installed (the other two have then been checked).
"""
import json
import os
import struct
import sys

PLY_TYPES = {"float": "f", "double": "d", "uint": "I", "int": "i", "uchar": "B"}


def fail(message):
    sys.exit(f"read_frames.py: {message}")


def compare(where, dump, name, found):
    """`found` is a flat list of numbers."""
    wanted = dump["attributes"][name]["values"]
    if len(found) != len(wanted):
        fail(f"{where}: {name} has {len(found)} values, not {len(wanted)}")
    for i, (a, b) in enumerate(zip(found, wanted)):
        if abs(a - b) > 1e-6 * abs(b):
            fail(f"{where}: {name}[{i}] is {a}, not {b}")


def read_ply(path):
    """The properties of the vertex element, by name."""
    with open(path, "rb") as f:
        data = f.read()
    head, body = data.split(b"end_header\n", 1)
    lines = head.decode().splitlines()
    if lines[:2] != ["ply", "format binary_little_endian 1.0"]:
        fail(f"{path}: unexpected beginning {lines[:2]}")
    count, properties = None, []
    for line in lines[2:]:
        words = line.split()
        if words[0] == "element":
            if words[1] != "vertex":
                fail(f"{path}: unexpected element {words[1]}")
            count = int(words[2])
        elif words[0] == "property":
            properties.append((words[2], PLY_TYPES[words[1]]))
    row = struct.Struct("<" + "".join(t for _, t in properties))
    if len(body) != row.size * count:
        fail(f"{path}: {len(body)} bytes of data, not {row.size} for each of {count}")
    columns = list(zip(*row.iter_unpack(body)))
    return {name: list(column) for (name, _), column in zip(properties, columns)}


def check_ply(path, dump):
    found = read_ply(path)
    tensors = {"stress": "xx yy zz xy yz xz", "C": "xx xy xz yx yy yz zx zy zz"}
    for name, entry in dump["attributes"].items():
        if name == "P":
            parts = ["x", "y", "z"]
        elif name in tensors:
            parts = [f"{name}_{c}" for c in tensors[name].split()]
        elif entry["components"] == 3:
            parts = [name + c for c in "xyz"]
        else:
            parts = [name]
        compare(path, dump, name, [v for row in zip(*(found[p] for p in parts)) for v in row])


def read_bgeo(path):
    """Point attributes of Houdini's classic binary geometry, version 5."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:5] != b"BgeoV":
        fail(f"{path}: unexpected beginning {data[:5]}")
    version, points, prims, groups, prim_groups, count, *others = struct.unpack_from(">9i", data, 5)
    if (version, prims, groups, prim_groups, others) != (5, 0, 0, 0, [0, 0, 0]):
        fail(f"{path}: unexpected header")
    at, fields, code = 41, [("P", 4)], ">4f"
    for _ in range(count):
        (length,) = struct.unpack_from(">H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        size, kind = struct.unpack_from(">Hi", data, at + 2 + length)
        at += 2 + length + 6 + 4 * size
        fields.append((name, size))
        code += str(size) + {0: "f", 5: "f", 1: "i"}[kind]
    row = struct.Struct(code)
    if data[at + points * row.size :] != b"\x00\xff":
        fail(f"{path}: unexpected end")
    found = {name: [] for name, _ in fields}
    for values in row.iter_unpack(data[at : at + points * row.size]):
        for name, size in fields:
            found[name].extend(values[:size])
            values = values[size:]
    w = found["P"][3::4]
    if any(x != 1 for x in w):
        fail(f"{path}: the fourth coordinate is not 1 everywhere")
    found["P"] = [v for i, v in enumerate(found["P"]) if i % 4 != 3]
    return found


def check_bgeo(path, dump):
    found = read_bgeo(path)
    for name in dump["attributes"]:
        compare(path, dump, name, found[name])


def check_vtp(path, dump):
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

    reader = vtkXMLPolyDataReader()
    reader.SetFileName(path)
    reader.Update()
    data = reader.GetOutput()
    n = dump["count"]
    if (data.GetNumberOfPoints(), data.GetNumberOfVerts()) != (n, n):
        fail(f"{path}: {data.GetNumberOfPoints()} points, {data.GetNumberOfVerts()} vertices, not {n}")
    for name, entry in dump["attributes"].items():
        array = data.GetPoints().GetData() if name == "P" else data.GetPointData().GetArray(name)
        if array is None:
            fail(f"{path}: no array {name}")
        if array.GetNumberOfComponents() != entry["components"]:
            fail(f"{path}: {name} has {array.GetNumberOfComponents()} components")
        compare(path, dump, name, [v for i in range(n) for v in array.GetTuple(i)])
    for i in (0, n - 1):
        cell = data.GetCell(i)
        if (cell.GetNumberOfPoints(), cell.GetPointId(0)) != (1, i):
            fail(f"{path}: cell {i} is not the vertex {i}")
    check_moment(path, data.GetFieldData(), dump)


def check_moment(path, fields, dump):
    if abs(fields.GetArray("TimeValue").GetValue(0) - dump["time"]) > 1e-12:
        fail(f"{path}: TimeValue is {fields.GetArray('TimeValue').GetValue(0)}, not {dump['time']}")
    scene = fields.GetAbstractArray("scene").GetValue(0)
    if scene != dump["scene"]:
        fail(f"{path}: scene is {scene!r}, not {dump['scene']!r}")


def check_vti(path, dump):
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader

    reader = vtkXMLImageDataReader()
    reader.SetFileName(path)
    reader.Update()
    data = reader.GetOutput()
    if [d - 1 for d in data.GetDimensions()] != dump["cells"]:
        fail(f"{path}: {data.GetDimensions()} points, which is not {dump['cells']} cells")
    for found, wanted in zip([*data.GetOrigin(), *data.GetSpacing()], dump["origin"] + 3 * [dump["spacing"]]):
        if abs(found - wanted) > 1e-12:
            fail(f"{path}: origin or spacing is {found}, not {wanted}")
    n = data.GetNumberOfCells()
    for name, entry in dump["attributes"].items():
        array = data.GetCellData().GetArray(name)
        if array is None:
            fail(f"{path}: no array {name}")
        if array.GetNumberOfComponents() != entry["components"] or array.GetNumberOfTuples() != n:
            fail(f"{path}: {name} has {array.GetNumberOfComponents()} components, {array.GetNumberOfTuples()} cells")
        compare(path, dump, name, [v for i in range(n) for v in array.GetTuple(i)])
    check_moment(path, data.GetFieldData(), dump)


def check_mesh(path, vertices, lines, triangles):
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

    reader = vtkXMLPolyDataReader()
    reader.SetFileName(path)
    reader.Update()
    data = reader.GetOutput()
    found = (data.GetNumberOfPoints(), data.GetNumberOfLines(), data.GetNumberOfPolys())
    if found != (vertices, lines, triangles):
        fail(f"{path}: {found} points, lines and triangles, not {(vertices, lines, triangles)}")
    for i in range(lines + triangles):
        corners = data.GetCell(i).GetNumberOfPoints()
        if corners < 2 or (i >= lines and corners != 3):
            fail(f"{path}: cell {i} has {corners} corners")
    for name in ("group", "kind", "stretch"):
        array = data.GetCellData().GetArray(name)
        if array is None or array.GetNumberOfTuples() != lines + triangles:
            fail(f"{path}: {name} is not there for every cell")
    stretch = data.GetCellData().GetArray("stretch")
    if any(abs(stretch.GetTuple(i)[0] - 1) > 1e-3 for i in range(lines + triangles)):
        fail(f"{path}: a cell at rest is stretched")


def main():
    folder, number = sys.argv[1], int(sys.argv[2])
    if sys.argv[3:4] == ["mesh"]:
        try:
            check_mesh(os.path.join(folder, f"mesh_{number:04d}.vtp"), *map(int, sys.argv[4:7]))
        except ModuleNotFoundError:
            sys.exit(77)
        return
    if sys.argv[3:] == ["volume"]:
        with open(os.path.join(folder, "volume.json"), encoding="utf-8") as f:
            dump = json.load(f)
        try:
            check_vti(os.path.join(folder, f"volume_{number:04d}.vti"), dump)
        except ModuleNotFoundError:
            sys.exit(77)
        return
    with open(os.path.join(folder, "frame.json"), encoding="utf-8") as f:
        dump = json.load(f)
    stem = os.path.join(folder, f"particles_{number:04d}")
    check_ply(stem + ".ply", dump)
    check_bgeo(stem + ".bgeo", dump)
    try:
        check_vtp(stem + ".vtp", dump)
    except ModuleNotFoundError:
        print("read_frames.py: VTK's Python module is not installed")
        sys.exit(77)


if __name__ == "__main__":
    main()

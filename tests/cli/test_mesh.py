"""spate mesh: surfaces from the frames of a finished run."""
import struct

from common import Case, main, spate


def ply(path):
    """Vertices and faces (or edges) of a .ply that the command wrote."""
    data = path.read_bytes()
    at = data.index(b"end_header\n") + len(b"end_header\n")
    head = data[:at].decode().split("\n")
    size = 8 if any(line.startswith("property double") for line in head) else 4
    count = {line.split()[1]: int(line.split()[2]) for line in head if line.startswith("element")}
    form = f"<9{'d' if size == 8 else 'f'}"
    vertices = [struct.unpack_from(form, data, at + i * 9 * size)[:3] for i in range(count["vertex"])]
    at += count["vertex"] * 9 * size
    if "edge" in count:
        return vertices, [struct.unpack_from("<2i", data, at + 8 * i) for i in range(count["edge"])]
    return vertices, [struct.unpack_from("<3i", data, at + 13 * i + 1) for i in range(count["face"])]


def sides(cells):
    """How often each side runs one way and the other."""
    counts = {}
    for cell in cells:
        for a, b in zip(cell, cell[1:] + cell[:1]):
            counts[a, b] = counts.get((a, b), 0) + 1
    return counts


class Mesh(Case):
    def test_the_same_as_the_run_writes(self):
        run = self.run_scene("drop3d", "run", "--frames", 2, "--set", "output.surface=ply")
        first = (run / "surface_0002.ply").read_bytes()
        again = spate("mesh", run)
        self.assertEqual(again.returncode, 2)
        self.assertIn("surface_0000.ply exists; --force replaces it", again.stderr)
        result = spate("mesh", run, "--force", "--frames", 2)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("surface_0002.ply", result.stdout)
        old, new = first, (run / "surface_0002.ply").read_bytes()
        self.assertEqual(len(old), len(new))
        vertices, faces = ply(run / "surface_0002.ply")
        self.assertGreater(len(faces), 100)
        counts = sides(faces)
        self.assertTrue(all(n == 1 and counts.get((b, a)) == 1 for (a, b), n in counts.items()))

    def test_choices(self):
        run = self.run_scene("drop3d", "run", "--frames", 1)
        sizes = {}
        for method in ("isotropic", "anisotropic", "sheets"):
            out = self.folder / method
            result = spate("mesh", run, "-o", out, "--method", method, "--formats", "ply,vtp,obj", "--frames", 1,
                           "--threads", 2)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual({p.name for p in out.iterdir()},
                             {"surface_0001.ply", "surface_0001.vtp", "surface_0001.obj", "surface.pvd"})
            sizes[method] = (out / "surface_0001.ply").read_bytes()
        self.assertEqual(len(set(sizes.values())), 3)
        fine = self.folder / "fine"
        self.assertEqual(spate("mesh", run, "-o", fine, "--resolution", 3, "--smoothing", 0, "-q").returncode, 0)
        self.assertGreater(len(ply(fine / "surface_0001.ply")[1]), 1000)

    def test_outline(self):
        run = self.run_scene("drop2d", "run", "--frames", 1, "--set", "output.surface=[ply,vtp,obj]")
        vertices, lines = ply(run / "surface_0001.ply")
        self.assertGreater(len(lines), 20)
        self.assertEqual(sorted(a for a, b in lines), sorted(b for a, b in lines))
        area = sum(vertices[a][0] * vertices[b][1] - vertices[b][0] * vertices[a][1] for a, b in lines) / 2
        self.assertGreater(area, 0)
        self.assertIn("lines", spate("info", run / "surface_0001.vtp").stdout)
        self.assertIn(f"{len(lines)} lines", spate("info", run / "surface_0001.vtp").stdout)

    def test_refused(self):
        def refused(*words):
            result = spate("mesh", *words)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            return result.stderr

        self.assertIn("no such folder", refused(self.folder / "nothing"))
        self.assertIn("not the folder of a run", refused(self.folder))
        run = self.run_scene("drop3d", "run", "--frames", 1)
        self.assertIn("surface_method", refused(run, "--method", "round"))
        self.assertIn("output.surface", refused(run, "--formats", "stl"))
        self.assertIn("it has 0 to 1", refused(run, "--frames", 7))
        self.assertIn("--frames needs", refused(run, "--frames", "x"))
        bare = self.run_scene("drop3d", "bare", "--frames", 1, "--set", "output.particles=none")
        self.assertIn("no frames of particles", refused(bare))


main()

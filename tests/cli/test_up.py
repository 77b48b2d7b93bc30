"""output.up: files for tools where z points up, and pictures that do not change with it."""
import struct

from common import Case, SCENES, main, run_json, spate, stats


def points(path):
    """The positions in a .vtp that the command wrote, which come first in its raw part."""
    data = path.read_bytes()
    at = data.index(b"_", data.index(b"<AppendedData")) + 1
    head = data[:at]
    double = b"Float64" in head[head.index(b"<Points>"):head.index(b"</Points>")]  # of a surface, in a double build
    size, = struct.unpack_from("<Q", data, at)
    numbers = struct.unpack_from(f"<{size // (8 if double else 4)}{'d' if double else 'f'}", data, at + 8)
    return [numbers[i:i + 3] for i in range(0, len(numbers), 3)]


class Up(Case):
    def picture(self, run):
        result = spate("render", run, "--no-film", "--size", "160x120", "--samples", 1)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {p.name: p.read_bytes() for p in (run / "pictures").glob("*.png")}

    def both(self, scene, *words):
        plain = self.run_scene(scene, "plain", "--frames", 2, *words)
        turned = self.run_scene(scene, "turned", "--frames", 2, *words, "--set", "output.up=z")
        self.assertEqual(run_json(plain)["state_hash"], run_json(turned)["state_hash"])
        self.assertEqual(stats(plain), stats(turned))
        self.assertEqual(self.picture(plain), self.picture(turned))
        return plain, turned

    def test_particles_and_surfaces(self):
        plain, turned = self.both("drop3d", "--set", "output.surface=[vtp,ply]", "--set", "output.fields=[stress,C]")
        for name in ("particles_0002.vtp", "surface_0002.vtp"):
            old, new = points(plain / name), points(turned / name)
            self.assertEqual(len(old), len(new))
            self.assertTrue([(x, -z, y) for x, y, z in old] == [tuple(p) for p in new])

    def test_volumes(self):
        plain, turned = self.both("smoke3d")
        self.assertIn("16 x 20 x 12 cells", spate("info", plain / "volume_0002.vti").stdout)
        words = spate("info", turned / "volume_0002.vti").stdout
        self.assertIn("16 x 12 x 20 cells", words)
        self.assertIn("from (0, -0.75, 0)", words)

    def test_refused(self):
        flat = spate("check", SCENES / "drop2d.yaml", "--set", "output.up=z")
        self.assertEqual(flat.returncode, 2)
        self.assertIn("output.up: a 2D scene lies in the plane", flat.stderr)
        run = self.run_scene("drop3d", "run", "--frames", 1)
        before = {p.name: p.read_bytes() for p in run.iterdir()}
        result = spate("run", SCENES / "drop3d.yaml", "-o", run, "--resume", "--frames", 2, "--set", "output.up=z")
        self.assertEqual(result.returncode, 2)
        self.assertIn("output.up changed", result.stderr)
        self.assertEqual(before, {p.name: p.read_bytes() for p in run.iterdir()})


main()

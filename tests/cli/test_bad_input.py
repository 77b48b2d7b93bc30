"""Every kind of bad input exits with 2 and one clear message, and writes nothing."""
import csv
import math
import os
import re
import sys

from common import ROOT, Case, main, run_json, spate

sys.path.insert(0, str(ROOT / "tests"))
from read_frames import read_ply  # noqa: E402

GOOD = """\
spate: 1
name: good
dimension: 2
domain: {origin: [0, 0], size: [1, 1], dx: 0.05, walls: slip}
gravity: [0, -9.81]
duration: 0.04
fps: 50
solver: {type: mpm}
materials:
  water: {model: liquid, density: 1000, bulk_modulus: 2.0e4}
bodies:
  - {name: drop, material: water, shape: {sphere: {center: [0.5, 0.5], radius: 0.2}}}
"""

# what it is, the text replaced, by what, the line of the message (0: none asked for), words in it
TABLE = [
    ("unknown field", "gravity:", "gravitty:", 5, ["gravitty", "gravity"]),
    ("unknown nested field", "radius: 0.2", "radios: 0.2", 12, ["radios", "radius"]),
    ("missing material", "material: water", "material: wine", 12, ["wine"]),
    ("no material named", "material: water, ", "", 12, ["material"]),
    ("zero dx", "dx: 0.05", "dx: 0", 4, ["dx"]),
    ("negative dx", "dx: 0.05", "dx: -0.05", 4, ["dx"]),
    ("tiny dx", "dx: 0.05", "dx: 1.0e-12", 4, ["dx"]),
    ("dx is a word", "dx: 0.05", "dx: small", 4, ["dx", "small"]),
    ("dx with a unit", "dx: 0.05", "dx: 0.05m", 4, ["dx", "0.05m"]),
    ("dx is not a number", "dx: 0.05", "dx: .nan", 4, ["dx"]),
    ("duplicate field", "fps: 50\n", "fps: 50\nfps: 60\n", 8, ["fps"]),
    ("negative density", "density: 1000", "density: -1", 10, ["density"]),
    ("unknown model", "model: liquid", "model: liquit", 10, ["liquit", "liquid"]),
    ("field of another model", "bulk_modulus: 2.0e4", "poisson: 0.3, bulk_modulus: 2.0e4", 10, ["poisson"]),
    ("unknown solver", "type: mpm", "type: mpn", 8, ["mpn", "mpm"]),
    ("unknown shape", "sphere:", "spehre:", 12, ["spehre", "sphere"]),
    ("inverted box", "{sphere: {center: [0.5, 0.5], radius: 0.2}}", "{box: {min: [0.8, 0.1], max: [0.2, 0.3]}}", 12,
     ["box"]),
    ("body outside the domain", "[0.5, 0.5]", "[5, 5]", 12, ["bodies.0", "domain"]),
    ("negative radius", "radius: 0.2", "radius: -0.2", 12, ["radius"]),
    ("three components in 2D", "gravity: [0, -9.81]", "gravity: [0, -9.81, 0, 0]", 5, ["gravity"]),
    ("dimension 4", "dimension: 2", "dimension: 4", 3, ["dimension"]),
    ("another version", "spate: 1", "spate: 99", 1, ["99"]),
    ("no domain", "domain: {origin: [0, 0], size: [1, 1], dx: 0.05, walls: slip}\n", "", 0, ["domain"]),
    ("not YAML", "bodies:", "bodies: [}", 0, []),
    ("velocity no float holds", "radius: 0.2}}", "radius: 0.2}}, velocity: [0, 1.0e60]", 12,
     ["bodies.0.velocity", "1e+60"]),
    ("spin no float holds", "radius: 0.2}}", "radius: 0.2}}, spin: 1.0e39", 12, ["bodies.0.spin", "1e+39"]),
    ("gravity no float holds", "[0, -9.81]", "[0, -1.0e39]", 5, ["gravity", "-1e+39"]),
]

# The same for solver and materials.
SAND = (GOOD.replace("{type: mpm}", "{type: mpm, integrator: asflip, alpha: 0.97, beta: [0, 1], kernel: quadratic}")
        .replace("water", "dune").replace("model: liquid", "model: sand")
        .replace("bulk_modulus: 2.0e4", "young_modulus: 1.0e5, poisson: 0.3"))
INTEGRATORS = ["apic", "pic", "flip", "nflip", "sflip", "aflip", "aspic", "asflip", "polypic"]
MODELS = ["liquid", "neo_hookean", "fixed_corotated", "sand", "clay", "metal", "snow"]
POLYPIC = "integrator: polypic, "

SAND_TABLE = [
    ("unknown integrator", "asflip", "picflip", 8, ["solver.integrator", "'picflip'", *INTEGRATORS]),
    ("misspelt integrator", "asflip", "asfilp", 8, ["solver.integrator", "did you mean 'asflip'", *INTEGRATORS]),
    ("unknown kernel", "quadratic", "quintic", 8, ["solver.kernel", "linear, quadratic, cubic"]),
    ("unknown material model", "model: sand", "model: mud", 10, ["materials.dune.model", "'mud'", *MODELS]),
    ("alpha above 1", "alpha: 0.97", "alpha: 1.01", 8, ["solver.alpha", "1.01", "from 0 to 1"]),
    ("alpha below 0", "alpha: 0.97", "alpha: -0.01", 8, ["solver.alpha", "-0.01", "from 0 to 1"]),
    ("beta the wrong way round", "[0, 1]", "[1, 0]", 8, ["solver.beta", "[1, 0]", "must not be above the second"]),
    ("beta above 1", "[0, 1]", "[0, 1.5]", 8, ["solver.beta", "1.5", "from 0 to 1"]),
    ("beta below 0", "[0, 1]", "[-1, 1]", 8, ["solver.beta", "-1", "from 0 to 1"]),
    ("three betas", "[0, 1]", "[0, 0.5, 1]", 8, ["solver.beta", "2 numbers", "found 3"]),
    ("negative modulus", "young_modulus: 1.0e5", "young_modulus: -1.0e5", 10,
     ["materials.dune.young_modulus", "from 0 to"]),
    ("no modulus", "young_modulus: 1.0e5, ", "", 10, ["materials.dune", "give young_modulus or bulk_modulus"]),
    ("two moduli", "poisson: 0.3", "bulk_modulus: 1.0e5", 10, ["materials.dune", "give young_modulus or bulk_modulus"]),
    ("incompressible", "poisson: 0.3", "poisson: 0.5", 10, ["materials.dune.poisson", "0.5", "-0.99 to 0.499"]),
    ("friction beyond upright", "poisson: 0.3", "friction_angle: 95", 10, ["materials.dune.friction_angle", "0 to 90"]),
    ("too many modes", "integrator: asflip, ", POLYPIC + "poly_modes: 28, ", 8, ["solver.poly_modes", "28", "0 to 27"]),
    ("modes of 3D", "integrator: asflip, ", POLYPIC + "poly_modes: 10, ", 8, ["solver.poly_modes", "10", "to 9"]),
    ("less than affine", "integrator: asflip, ", POLYPIC + "poly_modes: 2, ", 8, ["solver.poly_modes", "2D", "3 "]),
    ("scale above 1", "integrator: asflip, ", POLYPIC + "poly_scale: [1, 2], ", 8,
     ["solver.poly_scale", "from 0 to 1"]),
    ("polypic on cubic", "integrator: asflip, alpha: 0.97, beta: [0, 1], kernel: quadratic", POLYPIC + "kernel: cubic",
     8, ["solver.kernel", "cubic", "quadratic"]),
    ("polypic on gimp", "integrator: asflip, alpha: 0.97, beta: [0, 1], kernel: quadratic", POLYPIC + "kernel: gimp",
     8, ["solver.kernel", "gimp", "quadratic"]),
]


class BadInput(Case):
    def write(self, text):
        path = self.folder / "scene.yaml"
        path.write_text(text)
        return path

    def refused(self, *words, code=2, contains=()):
        before = sorted(self.folder.rglob("*"))
        result = spate(*words)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("spate"), result.stderr)
        for word in contains:
            self.assertIn(word, result.stderr)
        self.assertEqual(before, sorted(self.folder.rglob("*")))
        return result.stderr

    def test_unknown_scene(self):
        for command in ("run", "check"):
            result = spate(command, "nosuch")
            self.assertEqual(result.returncode, 2)
            self.assertIn("nosuch", result.stderr)
            self.assertIn("spate list", result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_the_good_scenes_are_good(self):
        for scene in (GOOD, SAND):
            result = spate("check", self.write(scene))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr, "")
            self.assertEqual([p.name for p in self.folder.iterdir()], ["scene.yaml"])

    def test_table(self):
        for scene, (what, old, new, line, words) in [(GOOD, t) for t in TABLE] + [(SAND, t) for t in SAND_TABLE]:
            self.assertIn(old, scene)
            path = self.write(scene.replace(old, new))
            for command in (["check", path], ["run", path, "-o", self.folder / "run"]):
                with self.subTest(what, command=command[0]):
                    message = self.refused(*command, contains=words)
                    self.assertIn("scene.yaml", message)
                    if line:
                        self.assertRegex(message, rf"scene\.yaml:{line}(:\d+)?:")

    def test_mesh_that_is_a_text_file(self):
        scene = (GOOD.replace("dimension: 2", "dimension: 3").replace("[0, 0], size: [1, 1]",
                 "[0, 0, 0], size: [1, 1, 1]").replace("gravity: [0, -9.81]", "gravity: [0, -9.81, 0]"))
        for ending in ("obj", "ply", "stl"):
            (self.folder / f"notes.{ending}").write_text("Dear diary,\ntoday it rained.\n")
            path = self.write(scene.replace("{sphere: {center: [0.5, 0.5], radius: 0.2}}",
                                            f"{{mesh: {{file: notes.{ending}}}}}"))
            with self.subTest(ending):
                self.refused("run", path, "-o", self.folder / "run", contains=[f"notes.{ending}"])

    def test_mesh_that_is_no_file_below_the_scene(self):
        outside = self.folder.with_name(self.folder.name + "-outside.obj")
        outside.write_text("v 0 0 0\n")
        self.addCleanup(outside.unlink)
        (self.folder / "link.obj").symlink_to(outside)
        os.mkfifo(self.folder / "pipe.obj")
        (self.folder / "zero.obj").symlink_to("/dev/zero")
        (self.folder / "up").symlink_to(self.folder.parent)
        for name, expected in (("link.obj", "leaves the scene's folder"), ("zero.obj", "leaves the scene's folder"),
                               (f"up/{outside.name}", "leaves the scene's folder"),
                               ("pipe.obj", "a pipe or a device")):
            with self.subTest(name):
                path = self.write(GOOD.replace("{sphere: {center: [0.5, 0.5], radius: 0.2}}",
                                               f"{{mesh: {{file: {name}}}}}"))
                result = spate("check", path)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(expected, result.stderr)
                self.assertRegex(result.stderr, r"scene\.yaml:12:\d+: bodies\.0\.shape\.mesh\.file: ")
        # Links obey the same rule as names: whoever allows it gets the file, here one that is no mesh.
        path = self.write(GOOD.replace("{sphere: {center: [0.5, 0.5], radius: 0.2}}",
                                       "{mesh: {file: link.obj, outside: true}}"))
        result = spate("check", path)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertNotIn("leaves the scene's folder", result.stderr)
        self.assertIn("link.obj", result.stderr)

    def test_overrides(self):
        path = self.write(GOOD)
        for override, words in (("domain.dx=0", ["dx"]), ("domain.dy=1", ["dy"]), ("bodies.7.velocity=[0,0]", ["7"]),
                                ("nonsense", ["nonsense"]), ("solver.cfl=fast", ["cfl", "fast"])):
            with self.subTest(override):
                self.refused("check", path, "--set", override, contains=words)

    def test_files_that_are_not_there(self):
        self.refused("run", self.folder / "no.yaml", code=2, contains=["no.yaml"])
        self.refused("check", self.folder / "no.yaml", code=2, contains=["no.yaml"])
        self.refused("info", self.folder / "no.obj", code=2, contains=["no.obj"])
        self.refused("render", self.folder / "no", code=2, contains=["no"])

        path = self.write(GOOD.replace("{sphere: {center: [0.5, 0.5], radius: 0.2}}", "{mesh: {file: nowhere.obj}}"))
        self.refused("run", path, "-o", self.folder / "run", code=2, contains=["scene.yaml:12", "nowhere.obj"])

    def test_info_on_broken_files(self):
        for name in ("a.spate", "a.vtp", "a.obj", "a.ply", "a.stl", "a.yaml", "a.xyz"):
            path = self.folder / name
            for content in (b"", b"\0\1\2\3" * 40):
                path.write_bytes(content)
                with self.subTest(name, content=content[:4]):
                    self.refused("info", path, contains=[name])

    def test_unstable_run_stops(self):
        path = self.write(GOOD)
        result = spate("run", path, "-o", self.folder / "run", "--quiet", "--set", "solver.dt=0.01",
                       "--set", "materials.water.bulk_modulus=1e9", "--set", "duration=2",
                       "--set", "bodies.0.velocity=[0,-3]")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertTrue(re.search(r"step \d+", result.stderr), result.stderr)

    def assert_finite(self, folder):
        """Every number that was written is one."""
        with open(folder / "stats.csv", newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertGreater(len(rows), 1)
        for row in rows:
            for name, value in row.items():
                if name != "dt_limit" and value:
                    self.assertTrue(math.isfinite(float(value)), f"{name} is {value}")
        frames = sorted(folder.glob("particles_*.ply"))
        self.assertEqual(len(frames), len(rows))
        for frame in frames:
            for name, values in read_ply(frame).items():
                self.assertTrue(all(map(math.isfinite, values)), f"{frame.name}: {name}")

    def test_a_blow_up_leaves_all_that_was_good(self):
        """Full FLIP and NFLIP at a step far beyond what waves allow: it names what went wrong, where and when."""
        path, folder = self.write(SAND), self.folder / "run"
        for integrator, modulus, limit in (("nflip", "3e5", "J left its range"), ("flip", "3e5", "J left its range"),
                                           ("nflip", "1e7", "more than 3 cells")):
            sets = [f"solver.integrator={integrator}", "solver.alpha=1", f"materials.dune.young_modulus={modulus}",
                    "materials.dune.volume_correction=false", "duration=2", "fps=200", "output.particles=[ply]"]
            words = ["run", path, "-o", folder, "--quiet", "--force", *(w for s in sets for w in ("--set", s))]
            with self.subTest(integrator, modulus=modulus):
                result = spate(*words, "--set", "solver.dt=0.004")
                self.assertEqual(result.returncode, 3, result.stderr)
                told = result.stderr.splitlines()[-1]
                self.assertRegex(told, r"^spate: .*scene\.yaml: step \d+, t = [\d.]+ s: .*limit: (wave|speed).*"
                                       r"particle \d+ of material 'dune' at \(.*\) with v = \(.*\), J = .*, dt 0.004 s \(limit: "
                                       r"fixed\); use ")
                self.assertIn(limit, told)
                report = run_json(folder)
                self.assertEqual(report["exit_code"], 3)
                self.assertIn(told.split("spate: ", 1)[1], report["exit_reason"])
                self.assert_finite(folder)
                result = spate("info", folder / "checkpoint.spate")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("whole", result.stdout)
                saved = int(re.search(r"step (\d+),", result.stdout).group(1))
                self.assertLess(saved, int(re.search(r"step (\d+),", told).group(1)))
        # Negative control: with a stable step the same scene ends well.
        result = spate(*words, "--set", "duration=0.1")
        self.assertEqual(result.returncode, 0, result.stderr)


main()

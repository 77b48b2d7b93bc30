"""Fields on a grid: the frames of a smoke run, their list, resuming, threads and pictures."""
import re
import xml.etree.ElementTree

from common import Case, SCENES, main, run_json, spate

FIELDS = ("density", "rose", "mint", "temperature", "velocity", "pressure", "vorticity")


class Volume(Case):
    def names(self, folder):
        return sorted(p.name for p in folder.glob("volume_*.vti"))

    def test_frames(self):
        run = self.run_scene("smoke3d", "run", "--frames", 3)
        self.assertEqual(self.names(run), [f"volume_{i:04d}.vti" for i in range(4)])
        self.assertEqual(list(run.glob("particles*")), [])
        root = xml.etree.ElementTree.parse(run / "volume.pvd").getroot()
        listed = [(e.get("file"), float(e.get("timestep"))) for e in root.iter("DataSet")]
        self.assertEqual([name for name, _ in listed], self.names(run))
        self.assertAlmostEqual(listed[3][1], 0.3, places=9)
        words = spate("info", run / "volume_0003.vti").stdout
        self.assertIn("16 x 20 x 12 cells of 0.0625, t = 0.3 s", words)
        for name in FIELDS:
            self.assertRegex(words, rf"(?m)^  {name}(\(3\))?: \S+ to \S+$")
        most = float(re.search(r"(?m)^  rose: \S+ to (\S+)$", words).group(1))
        self.assertAlmostEqual(most, 1, delta=0.01)

    def test_none(self):
        run = self.run_scene("smoke3d", "run", "--frames", 1, "--set", "output.volume=none")
        self.assertEqual(self.names(run), [])
        self.assertFalse((run / "volume.pvd").exists())
        result = spate("render", run)
        self.assertEqual(result.returncode, 2)
        self.assertIn("output.volume", result.stderr)

    def test_resume_and_threads(self):
        whole = self.run_scene("smoke3d", "whole", "--frames", 4, "--threads", 1)
        part = self.run_scene("smoke3d", "part", "--frames", 2, "--threads", 2)
        (part / "volume_0003.vti").write_bytes(b"of a run that was cut off")
        self.run_scene("smoke3d", "part", "--frames", 4, "--resume", "--threads", 3)
        self.assert_same_run(whole, part)
        self.assertEqual((whole / "volume.pvd").read_bytes(), (part / "volume.pvd").read_bytes())
        self.assertEqual(run_json(part)["particles"], 0)

    def test_pictures(self):
        run = self.run_scene("smoke3d", "run", "--frames", 2)
        for words in ((), ("--colour", "velocity_y"), ("--colour", "speed", "--frames", 1)):
            once = self.folder / "once"
            again = self.folder / "again"
            for out, threads in ((once, 1), (again, 3)):
                result = spate("render", run, "--size", "120x90", "--no-film", "-o", out, "--threads", threads, *words)
                self.assertEqual(result.returncode, 0, result.stderr)
            for picture in once.glob("*.png"):
                self.assertEqual(picture.read_bytes(), (again / picture.name).read_bytes())
        self.assertEqual(len(list(once.glob("*.png"))), 3)
        result = spate("render", run, "--colour", "salt")
        self.assertEqual(result.returncode, 2)
        self.assertIn("velocity", result.stderr)

    def test_even_smoke_is_drawn_by_speed(self):
        scene = self.folder / "stirred.yaml"
        scene.write_text("spate: 1\ndimension: 2\nduration: 0.2\nfps: 10\n"
                         "domain: {size: [1, 1], dx: 0.0625, walls: periodic}\nsolver: {type: smoke}\n"
                         "materials: {m: {model: gas}}\n"
                         "bodies: [{material: m, vortices: [1, 1], shape: {box: {min: [0, 0], max: [1, 1]}}}]\n")
        run = self.run_scene(scene, "run")
        pictures = []
        for words in ((), ("--colour", "speed"), ("--colour", "material")):
            out = self.folder / "-".join(("out",) + words)
            result = spate("render", run, "--size", "120x90", "--no-film", "-o", out, "--frames", 2, *words)
            self.assertEqual(result.returncode, 0, result.stderr)
            pictures.append((out / "frame_0002.png").read_bytes())
        self.assertEqual(pictures[0], pictures[1])
        self.assertNotEqual(pictures[0], pictures[2])
        self.assertIn('name: "stirred"', (run / "run.scene.yaml").read_text())

    def test_summary(self):
        words = spate("check", SCENES / "smoke3d.yaml").stdout
        self.assertRegex(words, r"(?m)^  cells      \d+ \(\d+\) filled by bodies$")
        self.assertIn("filled by bodies", spate("info", SCENES / "smoke3d.yaml").stdout)


main()

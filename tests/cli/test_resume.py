"""A run that was stopped goes on bit for bit as if nothing had happened."""
import shutil

from common import Case, SCENES, main, run_json, spate, stats


class Resume(Case):
    def check(self, scene, last, stops):
        whole = self.run_scene(scene, "whole", "--frames", last)
        parts = self.run_scene(scene, "parts", "--frames", stops[0])
        for stop in [*stops[1:], last]:
            self.run_scene(scene, "parts", "--frames", stop, "--resume", "--threads", 3)
        self.assert_same_run(whole, parts)

    def test_2d(self):
        self.check("drop2d", 9, [1, 4, 5])

    def test_3d(self):
        self.check("drop3d", 6, [2, 3])

    def test_until_extends_a_finished_run(self):
        whole = self.run_scene("drop2d", "whole", "--until", 0.12)
        parts = self.run_scene("drop2d", "parts", "--until", 0.06)
        self.run_scene("drop2d", "parts", "--resume", "--until", 0.12)
        self.assert_same_run(whole, parts)

    def test_how_often_one_checkpoints_changes_nothing(self):
        often = self.run_scene("drop2d", "often", "--frames", 6, "--set", "output.checkpoint=1")
        seldom = self.run_scene("drop2d", "seldom", "--frames", 6, "--set", "output.checkpoint=100")
        self.assertEqual(run_json(often)["state_hash"], run_json(seldom)["state_hash"])

    def test_statistics_beyond_the_checkpoint_are_trimmed(self):
        whole = self.run_scene("drop2d", "whole", "--frames", 5)
        parts = self.run_scene("drop2d", "parts", "--frames", 4)
        with open(parts / "stats.csv", "a") as f:
            f.write("5,0.1,99999,0.1,wave\n6,half a row")
        self.run_scene("drop2d", "parts", "--frames", 5, "--resume")
        self.assertEqual(stats(whole), stats(parts))

    def test_a_changed_scene_is_refused(self):
        parts = self.run_scene("drop2d", "parts", "--frames", 2)
        before = {p.name: p.read_bytes() for p in parts.iterdir()}
        self.run_scene("drop2d", "parts", "--resume", "--set", "gravity=[0,-1]", code=2)
        self.assertEqual(before, {p.name: p.read_bytes() for p in parts.iterdir()})

    def test_columns_are_those_of_the_scene_that_was_given(self):
        """What events add has no columns, and leaves those of colliders and holds as they are."""
        scene = self.folder / "grip.yaml"
        more = ", ".join(f"{{name: late {i}, shape: {{sphere: {{center: [0.1, 0.5], radius: 0.02}}}}}}" for i in range(300))
        scene.write_text(
            "spate: 1\ndimension: 2\ndomain: {size: [1, 1], dx: 0.0625}\nduration: 0.4\nfps: 10\n"
            "materials: {gum: {model: neo_hookean, density: 1000, young_modulus: 50000}}\n"
            "bodies: [{name: bar, material: gum, shape: {box: {min: [0.3, 0.4], max: [0.7, 0.9]}},"
            " hold: [{shape: {box: {min: [0.25, 0.8], max: [0.75, 0.95]}}}]}]\n"
            "colliders: [{name: low, shape: {box: {min: [0, 0], max: [1, 0.1]}}}]\n"
            "events: [{t: 0.25, add: {colliders: [" + more + "]}}]\n")
        whole = self.run_scene(scene, "whole")
        parts = self.run_scene(scene, "parts", "--until", 0.3)
        self.run_scene(scene, "parts", "--resume")
        self.assert_same_run(whole, parts)
        without = self.run_scene(scene, "without", "--set", "events=[]")
        for row, same in zip(stats(whole), stats(without)):
            force, usual = float(row["bar_hold_force_y"]), float(same["bar_hold_force_y"])
            self.assertAlmostEqual(force, usual, delta=0.02 * abs(usual))
        self.assertNotEqual(float(stats(whole)[-1]["bar_hold_force_y"]), 0)

    def test_colours_may_change(self):
        whole = self.run_scene("drop2d", "whole", "--frames", 3)
        parts = self.run_scene("drop2d", "parts", "--frames", 2)
        self.run_scene("drop2d", "parts", "--frames", 3, "--resume", "--set", "materials.water.color=red")
        self.assertEqual(run_json(whole)["state_hash"], run_json(parts)["state_hash"])

    def test_overrides_need_not_be_given_again(self):
        sets = ("--set", "domain.dx=0.05", "--set", 'name="a # name"')
        whole = self.run_scene("drop2d", "whole", "--frames", 4, *sets)
        parts = self.run_scene("drop2d", "parts", "--frames", 1, *sets)
        self.run_scene("drop2d", "parts", "--frames", 2, "--resume")
        self.run_scene("drop2d", "parts", "--frames", 3, "--resume", *sets[:2])
        result = spate("run", parts, "--resume", "--frames", 4, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_same_run(whole, parts)
        kept = [sorted((run / "run.scene.yaml").read_text().splitlines()) for run in (whole, parts)]
        self.assertEqual(*kept)
        self.assertEqual(len([line for line in kept[0] if line.startswith("# set: ")]), 2)

    def test_an_edited_file_is_still_refused(self):
        scene = self.folder / "own.yaml"
        scene.write_text((SCENES / "drop2d.yaml").read_text())
        parts = self.run_scene(scene, "parts", "--frames", 1, "--set", "domain.dx=0.05")
        scene.write_text(scene.read_text().replace("seed: 3", "seed: 99"))
        result = spate("run", scene, "-o", parts, "--resume", "--frames", 2)
        self.assertEqual(result.returncode, 2)
        self.assertIn("another scene: seed changed", result.stderr)
        result = spate("run", parts, "--resume", "--frames", 2, "--set", "domain.dx=0.04")
        self.assertEqual(result.returncode, 2)
        self.assertIn("domain.dx changed", result.stderr)

    def test_what_changed_is_named(self):
        self.run_scene("drop2d", "parts", "--frames", 2)
        result = spate("run", SCENES / "drop2d.yaml", "-o", self.folder / "parts", "--resume", "--set", "fps=99",
                       "--set", "solver.cfl=0.3", "--set", "duration=9", "--set", "output.checkpoint=1")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"another scene: (fps, solver\.cfl|solver\.cfl, fps) changed \(see its run\.scene")
        self.assertIn("--force", result.stderr)

    def test_another_output_from_there_on(self):
        whole = self.run_scene("drop3d", "whole", "--frames", 4, "--set", "output.particles=[vtp,ply]",
                               "--set", "output.surface=[ply,vtp]", "--set", "output.fields=[J]")
        parts = self.run_scene("drop3d", "parts", "--frames", 2)
        result = spate("run", SCENES / "drop3d.yaml", "-o", parts, "--resume", "--frames", 4,
                       "--set", "output.particles=[vtp,ply]", "--set", "output.surface=[ply,vtp]",
                       "--set", "output.fields=[J]")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"output\.particles, output\.[a-z, .]+ changed: frames from 2 on have it")
        self.assertEqual(run_json(whole)["state_hash"], run_json(parts)["state_hash"])
        names = {p.name for p in parts.iterdir()}
        self.assertNotIn("particles_0001.ply", names)
        self.assertNotIn("surface_0001.vtp", names)
        for frame in (2, 3, 4):
            for name in ("particles_%04d.vtp", "particles_%04d.ply", "surface_%04d.ply", "surface_%04d.vtp"):
                self.assertTrue((whole / (name % frame)).read_bytes() == (parts / (name % frame)).read_bytes(), name)
        listed = (parts / "surface.pvd").read_text()
        self.assertEqual([f"surface_{i:04d}.vtp" in listed for i in range(5)], [False, False, True, True, True])
        self.assertEqual((whole / "particles.pvd").read_text(), (parts / "particles.pvd").read_text())

    def test_another_output_of_a_finished_run(self):
        run = self.run_scene("drop3d", "run", "--frames", 2)
        before = (run / "particles_0002.vtp").read_bytes()
        self.run_scene("drop3d", "run", "--frames", 2, "--resume")
        self.assertEqual(list(run.glob("surface*")), [])
        self.run_scene("drop3d", "run", "--frames", 2, "--resume", "--set", "output.surface=obj")
        self.assertEqual([p.name for p in run.glob("surface*")], ["surface_0002.obj"])
        self.assertEqual(before, (run / "particles_0002.vtp").read_bytes())

    def test_the_previous_checkpoint_serves_when_the_last_is_broken(self):
        whole = self.run_scene("drop2d", "whole", "--frames", 8)
        parts = self.run_scene("drop2d", "parts", "--frames", 6)
        checkpoint = parts / "checkpoint.spate"
        self.assertTrue((parts / "checkpoint.prev.spate").exists())
        checkpoint.write_bytes(checkpoint.read_bytes()[:-100])
        self.run_scene("drop2d", "parts", "--frames", 8, "--resume")
        self.assert_same_run(whole, parts)

    def test_resume_without_a_run(self):
        result = spate("run", SCENES / "drop2d.yaml", "-o", self.folder / "nothing", "--resume")
        self.assertEqual(result.returncode, 2, result.stderr)

    def test_broken_checkpoints(self):
        parts = self.run_scene("drop2d", "parts", "--frames", 4)
        whole = (parts / "checkpoint.spate").read_bytes()
        for name, content in (("empty", b""), ("cut", whole[: len(whole) // 2]), ("no end", whole[:-1]),
                              ("text", b"spate: 1\n")):
            with self.subTest(name):
                copy = self.folder / name
                shutil.copytree(parts, copy)
                for file in ("checkpoint.spate", "checkpoint.prev.spate"):
                    (copy / file).write_bytes(content)
                before = {p.name: p.read_bytes() for p in copy.iterdir()}
                result = spate("run", SCENES / "drop2d.yaml", "-o", copy, "--resume", "--quiet")
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn("checkpoint", result.stderr)
                self.assertEqual(before, {p.name: p.read_bytes() for p in copy.iterdir()})


main()

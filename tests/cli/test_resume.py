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

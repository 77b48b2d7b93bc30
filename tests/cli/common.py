"""What the tests of the command share. Python's standard library only."""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENES = ROOT / "tests" / "cli" / "scenes"
COMMAND = os.environ.get("SPATE_COMMAND", str(ROOT / "build" / "release" / "spate"))
SANITIZED = bool(os.environ.get("SPATE_SANITIZE"))


def spate(*words, **more):
    """Runs the command; returns the finished process with text output."""
    more.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([COMMAND, *map(str, words)], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          text=True, timeout=280, **more)


def run_json(folder):
    return json.loads((pathlib.Path(folder) / "run.json").read_text())


def stats(folder):
    """The rows of stats.csv without what a clock says."""
    with open(pathlib.Path(folder) / "stats.csv", newline="") as f:
        return [{k: v for k, v in row.items() if k != "wall_seconds"} for row in csv.DictReader(f)]


def frame_bytes(folder):
    return {p.name: p.read_bytes() for p in pathlib.Path(folder).glob("[pv]*_*.vt[pi]")}


class Case(unittest.TestCase):
    """A test with a folder of its own, on a disk in memory where there is one."""

    def setUp(self):
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="spate-test-", dir=place))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_scene(self, scene, name, *words, code=0):
        """Runs a test scene into folder/name and checks how it ended."""
        scene = SCENES / f"{scene}.yaml" if isinstance(scene, str) else scene
        result = spate("run", scene, "-o", self.folder / name, "--quiet", *words)
        self.assertEqual(result.returncode, code, result.stderr)
        return self.folder / name

    def assert_same_run(self, a, b):
        """State, statistics and frames of two runs are the same."""
        self.assertEqual(run_json(a)["state_hash"], run_json(b)["state_hash"])
        self.assertEqual(stats(a), stats(b))
        left, right = frame_bytes(a), frame_bytes(b)
        self.assertEqual(sorted(left), sorted(right))
        for name in left:
            self.assertTrue(left[name] == right[name], f"{name} differs")

    def assert_complete(self, folder, code):
        """A folder that tools can read, whatever happened."""
        report = run_json(folder)
        self.assertEqual(report["exit_code"], code)
        self.assertTrue(report["exit_reason"])
        rows = stats(folder)
        listed = (folder / "particles.pvd").read_text()
        self.assertIn("</VTKFile>", listed)
        for row in rows:
            name = f"particles_{int(row['frame']):04d}.vtp"
            self.assertTrue((folder / name).exists(), name)
            self.assertIn(name, listed)
        self.assertEqual([p.name for p in folder.iterdir() if "tmp" in p.name or "partial" in p.name], [])


def main():
    unittest.main(verbosity=0 if len(sys.argv) < 2 else 1)

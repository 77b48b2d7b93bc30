"""A full disk, a folder that cannot be written, a run that is already there."""
import os
import resource
import signal
import subprocess

from common import COMMAND, Case, SCENES, main, run_json, spate

SCENE = SCENES / "drop2d.yaml"


class FullDisk(Case):
    def check(self, folder, make_room, **how):
        """The run stops with 5 and one message; when there is room again it goes on."""
        words = [COMMAND, "run", SCENE, "-o", folder, "--quiet", "--frames", "20"]
        result = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=60, **how)
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(str(folder), result.stderr)
        self.assertEqual([p.name for p in folder.iterdir() if "tmp" in p.name], [])
        make_room()
        again = "--resume" if (folder / "checkpoint.spate").exists() else "--force"
        result = subprocess.run([*words, again], stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_same_run(self.run_scene("drop2d", "whole", "--frames", 20), folder)

    def test_small_disk(self):
        mount = self.folder / "disk"
        mount.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", mount], capture_output=True)
        if mounted.returncode:
            self.skipTest("mounting a small disk is not allowed here")
        self.addCleanup(subprocess.run, ["umount", mount], check=True)
        room = ["mount", "-o", "remount,size=50m", mount]
        self.check(mount / "run", lambda: subprocess.run(room, check=True))

    def test_file_size_limit(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        self.check(self.folder / "run", lambda: None, preexec_fn=limit)


class Folder(Case):
    def test_an_existing_run_is_kept(self):
        folder = self.run_scene("drop2d", "run", "--frames", 1)
        before = {p.name: p.read_bytes() for p in folder.iterdir()}
        result = spate("run", SCENE, "-o", folder, "--frames", 2)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("--force", result.stderr)
        self.assertEqual(before, {p.name: p.read_bytes() for p in folder.iterdir()})
        self.run_scene("drop2d", "run", "--frames", 2, "--force")
        self.assertEqual(run_json(folder)["frames"], 2)

    def test_force_replaces_only_a_run(self):
        folder = self.folder / "mine"
        folder.mkdir()
        (folder / "thesis.txt").write_text("years of work")
        spate("run", SCENE, "-o", folder, "--frames", 1, "--force", "--quiet")
        self.assertEqual((folder / "thesis.txt").read_text(), "years of work")

    def test_a_shorter_run_leaves_no_frames_of_the_longer_one(self):
        folder = self.run_scene("drop2d", "run", "--frames", 4)
        self.run_scene("drop2d", "run", "--frames", 2, "--force")
        self.assertFalse((folder / "particles_0004.vtp").exists())

    def test_a_file_is_in_the_way(self):
        blocker = self.folder / "file"
        blocker.write_text("content")
        for folder in (blocker, blocker / "run"):
            result = spate("run", SCENE, "-o", folder, "--quiet")
            self.assertIn(result.returncode, (2, 5), result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn("file", result.stderr)
        self.assertEqual(blocker.read_text(), "content")

    def test_read_only(self):
        if os.getuid() == 0:
            # Root may write everywhere except where the kernel makes the files.
            place = "/proc/spate-run"
        else:
            (self.folder / "locked").mkdir(mode=0o555)
            place = self.folder / "locked" / "run"
        result = spate("run", SCENE, "-o", place, "--quiet")
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(str(place), result.stderr)


main()

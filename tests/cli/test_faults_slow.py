"""Every open, write, fsync, syncfs, fstat, rename, mkdir and truncate of a run made to fail, once and from there on."""
import os
import pathlib
import shutil
import subprocess

from common import COMMAND, Case, SCENES, main, run_json

LIBRARY = pathlib.Path(os.environ["SPATE_BUILD"]) / "tests" / "libfaults.so"
WORDS = ["--quiet", "--frames", "2", "--set", "output.checkpoint=1", "--set", "output.particles=[vtp,ply,bgeo]"]


class Faults(Case):
    def run_with(self, folder, fault, *words):
        environment = dict(os.environ)
        if fault:
            environment.update(LD_PRELOAD=str(LIBRARY), SPATE_FAULT=f"{fault} {folder}")
        return subprocess.run([COMMAND, "run", SCENES / "drop2d.yaml", "-o", folder, *WORDS, *words],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60,
                              env=environment)

    def check(self, call, how, least):
        struck = self.folder / "run.struck"
        number = 0
        while True:
            number += 1
            folder = self.folder / "run"
            shutil.rmtree(folder, ignore_errors=True)
            struck.unlink(missing_ok=True)
            result = self.run_with(folder, f"{call} {number} {how}")
            if not struck.exists():
                self.assertEqual(result.returncode, 0, result.stderr)
                break
            with self.subTest(call=call, number=number, how=how):
                self.assertEqual(result.returncode, 5, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn(str(folder), result.stderr)
                left = [p.name for p in folder.rglob("*") if "tmp" in p.name] if folder.exists() else []
                self.assertEqual(left, [])
                if how == "once" and list(folder.glob("checkpoint.prev.spate")):
                    self.assertTrue((folder / "checkpoint.spate").exists(), "the last one was not put back")
                again = "--resume" if list(folder.glob("checkpoint*.spate")) else "--force"
                result = self.run_with(folder, None, again)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assert_same_run(self.folder / "whole", folder)
        self.assertGreater(number, least, f"{call} was hardly called")

    def test_folders_are_synced(self):
        """A rename lasts through a crash. Where that cannot be had, the file is whole all the same."""
        folder = self.folder / "run"
        result = self.run_with(folder, "fsync_folder 1 on")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "run.struck").exists())

    def test_all(self):
        self.assertEqual(self.run_with(self.folder / "whole", None).returncode, 0)
        for how in ("once", "on"):
            for call, least in (("open", 5), ("write", 5), ("fsync", 2), ("syncfs", 2), ("fstat", 1), ("rename", 4), ("mkdir", 1)):
                self.check(call, how, least)
        self.assertEqual(run_json(self.folder / "whole")["frames"], 2)


main()

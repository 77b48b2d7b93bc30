"""kill -9 at 20 random points, also while a checkpoint is written: the run can always go on."""
import random
import subprocess
import time

from common import COMMAND, Case, SCENES, main, run_json

WORDS = ["--set", "output.checkpoint=1", "--set", "fps=200", "--quiet", "--threads", "2"]


class Kill(Case):
    def start(self, name, *words):
        return subprocess.Popen([COMMAND, "run", SCENES / "drop2d.yaml", "-o", self.folder / name, *WORDS, *words],
                                stderr=subprocess.PIPE, text=True)

    def go_on(self, name):
        """Before the first checkpoint there is nothing to go on from."""
        return "--resume" if list(self.folder.glob(f"{name}/checkpoint*.spate")) else "--force"

    def test_twenty_random_kills(self):
        began = time.monotonic()
        whole = self.start("whole")
        self.assertEqual(whole.wait(), 0, whole.stderr.read())
        whole.stderr.close()
        seconds = time.monotonic() - began

        dice = random.Random(2)
        kills = trial = 0
        while kills < 20:
            self.assertLess(trial, 60, "the run ends before it can be killed")
            name = f"killed{trial}"
            trial += 1
            for _ in range(2):
                process = self.start(name, self.go_on(name))
                try:
                    process.wait(dice.uniform(0.02, 0.6) * seconds)
                    seconds *= 0.8  # it was over sooner than thought
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    kills += 1
                message = process.stderr.read()
                process.stderr.close()
                self.assertIn(process.returncode, (0, -9), message)
            process = self.start(name, self.go_on(name))
            self.assertEqual(process.wait(), 0, process.stderr.read())
            process.stderr.close()
            self.assert_same_run(self.folder / "whole", self.folder / name)
            self.assertEqual(run_json(self.folder / name)["exit_code"], 0)


main()

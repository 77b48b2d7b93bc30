"""The command and flip: a pressure that does not converge ends a run with 4 and a folder that can be read."""
from common import SCENES, Case, main, run_json, spate


class Flip(Case):
    def test_pressure_that_does_not_converge(self):
        folder = self.folder / "run"
        result = spate("run", SCENES / "flip2d.yaml", "-o", folder, "--quiet",
                       "--set", "solver.max_iterations=1", "--set", "solver.tolerance=1e-13")
        self.assertEqual(result.returncode, 4, result.stderr)
        last = result.stderr.splitlines()[-1]
        for word in ("residual", "10 times in a row", "raise solver.max_iterations"):
            self.assertIn(word, last)
        self.assert_complete(folder, 4)
        self.assertIn("residual", run_json(folder)["exit_reason"] + result.stderr)

    def test_converges_as_it_is(self):
        folder = self.run_scene("flip2d", "run", "--frames", 2)
        self.assertEqual(run_json(folder)["exit_code"], 0)


main()

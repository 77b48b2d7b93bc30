"""Every integrator and kernel through the command: one result for any number of threads, stopped or not."""
from common import Case, main, run_json

INTEGRATORS = ["pic", "flip", "nflip", "sflip", "apic", "aflip", "aspic", "asflip", "polypic"]
SOLVERS = ([{"integrator": i} for i in INTEGRATORS] +
           [{"integrator": i, "kernel": k} for k in ("linear", "cubic") for i in ("apic", "asflip")])


class Integrators(Case):
    def check(self, scene, frames):
        hashes = set()
        for number, solver in enumerate(SOLVERS):
            words = [w for name, value in solver.items() for w in ("--set", f"solver.{name}={value}")]
            with self.subTest(scene, **solver):
                whole = self.run_scene(scene, f"whole{number}", "--frames", frames, "--threads", 1, *words)
                many = self.run_scene(scene, f"many{number}", "--frames", frames, "--threads", 7, *words)
                self.assert_same_run(whole, many)
                parts = self.run_scene(scene, f"parts{number}", "--frames", 1, "--threads", 2, *words)
                for stop in (2, frames):
                    self.run_scene(scene, f"parts{number}", "--frames", stop, "--resume", "--threads", 3, *words)
                self.assert_same_run(whole, parts)
                hashes.add(run_json(whole)["state_hash"])
        self.assertEqual(len(hashes), len(SOLVERS), "different integrators gave the same run")

    def test_2d(self):
        self.check("drop2d", 5)

    def test_3d(self):
        self.check("drop3d", 3)


main()

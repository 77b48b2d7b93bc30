"""One state hash for every number of threads, in 2D and 3D."""
from common import Case, SANITIZED, main, run_json

FRAMES = 3 if SANITIZED else 10


class Determinism(Case):
    def check(self, scene, *threads):
        frames = ("--frames", FRAMES) if not scene.startswith("hash") else ()
        runs = {n: self.run_scene(scene, f"t{n}", "--threads", n, *frames)
                for n in threads or (1, 2, 3, 4, 7, 8)}
        for n, folder in runs.items():
            with self.subTest(threads=n):
                self.assertEqual(run_json(folder)["threads"], n)
                self.assert_same_run(runs[1], folder)

    def test_2d(self):
        self.check("drop2d")

    def test_3d(self):
        self.check("drop3d")

    def test_flip_2d(self):
        self.check("flip2d")

    def test_flip_3d(self):
        self.check("flip3d")

    def test_sheets(self):
        self.check("hash_sheets", 1, 2, 7)

    def test_phases(self):
        self.check("hash_phases", 1, 2, 7)

    def test_meshes(self):
        self.check("hash_meshes", 1, 2, 7)

    def test_hash_sees_a_small_change(self):
        one = self.run_scene("drop2d", "one", "--frames", 1)
        two = self.run_scene("drop2d", "two", "--frames", 1, "--set", "bodies.1.velocity=[0,-1.000001]")
        self.assertNotEqual(run_json(one)["state_hash"], run_json(two)["state_hash"])


main()

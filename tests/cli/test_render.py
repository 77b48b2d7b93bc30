"""spate render: cameras, colours, the pace of films, mistakes in the options."""
import json
import shutil
import subprocess
import unittest

from common import Case, main, spate


def film_facts(path):
    """Pictures a second, number of pictures and seconds of a film, from ffprobe."""
    words = ["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0", "-show_entries",
             "stream=r_frame_rate,nb_read_frames", "-of", "csv=p=0", str(path)]
    rate, count = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip().split(",")[:2]
    above, below = map(int, rate.split("/"))
    return above / below, int(count), int(count) * below / above


SMALL = ("--size", "64x48", "--samples", 1, "-q", "--threads", 1)


class Render(Case):
    def render(self, folder, *words, code=0):
        result = spate("render", folder, *SMALL, *words)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    @unittest.skipUnless(shutil.which("ffprobe") and shutil.which("ffmpeg"), "no ffmpeg")
    def test_films_keep_their_pace(self):
        run = self.run_scene("drop2d", "a", "--frames", 6)
        film = run / "pictures" / "film.mp4"
        self.render(run)
        rate, count, seconds = film_facts(film)
        self.assertTrue(4 <= seconds <= 8 and 12 <= rate <= 60, (rate, count, seconds))
        self.render(run, "--fps", 30)
        other = film_facts(film)
        self.assertEqual(other[0], 30)
        self.assertAlmostEqual(other[2], seconds, delta=0.1)
        self.render(run, "--speed", "1/20", "--fps", 25)
        once = film_facts(film)[1]
        self.render(run, "--speed", "0.05", "--fps", 25, "--loop", 2)
        self.assertEqual(film_facts(film)[1], 2 * once)
        self.render(run, "--speed", "0.05", "--fps", 25, "--loop", "pingpong")
        self.assertEqual(film_facts(film)[1], 2 * once - 2)
        # A still leaves the film alone.
        before = film.read_bytes()
        self.render(run, "--frames", 2)
        self.assertEqual(film.read_bytes(), before)

    @unittest.skipUnless(shutil.which("ffmpeg"), "no ffmpeg")
    def test_pictures_and_films_are_described(self):
        run = self.run_scene("drop2d", "a", "--frames", 3)
        self.render(run)
        pictures = run / "pictures"
        self.assertIn("picture (PNG) of 64x48 pixels", spate("info", pictures / "frame_0001.png").stdout)
        film = json.loads(spate("info", "--json", pictures / "film.mp4").stdout)
        self.assertEqual((film["kind"], film["width"], film["height"]), ("film", 64, 48))
        if shutil.which("ffprobe"):
            _, count, seconds = film_facts(pictures / "film.mp4")
            self.assertEqual(film["frames"], count)
            self.assertAlmostEqual(film["seconds"], seconds, delta=0.1)
        whole = (pictures / "film.mp4").read_bytes()
        (run / "cut").write_bytes(whole[:200])
        cut = spate("info", run / "cut")
        self.assertEqual(cut.returncode, 2)
        self.assertIn("begins like an MP4 film but is damaged or cut short", cut.stderr)

    def test_total_energy_can_be_plotted(self):
        run = self.run_scene("drop2d", "a", "--frames", 2)
        self.render(run, "--plot", "total_energy,kinetic_energy")
        self.assertTrue((run / "pictures" / "plot_total_energy+kinetic_energy.png").exists())

    def test_stills_agree_with_the_rest(self):
        run = self.run_scene("drop2d", "a", "--frames", 4)
        self.render(run, "--no-film", "--colour", "speed")
        for words in (["--frames", "3", "--color", "speed"], ["--frames", "3:", "--colour=speed"]):
            with self.subTest(words):
                self.render(run, "--no-film", "-o", self.folder / "b", *words)
                self.assertEqual((self.folder / "b" / "frame_0003.png").read_bytes(),
                                 (run / "pictures" / "frame_0003.png").read_bytes())

    def test_frames_have_open_ends(self):
        run = self.run_scene("drop2d", "a", "--frames", 4)
        for words, expected in (("1:2", [1, 2]), ("3:", [3, 4]), (":1", [0, 1]), ("1-2", [1, 2]), ("4", [4])):
            with self.subTest(words):
                out = self.folder / words.replace(":", "_")
                self.render(run, "--no-film", "-o", out, "--frames", words)
                self.assertEqual(sorted(int(p.stem[6:]) for p in out.glob("*.png")), expected)

    def test_cameras(self):
        run = self.run_scene("drop3d", "a", "--frames", 1, "--set", "domain.dx=0.1")
        pictures = {}
        for name, words in {"scene": [], "camera": ["--camera", "2,1,3:0.5,0.3,0.5"],
                            "set": ["--set", "camera={from: [2, 1, 3], to: [0.5, 0.3, 0.5]}"],
                            "fov": ["--fov", 60], "orbit": ["--orbit", -90]}.items():
            self.render(run, "--no-film", "-o", self.folder / name, "--frames", 1, *words)
            pictures[name] = (self.folder / name / "frame_0001.png").read_bytes()
        self.assertEqual(pictures["camera"], pictures.pop("set"))
        self.assertEqual(len(set(pictures.values())), 4)

    def test_mistakes(self):
        run = self.run_scene("drop2d", "a", "--frames", 1)
        for words, expected in (
                (["--camera", "1,2:3"], "camera: '1,2:3' is not FROM:TO"), (["--camera", "1,2,3:4,5,6"], "2D"),
                (["--frames", "9:3"], "10:20, not '9:3'"), (["--frames", ":"], "not ':'"),
                (["--frames", "-3"], "not '-3'"), (["--frames", "7:9"], "no frames from 7 to 9; it has 0 to 1"),
                (["--size", "0x10"], "16 to 16384"), (["--size", "20.5x30"], "1280x720"),
                (["--orbit", "abc"], "a number, not 'abc'"), (["--orbit", "90"], "2D"), (["--fov", "0"], "1 to 170"),
                (["--speed", "fast"], "0.25 or 1/4"), (["--speed", "0"], "not '0'"), (["--speed", "1/0"], "not '1/0'"),
                (["--fps", "0"], "1 to 1000"), (["--loop", "0"], "pingpong"), (["--loop", "boomerang"], "pingpong"),
                (["--set", "solver.cfl=0.1"], "run the scene with it"), (["--set", "camera.fov=20"], "flat"),
                (["--colour", "sped", "--frames", "1"], "sped"), (["--colr", "v"], "did you mean --colo")):
            with self.subTest(words):
                result = self.render(run, *words, code=2)
                self.assertIn(expected, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)


main()

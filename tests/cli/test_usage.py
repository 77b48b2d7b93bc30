"""Commands, options, help, the list of scenes, JSON for machines."""
import json
import os
import pathlib
import re

from common import COMMAND, Case, ROOT, SANITIZED, SCENES, main, run_json, spate

COMMANDS = ["run", "check", "info", "list", "render", "view", "bench", "docs", "help"]


class Usage(Case):
    def test_pictures_are_loaded_on_demand(self):
        """Code of a ray tracer must not run, nor fail, before main."""
        if SANITIZED:
            self.skipTest("the sanitizer's start-up answers instead of the loader")
        listed = spate("--version", env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"}).stdout
        self.assertIn("libyaml", listed)
        for library in ("embree", "tbb"):
            self.assertNotIn(library, listed)

    def test_help_and_version(self):
        overview = spate("--help")
        self.assertEqual(overview.returncode, 0)
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", overview.stdout)
            for words in (["help", command], [command, "--help"]):
                result = spate(*words)
                self.assertEqual(result.returncode, 0, words)
                self.assertTrue(result.stdout.startswith(f"usage: spate {command}"))
        version = spate("--version").stdout
        header = (ROOT / "include" / "spate" / "spate.h").read_text()
        self.assertRegex(header, rf'#define SPATE_VERSION +"{re.escape(version.split()[1])}"')

    def test_mistakes_exit_with_2(self):
        scene = SCENES / "drop2d.yaml"
        for words, expected in (
                ([], ""), (["rum"], "'run'"), (["zzzzzzzz"], "--help"), (["run"], "usage"),
                (["run", scene, "extra"], "extra"), (["run", scene, "--thread", "2"], "--threads"),
                (["run", scene, "--qqqqqqqqqq"], "help run"), (["run", scene, "--threads"], "value"),
                (["run", scene, "--threads", "many"], "many"), (["run", scene, "--threads", "0"], "0"),
                (["run", scene, "--threads", "2.5"], "2.5"), (["run", scene, "--frames", "-1"], "-1"),
                (["run", scene, "--until", "nan"], "nan"), (["run", scene, "--quiet=1"], "no value"),
                (["run", scene, "--until", "0"], "must be greater than 0"),
                (["run", scene, "--frames", "1", "--until", "1"], "not both"),
                (["run", scene, "--resume", "--force"], "one of them"), (["run", scene, "-x"], "-x"),
                (["render", "x", "--size", "big"], "big"), (["render", "x", "--range", "2,1"], "2,1"),
                (["render", "x", "--frames", "9-3"], "9-3"), (["bench", "nonsense"], "nonsense"),
                (["help", "rnder"], "render"), (["view", scene, "--port", "many"], "many")):
            with self.subTest(words):
                result = spate(*words, cwd=self.folder)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(expected, result.stderr)
                self.assertLessEqual(len(result.stderr.splitlines()), 1)
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_was_meant(self):
        """Slips of the first hour: the message says what to write."""
        os.environ["SPATE_SCENES"] = str(ROOT / "scenes")
        run = self.run_scene("flip2d", "a", "--frames", 1)
        (self.folder / "base.yaml").write_text("spate: 1\n")
        for words, code, expected in (
                (["base.yaml"], 2, "did you mean: spate run base.yaml"), (["splash"], 2, "spate run splash"),
                (["no.yaml"], 2, "spate run no.yaml"), (["a"], 2, "spate info a"),
                (["run", "splahs"], 2, "did you mean 'splash'?"),
                (["check", "fig8_hourglass"], 2, "did you mean 'fig08_hourglass'?"),
                (["render", run / "run.json"], 2, "run.json is a file; give the folder of a run"),
                (["render", "nowhere"], 2, "nowhere: no such folder"),
                (["info", "nowhere.png"], 2, "nowhere.png: there is no such file"),
                (["run", "a"], 2, "a is the folder of a run; go on with it by 'spate run a --resume'"),
                (["run", "."], 2, ". is a folder; give a scene's file"),
                (["render", run, "--loop", "-o", "x"], 2, "--loop needs a value (N), but -o follows"),
                (["check", SCENES / "drop2d.yaml", "--set", "materials.water.color=#ff0000"], 2,
                 """in quotes, 'materials.water.color="#ff0000"'"""),
                (["check", SCENES / "drop2d.yaml", "--set", "integrator=flip"], 2, "--set solver.integrator=..."),
                (["check", SCENES / "drop2d.yaml", "--set", "materials.water={modle: liquid}"], 2,
                 "unknown field 'modle'; did you mean 'model'?"),
                (["render", run, "--colour", "sped"], 2, "did you mean 'speed'? known: speed, P, v, id"),
                (["render", run, "--plot", "mass,volme"], 2, "did you mean 'volume'? known: frame"),
                (["run", SCENES / "drop2d.yaml", "-o", "/proc/x"], 5,
                 "/proc/x: the file system of /proc takes no new folders; choose another")):
            with self.subTest(words):
                result = spate(*words, cwd=self.folder)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(expected, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_which_file_is_run(self):
        """A scene of one's own comes before a shipped one of that name; what is run is said."""
        env = {**os.environ, "SPATE_SCENES": str(ROOT / "scenes")}
        shipped = spate("check", "dam2d", cwd=self.folder, env=env)
        self.assertEqual(shipped.returncode, 0, shipped.stderr)
        self.assertEqual(shipped.stderr.splitlines(), [f"spate: 'dam2d' is the shipped scene {ROOT}/scenes/gallery/dam2d.yaml"])
        (self.folder / "dam2d.yaml").write_text((SCENES / "drop2d.yaml").read_text())
        own = spate("run", "dam2d", "--frames", 1, cwd=self.folder, env=env)
        self.assertEqual(own.returncode, 0, own.stderr)
        self.assertIn("'dam2d' is dam2d.yaml here, which comes before the shipped ", own.stderr)
        for words in (["dam2d.yaml"], ["dam2d", "--quiet"]):
            quiet = spate("run", *words, "--frames", 1, "--force", cwd=self.folder, env=env)
            self.assertEqual((quiet.returncode, quiet.stderr), (0, ""))

    def test_a_duration_between_frames(self):
        words = (SCENES / "drop2d.yaml", "--set", "duration=0.05", "--set", "fps=50")
        warned = "is not a whole number of frames at fps 50: the run ends with frame 2 at 0.04 s; --until 0.05 goes on to 0.06 s"
        self.assertIn(warned, spate("check", *words).stderr)
        self.assertIn(warned, spate("run", *words, "-o", self.folder / "a").stderr)
        self.assertNotIn("whole number", spate("run", *words, "-o", self.folder / "b", "--until", 0.05).stderr)
        self.assertEqual(run_json(self.folder / "b")["frames"], 3)

    def test_what_is_left_out_is_told(self):
        post = "colliders=[{shape: {box: {min: [0.45, 0], max: [0.55, 0.4]}}}]"
        told = spate("check", SCENES / "drop2d.yaml", "--set", post)
        self.assertRegex(told.stdout, r"left out +\d+ particles that lie in colliders or earlier bodies")
        self.assertNotIn("left out", spate("check", SCENES / "drop2d.yaml", "--set", "colliders=[]").stdout)

    def test_short_and_joined_options(self):
        for words in (["-o", "a"], ["-oa"], ["--output=a"], ["--output", "a"]):
            with self.subTest(words):
                result = spate("run", SCENES / "drop2d.yaml", "-q", "--frames=1", "--force", *words, cwd=self.folder)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual((result.stdout, result.stderr), ("", ""))
                self.assertEqual([p.name for p in self.folder.iterdir()], ["a"])

    def test_json_report(self):
        result = spate("run", SCENES / "drop2d.yaml", "-o", self.folder / "a", "--frames", 2, "--json")
        report = json.loads(result.stdout)
        kept = run_json(self.folder / "a")
        for key in ("frames", "steps", "particles", "state_hash"):
            self.assertEqual(report[key], kept[key], key)
        self.assertEqual((report["frames"], report["exit_code"]), (2, 0))
        again = spate("run", SCENES / "drop2d.yaml", "-o", self.folder / "a", "--json")
        self.assertEqual((again.returncode, json.loads(again.stdout)["exit_code"]), (2, 2))

    def test_steps_log(self):
        spate("run", SCENES / "drop2d.yaml", "-o", self.folder / "a", "--frames", 2, "--steps-log", "-q")
        lines = (self.folder / "a" / "steps.jsonl").read_text().splitlines()
        steps = [json.loads(line)["step"] for line in lines]
        self.assertEqual(steps, list(range(1, run_json(self.folder / "a")["steps"] + 1)))
        self.assertNotIn("state_hash", lines[-1])
        spate("run", SCENES / "drop2d.yaml", "-o", self.folder / "b", "--frames", 2, "--steps-full", "-q")
        last = json.loads((self.folder / "b" / "steps.jsonl").read_text().splitlines()[-1])
        self.assertEqual(last["state_hash"], run_json(self.folder / "a")["state_hash"])

    def test_a_repeated_warning_is_told_once(self):
        words = ("run", SCENES / "drop2d.yaml", "--set", "materials.water.bulk_modulus=5000", "--json")
        told = spate(*words, "-o", self.folder / "a").stderr.splitlines()
        times = run_json(self.folder / "a")["warnings"]["volume drift"]
        self.assertGreater(times, 2)
        self.assertEqual(len([line for line in told if "warning: frame" in line]), 1, told)
        self.assertIn(f"spate: warned of 'volume drift' {times} times in all", told)
        quiet = spate(*words, "-o", self.folder / "b", "--quiet").stderr.splitlines()
        self.assertEqual(len(quiet), 1, quiet)

    def test_phases_do_not_overlap(self):
        """No time is counted twice: together the phases are no longer than the run."""
        spate("run", SCENES / "drop2d.yaml", "-o", self.folder / "a", "-q", "--threads", 1)
        report = run_json(self.folder / "a")
        self.assertLess(sum(report["phases"].values()), 1.001 * report["wall_seconds"] + 0.001)

    def test_check_says_what_would_run(self):
        result = spate("check", SCENES / "drop3d.yaml", "--set", "domain.dx=0.1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("10 x 10 x 5 cells", result.stdout)
        self.assertRegex(result.stdout, r"steps +about \d+ of \S+ s \(limit: \w+\)")
        self.assertRegex(result.stdout, r"cost +about .* with \d+ threads?, .* of memory, .* on disk")

    def test_check_json(self):
        scene = SCENES / "drop3d.yaml"
        result = spate("check", scene, "--json", "--threads", 1, "--set", "gravity=[0, 0, -9.81]")
        told = json.loads(result.stdout)
        self.assertEqual((told["file"], told["valid"], told["dimension"], told["message"]), (str(scene), True, 3, ""))
        self.assertEqual(len(told["cells"]), 3)
        self.assertEqual(len(told["warnings"]), 1)
        self.assertIn("sideways", told["warnings"][0])
        for key in ("particles", "steps", "dt", "seconds", "memory_bytes", "disk_bytes"):
            self.assertGreater(told["estimate"][key], 0, key)
        folder = self.run_scene("drop3d", "a")
        report = run_json(folder)
        self.assertEqual(told["particles"], report["particles"])
        for key, real in (("steps", report["steps"]), ("disk_bytes", sum(p.stat().st_size for p in folder.iterdir()))):
            self.assertLess(max(told["estimate"][key] / real, real / told["estimate"][key]), 2, key)
        wrong = spate("check", scene, "--json", "--set", "domain.dx=0")
        told = json.loads(wrong.stdout)
        self.assertEqual((wrong.returncode, told["valid"]), (2, False))
        self.assertIn("domain.dx", told["message"])

    def test_list_and_names(self):
        # A build elsewhere does not see the source tree around it.
        if ROOT not in pathlib.Path(COMMAND).parents:
            os.environ["SPATE_SCENES"] = str(ROOT / "scenes")
        listed = spate("list").stdout
        gallery = sorted(p.stem for p in (ROOT / "scenes" / "gallery").glob("*.yaml"))
        self.assertEqual([line.split()[0] for line in listed.splitlines() if "/" not in line.split()[0]], gallery)
        for line in listed.splitlines():
            self.assertRegex(line, r"^\S+ +[23]D  \S+")
        # A name works where a file does, also when a folder of that name is here.
        (self.folder / "dam2d").mkdir()
        self.assertEqual(spate("check", "dam2d", cwd=self.folder).returncode, 0)
        self.assertEqual(spate("check", "gallery/dam2d", cwd=self.folder).returncode, 0)
        other = self.folder / "scenes" / "book"
        other.mkdir(parents=True)
        (other / "fig1.yaml").write_text("spate: 1\nname: 'first figure'\ndimension: 2\n")
        result = spate("list", env=dict(os.environ, SPATE_SCENES=str(self.folder / "scenes")))
        self.assertEqual(result.stdout.split(), ["book/fig1", "2D", "first", "figure"])
        told = json.loads(spate("list", "--json").stdout)["scenes"]
        self.assertEqual([scene["name"] for scene in told], [line.split()[0] for line in listed.splitlines()])
        for scene in told:
            self.assertIn(scene["dimension"], (2, 3))
            self.assertTrue(scene["title"] and pathlib.Path(scene["file"]).is_file())
        result = spate("list", env=dict(os.environ, SPATE_SCENES="/nowhere"))
        self.assertEqual(result.returncode, 5)
        self.assertIn("/nowhere", result.stderr)

    # What these scenes are warned of is what their figures show.
    MEANT = {"fig13_squares.yaml": ("begin 2 apart",), "fig23_sheets.yaml": ("begin 0.4 apart", "are shorter than a cell")}

    def test_every_shipped_scene_is_valid(self):
        for path in sorted((ROOT / "scenes").rglob("*.yaml")):
            with self.subTest(path.name):
                result = spate("check", path)
                told = [line for line in result.stderr.splitlines()
                        if not any(words in line for words in self.MEANT.get(path.name, ()))]
                self.assertEqual((result.returncode, told), (0, []))

    def test_info(self):
        folder = self.run_scene("drop2d", "a", "--frames", 1)
        for file in (SCENES / "drop2d.yaml", folder / "checkpoint.spate", folder / "particles_0001.vtp"):
            result = spate("info", file)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertGreater(len(result.stdout), 40)

    def test_info_of_a_run_named_like_a_shipped_scene(self):
        self.run_scene("drop2d", "splash", "--frames", 1)
        result = spate("info", "splash", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("folder of a run", result.stdout)

    def test_info_json(self):
        sets = ("--set", "output.particles=[vtp, ply, bgeo]", "--set", "output.fields=[stress]")
        folder = self.run_scene("drop2d", "a", "--frames", 1, *sets)
        smoke = self.run_scene("smoke3d", "b", "--frames", 1)
        mesh = self.folder / "m.obj"
        mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        told = {}
        for file in (SCENES / "drop2d.yaml", folder, folder / "checkpoint.spate", smoke / "volume_0001.vti", mesh,
                     *(folder / f"particles_0001.{e}" for e in ("vtp", "ply", "bgeo"))):
            result = spate("info", file, "--json")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            told[file.name] = json.loads(result.stdout)
            self.assertEqual(told[file.name]["file"], str(file))
        self.assertEqual([t["kind"] for t in told.values()],
                         ["scene", "run", "checkpoint", "volume", "mesh", "particles", "particles", "particles"])
        report = run_json(folder)
        self.assertEqual(told["a"]["run"], report)
        for name in ("checkpoint.spate", "particles_0001.vtp", "particles_0001.ply", "particles_0001.bgeo"):
            self.assertEqual(told[name]["particles"], report["particles"], name)
        self.assertEqual(told["drop2d.yaml"]["hash"], told["checkpoint.spate"]["scene_hash"])
        for name in ("particles_0001.vtp", "particles_0001.bgeo"):
            self.assertIn({"name": "stress", "components": 6}, told[name]["attributes"])
        self.assertEqual((told["m.obj"]["triangles"], told["m.obj"]["closed"]), (4, True))
        self.assertTrue(all(field["min"] <= field["max"] for field in told["volume_0001.vti"]["fields"]))
        (folder / "run.json").write_text('{"scene": 1')
        self.assertEqual(spate("info", folder, "--json").returncode, 2)

    def test_bench_json(self):
        less = ("--variant", "sand", "--dimension", 2) if SANITIZED else ()
        rows = json.loads(spate("bench", "mpm", "--particles", 2000, "--rounds", 1, "--threads", 2, "--json",
                                *less).stdout)
        self.assertEqual({(r["variant"], r["dimension"]) for r in rows}, {("sand", 2)} if SANITIZED else
                         {(v, d) for v in ("liquid", "elastic", "sand", "clay") for d in (2, 3)})
        for row in rows:
            for key in ("name", "solver", "particles", "cells", "threads", "steps", "seconds",
                        "particle_steps_per_second", "bytes_per_particle", "phases"):
                self.assertIn(key, row)
            self.assertEqual(row["threads"], 2)
            self.assertGreater(row["particle_steps_per_second"], 0)
            self.assertTrue(row["phases"])

    def test_bench_of_dfsph_always_takes_the_same_steps(self):
        rows = json.loads(spate("bench", "sph", "--variant", "dfsph", "--particles", 500, "--rounds", 1,
                                "--threads", 1, "--json").stdout)
        self.assertEqual([r["steps"] for r in rows], [10])

    def test_bench_compares_integrators_and_scenes(self):
        rows = json.loads(spate("bench", SCENES / "drop2d.yaml", "--integrator", "flip,asflip", "--rounds", 1,
                                "--threads", 1, "--json").stdout)
        self.assertEqual([r["integrator"] for r in rows], ["flip", "asflip"])
        rows = json.loads(spate("bench", SCENES / "flip2d.yaml", "--integrator", "pic,apic", "--rounds", 1,
                                "--threads", 1, "--json").stdout)
        self.assertEqual([r["integrator"] for r in rows], ["pic", "apic"])
        wrong = spate("bench", "mpm", "--integrator", "flop", "--particles", 2000)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("asflip", wrong.stderr)

    def test_meshes_go_with_a_run(self):
        place = self.folder / "scene"
        (place / "meshes").mkdir(parents=True)
        (place / "meshes" / "tetra.obj").write_text(
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        (place / "s.yaml").write_text(
            "spate: 1\ndomain: {size: [1, 1, 1], dx: 0.125}\nduration: 0.04\nfps: 50\n"
            "materials: {m: {model: liquid}}\n"
            "bodies: [{material: m, shape: {box: {min: [0, 0.5, 0], max: [1, 0.75, 1]}}}]\n"
            "colliders: [{shape: {mesh: {file: meshes/tetra.obj}, scale: 0.4}}]\n")
        folder = self.run_scene(place / "s.yaml", "out")
        self.assertTrue((folder / "meshes" / "tetra.obj").exists())
        result = spate("render", folder, "--size", "80x60", "--no-film", "--samples", 1)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_meshes_from_outside(self):
        place, other = self.folder / "scene", self.folder / "other"
        place.mkdir()
        other.mkdir()
        (other / "tetra.obj").write_text(
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        text = ("spate: 1\ndomain: {size: [1, 1, 1], dx: 0.125}\nduration: 0.04\nfps: 50\n"
                "materials: {m: {model: liquid}}\n"
                "bodies: [{material: m, shape: {box: {min: [0, 0.5, 0], max: [1, 0.75, 1]}}}]\n"
                "colliders: [{name: rock, shape: {mesh: {file: ../other/tetra.obj%s}, scale: [0.4, 0.5, 0.4]}}]\n")
        scene = place / "s.yaml"
        scene.write_text(text % "")
        refused = spate("check", scene)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("'..' leaves the scene's folder; put the mesh below it, or allow it with outside: true",
                      refused.stderr)
        asked = ["--set", f"colliders.rock.shape.mesh.file={other}/tetra.obj"]
        told = spate("check", scene, *asked)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn(f"the mesh {other}/tetra.obj is from outside the scene's folder", told.stderr)
        one = self.run_scene(scene, "one", "--frames", 1, *asked)
        scene.write_text(text % ", outside: true")
        two = self.run_scene(scene, "two")
        # A run keeps a copy, which its scene names, so that all goes on without the mesh's own place.
        (other / "tetra.obj").unlink()
        copies = [p.name for p in (one / "meshes").iterdir()]
        self.assertEqual(len(copies), 1)
        self.assertRegex(copies[0], r"^tetra_[0-9a-f]{16}\.obj$")
        self.assertIn(f"meshes/{copies[0]}", (one / "run.scene.yaml").read_text())
        self.run_scene(one / "run.scene.yaml", "one", "--resume")
        self.assertEqual(run_json(one)["state_hash"], run_json(two)["state_hash"])
        result = spate("render", two, "--size", "80x60", "--no-film", "--samples", 1)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_render_surfaces_alone(self):
        pictures = []
        for kind in ("ply", "obj", "vtp"):
            run = self.run_scene("drop3d", kind, "--frames", 1, "--set", "output.particles=none",
                                 "--set", f"output.surface={kind}")
            result = spate("render", run, "--size", "160x120", "--no-film", "--samples", 1)
            if "no Embree" in result.stderr:
                self.skipTest("built without Embree")
            self.assertEqual(result.returncode, 0, result.stderr)
            pictures.append((run / "pictures" / "frame_0001.png").read_bytes())
        self.assertEqual(pictures[0], pictures[1])
        self.assertEqual(pictures[0], pictures[2])
        wrong = spate("render", run, "--colour", "speed")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("only surfaces, which have no 'speed'", wrong.stderr)
        self.assertRegex(spate("info", run / "surface_0001.vtp").stdout,
                         r"PolyData, \d+ vertices, \d+ triangles, t = 0.02\S* s\n  attributes: P\(3\) N\(3\) v\(3\)\n")

    def test_render(self):
        folder = self.run_scene("drop2d", "a", "--frames", 2)
        result = spate("render", folder, "--size", "160x120", "--no-film", "--samples", 1)
        self.assertEqual(result.returncode, 0, result.stderr)
        pictures = list((folder / "pictures").glob("*.png"))
        self.assertGreaterEqual(len(pictures), 2)
        for picture in pictures:
            head = picture.read_bytes()[:24]
            self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual((int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")), (160, 120))


main()

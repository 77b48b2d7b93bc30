"""Variants of a scene run side by side, and what is made of them."""
import csv
import json
import signal
import subprocess
import time

from common import COMMAND, Case, SCENES, main, run_json, spate

SCENE = SCENES / "drop2d.yaml"


def png_size(path):
    head = path.read_bytes()[:24]
    return head[:8] == b"\x89PNG\r\n\x1a\n" and (int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big"))


class Compare(Case):
    def compare(self, *words, code=0, name="c"):
        result = spate("run", SCENE, "-o", self.folder / name, *words)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def rows(self, name="c"):
        with open(self.folder / name / "compare.csv", newline="") as f:
            return list(csv.DictReader(f))

    def test_variants_are_ordinary_runs(self):
        result = self.compare("--compare", "integrator=apic,pic", "--frames", 3)
        self.assertEqual(sorted(p.name for p in (self.folder / "c").iterdir()),
                         ["apic", "compare.csv", "compare.png", "pic", "sheet.png"])
        for name in ("apic", "pic"):
            alone = self.run_scene("drop2d", f"alone-{name}", "--frames", 3, "--set", f"solver.integrator={name}")
            self.assert_same_run(self.folder / "c" / name, alone)
            self.assert_complete(self.folder / "c" / name, 0)
        # The control: the two are not the same.
        self.assertNotEqual(run_json(self.folder / "c" / "apic")["state_hash"],
                            run_json(self.folder / "c" / "pic")["state_hash"])
        table = result.stdout.splitlines()[-3:]
        self.assertEqual([line.split()[0] for line in table], ["variant", "apic", "pic"])
        self.assertTrue(all(line.endswith("done") for line in table[1:]))
        for picture in ("compare.png", "sheet.png"):
            width, height = png_size(self.folder / "c" / picture)
            self.assertGreater(min(width, height), 300)

    def test_the_table_adds_up(self):
        self.compare("--compare", "integrator=apic,pic", "--frames", 2, "-q")
        rows = self.rows()
        self.assertEqual([r["variant"] for r in rows], ["apic"] * 3 + ["pic"] * 3)
        for row in rows:
            parts = [float(row[f"{kind}_energy"]) for kind in ("kinetic", "potential", "elastic")]
            self.assertAlmostEqual(float(row["total_energy"]), sum(parts), delta=1e-9 * sum(map(abs, parts)))
            for key in ("time", "max_speed", "penetration_max", "penetration_count", "top"):
                float(row[key])
        self.assertNotEqual(rows[2]["kinetic_energy"], rows[5]["kinetic_energy"])

    def test_an_unstable_variant_does_not_stop_the_others(self):
        result = self.compare("--compare", "dt=5e-3,4e-4", "--frames", 2, "--json", code=3)
        report = json.loads(result.stdout)
        bad, good = report["variants"]
        self.assertEqual((bad["variant"], bad["exit_code"], bad["end"]), ("dt-5e-3", 3, "unstable"))
        self.assertEqual((good["variant"], good["exit_code"], good["frames"]), ("dt-4e-4", 0, 2))
        self.assertTrue(bad["message"])
        self.assertAlmostEqual(good["total_energy"], float(self.rows()[-1]["total_energy"]), places=6)
        self.assertEqual((report["exit_code"], report["fields"]), (3, ["solver.dt"]))
        self.assertIn("dt-5e-3: ", result.stderr)
        self.assertTrue(png_size(self.folder / "c" / "sheet.png"))

    def test_names_brackets_and_combinations(self):
        self.compare("--compare", "gravity=[0,-9.81],[0, 0]", "--compare", "integrator=apic,pic", "--frames", 1, "-q")
        names = sorted(p.name for p in (self.folder / "c").iterdir() if p.is_dir())
        self.assertEqual(names, ["gravity-0_-9.81_apic", "gravity-0_-9.81_pic", "gravity-0_0_apic", "gravity-0_0_pic"])
        self.assertIn("gravity", (self.folder / "c" / "gravity-0_0_pic" / "run.scene.yaml").read_text())
        self.compare("--compare", "materials.water.viscosity=0,0.5", "--frames", 1, "-q", name="v")
        self.assertTrue((self.folder / "v" / "viscosity-0.5" / "run.json").exists())

    def test_resume_goes_on_and_begins(self):
        self.compare("--compare", "integrator=apic", "--frames", 2, "-q")
        self.compare("--compare", "integrator=apic,pic", "--frames", 4, "-q", code=2)
        self.compare("--compare", "integrator=apic,pic", "--frames", 4, "-q", "--resume")
        self.compare("--compare", "integrator=apic,pic", "--frames", 4, "-q", name="whole")
        for name in ("apic", "pic"):
            self.assert_same_run(self.folder / "c" / name, self.folder / "whole" / name)
        self.assertEqual(self.rows(), self.rows("whole"))
        self.compare("--compare", "integrator=pic", "--frames", 1, "-q", "--force")
        self.assertEqual(len(self.rows()), 2)

    def test_without_frames_there_is_no_sheet(self):
        result = self.compare("--compare", "integrator=apic,pic", "--frames", 1, "--set", "output.particles=[]")
        self.assertFalse((self.folder / "c" / "sheet.png").exists())
        self.assertIn("no sheet", result.stderr)
        self.assertTrue(png_size(self.folder / "c" / "compare.png"))

    def test_three_dimensions(self):
        result = spate("run", SCENES / "drop3d.yaml", "-o", self.folder / "c", "--frames", 1, "-q", "--set",
                       "domain.dx=0.1", "--compare", "integrator=apic,pic")
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertTrue(png_size(self.folder / "c" / "sheet.png"))

    def test_mistakes_are_told_before_anything_runs(self):
        for value, expected in (
                ("integrator", "FIELD=A,B"), ("=a,b", "FIELD=A,B"), ("integrator=", "FIELD=A,B"),
                ("integrator=apic,,pic", "empty"), ("integrator=apic,apic", "'apic'"),
                ("integrator=apic,apik", "apik"), ("nonsense=1,2", "solver.nonsense"),
                ("seed=" + ",".join(map(str, range(25))), "24")):
            with self.subTest(value):
                result = self.compare("--compare", value, code=2)
                self.assertIn(expected, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1)
                self.assertFalse((self.folder / "c").exists())

    def test_interrupt_ends_the_whole(self):
        process = subprocess.Popen([COMMAND, "run", SCENE, "-o", self.folder / "c", "--until", "500",
                                    "--set", "output.particles=[]", "--compare", "integrator=apic,pic"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not (self.folder / "c" / "apic" / "checkpoint.prev.spate").exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("--resume", errors)
        self.assertFalse((self.folder / "c" / "pic").exists())


main()

#!/usr/bin/env python3
"""Speed of the cases of Yan et al. 2018 on two threads, in processor time, against what was published
for a GTX 980: steps/s and million particle-steps/s. And of each coupled case against one field.

    python3 scenes/multiphase/speed.py [path of spate] [steps]
"""
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SPATE = sys.argv[1] if len(sys.argv) > 1 else "spate"
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
THREADS = 2
DT = 1e-4

DAM = """spate: 1
dimension: 3
domain: {size: [1.2, 0.75, 0.6], dx: 0.015, walls: {y_max: separate}}
duration: 1
fps: 25
solver: {type: mpm}
materials: {water: {model: liquid, density: 1000, bulk_modulus: 3.0e5}}
bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.48, 0.5, 0.6]}}}]
"""

# case, scene, published: thousand particles and steps/s
CASES = [("1 dam", None, 342, 55), ("2 ball", "ball", 556, 21), ("3 three fluids", "three_fluids", 394, 56),
         ("4 smoke", "smoke_in_air_3d", 1750, 11), ("5 rabbit", "dissolving_rabbit", 163, 67)]


def run(scene, steps, extra, out):
    """Processor time in s and particles of a run of so many steps."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [SPATE, "run", scene, "-o", out, "--quiet", "--force", "--threads", str(THREADS), "--set",
               f"solver.dt={DT}", "--set", f"duration={steps * DT}", "--set", f"fps={1 / (steps * DT)}",
               "--set", "output.checkpoint=0"] + extra
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(os.path.join(out, "stats.csv")) as f:
        names, last = f.readline().strip().split(","), f.readlines()[-1].strip().split(",")
    time = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time, float(last[names.index("particles")])


def rate(scene, extra, folder):
    """Steps/s of THREADS threads: a long run less a short one, so that the start is left out."""
    short, _ = run(scene, 4, extra, os.path.join(folder, "short"))
    long, count = run(scene, 4 + STEPS, extra, os.path.join(folder, "long"))
    return THREADS * STEPS / (long - short), count


with tempfile.TemporaryDirectory() as folder:
    dam = os.path.join(folder, "dam.yaml")
    with open(dam, "w") as f:
        f.write(DAM)
    print("| case | particles | steps/s | M particle-steps/s | published | ours / published | of one field |")
    print("|---|---|---|---|---|---|---|")
    for name, scene, thousand, published in CASES:
        path = os.path.join(HERE, scene + ".yaml") if scene else dam
        speed, count = rate(path, [], folder)
        one = rate(path, ["--set", "coupling=glued"], folder)[0] if scene else speed
        mine, theirs = speed * count / 1e6, thousand * published / 1e3
        print(f"| {name} | {count:.0f} | {speed:.1f} | {mine:.1f} | {published} steps/s, {theirs:.1f} | "
              f"{mine / theirs:.2f} | {speed / one:.2f} |", flush=True)

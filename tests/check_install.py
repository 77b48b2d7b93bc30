"""Installs into a temporary prefix, moves it, and uses it as someone else's project would."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILER = os.environ.get("CC", "cc")


def run(*words, **more):
    result = subprocess.run([str(w) for w in words], capture_output=True, text=True, **more)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, words))}\nexit {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def only(folder, pattern):
    found = [p for p in sorted(folder.rglob(pattern))]
    if not found:
        sys.exit(f"{pattern} was not installed")
    return found[0]


def check_example(output):
    """A drop that fell for 0.1 s from height 0.7 is g t^2 / 2 = 0.049 lower."""
    match = re.fullmatch(r"(\d+) particles, mean height ([\d.]+)", output.strip())
    if not match or int(match[1]) < 20 or abs(float(match[2]) - 0.651) > 0.005:
        sys.exit(f"the example printed: {output}")


PICTURES = ["spate_compare", "spate_default_render_options", "spate_render"]
SERVER = ["spate_default_serve_options", "spate_serve", "spate_serve_folder"]


def exported(library):
    return [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()]


def check_symbols(prefix):
    names = exported(only(prefix, "libspate.so"))
    strangers = [n for n in names if not n.startswith("spate_") or n in PICTURES + SERVER]
    if strangers or len(names) < 20:
        sys.exit(f"the library should export the public interface only, but has {strangers or names}")
    pictures = sorted(exported(only(prefix, "libspate_pictures.so")))
    if pictures != PICTURES:
        sys.exit(f"the library of pictures should export {PICTURES}, but has {pictures}")
    viewer = list(pathlib.Path(prefix).rglob("libspate_server.so"))
    if viewer and sorted(exported(viewer[0])) != SERVER:
        sys.exit(f"the library of the viewer should export {SERVER}, but has {exported(viewer[0])}")
    if "libpng" in run("ldd", only(prefix, "libspate.so")):
        sys.exit("the engine should do without libpng")


def check_hooks(output):
    """What was saved through hooks and continued is what was not interrupted."""
    match = re.fullmatch(r"checkpoint of (\d+) bytes, state (\w+), continued (\w+)", output.strip())
    if not match or int(match[1]) < 1000 or match[2] != match[3]:
        sys.exit(f"the example in memory printed: {output}")


def numbers(pattern, output):
    match = re.fullmatch(pattern, output.strip())
    if not match:
        sys.exit(f"an example printed: {output}")
    return match.groups()


def check_driven(build, prefix, cwd):
    """The examples of spate/drive.h, and the program in Python."""
    angle, work, energy = map(float, numbers(
        r"turned ([\d.-]+) rad, work ([\d.-]+) J/m, kinetic energy ([\d.-]+) J/m", run(build / "wheel", cwd=cwd)))
    if not (1 < angle < 3.2 and work > energy > 0):
        sys.exit(f"the wheel turned {angle}, worked {work} and left {energy}")
    live, again = numbers(r"state (\w+), again (\w+)", run(build / "stir", cwd=cwd))
    if live != again:
        sys.exit(f"stirred {live}, played again {again}")
    before, after = map(float, numbers(r"mass ([\d.]+) kg/m, with the jelly ([\d.]+)", run(build / "add_body", cwd=cwd)))
    if abs(after - before - 32) > 1:  # 0.2 m x 0.2 m x 800 kg/m^3
        sys.exit(f"the jelly weighs {after - before}")
    height, speed = map(float, numbers(r"the ball is at ([\d.]+) and rises at ([\d.-]+) m/s", run(build / "coupled", cwd=cwd)))
    if not 0.3 < height < 0.9:
        sys.exit(f"the ball is at {height}")
    level, mean = map(float, numbers(r"level ([\d.]+) m, over the last second ([\d.]+) m", run(build / "pump", "pumped", cwd=cwd)))
    if abs(mean - 0.3) > 0.03:
        sys.exit(f"the pump keeps a level of {mean}")
    picture = pathlib.Path(cwd) / "pumped" / "pictures" / "frame_0040.png"
    if not picture.exists():
        sys.exit("the pump's picture is missing")
    check_example(run(sys.executable, ROOT / "examples" / "smallest.py", only(prefix, "libspate.so"), cwd=cwd))


def main():
    with tempfile.TemporaryDirectory() as temporary:
        first, prefix = pathlib.Path(temporary) / "first", pathlib.Path(temporary) / "moved here"
        run("cmake", "--install", os.environ["SPATE_BUILD"], "--prefix", first)
        first.rename(prefix)
        check_symbols(prefix)
        for pattern in ("spate.1", "completions/spate", "scenes/gallery/splash.yaml"):
            only(prefix, pattern)

        command = prefix / "bin" / "spate"
        environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        if "splash" not in run(command, "list", env=environment, cwd=temporary):
            sys.exit("the installed command does not find its scenes")

        build = pathlib.Path(temporary) / "build"
        run("cmake", "-G", "Ninja", "-S", ROOT / "examples", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_C_COMPILER={COMPILER}")
        run("cmake", "--build", build)
        check_example(run(build / "minimal", cwd=temporary))
        check_hooks(run(build / "in_memory", cwd=temporary))
        check_driven(build, prefix, temporary)

        # pkg-config and a path with blanks do not go together: a plain one for this part.
        plain = pathlib.Path(temporary) / "plain"
        shutil.copytree(prefix, plain, symlinks=True)
        library_folder = only(plain, "libspate.so").parent
        environment = dict(os.environ, PKG_CONFIG_PATH=str(library_folder / "pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "spate_pictures", env=environment).split()
        if "-lspate_pictures" not in flags:
            sys.exit(f"pkg-config spate_pictures says {flags}")
        program = pathlib.Path(temporary) / "minimal"
        run(COMPILER, ROOT / "examples" / "minimal.c", "-o", program, *flags)
        check_example(run(program, env=dict(os.environ, LD_LIBRARY_PATH=str(library_folder))))
        print("installed, moved, used by CMake and by pkg-config")


main()

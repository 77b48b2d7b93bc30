"""The rooms of src/ and what may be said in them.

- Includes point one way, along ORDER. src/pictures knows scenes, frames and the folders of runs, never a
  simulation: nothing that it includes, or that is included there, lies in SIMULATION.
- The command uses only the public headers.
- Only src/port makes system calls on files, threads and clocks (and film.c runs ffmpeg).
- The library does not print or exit.
- A solver is known by name only in its own folder and the registry, a material model only below src/solver.
"""
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
ORDER = ["port", "core", "scene", "state", "solver", "surface", "measure", "frames", "run",
         "pictures/draw", "pictures/trace", "pictures", "server"]
SIMULATION = ("state/", "solver/", "surface/", "measure/")
SOLVERS = ["mpm", "flip", "sph", "smoke"]
REGISTRY = "solver/registry.c"

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
SYSTEM_CALLS = re.compile(
    r"(?<![.>])\b(fopen|freopen|open|openat|creat|unlink|rename|mkdir|rmdir|opendir|scandir|fsync|ftruncate|"
    r"truncate|stat|lstat|fstat|access|remove|mkstemp|tmpfile|chdir|realpath|flock|pthread_\w+|"
    r"clock_gettime|gettimeofday|nanosleep|sigaction|signal|sysconf)\s*\(")
FORBIDDEN = re.compile(r"\b(printf|puts|putchar|perror|exit|_exit|abort|setlocale)\s*\(")
SOLVER_WORD = re.compile(r'"(%s)"' % "|".join(SOLVERS))
SOLVER_FOLDER = re.compile(r"solver/(%s)/" % "|".join(SOLVERS))

# What only its own folder knows: solvers and materials by their names, as whole strings.
NAMES = re.compile(r'\.name = "(\w+)"')
WORD = re.compile(r'"(\w+)"')
# Words of other vocabularies that are names of solvers or materials too: interpolations and the like.
SHARED = {"linear"}

problems = []


def complain(path, text, position, message):
    line = text.count("\n", 0, position) + 1
    problems.append(f"{path.relative_to(ROOT)}:{line}: {message}")


def blank(match):
    """Comments and strings as spaces, so that line numbers stay."""
    return re.sub(r"[^\n]", " ", match.group(0))


def room(name):
    """The place in ORDER of a path below src/; the longest name counts."""
    fitting = [r for r in ORDER if name.startswith(r + "/")]
    return ORDER.index(max(fitting, key=len)) if fitting else -1


@functools.cache
def reached(name):
    """Everything of src/ that a file includes, and what that includes."""
    found = {name}
    for match in INCLUDE.finditer((SRC / name).read_text()):
        if match.group(1) == '"' and (SRC / match.group(2)).exists():
            found |= reached(match.group(2))
    return found


def check_includes(path, name, text):
    for match in INCLUDE.finditer(text):
        kind, target = match.groups()
        if kind == "<":
            continue
        if not (SRC / target).exists():
            complain(path, text, match.start(), f'"{target}" is not a path below src/')
        elif room(target) > room(name):
            complain(path, text, match.start(), f"{ORDER[room(name)]}/ must not include {target}")
        elif name.startswith("pictures/"):
            for other in sorted(reached(target)):
                if other.startswith(SIMULATION):
                    complain(path, text, match.start(), f"pictures know no simulation, but {target} leads to {other}")


def check_solver_names(path, name, text):
    own = SOLVER_FOLDER.match(name)
    if name == REGISTRY:
        return
    code = COMMENT.sub(blank, text)
    # A solver's own schemes may have such names, as mpm's flip.
    words = [] if own else SOLVER_WORD.finditer(code)
    for match in [*words, *SOLVER_FOLDER.finditer(code)]:
        if not own or match.group(1) != own.group(1):
            complain(path, text, match.start(), f"the solver {match.group(1)} is known by name outside its folder")


def check_source(path):
    text = path.read_text()
    name = path.relative_to(SRC).as_posix()
    if room(name) < 0:
        complain(path, text, 0, "is in no room of ORDER")
        return
    check_includes(path, name, text)
    check_solver_names(path, name, text)
    code = STRING.sub(blank, COMMENT.sub(blank, text))
    if not name.startswith("port/"):
        for match in SYSTEM_CALLS.finditer(code):
            complain(path, text, match.start(), f"{match.group(1)}() belongs into src/port")
    for match in FORBIDDEN.finditer(code):
        complain(path, text, match.start(), f"a library does not call {match.group(1)}()")


def declared_names():
    """Names of solvers (src/solver/NAME/NAME.c) and of material models."""
    files = [p for p in (SRC / "solver").glob("*/*.c")
             if p.stem == p.parent.name or p.parent.name == "materials"]
    return {n for p in files for n in NAMES.findall(p.read_text())} - SHARED


def check_names(path, names):
    """A solver or material is known by its name only below src/solver."""
    text = path.read_text()
    for match in WORD.finditer(text):
        if match.group(1) in names:
            complain(path, text, match.start(), f'"{match.group(1)}" is a name that only src/solver knows')


def check_command(path):
    text = path.read_text()
    for match in INCLUDE.finditer(text):
        kind, target = match.groups()
        ours_outside = kind == '"' and not (ROOT / "cli" / target).exists()
        inside = kind == "<" and target.startswith("spate/") and target not in ("spate/spate.h", "spate/serve.h")
        if ours_outside or inside or (kind == "<" and (SRC / target).exists()):
            complain(path, text, match.start(), f"the command may only include <spate/spate.h> and <spate/serve.h>, not {target}")


def main():
    sources = sorted(SRC.rglob("*.[ch]"))
    names = declared_names()
    for path in sources:
        check_source(path)
        if path.relative_to(SRC).parts[0] != "solver":
            check_names(path, names)
    for path in sorted((ROOT / "cli").glob("*.[ch]")):
        check_command(path)
    print("\n".join(problems) or f"{len(sources)} sources: includes point one way")
    return 1 if problems or not sources else 0


sys.exit(main())

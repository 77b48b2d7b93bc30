"""Includes point one way: core <- scene <- state <- solver <- output <- cli.

Also: the command uses only the public header; only core/file.c makes system calls on files; the
library does not print or exit; solvers and materials are known by name only below src/solver, and
solvers include one another's headers nowhere.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ORDER = ["core", "scene", "state", "solver", "surface", "output", "server"]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.S)
FILE_CALLS = re.compile(
    r"\b(fopen|freopen|open|openat|creat|unlink|rename|mkdir|rmdir|opendir|scandir|fsync|ftruncate|"
    r"truncate|stat|lstat|fstat|access|remove|mkstemp|tmpfile|chdir|realpath)\s*\(")
FORBIDDEN = re.compile(r"\b(printf|puts|putchar|perror|exit|_exit|abort|setlocale)\s*\(")

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


def check_source(path):
    text = path.read_text()
    code = COMMENT.sub(blank, text)
    layer = path.relative_to(ROOT / "src").parts[0]
    for match in INCLUDE.finditer(text):
        if match.group(1) == "<":
            continue
        target = match.group(2)
        if not (ROOT / "src" / target).exists():
            complain(path, text, match.start(), f'"{target}" is not a path below src/')
            continue
        other = target.split("/")[0]
        if ORDER.index(other) > ORDER.index(layer):
            complain(path, text, match.start(), f"{layer}/ must not include {target}")
    if path.relative_to(ROOT / "src").as_posix() != "core/file.c":
        for match in FILE_CALLS.finditer(code):
            complain(path, text, match.start(), f"{match.group(1)}() belongs into core/file.c")
    for match in FORBIDDEN.finditer(code):
        complain(path, text, match.start(), f"a library does not call {match.group(1)}()")


def declared_names():
    """Names of solvers (src/solver/NAME/NAME.c) and of material models."""
    files = [p for p in (ROOT / "src/solver").glob("*/*.c")
             if p.stem == p.parent.name or p.parent.name == "materials"]
    return {n for p in files for n in NAMES.findall(p.read_text())} - SHARED


def check_names(path, names):
    """A solver or material is known by its name only below src/solver."""
    text = path.read_text()
    for match in WORD.finditer(text):
        if match.group(1) in names:
            complain(path, text, match.start(), f'"{match.group(1)}" is a name that only src/solver knows')


def check_solver_includes(path):
    """A solver's folder is included by itself and the registry alone; pressure/ and materials/ are shared."""
    text = path.read_text()
    parts = path.relative_to(ROOT / "src").parts
    own = parts[1] if parts[0] == "solver" and len(parts) > 2 else None
    for match in INCLUDE.finditer(text):
        target = match.group(2).split("/")
        if len(target) < 3 or target[0] != "solver" or target[1] in ("materials", "pressure", own):
            continue
        if parts != ("solver", "registry.c"):
            complain(path, text, match.start(), f"only the registry includes {match.group(2)}")


def check_command(path):
    text = path.read_text()
    for match in INCLUDE.finditer(text):
        kind, target = match.groups()
        ours_outside = kind == '"' and not (ROOT / "cli" / target).exists()
        inside = kind == "<" and target.startswith("spate/") and target != "spate/spate.h"
        if ours_outside or inside or (kind == "<" and (ROOT / "src" / target).exists()):
            complain(path, text, match.start(), f"the command may only include <spate/spate.h>, not {target}")


def main():
    sources = sorted((ROOT / "src").rglob("*.[ch]"))
    names = declared_names()
    for path in sources:
        check_source(path)
        check_solver_includes(path)
        if path.relative_to(ROOT / "src").parts[0] != "solver":
            check_names(path, names)
    for path in sorted((ROOT / "cli").glob("*.[ch]")):
        check_command(path)
    print("\n".join(problems) or f"{len(sources)} sources: includes point one way")
    return 1 if problems or not sources else 0


sys.exit(main())

"""Includes point one way: core <- scene <- state <- solver <- output <- cli.

Also: the command uses only the public header; only core/file.c makes system calls on files; the
library does not print or exit; a solver is known by name only in its own folder and the registry.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ORDER = ["core", "scene", "state", "solver", "surface", "measure", "frames", "run", "pictures", "server"]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.S)
FILE_CALLS = re.compile(
    r"\b(fopen|freopen|open|openat|creat|unlink|rename|mkdir|rmdir|opendir|scandir|fsync|ftruncate|"
    r"truncate|stat|lstat|fstat|access|remove|mkstemp|tmpfile|chdir|realpath)\s*\(")
FORBIDDEN = re.compile(r"\b(printf|puts|putchar|perror|exit|_exit|abort|setlocale)\s*\(")

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
    for path in sources:
        check_source(path)
    for path in sorted((ROOT / "cli").glob("*.[ch]")):
        check_command(path)
    print("\n".join(problems) or f"{len(sources)} sources: includes point one way")
    return 1 if problems or not sources else 0


sys.exit(main())

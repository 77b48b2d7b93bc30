"""docs/scene.md is what `spate docs` prints; the man page and completion know every option."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = os.environ["SPATE_COMMAND"]


def output(*words):
    return subprocess.run([COMMAND, *words], check=True, capture_output=True, text=True).stdout


def main():
    problems = []
    reference = ROOT / "docs" / "scene.md"
    if not reference.exists() or reference.read_text() != output("docs"):
        problems.append("docs/scene.md is not what `spate docs` prints: build/release/spate docs > docs/scene.md")
    manual = (ROOT / "docs" / "spate.1").read_text().replace("\\-", "-")
    completion = (ROOT / "tools" / "spate.bash").read_text()
    commands = re.findall(r"^  (\w+) ", output("--help").split("usage")[1].split("First steps")[0], re.M)
    for command in commands:
        for name, text in (("docs/spate.1", manual), ("tools/spate.bash", completion)):
            for option in [command, *re.findall(r"--[a-z-]+", output("help", command).split("Options:")[1])]:
                if not re.search(re.escape(option) + r"(?![a-z-])", text):
                    problems.append(f"{name} does not know `spate {command}`: {option}")
    print("\n".join(problems) or f"{len(commands)} commands documented")
    return 1 if problems or len(commands) < 8 else 0


sys.exit(main())

/*
 * Native and WebAssembly compute the same bits: one scene of each solver by `SPATE_ISA=generic spate
 * run` and by spate.wasm in node. node tests/hashes.mjs SPATE WASM, from web/. The negative control is
 * a scene with another seed, whose hash must differ.
 */
import { buildSync } from "esbuild";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [spate, wasm] = process.argv.slice(2);
const SCENES = [["hash"], ["hash_flip"], ["hash_sph", "duration=0.02"], ["hash_smoke"], ["hash", "seed=12"]];
const folder = mkdtempSync(join(tmpdir(), "spate-web-"));

function native(name, sets) {
  const words = ["run", `../tests/cli/scenes/${name}.yaml`, "-o", join(folder, "run"), "--force", "--json", "--quiet"];
  const out = execFileSync(spate, [...words, ...sets.flatMap((s) => ["--set", s])],
    { env: { ...process.env, SPATE_ISA: "generic" }, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return /"state_hash": "([0-9a-f]+)"/.exec(out)[1];
}

try {
  const program = join(folder, "hashes.mjs");
  buildSync({ entryPoints: ["tests/hashes.ts"], bundle: true, platform: "node", format: "esm", outfile: program });
  const words = SCENES.map(([name, ...sets]) => [`../tests/cli/scenes/${name}.yaml`, ...sets].join(":"));
  const lines = execFileSync(process.execPath, [program, wasm, ...words], { encoding: "utf8" }).trim().split("\n");
  const here = lines.map((l) => l.split(" ")[1]);
  let failed = here[0] === here[4] ? "another seed gives the same hash\n" : "";
  SCENES.forEach(([name, ...sets], i) => {
    const there = native(name, sets);
    if (there !== here[i]) failed += `${name}: native ${there}, WebAssembly ${here[i]}\n`;
  });
  process.stdout.write(failed);
  process.exitCode = failed ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true });
}

/*
 * Memory does not grow: node tests/memory.mjs WASM [MINUTES], from web/; without MINUTES six rounds.
 * The control keeps every frame, and must be found out.
 */
import { buildSync } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [wasm, minutes] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "spate-memory-"));
const program = join(folder, "memory.mjs");
const play = (words, env = {}) => spawnSync(process.execPath, ["--expose-gc", program, wasm, ...words],
  { encoding: "utf8", env: { ...process.env, ...env } });

try {
  buildSync({ entryPoints: ["tests/memory.ts"], bundle: true, platform: "node", format: "esm", outfile: program });
  const played = play(minutes ? [minutes] : ["60", "6"]);
  const control = play(["60", "6"], { LEAK: "1" });
  if (minutes || played.status) process.stdout.write(played.stdout + played.stderr);
  if (!control.status) console.log(`kept frames are not found out: ${control.stdout}`);
  process.exitCode = played.status || !control.status ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true });
}

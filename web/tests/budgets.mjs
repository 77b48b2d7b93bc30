/*
 * What the playground costs in headless Chromium, as docs/performance.md has it: node
 * tests/budgets.mjs, from web/, after the page was built. Times are of steps in the worker, pictures
 * aside, once its code is optimised: by the clock, from a machine that has nothing else to do; and of
 * the processor, which other work disturbs less (Linux).
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { serve } from "../serve.mjs";
import { launch } from "./browser.mjs";

const SCENES = {
  "FLIP 2D, 20,000 particles": `spate: 1
name: flip
dimension: 2
domain: {size: [1, 1], dx: 0.0078125}
fps: 60
solver: {type: flip, cfl: 3}
materials: {water: {model: liquid, density: 1000}}
bodies: [{material: water, shape: {box: {min: [0, 0], max: [0.5, 0.61]}}}]`,
  "MPM 2D, 40,000 particles": `spate: 1
name: mpm
dimension: 2
domain: {size: [1, 1], dx: 0.005}
fps: 60
solver: {type: mpm}
materials: {water: {model: liquid, density: 1000, bulk_modulus: 1.0e5}}
bodies: [{material: water, shape: {box: {min: [0, 0], max: [0.5, 0.5]}}}]`,
  "MPM 3D, 100,000 particles": `spate: 1
name: mpm 3D
dimension: 3
domain: {size: [1, 1, 1], dx: 0.02}
fps: 60
solver: {type: mpm}
materials: {water: {model: liquid, density: 1000, bulk_modulus: 1.0e5}}
bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.5, 0.5, 0.4]}}}]`,
};

function size(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, f) => sum + (f.isDirectory()
    ? size(join(folder, f.name)) : gzipSync(readFileSync(join(folder, f.name)), { level: 9 }).length), 0);
}

/* Milliseconds of processor time that workers of pages have taken. */
function processorTime() {
  let sum = 0;
  for (const process of readdirSync("/proc").filter((p) => /^\d+$/.test(p)))
    try {
      if (!readFileSync(`/proc/${process}/cmdline`, "utf8").includes("type=renderer")) continue;
      for (const task of readdirSync(`/proc/${process}/task`).map((t) => `/proc/${process}/task/${t}`))
        if (readFileSync(`${task}/comm`, "utf8").startsWith("DedicatedWorker"))
          sum += Number(readFileSync(`${task}/schedstat`, "utf8").split(" ")[0]) / 1e6;
    } catch { /* it has ended */ }
  return sum;
}

/* Frames before the measured ones, and the last of those: of FLIP the dam's whole fall and splash. */
const WARM = 8, LAST = { "FLIP 2D, 20,000 particles": 90 }, LAST_OF_OTHERS = 16, ROUNDS = 3;

const server = await serve("dist", 0);
const browser = await launch();
try {
  console.log(`page, gzipped: ${(size("dist") / 1e6).toFixed(2)} MB`);
  const page = await browser.newPage({ viewport: { width: 640, height: 480 } });
  const begin = Date.now();
  await page.goto(server.address, { waitUntil: "commit" });
  await page.waitForFunction(() => window.spate?.main, null, { polling: 10 });
  await page.evaluate(() => spate.main.drawn);
  console.log(`first picture after ${((Date.now() - begin) / 1000).toFixed(2)} s`);
  const runTo = (k) => page.evaluate((t) => spate.main.runTo(t).then(({ steps, spent, particles }) => ({ steps, spent, particles })), k / 60);
  for (const [name, text] of Object.entries(SCENES)) {
    const end = LAST[name] ?? LAST_OF_OTHERS, frames = end - WARM, best = new Array(end).fill(Infinity);
    let steps = 0, spent = 0, taken = 0, particles = 0;
    for (let round = 0; round < ROUNDS; round++) {
      await page.evaluate((t) => spate.open(t, []), text);
      let last = await runTo(WARM);
      for (let k = WARM; k < end; k++) {
        const before = processorTime(), frame = await runTo(k + 1), own = processorTime() - before;
        best[k] = Math.min(best[k], own);
        steps += frame.steps - last.steps, spent += frame.spent, taken += own, particles = frame.particles;
        last = frame;
      }
    }
    const least = best.reduce((sum, t) => sum + (t < Infinity ? t : 0), 0), real = (1000 / 60) * frames;
    console.log(`${name}: ${particles} particles, ${(steps / ROUNDS / frames).toFixed(1)} steps a frame; `
      + `ms a step: ${(spent / steps).toFixed(2)} by the clock, ${(taken / steps).toFixed(2)} of the processor, `
      + `${((least * ROUNDS) / steps).toFixed(2)} each frame's best of ${ROUNDS}; of real time: `
      + `${((real * ROUNDS) / spent).toFixed(2)}, ${((real * ROUNDS) / taken).toFixed(2)}, ${(real / least).toFixed(2)}`);
  }
} finally {
  await browser.close();
  server.close();
}

/*
 * What the playground costs in headless Chromium, as docs/performance.md has it: node
 * tests/budgets.mjs, from web/, after the page was built. Times are of steps in the worker, pictures
 * aside; take them from a machine that has nothing else to do.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { serve } from "../serve.mjs";

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

const server = await serve("dist", 0);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
try {
  console.log(`page, gzipped: ${(size("dist") / 1e6).toFixed(2)} MB`);
  const page = await browser.newPage({ viewport: { width: 640, height: 480 } });
  const begin = Date.now();
  await page.goto(server.address);
  await page.waitForFunction(() => window.spate?.main?.frame, null, { polling: 20 });
  console.log(`first frame after ${((Date.now() - begin) / 1000).toFixed(2)} s`);
  for (const [name, text] of Object.entries(SCENES)) {
    const r = await page.evaluate(async (scene) => {
      await spate.open(scene, []);
      const first = await spate.main.runTo(1 / 60);
      let spent = 0, frame = first, best = Infinity;
      for (let k = 2; k <= 16; k++) {
        const before = frame.steps;
        frame = await spate.main.runTo(k / 60);
        spent += frame.spent;
        best = Math.min(best, frame.spent / (frame.steps - before));
      }
      return { particles: frame.particles, steps: frame.steps - first.steps, spent, best, time: 15 / 60 };
    }, text);
    console.log(`${name}: ${r.particles} particles, ${(r.spent / r.steps).toFixed(2)} ms a step (best frame ${r.best.toFixed(2)}), `
      + `${(r.steps / 15).toFixed(1)} steps a frame, ${((r.time * 1000) / r.spent).toFixed(2)} of real time`);
  }
} finally {
  await browser.close();
  server.close();
}

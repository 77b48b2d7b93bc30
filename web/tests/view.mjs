/*
 * `spate view` as a visitor meets it, in headless Chromium: a live run that is poured into, paused,
 * stepped, picked from and saved, and a folder along its time line. node tests/view.mjs SPATE, from
 * web/. Compares particle counts and state hashes, not pixels. SHOTS=FOLDER keeps screenshots.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "./browser.mjs";

const spate = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), "spate-view-"));
const browser = await launch();

const POOL = `spate: 1
name: pool
dimension: 2
domain: {size: [1, 1], dx: 0.05}
duration: 1
fps: 20
solver: {type: flip}
materials: {water: {model: liquid, density: 1000}}
bodies: [{name: pool, material: water, shape: {box: {min: [0, 0], max: [1, 0.4]}}}]
output: {checkpoint: 0}
`;

const CLOTH = `spate: 1
name: cloth
dimension: 3
domain: {size: [1, 1, 1], dx: 0.125}
duration: 1
fps: 20
solver: {type: mpm}
materials: {cotton: {model: neo_hookean, density: 300, young_modulus: 1.0e4, poisson: 0.3}}
bodies:
  - {name: cloth, material: cotton, cloth: {corner: [0.3, 0.5, 0.3], along: [0.5, 0, 0], across: [0, 0, 0.5], spacing: 0.1, thickness: 0.002}}
  - {name: hair, material: cotton, strands: {root: [0.3, 0.9, 0.5], direction: [0, -0.2, 0], row: [0.2, 0, 0], count: 3, spacing: 0.05, radius: 0.01}}
output: {checkpoint: 0}
`;

function file(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
/* What `spate run` says at the end, as JSON. */
function run(scene, ...words) {
  const out = execFileSync(spate, ["run", scene, "--force", "--json", "--quiet", "--threads", "1", ...words],
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return JSON.parse(out.trim().split("\n").pop());
}

/* The viewer's server; use(page) with its page. Messages of the server are in page.said, by kind. */
async function view(words, use, options = {}) {
  const server = spawn(spate, ["view", "--no-open", "--threads", "1", ...words], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  try {
    const address = await new Promise((resolve, reject) => {
      server.stdout.once("data", (d) => resolve(String(d).split("\n")[0]));
      ended.then(() => reject(new Error("spate view ended")));
    });
    const page = await browser.newPage({ viewport: { width: 800, height: 560 }, ...options });
    const troubles = [];
    page.setDefaultTimeout(120000);
    page.said = {};
    page.on("pageerror", (e) => troubles.push(e.message));
    page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => {
      if (typeof payload !== "string") return;
      const message = JSON.parse(payload);
      page.said[message.kind] = message;
    }));
    await page.goto(address, { waitUntil: "commit" });
    await page.waitForFunction(() => document.body.dataset.frames > 0);
    await use(page).catch(async (e) => {
      await shot(page, "view_failed");
      throw e;
    });
    assert.deepEqual(troubles, []);
    await page.close();
  } finally {
    server.kill("SIGTERM");
    await ended;
  }
}

const text = (page, id) => page.locator(id).textContent();
const particles = async (page) => parseInt(await text(page, "#facts"));
const clock = async (page) => parseFloat(await text(page, "#clock"));
/* Until a text of the page passes a test of its number. */
const until = (page, id, test, than) => page.waitForFunction(
  ([i, t, n]) => ((x) => (t === ">" ? x > n : t === "=" ? x === n : x < n))(parseFloat(document.querySelector(i).textContent)), [id, test, than]);
/* A pixel for a place in the unit square, as camera.js fits it between tools and panel. */
async function pixel(page, x, y) {
  const { width, height } = page.viewportSize(), insets = width > 720 ? [96, 312] : [0, 0];
  const side = Math.min(height, width - insets[0] - insets[1]) / 1.12, middle = (width + insets[0] - insets[1]) / 2;
  return [middle + (x - 0.5) * side, height / 2 - (y - 0.5) * side];
}
async function shot(page, name) {
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`) });
}
async function said(page, kind) {
  for (let i = 0; i < 500 && !page.said[kind]; i++) await new Promise((resolve) => setTimeout(resolve, 20));
  return page.said[kind];
}

const tests = {
  async "live: poured into, paused, stepped, picked from, and played again"() {
    await view([file("pool.yaml", POOL), "--paused"], async (page) => {
      const before = await particles(page);
      assert.ok(before > 500);
      assert.equal(await clock(page), 0);
      /* Poured while it is stepped, so that nothing depends on how fast this machine is. */
      await page.click("[data-tool=pour]");
      await page.mouse.move(...(await pixel(page, 0.5, 0.8)));
      await page.mouse.down();
      for (let steps = 1; (await particles(page)) < before + 20; steps++) {
        assert.ok(steps < 60, "pouring adds nothing");
        const stood = await clock(page);
        await page.keyboard.press(".");
        await until(page, "#clock", ">", stood);
      }
      await page.mouse.up();
      await shot(page, "view_poured");

      await page.click("[data-tool=pick]");
      await page.mouse.click(...(await pixel(page, 0.3, 0.2)));
      await page.waitForSelector("#picked:not([hidden])");
      const { id, values } = await said(page, "picked");
      assert.equal(await text(page, "#picked h2"), `Particle ${id}`);
      assert.ok(Math.hypot(values.P[0] - 0.3, values.P[1] - 0.2) < 0.05, `picked ${values.P}`);

      const says = (words) => page.waitForFunction((w) => document.querySelector("#facts").textContent.includes(w), words);
      await page.selectOption("#speed", "0.1");
      await page.click("#play");
      await says("steps/s");
      await page.click("#play");
      await says("paused");
      await page.selectOption("#speed", "0");
      await page.click("#play");
      await until(page, "#clock", "=", 1);
      await page.click("#save");
      const saved = await said(page, "recording"), out = join(folder, "again");
      const again = run(file("saved.yaml", saved.scene), "-o", out);
      assert.equal(again.state_hash, saved.hash);
      assert.equal(again.particles, await particles(page));
      assert.notEqual(run(join(folder, "pool.yaml"), "-o", out).state_hash, saved.hash);
    });
  },

  async "cloth and strands are drawn, live"() {
    await view([file("cloth.yaml", CLOTH), "--paused"], async (page) => {
      await page.keyboard.press(".");
      await until(page, "#clock", ">", 0);
      assert.equal(await particles(page), 36 + 3 * 5);
      await shot(page, "view_cloth");
      /* Drawn as particles it is another picture: the shaders of meshes have drawn. */
      const pixels = async () => {
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        return (await page.screenshot({ clip: { x: 100, y: 80, width: 280, height: 200 } })).toString("base64");
      };
      const meshes = await pixels();
      const draw = (how) => page.locator("#draw").evaluate((e, v) => ((e.value = v), e.dispatchEvent(new Event("change"))), how);
      await draw("particles");
      assert.ok((await pixels()) !== meshes);
      await draw("auto");
      assert.ok((await pixels()) === meshes);
    }, { viewport: { width: 480, height: 360 } });
  },

  async "a folder along its time line, on a phone"() {
    const out = join(folder, "run"), all = run(file("short.yaml", POOL), "-o", out, "--set", "duration=0.3");
    await view([out], async (page) => {
      assert.equal(await particles(page), all.particles);
      assert.equal(await page.locator("#time").getAttribute("max"), String(all.frames));
      await page.keyboard.press("ArrowRight");
      await until(page, "#clock", "=", 0.05);
      await page.locator("#time").evaluate((e) => ((e.value = e.max), e.dispatchEvent(new Event("input"))));
      await until(page, "#clock", "=", 0.3);
      assert.ok(await page.locator("[data-tool=pour]").isHidden());
      await shot(page, "view_folder");
    }, { viewport: { width: 390, height: 780 } });
  },
};

let passed = 0, failed = 0;
try {
  for (const [name, test] of Object.entries(tests)) {
    if (!name.includes(process.env.ONLY ?? "")) continue;
    try {
      await test();
      passed++;
    } catch (e) {
      failed++;
      console.log(`${name}: ${e.stack}`);
    }
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;

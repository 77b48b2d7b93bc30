/*
 * The playground as a visitor meets it, in headless Chromium: node tests/page.mjs SPATE, from web/,
 * after the page was built. Compares particle counts and state hashes, not pixels. SHOTS=FOLDER keeps
 * screenshots; ONLY=WORD runs the tests whose names have it.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "../serve.mjs";
import { launch } from "./browser.mjs";

const spate = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), "spate-page-"));
const server = await serve("dist", 0);
const browser = await launch();

/* A dam that is quick to compute. */
const DAM = `spate: 1
name: small dam
dimension: 2
domain: {size: [1, 1], dx: 0.04}
fps: 60
solver: {type: flip}
materials: {water: {model: liquid, density: 1000, bulk_modulus: 2.0e4}}
bodies: [{name: dam, material: water, shape: {box: {min: [0, 0], max: [1, 0.3]}}}]
`;

async function open(path = "", options = {}) {
  const page = await browser.newPage({ viewport: { width: 1100, height: 760 }, ...options });
  page.troubles = [];
  page.on("pageerror", (e) => page.troubles.push(e.message));
  await page.goto(server.address + path);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", null, { timeout: 30000 });
  return page;
}

const load = (page, text, sets = []) => page.evaluate(([t, s]) => spate.open(t, s), [text, sets]);
const particles = (page) => page.evaluate(() => spate.main.frame.particles);
const runTo = (page, time) => page.evaluate((t) => spate.main.runTo(t).then((f) => f.time), time);
const highest = (page) => page.evaluate(() => {
  const x = spate.main.frame.positions;
  let top = 0;
  for (let i = 1; i < x.length; i += 3) top = Math.max(top, x[i]);
  return top;
});
/* A pixel of the picture for a place in the domain, both 0 to 1. */
async function pixel(page, x, y) {
  const box = await page.locator(".pane canvas").first().boundingBox();
  const side = 0.96 * Math.min(box.width, box.height);
  return [box.x + box.width / 2 + (x - 0.5) * side, box.y + box.height / 2 - (y - 0.5) * side];
}
async function shot(page, name) {
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`) });
}

const tests = {
  async "opens with a scene that moves, drawn by WebGL"(page) {
    assert.equal(await page.evaluate(() => spate.main.paints), "webgl");
    await page.waitForFunction(() => spate.main.frame?.time > 0.02);
    assert.ok((await particles(page)) > 10000);
    await shot(page, "desktop");
  },

  async "pouring adds particles, and stops"(page) {
    await load(page, DAM);
    const before = await page.waitForFunction(() => spate.main.frame?.particles).then((h) => h.jsonValue());
    await page.click('[data-tool="pour"]');
    await page.mouse.move(...(await pixel(page, 0.5, 0.75)));
    await page.mouse.down();
    await page.waitForFunction((n) => spate.main.frame.particles > n + 20, before);
    await page.mouse.up();
    await page.evaluate(() => spate.hand.do());
    await page.waitForFunction(() => spate.main.portrait.sources.length === 0);
  },

  async "stirring upwards lets particles rise"(page) {
    await load(page, DAM);
    await runTo(page, 0.1);
    const before = await highest(page);
    await page.click('[data-tool="stir"]');
    await page.evaluate(() => spate.setPlaying(true));
    await page.mouse.move(...(await pixel(page, 0.5, 0.1)));
    await page.mouse.down();
    for (let i = 1; i <= 12; i++) {
      await page.mouse.move(...(await pixel(page, 0.5, 0.1 + 0.05 * i)));
      await page.waitForTimeout(25);
    }
    await page.mouse.up();
    await page.waitForFunction((y) => {
      const x = spate.main.frame.positions;
      for (let i = 1; i < x.length; i += 3) if (x[i] > y + 0.05) return true;
      return false;
    }, before, { timeout: 15000 });
  },

  async "what was played is an exported scene that spate run repeats, bit for bit"(page) {
    const time = await page.evaluate(() => spate.main.frame.time);
    const end = (Math.floor(time * 60) + 3) / 60;
    await runTo(page, end);
    const here = await page.evaluate(() => spate.main.source.hash());
    const text = await page.evaluate(() => spate.recordedScene());
    assert.match(text, /mouse/);
    const file = join(folder, "played.yaml");
    writeFileSync(file, text);
    const run = (...more) => /"state_hash": "([0-9a-f]+)"/.exec(execFileSync(spate,
      ["run", file, "-o", join(folder, "run"), "--force", "--json", "--quiet", ...more],
      { env: { ...process.env, SPATE_ISA: "generic" }, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }))[1];
    assert.equal(run(), here);
    assert.notEqual(run("--set", "seed=5", "--set", "bodies.0.sampling=jittered"), here);
  },

  async "a link holds the scene and what was done"(page) {
    await page.click("#share");
    await page.waitForFunction(() => location.hash.startsWith("#s="));
    const hash = await page.evaluate(() => location.hash);
    const other = await open(hash);
    assert.equal(await other.evaluate(() => spate.main.portrait.name), "small dam");
    assert.ok((await other.evaluate(() => spate.main.portrait.events)) > 0);
    assert.deepEqual(other.troubles, []);
    await other.close();
    const damaged = await open("#s=AAAA");
    assert.equal(await damaged.evaluate(() => spate.main.portrait.name), "Splash");
    await damaged.close();
  },

  async "tools: ball, blast, pull, wall and erase, tilt"(page) {
    await load(page, DAM);
    await runTo(page, 0.02);
    const before = await particles(page);
    const click = async (tool, x, y) => {
      await page.click(`[data-tool="${tool}"]`);
      await page.mouse.click(...(await pixel(page, x, y)));
      await page.evaluate(() => spate.hand.do());
    };
    await click("ball", 0.5, 0.8);
    await runTo(page, 0.04);
    assert.ok((await particles(page)) > before);
    await click("blast", 0.5, 0.1);
    await click("pull", 0.5, 0.2);
    await page.click('[data-tool="wall"]');
    await page.mouse.move(...(await pixel(page, 0.2, 0.6)));
    await page.mouse.down();
    for (const x of [0.3, 0.4, 0.5]) await page.mouse.move(...(await pixel(page, x, 0.55)));
    await page.mouse.up();
    await page.evaluate(() => spate.hand.do());
    assert.equal(await page.evaluate(() => spate.main.portrait.colliders.length), 1);
    await click("erase", 0.3, 0.57);
    assert.equal(await page.evaluate(() => spate.main.portrait.colliders.length), 0);
    await page.evaluate(() => spate.hand.tilt(1, 1));
    await runTo(page, 0.1);
    assert.match(await page.evaluate(() => spate.recordedScene()), /tilt/);
  },

  async "another solver, and two side by side"(page) {
    await load(page, DAM);
    await page.click('[data-tab="sliders"]');
    await page.selectOption("#solver", "solver.type=mpm");
    await page.waitForFunction(() => spate.main.portrait.solver === "mpm");
    await page.waitForFunction(() => spate.main.frame?.time > 0);
    await page.selectOption("#compare", "solver.integrator=apic");
    await page.waitForFunction(() => spate.panes.length === 2 && spate.panes[1].frame?.time > 0);
    assert.equal(await page.evaluate(() => spate.panes[1].portrait.options.integrator), "apic");
    await page.selectOption("#color", "v");
    await page.waitForFunction(() => !document.getElementById("legend").hidden);
    await shot(page, "compare");
    await page.evaluate(() => spate.compareWith(null));
  },

  async "cloth and strands are drawn as what they are"(page) {
    for (const [name, triangles, segments] of [["Cloth", true, false], ["Grass", false, true]]) {
      await page.click('[data-tab="gallery"]');
      await page.click(`[data-scene="${name.toLowerCase()}"]`);
      await page.waitForFunction((n) => spate.main.portrait.name === n && spate.main.links, name);
      const links = await page.evaluate(() => {
        const { links, frame: { positions } } = spate.main, ends = [...links.triangles, ...links.segments];
        return { triangles: links.triangles.length, segments: links.segments.length, last: Math.max(...ends),
          vertices: new Set(ends).size, loose: links.loose.length, particles: positions.length / 3 };
      });
      assert.deepEqual([links.triangles > 0, links.segments > 0], [triangles, segments]);
      assert.ok(links.last < links.particles);
      assert.equal(links.vertices + links.loose, links.particles);
      await runTo(page, 0.1);
      await shot(page, name.toLowerCase());
    }
    /* What is poured is no cloth: the links stay where they are, and new particles are loose. */
    const before = await particles(page);
    await page.evaluate(() => spate.hand.do({ do: "add", yaml: "materials: {sand: {model: sand, density: 1500, young_modulus: 1.0e5, "
      + "poisson: 0.3}}\nbodies: [{material: sand, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.06}}}]" }));
    await runTo(page, 0.15);
    const after = await page.evaluate(() => ({ loose: spate.main.links.loose.length, n: spate.main.frame.particles }));
    assert.ok(after.n > before);
    assert.equal(after.loose, after.n - before);
  },

  async "a wrong scene is marked at its line, and the old one goes on"(page) {
    await load(page, DAM);
    assert.equal(await load(page, DAM.replace("density", "densty")), false);
    await page.waitForSelector(".cm-lint-marker-error");
    assert.match(await page.textContent("#toasts"), /line 7.*densty/);
    await page.waitForFunction(() => spate.main.frame?.time > 0);
  },

  async "a scene that is too large says so with numbers, and has a quick variant"(page) {
    assert.equal(await load(page, DAM.replace("0.04", "0.0008")), false);
    assert.match(await page.textContent("#trouble"), /\d,\d{3} particles and needs about [\d,]+ MB/);
    assert.equal(await page.locator("#trouble button").count(), 1);
  },

  async "sliders change the running scene"(page) {
    await load(page, DAM);
    await page.evaluate(() => spate.hand.do({ do: "set", set: "materials.water.viscosity=2" }));
    assert.equal(await page.evaluate(() => spate.main.portrait.materials[0].values.viscosity), 2);
  },

  async "a worker that stops leaves the text, and starts again"(page) {
    await load(page, DAM);
    await page.evaluate(() => spate.main.source.close());
    await page.waitForSelector("#trouble:not([hidden])");
    await page.click("#trouble button");
    await page.waitForFunction(() => spate.main.frame?.time > 0.02);
  },
};

const apart = {
  async "a phone: touch pours"() {
    const page = await open("", { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
    await load(page, DAM);
    const before = await page.waitForFunction(() => spate.main.frame?.particles).then((h) => h.jsonValue());
    await shot(page, "phone");
    const [x, y] = await pixel(page, 0.5, 0.7);
    await page.touchscreen.tap(x, y);
    await page.evaluate(() => spate.hand.do());
    await page.evaluate((t) => spate.main.runTo(t), 0.2);
    assert.match(await page.evaluate(() => spate.recordedScene()), /pour/);
    assert.ok((await particles(page)) >= before);
    await page.close();
  },

  async "without WebGL there is a plain canvas"() {
    const page = await open("?canvas&scene=smoke");
    assert.equal(await page.evaluate(() => spate.main.paints), "canvas");
    await page.waitForFunction(() => spate.main.frame?.time > 0);
    assert.deepEqual(page.troubles, []);
    await page.close();
  },

  async "explain: every method shows its stages"() {
    const page = await browser.newPage({ viewport: { width: 1100, height: 760 } });
    const troubles = [];
    page.on("pageerror", (e) => troubles.push(e.message));
    await page.goto(server.address + "explain.html");
    await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", null, { timeout: 30000 });
    const methods = await page.locator("#methods a").count();
    assert.ok(methods >= 4);
    assert.ok((await page.evaluate(() => explain.stages.length)) >= 5);
    await shot(page, "explain");
    assert.deepEqual(troubles, []);
    await page.close();
  },
};

let passed = 0, failed = 0;
async function run(name, test) {
  if (!name.includes(process.env.ONLY ?? "")) return;
  try {
    await test();
    passed++;
  } catch (e) {
    failed++;
    console.log(`${name}: ${e.stack}`);
  }
}
try {
  const page = await open();
  for (const [name, test] of Object.entries(tests)) await run(name, () => test(page));
  await run("no errors on the page", () => assert.deepEqual(page.troubles, []));
  await page.close();
  for (const [name, test] of Object.entries(apart)) await run(name, test);
} finally {
  await browser.close();
  server.close();
  rmSync(folder, { recursive: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;

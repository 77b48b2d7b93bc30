/*
 * Memory of a playground that is played with for long: MINUTES of rounds, in each of which every
 * scene is opened anew, stirred, poured into and drawn from as the page does. The first three rounds
 * may take memory; the later ones none, neither the engine's nor the page's.
 */
import { readFileSync } from "node:fs";
import { Engine } from "../src/source/engine";
import { Session } from "../src/source/session";

const SCENE = (type: string, dx: number) => `spate: 1
name: ${type}
dimension: 2
domain: {size: [1, 1], dx: ${dx}}
fps: 60
solver: {type: ${type}}
materials: {water: {model: liquid, density: 1000, bulk_modulus: 2.0e4}}
bodies: [{name: dam, material: water, shape: {box: {min: [0, 0], max: [0.5, 0.4]}}}]
`;
const SCENES = [SCENE("flip", 0.04), SCENE("mpm", 0.05), SCENE("sph", 0.05)];
const FRAMES = 45, MB = 1 << 20, ROUNDS_TO_SETTLE = 3, HEAP_SLACK = 1.5 * MB;

const [wasm, minutes, rounds] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4] ?? Infinity)];
const leak = process.env.LEAK ? ([] as unknown[]) : null; /* the control: frames that are kept */
const session = new Session(await Engine.load(await WebAssembly.compile(readFileSync(wasm))));
const limit = { particles: 1e6, memory: 4e9 };

function play(scene: string): number {
  let frame;
  session.open(scene, [], limit);
  for (let k = 1; k <= FRAMES; k++) {
    const angle = k / 5, center = [0.5 + 0.3 * Math.cos(angle), 0.2, 0];
    session.act({ do: "force", name: "hand", force: { kind: "mouse", center, velocity: [1, 0, 0], radius: 0.1, rate: 60 } });
    if (k % 10 === 0)
      session.act({ do: "add", yaml: "sources: [{name: pour, material: water, velocity: [0, -1], shape: {sphere: {center: [0.5, 0.8], radius: 0.06}}}]" });
    if (k % 10 === 5 && k > 10) session.act({ do: "remove", name: "pour" });
    frame = session.frame({ time: k / 60, budget: Infinity, color: "v", grid: null, quantities: ["kinetic_energy"], byId: true });
    leak?.push(frame);
  }
  session.recorded();
  return frame!.memory;
}

const begin = Date.now(), seen: { engine: number; heap: number }[] = [];
let simulated = 0;
while (seen.length < rounds && Date.now() - begin < minutes * 60e3) {
  let engine = 0;
  for (const s of SCENES) engine = play(s), (simulated += FRAMES / 60);
  gc!();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  seen.push({ engine, heap: heapUsed + arrayBuffers });
}
const later = seen.slice(ROUNDS_TO_SETTLE), first = later[0];
const grown = { engine: Math.max(...later.map((s) => s.engine - first.engine)), heap: later[later.length - 1].heap - first.heap };
console.log(`${((Date.now() - begin) / 60e3).toFixed(1)} minutes, ${seen.length} rounds, ${simulated.toFixed(0)} s simulated: engine `
  + `${(first.engine / MB).toFixed(2)} MB, grown by ${grown.engine} B; page ${(first.heap / MB).toFixed(2)} MB, grown by ${(grown.heap / MB).toFixed(2)} MB`);
if (later.length < 2 || grown.engine > 0 || grown.heap > HEAP_SLACK) process.exitCode = 1;

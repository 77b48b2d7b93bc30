/* The engine in node computes what `SPATE_ISA=generic spate run` does: WASM SCENE[:set=value...]... */
import { readFileSync } from "node:fs";
import { Engine } from "../src/source/engine";

const [wasm, ...scenes] = process.argv.slice(2);
const module = await WebAssembly.compile(readFileSync(wasm));
for (const word of scenes) {
  const [scene, ...sets] = word.split(":");
  const engine = await Engine.load(module);
  engine.parse(readFileSync(scene, "utf8"), sets);
  engine.create(false);
  const p = engine.portrait();
  for (let frame = 1; frame <= Math.round(p.duration * p.fps); frame++) engine.step(frame / p.fps, frame / p.fps);
  console.log(`${scene} ${engine.hash}`);
}

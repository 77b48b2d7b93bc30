/* What draws a simulation, whatever the browser can do. */
import type { Frame, Portrait } from "../source/source";
import type { Scale } from "./colors";

/* How particles are coloured. */
export interface Coloring {
  by: string | null; /* attribute or grid field; null: by material */
  scale: Scale;
  range: [number, number];
}

/* What is seen of the world. In 2D: what is at the middle of the picture, and pixels a metre. In 3D:
 * an orbit round the middle. */
export interface Camera {
  middle: number[];
  zoom: number; /* 1: the whole domain fits */
  yaw: number;
  pitch: number;
}

export interface Painter {
  readonly kind: "webgl" | "canvas";
  scene(portrait: Portrait): void;
  draw(frame: Frame, coloring: Coloring, camera: Camera, style: Style): void;
  /* The world position under a pixel; in 3D in the plane through `middle` that faces the camera. */
  world(x: number, y: number, camera: Camera): number[];
  close(): void;
}

export interface Style {
  points: boolean; /* particles as points instead of surfaces */
  dark: boolean;
}

export function wholeDomain(p: Portrait): Camera {
  return { middle: p.origin.map((o, a) => o + p.size[a] / 2), zoom: 1, yaw: 0.6, pitch: 0.28 };
}

/* Pixels a metre with which a 2D domain fits, with a margin. */
export function fit2d(p: Portrait, width: number, height: number, zoom: number): number {
  return Math.min((width * 0.96) / p.size[0], (height * 0.96) / p.size[1]) * zoom;
}

/* One number a particle: itself, or the length of what has several. */
export function magnitudes(c: { values: Float32Array; components: number }): Float32Array {
  const n = c.components;
  if (n === 1) return c.values;
  const out = new Float32Array(c.values.length / n);
  for (let i = 0, k = 0; i < out.length; i++) {
    let sum = 0;
    for (let a = 0; a < n; a++, k++) sum += c.values[k] * c.values[k];
    out[i] = Math.sqrt(sum);
  }
  return out;
}

const LOOKS = ["surface", "skin", "grains", "veil"];

/* Colours of materials for shaders, the look in the fourth number; at most 16. */
export function paletteOf(p: Portrait, parse: (hex: string) => number[]): Float32Array {
  const out = new Float32Array(64);
  p.materials.slice(0, 16).forEach((m, i) => out.set([...parse(m.color), LOOKS.indexOf(m.look)], 4 * i));
  return out;
}

export function hasLook(p: Portrait, look: string): boolean {
  return p.materials.some((m) => m.look === look);
}

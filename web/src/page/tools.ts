/*
 * What a hand does to a simulation. Each tool turns a pointer into actions of a source, so that a
 * play is a list of events that can be run again.
 */
import type { Action, Portrait } from "../source/source";
import type { Pane } from "./pane";

export interface Tool {
  name: string;
  icon: string;
  title: string;
  key: string;
}

export const TOOLS: Tool[] = [
  { name: "pour", icon: "pour", title: "Pour: hold and move", key: "1" },
  { name: "stir", icon: "stir", title: "Stir: drag through it", key: "2" },
  { name: "pull", icon: "pull", title: "Pull: hold near it", key: "3" },
  { name: "blast", icon: "blast", title: "Blast: click", key: "4" },
  { name: "ball", icon: "ball", title: "Drop a ball", key: "5" },
  { name: "box", icon: "box", title: "Drop a box", key: "6" },
  { name: "wall", icon: "wall", title: "Draw a wall", key: "7" },
  { name: "erase", icon: "erase", title: "Erase drawn walls", key: "8" },
  { name: "look", icon: "look", title: "Look: orbit, pan, zoom", key: "9" },
];

/* What can be dropped into every scene of mpm, besides its own materials. */
export const EXTRA_MATERIALS: Record<string, string> = {
  jelly: "{model: neo_hookean, density: 600, young_modulus: 4.0e4, poisson: 0.3, color: \"#e2557a\"}",
  sand: "{model: sand, density: 1500, young_modulus: 2.0e5, friction_angle: 32, color: \"#d9b26a\"}",
  snow: "{model: snow, density: 400, young_modulus: 1.4e5, color: \"#eef4fa\"}",
  water: "{model: liquid, density: 1000, bulk_modulus: 1.0e5, color: \"#2f8fe0\"}",
};

/* Materials that may be poured or dropped now. */
export function materialsFor(p: Portrait): string[] {
  const taken = p.materials.map((m) => m.name), own = p.materials.filter((m) => !m.mesh).map((m) => m.name);
  return p.solver === "mpm" ? [...own, ...Object.keys(EXTRA_MATERIALS).filter((m) => !taken.includes(m))] : own;
}

const vector = (v: number[], dim: number) => `[${v.slice(0, dim).map((x) => Number(x.toPrecision(7))).join(", ")}]`;

const MOVE_AGAIN = 160; /* milliseconds between two places of a tap that is moved */

interface Wall {
  name: string;
  points: number[][];
}

export class Hand {
  tool = "pour";
  material = "";
  size = 0.06; /* of the domain's longest side */
  onRefused: (message: string) => void = () => {};
  private walls: Wall[] = [];
  private count = 0;
  private down = false;
  private at: number[] = [0, 0, 0];
  private before = { at: [0, 0, 0], wall: 0 };
  private poured = { wall: 0, on: false, at: [0, 0, 0] };
  private line: number[][] = [];
  private pending: Promise<unknown> = Promise.resolve();

  /* The panes that feel the hand. */
  constructor(private readonly panes: () => Pane[]) {}

  forget(): void {
    this.walls = [];
    this.down = false;
    this.poured.on = false;
    this.line = [];
  }

  get drawing(): number[][] {
    return this.line;
  }

  /* One after the other: names are free again before they are taken anew. */
  do(...actions: Action[]): Promise<unknown> {
    this.pending = this.pending.then(async () => {
      for (const action of actions)
        await Promise.all(this.panes().map((p) => p.act(action).catch((e: Error) => this.onRefused(e.message))));
    });
    return this.pending;
  }

  private get portrait(): Portrait {
    return this.panes()[0].portrait!;
  }

  radius(): number {
    const p = this.portrait;
    return Math.max(this.size * Math.max(...p.size), 1.5 * p.dx);
  }

  press(at: number[], wall: number): void {
    this.down = true;
    this.at = at;
    this.before = { at, wall };
    if (this.tool === "pour") this.pour(wall);
    else if (this.tool === "pull") this.pull();
    else if (this.tool === "blast") this.blast();
    else if (this.tool === "ball" || this.tool === "box") this.drop();
    else if (this.tool === "wall") this.line = [at];
    else if (this.tool === "erase") this.erase();
  }

  move(at: number[], wall: number): void {
    this.at = at;
    if (!this.down) return;
    if (this.tool === "stir") this.stir(wall);
    else if (this.tool === "pull") this.pull();
    else if (this.tool === "pour" && wall - this.poured.wall > MOVE_AGAIN && this.hasMoved(this.poured.at)) this.pour(wall);
    else if (this.tool === "wall" && this.far(this.line[this.line.length - 1])) this.line.push(at);
    else if (this.tool === "erase") this.erase();
  }

  release(): void {
    if (!this.down) return;
    this.down = false;
    if (this.tool === "pour" && this.poured.on) void this.do({ do: "remove", name: "pour" });
    else if (this.tool === "stir" && this.stirring) void this.do({ do: "remove", name: "hand" });
    else if (this.tool === "pull") void this.do({ do: "remove", name: "pull" });
    else if (this.tool === "wall") this.build();
    this.poured.on = false;
    this.stirring = false;
    this.line = [];
  }

  private hasMoved(from: number[]): boolean {
    return Math.hypot(...this.at.map((x, a) => x - from[a])) > 0.5 * this.radius();
  }

  private far(from: number[]): boolean {
    return Math.hypot(...this.at.map((x, a) => x - from[a])) > 1.5 * this.portrait.dx;
  }

  /* ---- Liquid ---- */

  /* The chosen material, and the YAML that brings it where the scene has none of the name. */
  private matter(): { name: string; yaml: string } {
    const p = this.portrait, name = this.material || materialsFor(p)[0] || "water";
    const there = p.materials.some((m) => m.name === name);
    return { name, yaml: there ? "" : `materials: {${name}: ${EXTRA_MATERIALS[name]}}\n` };
  }

  private pour(wall: number): void {
    const p = this.portrait, dim = p.dimension, r = this.radius(), m = this.matter();
    const g = Math.hypot(...p.gravity) || 9.81;
    const v = p.gravity.map((a) => (a / g) * Math.sqrt(g * r) * 1.5);
    if (p.on_grid) v[1] = 1.5 * Math.sqrt(Math.max(...p.size));
    const at = this.inside(this.at, r);
    const yaml = `${m.yaml}sources: [{name: pour, material: ${m.name}, velocity: ${vector(v, dim)}, ` +
      `shape: {sphere: {center: ${vector(at, dim)}, radius: ${r.toPrecision(5)}}}}]`;
    const add: Action = { do: "add", yaml };
    void (this.poured.on ? this.do({ do: "remove", name: "pour" }, add) : this.do(add));
    this.poured = { wall, on: true, at: this.at };
  }

  /* Kept within the domain, so that a tap is never half outside. */
  private inside(x: number[], r: number): number[] {
    const p = this.portrait;
    return x.map((v, a) => (a < p.dimension
      ? Math.min(Math.max(v, p.origin[a] + r + p.dx), p.origin[a] + p.size[a] - r - p.dx) : 0));
  }

  private drop(): void {
    const p = this.portrait, dim = p.dimension, r = 1.4 * this.radius(), m = this.matter();
    const at = this.inside(this.at, r);
    const shape = this.tool === "ball"
      ? `{sphere: {center: ${vector(at, dim)}, radius: ${r.toPrecision(5)}}}`
      : `{box: {min: ${vector(at.map((x) => x - r), dim)}, max: ${vector(at.map((x) => x + r), dim)}}}`;
    const kind = p.on_grid ? "sources" : "bodies";
    const name = `dropped ${++this.count}`;
    const until = p.on_grid ? `, from: ${this.now()}, until: ${this.now() + 0.1}` : "";
    void this.do({ do: "add", yaml: `${m.yaml}${kind}: [{name: ${name}, material: ${m.name}, shape: ${shape}${until}}]` });
  }

  private now(): number {
    return this.panes()[0].frame?.time ?? 0;
  }

  /* ---- Forces ---- */

  private stirring = false;
  private stir(wall: number): void {
    const pace = Math.min(Math.max(this.panes()[0].pace, 0.05), 2); /* simulated seconds of a real one */
    const seconds = Math.max((wall - this.before.wall) / 1000, 1 / 120) * pace;
    const most = 3 * Math.sqrt(9.81 * Math.max(...this.portrait.size));
    const velocity = this.at.map((x, a) => (x - this.before.at[a]) / seconds);
    const speed = Math.hypot(...velocity), share = speed > most ? most / speed : 1;
    this.before = { at: this.at, wall };
    this.stirring = true;
    void this.do({
      do: "force", name: "hand",
      force: { kind: "mouse", center: this.at, velocity: velocity.map((v) => v * share), radius: 1.3 * this.radius(), rate: 60 },
    });
  }

  private pull(): void {
    const reach = 0.25 * Math.max(...this.portrait.size), g = Math.hypot(...this.portrait.gravity) || 9.81;
    void this.do({
      do: "force", name: "pull",
      force: { kind: "attractor", center: this.at, strength: 6 * g * reach * reach, softening: 0.5 * reach },
    });
  }

  private blast(): void {
    const reach = 0.2 * Math.max(...this.portrait.size), g = Math.hypot(...this.portrait.gravity) || 9.81;
    const seconds = 0.06, speed = 2.2 * Math.sqrt(g * Math.max(...this.portrait.size));
    void this.do({
      do: "force", name: "blast",
      force: {
        kind: "attractor", center: this.at, strength: -(speed / seconds) * reach * reach * 0.6,
        softening: 0.5 * reach, until: this.now() + seconds,
      },
    });
  }

  /* Gravity turned by an angle and scaled, as a wind of the difference. */
  tilt(angle: number, share: number): void {
    const [x, y, z] = this.portrait.gravity;
    const c = Math.cos(angle), s = Math.sin(angle);
    const turned = [share * (c * x - s * y), share * (s * x + c * y), share * z];
    const difference = [turned[0] - x, turned[1] - y, turned[2] - z];
    void this.do({ do: "force", name: "tilt", force: { kind: "wind", acceleration: difference } });
  }

  /* ---- Walls ---- */

  private build(): void {
    const p = this.portrait, dim = p.dimension;
    let points = simplify(this.line, 0.75 * p.dx);
    if (points.length === 1) points = [points[0], points[0].map((x, a) => x + (a === 0 ? 2 * p.dx : 0))];
    if (points.length < 2) return;
    const r = Math.max(0.9 * p.dx, 0.012 * Math.max(...p.size));
    const bars = points.slice(1).map((to, i) =>
      `{capsule: {from: ${vector(points[i], dim)}, to: ${vector(to, dim)}, radius: ${r.toPrecision(4)}}}`);
    const shape = bars.length === 1 ? bars[0] : `{union: [${bars.join(", ")}]}`;
    const wall = { name: `wall ${++this.count}`, points };
    this.walls.push(wall);
    void this.do({ do: "add", yaml: `colliders: [{name: ${wall.name}, contact: separate, shape: ${shape}}]` });
  }

  private erase(): void {
    const reach = this.radius();
    const near = this.walls.find((w) => w.points.some((x, i) => i > 0 && gap(this.at, w.points[i - 1], x) < reach));
    if (!near) return;
    this.walls = this.walls.filter((w) => w !== near);
    void this.do({ do: "remove", name: near.name });
  }
}

/* How far x is from the line from a to b. */
function gap(x: number[], a: number[], b: number[]): number {
  const ab = b.map((v, k) => v - a[k]), ax = x.map((v, k) => v - a[k]);
  const length = ab.reduce((s, v) => s + v * v, 0);
  const t = length ? Math.min(1, Math.max(0, ab.reduce((s, v, k) => s + v * ax[k], 0) / length)) : 0;
  return Math.hypot(...ax.map((v, k) => v - t * ab[k]));
}

/* Fewer points on the same line (Douglas and Peucker), and at most 24. */
function simplify(points: number[][], tolerance: number): number[][] {
  if (points.length < 3) return points;
  let worst = 0, at = 0;
  for (let i = 1; i < points.length - 1; i++) {
    const d = gap(points[i], points[0], points[points.length - 1]);
    if (d > worst) (worst = d), (at = i);
  }
  if (worst < tolerance) return [points[0], points[points.length - 1]];
  const all = [...simplify(points.slice(0, at + 1), tolerance), ...simplify(points.slice(at), tolerance).slice(1)];
  return all.length > 24 ? simplify(points, 1.6 * tolerance) : all;
}

/* Draws one stage of a step: cells, arrows, particles, and what belongs to the one pointed at. */
import { colorAt } from "../draw/colors";
import type { Portrait, StageView } from "../source/source";
import type { Method, Stage } from "./methods";

interface Axes {
  x: (v: number) => number;
  y: (v: number) => number;
  s: number; /* pixels a metre */
}

export class Figure {
  hovered = -1;
  constructor(private readonly canvas: HTMLCanvasElement) {}

  private axes(p: Portrait): Axes {
    const { width: w, height: h } = this.canvas, s = Math.min((w * 0.94) / p.size[0], (h * 0.94) / p.size[1]);
    return { s, x: (v) => w / 2 + (v - p.origin[0] - p.size[0] / 2) * s, y: (v) => h / 2 - (v - p.origin[1] - p.size[1] / 2) * s };
  }

  fit(): CanvasRenderingContext2D {
    const density = Math.min(devicePixelRatio || 1, 2);
    this.canvas.width = this.canvas.clientWidth * density;
    this.canvas.height = this.canvas.clientHeight * density;
    return this.canvas.getContext("2d")!;
  }

  /* The particle nearest to a pixel of the canvas, -1 where none is near. */
  pick(px: number, py: number, p: Portrait, v: StageView): number {
    const a = this.axes(p), density = this.canvas.width / this.canvas.clientWidth;
    let best = -1, least = (0.7 * p.dx * a.s) ** 2;
    for (let i = 0; i < v.positions.length / 3; i++) {
      const d = (a.x(v.positions[3 * i]) - px * density) ** 2 + (a.y(v.positions[3 * i + 1]) - py * density) ** 2;
      if (d < least) (least = d), (best = i);
    }
    return best;
  }

  draw(method: Method, stage: Stage, p: Portrait, v: StageView): void {
    const c = this.fit(), a = this.axes(p);
    if (stage.cells) this.cells(c, a, p, v, stage.cells);
    this.lines(c, a, p);
    const arrow = 0.9 * p.dx / Math.max(speedOf(v), 0.4);
    if (stage.particles) this.particles(c, a, p, v, stage.particles === "velocity" ? arrow : 0);
    if (stage.grid) this.nodes(c, a, p, v, stage.grid, arrow);
    if (this.hovered >= 0 && method.hover && v.positions.length) this.hover(c, a, p, v, method.hover);
  }

  private lines(c: CanvasRenderingContext2D, a: Axes, p: Portrait): void {
    c.strokeStyle = "rgba(130,155,190,0.22)";
    c.lineWidth = 1;
    c.beginPath();
    for (let i = 0; i <= p.cells[0]; i++) line(c, a.x(p.origin[0] + i * p.dx), a.y(p.origin[1]), a.x(p.origin[0] + i * p.dx), a.y(p.origin[1] + p.size[1]));
    for (let j = 0; j <= p.cells[1]; j++) line(c, a.x(p.origin[0]), a.y(p.origin[1] + j * p.dx), a.x(p.origin[0] + p.size[0]), a.y(p.origin[1] + j * p.dx));
    c.stroke();
  }

  private cells(c: CanvasRenderingContext2D, a: Axes, p: Portrait, v: StageView, field: string): void {
    const g = v.grids[field];
    if (!g) return;
    const most = g.values.reduce((m, x) => (Number.isFinite(x) && Math.abs(x) < 1e6 ? Math.max(m, Math.abs(x)) : m), 1e-9);
    for (let j = 0; j < g.size[1]; j++)
      for (let i = 0; i < g.size[0]; i++) {
        const x = g.values[j * g.size[0] + i];
        c.fillStyle = fill(field, x, most, p.dx);
        c.fillRect(a.x(g.first[0] + (i - 0.5) * p.dx), a.y(g.first[1] + (j + 0.5) * p.dx), p.dx * a.s + 1, p.dx * a.s + 1);
      }
  }

  private particles(c: CanvasRenderingContext2D, a: Axes, p: Portrait, v: StageView, arrow: number): void {
    const r = Math.max(2.5, 0.11 * p.dx * a.s);
    for (let i = 0; i < v.positions.length / 3; i++) {
      const x = a.x(v.positions[3 * i]), y = a.y(v.positions[3 * i + 1]);
      c.fillStyle = i === this.hovered ? "#ffd75c" : "#4cc2ff";
      c.beginPath();
      c.arc(x, y, i === this.hovered ? 1.6 * r : r, 0, 7);
      c.fill();
      if (arrow) arrowTo(c, x, y, v.velocities[3 * i] * arrow * a.s * 0.6, -v.velocities[3 * i + 1] * arrow * a.s * 0.6, "rgba(160,225,255,0.75)");
    }
  }

  private nodes(c: CanvasRenderingContext2D, a: Axes, p: Portrait, v: StageView, field: string, arrow: number): void {
    const g = v.grids[field];
    if (!g) return;
    const most = g.values.reduce((m, x) => Math.max(m, x), 1e-12);
    for (let j = 0; j < g.size[1]; j++)
      for (let i = 0; i < g.size[0]; i++) {
        const at = j * g.size[0] + i, x = a.x(g.first[0] + i * p.dx), y = a.y(g.first[1] + j * p.dx);
        if (g.components === 1) {
          c.fillStyle = "rgba(255,170,90,0.85)";
          c.beginPath();
          c.arc(x, y, 0.3 * p.dx * a.s * Math.sqrt(Math.max(g.values[at], 0) / most), 0, 7);
          c.fill();
        } else arrowTo(c, x, y, g.values[g.components * at] * arrow * a.s * 0.8, -g.values[g.components * at + 1] * arrow * a.s * 0.8, "#ff9d5c");
      }
  }

  private hover(c: CanvasRenderingContext2D, a: Axes, p: Portrait, v: StageView, kind: string): void {
    const x = v.positions[3 * this.hovered], y = v.positions[3 * this.hovered + 1];
    if (kind === "neighbours") return this.neighbours(c, a, p, v, x, y);
    const weights = kind === "quadratic" ? nodeWeights(x, y, p) : [...faceWeights(x, y, p, 0), ...faceWeights(x, y, p, 1)];
    c.font = `${Math.round(0.17 * p.dx * a.s)}px system-ui, sans-serif`;
    c.textAlign = "center";
    for (const w of weights) {
      const px = a.x(w.x), py = a.y(w.y);
      c.strokeStyle = `rgba(255,215,92,${0.25 + 0.7 * w.w})`;
      c.lineWidth = 1 + 5 * w.w;
      c.beginPath();
      line(c, a.x(x), a.y(y), px, py);
      c.stroke();
      c.fillStyle = "#ffd75c";
      c.beginPath();
      c.arc(px, py, 0.26 * p.dx * a.s * Math.sqrt(w.w), 0, 7);
      c.fill();
      c.fillStyle = "#fff";
      c.fillText(w.w.toFixed(2), px, py - 0.2 * p.dx * a.s);
    }
  }

  private neighbours(c: CanvasRenderingContext2D, a: Axes, p: Portrait, v: StageView, x: number, y: number): void {
    const reach = 3 * p.dx * SPH_SPACING;
    c.strokeStyle = "#ffd75c";
    c.lineWidth = 2;
    c.beginPath();
    c.arc(a.x(x), a.y(y), reach * a.s, 0, 7);
    c.stroke();
    for (let i = 0; i < v.positions.length / 3; i++) {
      const d = Math.hypot(v.positions[3 * i] - x, v.positions[3 * i + 1] - y);
      if (i === this.hovered || d >= reach) continue;
      const w = (1 - (d / reach) ** 2) ** 3; /* poly6, relative to its middle */
      c.strokeStyle = `rgba(255,215,92,${0.15 + 0.8 * w})`;
      c.lineWidth = 0.5 + 4 * w;
      c.beginPath();
      line(c, a.x(x), a.y(y), a.x(v.positions[3 * i]), a.y(v.positions[3 * i + 1]));
      c.stroke();
    }
  }

  /* The two particles of the trap under each integrator, a row each. */
  drawTrap(rows: { name: string; places: Float32Array }[], origin: number, size: number): void {
    const c = this.fit(), { width: w, height: h } = this.canvas, x = (v: number) => w * 0.03 + ((v - origin) / size) * w * 0.94;
    rows.forEach((row, k) => {
      const y = (h * (k + 0.5)) / rows.length, high = h / rows.length;
      c.strokeStyle = "rgba(130,155,190,0.3)";
      c.lineWidth = 1;
      c.beginPath();
      for (let i = 0; i <= size; i++) line(c, x(origin + i), y - 0.28 * high, x(origin + i), y + 0.28 * high);
      line(c, x(origin), y, x(origin + size), y);
      c.stroke();
      c.fillStyle = "#e3e9f2";
      c.font = `${Math.round(0.2 * high)}px system-ui, sans-serif`;
      c.fillText(row.name, x(origin), y - 0.32 * high);
      for (let i = 0; i < row.places.length / 3; i++) {
        c.fillStyle = i % 2 ? "#ff9d5c" : "#4cc2ff";
        c.beginPath();
        c.arc(x(row.places[3 * i]), y, 0.1 * high, 0, 7);
        c.fill();
      }
    });
  }
}

const SPH_SPACING = 0.5; /* of particles, in cells: four to a cell */

function speedOf(v: StageView): number {
  let most = 0;
  for (const s of [v.velocities, v.grids["velocity"]?.values ?? []]) for (const x of s) most = Math.max(most, Math.abs(x));
  return most;
}

function fill(field: string, x: number, most: number, dx: number): string {
  if (field === "phi") return x < 0 ? "rgba(40,120,220,0.32)" : x < dx ? "rgba(40,120,220,0.08)" : "transparent";
  const rgb = field === "pressure" ? colorAt("balance", 0.5 + (0.5 * x) / most) : colorAt("ocean", x / most);
  const strength = field === "pressure" ? Math.min(0.95, 0.05 + Math.abs(x) / most) : Math.min(0.95, x / most);
  return `rgba(${rgb.map((v) => Math.round(v * 255)).join(",")},${strength})`;
}

/* Weights of a quadratic B-spline on the nine nodes around x. */
function nodeWeights(x: number, y: number, p: Portrait): { x: number; y: number; w: number }[] {
  const spline = (d: number) => (d < 0.5 ? 0.75 - d * d : d < 1.5 ? 0.5 * (1.5 - d) ** 2 : 0);
  const gx = (x - p.origin[0]) / p.dx, gy = (y - p.origin[1]) / p.dx, out = [];
  for (let j = Math.round(gy) - 1; j <= Math.round(gy) + 1; j++)
    for (let i = Math.round(gx) - 1; i <= Math.round(gx) + 1; i++)
      out.push({ x: p.origin[0] + i * p.dx, y: p.origin[1] + j * p.dx, w: spline(Math.abs(gx - i)) * spline(Math.abs(gy - j)) });
  return out;
}

/* Weights of tents on the four faces across `axis` around x. */
function faceWeights(x: number, y: number, p: Portrait, axis: number): { x: number; y: number; w: number }[] {
  const gx = (x - p.origin[0]) / p.dx - (axis === 0 ? 0 : 0.5), gy = (y - p.origin[1]) / p.dx - (axis === 1 ? 0 : 0.5);
  const i0 = Math.floor(gx), j0 = Math.floor(gy), fx = gx - i0, fy = gy - j0;
  return [[0, 0], [1, 0], [0, 1], [1, 1]].map(([i, j]) => ({
    x: p.origin[0] + (i0 + i + (axis === 0 ? 0 : 0.5)) * p.dx, y: p.origin[1] + (j0 + j + (axis === 1 ? 0 : 0.5)) * p.dx,
    w: (i ? fx : 1 - fx) * (j ? fy : 1 - fy),
  }));
}

function line(c: CanvasRenderingContext2D, ax: number, ay: number, bx: number, by: number): void {
  c.moveTo(ax, ay);
  c.lineTo(bx, by);
}

function arrowTo(c: CanvasRenderingContext2D, x: number, y: number, dx: number, dy: number, color: string): void {
  const length = Math.hypot(dx, dy);
  if (length < 2) return;
  const head = Math.min(7, 0.4 * length), ux = dx / length, uy = dy / length;
  c.strokeStyle = color;
  c.lineWidth = 1.6;
  c.beginPath();
  line(c, x, y, x + dx, y + dy);
  line(c, x + dx, y + dy, x + dx - head * (ux + 0.6 * uy), y + dy - head * (uy - 0.6 * ux));
  line(c, x + dx, y + dy, x + dx - head * (ux - 0.6 * uy), y + dy - head * (uy + 0.6 * ux));
  c.stroke();
}

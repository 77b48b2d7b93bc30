/* Quantities over time as small curves. */
import { byId, el } from "./dom";
import type { Pane } from "./pane";

const COLORS = ["#4cc2ff", "#ff9d5c", "#7ee081", "#d08bff", "#ffd75c", "#ff6f91"];

/* What is shown of the quantities there are: energies and probes. */
export function watchedOf(pane: Pane): string[] {
  const o = pane.opened!;
  const energies = o.quantities.map((q) => q.name).filter((n) => /_energy$/.test(n));
  const others = energies.length ? [] : ["max_speed", "mass"].filter((n) => o.quantities.some((q) => q.name === n));
  return [...energies, ...others, ...o.portrait.probes.filter((n) => o.quantities.some((q) => q.name === n))].slice(0, 8);
}

export class Plots {
  private charts = new Map<string, { canvas: HTMLCanvasElement; value: HTMLElement }>();

  build(panes: Pane[]): void {
    const box = byId("plots");
    box.replaceChildren();
    this.charts.clear();
    const unit = new Map(panes[0].opened!.quantities.map((q) => [q.name, q.unit]));
    for (const name of panes[0].watched) {
      const canvas = el("canvas", { class: "chart" }), value = el("output", {});
      const of = unit.get(name);
      box.append(el("figure", {}, el("figcaption", {}, `${name.replace(/_/g, " ")}${of ? ` (${of})` : ""}`, value), canvas));
      this.charts.set(name, { canvas, value });
    }
    if (!panes[0].watched.length) box.append(el("p", { class: "hint" }, "This scene has nothing to plot."));
  }

  draw(panes: Pane[]): void {
    panes[0].watched.forEach((name, k) => {
      const chart = this.charts.get(name);
      if (!chart || !chart.canvas.offsetParent) return;
      const last = panes[0].history[panes[0].history.length - 1]?.values[k];
      chart.value.textContent = Number.isFinite(last) ? last.toPrecision(4) : panes[0].history.length ? "none here" : "once it runs";
      this.curve(chart.canvas, panes, k);
    });
  }

  private curve(canvas: HTMLCanvasElement, panes: Pane[], k: number): void {
    const density = Math.min(devicePixelRatio || 1, 2);
    const w = (canvas.width = canvas.clientWidth * density), h = (canvas.height = canvas.clientHeight * density);
    const c = canvas.getContext("2d")!;
    const all = panes.flatMap((p) => p.history).filter((s) => Number.isFinite(s.values[k]));
    if (all.length < 2) return;
    let low = Infinity, high = -Infinity, from = Infinity, to = -Infinity;
    for (const s of all) {
      low = Math.min(low, s.values[k]), high = Math.max(high, s.values[k]);
      from = Math.min(from, s.t), to = Math.max(to, s.t);
    }
    if (high - low < 1e-12) (low -= 0.5), (high += 0.5);
    c.strokeStyle = "rgba(140,160,190,0.25)";
    c.lineWidth = density;
    if (low < 0 && high > 0) line(c, [[0, 0], [1, 0]], (x) => x * w, () => h - ((0 - low) / (high - low)) * h);
    panes.forEach((pane, i) => {
      c.strokeStyle = COLORS[(k + 3 * i) % COLORS.length];
      c.lineWidth = 1.75 * density;
      c.setLineDash(i ? [5 * density, 4 * density] : []);
      const points = pane.history.filter((s) => Number.isFinite(s.values[k])).map((s) => [s.t, s.values[k]]);
      line(c, points, (t) => ((t - from) / (to - from || 1)) * w, (v) => h - 3 - ((v - low) / (high - low)) * (h - 6));
    });
  }
}

function line(c: CanvasRenderingContext2D, points: number[][], x: (t: number) => number, y: (v: number) => number): void {
  c.beginPath();
  points.forEach(([t, v], i) => (i ? c.lineTo(x(t), y(v)) : c.moveTo(x(t), y(v))));
  c.stroke();
}

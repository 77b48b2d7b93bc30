/*
 * A simulation in a picture: asks its source for frames as fast as they are drawn and no faster,
 * draws them, and keeps what the rest of the page shows (time, pace, history of quantities).
 */
import { CanvasPainter } from "../draw/canvas_painter";
import { Painter2D } from "../draw/painter2d";
import { Painter3D } from "../draw/painter3d";
import { magnitudes, wholeDomain } from "../draw/painter";
import type { Camera, Coloring, Painter, Style } from "../draw/painter";
import type { Action, Frame, FrameRequest, Opened, Portrait, Source } from "../source/source";
import { SourceError } from "../source/source";
import { el } from "./dom";

const BUDGET = 15; /* milliseconds of steps between two pictures */
const HISTORY = 600;

export interface Limit {
  particles: number;
  memory: number;
}

export class Pane {
  readonly element: HTMLElement;
  readonly label: HTMLElement;
  canvas: HTMLCanvasElement;
  opened: Opened | null = null;
  frame: Frame | null = null;
  links: Frame["links"] = null; /* of the meshes, the last that came */
  camera: Camera = { middle: [0, 0, 0], zoom: 1, yaw: 0, pitch: 0 };
  coloring: Coloring = { by: null, scale: "ocean", range: [0, 1] };
  style: Style = { points: false, dark: true };
  playing = true;
  speed = 1;
  watched: string[] = [];
  history: { t: number; values: number[] }[] = [];
  pace = 0; /* simulated over real seconds */
  onTrouble: (e: SourceError) => void = () => {};
  onFrame: () => void = () => {};
  private painter: Painter | null = null;
  private dimension = 0;
  private busy = false;
  private fresh = false;
  private single = false;
  private lastWall = 0;
  private goal = 0;
  private paceFrom = { wall: 0, time: 0 };
  private ended = false;
  private sayDrawn: () => void = () => {};
  readonly drawn = new Promise<void>((resolve) => (this.sayDrawn = resolve)); /* a first picture */

  constructor(public source: Source) {
    this.canvas = el("canvas", { tabindex: 0, "aria-label": "the simulation" });
    this.label = el("div", { class: "pane-label" });
    this.element = el("div", { class: "pane" }, this.canvas, this.label);
    requestAnimationFrame((now) => this.tick(now));
  }

  get portrait(): Portrait | null {
    return this.opened?.portrait ?? null;
  }

  async open(text: string, sets: string[], limit: Limit): Promise<Opened> {
    const opening = this.source.open(text, sets, limit);
    /* Meanwhile, for the first scene: what it will be drawn with. */
    if (!this.painter) this.takePainter(/^dimension: *3/m.test(text) ? 3 : 2);
    const opened = await opening;
    const changed = !this.opened || this.opened.portrait.name !== opened.portrait.name
      || this.opened.portrait.dimension !== opened.portrait.dimension;
    this.opened = opened;
    this.frame = this.links = null;
    this.history = [];
    this.goal = 0;
    this.paceFrom = { wall: performance.now(), time: 0 };
    this.prepare(opened.portrait);
    if (changed) this.camera = wholeDomain(opened.portrait);
    this.coloring = { ...this.coloring, by: null, range: [0, 1] };
    this.single = true;
    return opened;
  }

  /* A painter for the dimension; a canvas keeps its kind of context, so a new one comes with it. */
  private prepare(p: Portrait): void {
    if (!this.painter || this.dimension !== p.dimension) this.takePainter(p.dimension);
    this.painter!.scene(p);
  }

  private takePainter(dimension: 2 | 3): void {
    this.painter?.close();
    const fresh = this.canvas.cloneNode() as HTMLCanvasElement;
    this.canvas.replaceWith(fresh);
    this.canvas = fresh;
    this.painter = this.makePainter(dimension);
    this.dimension = dimension;
    this.onCanvas(this.canvas);
  }

  onCanvas: (canvas: HTMLCanvasElement) => void = () => {};

  private makePainter(dimension: 2 | 3): Painter {
    const plain = new URLSearchParams(location.search).has("canvas");
    if (!plain)
      try {
        return dimension === 3 ? new Painter3D(this.canvas) : new Painter2D(this.canvas);
      } catch (e) {
        console.warn("no WebGL:", e);
        const fresh = this.canvas.cloneNode() as HTMLCanvasElement;
        this.canvas.replaceWith(fresh);
        this.canvas = fresh;
      }
    return new CanvasPainter(this.canvas);
  }

  get paints(): "webgl" | "canvas" | null {
    return this.painter?.kind ?? null;
  }

  async act(action: Action): Promise<void> {
    const portrait = await this.source.act(action);
    if (portrait && this.opened) {
      this.opened.portrait = portrait;
      this.painter?.scene(portrait);
    }
    if (!this.playing) this.refresh();
  }

  /* The same state once more, as when other numbers of it are shown. */
  refresh(): void {
    this.single = true;
  }

  stepOnce(): void {
    this.single = true;
    this.goal = Infinity;
  }

  /* Pauses, and goes on to a time without regard to the clock; the last step ends there. */
  async runTo(time: number): Promise<Frame> {
    this.playing = false;
    while (this.busy) await new Promise((resolve) => setTimeout(resolve, 5));
    this.busy = true;
    try {
      this.take(await this.source.frame({ ...this.request(), time, until: time, budget: Infinity, steps: undefined }));
    } finally {
      this.busy = false;
    }
    this.goal = this.frame!.time;
    return this.frame!;
  }

  world(x: number, y: number): number[] {
    return this.painter ? this.painter.world(x, y, this.camera) : [0, 0, 0];
  }

  close(): void {
    this.ended = true;
    this.painter?.close();
    this.source.close();
    this.element.remove();
  }

  /* ---- Frames ---- */

  private request(): FrameRequest {
    const p = this.portrait!, grid = p.on_grid ? this.coloring.by ?? "density" : null;
    const one = this.goal === Infinity;
    return {
      time: this.goal, until: this.speed < 1 && !one ? this.goal : undefined, budget: BUDGET,
      steps: one ? 1 : undefined, grid,
      color: p.on_grid ? null : this.coloring.by ?? "v", quantities: this.watched,
      byId: p.materials.some((m) => m.look === "grains"),
    };
  }

  private tick(now: number): void {
    if (this.ended) return;
    requestAnimationFrame((t) => this.tick(t));
    const wall = Math.min((now - this.lastWall) / 1000, 1 / 20);
    this.lastWall = now;
    if (!this.opened) return;
    if (this.playing && this.goal !== Infinity && this.frame) {
      const behind = this.goal - this.frame.time;
      if (behind < 0.05) this.goal += wall * this.speed;
    }
    if (!this.busy && (this.playing || this.single)) void this.ask();
    if (this.fresh) {
      this.fresh = false;
      this.resize();
    }
    this.redraw();
  }

  private async ask(): Promise<void> {
    this.busy = true;
    const one = this.goal === Infinity;
    this.single = false;
    try {
      const frame = await this.source.frame(this.request());
      this.take(frame);
      if (one) this.goal = frame.time;
    } catch (e) {
      if (one) this.goal = this.frame?.time ?? 0;
      if (e instanceof SourceError && !this.ended) {
        this.playing = false;
        this.onTrouble(e);
      }
    } finally {
      this.busy = false;
    }
  }

  private take(frame: Frame): void {
    const moved = !this.frame || frame.time > this.frame.time;
    if (this.frame && !this.upToDate) { /* not yet drawn */
      frame.solids ??= this.frame.solids;
      frame.links ??= this.frame.links;
    }
    this.frame = frame;
    this.links = frame.links ?? this.links;
    this.fresh = true;
    this.upToDate = false;
    this.fitRange(frame);
    if (moved && frame.quantities.length) {
      this.history.push({ t: frame.time, values: frame.quantities });
      if (this.history.length > HISTORY) this.history.splice(0, this.history.length - HISTORY);
    }
    const wall = performance.now();
    if (wall - this.paceFrom.wall > 700) {
      this.pace = (frame.time - this.paceFrom.time) / ((wall - this.paceFrom.wall) / 1000);
      this.paceFrom = { wall, time: frame.time };
    }
    this.onFrame();
  }

  private upToDate = false;
  invalidate(): void {
    this.upToDate = false;
  }

  private resize(): void {
    const density = Math.min(devicePixelRatio || 1, 2);
    const w = Math.max(1, Math.round(this.canvas.clientWidth * density));
    const h = Math.max(1, Math.round(this.canvas.clientHeight * density));
    if (w === this.canvas.width && h === this.canvas.height) return;
    this.canvas.width = w;
    this.canvas.height = h;
    this.upToDate = false;
  }

  private redraw(): void {
    this.resize();
    if (this.upToDate || !this.frame || !this.painter) return;
    this.upToDate = true;
    this.painter.draw(this.frame, this.coloring, this.camera, this.style);
    this.sayDrawn();
  }

  /* The range of the colours follows the largest values, quickly up and slowly down. */
  private fitRange(frame: Frame): void {
    const p = this.portrait!;
    const data = p.on_grid ? frame.grid : frame.color;
    if (!data) return;
    const values = data.components === 1 ? data.values : magnitudes(data);
    let low = Infinity, high = -Infinity;
    const every = Math.max(1, Math.floor(values.length / 4000));
    for (let i = 0; i < values.length; i += every) {
      const v = values[i];
      if (v < low) low = v;
      if (v > high) high = v;
    }
    if (!(high >= low)) return;
    if (!this.coloring.by) {
      /* material: speed only lightens it, on a scale of the domain's own */
      const fall = Math.sqrt(2 * Math.max(Math.hypot(...p.gravity), 1) * Math.max(...p.size));
      this.coloring.range = p.on_grid ? [0, Math.max(high * 0.6, 0.05)] : [0, fall];
      return;
    }
    if (data.components > 1) low = 0;
    const [a, b] = this.coloring.range, first = a === 0 && b === 1;
    const follow = (old: number, now: number, outwards: boolean) => old + (now - old) * (first ? 1 : outwards ? 0.5 : 0.03);
    this.coloring.range = [follow(a, low, low < a), follow(b, Math.max(high, low + 1e-9), high > b)];
  }
}

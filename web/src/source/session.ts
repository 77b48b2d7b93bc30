/* A simulation behind the calls of Source, in the thread that it is called in. */
import { Engine, EngineError, UNSTABLE, type Grid } from "./engine";
import type { Action, Frame, FrameRequest, Links, Opened, Portrait, Solids, StageView } from "./source";
import { SourceError } from "./source";

const MB = 1 << 20;
/* Points of the collider lattice along the longest side: enough for an edge that looks smooth; fewer
 * where they move and it is made for every frame. */
const SOLIDS = { 2: { still: 512, moving: 160 }, 3: { still: 72, moving: 40 } };

export class Session {
  private portrait!: Portrait;
  private warnings: string[] = [];
  private components = new Map<string, number>(); /* of the fields of the grid */
  private solidsChanged = true;
  private linked = -1; /* particles that there were when meshes were read; -1: never */
  private open_ = false;

  constructor(private readonly engine: Engine) {
    engine.onLog = (level, text) => {
      if (level > 0) this.warnings.push(text.replace(/^scene:/, ""));
    };
  }

  private as<T>(kind: "scene" | "refused", call: () => T): T {
    try {
      return call();
    } catch (e) {
      if (e instanceof EngineError)
        throw new SourceError(e.status === UNSTABLE ? "unstable" : kind, e.message);
      throw e;
    }
  }

  open(text: string, sets: string[], limit: { particles: number; memory: number }): Opened {
    this.warnings = [];
    this.as("scene", () => this.engine.parse(text, sets));
    this.open_ = false;
    const review = this.as("scene", () => this.engine.review());
    if (review.particles > limit.particles || review.memory > limit.memory)
      throw new SourceError("too-large",
        `this scene has ${review.particles.toLocaleString("en")} particles and needs about ` +
        `${Math.ceil(review.memory / MB).toLocaleString("en")} MB; here at most ` +
        `${limit.particles.toLocaleString("en")} particles and ${Math.floor(limit.memory / MB)} MB are affordable`);
    this.as("scene", () => this.engine.create(true));
    this.open_ = true;
    this.solidsChanged = true;
    this.linked = -1;
    this.portrait = this.engine.portrait();
    const { attributes, quantities, grids } = this.engine.list();
    this.components = new Map(grids.map((g: { name: string; components: number }) => [g.name, g.components]));
    return { portrait: this.portrait, attributes, quantities, grids, review, warnings: this.warnings };
  }

  frame(r: FrameRequest): Frame {
    if (!this.open_) throw new SourceError("refused", "no simulation is open");
    const e = this.engine, begin = performance.now();
    if (e.time < r.time)
      this.as("refused", () => e.step(r.time, r.until ?? Infinity, r.budget, r.steps ?? 0x7fffffff));
    const spent = performance.now() - begin;
    const matter = !this.portrait.on_grid, byId = r.byId || this.portrait.meshes;
    const color = matter && r.color ? e.read(r.color, byId) : null;
    return {
      time: e.time, dt: e.dt, dtLimit: e.dtLimit, steps: e.steps, particles: e.particles,
      positions: matter ? e.read("P", byId).values : new Float32Array(),
      material: matter && this.portrait.materials.length > 1 ? e.read("material", byId).values : null,
      color, grid: r.grid ? this.grid(r.grid) : null,
      solids: this.solids(), links: this.links(), quantities: r.quantities.map((q) => e.quantity(q)), spent,
      memory: e.memoryBytes,
    };
  }

  private grid(field: string): Grid {
    return this.as("refused", () => this.engine.grid(field, this.components.get(field) ?? 1));
  }

  /* Anew where particles have come or gone, or parts of the scene. */
  private links(): Links | null {
    const count = this.engine.particles;
    if (!this.portrait.meshes || count === this.linked) return null;
    this.linked = count;
    const { triangles, segments } = this.engine.meshes(), vertex = new Uint8Array(count);
    for (const list of [triangles, segments]) for (const i of list) vertex[i] = 1;
    const loose = new Uint32Array(count).map((_, i) => i).filter((i) => !vertex[i]);
    return { triangles, segments, loose };
  }

  /* Anew where colliders may have moved or changed. */
  private solids(): Solids | null {
    const p = this.portrait;
    if (!p.colliders.length || !(this.solidsChanged || p.moving)) return null;
    this.solidsChanged = false;
    const points = SOLIDS[p.dimension][p.moving ? "moving" : "still"];
    const spacing = Math.max(Math.max(...p.size) / points, p.dx / 8);
    const size = p.size.map((s) => Math.max(1, Math.round(s / spacing)));
    const first = p.origin.map((o, a) => (a < p.dimension ? o + spacing / 2 : 0));
    return { values: this.engine.solids(first, spacing, size), size, first, spacing };
  }

  act(a: Action): Portrait | null {
    const e = this.engine;
    return this.as("refused", () => {
      if (a.do === "force") e.force(a.name, a.force);
      else if (a.do === "pose") e.pose(a.name, a.pose);
      else if (a.do === "add") e.add(a.yaml);
      else if (a.do === "set") e.set(a.set);
      else e.remove(a.name);
      this.solidsChanged ||= a.do !== "force";
      if (a.do === "add" || a.do === "remove") this.linked = -1;
      if (a.do === "force" || a.do === "pose") return null;
      return (this.portrait = e.portrait());
    });
  }

  stages(fields: string[]): StageView[] {
    const e = this.engine, views: StageView[] = [];
    const look = (stage: string) => {
      const matter = !this.portrait.on_grid;
      const grids: StageView["grids"] = {};
      for (const f of fields)
        grids[f] = this.grid(f);
      views.push({
        stage, grids,
        positions: matter ? e.read("P", true).values : new Float32Array(),
        velocities: matter ? e.read("v", true).values : new Float32Array(),
      });
    };
    look("before");
    this.as("refused", () => e.stepByStages(Infinity, look));
    return views;
  }

  fields() { return this.engine.fields(); }
  recorded(): string { return this.as("refused", () => this.engine.recorded()); }
  hash(): string { return this.engine.hash; }
}

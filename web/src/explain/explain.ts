/* The pages that explain: a step of the real engine, stage by stage, on a small grid. */
import "../page/style.css";
import "./explain.css";
import { byId, el, toast } from "../page/dom";
import type { Portrait, StageView } from "../source/source";
import { WorkerSource } from "../source/worker_source";
import { Figure } from "./figure";
import { METHODS, type Method, type Stage } from "./methods";

const LIMIT = { particles: 1e5, memory: 1 << 29 };
const SETTLE = 0.12; /* seconds before the first step that is shown */

class Explain {
  stages: { stage: Stage; view: StageView }[] = [];
  private method!: Method;
  private portrait!: Portrait;
  private at = 0;
  private timer = 0;
  private sources: WorkerSource[] = [];
  private readonly figure = new Figure(byId<HTMLCanvasElement>("picture"));

  constructor() {
    byId("methods").append(...METHODS.map((m) => el("a", { href: `#${m.id}`, "data-method": m.id }, m.name)));
    window.addEventListener("hashchange", () => void this.show(location.hash.slice(1)));
    window.addEventListener("resize", () => this.draw());
    byId("picture").addEventListener("pointermove", (e) => this.point(e));
    byId("picture").addEventListener("pointerdown", (e) => this.point(e));
  }

  async show(id: string): Promise<void> {
    this.stop();
    const m = (this.method = METHODS.find((x) => x.id === id) ?? METHODS[0]);
    for (const a of document.querySelectorAll<HTMLElement>("#methods a")) a.classList.toggle("chosen", a.dataset.method === m.id);
    byId("title").textContent = m.title;
    byId("lead").textContent = m.lead;
    byId<HTMLAnchorElement>("back").href = `./?scene=${m.playground}`;
    this.sources.forEach((s) => s.close());
    this.sources = [];
    this.figure.hovered = -1;
    if (m.trap) return this.showTrap(m);
    const source = new WorkerSource();
    this.sources = [source];
    this.portrait = (await source.open(m.scene, [], LIMIT)).portrait;
    await source.frame({ time: SETTLE, budget: 1e6, color: null, grid: null, quantities: [], byId: false });
    await this.step();
    this.buttons(["Next stage", () => void this.next()], ["Whole step", () => void this.step()], ["Play", () => this.play()]);
  }

  /* One step of the engine; the stages that the page tells of are kept. */
  private async step(): Promise<void> {
    const views = await this.sources[0].stages(this.method.fields);
    this.stages = this.method.stages.flatMap((stage) => {
      const view = views.find((v) => v.stage === stage.name);
      return view ? [{ stage, view }] : [];
    });
    this.at = 0;
    byId("stages").replaceChildren(...this.stages.map(({ stage }, i) =>
      el("li", { onclick: () => ((this.at = i), this.draw()) }, el("b", {}, stage.title), el("p", {}, stage.text))));
    this.draw();
  }

  private async next(): Promise<void> {
    if (++this.at >= this.stages.length) await this.step();
    else this.draw();
  }

  private play(): void {
    if (this.timer) return this.stop();
    this.timer = window.setInterval(() => void this.next(), 1100);
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = 0;
  }

  private draw(): void {
    const now = this.stages[this.at];
    if (this.method.trap || !now) return;
    [...byId("stages").children].forEach((li, i) => li.classList.toggle("chosen", i === this.at));
    this.figure.draw(this.method, now.stage, this.portrait, now.view);
    byId("caption").textContent = this.figure.hovered >= 0 && this.method.hover
      ? this.method.hover === "neighbours" ? "Lines are as thick as the kernel's weight." : "Weights of this particle; they sum to one."
      : "Computed by the engine itself, one stage after the other.";
  }

  private point(e: PointerEvent): void {
    const now = this.stages[this.at];
    if (this.method.trap || !now) return;
    const hovered = this.figure.pick(e.offsetX, e.offsetY, this.portrait, now.view);
    if (hovered === this.figure.hovered) return;
    this.figure.hovered = hovered;
    this.draw();
  }

  /* ---- Two particles under several integrators ---- */

  private async showTrap(m: Method): Promise<void> {
    this.stages = [];
    byId("stages").replaceChildren();
    this.sources = m.trap!.map(() => new WorkerSource());
    const opened = await Promise.all(this.sources.map((s, i) => s.open(m.scene, [`solver.integrator=${m.trap![i]}`], LIMIT)));
    this.portrait = opened[0].portrait;
    await this.trapTo(m, 0);
    this.buttons(["Let them go", () => void this.fly(m)], ["Again", () => void this.showTrap(m)]);
    byId("caption").textContent = "Without a force they should be 12.2 cells apart after 6 s.";
  }

  private async trapTo(m: Method, time: number): Promise<void> {
    const frames = await Promise.all(this.sources.map((s) =>
      s.frame({ time, until: time || undefined, budget: 1e6, color: null, grid: null, quantities: [], byId: true })));
    const gap = (x: Float32Array) => Math.abs(x[3] - x[0]).toFixed(1);
    this.figure.drawTrap(frames.map((f, i) => ({ name: `${m.trap![i]}: ${gap(f.positions)} cells apart`, places: f.positions })),
      this.portrait.origin[0], this.portrait.size[0]);
  }

  private async fly(m: Method): Promise<void> {
    for (let frame = 1; frame <= 150 && this.method === m; frame++) await this.trapTo(m, frame / 25);
  }

  private buttons(...all: [string, () => void][]): void {
    byId("buttons").replaceChildren(...all.map(([name, act], i) => el("button", { class: i ? "button framed" : "button primary", onclick: act }, name)));
  }
}

const explain = new Explain();
Object.assign(globalThis, { explain });
explain.show(location.hash.slice(1)).then(() => (document.documentElement.dataset.ready = "yes"), (e: Error) => toast(e.message, "error"));

/* The playground: puts the parts of the page together. */
import "./style.css";
import { cssGradient, SCALES, type Scale } from "../draw/colors";
import type { FieldTables } from "../source/source";
import { SourceError } from "../source/source";
import { WorkerSource } from "../source/worker_source";
import { byId, download, el, icon, toast } from "./dom";
import { buildGallery, markScene, SCENES, type GalleryScene } from "./gallery";
import { Pane, type Limit } from "./pane";
import { Plots, watchedOf } from "./plots";
import { fromAddress, toLink, withDuration } from "./share";
import { buildSliders, variantsOf } from "./sliders";
import { SceneText } from "./text";
import { Hand, materialsFor, TOOLS } from "./tools";
import { listen } from "./pointer";

/* What a browser is asked to bear; a phone has less. */
const small = matchMedia("(max-width: 760px)").matches;
const LIMIT: Limit = { particles: small ? 120_000 : 400_000, memory: (small ? 700 : 2000) * (1 << 20) };

class App {
  readonly panes: Pane[] = [];
  readonly hand = new Hand(() => this.panes);
  readonly plots = new Plots();
  private readonly editor = new SceneText();
  private tables: FieldTables = {};
  private text = "";
  private sets: string[] = [];
  private second: string | null = null; /* the override of the pane beside */
  private points = false;
  private recorder: MediaRecorder | null = null;

  constructor() {
    this.hand.onRefused = (m) => toast(m, "error");
    this.buildChrome();
    buildGallery((s) => void this.choose(s));
  }

  get main(): Pane {
    return this.panes[0];
  }

  async start(): Promise<void> {
    this.panes.push(this.makePane());
    byId("panes").append(this.main.element);
    window.addEventListener("hashchange", () => void this.fromLink());
    if (!(await this.fromLink())) {
      const wanted = new URLSearchParams(location.search).get("scene");
      await this.choose(SCENES.find((s) => s.id === wanted) ?? SCENES[0]);
    }
    if (this.main.opened) await this.main.drawn;
    await this.editor.show(byId("editor"), () => void this.runEditor());
    this.tables = await this.main.source.fields();
    this.editor.know(this.tables);
    this.refreshControls();
  }

  private makePane(): Pane {
    const pane = new Pane(new WorkerSource());
    pane.style.points = this.points;
    pane.onCanvas = (canvas) => listen(canvas, pane, this.hand, byId<HTMLCanvasElement>("overlay"));
    pane.onTrouble = (e) => this.trouble(e);
    pane.onFrame = () => pane === this.main && this.showNumbers();
    return pane;
  }

  /* ---- Scenes ---- */

  private async fromLink(): Promise<boolean> {
    try {
      const shared = await fromAddress(location.hash);
      if (!shared) return false;
      markScene(null);
      this.second = null;
      await this.open(shared.text, shared.sets);
      return true;
    } catch {
      toast("The link is damaged; here is a scene of ours instead.", "error");
      return false;
    }
  }

  async choose(s: GalleryScene): Promise<void> {
    markScene(s.id);
    this.second = null;
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
    await this.open(s.text, []);
  }

  private async runEditor(): Promise<void> {
    await this.open(this.editor.text, this.sets);
  }

  /* Opens a scene in all panes; what was there goes on if it cannot be. */
  async open(text: string, sets: string[]): Promise<boolean> {
    byId("trouble").hidden = true;
    if (this.editor.text !== text) this.editor.text = text;
    try {
      this.fitPanes();
      await this.openPane(this.main, text, sets);
      if (this.panes[1]) await this.openPane(this.panes[1], text, [...sets, this.second!]);
    } catch (e) {
      this.refuse(e as SourceError, text, sets);
      return false;
    }
    this.editor.mark(null);
    (this.text = text), (this.sets = sets);
    this.hand.forget();
    this.hand.material = "";
    this.resetTilt();
    this.setPlaying(true);
    this.refreshControls();
    for (const w of this.main.opened!.warnings.slice(0, 2)) toast(w);
    return true;
  }

  private async openPane(pane: Pane, text: string, sets: string[]): Promise<void> {
    const opened = await pane.open(text, sets, LIMIT);
    pane.watched = watchedOf(pane);
    pane.label.textContent = this.panes.length > 1 ? sets[sets.length - 1]?.replace(/^solver\./, "").replace("=", ": ") || opened.portrait.solver : "";
  }

  private fitPanes(): void {
    while (this.panes.length > (this.second ? 2 : 1)) this.panes.pop()!.close();
    if (this.second && this.panes.length < 2) {
      const pane = this.makePane();
      this.panes.push(pane);
      byId("panes").append(pane.element);
    }
  }

  private refuse(e: SourceError, text: string, sets: string[]): void {
    if (e.kind === "too-large") return this.offerQuick(e, text, sets);
    if (e.kind === "crash") return this.crashed(e);
    this.editor.mark(e);
    this.showTab("code");
    toast(e.line ? `line ${e.line}: ${e.message}` : e.message, "error");
    if (this.second && !e.line) (this.second = null), this.fitPanes();
  }

  private offerQuick(e: SourceError, text: string, sets: string[]): void {
    const box = byId("trouble"), dx = Number(/\bdx: *([\d.e+-]+)/.exec(text)?.[1]);
    const quick = el("button", { class: "button primary", onclick: () => void this.open(text, [...sets, `domain.dx=${dx * 2}`]) },
      "Open the quick variant (cells twice as wide)");
    box.replaceChildren(el("p", {}, `Too large for this browser: ${e.message}.`), dx ? quick : "");
    box.hidden = false;
  }

  /* The worker is gone: the text stays, a new worker takes its place. */
  private crashed(e: SourceError): void {
    const box = byId("trouble");
    box.replaceChildren(el("p", {}, `${e.message}. The scene's text is kept in the editor.`),
      el("button", { class: "button primary", onclick: () => void this.revive() }, "Start again"));
    box.hidden = false;
  }

  private async revive(): Promise<void> {
    for (const pane of this.panes) {
      pane.source.close();
      pane.source = new WorkerSource();
    }
    await this.open(this.editor.text, this.sets);
  }

  private trouble(e: SourceError): void {
    if (e.kind === "crash") return this.crashed(e);
    const box = byId("trouble");
    box.replaceChildren(el("p", {}, e.message), el("button", { class: "button primary", onclick: () => void this.reset() }, "Reset"));
    box.hidden = false;
    this.setPlaying(false);
  }

  async reset(): Promise<void> {
    await this.open(this.text, this.sets);
  }

  async compareWith(set: string | null): Promise<void> {
    this.second = set;
    await this.open(this.text, this.sets);
  }

  /* ---- What surrounds the picture ---- */

  private buildChrome(): void {
    byId("tools").append(...TOOLS.map((t) => el("button", {
      class: "tool", "data-tool": t.name, title: `${t.title} (${t.key})`, "aria-label": t.title, onclick: () => this.takeTool(t.name),
    }, icon(t.icon), el("span", {}, t.name))));
    const button = (id: string, name: string, title: string, act: () => void) =>
      el("button", { class: "button", id, title, "aria-label": title, onclick: act }, icon(name));
    byId("transport").append(
      button("play", "pause", "Pause or go on (space)", () => this.setPlaying(!this.main.playing)),
      button("step", "step", "One step (.)", () => (this.setPlaying(false), this.panes.forEach((p) => p.stepOnce()))),
      button("reset", "reset", "Reset (r)", () => void this.reset()),
      el("label", { class: "speed", title: "Speed" }, icon("slow"), this.speedSelect()));
    byId("file-buttons").append(
      button("share", "share", "Copy a link to this scene and all that was done", () => void this.share()),
      button("picture", "camera", "Save a picture", () => this.savePicture()),
      button("record", "film", "Record a film (WebM)", () => this.record()),
      button("export", "export", "Export as YAML that spate run plays again", () => void this.exportScene()));
    const tabs: [string, string, string][] = [["gallery", "gallery", "Scenes"], ["sliders", "sliders", "Settings"], ["code", "code", "YAML"], ["plot", "plot", "Plots"]];
    byId("tabs").append(...tabs.map(([name, i, title]) => el("button", { role: "tab", "data-tab": name, onclick: () => this.showTab(name) }, icon(i), title)));
    byId("editor-buttons").append(el("button", { class: "button primary", id: "run", onclick: () => void this.runEditor() }, "Run (Ctrl+Enter)"));
    this.showTab("gallery");
    this.takeTool("pour");
    this.listenToKeys();
    this.listenToTilt();
  }

  private speedSelect(): HTMLSelectElement {
    const select = el("select", { id: "speed", "aria-label": "speed" }, ...[0.1, 0.25, 0.5, 1, 2].map((s) =>
      el("option", { value: s, selected: s === 1 }, s === 1 ? "real time" : `${s}×`)));
    select.addEventListener("change", () => this.panes.forEach((p) => (p.speed = Number(select.value))));
    return select;
  }

  showTab(name: string): void {
    const panel = byId("panel");
    if (small && panel.dataset.tab === name && !panel.classList.contains("closed")) panel.classList.add("closed");
    else panel.classList.remove("closed");
    panel.dataset.tab = name;
    for (const t of document.querySelectorAll<HTMLElement>("[data-tab]:not(#panel)"))
      t.setAttribute("aria-selected", String(t.dataset.tab === name));
    for (const body of document.querySelectorAll<HTMLElement>(".tab-body")) body.hidden = body.id !== `tab-${name}`;
  }

  takeTool(name: string): void {
    this.hand.tool = name;
    for (const t of document.querySelectorAll<HTMLElement>(".tool"))
      t.classList.toggle("chosen", t.dataset.tool === name);
  }

  setPlaying(playing: boolean): void {
    this.panes.forEach((p) => (p.playing = playing));
    byId("play").replaceChildren(icon(playing ? "pause" : "play"));
  }

  private listenToKeys(): void {
    document.addEventListener("keydown", (e) => {
      if ((e.target as HTMLElement).closest("input, select, .cm-editor") || e.ctrlKey || e.metaKey) return;
      const tool = TOOLS.find((t) => t.key === e.key);
      if (tool) this.takeTool(tool.name);
      else if (e.key === " ") e.preventDefault(), this.setPlaying(!this.main.playing);
      else if (e.key === ".") this.setPlaying(false), this.panes.forEach((p) => p.stepOnce());
      else if (e.key === "r") void this.reset();
    });
  }

  private listenToTilt(): void {
    const dial = byId("tilt"), arrow = document.getElementById("tilt-arrow")!;
    const turn = (e: PointerEvent) => {
      const r = dial.getBoundingClientRect();
      const x = e.clientX - r.left - r.width / 2, y = e.clientY - r.top - r.height / 2;
      const share = Math.min(2, Math.hypot(x, y) / (0.42 * r.width)), angle = Math.atan2(x, y);
      arrow.setAttribute("transform", `rotate(${(-angle * 180) / Math.PI}) scale(${0.35 + 0.4 * share})`);
      this.hand.tilt(angle, share < 0.12 ? 0 : share);
    };
    dial.addEventListener("pointerdown", (e) => (dial.setPointerCapture(e.pointerId), turn(e)));
    dial.addEventListener("pointermove", (e) => e.buttons && turn(e));
    dial.addEventListener("dblclick", () => (this.resetTilt(), this.hand.tilt(0, 1)));
  }

  private resetTilt(): void {
    document.getElementById("tilt-arrow")!.setAttribute("transform", "scale(0.75)");
  }

  private refreshControls(): void {
    const p = this.main.portrait!;
    byId("scene-name").textContent = p.name;
    byId("tilt").hidden = p.dimension !== 2 || Math.hypot(...p.gravity) === 0;
    this.buildViewControls();
    if (Object.keys(this.tables).length) buildSliders(this.tables, p, (set) => void this.change(set));
    this.plots.build(this.panes);
  }

  private async change(set: string): Promise<void> {
    await this.hand.do({ do: "set", set });
    if (this.main.portrait) buildSliders(this.tables, this.main.portrait, (s) => void this.change(s));
  }

  private buildViewControls(): void {
    const o = this.main.opened!, p = o.portrait;
    const select = (id: string, label: string, options: [string, string][], value: string, act: (v: string) => void) => {
      const s = el("select", { id, "aria-label": label }, ...options.map(([v, text]) => el("option", { value: v, selected: v === value }, text)));
      s.addEventListener("change", () => act(s.value));
      return el("label", { class: "control" }, el("span", {}, label), s);
    };
    const entries = p.on_grid ? o.grids : o.attributes.filter((a) => a.components < 9 && !["P", "id", "pscale"].includes(a.name));
    const names = { v: "speed", velocity: "speed" } as Record<string, string>;
    const colors: [string, string][] = [["", p.on_grid ? "smoke" : "material"], ...entries.map((a): [string, string] => [a.name, names[a.name] ?? a.name])];
    const materials = materialsFor(p).map((m): [string, string] => [m, m]);
    const variants = variantsOf(this.tables, p).map((v): [string, string] => [v.set, v.label]);
    const ownSolver = p.solver;
    const solvers = variantsOf(this.tables, p).filter((v) => v.set.startsWith("solver.type")).map((v): [string, string] => [v.set, v.label.slice(8)]);
    byId("view-controls").replaceChildren(
      select("material", "pour and drop", materials, this.hand.material || materials[0]?.[0] || "", (v) => (this.hand.material = v)),
      this.sizeControl(),
      select("color", "colour by", colors, this.main.coloring.by ?? "", (v) => this.colorBy(v || null)),
      select("scale", "colours", SCALES.map((s) => [s, s]), this.main.coloring.scale, (v) => this.panes.forEach((q) => (q.coloring.scale = v as Scale, q.invalidate(), this.showLegend()))),
      ...(solvers.length ? [select("solver", "solver", solvers, `solver.type=${ownSolver}`, (v) => void this.switchSolver(v))] : []),
      select("compare", "side by side", [["", "off"], ...variants], this.second ?? "", (v) => void this.compareWith(v || null)),
      this.pointsControl());
    this.showLegend();
  }

  async switchSolver(set: string): Promise<void> {
    await this.open(this.text, [...this.sets.filter((s) => !s.startsWith("solver.")), set]);
  }

  private sizeControl(): HTMLElement {
    const input = el("input", { type: "range", min: 0.02, max: 0.15, step: 0.005, value: this.hand.size, "aria-label": "size of the hand" });
    input.addEventListener("input", () => (this.hand.size = Number(input.value)));
    return el("label", { class: "control" }, el("span", {}, "size"), input);
  }

  private pointsControl(): HTMLElement {
    const box = el("input", { type: "checkbox", id: "points", checked: this.points });
    box.addEventListener("change", () => {
      this.points = box.checked;
      this.panes.forEach((p) => ((p.style.points = this.points), p.invalidate()));
    });
    return el("label", { class: "control" }, el("span", {}, "as particles"), box);
  }

  colorBy(name: string | null): void {
    for (const p of this.panes) p.coloring = { ...p.coloring, by: name, range: [0, 1] };
    for (const p of this.panes) p.refresh();
    this.showLegend();
  }

  /* ---- Numbers ---- */

  private showNumbers(): void {
    const f = this.main.frame!, p = this.main.portrait!;
    byId("pace").textContent = `${f.time.toFixed(2)} s · ${this.main.playing ? `${this.main.pace.toFixed(2)}× real time` : "paused"}`;
    const cells = p.cells.slice(0, p.dimension).join(" × ");
    byId("counts").textContent = `${p.on_grid ? `${cells} cells` : `${f.particles.toLocaleString("en")} particles`} · ${p.solver} · dt ${(f.dt * 1e3).toPrecision(2)} ms`;
    this.plots.draw(this.panes);
    this.showLegend();
  }

  private showLegend(): void {
    const box = byId("legend"), c = this.main.coloring, o = this.main.opened;
    box.hidden = !c.by;
    if (!c.by || !o) return;
    const entry = [...o.attributes, ...o.grids].find((a) => a.name === c.by);
    const [name, bar, ends] = Array.from(box.children) as HTMLElement[];
    name.textContent = `${c.by === "v" || c.by === "velocity" ? "speed" : c.by}${entry?.unit ? ` (${entry.unit})` : ""}`;
    bar.style.background = cssGradient(c.scale);
    ends.children[0].textContent = Number(c.range[0].toPrecision(3)).toString();
    ends.children[1].textContent = Number(c.range[1].toPrecision(3)).toString();
  }

  /* ---- Taking it along ---- */

  async recordedScene(): Promise<string> {
    const text = await this.main.source.recorded();
    return withDuration(text, this.main.frame?.time ?? 0, this.main.portrait!.fps);
  }

  private async share(): Promise<void> {
    const link = await toLink({ text: await this.recordedScene(), sets: [] });
    history.replaceState(null, "", link);
    try {
      await navigator.clipboard.writeText(link);
      toast(`Link copied (${(link.length / 1000).toFixed(1)} kB): the scene and all that was done.`);
    } catch {
      toast("The address now holds the scene and all that was done.");
    }
  }

  private async exportScene(): Promise<void> {
    const name = this.main.portrait!.name.toLowerCase().replace(/\W+/g, "_");
    download(`${name}.yaml`, new Blob([await this.recordedScene()], { type: "text/yaml" }));
    toast("Exported. SPATE_ISA=generic spate run plays it again, bit for bit.");
  }

  private savePicture(): void {
    this.main.canvas.toBlob((b) => b && download("spate.png", b), "image/png");
  }

  private record(): void {
    if (this.recorder) return this.recorder.stop();
    if (typeof MediaRecorder === "undefined") return toast("This browser cannot record films.", "error");
    const pieces: Blob[] = [];
    const recorder = new MediaRecorder(this.main.canvas.captureStream(60), { mimeType: "video/webm", videoBitsPerSecond: 12e6 });
    recorder.ondataavailable = (e) => pieces.push(e.data);
    recorder.onstop = () => {
      this.recorder = null;
      byId("record").classList.remove("active");
      download("spate.webm", new Blob(pieces, { type: "video/webm" }));
    };
    recorder.start();
    this.recorder = recorder;
    byId("record").classList.add("active");
    toast("Recording; press again to stop.");
  }
}

const app = new App();
Object.assign(globalThis, { spate: app, spateScenes: SCENES }); /* for tests and the curious */
app.start().then(() => (document.documentElement.dataset.ready = "yes"), (e: Error) => toast(e.message, "error"));

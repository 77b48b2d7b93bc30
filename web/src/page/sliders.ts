/* Controls of a running scene's fields, made from the field tables. */
import type { Field, FieldTables, Portrait } from "../source/source";
import { byId, el } from "./dom";

export type Change = (set: string) => void;

/* From 0 to 1 and back: straight where a field has both limits or a zero, else by powers of ten. */
function scaleOf(f: Field, value: number) {
  const low = f.min !== undefined && f.min > 1e-200 ? f.min : f.min !== undefined ? 0 : undefined;
  if (low !== undefined && f.max !== undefined && f.max / Math.max(low, 1e-9) < 1e4)
    return { to: (v: number) => (v - low) / (f.max! - low), from: (s: number) => low + s * (f.max! - low) };
  if (value === 0) {
    const top = f.max ?? 10;
    return { to: (v: number) => v / top, from: (s: number) => s * top };
  }
  const a = Math.log(Math.abs(value) / 100), b = Math.log(Math.abs(value) * 100), sign = Math.sign(value);
  return { to: (v: number) => (Math.log(Math.max(Math.abs(v), 1e-300)) - a) / (b - a), from: (s: number) => sign * Math.exp(a + s * (b - a)) };
}

const shown = (v: number) => String(Number(v.toPrecision(3)));

function numberControl(f: Field, path: string, value: number, change: Change): HTMLElement {
  const scale = scaleOf(f, value), output = el("output", {}, shown(value));
  const input = el("input", { type: "range", min: 0, max: 1, step: 0.002, value: scale.to(value), "aria-label": f.name });
  const now = () => {
    const v = Number(scale.from(Number(input.value)).toPrecision(3));
    return f.type === "integer" ? Math.round(v) : v;
  };
  input.addEventListener("input", () => (output.textContent = shown(now())));
  input.addEventListener("change", () => change(`${path}=${now()}`));
  return control(f, input, output);
}

function control(f: Field, input: HTMLElement, output: HTMLElement | null): HTMLElement {
  const unit = f.unit ? ` ${f.unit}` : "";
  if (output && unit) output.append(el("small", {}, unit));
  const name = el("span", {}, f.name.replace(/_/g, " "));
  return el("label", { class: "control", title: f.help }, name, output, input);
}

function fieldControl(f: Field, path: string, value: unknown, change: Change): HTMLElement | null {
  if ((f.type === "number" || f.type === "integer") && typeof value === "number") return numberControl(f, path, value, change);
  if (f.type === "choice" && typeof value === "string") {
    const select = el("select", { "aria-label": f.name }, ...f.choices!.map((c) => el("option", { value: c, selected: c === value }, c)));
    select.addEventListener("change", () => change(`${path}=${select.value}`));
    return control(f, select, null);
  }
  if (f.type === "flag") {
    const box = el("input", { type: "checkbox", checked: value === true, "aria-label": f.name });
    box.addEventListener("change", () => change(`${path}=${box.checked}`));
    return control(f, box, null);
  }
  return null;
}

function group(title: string, path: string, fields: Field[], values: Record<string, unknown>, change: Change, open: boolean): HTMLElement {
  const controls = fields.map((f) => fieldControl(f, `${path}.${f.name}`, values[f.name], change)).filter((c) => c !== null);
  return el("details", { open }, el("summary", {}, title), ...(controls.length ? controls : [el("p", { class: "hint" }, "Nothing to change here.")]));
}

export function buildSliders(tables: FieldTables, p: Portrait, change: Change): void {
  const materials = p.materials.map((m) =>
    group(`${m.name} · ${m.model}`, `materials.${m.name}`, tables[`material ${m.model}`] ?? [], m.values, change, true));
  const cfl = (tables["solver"] ?? []).filter((f) => f.name === "cfl");
  byId("sliders").replaceChildren(
    ...materials, group(`solver · ${p.solver}`, "solver", [...(tables[`solver ${p.solver}`] ?? []), ...cfl], p.options, change, true));
}

/* Variants of a scene that can be seen side by side: other solvers, and the schemes of its own. */
export function variantsOf(tables: FieldTables, p: Portrait): { label: string; set: string }[] {
  const schemes = ["integrator", "transfer", "pressure", "advection"];
  const own = (tables[`solver ${p.solver}`] ?? []).filter((f) => schemes.includes(f.name) && f.choices);
  const solvers = Object.keys(tables).filter((t) => t.startsWith("solver ")).map((t) => t.slice(7));
  const gas = p.on_grid;
  return [
    ...own.flatMap((f) => f.choices!.map((c) => ({ label: `${f.name}: ${c}`, set: `solver.${f.name}=${c}` }))),
    ...(gas ? [] : solvers.filter((s) => s !== "smoke").map((s) => ({ label: `solver: ${s}`, set: `solver.type=${s}` }))),
  ];
}

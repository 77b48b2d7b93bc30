/* Elements in one line each. */

type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | ((e: any) => void) | null | undefined>;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value === true ? "" : String(value));
  }
  e.append(...children.filter((c): c is Node | string => c !== null && c !== undefined));
  return e;
}

export function byId<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

const PATHS: Record<string, string> = {
  pour: "M12 3s6 6.5 6 11a6 6 0 0 1-12 0c0-4.500 6-11 6-11z",
  stir: "M5 12a7 7 0 1 0 7-7m0 0-3-2.500m3 2.500-3 2.500M12 9a3 3 0 1 1-3 3",
  pull: "M7 4v8a5 5 0 0 0 10 0V4h-3.500v8a1.500 1.500 0 0 1-3 0V4zM7 7.500h3.500M13.500 7.500H17",
  blast: "M12 2l2 5.500L19.500 5 17 10.500 22 12l-5 1.500 2.500 5.500-5.500-2.500L12 22l-2-5.500L4.500 19 7 13.500 2 12l5-1.500L4.500 5 10 7.500z",
  ball: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM8 9.500c.6-1.300 1.800-2.200 3.200-2.400",
  box: "M4.500 8 12 4l7.500 4v8L12 20l-7.500-4zM4.500 8l7.500 4 7.500-4M12 12v8",
  wall: "M4 20 9 9l6 5 5-10",
  erase: "M9 20h11M6 17l-2-2a1.500 1.500 0 0 1 0-2l8.500-8.500a1.500 1.500 0 0 1 2 0l4 4a1.500 1.500 0 0 1 0 2L11 18H7z",
  look: "M12 6c5 0 8.500 4.500 9.500 6-1 1.500-4.500 6-9.500 6s-8.500-4.500-9.500-6C3.500 10.500 7 6 12 6zm0 3.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5z",
  play: "M7 4.500v15l12-7.500z",
  pause: "M7 5h3.500v14H7zM13.500 5H17v14h-3.500z",
  step: "M6 5v14l8-7zM16 5h2.500v14H16z",
  reset: "M5 12a7 7 0 1 1 2 5M5 12V6.500M5 12h5.500",
  slow: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.500l3 2",
  gallery: "M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z",
  sliders: "M5 7h8m4 0h2M15 5v4M5 12h2m4 0h8M9 10v4M5 17h9m4 0h1M16 15v4",
  code: "M9 7l-5 5 5 5M15 7l5 5-5 5",
  plot: "M4 4v16h16M7 15l4-5 3 3 5-7",
  share: "M8 12h8M13 8.500l4 3.500-4 3.500M5 6v12",
  camera: "M4 8h3.500L9 6h6l1.500 2H20v10H4zM12 10a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  film: "M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12z",
  export: "M12 4v10m0 0-4-4m4 4 4-4M5 19h14",
  compare: "M4 5h7v14H4zM13 5h7v14h-7z",
  book: "M12 7c-2-1.500-5-2-8-1.500V18c3-.5 6 0 8 1.500 2-1.500 5-2 8-1.500V5.500c-3-.5-6 0-8 1.500zm0 0v12.500",
  close: "M6 6l12 12M18 6L6 18",
};

export function icon(name: string): SVGSVGElement {
  const s = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  s.setAttribute("viewBox", "0 0 24 24");
  s.setAttribute("aria-hidden", "true");
  const p = document.createElementNS("http://www.w3.org/2000/svg", "path");
  p.setAttribute("d", PATHS[name] ?? "");
  s.append(p);
  return s;
}

/* A short text that comes and goes; errors stay longer. */
export function toast(message: string, kind: "info" | "error" = "info"): void {
  const box = byId("toasts");
  for (const old of box.querySelectorAll(".toast")) if (old.textContent === message) old.remove();
  const t = el("div", { class: `toast ${kind}`, role: kind === "error" ? "alert" : "status" }, message);
  box.append(t);
  setTimeout(() => t.remove(), kind === "error" ? 9000 : 3500);
}

export function download(name: string, data: Blob): void {
  const url = URL.createObjectURL(data);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/* Mouse and touch: one finger is the hand, two move the picture; so do the right button, the wheel
 * and the tool `look`. */
import type { Pane } from "./pane";
import type { Hand } from "./tools";

export function listen(canvas: HTMLCanvasElement, pane: Pane, hand: Hand, overlay: HTMLCanvasElement): void {
  const fingers = new Map<number, { x: number; y: number }>();
  let looking = false;

  const place = (e: PointerEvent | WheelEvent) => {
    const r = canvas.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  };

  canvas.addEventListener("pointerdown", (e) => {
    if (!pane.portrait) return;
    canvas.setPointerCapture(e.pointerId);
    fingers.set(e.pointerId, place(e));
    looking = e.button === 2 || e.button === 1 || hand.tool === "look" || fingers.size > 1;
    if (looking) hand.release();
    else {
      const { x, y } = place(e);
      hand.press(pane.world(x, y), performance.now());
    }
    e.preventDefault();
  });

  canvas.addEventListener("pointermove", (e) => {
    if (!pane.portrait) return;
    const now = place(e), before = fingers.get(e.pointerId);
    if (before) fingers.set(e.pointerId, now);
    if (before && looking) look(pane, fingers, e.pointerId, before, now, e.shiftKey);
    else hand.move(pane.world(now.x, now.y), performance.now());
    ring(overlay, canvas, pane, hand, now);
  });

  const end = (e: PointerEvent) => {
    fingers.delete(e.pointerId);
    if (!fingers.size) looking = false;
    hand.release();
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => overlay.getContext("2d")!.clearRect(0, 0, overlay.width, overlay.height));
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("wheel", (e) => {
    if (!pane.portrait) return;
    e.preventDefault();
    zoom(pane, Math.exp(-e.deltaY * 0.0015), place(e));
  }, { passive: false });
}

interface Point {
  x: number;
  y: number;
}

function zoom(pane: Pane, factor: number, at: Point): void {
  const before = pane.world(at.x, at.y);
  pane.camera.zoom = Math.min(12, Math.max(0.4, pane.camera.zoom * factor));
  if (pane.portrait!.dimension === 2) {
    const after = pane.world(at.x, at.y);
    pane.camera.middle = pane.camera.middle.map((m, a) => m + before[a] - after[a]);
  }
  pane.invalidate();
}

function look(pane: Pane, fingers: Map<number, Point>, id: number, before: Point, now: Point, pan: boolean): void {
  const c = pane.camera, two = fingers.size > 1;
  if (two) {
    const other = [...fingers].find(([k]) => k !== id)![1];
    const was = Math.hypot(before.x - other.x, before.y - other.y), is = Math.hypot(now.x - other.x, now.y - other.y);
    if (was > 1) zoom(pane, is / was, { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
  }
  if (pane.portrait!.dimension === 3 && !pan) {
    const share = two ? 0.5 : 1;
    c.yaw -= (now.x - before.x) * 0.008 * share;
    c.pitch = Math.min(1.45, Math.max(-0.05, c.pitch + (now.y - before.y) * 0.008 * share));
  } else {
    const a = pane.world(before.x, before.y), b = pane.world(now.x, now.y);
    c.middle = c.middle.map((m, k) => m + (a[k] - b[k]) * (two ? 0.5 : 1));
  }
  pane.invalidate();
}

/* The reach of the hand, and the wall that is being drawn. */
function ring(overlay: HTMLCanvasElement, canvas: HTMLCanvasElement, pane: Pane, hand: Hand, at: Point): void {
  const from = overlay.getBoundingClientRect(), own = canvas.getBoundingClientRect();
  overlay.width = from.width;
  overlay.height = from.height;
  const c = overlay.getContext("2d")!, x = at.x + own.left - from.left, y = at.y + own.top - from.top;
  const metre = Math.abs(at.x - toPixel(pane, at, hand.radius()).x);
  c.strokeStyle = "rgba(160,205,255,0.75)";
  c.lineWidth = 1.5;
  if (hand.tool !== "look" && hand.tool !== "wall") {
    c.beginPath();
    c.arc(x, y, Math.max(metre, 4), 0, 7);
    c.stroke();
  }
  if (hand.drawing.length < 2 || pane.portrait!.dimension !== 2) return;
  c.beginPath();
  const here = pane.world(at.x, at.y), r = hand.radius(), perMetre = metre / r;
  hand.drawing.forEach((w, i) => {
    const px = x + (w[0] - here[0]) * perMetre, py = y - (w[1] - here[1]) * perMetre;
    if (i) c.lineTo(px, py);
    else c.moveTo(px, py);
  });
  c.lineTo(x, y);
  c.lineWidth = 5;
  c.lineCap = "round";
  c.stroke();
}

/* A pixel that is about so many metres to the right. */
function toPixel(pane: Pane, at: Point, metres: number): Point {
  const a = pane.world(at.x, at.y), b = pane.world(at.x + 100, at.y);
  const perPixel = Math.hypot(...b.map((v, k) => v - a[k])) / 100;
  return { x: at.x + metres / (perPixel || 1), y: at.y };
}

// The mouse and fingers: the camera, and the tools.
import {add, dot, scale, sub} from './math.js';

// The particle that is nearest to the line of sight through a pixel, and not behind another; null: none is near.
export function nearestParticle(frame, camera, px, py) {
  const p = frame?.particles;
  if (!p) return null;
  const {from, to} = camera.ray(px, py), step = Math.ceil(p.count / 400000), x = [0, 0, 0];
  let best = null, least = Infinity;
  for (let i = 0; i < p.count; i += step) {
    for (let a = 0; a < p.axes; a++) x[a] = p.origin[a] + p.spacing[a] * p.positions[p.axes * i + a];
    const dx = x[0] - from[0], dy = x[1] - from[1], dz = x[2] - from[2];
    const along = camera.flat ? 0 : dx * to[0] + dy * to[1] + dz * to[2], off = dx * dx + dy * dy + (camera.flat ? 0 : dz * dz) - along * along;
    const near = 12 * camera.pixel(along || 1);
    if (along < 0 || off > near * near) continue;
    const score = camera.flat ? off : along + 3 * Math.sqrt(Math.max(off, 0));
    if (score < least) least = score, best = x.slice();
  }
  return best;
}

export class Pointer {
  constructor(canvas, ask) {
    this.ask = ask; // camera(), frame(), tool(), say(...), radius(), pace(), material(), most()
    this.fingers = new Map();
    canvas.addEventListener('pointerdown', e => this.down(e, canvas));
    canvas.addEventListener('pointermove', e => this.move(e));
    for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, e => this.up(e));
    canvas.addEventListener('wheel', e => {
      e.preventDefault();
      ask.camera()?.closer(Math.exp(-0.0012 * e.deltaY));
    }, {passive: false});
    canvas.addEventListener('contextmenu', e => e.preventDefault());
  }
  // Where a tool works: at the particle under the pointer, then in the plane through it that faces the camera.
  start(e) {
    const camera = this.ask.camera(), hit = nearestParticle(this.ask.frame(), camera, e.clientX, e.clientY);
    if (camera.flat) return camera.ray(e.clientX, e.clientY).from;
    this.anchor = hit ?? camera.target;
    return this.on(e);
  }
  on(e) {
    const camera = this.ask.camera(), {from, to} = camera.ray(e.clientX, e.clientY);
    if (camera.flat) return from;
    const v = camera.view, ahead = [v[2], v[6], v[10]];
    return add(from, scale(to, dot(sub(this.anchor, from), ahead) / (dot(to, ahead) || -1e-9)));
  }
  down(e, canvas) {
    const camera = this.ask.camera();
    if (!camera) return;
    try { canvas.setPointerCapture(e.pointerId); } catch { /* a pointer that is gone again */ }
    this.fingers.set(e.pointerId, [e.clientX, e.clientY]);
    if (this.fingers.size > 1) { this.release(); return; }
    this.tool = e.button === 0 ? this.ask.tool() : 'look';
    this.panning = e.button === 1 || e.shiftKey;
    if (this.tool === 'look') return;
    const x = this.start(e), r = this.ask.radius();
    this.last = {x, at: performance.now()};
    if (this.tool === 'pick') {
      const hit = nearestParticle(this.ask.frame(), camera, e.clientX, e.clientY);
      if (hit) this.ask.say('pick', ...hit);
    } else if (this.tool === 'blast' || this.tool === 'ball') this.ask.say(this.tool, ...x, r);
    else if (this.tool === 'pour') this.ask.say('pour', ...x, r, this.ask.material());
    else if (this.tool === 'pull') this.ask.say('pull', ...x, r);
    else this.ask.say('stir', ...x, 0, 0, 0, r);
    this.holds = ['pour', 'pull', 'stir'].includes(this.tool);
  }
  move(e) {
    const camera = this.ask.camera(), before = this.fingers.get(e.pointerId);
    if (!camera || !before) return;
    const dx = e.clientX - before[0], dy = e.clientY - before[1];
    if (this.fingers.size === 2) this.pinch(e, dx, dy, camera);
    else if (this.tool === 'look') (this.panning || e.buttons === 4 ? camera.pan(dx, dy) : camera.turn(dx, dy));
    else if (this.holds && this.tool !== 'pour') this.drag(e);
    this.fingers.set(e.pointerId, [e.clientX, e.clientY]);
  }
  pinch(e, dx, dy, camera) {
    const [a, b] = [...this.fingers.entries()].map(([id, p]) => id === e.pointerId ? [p, [e.clientX, e.clientY]] : [p, p]);
    const apart = i => Math.hypot(a[i][0] - b[i][0], a[i][1] - b[i][1]) || 1;
    camera.closer(apart(1) / apart(0));
    camera.pan(dx / 2, dy / 2);
  }
  drag(e) {
    const x = this.on(e), now = performance.now(), seconds = (now - this.last.at) / 1000;
    if (seconds < 0.012) return;
    if (this.tool === 'pull') this.ask.say('pull', ...x, this.ask.radius());
    else {
      let v = scale(sub(x, this.last.x), 1 / (seconds * this.ask.pace()));
      const speed = Math.hypot(...v), most = this.ask.most();
      if (speed > most) v = scale(v, most / speed);
      this.ask.say('stir', ...x, ...v, this.ask.radius());
    }
    this.last = {x, at: now};
  }
  release() {
    if (this.holds) this.ask.say('release');
    this.holds = false;
    this.tool = 'look';
  }
  up(e) {
    this.fingers.delete(e.pointerId);
    this.release();
  }
}

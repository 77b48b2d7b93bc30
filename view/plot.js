// One quantity over time.

const nice = x => Math.abs(x) >= 1e4 || (x !== 0 && Math.abs(x) < 1e-2) ? x.toExponential(1) : +x.toPrecision(3) + '';

export class Plot {
  constructor(canvas) { this.canvas = canvas; this.clear(); }
  clear(name = '', unit = '') { this.times = []; this.values = []; this.name = name; this.unit = unit; this.draw(); }
  // A play that was reset begins anew.
  add(time, value) {
    if (this.times.length && time < this.times.at(-1)) this.times = [], this.values = [];
    if (!Number.isFinite(value) || time === this.times.at(-1)) return;
    this.times.push(time);
    this.values.push(value);
    // Every second one of a long curve is enough.
    if (this.times.length > 2000) for (const list of ['times', 'values']) this[list] = this[list].filter((_, i) => i % 2 === 0);
    this.draw();
  }
  set(times, values) {
    const there = times.map((t, i) => i).filter(i => values[i] !== null && times[i] !== null);
    this.times = there.map(i => times[i]);
    this.values = there.map(i => values[i]);
    this.draw();
  }
  mark(time) { this.now = time; this.draw(); }
  draw() {
    const c = this.canvas.getContext('2d'), w = this.canvas.width, h = this.canvas.height, left = 8, top = 34, bottom = 34;
    c.clearRect(0, 0, w, h);
    c.font = '22px system-ui, sans-serif';
    c.fillStyle = '#9fb0c3';
    if (this.times.length < 2) { c.fillText(this.name ? 'waiting for values' : '', left, h / 2); return; }
    let low = Math.min(...this.values), high = Math.max(...this.values);
    if (low > 0 && low < 0.6 * high) low = 0;
    if (!(high > low)) high = low + 1;
    const [t0, t1] = [this.times[0], this.times.at(-1)];
    const x = t => left + (w - 2 * left) * (t - t0) / (t1 - t0 || 1), y = v => h - bottom - (h - top - bottom) * (v - low) / (high - low);
    c.strokeStyle = 'rgba(150, 180, 210, .25)';
    c.beginPath();
    for (const v of [low, high]) { c.moveTo(left, y(v)); c.lineTo(w - left, y(v)); }
    if (this.now !== undefined) { c.moveTo(x(this.now), top); c.lineTo(x(this.now), h - bottom); }
    c.stroke();
    c.strokeStyle = '#4cc2ff';
    c.lineWidth = 3;
    c.beginPath();
    this.times.forEach((t, i) => i ? c.lineTo(x(t), y(this.values[i])) : c.moveTo(x(t), y(this.values[i])));
    c.stroke();
    c.lineWidth = 1;
    c.fillText(`${nice(high)} ${this.unit}`, left, 24);
    c.fillText(nice(low), left, h - 8);
    c.textAlign = 'right';
    c.fillText(`${nice(t1)} s`, w - left, h - 8);
    c.textAlign = 'left';
  }
}

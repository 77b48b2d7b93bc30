// The connection to `spate view` and its messages (docs/viewer.md).

const HEAD = 40, SECTION = 16;
const KINDS = ['', 'particles', 'scalar', 'group', 'grid', 'surface', 'poses', 'quantities', 'solid', 'mesh'];
export const STATES = ['running', 'paused', 'failed', 'ended'];

const three = (view, at) => [0, 8, 16].map(o => view.getFloat64(at + o, true));
const floats = (view, at, n) => Array.from({length: n}, (_, i) => view.getFloat32(at + 4 * i, true));

// What a section's payload is, by its kind. Arrays are views of the message: nothing is copied.
const readers = {
  particles(v, b, at) {
    const count = v.getUint32(at, true), axes = v.getUint32(at + 4, true);
    return {count, axes, origin: three(v, at + 8), spacing: three(v, at + 32), positions: new Uint16Array(b, at + 56, count * axes)};
  },
  scalar(v, b, at) {
    const count = v.getUint32(at, true);
    return {count, low: v.getFloat32(at + 8, true), high: v.getFloat32(at + 12, true), values: new Uint16Array(b, at + 16, count)};
  },
  group(v, b, at) {
    const count = v.getUint32(at, true);
    return {count, values: new Uint16Array(b, at + 8, count)};
  },
  grid(v, b, at) {
    const size = [0, 4, 8].map(o => v.getUint32(at + o, true)), channels = v.getUint32(at + 12, true);
    return {size, channels, first: three(v, at + 16), spacing: v.getFloat64(at + 40, true), low: floats(v, at + 48, 4),
      high: floats(v, at + 64, 4), values: new Uint8Array(b, at + 80, size[0] * size[1] * size[2] * channels)};
  },
  surface(v, b, at) {
    const vertices = v.getUint32(at, true), triangles = v.getUint32(at + 4, true), start = at + 56;
    return {vertices, triangles, origin: three(v, at + 8), spacing: three(v, at + 32), positions: new Uint16Array(b, start, 4 * vertices),
      normals: new Int8Array(b, start + 8 * vertices, 4 * vertices), indices: new Uint32Array(b, start + 12 * vertices, 3 * triangles)};
  },
  poses(v, b, at, length) {
    return Array.from({length: length / 32}, (_, i) => {
      const f = floats(v, at + 32 * i, 8);
      return {present: f[0] > 0, position: f.slice(1, 4), rotation: f.slice(4)};
    });
  },
  mesh(v, b, at) {
    const triangles = v.getUint32(at, true), segments = v.getUint32(at + 4, true), start = at + 8;
    return {triangles: new Uint32Array(b, start, 3 * triangles), segments: new Uint32Array(b, start + 12 * triangles, 2 * segments)};
  },
  quantities(v, b, at, length) { return Array.from(new Float64Array(b, at, length / 8)); },
  solid(v, b, at) {
    const vertices = v.getUint32(at + 4, true), triangles = v.getUint32(at + 8, true), start = at + 32;
    return {collider: v.getUint32(at, true), vertices, triangles, color: floats(v, at + 16, 3), given: v.getFloat32(at + 28, true) > 0,
      positions: new Float32Array(b, start, 3 * vertices), normals: new Float32Array(b, start + 12 * vertices, 3 * vertices),
      indices: new Uint32Array(b, start + 24 * vertices, 3 * triangles)};
  },
};

// A binary message: its head, and its sections by their kinds; solids are a list.
export function parse(buffer) {
  const v = new DataView(buffer), magic = String.fromCharCode(...new Uint8Array(buffer, 0, 4));
  const out = {kind: magic === 'SPF1' ? 'frame' : magic === 'SPP1' ? 'parts' : 'unknown', bytes: buffer.byteLength,
    time: v.getFloat64(8, true), number: Number(v.getBigUint64(16, true)), state: STATES[v.getUint32(24, true)],
    pace: v.getFloat32(28, true), rate: v.getFloat32(32, true), index: v.getUint32(36, true), solids: []};
  let at = HEAD;
  for (let i = v.getUint32(4, true); i > 0; i--) {
    const kind = KINDS[v.getUint32(at, true)], length = Number(v.getBigUint64(at + 8, true));
    at += SECTION;
    if (readers[kind]) {
      const made = readers[kind](v, buffer, at, length);
      if (kind === 'solid') out.solids.push(made); else out[kind] = made;
    }
    at += Math.ceil(length / 8) * 8;
  }
  return out;
}

// Calls on[kind](message); comes back by itself when the connection is lost.
export class Connection {
  constructor(on) {
    this.on = on;
    this.delay = 500;
    this.open();
  }
  open() {
    const url = new URL('live', location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    this.socket = new WebSocket(url);
    this.socket.binaryType = 'arraybuffer';
    this.socket.onmessage = event => {
      this.delay = 500;
      const message = typeof event.data === 'string' ? JSON.parse(event.data) : parse(event.data);
      this.on[message.kind]?.(message);
    };
    this.socket.onclose = () => {
      this.on.lost?.();
      setTimeout(() => this.open(), this.delay);
      this.delay = Math.min(2 * this.delay, 8000);
    };
  }
  say(...words) {
    if (this.socket.readyState === WebSocket.OPEN)
      this.socket.send(words.map(w => typeof w === 'number' ? +w.toPrecision(9) : w).join(' '));
  }
}

// Colours of materials, and the colour maps for what has no shader.

// For materials that share a model: further colours that go with each other.
const PALETTE = [[0.18, 0.50, 0.72], [0.88, 0.52, 0.20], [0.36, 0.66, 0.36], [0.72, 0.32, 0.52], [0.80, 0.72, 0.28], [0.45, 0.42, 0.75]];

// The colour of a body or source: its own, or its material's.
export function colourOfGroup(hello, group) {
  if (group.color) return group.color;
  const m = hello.materials[group.material];
  if (!m) return [0.7, 0.7, 0.7];
  return m.nth ? PALETTE[m.nth % PALETTE.length] : m.color;
}

const VIRIDIS = [[68, 1, 84], [70, 50, 127], [54, 92, 141], [39, 127, 142], [31, 161, 135], [74, 194, 109], [159, 218, 58], [253, 231, 37]];
const TWO_SIGNS = [[26, 77, 191], [242, 242, 242], [199, 31, 31]];

export function mapColour(t, signs) {
  const map = signs ? TWO_SIGNS : VIRIDIS, x = Math.max(0, Math.min(1, t)) * (map.length - 1), i = Math.min(map.length - 2, Math.floor(x));
  return map[i].map((c, a) => Math.round(c + (x - i) * (map[i + 1][a] - c)));
}

// The range of a scalar without its outermost values; it follows the frames slowly.
export class Range {
  constructor() { this.reset(); }
  reset() { this.low = NaN; this.high = NaN; }
  follow(scalar) {
    const n = scalar.values.length, step = Math.max(1, Math.floor(n / 4000)), some = [];
    for (let i = 0; i < n; i += step) some.push(scalar.values[i]);
    if (!some.length) return;
    some.sort((a, b) => a - b);
    const at = q => scalar.low + (scalar.high - scalar.low) * some[Math.floor(q * (some.length - 1))] / 65535;
    this.towards(at(0.01), at(0.99));
  }
  towards(low, high) {
    const slow = Number.isNaN(this.low) ? 1 : 0.08;
    this.low = slow === 1 ? low : this.low + slow * (low - this.low);
    this.high = slow === 1 ? high : this.high + slow * (high - this.high);
  }
  // Values on both sides of 0 get a map with 0 in its middle.
  ends() {
    const {low, high} = this, most = Math.max(-low, high);
    if (low < -0.05 * most && high > 0.05 * most) return {range: [-most, most], signs: 1};
    return {range: [low, high > low ? high : low + 1e-9], signs: 0};
  }
}

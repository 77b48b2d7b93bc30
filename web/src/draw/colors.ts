/* Colour scales: in shaders, in legends and on the plain canvas. */

export type Scale = "ocean" | "viridis" | "heat" | "balance";
export const SCALES: Scale[] = ["ocean", "viridis", "heat", "balance"];

const STOPS: Record<Scale, string[]> = {
  ocean: ["#0b2a5b", "#1456a8", "#1f8fd6", "#5cc8e8", "#c9f2f7", "#ffffff"],
  viridis: ["#440154", "#3b528b", "#21918c", "#5ec962", "#b8de29", "#fde725"],
  heat: ["#160b39", "#57106e", "#a52c60", "#e35932", "#f9a31b", "#fcffa4"],
  balance: ["#1b4f9c", "#5c9bd5", "#dfe7ee", "#f3dfd2", "#e0764b", "#9c2a1b"],
};

export type RGB = [number, number, number];

export function parseColor(hex: string): RGB {
  const n = parseInt(hex.slice(1), 16);
  return [(n >> 16) / 255, ((n >> 8) & 255) / 255, (n & 255) / 255];
}

export function colorAt(scale: Scale, t: number): RGB {
  const stops = STOPS[scale].map(parseColor);
  const x = Math.min(Math.max(t, 0), 1) * (stops.length - 1), i = Math.min(Math.floor(x), stops.length - 2);
  return [0, 1, 2].map((a) => stops[i][a] + (stops[i + 1][a] - stops[i][a]) * (x - i)) as RGB;
}

export function cssGradient(scale: Scale): string {
  return `linear-gradient(to right, ${STOPS[scale].join(", ")})`;
}

/* `vec3 scale_color(float t)` with the stops in `uniform vec4 stops[6]`. */
export const SCALE_SHADER = `
uniform vec4 stops[6];
vec3 scale_color(float t) {
  float x = clamp(t, 0.0, 1.0) * 5.0;
  int i = min(int(x), 4);
  return mix(stops[i].rgb, stops[i + 1].rgb, x - float(i));
}`;

export function stopsOf(scale: Scale): Float32Array {
  return Float32Array.from(STOPS[scale].flatMap((c) => [...parseColor(c), 1]));
}

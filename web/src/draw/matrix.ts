/* 4 by 4 matrices by columns, as WebGL has them. */

export type Vec3 = [number, number, number];

export const sub = (a: ArrayLike<number>, b: ArrayLike<number>): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Vec3, b: Vec3): Vec3 =>
  [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const unit = (a: Vec3): Vec3 => {
  const l = Math.hypot(...a) || 1;
  return [a[0] / l, a[1] / l, a[2] / l];
};

export interface View {
  eye: Vec3;
  right: Vec3;
  up: Vec3;
  back: Vec3;
  matrix: number[];
}

export function lookAt(eye: Vec3, to: Vec3): View {
  const back = unit(sub(eye, to)), right = unit(cross([0, 1, 0], back)), up = cross(back, right);
  const matrix = [
    right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1,
  ];
  return { eye, right, up, back, matrix };
}

export function perspective(tangent: number, aspect: number, near: number, far: number): number[] {
  const f = 1 / tangent;
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
}

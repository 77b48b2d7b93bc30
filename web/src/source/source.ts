/*
 * Where a page's simulation lives. The page knows this interface alone: worker_source.ts is the
 * engine in a Web Worker; a server's WebSocket fits beside it. Everything that crosses it is plain
 * data (numbers, texts, typed arrays), so that it can be sent.
 */
import type { Force, Grid, Pose, Review } from "./engine";

export interface Material {
  name: string;
  model: string;
  look: "surface" | "skin" | "grains" | "veil";
  mesh: boolean; /* cloth, strands or finite elements are of it */
  color: string;
  values: Record<string, number | string | boolean>;
}

/* The scene as it is now: spate_simulation_portrait. */
export interface Portrait {
  name: string;
  dimension: 2 | 3;
  duration: number;
  fps: number;
  gravity: number[];
  origin: number[];
  size: number[];
  dx: number;
  cells: number[];
  solver: string;
  on_grid: boolean;
  options: Record<string, number | string | boolean>;
  materials: Material[];
  bodies: string[];
  meshes: boolean; /* some bodies are */
  colliders: string[];
  sources: string[];
  probes: string[];
  moving: boolean; /* some colliders move by themselves */
  events: number;
}

export interface Entry {
  name: string;
  unit: string;
  components: number;
}

export interface Opened {
  portrait: Portrait;
  attributes: Entry[];
  quantities: Entry[];
  grids: Entry[];
  review: Review;
  warnings: string[];
}

/* A field of a table: spate_scene_fields. */
export interface Field {
  name: string;
  type: string;
  unit?: string;
  required?: boolean;
  default?: number;
  min?: number;
  max?: number;
  choices?: string[];
  fields?: Field[];
  help: string;
}
export type FieldTables = Record<string, Field[]>;

export interface FrameRequest {
  time: number; /* step until this is reached */
  until?: number; /* that no step passes */
  budget: number; /* milliseconds */
  steps?: number;
  color: string | null; /* attribute of particles */
  grid: string | null; /* field of the grid */
  quantities: string[];
  byId: boolean; /* particles in the order of their ids */
}

/* Signed distance to colliders on a lattice; sent when it may have changed. */
export interface Solids {
  values: Float32Array;
  size: number[];
  first: number[];
  spacing: number;
}

/* Bodies that are meshes: which particles, by id, are the corners of triangles and of segments, and
 * which are no vertices. Sent when it may have changed. */
export interface Links {
  triangles: Uint32Array;
  segments: Uint32Array;
  loose: Uint32Array;
}

export interface Frame {
  time: number;
  dt: number;
  dtLimit: string;
  steps: number;
  particles: number;
  positions: Float32Array; /* three to a particle */
  material: Float32Array | null; /* null: all the first */
  color: { values: Float32Array; components: number } | null;
  grid: Grid | null;
  solids: Solids | null;
  links: Links | null;
  quantities: number[];
  spent: number; /* milliseconds that steps took */
  memory: number; /* bytes */
}

/* Everything that can be done to a running simulation. */
export type Action =
  | { do: "force"; name: string; force: Force }
  | { do: "pose"; name: string; pose: Pose }
  | { do: "add"; yaml: string }
  | { do: "set"; set: string }
  | { do: "remove"; name: string };

/* One stage of a step as Explain shows it. */
export interface StageView {
  stage: string;
  positions: Float32Array;
  velocities: Float32Array;
  grids: Record<string, Grid>;
}

export interface Source {
  /* Fails with a SourceError; the simulation that was there goes on. */
  open(text: string, sets: string[], limit: { particles: number; memory: number }): Promise<Opened>;
  frame(request: FrameRequest): Promise<Frame>;
  act(action: Action): Promise<Portrait | null>; /* the portrait where the scene has changed */
  stages(fields: string[]): Promise<StageView[]>;
  fields(): Promise<FieldTables>;
  recorded(): Promise<string>;
  hash(): Promise<string>;
  close(): void;
}

/* `line` and `column` (from 1) where the message names a place in the scene. */
export class SourceError extends Error {
  readonly line?: number;
  readonly column?: number;
  constructor(readonly kind: "scene" | "unstable" | "too-large" | "crash" | "refused", message: string) {
    const place = /^(?:scene):(\d+):(\d+): /.exec(message);
    super(place ? message.slice(place[0].length) : message.replace(/^scene: /, ""));
    if (place) (this.line = Number(place[1])), (this.column = Number(place[2]));
  }
}

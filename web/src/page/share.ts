/* Links that hold a scene with everything done to it: deflated, in the part behind #. */

export interface Shared {
  text: string;
  sets: string[];
}

async function through(bytes: Uint8Array, by: GenericTransformStream): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(by as ReadableWritablePair<Uint8Array, Uint8Array>);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function toLink(shared: Shared): Promise<string> {
  const packed = await through(new TextEncoder().encode(JSON.stringify(shared)), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const b of packed) binary += String.fromCharCode(b);
  const word = btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  return `${location.href.split("#")[0]}#s=${word}`;
}

const MOST = 4 << 20; /* characters of a scene that a link may unpack to */

/* null: the address holds none. Throws on one that is damaged. */
export async function fromAddress(hash: string): Promise<Shared | null> {
  const word = /^#s=([\w-]+)$/.exec(hash)?.[1];
  if (!word) return null;
  const binary = atob(word.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  const text = new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
  const shared = JSON.parse(text) as Shared;
  if (typeof shared.text !== "string" || shared.text.length > MOST || !Array.isArray(shared.sets)
    || shared.sets.some((s) => typeof s !== "string"))
    throw new Error("the link does not hold a scene");
  return shared;
}

/* Lets a recorded scene run as long as it has been played: to the end of its present frame. */
export function withDuration(recorded: string, time: number, fps: number): string {
  const seconds = Math.max(1, Math.ceil(time * fps - 1e-6)) / fps;
  const line = `duration: ${seconds}`;
  return /^duration:.*$/m.test(recorded) ? recorded.replace(/^duration:.*$/m, line) : `${line}\n${recorded}`;
}

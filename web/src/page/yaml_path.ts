/* Where in a scene a cursor stands, well enough for completion: from the text before it alone. */
import type { Field, FieldTables } from "../source/source";

export interface Place {
  path: string[]; /* keys from the top: ["bodies", "shape"]; list items have none */
  key: string | null; /* the key whose value is being written; null: a key is */
}

interface Level {
  indent: number;
  key: string;
}

export function pathAt(before: string): Place {
  const levels: Level[] = [];
  const lines = before.split("\n");
  lines.forEach((line, i) => {
    const last = i === lines.length - 1;
    const body = line.replace(/(^|\s)#.*$/, ""), lead = /^(\s*(?:- +)*)/.exec(body)![1];
    if (!last && !body.trim()) return;
    while (levels.length && levels[levels.length - 1].indent >= lead.length) levels.pop();
    const key = /^([\w ]+):(\s|$)/.exec(body.slice(lead.length))?.[1];
    if (key && (!last || /:\s/.test(body))) levels.push({ indent: lead.length, key });
  });
  const line = lines[lines.length - 1].replace(/(^|\s)#.*$/, "");
  const block = levels.map((l) => l.key);
  const flow = flowKeys(line);
  if (flow.depth) return { path: [...block, ...flow.path], key: flow.key };
  const key = /([\w ]+):\s+$/.exec(line)?.[1]?.trim() ?? null;
  return { path: key ? block.slice(0, -1) : block, key };
}

/* Keys of the braces that are open at the end of a line, behind its first key. */
function flowKeys(line: string): { depth: number; path: string[]; key: string | null } {
  const stack: (string | null)[] = [];
  let word = "", key: string | null = null;
  for (const c of line) {
    if (c === "{" || c === "[") stack.push(c === "{" ? key : null), (key = null), (word = "");
    else if (c === "}" || c === "]") stack.pop(), (key = null), (word = "");
    else if (c === ",") (key = null), (word = "");
    else if (c === ":") (key = word.trim().replace(/^- */, "")), (word = "");
    else word += c;
  }
  return { depth: stack.length, path: stack.slice(1).filter((k): k is string => !!k), key };
}

const LISTS: Record<string, string> = {
  bodies: "body", colliders: "collider", sources: "source", sinks: "sink", probes: "probe", forces: "force", events: "event",
};

/* The word that a key has within a part of the text, such as the type of the solver. */
const wordOf = (text: string, key: string) => new RegExp(`\\b${key}:\\s*(\\w+)`).exec(text)?.[1];

function kinds(tables: FieldTables, what: string): Field[] {
  const names = Object.keys(tables).filter((t) => t.startsWith(`${what} `)).map((t) => t.slice(what.length + 1));
  return [...(tables[what] ?? []), ...names.map((name) => ({ name, type: "group", help: `${what}: ${name}` }))];
}

export function fieldsAt(tables: FieldTables, path: string[], text: string): Field[] {
  const [first, second] = path, last = path[path.length - 1];
  if (!first) return tables["scene"] ?? [];
  if (last === "shape" || last === "union" || last === "difference" || last === "intersection") return kinds(tables, "shape");
  if (tables[`shape ${last}`] && path.length > 1) return tables[`shape ${last}`];
  if (last === "motion" || last === "camera" || last === "output" || last === "cloth" || last === "strands" || last === "fe")
    return tables[last] ?? [];
  if (first === "solver") {
    const type = wordOf(text.slice(text.search(/^solver:/m)), "type") ?? "mpm";
    const own = tables[`solver ${type}`] ?? [];
    const types = Object.keys(tables).filter((t) => t.startsWith("solver ")).map((t) => t.slice(7));
    const common = (tables["solver"] ?? []).map((f) => (f.name === "type" ? { ...f, choices: types } : f));
    return second ? own.find((f) => f.name === second)?.fields ?? [] : [...common, ...own];
  }
  if (first === "materials") {
    if (!second) return [];
    const model = wordOf(text.slice(Math.max(text.search(new RegExp(`^\\s+${second}:`, "m")), 0)), "model") ?? "";
    const models = Object.keys(tables).filter((t) => t.startsWith("material ")).map((t) => t.slice(9));
    const common = (tables["material"] ?? []).map((f) => (f.name === "model" ? { ...f, choices: models } : f));
    return [...common, ...(tables[`material ${model}`] ?? [])];
  }
  const list = LISTS[first];
  if (!list) return tables[first] ?? [];
  if (second && tables[`${list} ${second}`]) return tables[`${list} ${second}`];
  return list === "probe" || list === "force" ? kinds(tables, list) : tables[list] ?? [];
}

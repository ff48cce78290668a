/**
 * Files among a prediction's output, which is a text, a list or an object as each model has it (replicate.com/docs/topics/
 * predictions/output-files). They lie at public addresses for an hour.
 */
import { isMembers } from "../json.ts";

/** Marks by which the requested file is told from previews and intermediate files. */
export interface Wanted {
  /** Names under which models put it, the best first. */
  readonly members: readonly string[];
  /** Pattern of the ending in its URL's path. */
  readonly extension: RegExp;
}

/** A file, and the names of the members on the way to it. */
interface Found {
  readonly names: readonly string[];
  readonly url: string;
}

/**
 * Addresses of what was asked for, in the model's order. Undefined: there is output, and no file to be told in it; an
 * empty list: there is none.
 */
export function filesOf(output: unknown, { members, extension }: Wanted): readonly string[] | undefined {
  if (isNothing(output)) return [];
  const all = collect(output, []);
  const fits = ({ url }: Found): boolean => extension.test(new URL(url).pathname);
  const named = members.map((name) => all.filter(({ names }) => names.includes(name))).find(({ length }) => length > 0);
  // A text or a list is all of one kind; of an object's members some are previews, and a lone one may be.
  const isPlain = all.every(({ names }) => names.length === 0);
  const isLone = all.length === 1 && all.every(({ url }) => !/\.[a-z0-9]{2,5}$/i.test(new URL(url).pathname));
  const candidates = named ?? (isPlain || isLone ? all : all.filter(fits));
  const chosen = candidates.some(fits) ? candidates.filter(fits) : candidates;
  if (chosen.length > 0) return chosen.map(({ url }) => url);
  return isMembers(output) && members.some((name) => output[name] === null) ? [] : undefined;
}

function isNothing(output: unknown): boolean {
  return output === null || output === undefined || output === "" || (Array.isArray(output) && output.length === 0);
}

/** Collects addresses at any depth; json.ts limits how deep an answer can be. */
function collect(value: unknown, names: readonly string[]): Found[] {
  if (typeof value === "string") return isAddress(value) ? [{ names, url: value }] : [];
  if (Array.isArray(value)) return value.flatMap((item: unknown) => collect(item, names));
  if (!isMembers(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => collect(item, [...names, name]));
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/**
 * Marks, which find a job again whose start was not answered: its inputs by short hashes, since they are noted in a row, where nothing of
 * a caller's text belongs.
 */
import { createHash } from "node:crypto";

import { canonicalJson } from "#shared/canonical-json.ts";

import { isMembers, type Members } from "./json.ts";
import type { Listed } from "./media.ts";

/** Hashes of a request's members: those that a provider shows as they came, and media, which it may keep under other addresses. */
export interface InputMark {
  readonly plain: Readonly<Record<string, string>>;
  readonly media: Readonly<Record<string, string>>;
}

/** The first 64 bits of a value's SHA-256, in hex. */
export function hashOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, 16);
}

export function inputMark(input: Members): InputMark {
  const [media, plain] = [new Map<string, string>(), new Map<string, string>()];
  for (const [name, value] of Object.entries(input)) {
    if (value !== undefined) (holdsMedia(value) ? media : plain).set(name, hashOf(value));
  }
  return { plain: Object.fromEntries(plain), media: Object.fromEntries(media) };
}

/** Likeness of a listed input to that of the mark: members beside it are the provider's own defaults. */
export function likeness({ plain, media }: InputMark, listed: unknown): "alike" | "unclear" | "other" {
  if (!isMembers(listed)) return "unclear";
  const isSame = ([name, hash]: readonly [string, string]): boolean =>
    listed[name] !== undefined && hashOf(listed[name]) === hash;
  if (!Object.entries(plain).every(isSame)) return "other";
  return Object.entries(media).every(isSame) ? "alike" : "unclear";
}

/** A stored mark; undefined when it is none. */
export function readInputMark(value: unknown): InputMark | undefined {
  if (!isMembers(value) || !isHashes(value["plain"]) || !isHashes(value["media"])) return undefined;
  return { plain: value["plain"], media: value["media"] };
}

/** Both clocks may be wrong by this together, and what is listed a little early is sorted out by whose it is. */
const CLOCKS_MS = 300_000;

/** True for jobs made since a start was sent, and for those that do not say when. */
export function isSince(sentMs: number, { madeMs }: Pick<Listed, "madeMs">): boolean {
  return Number.isNaN(madeMs) || madeMs >= sentMs - CLOCKS_MS;
}

/** Unix milliseconds from which jobs are to be listed. */
export function listedFrom(sentMs: number): number {
  return sentMs - CLOCKS_MS;
}

function holdsMedia(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsMedia);
  return typeof value === "string" && /^(?:data:|https?:\/\/)/i.test(value);
}

function isHashes(value: unknown): value is Readonly<Record<string, string>> {
  return isMembers(value) && Object.values(value).every((hash) => typeof hash === "string");
}

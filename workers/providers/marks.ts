/**
 * Creates and compares marks. A mark finds a job again if its start had no response. It contains inputs only as short hashes, because a
 * database row must not contain text of a caller.
 */
import { createHash } from "node:crypto";

import { canonicalJson } from "#shared/json/serialize.ts";

import { isMembers, type Members } from "./json.ts";
import type { Listed } from "./media.ts";

/**
 * Hashes of a request's members. `plain` contains members that a provider lists unchanged. `media` contains media, which the provider may
 * store under other URLs.
 */
export interface InputMark {
  readonly plain: Readonly<Record<string, string>>;
  readonly media: Readonly<Record<string, string>>;
}

/** Returns the first 64 bits of the SHA-256 of a value, in hex. */
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

/** Compares an input in a provider's list with the mark. Additional members are ignored, because they are defaults of the provider. */
export function likeness({ plain, media }: InputMark, listed: unknown): "alike" | "unclear" | "other" {
  if (!isMembers(listed)) return "unclear";
  const isSame = ([name, hash]: readonly [string, string]): boolean =>
    listed[name] !== undefined && hashOf(listed[name]) === hash;
  if (!Object.entries(plain).every(isSame)) return "other";
  return Object.entries(media).every(isSame) ? "alike" : "unclear";
}

/** Parses a stored mark of inputs; undefined for any other value. */
export function readInputMark(value: unknown): InputMark | undefined {
  if (!isMembers(value) || !isHashes(value["plain"]) || !isHashes(value["media"])) return undefined;
  return { plain: value["plain"], media: value["media"] };
}

/**
 * Maximum difference between the provider's clock and ours, in milliseconds. Jobs that are wrongly listed because of it are later excluded
 * by their owner.
 */
const CLOCKS_MS = 300_000;

/** Returns true for a job that was created after the start was sent, or whose creation time is unknown. */
export function isSince(sentMs: number, { createdMs }: Pick<Listed, "createdMs">): boolean {
  return Number.isNaN(createdMs) || createdMs >= sentMs - CLOCKS_MS;
}

/** Returns the time from which jobs are searched in the provider's list, in Unix milliseconds. */
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

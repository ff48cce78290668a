/**
 * Creates and compares marks. A mark finds a job in the provider's list if the response to its start request was lost. Inputs are only
 * included as short hashes, because a database row must not contain a caller's text.
 */
import { createHash } from "node:crypto";

import { canonicalJson } from "#shared/json/serialize.ts";

import { isMembers, type Members } from "./json.ts";
import type { Listed } from "./media.ts";

/**
 * Hashes of a request's members. `plain` are members that the provider lists unchanged. `media` are images and other media, which the
 * provider may list under other URLs.
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

/**
 * Compares the input of a job in a provider's list with a mark. The result is `unclear` if only the media differ or the list has no input.
 * Additional members in the list are ignored, because they are the provider's defaults.
 */
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
 * Maximum assumed difference between the provider's clock and ours, in milliseconds. It can include jobs that were created before the start
 * request. Such jobs are excluded later, because they already belong to another job of ours.
 */
const CLOCKS_MS = 300_000;

/**
 * Returns true if a listed job was created after the start request was sent, or if its creation time is unknown. Clock differences are
 * tolerated.
 */
export function isSince(sentMs: number, { createdMs }: Pick<Listed, "createdMs">): boolean {
  return Number.isNaN(createdMs) || createdMs >= sentMs - CLOCKS_MS;
}

/**
 * Returns the earliest creation time of jobs to search in the provider's list, in Unix milliseconds.
 * @param sentMs time of the start request
 */
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

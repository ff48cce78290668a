/** Ids of all objects. UUIDv7 sorts by time, so that index pages of busy tables stay cached. */
import { createHash } from "node:crypto";

export function newId(): string {
  return Bun.randomUUIDv7();
}

/** Returns the Unix milliseconds at which `newId` created the id. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/**
 * Returns the id of a job that its publisher has named. The same name in the same workspace gives the same id (RFC 9562, version 5).
 * @param name not empty
 */
export function jobIdOf(workspaceId: string, name: string): string {
  return namedId(workspaceId, name, 0x50);
}

/** Returns an id that only the service makes (RFC 9562, version 8). Callers can compute it, but cannot create an object with it. */
export function reservedIdOf(workspaceId: string, name: string): string {
  return namedId(workspaceId, name, 0x80);
}

/** Returns true for the ids of `reservedIdOf`. */
export function isReservedId(id: string): boolean {
  return id[14] === "8";
}

function namedId(workspaceId: string, name: string, version: number): string {
  const space = Buffer.from(workspaceId.replaceAll("-", ""), "hex");
  const digest = createHash("sha1").update(space).update(name, "utf8").digest().subarray(0, 16);
  digest[6] = ((digest[6] ?? 0) & 0x0f) | version;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = digest.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

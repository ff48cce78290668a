/** Ids of jobs that publishers name themselves: the same name in the same workspace is the same job (RFC 9562, version 5). */
import { createHash } from "node:crypto";

/** @param name never empty */
export function jobIdOf(workspaceId: string, name: string): string {
  const space = Buffer.from(workspaceId.replaceAll("-", ""), "hex");
  const digest = createHash("sha1").update(space).update(name, "utf8").digest().subarray(0, 16);
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = digest.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

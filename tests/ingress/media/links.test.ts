import { describe, expect, test } from "bun:test";

import { createFileLinks } from "#ingress/media/links.ts";
import { newFileId } from "#shared/files/id.ts";
import { newId } from "#shared/ids.ts";

const SECRET = new Uint8Array(32).fill(7);
const workspaceId = newId();
const fileId = newFileId();

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** Its last two bits are not part of the 32 bytes. */
const twin = (last: string): string => ALPHABET[ALPHABET.indexOf(last) ^ 1] ?? "";

describe("a link to a file", () => {
  test("is read by every process that has the secret", () => {
    const token = createFileLinks(SECRET).token(workspaceId, fileId);
    expect(createFileLinks(new Uint8Array(SECRET)).read(token)).toEqual({ workspaceId, fileId });
    expect(token).toMatch(/^[A-Za-z0-9._-]+$/);
  });

  test("works for an hour", () => {
    let now = 1_700_000_000_000;
    const links = createFileLinks(SECRET, () => now);
    const token = links.token(workspaceId, fileId);
    now += 3_599_000;
    expect(links.read(token)).toBeDefined();
    now += 1_000;
    expect(links.read(token)).toBeUndefined();
  });

  const token = createFileLinks(SECRET).token(workspaceId, fileId);
  const [until = "", , , signature = ""] = token.split(".");
  test.each([
    ["of another file", `${until}.${workspaceId}.${newFileId()}.${signature}`],
    ["of another workspace", `${until}.${newId()}.${fileId}.${signature}`],
    ["that lasts longer", `${Number(until) + 1}.${workspaceId}.${fileId}.${signature}`],
    ["of another secret", createFileLinks(new Uint8Array(32)).token(workspaceId, fileId)],
    ["without a signature", `${until}.${workspaceId}.${fileId}.`],
    ["with more behind it", `${token}.x`],
    ["with padding behind it", `${token}=`],
    ["with a blank behind it", `${token} `],
    ["whose last character means the same", `${token.slice(0, -1)}${twin(token.at(-1) ?? "")}`],
    ["that is empty", ""],
    ["that is none", "../../etc/passwd"],
  ])("%s is none", (_what, forged) => {
    expect(createFileLinks(SECRET).read(forged)).toBeUndefined();
  });
});

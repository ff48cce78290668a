import { describe, expect, test } from "bun:test";

import { newFileId } from "#shared/files/id.ts";
import { createFileLinks } from "#shared/files/links.ts";
import { newId } from "#shared/base/ids.ts";

const SECRET = new Uint8Array(32).fill(7);
const BASE = "http://127.0.0.1:8080";
const workspaceId = newId();
const fileId = newFileId();

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const tokenOf = (url: string): string => url.split("/").at(-1) ?? "";

/** Its last two bits are not part of the 32 bytes. */
const twin = (last: string): string => ALPHABET[ALPHABET.indexOf(last) ^ 1] ?? "";

describe("a link to a file", () => {
  test("is valid for every process that has the secret", () => {
    const token = tokenOf(createFileLinks(SECRET).url(BASE, workspaceId, fileId));
    expect(createFileLinks(new Uint8Array(SECRET)).read(token)).toEqual({ workspaceId, fileId });
    expect(token).toMatch(/^[A-Za-z0-9._-]+$/);
  });

  test("works for an hour", () => {
    let now = 1_700_000_000_000;
    const links = createFileLinks(SECRET, { now: () => now });
    const link = links.url(BASE, workspaceId, fileId);
    const token = tokenOf(link);
    now += 3_599_000;
    expect(links.read(token)).toBeDefined();
    expect(links.find(link)).toEqual({ fileId, isExpired: false });
    now += 1_000;
    expect(links.read(token)).toBeUndefined();
    expect(links.find(link)).toEqual({ fileId, isExpired: true });
  });

  const token = tokenOf(createFileLinks(SECRET).url(BASE, workspaceId, fileId));
  const [until = "", , , signature = "", place = ""] = token.split(".");
  test.each([
    ["of another file", `${until}.${workspaceId}.${newFileId()}.${signature}.${place}`],
    ["of another workspace", `${until}.${newId()}.${fileId}.${signature}.${place}`],
    ["that lasts longer", `${Number(until) + 1}.${workspaceId}.${fileId}.${signature}.${place}`],
    ["of another secret", tokenOf(createFileLinks(new Uint8Array(32)).url(BASE, workspaceId, fileId))],
    ["without a signature", `${until}.${workspaceId}.${fileId}..${place}`],
    ["with more behind it", `${token}.x`],
    ["with padding behind its signature", token.replace(`.${place}`, `=.${place}`)],
    ["with a blank behind its signature", token.replace(`.${place}`, ` .${place}`)],
    ["whose signature means the same", token.replace(signature, signature.slice(0, -1) + twin(signature.at(-1) ?? ""))],
    ["that is empty", ""],
    ["that is none", "../../etc/passwd"],
  ])("%s is rejected", (_what, forged) => {
    expect(createFileLinks(SECRET).read(forged)).toBeUndefined();
  });
});

describe("a caller's address", () => {
  const links = createFileLinks(SECRET, { publicUrl: "https://ai.example.com/gateway" });
  const link = links.url(BASE, workspaceId, fileId);
  const path = new URL(link).pathname;

  test.each([
    ["as it was handed out", link],
    ["with a fragment", `${link}#page=2`],
    ["of the public address, below its path", links.url("https://ai.example.com/gateway", workspaceId, fileId)],
    ["of a base in capitals, with its usual port", links.url("HTTPS://AI.example.com:443", workspaceId, fileId)],
    ["of a file's content at the public address", `https://ai.example.com/gateway/v1/files/${fileId}/content`],
  ])("is a link of the service: %s", (_what, address) => {
    expect(links.find(address)).toEqual({ fileId, isExpired: false });
  });

  test.each([
    ["at another host", `https://evil.example${path}`],
    ["at another port", `http://127.0.0.1:8081${path}`],
    ["by another protocol", link.replace("http:", "https:")],
    ["by another name of the same machine", link.replace("127.0.0.1", "localhost")],
    ["at a host that begins like ours", link.replace("127.0.0.1", "127.0.0.1.evil.example")],
    ["with our host as a user name", link.replace(":8080", ":8080@evil.example")],
    ["with a user name", link.replace("//", "//user@")],
    ["behind a backslash", link.replace("/v1", "\\@evil.example/v1")],
    ["below another path", link.replace("/v1", "/x/v1")],
    ["with more in its path", `${link}/x`],
    ["with a query", `${link}?url=https://evil.example`],
    ["as the query of another address", `https://evil.example/?${link}`],
    ["of a file's content elsewhere", `https://ai.example.com/v1/files/${fileId}/content`],
    [
      "of a file's content at a look-alike host",
      `https://ai.example.com.evil.example/gateway/v1/files/${fileId}/content`,
    ],
    ["with a signature of its own", link.slice(0, -1) + (link.endsWith("A") ? "B" : "A")],
    ["that is no address", `v1/media/content/${path}`],
  ])("is no link of the service: %s", (_what, address) => {
    expect(links.find(address)).toBeUndefined();
  });
});

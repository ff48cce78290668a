/** The packaged S3 server where s3rver alone falls short: what a question costs does not grow with the objects of a bucket. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { freePort } from "#deploy/embedded/probe.mjs";
import { type S3, startS3 } from "#deploy/embedded/s3.mjs";
import { BUN, PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";

const KEYS = ["claims/1", "claims/10", "claims/2", "files/a/1", "files/a-b", "files/b/1", "files/c"];

const { directory, remove } = temporaryDirectory();
let s3: S3;
beforeAll(async () => {
  s3 = await startS3({ bun: BUN, root: PROJECT_ROOT, directory, port: await freePort(), buckets: ["one"] });
  for (const key of KEYS.toReversed()) await fetch(`${s3.url}/one/${key}`, { method: "PUT", body: key });
  // An object that cannot be told of fails whatever reads it.
  await fetch(`${s3.url}/one/damaged`, { method: "PUT", body: "x" });
  await writeFile(join(directory, "objects/one/damaged._S3rver_metadata.json"), "{");
});
afterAll(async () => {
  await s3.stop();
  remove();
});

async function list(query: string): Promise<{ keys: string[]; prefixes: string[]; isTruncated: boolean }> {
  const response = await fetch(`${s3.url}/one?${query}`);
  expect(response.status).toBe(200);
  const text = await response.text();
  const all = (name: string): string[] =>
    Array.from(text.matchAll(new RegExp(`<${name}>([^<]+)</${name}>`, "g")), ([, value]) => value ?? "");
  const prefixes = all("CommonPrefixes").length > 0 ? [] : all("Prefix").filter((one) => one.endsWith("/"));
  return { keys: all("Key"), prefixes, isTruncated: text.includes("<IsTruncated>true</IsTruncated>") };
}

test("a bucket is found regardless of its content", async () => {
  expect((await fetch(`${s3.url}/one`, { method: "HEAD" })).status).toBe(200);
  expect((await fetch(`${s3.url}/one/`, { method: "HEAD" })).status).toBe(200);
  expect((await fetch(`${s3.url}/none`, { method: "HEAD" })).status).toBe(404);
});

test("objects are listed in the order of their keys, page by page, without reading others", async () => {
  const first = await list("prefix=claims/&max-keys=2");
  expect(first).toMatchObject({ keys: ["claims/1", "claims/10"], isTruncated: true });
  expect(await list("prefix=claims/&max-keys=2&marker=claims/10")).toMatchObject({
    keys: ["claims/2"],
    isTruncated: false,
  });
  expect(await list("list-type=2&prefix=files/a")).toMatchObject({ keys: ["files/a-b", "files/a/1"] });
  expect(await list("prefix=claims/1&max-keys=1000")).toMatchObject({ keys: ["claims/1", "claims/10"] });
  expect(await list("prefix=nothing/")).toMatchObject({ keys: [], isTruncated: false });
});

test("objects below a folder are listed as one prefix", async () => {
  const { keys, prefixes } = await list("prefix=files/&delimiter=/");
  expect([keys, prefixes]).toEqual([
    ["files/a-b", "files/c"],
    ["files/", "files/a/", "files/b/"],
  ]);
});

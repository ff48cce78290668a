/** Sample files, read and downloaded as a workspace's own, and kept from being deleted. */
import { beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import type { StoredFile } from "#schemas/generated/types.ts";
import { SAMPLE_FILES } from "#shared/calls/capabilities/samples.ts";
import { validate } from "#shared/json/contracts.ts";
import type { Stack } from "#tests/support/stack.ts";
import { asNewWorkspace } from "#tests/support/tenant.ts";

import { errorOf } from "../media/bench.ts";

import { sharedBench } from "./shared-bench.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await asNewWorkspace((await sharedBench()).stack);
}, 60_000);

const call = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${stack.baseUrls[0]}/v1/files${path}`, {
    ...init,
    headers: { authorization: `Bearer ${stack.key}`, ...(init.headers as Record<string, string>) },
  });

test.each(SAMPLE_FILES)("%s can be read and downloaded, and counts towards no quota", async (id) => {
  const about = await call(`/${id}`);
  const file = (await about.json()) as StoredFile;
  expect([about.status, validate("StoredFile", file)]).toEqual([200, null]);
  expect(about.headers.get("x-storage-used-bytes")).toBe("0");
  const content = await call(`/${id}/content`);
  const bytes = Buffer.from(await content.arrayBuffer());
  expect(bytes).toEqual(readFileSync(`shared/calls/capabilities/samples/${file.filename}`));
  expect([file.id, file.bytes]).toEqual([id, bytes.length]);
  expect(content.headers.get("etag")).toBe(`"${createHash("sha256").update(bytes).digest("hex")}"`);
  const part = await call(`/${id}/content`, { headers: { range: "bytes=2-5" } });
  expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, bytes.subarray(2, 6)]);
});

test("none can be deleted, and none is listed", async () => {
  const answer = await call("/file-sample-photo", { method: "DELETE" });
  expect(await errorOf(answer)).toMatchObject({
    status: 403,
    code: "permission_denied",
    message: "The file file-sample-photo is a sample of the service, which no workspace can delete.",
  });
  expect((await call("/file-sample-photo")).status).toBe(200);
  expect(((await (await call("")).json()) as { data: unknown[] }).data).toEqual([]);
  expect((await call("/file-sample-nothing")).status).toBe(404);
});

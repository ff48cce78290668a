/** /v1/files in front of a store that fails, and of callers that may not. SDK and forms: tests/e2e/stock-clients/files.ts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

import type { IngressContext } from "#ingress/context.ts";
import { listen, type Listening } from "#ingress/listen.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { objectKey } from "#shared/files/id.ts";
import { openUploads } from "#shared/files/uploads.ts";
import { deleteObject, putObject } from "#shared/storage/objects.ts";
import { envelopeOf, type FakeContext, fakeContext, type FakeOptions, KEY } from "../../fake-context.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import {
  type FileBench,
  LIMITS_OF_BENCH,
  log,
  openFileBench,
  storageAt,
  storeFile,
} from "#tests/shared/files/bench.ts";

let bench: FileBench;
let workspaceId: string;
const open: { fake: FakeContext; server: Listening }[] = [];

beforeAll(async () => {
  bench = await openFileBench();
  workspaceId = await createWorkspace(bench.db.database);
}, 120_000);

afterAll(async () => {
  for (const { fake, server } of open) {
    await server.stop(true);
    fake.close();
  }
  await bench.close();
});

interface Init extends Omit<RequestInit, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
}

interface Service extends FakeContext {
  send(path: string, init?: Init): Promise<Response>;
}

/** The routes over real Postgres and S3, behind a gate of the test's own. */
function serve(options: FakeOptions = {}, more: Partial<IngressContext> = {}): Service {
  const fake = fakeContext({ ...options, caller: { workspaceId, ...options.caller } });
  const config = { ...fake.context.config, ...LIMITS_OF_BENCH };
  const { storage, uploads, db } = bench;
  const own = { ...fake.context, config, storage, uploads, database: db.database, ...more };
  const server = listen(own, { hostname: "127.0.0.1", port: 0 });
  open.push({ fake, server });
  return {
    ...fake,
    send: (path, init = {}) =>
      fetch(`http://127.0.0.1:${server.port}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${KEY}`, ...init.headers },
      }),
  };
}

const form = (content: Uint8Array<ArrayBuffer> | string = "hello"): Init => {
  const body = new FormData();
  body.append("purpose", "user_data");
  body.append("file", new File([content], "a.bin"));
  return { method: "POST", body };
};

describe("the gates", () => {
  test("count each upload in the window once, including rejected ones, and no read", async () => {
    const service = serve();
    await service.send("/v1/files");
    await service.send("/v1/files/file-nothing");
    await service.send("/v1/files", form());
    await service.send("/v1/files", { method: "POST", body: "no form" });
    expect(service.counted).toHaveLength(2);
    for (const counted of service.counted) expect(counted).toMatchObject({ workspaceId, hold: null });
  });

  test("reject a call beyond the window unread, with the storage headers", async () => {
    const service = serve({
      admit: () => {
        throw new ApiError("rate_limit_exceeded", "Too many.");
      },
    });
    const answer = await service.send("/v1/files", form(randomBytes(100_000)));
    expect([answer.status, (await envelopeOf(answer)).code]).toEqual([403, "rate_limit_exceeded"]);
    expect(answer.headers.get("x-storage-used-bytes")).toMatch(/^\d+$/);
    expect(answer.headers.get("x-storage-limit-bytes")).toBe(String(LIMITS_OF_BENCH.storageBytesMax));
  });

  test("reject the billing role before it is counted, and unknown keys without storage headers", async () => {
    const service = serve({ caller: { role: "billing" } });
    const answer = await service.send("/v1/files");
    expect([answer.status, service.counted.length]).toEqual([403, 0]);
    const stranger = await service.send("/v1/files", { headers: { authorization: "Bearer nobody" } });
    expect([stranger.status, stranger.headers.get("x-storage-used-bytes")]).toEqual([401, null]);
  });

  test.each(["owner", "admin", "developer"] as const)("admit the role %s", async (role) => {
    expect((await serve({ caller: { role } }).send("/v1/files")).status).toBe(200);
  });
});

describe("answers", () => {
  test("are valid by their schemas", async () => {
    const service = serve();
    const made = parse("StoredFile", await (await service.send("/v1/files", form())).json());
    parse("StoredFileList", await (await service.send("/v1/files")).json());
    expect(parse("StoredFile", await (await service.send(`/v1/files/${made.id}`)).json())).toEqual(made);
    parse("FileDeleted", await (await service.send(`/v1/files/${made.id}`, { method: "DELETE" })).json());
  });
});

describe("bytes that differ from the stored ones", () => {
  const content = async (service: Service, id: string): Promise<Response> => service.send(`/v1/files/${id}/content`);

  test("of a small file: 500 in the envelope, without a retry", async () => {
    const service = serve();
    for (const damage of [
      (id: string) => putObject(bench.storage, objectKey(id), Buffer.from("other bytes")),
      (id: string) => deleteObject(bench.storage, objectKey(id)),
    ]) {
      const id = await storeFile(bench.uploads, workspaceId, randomBytes(11));
      await damage(id);
      const answer = await content(service, id);
      expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([500, "false"]);
      expect((await envelopeOf(answer)).code).toBe("internal_error");
    }
    expect(service.logged.length).toBeGreaterThan(0);
  });

  test("of a large file: the connection is closed before the first wrong byte", async () => {
    const service = serve();
    const bytes = randomBytes(6 * 1_048_576);
    const id = await storeFile(bench.uploads, workspaceId, bytes);
    const altered = Buffer.from(bytes).fill(0, 5 * 1_048_576, 5 * 1_048_576 + 1);
    await putObject(bench.storage, objectKey(id), altered.equals(bytes) ? altered.fill(1, 5 * 1_048_576) : altered);
    const answer = await content(service, id);
    expect(answer.status).toBe(200);
    const got: Uint8Array[] = [];
    let error: unknown;
    try {
      for await (const piece of answer.body ?? []) got.push(piece);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeDefined();
    const all = Buffer.concat(got);
    expect(all.length).toBeLessThanOrEqual(5 * 1_048_576);
    expect(bytes.subarray(0, all.length).equals(all)).toBe(true);
  });
});

describe("an unavailable store", () => {
  test("is 503 for uploads and downloads, and no file", async () => {
    const away = storageAt("http://127.0.0.1:9", "b");
    const uploads = openUploads({ database: bench.db.database, storage: away, log, limits: LIMITS_OF_BENCH });
    const id = await storeFile(bench.uploads, workspaceId);
    const service = serve({}, { storage: away, uploads });
    const before = (await service.send("/v1/files")).headers.get("x-storage-used-bytes");
    const upload = await service.send("/v1/files", form());
    expect([upload.status, (await envelopeOf(upload)).code]).toEqual([503, "service_unavailable"]);
    expect(upload.headers.get("x-storage-used-bytes")).toBe(before);
    const download = await service.send(`/v1/files/${id}/content`);
    expect([download.status, (await envelopeOf(download)).code]).toEqual([503, "service_unavailable"]);
    expect((await service.send(`/v1/files/${id}`)).status).toBe(200);
    uploads.close();
    away.close();
  });

  test("does not prevent the deletion of a file", async () => {
    const away = storageAt("http://127.0.0.1:9", "b");
    const id = await storeFile(bench.uploads, workspaceId);
    const service = serve({}, { storage: away });
    expect((await service.send(`/v1/files/${id}`, { method: "DELETE" })).status).toBe(200);
    expect((await service.send(`/v1/files/${id}`)).status).toBe(404);
    expect((await service.send(`/v1/files/${id}`, { method: "DELETE" })).status).toBe(404);
    away.close();
  });
});

describe("an unavailable database", () => {
  test("is 503 on every route", async () => {
    const query = (): Promise<never> => Promise.reject(new Error("connection lost"));
    const database = { query } as unknown as IngressContext["database"];
    const uploads = openUploads({ database, storage: bench.storage, log, limits: LIMITS_OF_BENCH });
    const service = serve({}, { database, uploads });
    const id = "file-0123456789abcdef0123456789abcdef";
    for (const [path, init] of [
      ["/v1/files", {}],
      ["/v1/files", form()],
      [`/v1/files/${id}`, {}],
      [`/v1/files/${id}`, { method: "DELETE" }],
      [`/v1/files/${id}/content`, {}],
    ] as const) {
      const answer = await service.send(path, init);
      expect([answer.status, (await envelopeOf(answer)).code]).toEqual([503, "service_unavailable"]);
    }
    uploads.close();
  });
});

/** The file store through the stock OpenAI SDK, and through clients that no SDK would be. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";

import OpenAI, { toFile } from "openai";

import type { ErrorEnvelope } from "#shared/base/errors.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { beginUpload, END, part } from "#tests/support/raw-form.ts";
import type { Stack } from "#tests/support/stack.ts";
import { asNewWorkspace } from "#tests/support/tenant.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";

import { FILE_BYTES_MAX, sharedStack, STORAGE_BYTES_MAX } from "./shared-stack.ts";

let stack: Stack;
let client: OpenAI;
let base: string;
const scratch = temporaryDirectory();

beforeAll(async () => {
  stack = await asNewWorkspace(await sharedStack());
  base = stack.baseUrls[0] ?? "";
  client = new OpenAI({ baseURL: `${base}/v1`, apiKey: stack.key, maxRetries: 0 });
}, 120_000);

afterAll(async () => {
  scratch.remove();
  // A workspace stores what its files, runs and responses hold, whatever was tried.
  const differences = await stack.query("select * from audit_storage()");
  expect(differences).toEqual([]);
  expect(await stack.query("select * from file where state = 'uploading'")).toEqual([]);
});

interface Init extends Omit<RequestInit, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

const call = (path: string, init: Init = {}): Promise<Response> =>
  fetch(`${base}${path}`, { ...init, headers: { authorization: `Bearer ${init.key ?? stack.key}`, ...init.headers } });

const errorOf = async (response: Response): Promise<ErrorEnvelope["error"]> =>
  ((await response.json()) as ErrorEnvelope).error;

function form(
  content: string | Uint8Array<ArrayBuffer>,
  name = "data.bin",
  fields: Record<string, string> = { purpose: "user_data" },
): FormData {
  const data = new FormData();
  data.append("file", new File([content], name));
  for (const [field, value] of Object.entries(fields)) data.append(field, value);
  return data;
}

const post = (body: FormData, headers: Record<string, string> = {}, key = stack.key): Promise<Response> =>
  call("/v1/files", { method: "POST", body, headers, key });

const used = (response: Response): number => Number(response.headers.get("x-storage-used-bytes"));
const storedNow = async (key = stack.key): Promise<number> => used(await call("/v1/files?limit=1", { key }));

const LINES = '{"custom_id":"1"}\n'.repeat(50_000);

describe("a file through the SDK", () => {
  const path = join(scratch.directory, "lines.jsonl");
  writeFileSync(path, LINES);

  test.each<[string, () => unknown]>([
    ["a File", () => new File([LINES], "lines.jsonl", { type: "application/jsonl" })],
    ["a Buffer", () => toFile(Buffer.from(LINES), "lines.jsonl")],
    ["a stream", () => createReadStream(path)],
  ])("is returned unchanged from %s", async (_name, source) => {
    const file = (await source()) as File;
    const made = await client.files.create({ file, purpose: "batch" });
    expect(made).toMatchObject({ object: "file", bytes: LINES.length, filename: "lines.jsonl", purpose: "batch" });
    expect(await client.files.retrieve(made.id)).toEqual(made);
    const content = await client.files.content(made.id);
    expect(await content.text()).toBe(LINES);
    expect(await client.files.delete(made.id)).toEqual({ id: made.id, object: "file", deleted: true });
    const gone = await client.files.retrieve(made.id).catch((error: unknown) => error);
    expect(gone).toMatchObject({ status: 404, code: "file_not_found" });
  });

  test("is complete after an upload in several parts, and each range of it is exact", async () => {
    const bytes = randomBytes(12 * 1_048_576 + 17);
    const made = await client.files.create({ file: await toFile(bytes, "large.bin"), purpose: "user_data" });
    const whole = await client.files.content(made.id);
    expect(
      createHash("sha256")
        .update(Buffer.from(await whole.arrayBuffer()))
        .digest("hex"),
    ).toBe(createHash("sha256").update(bytes).digest("hex"));
    for (const [range, from, to] of [
      ["bytes=0-0", 0, 1],
      ["bytes=1048575-1048576", 1_048_575, 1_048_577],
      ["bytes=5242870-6300000", 5_242_870, 6_300_001],
      ["bytes=-5", bytes.length - 5, bytes.length],
      [`bytes=${bytes.length - 1}-`, bytes.length - 1, bytes.length],
      ["bytes=100-99999999999", 100, bytes.length],
    ] as const) {
      const answer = await call(`/v1/files/${made.id}/content`, { headers: { range } });
      expect([range, answer.status, answer.headers.get("content-range")]).toEqual([
        range,
        206,
        `bytes ${from}-${to - 1}/${bytes.length}`,
      ]);
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes.subarray(from, to))).toBe(true);
    }
    await client.files.delete(made.id);
  });

  test("expires as requested, and returns the time", async () => {
    const made = await client.files.create({
      file: await toFile(Buffer.from("x"), "x.txt"),
      purpose: "user_data",
      expires_after: { anchor: "created_at", seconds: 3_600 },
    });
    expect(made.expires_at).toBe(made.created_at + 3_600);
    await stack.query("update file set expires_at = clock_timestamp() where id = $1", [made.id]);
    expect((await call(`/v1/files/${made.id}`)).status).toBe(404);
  });

  test("pages of a list follow each other, also while files are deleted", async () => {
    const ids: string[] = [];
    for (const name of ["a", "b", "c", "d", "e"]) {
      ids.push(
        (await client.files.create({ file: await toFile(Buffer.from(name), `${name}.txt`), purpose: "evals" })).id,
      );
    }
    const page = (await (await call("/v1/files?limit=2&order=asc&purpose=evals")).json()) as { data: { id: string }[] };
    expect(page.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(page).toMatchObject({ object: "list", first_id: ids[0], last_id: ids[1], has_more: true });
    const seen: string[] = [];
    for await (const file of client.files.list({ limit: 2, purpose: "evals" })) {
      seen.push(file.id);
      await client.files.delete(file.id);
    }
    expect(seen).toEqual(ids.toReversed());
    const none = await call("/v1/files?purpose=evals");
    expect(await none.json()).toEqual({ object: "list", data: [], first_id: null, last_id: null, has_more: false });
  });
});

describe("storage headers", () => {
  test("contain the stored bytes on every response, including errors", async () => {
    // A workspace of its own: what others leave is swept at any time.
    const { key } = await createWorkspace(stack, { creditsNano: 0n });
    const made = await post(form("12345"), {}, key);
    expect([made.status, used(made)]).toEqual([200, 5]);
    const { id } = (await made.json()) as { id: string };
    const refused = await post(form("12345", "x.bin", { purpose: "nonsense" }), {}, key);
    expect([refused.status, used(refused)]).toEqual([400, 5]);
    for (const [path, status] of [
      [`/v1/files/${id}`, 200],
      [`/v1/files/${id}/content`, 200],
      ["/v1/files/file-00000000000000000000000000000000", 404],
      ["/v1/files?limit=0", 400],
    ] as const) {
      const answer = await call(path, { key });
      await answer.arrayBuffer();
      expect([path, answer.status, used(answer)]).toEqual([path, status, 5]);
      expect(answer.headers.get("x-storage-limit-bytes")).toBe(String(STORAGE_BYTES_MAX));
    }
    expect(used(await call(`/v1/files/${id}`, { method: "DELETE", key }))).toBe(0);
  });
});

describe("a download", () => {
  let id: string;
  beforeAll(async () => {
    const made = await post(form("<script>alert(1)</script>", 'päge "1".html'));
    ({ id } = (await made.json()) as { id: string });
  });

  test("is saved and never rendered, for every type", async () => {
    const answer = await call(`/v1/files/${id}/content`);
    expect(await answer.text()).toBe("<script>alert(1)</script>");
    expect(answer.headers.get("content-disposition")).toBe(
      `attachment; filename="p_ge _1_.html"; filename*=UTF-8''p%C3%A4ge%20%221%22.html`,
    );
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("content-security-policy")).toContain("sandbox");
  });

  test("is not repeated for a client that has it, and HEAD returns its size", async () => {
    const head = await call(`/v1/files/${id}/content`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "25"]);
    const etag = head.headers.get("etag") ?? "";
    const known = await call(`/v1/files/${id}/content`, { headers: { "if-none-match": etag } });
    expect([known.status, await known.text()]).toEqual([304, ""]);
    const other = await call(`/v1/files/${id}/content`, { headers: { range: "bytes=0-3", "if-range": '"other"' } });
    expect(other.status).toBe(200);
  });

  test("of a range beyond the file is 416 with its size", async () => {
    const answer = await call(`/v1/files/${id}/content`, { headers: { range: "bytes=25-" } });
    expect([answer.status, answer.headers.get("content-range")]).toEqual([416, "bytes */25"]);
    expect((await errorOf(answer)).code).toBe("range_not_satisfiable");
  });
});

describe("limits apply during the upload", () => {
  test("a file over the limit is 413, also without a length", async () => {
    // A workspace of its own: what others leave is swept at any time.
    const { key } = await createWorkspace(stack, { creditsNano: 0n });
    const answer = await post(form(new Uint8Array(FILE_BYTES_MAX + 1)), {}, key);
    expect([answer.status, (await errorOf(answer)).code]).toEqual([413, "request_too_large"]);
    const raw = beginUpload(base, key);
    await raw.send(part('name="purpose"', "user_data"));
    await raw.send(part('name="file"; filename="endless.bin"', "").subarray(0, -2));
    let sent = 0;
    for (const piece = Buffer.alloc(262_144); sent < 4 * FILE_BYTES_MAX; sent += piece.length) {
      const heard = await Promise.race([raw.answered, raw.send(piece)]);
      if (typeof heard === "string") break;
    }
    expect(await raw.answered).toMatch(/^HTTP\/1\.1 413 [^]*request_too_large/);
    expect(sent).toBeLessThan(4 * FILE_BYTES_MAX);
    raw.socket.destroy();
    expect(await storedNow(key)).toBe(0);
  });

  test("a full workspace is 403, and reservations of parallel uploads never exceed the limit", async () => {
    const workspace = await createWorkspace(stack, { creditsNano: 0n });
    const size = 12 * 1_048_576;
    const answers = await Promise.all(
      Array.from({ length: 7 }, () => post(form(new Uint8Array(size)), {}, workspace.key)),
    );
    const kept = answers.filter(({ status }) => status === 200).length;
    expect(kept).toBeLessThanOrEqual(Math.floor(STORAGE_BYTES_MAX / size));
    for (const answer of answers) {
      if (answer.status === 200) continue;
      expect(await errorOf(answer)).toMatchObject({ code: "storage_limit_exceeded", type: "quota_exceeded" });
    }
    expect(await storedNow(workspace.key)).toBe(kept * size);
    // To the last byte.
    const left = STORAGE_BYTES_MAX - kept * size;
    for (let filled = 0; filled < left;) {
      const next = Math.min(FILE_BYTES_MAX, left - filled);
      expect((await post(form(new Uint8Array(next)), {}, workspace.key)).status).toBe(200);
      filled += next;
    }
    expect((await post(form("x"), {}, workspace.key)).status).toBe(403);
    expect(await storedNow(workspace.key)).toBe(STORAGE_BYTES_MAX);
  }, 60_000);

  test.each<["end" | "rst"]>([["end"], ["rst"]])(
    "a client that disconnects (%s) in the middle leaves nothing",
    async (how) => {
      const workspace = await createWorkspace(stack, { creditsNano: 0n });
      const raw = beginUpload(base, workspace.key, { "idempotency-key": `left-${how}` });
      await raw.send(part('name="file"; filename="cut.bin"', "").subarray(0, -2));
      for (let sent = 0; sent < 12 * 1_048_576; sent += 1_048_576) await raw.send(randomBytes(1_048_576));
      const rows = (): Promise<unknown[]> => stack.query("select 1 from file where workspace_id = $1", [workspace.id]);
      await eventually("the upload has its row", async () => (await rows()).length === 1);
      if (how === "rst") raw.socket.resetAndDestroy();
      else raw.socket.destroy();
      await eventually("the upload is gone", async () => (await rows()).length === 0);
      expect(await storedNow(workspace.key)).toBe(0);
      expect(await stack.query("select * from idempotency_key where key = $1", [`left-${how}`])).toEqual([]);
    },
  );
});

describe("an invalid form", () => {
  // A workspace of its own: what others leave is swept at any time.
  let key: string;
  beforeAll(async () => {
    ({ key } = await createWorkspace(stack, { creditsNano: 0n }));
  });
  const upload = async (...pieces: Uint8Array[]): Promise<string> => {
    const raw = beginUpload(base, key);
    for (const piece of pieces) await raw.send(piece);
    raw.end();
    const text = await raw.answered;
    raw.socket.destroy();
    return text;
  };
  const purpose = part('name="purpose"', "user_data");
  const file = part('name="file"; filename="a.txt"', "hello");
  const latin1 = (disposition: string, content: string): Buffer =>
    Buffer.from(part(disposition, content).toString("utf8"), "latin1");

  test.each<[string, Uint8Array[], RegExp]>([
    ["ends before its last boundary", [purpose, file], /^HTTP\/1\.1 400 [^]*closing boundary/],
    ["is empty", [], /^HTTP\/1\.1 400 [^]*closing boundary/],
    ["is no form at all", [Buffer.alloc(100_000, "x")], /^HTTP\/1\.1 400 [^]*begin with its boundary/],
    [
      "has hundreds of parts",
      [...Array.from({ length: 300 }, () => purpose), file, END],
      /^HTTP\/1\.1 400 [^]*at most 32 parts/,
    ],
    [
      "has a field of two megabytes",
      [part('name="other"', "x".repeat(2_000_000)), file, END],
      /^HTTP\/1\.1 413 [^]*request_too_large/,
    ],
    [
      "has endless headers",
      [part('name="file"; filename="a"', "x", `x-a: ${"y".repeat(9_000)}\r\n`), END],
      /^HTTP\/1\.1 400 [^]*8192 bytes of headers/,
    ],
    ["has no file", [purpose, END], /^HTTP\/1\.1 400 [^]*missing_required_parameter[^]*"param":"file"/],
    ["has an empty file", [purpose, part('name="file"; filename="a"', ""), END], /^HTTP\/1\.1 400 [^]*"param":"file"/],
    ["has two files", [purpose, file, file, END], /^HTTP\/1\.1 400 [^]*got several/],
    [
      "has a filename in Latin-1",
      [purpose, latin1('name="file"; filename="p\u00e4ge.txt"', "hello"), END],
      /^HTTP\/1\.1 400 [^]*filename among them, are not UTF-8[^]*"code":"invalid_request"/,
    ],
    [
      "has a field in Latin-1",
      [file, latin1('name="purpose"', "user_dat\u00e4"), END],
      /^HTTP\/1\.1 400 [^]*not UTF-8[^]*"param":"purpose"/,
    ],
    [
      "has a file that is a field",
      [purpose, part('name="file"', "/etc/passwd"), END],
      /^HTTP\/1\.1 400 [^]*"param":"file"/,
    ],
  ])("%s: rejected in the envelope, nothing stored", async (_name, pieces, expected) => {
    expect(await upload(...pieces)).toMatch(expected);
    expect(await storedNow(key)).toBe(0);
  });

  test("is another media type: 415", async () => {
    const answer = await call("/v1/files", {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    });
    expect([answer.status, (await errorOf(answer)).code]).toEqual([415, "unsupported_media_type"]);
  });

  test.each([
    ["../../etc/passwd", "passwd"],
    ["..\\..\\boot.ini", "boot.ini"],
    ["/", "file"],
    ["..", "file"],
    ["a\u0000b\n.txt", "ab.txt"],
    ["\u202Egpj.txt", "gpj.txt"],
  ])("a name like %p is a name, not a path", async (sent, kept) => {
    const answer = await upload(
      purpose,
      part(`name="file"; filename*=UTF-8''${encodeURIComponent(sent)}`, "hello"),
      END,
    );
    const made = JSON.parse(answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1)) as {
      id: string;
      filename: string;
    };
    expect(made.filename).toBe(kept);
    expect((await call(`/v1/files/${made.id}`, { method: "DELETE", key })).status).toBe(200);
  });

  test("unknown fields are ignored", async () => {
    const answer = await post(form("hello", "a.txt", { purpose: "user_data", mystery: "42" }));
    expect(answer.status).toBe(200);
  });

  test("a file whose content differs from its type is 422", async () => {
    const png = await post(form("GIF89a......", "picture.png"));
    expect([png.status, (await errorOf(png)).code]).toEqual([422, "unprocessable_input"]);
  });
});

describe("an Idempotency-Key", () => {
  const send = (key: string, content: string | Uint8Array<ArrayBuffer> = "hello", name = "a.txt"): Promise<Response> =>
    post(form(content, name), { "idempotency-key": key });

  test("creates one file for many calls, regardless of the boundary", async () => {
    const [first, second] = [await send("same"), await send("same")];
    const made = await first.text();
    expect([first.status, second.status, await second.text()]).toEqual([200, 200, made]);
    expect(used(second)).toBe(used(first));
  });

  test("of another body is 422, and the first file stays", async () => {
    const made = await send("other");
    const first = await made.text();
    expect([made.status, first]).toEqual([200, expect.stringContaining('"file-')]);
    for (const [content, name] of [
      ["hellO", "a.txt"],
      ["hello", "b.txt"],
    ] as const) {
      const answer = await send("other", content, name);
      expect([answer.status, (await errorOf(answer)).code]).toEqual([422, "idempotency_key_reused"]);
    }
    expect(await (await send("other")).text()).toBe(first);
  });

  test("whose first call still runs is 409, which the SDK retries until the file exists", async () => {
    const raw = beginUpload(base, stack.key, { "idempotency-key": "slow" });
    await raw.send(part('name="purpose"', "user_data"));
    const file = part('name="file"; filename="a.txt"', "hello", "content-type: application/octet-stream\r\n");
    await raw.send(file.subarray(0, -3));
    const isRunning = "select 1 from idempotency_key where key like '% slow'";
    while ((await stack.query(isRunning)).length === 0) await Bun.sleep(5);
    const early = await send("slow");
    expect([early.status, (await errorOf(early)).code]).toEqual([409, "upload_in_progress"]);
    const patient = new OpenAI({ baseURL: `${base}/v1`, apiKey: stack.key, maxRetries: 4 });
    const repeated = patient.files.create(
      { file: new File(["hello"], "a.txt"), purpose: "user_data" },
      { headers: { "idempotency-key": "slow" } },
    );
    await raw.send(file.subarray(-3));
    await raw.send(END);
    raw.end();
    const answer = await raw.answered;
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect(answer).toContain((await repeated).id);
    raw.socket.destroy();
  });

  test("of a rejected call stays free", async () => {
    expect((await post(form("hello", "a.txt", { purpose: "nonsense" }), { "idempotency-key": "refused" })).status).toBe(
      400,
    );
    expect((await send("refused")).status).toBe(200);
  });

  test("belongs to its workspace: another workspace's is another", async () => {
    const other = await createWorkspace(stack, { creditsNano: 0n });
    const [mine, theirs] = [
      await send("shared"),
      await post(form("hello", "a.txt"), { "idempotency-key": "shared" }, other.key),
    ];
    expect(((await mine.json()) as { id: string }).id).not.toBe(((await theirs.json()) as { id: string }).id);
  });

  test("of invalid characters is rejected", async () => {
    const answer = await send("k".repeat(256));
    expect([answer.status, (await errorOf(answer)).code]).toEqual([400, "invalid_request"]);
  });
});

describe("access", () => {
  let other: Workspace;
  let id: string;
  beforeAll(async () => {
    other = await createWorkspace(stack, { creditsNano: 1_000_000_000_000n });
    id = ((await (await post(form("mine", "a.txt"))).json()) as { id: string }).id;
  });

  test("to a foreign file is answered like to an unknown one", async () => {
    const tell = async (path: string, method: string): Promise<unknown> => {
      const answer = await call(path, { method, key: other.key });
      return [answer.status, await answer.json()];
    };
    const unknown = "file-0123456789abcdef0123456789abcdef";
    for (const [suffix, method] of [
      ["", "GET"],
      ["", "DELETE"],
      ["/content", "GET"],
    ] as const) {
      const foreign = await tell(`/v1/files/${id}${suffix}`, method);
      expect(foreign).toEqual(await tell(`/v1/files/${unknown}${suffix}`, method));
      expect(foreign).toEqual(await tell(`/v1/files/a%2fetc${suffix}`, method));
      expect(foreign).toMatchObject([404, { error: { code: "file_not_found" } }]);
    }
    const list = (await (await call("/v1/files", { key: other.key })).json()) as { data: unknown[] };
    expect(list.data).toEqual([]);
    expect((await call(`/v1/files/${id}`)).status).toBe(200);
  });

  test("of the billing role includes no files, but the stored bytes of its workspace", async () => {
    await stack.query("update member set role = 'billing' where workspace_id = $1", [other.id]);
    // Keys are believed for a moment.
    while ((await call("/v1/files", { key: other.key })).status === 200) await Bun.sleep(20);
    for (const [path, init] of [
      ["/v1/files", {}],
      ["/v1/files", { method: "POST", body: form("x") }],
      [`/v1/files/${id}`, {}],
      [`/v1/files/${id}`, { method: "DELETE" }],
      [`/v1/files/${id}/content`, {}],
    ] as const) {
      const answer = await call(path, { ...init, key: other.key });
      expect([answer.status, (await errorOf(answer)).code]).toEqual([403, "permission_denied"]);
      expect(answer.headers.get("x-storage-used-bytes")).toBe("0");
    }
  });
});

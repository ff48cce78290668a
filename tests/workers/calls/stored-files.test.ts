/** Stored files on their way to a provider. */
import { newId } from "#shared/base/ids.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { newFileId, objectKey } from "#shared/files/id.ts";
import { putObject } from "#shared/storage/objects.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { type FileBench, log, openFileBench, storageAt, storeFile } from "#tests/shared/files/bench.ts";
import { chatJob } from "#tests/workers/runner/job-message.ts";
import { withStoredFiles } from "#workers/calls/stored-files.ts";
import { ProviderError } from "#workers/providers/provider.ts";
import { bench as chatBench, closeBenches } from "./chat/bench.ts";

let bench: FileBench;
let workspaceId: string;

beforeAll(async () => {
  bench = await openFileBench();
  workspaceId = await createWorkspace(bench.db.database);
}, 120_000);
afterAll(() => bench.close());

async function stored(content: string, mediaType: string, owner = workspaceId): Promise<string> {
  const id = await storeFile(bench.uploads, owner, Buffer.from(content));
  await bench.db.query("update file set media_type = $2 where id = $1", [id, mediaType]);
  return id;
}

const ask = (...content: object[]): ChatCompletionRequest =>
  ({
    model: "one",
    messages: [
      { role: "system", content: "x" },
      { role: "user", content },
    ],
  }) as ChatCompletionRequest;
const block = (file_id: string) => ({ type: "file", file: { file_id } });
const text = { type: "text", text: "look" };
const fill = (request: ChatCompletionRequest, signal = new AbortController().signal, storage = bench.storage) =>
  withStoredFiles(
    { database: bench.db.database, storage, log },
    { workspace_id: workspaceId, request_id: newId() },
    request,
    signal,
  );
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a request", () => {
  test("without stored files stays the same object", async () => {
    const request = ask(text, { type: "file", file: { file_data: "data:text/plain;base64,QQ==" } });
    expect(await fill(request)).toBe(request);
  });

  test("has its files in place of their ids, each by its type", async () => {
    const [picture, sound, words] = [
      await stored("pixels", "image/png"),
      await stored("waves", "audio/mpeg"),
      await stored("words", "text/plain"),
    ];
    const base64 = (content: string): string => Buffer.from(content).toString("base64");
    const request = ask(text, block(picture), block(sound), block(words), block(picture));
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${base64("pixels")}` } };
    expect((await fill(request)).messages[1]?.content as unknown).toEqual([
      text,
      image,
      { type: "input_audio", input_audio: { data: base64("waves"), format: "mp3" } },
      { type: "file", file: { filename: "a.bin", file_data: `data:text/plain;base64,${base64("words")}` } },
      image,
    ]);
    // What was admitted is not written over: a fallback may read it again.
    expect(request.messages[1]?.content as unknown).toEqual([text, ...[picture, sound, words, picture].map(block)]);
  });
});

describe("an unavailable file", () => {
  test("is rejected by name when it is deleted, or another workspace's", async () => {
    const foreign = await stored("x", "text/plain", await createWorkspace(bench.db.database));
    for (const id of [newFileId(), foreign, "file-abc"]) {
      const error = await failure(fill(ask(text, block(id))));
      expect(error).toBeInstanceOf(ProviderError);
      expect(error).toMatchObject({
        kind: "rejected",
        code: "file_not_found",
        param: "messages[1].content[1].file.file_id",
      });
    }
  });

  test("is an internal error when its bytes are damaged, missing or unreachable", async () => {
    const damaged = await stored("right", "text/plain");
    await putObject(bench.storage, objectKey(damaged), Buffer.from("wrong"));
    expect(await failure(fill(ask(block(damaged))))).toMatchObject({ name: "ApiError", code: "service_unavailable" });
    const fine = await stored("fine", "text/plain");
    const away = storageAt("http://127.0.0.1:9", "b");
    expect(await failure(fill(ask(block(fine)), undefined, away))).toMatchObject({
      name: "ApiError",
      code: "service_unavailable",
    });
    away.close();
  });

  test("is not read for a caller that has disconnected", async () => {
    const id = await stored("x", "text/plain");
    expect(await failure(fill(ask(block(id)), AbortSignal.abort()))).toMatchObject({ kind: "aborted" });
  });
});

describe("a call with an unavailable file", () => {
  afterEach(closeBenches);
  const job = chatJob({ request: ask(block(newFileId())) });

  test.each<[string, () => object[], object]>([
    [
      "is gone",
      () => [],
      {
        code: "file_not_found",
        param: "messages[1].content[0].file.file_id",
        message: expect.stringContaining("no such file"),
      },
    ],
    [
      "is out of reach",
      () => {
        throw new Error("connection lost");
      },
      { code: "service_unavailable", retry: true },
    ],
  ])("because it %s calls no provider and costs nothing", async (_name, rows, expected) => {
    const { run, calls, settlements, failure: told } = chatBench({}, { rows });
    await run(job);
    expect(told()).toMatchObject(expected);
    expect(calls).toEqual([]);
    expect(settlements).toMatchObject([{ usedNano: null, status: "failed" }]);
  });
});

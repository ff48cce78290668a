/** `file_id` in a conversation: whose file it is, and whether the model takes it. */
import { describe, expect, test } from "bun:test";

import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { checkChat } from "#shared/calls/kinds/chat/constraints.ts";
import {
  blockKind,
  filePlaces,
  findStoredFiles,
  type StoredFile,
  INLINE_ADDRESSES_MAX,
  INLINE_ITEM_BYTES_MAX,
} from "#shared/calls/kinds/chat/files.ts";
import type { Model } from "#shared/calls/model.ts";
import type { Queryable, SqlValue } from "#shared/database/client.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newFileId } from "#shared/files/id.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";

const BASE_MODEL = build([BASE]).models.get("one");

function model(allowed: Model["allowed_params"]): Model {
  if (!BASE_MODEL) throw new Error("the test's own model is missing");
  return { ...BASE_MODEL, max_context_tokens: 1_000_000, allowed_params: allowed };
}

const ALL = { supported_inputs: ["text", "image", "audio", "file"] };
const ID = newFileId();
const block = (file: object) => ({ type: "file", file });
const ask = (...content: object[]): ChatCompletionRequest =>
  ({ model: "one", messages: [{ role: "user", content }] }) as ChatCompletionRequest;
const named = ask(block({ file_id: ID }));
const stored = (mediaType: string, bytes = 1_000): Map<string, StoredFile> =>
  new Map([[ID, { mediaType, bytes, filename: "a" }]]);

function refusal(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("expected a refusal");
}

describe("files of a call", () => {
  const asked: (readonly SqlValue[])[] = [];
  const database: Queryable = {
    query(_text, values = []) {
      asked.push(values);
      return Promise.resolve([{ id: ID, bytes: 7n, filename: "a", media_type: "text/plain" }] as never[]);
    },
  };
  const caller = { workspaceId: "ws", memberId: "me", role: "developer" } as const;

  test("are looked up once each, in the caller's workspace, and only if one is named", async () => {
    expect((await findStoredFiles(database, caller, ask({ type: "text", text: "x" }))).size).toBe(0);
    for (const odd of [null, 1, {}, { messages: 1 }, { messages: [null, { content: [null, { type: "file" }] }] }]) {
      expect((await findStoredFiles(database, caller, odd)).size).toBe(0);
    }
    expect((await findStoredFiles(database, caller, ask(block({ file_id: "../etc" })))).size).toBe(0);
    expect(asked).toEqual([]);
    const found = await findStoredFiles(database, caller, ask(block({ file_id: ID }), block({ file_id: ID })));
    expect([...found]).toEqual([[ID, { bytes: 7, filename: "a", mediaType: "text/plain" }]]);
    expect(asked).toEqual([["ws", "me", false, [ID]]]);
  });

  test("are not readable for the billing role", async () => {
    const error = await findStoredFiles(database, { ...caller, role: "billing" }, named).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "permission_denied", param: "messages[0].content[0].file.file_id" });
  });

  test("are at most as many as addresses", async () => {
    const many = (count: number) => ask(...Array.from({ length: count }, () => block({ file_id: newFileId() })));
    await findStoredFiles(database, caller, many(INLINE_ADDRESSES_MAX));
    const error = await findStoredFiles(database, caller, many(INLINE_ADDRESSES_MAX + 1)).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "unsupported_value" });
  });

  test("that cannot be looked up are an internal error", async () => {
    const away: Queryable = { query: () => Promise.reject(new Error("connection lost")) };
    const error = await findStoredFiles(away, caller, named).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "service_unavailable" });
  });

  test("are found in every message and block", () => {
    const request = { messages: [{ content: "x" }, { content: [{ type: "text" }, block({ file_id: "a" })] }] };
    expect(filePlaces(request)).toEqual([
      { message: 1, part: 1, fileId: "a", isExpired: false, param: "messages[1].content[1].file.file_id" },
    ]);
  });
});

describe("a model", () => {
  test.each<[string, string[], string]>([
    ["image/png", ["text"], "image_not_supported_by_model"],
    ["audio/mpeg", ["text", "image"], "audio_not_supported_by_model"],
    ["application/pdf", ["text", "image"], "unsupported_value"],
    ["video/mp4", ["text", "image", "audio", "file"], "unsupported_value"],
    ["image/tiff", ["text", "image", "audio", "file"], "unsupported_value"],
    ["application/octet-stream", ["text", "image", "audio", "file"], "unsupported_value"],
  ])("rejects %s if it accepts %p", (type, inputs, code) => {
    const error = refusal(() => checkChat(named, model({ supported_inputs: inputs }), 100, stored(type)));
    expect([error.code, error.param]).toEqual([code as typeof error.code, "messages[0].content[0].file.file_id"]);
  });

  test.each<[string, Model["allowed_params"], number]>([
    ["image/png", { max_image_size_bytes: 500 }, 500],
    ["audio/wav", { max_audio_size_bytes: 400 }, 400],
    ["application/pdf", { max_pdf_size_bytes: 300, max_file_size_bytes: 900 }, 300],
    ["text/plain", { max_pdf_size_bytes: 300, max_file_size_bytes: 900 }, 900],
    ["text/plain", {}, INLINE_ITEM_BYTES_MAX],
  ])("accepts %s of its maximum size and no byte more (%p)", (type, allowed, max) => {
    const able = model({ ...ALL, ...allowed });
    checkChat(named, able, 100, stored(type, max));
    expect(refusal(() => checkChat(named, able, 100, stored(type, max + 1))).code).toBe("unsupported_value");
  });

  test("accepts no more of one call than a worker can hold", () => {
    const times = (count: number) => ask(...Array.from({ length: count }, () => block({ file_id: ID })));
    const files = stored("text/plain", INLINE_ITEM_BYTES_MAX);
    checkChat(times(2), model(ALL), 100, files);
    expect(refusal(() => checkChat(times(3), model(ALL), 100, files))).toMatchObject({
      code: "unsupported_value",
      param: "messages[0].content[2].file.file_id",
    });
  });

  test("gets one entry for a file", () => {
    const both = ask(block({ file_id: ID, file_data: "data:text/plain;base64,QQ==" }));
    expect(refusal(() => checkChat(both, model(ALL), 100, stored("text/plain"))).code).toBe("unsupported_value");
  });

  test("has the same hold for a stored image as for an inline one", () => {
    const inline = ask({ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } });
    const urlBytes = "data:image/png;base64,iVBORw0KGgo=".length;
    expect(checkChat(named, model(ALL), 200, stored("image/png"))).toEqual(
      checkChat(inline, model(ALL), 200 + urlBytes),
    );
  });
});

test("the form of a file for models depends on its type", () => {
  expect(
    [
      "image/gif",
      "audio/wav",
      "text/csv",
      "application/pdf",
      "application/msword",
      "audio/flac",
      "model/gltf-binary",
    ].map(blockKind),
  ).toEqual(["image", "audio", "file", "file", "file", undefined, undefined]);
});

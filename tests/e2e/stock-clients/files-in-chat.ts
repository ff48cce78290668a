/** `file_id` in a conversation, through the stock OpenAI SDK. */
import { beforeAll, describe, expect, test } from "bun:test";

import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";

import type { Stack } from "#tests/support/stack.ts";
import { createWorkspace } from "#tests/faults/bed.ts";

import { sharedStack } from "./shared-stack.ts";

let stack: Stack;
let client: OpenAI;

beforeAll(async () => {
  stack = await sharedStack();
  client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: stack.key, maxRetries: 0 });
}, 120_000);

describe("a stored file in a conversation", () => {
  /** A 2 × 3 PNG. */
  const PNG = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAFElEQVR4nGP8z8DAwMDAxMDAwIBMAQALAQEE6Xm2ZAAAAABJRU5ErkJggg==",
    "base64",
  );
  const ask = (fileId: string, model = "sandbox-chat"): Promise<OpenAI.ChatCompletion> =>
    client.chat.completions.create({
      model,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "file", file: { file_id: fileId } },
          ],
        },
      ],
    });

  test("is shown by its type: an image, a document", async () => {
    const picture = await client.files.create({ file: await toFile(PNG, "p.png"), purpose: "vision" });
    expect((await ask(picture.id)).choices[0]?.message.content).toMatch(/2\s*[×x]\s*3/);
    const note = await client.files.create({
      file: await toFile(Buffer.from("The heron waits."), "note.txt"),
      purpose: "user_data",
    });
    const said = (await ask(note.id)).choices[0]?.message.content;
    expect(said).toContain("note.txt");
    expect(said).toContain("The heron waits.");
  });

  test("is named by clients of Anthropic's API as well", async () => {
    const anthropic = new Anthropic({ baseURL: stack.baseUrls[0] ?? "", apiKey: stack.key, maxRetries: 0 });
    const picture = await client.files.create({ file: await toFile(PNG, "p.png"), purpose: "vision" });
    const asking = (fileId: string) => ({
      model: "sandbox-chat",
      max_tokens: 200,
      messages: [
        {
          role: "user" as const,
          content: [
            { type: "text" as const, text: "What is this?" },
            { type: "image" as const, source: { type: "file" as const, file_id: fileId } },
          ],
        },
      ],
    });
    const said = await anthropic.messages.create(asking(picture.id) as never);
    expect(JSON.stringify((said as { content: unknown }).content)).toMatch(/2\s*[×x]\s*3/);
    const { max_tokens: _none, ...counted } = asking(picture.id);
    const count = await anthropic.messages.countTokens(counted);
    expect(count.input_tokens).toBeGreaterThan(10);
    for (const call of [
      () => anthropic.messages.create(asking("file-none") as never),
      () => anthropic.messages.countTokens({ ...counted, ...asking("file-none"), max_tokens: undefined } as never),
    ]) {
      const fault = await call().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(fault).toMatchObject({
        status: 404,
        error: { error: { code: "file_not_found", param: "messages[0].content[1].source" } },
      });
    }
  });

  test("of another workspace, or deleted, or unknown, is 404 and costs nothing", async () => {
    const other = await createWorkspace(stack, { creditsNano: 1_000_000_000_000n });
    const theirs = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: other.key });
    const foreign = (await theirs.files.create({ file: await toFile(Buffer.from("x"), "x.txt"), purpose: "evals" })).id;
    const deleted = await client.files.create({ file: await toFile(Buffer.from("x"), "x.txt"), purpose: "user_data" });
    await client.files.delete(deleted.id);
    const heard = await Promise.all(
      [foreign, deleted.id, "file-abc"].map((id) => ask(id).catch((error: unknown) => error)),
    );
    for (const error of heard) {
      expect(error).toMatchObject({
        status: 404,
        code: "file_not_found",
        param: "messages[0].content[1].file.file_id",
      });
    }
  });

  test("that no model accepts is rejected before any hold", async () => {
    const archive = await client.files.create({
      file: await toFile(Buffer.from("PK\u0003\u0004...."), "a.zip"),
      purpose: "user_data",
    });
    expect(await ask(archive.id).catch((error: unknown) => error)).toMatchObject({
      status: 400,
      code: "unsupported_value",
    });
  });

  test("is priced in an estimate like an inline one", async () => {
    const picture = await client.files.create({ file: await toFile(PNG, "p.png"), purpose: "vision" });
    const estimate = await fetch(`${stack.baseUrls[0]}/v1/models/sandbox-chat/estimate`, {
      method: "POST",
      headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json" },
      body: JSON.stringify({
        messages: [{ role: "user", content: [{ type: "file", file: { file_id: picture.id } }] }],
      }),
    });
    expect(estimate.status).toBe(200);
  });
});

/** Errors about documents that a model does not take: those that come with the call, and those that are fetched for it. */
import { afterEach, describe, expect, test } from "bun:test";

import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { MediaError, type MediaFault } from "#shared/children/media-error.ts";
import { openMediaProbes } from "#shared/media/media-probes.ts";
import { documentOf } from "#tests/support/hostile-files/documents.ts";
import { allow, listen } from "#tests/shared/net/servers.ts";
import { checkDocuments } from "#workers/calls/chat/documents.ts";
import { createOpenAiCompatible } from "#workers/providers/openai-compatible/index.ts";
import { ProviderError } from "#workers/providers/provider.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  allow();
  for (const close of closing.splice(0)) await close();
});

const FEW = { allowed_params: { max_pdf_pages: 3, max_pdf_size_bytes: 10_000 } };
const signal = new AbortController().signal;

function asking(...files: readonly object[]): ChatCompletionRequest {
  const content = files.map((file) => ({ type: "file", file }));
  return { model: "m", messages: [{ role: "user", content }] } as unknown as ChatCompletionRequest;
}

const dataOf = (document: Buffer): string => `data:application/pdf;base64,${document.toString("base64")}`;

/** Returns the error for a look that ends like this; a number is the pages it counted. */
async function told(outcome: number | MediaFault, request = asking({ file_data: dataOf(documentOf(1)) })) {
  const probes = {
    pdfPages: () =>
      typeof outcome === "number" ? Promise.resolve(outcome) : Promise.reject(new MediaError(outcome, "Said so.")),
  };
  try {
    await checkDocuments(probes, FEW, request, request, signal);
    return undefined;
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
}

describe("a document probe", () => {
  test.each<[MediaFault, string, string | undefined]>([
    ["corrupt", "rejected", "unprocessable_input"],
    ["unsupported", "rejected", "unprocessable_input"],
    ["too_large", "rejected", "unprocessable_input"],
    // The child died of it.
    ["failed", "rejected", "unprocessable_input"],
    ["busy", "busy", undefined],
    ["timeout", "busy", undefined],
    ["aborted", "aborted", undefined],
  ])("that ends as %s is reported as %s", async (fault, kind, code) => {
    expect(await told(fault)).toMatchObject({ kind, code });
  });

  test("with as many pages as the model accepts is silent, one more is rejected by name", async () => {
    expect(await told(3)).toBeUndefined();
    expect(await told(4)).toMatchObject({
      code: "unsupported_value",
      param: "messages[0].content[0].file.file_data",
      say: "This model accepts PDF files of at most 3 pages, got more.",
    });
  });

  test("skips other files, and files without bytes yet", async () => {
    const others = asking(
      { file_data: "data:text/plain;base64,aGk=" },
      { file_url: "https://example.com/a.pdf" },
      { file_data: "https://example.com/a.pdf" },
      { file_id: "file_1" },
    );
    expect(await told("failed", others)).toBeUndefined();
  });
});

test("a document at an address is probed when it is fetched, before its provider is called", async () => {
  const files = await listen((request, response) => response.end(documentOf(request.url === "/few.pdf" ? 3 : 4)));
  let heard = 0;
  const provider = Bun.serve({
    port: 0,
    fetch: () => {
      heard += 1;
      return Response.json({ choices: [{ index: 0, message: { content: "ok" }, finish_reason: "stop" }] });
    },
  });
  const probes = openMediaProbes();
  closing.push(
    () => files.close(),
    () => provider.stop(true),
    () => probes.close(),
  );
  allow(`127.0.0.1:${files.port}`);
  const there = createOpenAiCompatible({ baseUrl: provider.url.href.replace(/\/$/, ""), headers: {} });
  const ask = (name: string) => {
    const request = asking({ file_url: `http://127.0.0.1:${files.port}/${name}` });
    return there.complete({
      request,
      workspaceId: "0199a5b2-7e1d-7000-8000-00000000000b",
      sourceModel: "m",
      outputTokensMax: 10,
      signal,
      traits: new Set(),
      takesAudio: true,
      adapt: () => undefined,
      checkFetched: (fetched) => checkDocuments(probes, FEW, fetched, request, signal),
    });
  };
  expect((await ask("few.pdf")).choices).toHaveLength(1);
  expect(heard).toBe(1);
  const error: unknown = await ask("many.pdf").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    kind: "rejected",
    code: "unsupported_value",
    param: "messages[0].content[0].file.file_url",
    isUnsent: true,
  });
  expect(heard).toBe(1);
});

import { afterEach, describe, expect, test } from "bun:test";
import type { RequestListener } from "node:http";

import { allow, listen, type Listening, PNG } from "#tests/shared/net/servers.ts";
import { createOpenAiCompatible } from "#workers/providers/openai-compatible/index.ts";
import type { ChatCall, ChatProvider, ProviderError } from "#workers/providers/provider.ts";

import { chatCall } from "../engine/calls.ts";
import { type OpenAiServer, startOpenAiServer } from "./server.ts";

const open: { close(): void }[] = [];

afterEach(() => {
  allow();
  for (const server of open.splice(0)) server.close();
});

const PDF = "%PDF-1.7\n...";
const PDF_URL = `data:application/pdf;base64,${Buffer.from(PDF).toString("base64")}`;
const PNG_URL = `data:image/png;base64,${PNG.toString("base64")}`;

/** A place that callers' addresses lead to, and an upstream whose adapter passes or inlines them. */
async function start(inlines: boolean) {
  const seen: string[] = [];
  const handler: RequestListener = (request, response) => {
    seen.push(request.url ?? "");
    if (request.url?.startsWith("/missing")) response.statusCode = 404;
    response.end(request.url?.endsWith(".png") ? PNG : PDF);
  };
  const place: Listening = await listen(handler);
  const upstream: OpenAiServer = startOpenAiServer();
  open.push(place, upstream);
  allow(`127.0.0.1:${place.port}`);
  const provider = createOpenAiCompatible({ baseUrl: upstream.url, headers: {} }, { inlines });
  return { seen, upstream, provider, at: (path: string) => `http://127.0.0.1:${place.port}${path}` };
}

const image = (url: string): object => ({ type: "image_url", image_url: { url, detail: "low" } });
const file = (members: object): object => ({ type: "file", file: members });

function callWith(content: readonly object[], stream = false): ChatCall {
  const messages = [
    { role: "system", content: "s" },
    { role: "user", content },
  ];
  return chatCall({ messages, stream });
}

const sent = (upstream: OpenAiServer): unknown =>
  (upstream.requests[0]!.body as { messages: { content: unknown }[] }).messages[1]?.content;

/** Asks once, plain or as a stream read to its end. */
async function ask(provider: ChatProvider, content: readonly object[], isStream: boolean): Promise<void> {
  const call = callWith(content, isStream);
  if (!isStream) await provider.complete(call);
  else for await (const _delta of provider.stream(call));
}

test("an image in its original size is sent in high detail, for which every model has a bound", async () => {
  const { upstream, provider } = await start(false);
  const original = { type: "image_url", image_url: { url: PNG_URL, detail: "original" } };
  await ask(provider, [original, image(PNG_URL)], false);
  expect(sent(upstream)).toEqual([{ ...original, image_url: { url: PNG_URL, detail: "high" } }, image(PNG_URL)]);
});

describe.each([false, true])("media by address, streamed: %p", (isStream) => {
  test("are fetched by us for a server that may be in our own network", async () => {
    const { seen, upstream, provider, at } = await start(true);
    await ask(provider, [image(at("/a.png")), file({ file_url: at("/b.pdf") })], isStream);
    expect(seen.toSorted()).toEqual(["/a.png", "/b.pdf"]);
    expect(sent(upstream)).toEqual([image(PNG_URL), file({ filename: "file.pdf", file_data: PDF_URL })]);
  });

  test("are passed on if the catalogue allows it, except files, which no vendor fetches", async () => {
    const { seen, upstream, provider, at } = await start(false);
    const text = { type: "text", text: "" };
    const content = [
      text,
      image(at("/a.png")),
      file({ file_url: at("/b.pdf"), filename: "mine.pdf" }),
      image(PNG_URL),
      file({ file_data: at("/c.pdf") }),
    ];
    const before = structuredClone(content);
    await ask(provider, content, isStream);
    expect(seen.toSorted()).toEqual(["/b.pdf", "/c.pdf"]);
    expect(sent(upstream)).toEqual([
      text,
      image(at("/a.png")),
      file({ file_data: PDF_URL, filename: "mine.pdf" }),
      image(PNG_URL),
      file({ file_data: PDF_URL, filename: "file.pdf" }),
    ]);
    expect(content).toEqual(before);
  });

  test("that cannot be fetched are the caller's error, and nothing is sent", async () => {
    const { upstream, provider, at } = await start(false);
    const content = [image(at("/a.png")), file({ file_url: at("/missing.pdf") })];
    const error = await ask(provider, content, isStream).then(
      () => undefined,
      (fault: unknown) => fault as ProviderError,
    );
    expect(error).toMatchObject({
      kind: "rejected",
      code: "unprocessable_input",
      param: "messages[1].content[1].file.file_url",
      isUnsent: true,
    });
    expect(upstream.requests).toEqual([]);
  });
});

describe("a file", () => {
  test("with inline data loses the address beside it", async () => {
    for (const inlines of [true, false]) {
      const { seen, upstream, provider, at } = await start(inlines);
      await ask(provider, [file({ file_data: PDF_URL, file_url: at("/b.pdf"), filename: "f" })], false);
      expect(seen).toEqual([]);
      expect(sent(upstream)).toEqual([file({ file_data: PDF_URL, filename: "f" })]);
    }
  });

  test("that is not a PDF has a name, which OpenAI requires", async () => {
    const { upstream, provider } = await start(false);
    await ask(provider, [file({ file_data: "data:text/plain;base64,aGk=" })], false);
    expect(sent(upstream)).toEqual([file({ file_data: "data:text/plain;base64,aGk=", filename: "file" })]);
  });
});

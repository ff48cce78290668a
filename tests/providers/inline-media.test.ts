import { afterEach, describe, expect, test } from "bun:test";
import type { RequestListener } from "node:http";

import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { hostileFiles } from "#tests/support/hostile-files/corpus.ts";
import { one } from "#tests/support/log-lines.ts";
import { allow, listen, listenAsSink, type Listening, PNG } from "#tests/shared/net/servers.ts";
import { inlineMedia } from "#workers/providers/inline-media.ts";
import { ProviderError } from "#workers/providers/provider.ts";
import { INLINE_ADDRESSES_MAX } from "#shared/calls/kinds/chat/files.ts";

const open: Listening[] = [];
afterEach(() => {
  allow();
  for (const server of open.splice(0)) server.close();
});

async function serve(handler: RequestListener): Promise<Listening> {
  const server = await listen(handler);
  open.push(server);
  allow(`127.0.0.1:${server.port}`);
  return server;
}

const PNG_URL = `data:image/png;base64,${PNG.toString("base64")}`;
const image = (url: string, more: object = {}): object => ({ type: "image_url", image_url: { url, ...more } });
const file = (members: object): object => ({ type: "file", file: members });
const text = { type: "text", text: "see http://127.0.0.1/ and https://example.com/" };

/** One user message of these parts. */
function asking(...content: readonly object[]): ChatCompletionRequest {
  return { model: "m", messages: [{ role: "user", content }] } as unknown as ChatCompletionRequest;
}

const inline = (request: ChatCompletionRequest, bounds = {}): Promise<ChatCompletionRequest> =>
  inlineMedia({ request, signal: new AbortController().signal, takesAudio: true }, ["image", "file"], bounds);

async function refusal(work: Promise<unknown>): Promise<ProviderError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** Answers with what the path names. */
const media =
  (table: Readonly<Record<string, readonly [bytes: Uint8Array | string, type?: string]>>): RequestListener =>
  (request, response) => {
    const [bytes, type] = table[request.url ?? ""] ?? [];
    if (bytes === undefined) response.statusCode = 404;
    if (type !== undefined) response.setHeader("content-type", type);
    response.end(bytes);
  };

describe("a request without addresses", () => {
  test("is returned as the same object", async () => {
    const requests = [
      { model: "m", messages: [{ role: "user", content: "https://example.com/a.png" }] },
      { model: "m", messages: [{ role: "assistant", content: null, tool_calls: [] }] },
      asking(text, image(PNG_URL), file({ file_data: "data:text/plain;base64,aGk=" }), file({ file_id: "file_1" })),
      // What is sent along needs no address beside it.
      asking(file({ file_data: "data:text/plain;base64,aGk=", file_url: "https://example.com/a.txt" })),
      asking({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }),
    ] as unknown as ChatCompletionRequest[];
    for (const request of requests) expect(await inline(request)).toBe(request);
  });
});

describe("addresses", () => {
  test("of images and files become data URLs at their positions, in tool messages too", async () => {
    const server = await serve(
      media({ "/a": [PNG, "text/html"], "/b": ["%PDF-1.7\n..."], "/c": ["hällo", "text/csv; charset=utf-8"] }),
    );
    const request = {
      model: "m",
      temperature: 0.5,
      messages: [
        { role: "system", content: "s" },
        {
          role: "user",
          content: [
            text,
            image(server.url("/a"), { detail: "low" }),
            file({ file_url: server.url("/b"), filename: "b.pdf" }),
          ],
        },
        { role: "tool", tool_call_id: "t", content: [image(server.url("/a")), file({ file_data: server.url("/c") })] },
      ],
    } as unknown as ChatCompletionRequest;
    const before = structuredClone(request);
    const base64 = (value: string): string => Buffer.from(value).toString("base64");
    expect(await inline(request)).toEqual({
      model: "m",
      temperature: 0.5,
      messages: [
        { role: "system", content: "s" },
        {
          role: "user",
          content: [
            text,
            image(PNG_URL, { detail: "low" }),
            file({ filename: "b.pdf", file_data: `data:application/pdf;base64,${base64("%PDF-1.7\n...")}` }),
          ],
        },
        {
          role: "tool",
          tool_call_id: "t",
          content: [image(PNG_URL), file({ file_data: `data:text/csv;base64,${base64("hällo")}` })],
        },
      ],
    } as unknown as ChatCompletionRequest);
    // Another source may be asked with the same request afterwards.
    expect(request).toEqual(before);
    expect(server.asked.toSorted()).toEqual(["GET /a", "GET /b", "GET /c"]);
  });

  test("in capitals are recognised too", async () => {
    const server = await serve(media({ "/a": [PNG] }));
    const result = await inline(asking(image(server.url("/a").replace("http", "HTTP"))));
    expect(result).toEqual(asking(image(PNG_URL)));
  });

  test("are fetched four at a time", async () => {
    let running = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    const server = await serve((_request, response) => {
      running += 1;
      most = Math.max(most, running);
      waiting.push(() => {
        running -= 1;
        response.end(PNG);
      });
      // Nobody is answered before four have asked: fewer at a time would never end.
      if (waiting.length === 4) for (const answer of waiting.splice(0)) answer();
    });
    const parts = Array.from({ length: 12 }, (_, index) => image(server.url(`/${index}`)));
    const result = await inline(asking(...parts));
    expect(result).toEqual(asking(...parts.map(() => image(PNG_URL))));
    expect(most).toBe(4);
  });
});

const DISGUISES = await Promise.all(
  hostileFiles("disguise").map(
    async ([name, make]) => [`${name} that calls itself a PNG`, await make(), "image/png"] as const,
  ),
);

describe("the content of an address is judged by its bytes", () => {
  const wav = "RIFF\u0024\0\0\0WAVEfmt ";
  const latin = (value: string): Buffer => Buffer.from(value, "latin1");
  test.each([
    ["image/png", PNG, "application/octet-stream"],
    ["image/jpeg", latin("\u00ff\u00d8\u00ff\u00e0\0\u0010JFIF\0"), "image/png"],
    ["image/gif", latin("GIF89a\u0001\0"), ""],
    ["image/gif", latin("GIF87a\u0001\0"), ""],
    ["image/webp", latin("RIFF\u0024\0\0\0WEBPVP8 "), "text/plain"],
  ])("%s, as image and as file", async (type, bytes, declared) => {
    const server = await serve(media({ "/a": [bytes, declared] }));
    const data = `data:${type};base64,${bytes.toString("base64")}`;
    const result = await inline(asking(image(server.url("/a")), file({ file_url: server.url("/a") })));
    expect(result).toEqual(asking(image(data), file({ file_data: data })));
  });

  test.each([
    ["application/pdf", latin("%PDF-1.4\n"), "text/plain"],
    ["audio/wav", latin(wav), ""],
    ["audio/ogg", latin(`OggS\0\u0002${"\0".repeat(20)}\u0001\u0013OpusHead`), ""],
    ["audio/flac", latin("fLaC\0\0"), ""],
    ["audio/mpeg", latin("ID3\u0004\0\0"), ""],
    ["audio/mpeg", latin("\u00ff\u00fb\u0090\u0064\0\0"), ""],
    ["text/plain", Buffer.from("grüße"), "Text/Plain; charset=utf-8"],
    ["text/markdown", Buffer.from("# a"), "text/markdown"],
  ])("%s, as file and not as image", async (type, bytes, declared) => {
    const server = await serve(media({ "/a": [bytes, declared] }));
    const result = await inline(asking(file({ file_url: server.url("/a") })));
    expect(result).toEqual(asking(file({ file_data: `data:${type};base64,${bytes.toString("base64")}` })));
    const error = await refusal(inline(asking(text, image(server.url("/a")))));
    expect(error).toMatchObject({
      kind: "rejected",
      code: "unprocessable_input",
      param: "messages[0].content[1].image_url.url",
    });
    expect(error.say).toContain("PNG, JPEG, GIF or WebP");
  });

  test.each([
    ["nothing", Buffer.alloc(0), "text/plain"],
    ["text that is not UTF-8", latin("gr\u00fc\u00dfe"), "text/plain"],
    ["text with NUL", latin("a\0b"), "text/plain"],
    ["text without a type", Buffer.from("hello"), undefined],
    ["JSON", Buffer.from("{}"), "application/json"],
    ["a type that would end the data URL", Buffer.from("hello"), "text/a,b"],
    ["RIFF of another kind", latin("RIFF\u0024\0\0\0AVI LIST"), "video/avi"],
    ["bytes that only begin like sound", latin("\u00ff\u00ff\u00ff\u00ff"), "audio/mpeg"],
    ["a program", latin("\u007fELF\u0002"), "application/pdf"],
    ...DISGUISES,
  ])("%s is neither", async (_what, bytes, declared) => {
    const server = await serve(media({ "/a": declared === undefined ? [bytes] : [bytes, declared] }));
    for (const part of [image(server.url("/a")), file({ file_url: server.url("/a") })]) {
      expect(await refusal(inline(asking(part)))).toMatchObject({ kind: "rejected", code: "unprocessable_input" });
    }
  });
});

describe("bounds", () => {
  test("apply to each address", async () => {
    const server = await serve(media({ "/a": [PNG] }));
    const request = asking(image(server.url("/a")));
    expect(await inline(request, { inlineItemBytesMax: PNG.length })).toEqual(asking(image(PNG_URL)));
    const error = await refusal(inline(request, { inlineItemBytesMax: PNG.length - 1 }));
    expect(error).toMatchObject({ kind: "rejected", code: "unprocessable_input" });
    expect(error.say).toContain("at most 20 MiB");
  });

  test("apply to all addresses of a call, for concurrent fetches too", async () => {
    const server = await serve((_request, response) => response.end(PNG));
    const request = asking(...Array.from({ length: 6 }, (_, index) => image(server.url(`/${index}`))));
    const whole = await inline(request, { inlineBytesMax: 6 * PNG.length });
    expect(JSON.stringify(whole)).not.toContain("127.0.0.1");
    const error = await refusal(inline(request, { inlineBytesMax: 6 * PNG.length - 1 }));
    expect(error).toMatchObject({ kind: "rejected", code: "unprocessable_input", detail: "outbound too_large" });
  });

  test("count an address as often as it is sent: a short request cannot create a long call", async () => {
    const server = await serve(media({ "/a": [PNG] }));
    const request = asking(...Array.from({ length: 50 }, () => image(server.url("/a"))));
    await inline(request, { inlineBytesMax: 50 * PNG.length });
    expect(server.asked).toHaveLength(1);
    const error = await refusal(inline(request, { inlineBytesMax: 50 * PNG.length - 1 }));
    expect(error).toMatchObject({ code: "unprocessable_input", detail: "outbound too_large" });
  });

  test("count it beside other addresses too", async () => {
    const server = await serve((_request, response) => response.end(PNG));
    const [often, once] = [image(server.url("/a")), image(server.url("/b"))];
    const request = asking(often, often, often, once);
    await inline(request, { inlineBytesMax: 4 * PNG.length });
    const error = await refusal(inline(request, { inlineBytesMax: 4 * PNG.length - 1 }));
    expect(error).toMatchObject({ code: "unprocessable_input", detail: "outbound too_large" });
  });

  test("apply to the number of addresses, before any fetch", async () => {
    const sink = await listenAsSink();
    open.push(sink);
    allow(`127.0.0.1:${sink.port}`);
    const parts = Array.from({ length: INLINE_ADDRESSES_MAX + 1 }, (_, index) => image(sink.url(`/${index}`)));
    expect(await refusal(inline(asking(...parts)))).toMatchObject({
      code: "unprocessable_input",
      param: `messages[0].content[${INLINE_ADDRESSES_MAX}].image_url.url`,
    });
    expect(sink.asked).toEqual([]);
  });

  test("apply to the total time, and the caller receives that the address was slow", async () => {
    const server = await serve((_request, response) => void response.write("x"));
    const error = await refusal(inline(asking(image(server.url("/a"))), { inlineMs: 100 }));
    expect(error).toMatchObject({ kind: "rejected", code: "input_unavailable" });
    expect(error.detail).toStartWith("outbound timeout: ");
  });
});

describe("a failure", () => {
  test("of the guard is unsafe_url and names the part; no internal address is fetched", async () => {
    const sink = await listenAsSink();
    open.push(sink);
    for (const [part, param] of [
      [image(sink.url("/a")), "image_url.url"],
      [file({ file_url: sink.url("/a", "localhost") }), "file.file_url"],
      [file({ file_data: sink.url("/a", "2130706433") }), "file.file_data"],
    ] as const) {
      expect(await refusal(inline(asking(text, part)))).toMatchObject({
        kind: "rejected",
        code: "unsafe_url",
        param: `messages[0].content[1].${param}`,
        say: "This URL is not allowed: expected an address on the public internet.",
      });
    }
    expect(sink.asked).toEqual([]);
  });

  test("through a redirect to an internal address is unsafe_url too", async () => {
    const sink = await listenAsSink();
    open.push(sink);
    const server = await serve((_request, response) => response.writeHead(302, { location: sink.url("/") }).end());
    expect(await refusal(inline(asking(image(server.url("/a")))))).toMatchObject({ code: "unsafe_url" });
    expect(sink.asked).toEqual([]);
  });

  test("to fetch is unprocessable_input, or input_unavailable during an outage of its server", async () => {
    const server = await serve(media({}));
    expect(await refusal(inline(asking(image(server.url("/a")))))).toMatchObject({
      kind: "rejected",
      code: "unprocessable_input",
      detail: "outbound status: answered 404",
    });
    server.close();
    expect(await refusal(inline(asking(image(server.url("/a")))))).toMatchObject({
      code: "input_unavailable",
      detail: "outbound unreachable: ECONNREFUSED",
    });
  });

  test("ends the other fetches", async () => {
    const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
    const { promise: hanging, resolve: onHang } = Promise.withResolvers<void>();
    const server = await serve((request, response) => {
      if (request.url === "/hang") {
        response.on("close", onClose);
        onHang();
      } else void hanging.then(() => response.writeHead(404).end());
    });
    const request = asking(image(server.url("/hang")), image(server.url("/b")));
    const error = await refusal(inline(request, { inlineMs: 600_000 }));
    expect(error.param).toBe("messages[0].content[1].image_url.url");
    await closed;
  });

  test("by a disconnected caller is an abort, and the fetch ends", async () => {
    const controller = new AbortController();
    const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
    const server = await serve((_request, response) => {
      response.on("close", onClose);
      controller.abort(new Error("left"));
    });
    const request = asking(image(server.url("/a")), image(server.url("/b")));
    expect(await refusal(inlineMedia({ request, signal: controller.signal, takesAudio: true }))).toMatchObject({
      kind: "aborted",
    });
    await closed;
    expect(await refusal(inlineMedia({ request, signal: controller.signal, takesAudio: true }))).toMatchObject({
      kind: "aborted",
    });
  });

  test("does not contain the address or its response, neither for the client nor in the log", async () => {
    const server = await serve((_request, response) => {
      response.writeHead(403, { "x-debug": "internal-9" }).end("internal-9");
    });
    const sink = await listenAsSink();
    sink.close();
    for (const url of [
      server.url("/secret-path?sig=s3cret-value"),
      sink.url("/secret-path?sig=s3cret-value"),
      `http://user:s3cret-value@127.0.0.1:${server.port}/secret-path`,
      "https://10.11.12.13/secret-path",
    ]) {
      const error = await refusal(inline(asking(image(url))));
      const line = JSON.stringify(one((log) => log.warn({ err: error, detail: error.detail }, "failed")));
      for (const told of [error.say ?? "", error.detail, line]) {
        for (const secret of ["secret", "s3cret", "internal-9", "10.11", "127.0.0.1"]) {
          expect(told.replaceAll(/file:[^"]*|\(\/[^)]*\)|at [^"]*/g, "")).not.toContain(secret);
        }
      }
    }
  });
});

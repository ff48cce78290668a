/** Speech that is handed on while it still comes, from a server that lets go of it in pieces. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Endpoint } from "#workers/providers/http.ts";
import { postStream } from "#workers/providers/http.ts";
import type { Artifact } from "#workers/providers/media.ts";
import { ProviderError } from "#workers/providers/provider.ts";
import { openSpoken } from "#workers/providers/speech.ts";

const MP3 = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(2_000, 7)]);

/** Decides what the server sends after the first piece, once it is let go. */
let rest: PromiseWithResolvers<"more" | "break">;
let first: Buffer = MP3;
let server: Bun.Server<undefined>;
let endpoint: Endpoint;

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(first);
            const next = await rest.promise;
            if (next === "break") return controller.error(new Error("broken"));
            controller.enqueue(Buffer.from("the end"));
            controller.close();
          },
        }),
        { headers: { "content-type": "audio/mpeg" } },
      ),
  });
  endpoint = { baseUrl: server.url.origin, headers: {} };
});

afterAll(() => server.stop(true));

async function open(signal = new AbortController().signal): Promise<Artifact> {
  const { headers, body } = await postStream(endpoint, { path: "/", body: "{}" }, signal);
  if (!body) throw new Error("no body");
  return openSpoken(body, headers, "mp3", signal);
}

function streamOf(artifact: Artifact, signal = new AbortController().signal): Promise<ReadableStream<Uint8Array>> {
  if (!("open" in artifact)) throw new Error("expected a stream");
  return artifact.open(signal);
}

describe("speech during its generation", () => {
  test("is delivered from its first bytes, before its last ones, and once", async () => {
    [first, rest] = [MP3, Promise.withResolvers()];
    const artifact = await open();
    expect(artifact.contentType).toBe("audio/mpeg");
    const reader = (await streamOf(artifact)).getReader();
    const { value } = await reader.read();
    expect(Buffer.from(value ?? []).equals(MP3)).toBe(true);
    rest.resolve("more");
    const { value: last } = await reader.read();
    expect(Buffer.from(last ?? []).toString()).toBe("the end");
    expect((await reader.read()).done).toBe(true);
    expect(await streamOf(artifact).catch((error: unknown) => error)).toBeInstanceOf(ProviderError);
  });

  test("that is interrupted fails as a provider error", async () => {
    [first, rest] = [MP3, Promise.withResolvers()];
    const reader = (await streamOf(await open())).getReader();
    await reader.read();
    rest.resolve("break");
    expect(await reader.read().catch((error: unknown) => error)).toMatchObject({ kind: "failed" });
  });

  test("in another format is rejected by its first bytes", async () => {
    [first, rest] = [Buffer.from("<html>".padEnd(2_000)), Promise.withResolvers()];
    expect(await open().catch((error: unknown) => error)).toMatchObject({ kind: "failed" });
    rest.resolve("more");
  });
});

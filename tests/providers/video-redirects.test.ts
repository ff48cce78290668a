import { afterEach, beforeAll, describe, expect, test } from "bun:test";

import { allowOutbound } from "#shared/net/allowance.ts";
import { openVideo } from "#workers/providers/video-media.ts";

import { jsonReply, type Reply } from "./engine/behaviour.ts";
import { failureOf, never, useServers } from "./engine/calls.ts";
import { type Recorder, startRecorder } from "./engine/recorder.ts";
import { mp4Of, videoReply } from "./video-calls.ts";

const own = useServers();
const quiet = { warn: () => undefined };

beforeAll(() => allowOutbound([], quiet));

afterEach(() => {
  allowOutbound([], quiet);
});

function serve(answer: (path: string) => Reply): Recorder {
  return own(startRecorder(({ path }) => answer(path)));
}

const VIDEO = mp4Of(2);
const to = (location: string, status = 302): Reply => jsonReply(status, "", { location });
const video = (): Reply => videoReply(VIDEO);

const openAt = (recorder: Recorder, signal: AbortSignal = never): Promise<ReadableStream<Uint8Array>> =>
  openVideo({ baseUrl: `${recorder.origin}/v1`, headers: { "x-goog-api-key": "key-ours" } }, "/files/1", signal);
const readOf = async (stream: ReadableStream<Uint8Array>): Promise<Buffer> =>
  Buffer.from(await new Response(stream).arrayBuffer());

describe("a video at another address of its provider's own origin", () => {
  test.each([301, 302, 303, 307, 308])("is read there with our key (%i)", async (status) => {
    const own = serve((path) => (path === "/v1/files/1" ? to("../kept/1?x=y", status) : video()));
    expect((await readOf(await openAt(own))).equals(VIDEO)).toBeTrue();
    expect(own.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /v1/files/1",
      "GET /v1/kept/1?x=y",
    ]);
    expect(own.requests.map(({ headers }) => headers["x-goog-api-key"])).toEqual(["key-ours", "key-ours"]);
  });

  test("is followed three times, and no further", async () => {
    const hops = (most: number) =>
      serve((path) => {
        const at = Number(path.split("/").at(-1));
        return at > most ? video() : to(`/v1/files/${at + 1}`);
      });
    expect((await readOf(await openAt(hops(3)))).equals(VIDEO)).toBeTrue();
    const endless = hops(4);
    expect((await failureOf(openAt(endless))).kind).toBe("failed");
    expect(endless.requests).toHaveLength(4);
  });
});

describe("a video on another host", () => {
  test("is read there without our key, if the operator allows it", async () => {
    const other = serve(video);
    const own = serve(() => to(`${other.origin}/signed?x=y`));
    allowOutbound([new URL(other.origin).host], quiet);
    expect((await readOf(await openAt(own))).equals(VIDEO)).toBeTrue();
    expect(other.requests.map(({ path }) => path)).toEqual(["/signed?x=y"]);
    expect(JSON.stringify(other.requests)).not.toContain("key-ours");
  });

  test.each([
    ["a private address", (own: Recorder) => own.origin.replace("127.0.0.1", "localhost")],
    ["the address of a cloud's secrets", () => "http://169.254.169.254/latest/meta-data"],
    ["a file", () => "file:///etc/passwd"],
    ["the same host under a name and a password", (own: Recorder) => own.origin.replace("//", "//us:secret@")],
  ])("that is %s is not read", async (_what, location) => {
    const own: Recorder = serve((path) => (path === "/v1/files/1" ? to(location(own)) : video()));
    expect((await failureOf(openAt(own))).kind).toBe("failed");
    expect(own.requests).toHaveLength(1);
  });

  test("that is invalid, or truncated, fails during the read", async () => {
    for (const [reply, isBegun] of [
      [{ status: 403, body: "" }, false],
      [videoReply(VIDEO, { cut: { afterBytes: 100, how: "fin" } }), true],
    ] as const) {
      const other = serve(() => reply);
      const own = serve(() => to(other.origin));
      allowOutbound([new URL(other.origin).host], quiet);
      const opening = openAt(own);
      const failure = isBegun ? failureOf(opening.then((stream) => readOf(stream))) : failureOf(opening);
      expect((await failure).kind).toBe("failed");
    }
  });

  test("is aborted with its reader", async () => {
    const other = serve(() => "hang");
    const own = serve(() => to(other.origin));
    allowOutbound([new URL(other.origin).host], quiet);
    expect((await failureOf(openAt(own, AbortSignal.timeout(50)))).kind).toBe("aborted");
  });
});

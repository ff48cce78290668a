/** What the local upstreams of all makers of videos have in common: calls are recorded, answers written byte by byte. */
import { expect } from "bun:test";

import type { MediaCall, QueuedOffer, VideoInput } from "#workers/providers/media.ts";

import { callOf } from "../image-calls.ts";
import { parseForm } from "../multipart.ts";
import type { RawRequest } from "../raw-request.ts";
import { startRawServer } from "../raw-server.ts";
import { jsonReply } from "../vendor-server.ts";
import type { CustomBehaviour, HangBehaviour, ReplyBehaviour, ResetBehaviour } from "./behaviour.ts";
import { play } from "./play.ts";

export type Reply = ReplyBehaviour | HangBehaviour | ResetBehaviour | CustomBehaviour;

export interface VideoCall {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, a form, text, or undefined when it is empty. */
  readonly body: unknown;
}

export interface Recorder {
  /** Without a path. */
  readonly origin: string;
  readonly requests: readonly VideoCall[];
  /** Faults of the server itself; tests assert that there are none. */
  readonly faults: readonly unknown[];
  close(): void;
}

/** Starts a server on 127.0.0.1. */
export function startRecorder(answer: (call: VideoCall) => Reply): Recorder {
  const requests: VideoCall[] = [];
  const faults: unknown[] = [];
  const server = startRawServer(
    async (raw, wire) => {
      const call = { method: raw.method, path: raw.target, headers: raw.headers, body: bodyOf(raw) };
      requests.push(call);
      await play(answer(call), { raw, request: { model: "", messages: [] }, sequence: requests.length }, wire);
    },
    (fault) => void faults.push(fault),
  );
  return { origin: `http://127.0.0.1:${server.port}`, requests, faults, close: () => server.close() };
}

function bodyOf({ headers, body }: RawRequest): unknown {
  if (body.length === 0) return undefined;
  const form = parseForm(headers["content-type"], body);
  if (form) return form;
  try {
    return JSON.parse(body.toString("utf8")) as unknown;
  } catch {
    return body.toString("utf8");
  }
}

export const ok = (body: unknown): Reply => jsonReply(200, body);
export const cut = (body: unknown): Reply => {
  const text = JSON.stringify(body);
  return {
    kind: "reply",
    status: 200,
    headers: { "content-type": "application/json" },
    body: text,
    cut: { afterBytes: text.length - 3, how: "fin" },
  };
};
/** Leads to this very server, which must not be asked there. */
export const redirect: Reply = { kind: "reply", status: 302, headers: { location: "/stolen" }, body: "" };

/** After each test: nothing went wrong in the server, and no redirect was followed (lesson OUT-6). */
export function endRecorder(recorder: Recorder): void {
  recorder.close();
  expect(recorder.faults).toEqual([]);
  expect(recorder.requests.map(({ path }) => path)).not.toContain("/stolen");
}

/** Bytes that begin as an MP4 does. */
export function mp4Of(seconds: number): Buffer {
  const brand = Buffer.from("ftypisom\0\0\u0002\0isomiso2mp41", "latin1");
  const head = Buffer.alloc(4);
  head.writeUInt32BE(brand.length + 4);
  return Buffer.concat([head, brand, Buffer.alloc(1_024 * seconds, seconds)]);
}

export function videoReply(bytes: Uint8Array, more: Partial<ReplyBehaviour> = {}): ReplyBehaviour {
  return { kind: "reply", status: 200, headers: { "content-type": "video/mp4" }, body: bytes, ...more };
}

/** A picture that came with a call. */
export const PICTURE = { bytes: Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 1, 2, 3), contentType: "image/jpeg" } as const;
export const CLIP = { bytes: Uint8Array.from(mp4Of(1)), contentType: "video/mp4" } as const;

/** Every input there is but the video. */
export const EVERYTHING = {
  prompt: "a sea otter",
  image: PICTURE,
  duration: 8,
  resolution: "720p",
  aspectRatio: "16:9",
  seed: 7,
  negativePrompt: "blur",
  personGeneration: "allow_adult",
} as const satisfies VideoInput;

export function videoCall(
  input: Partial<VideoInput> = {},
  call: Partial<MediaCall<VideoInput>> = {},
): MediaCall<VideoInput> {
  return callOf({ prompt: "a sea otter", ...input }, call);
}

/** Applies members as the overrides of a source are. */
export const overriding =
  (members: Readonly<Record<string, unknown>>) =>
  (body: Record<string, unknown>): void =>
    void Object.assign(body, members);

export function queued<Input, Output>(
  offer: QueuedOffer<Input, Output> | { readonly run: unknown } | undefined,
): QueuedOffer<Input, Output> {
  if (offer && "start" in offer) return offer;
  throw new Error("expected an offer that queues");
}

/** Of a signal that never fires. */
export const never = new AbortController().signal;

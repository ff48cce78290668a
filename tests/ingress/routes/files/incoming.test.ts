import { expect, test } from "bun:test";

import { openIncoming } from "#ingress/routes/files/incoming.ts";
import { ApiError } from "#shared/base/errors.ts";

const PACE = { uploadStartMs: 50, uploadCreditMsMax: 100, uploadBytesPerSecondMin: 1_000 };

function post(body: ReadableStream<Uint8Array>, signal?: AbortSignal): Request {
  return new Request("http://localhost/", { method: "POST", body, ...(signal === undefined ? {} : { signal }) });
}

test("a stalled body is aborted, after any number of bytes", async () => {
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(100_000)) });
  const incoming = openIncoming(post(body), PACE);
  expect((await incoming.read())?.length).toBe(100_000);
  const error = await incoming.read().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "request_timeout" });
});

test("a dripping body is aborted although it never stalls", async () => {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await Bun.sleep(5);
      controller.enqueue(new Uint8Array(1));
    },
  });
  const incoming = openIncoming(post(body), PACE);
  const drink = async (): Promise<void> => {
    for (let piece = await incoming.read(); piece !== undefined; piece = await incoming.read())
      expect(piece.length).toBe(1);
  };
  expect(await drink().catch((thrown: unknown) => thrown)).toMatchObject({ code: "request_timeout" });
});

test("our own time between two reads does not count as the client's", async () => {
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent++ < 3) controller.enqueue(new Uint8Array(10));
      else controller.close();
    },
  });
  const incoming = openIncoming(post(body), PACE);
  let total = 0;
  for (let piece = await incoming.read(); piece !== undefined; piece = await incoming.read()) {
    total += piece.length;
    await Bun.sleep(60);
  }
  expect(total).toBe(30);
});

test("a disconnected client ends a waiting read", async () => {
  const left = new AbortController();
  const incoming = openIncoming(post(new ReadableStream<Uint8Array>({}), left.signal));
  const reading = incoming.read().catch((thrown: unknown) => thrown);
  left.abort();
  expect(await reading).toBeInstanceOf(ApiError);
});

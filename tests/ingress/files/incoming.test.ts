import { expect, test } from "bun:test";

import { openIncoming } from "#ingress/files/incoming.ts";
import { ApiError } from "#shared/errors.ts";

const PACE = { uploadStartMs: 50, uploadCreditMsMax: 100, uploadBytesPerSecondMin: 1_000 };

function post(body: ReadableStream<Uint8Array>, signal?: AbortSignal): Request {
  return new Request("http://localhost/", { method: "POST", body, ...(signal === undefined ? {} : { signal }) });
}

test("a body that stops coming is given up, however much of it there was", async () => {
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(100_000)) });
  const incoming = openIncoming(post(body), PACE);
  expect((await incoming.read())?.length).toBe(100_000);
  const error = await incoming.read().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "request_timeout" });
});

test("a body that drips is given up though it never stops", async () => {
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

test("time that we let pass between two reads is not the client's", async () => {
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

test("a client that left ends a waiting read", async () => {
  const left = new AbortController();
  const incoming = openIncoming(post(new ReadableStream<Uint8Array>({}), left.signal));
  const reading = incoming.read().catch((thrown: unknown) => thrown);
  left.abort();
  expect(await reading).toBeInstanceOf(ApiError);
});

/** Bound of what is published and not taken, which publishers can see. */
import { expect, test } from "bun:test";
import type { NatsConnection } from "nats";

import { createBufferedPublisher } from "#shared/queue/buffered-publisher.ts";

const MIB = 1_048_576;

/** A server that answers when it is told to, as one that reads slowly. */
function open() {
  const questions: PromiseWithResolvers<void>[] = [];
  const statuses: ((status: { type: string }) => void)[] = [];
  const connection = {
    isClosed: () => false,
    publish: () => undefined,
    flush: () => {
      const question = Promise.withResolvers<void>();
      questions.push(question);
      return question.promise;
    },
    async *status() {
      for (;;) yield await new Promise<{ type: string }>((resolve) => statuses.push(resolve));
    },
  } as unknown as NatsConnection;
  const publisher = createBufferedPublisher(connection, 0);
  return {
    publisher,
    questions,
    publish: (mib: number) => {
      for (let at = 0; at < mib; at++) publisher.publish("a", new Uint8Array(MIB));
    },
    lose: () => {
      statuses.shift()?.({ type: "disconnect" });
      for (const { reject } of questions) reject(new Error("connection disconnected"));
    },
  };
}

test("a fast server is flushed periodically, and blocks nothing", async () => {
  const { publisher, questions, publish } = open();
  publish(4);
  expect([publisher.waitForDrain(), questions.length]).toEqual([undefined, 0]);
  publish(1);
  expect([publisher.waitForDrain(), publisher.waitForDrain(), questions.length]).toEqual([undefined, undefined, 1]);
  questions[0]?.resolve();
  await Promise.resolve();
  publish(4);
  expect([publisher.waitForDrain(), questions.length]).toEqual([undefined, 1]);
});

test("capacity is exhausted above eight megabytes until the server has read them", async () => {
  const { publisher, questions, publish } = open();
  publish(9);
  const room = publisher.waitForDrain();
  expect(room).toBeInstanceOf(Promise);
  expect(publisher.waitForDrain()).toBe(room);
  questions[0]?.resolve();
  await room;
  expect([publisher.waitForDrain(), questions.length]).toEqual([undefined, 1]);
});

test("messages on a lost connection are not awaited", async () => {
  const { publisher, publish, lose } = open();
  publish(9);
  const room = publisher.waitForDrain();
  lose();
  await room;
  expect(publisher.waitForDrain()).toBeUndefined();
});

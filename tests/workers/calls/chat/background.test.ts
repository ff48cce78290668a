/** Events of background responses: kept in pieces, bounded, and all of them before the answer. */
import { expect, test } from "bun:test";

import { responseOf } from "#ingress/core/response-object.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { ONCE } from "#shared/storage/outage.ts";
import type { EventsPiece, KeptResponse } from "#shared/responses/store.ts";
import { eventually } from "#tests/faults/wait.ts";
import { chatJob } from "#tests/workers/runner/job-message.ts";
import { openBackground } from "#workers/calls/chat/background.ts";
import { releaseConversation } from "#workers/calls/chat/store-response.ts";

const event = (type: string, text: string): string => `event: ${type}\ndata: {"text":"${text}"}\n\n`;
const DELTA = "response.output_text.delta";
const END = `${event("response.completed", "")}data: [DONE]\n\n`;

async function open({
  keepsEvents = true,
  fails = () => false,
}: { keepsEvents?: boolean; fails?: () => boolean } = {}) {
  const id = newId();
  const response = responseOf({ model: "m", input: "x", background: true }, id, 1_000);
  const kept: KeptResponse = {
    response,
    input: [],
    workspaceId: newId(),
    isBackground: true,
    keepsEvents,
    lastEvent: 1,
  };
  const pieces: EventsPiece[] = [];
  const done: string[] = [];
  let running = 0;
  const background = await openBackground(
    {
      log: createLogger({ level: "silent", role: "test" }),
      answers: {
        isClosed: () => false,
        publish: () => done.push("told"),
        waitForDrain: () => undefined,
        flush: () => undefined,
      },
      responses: {
        keep: () => Promise.reject(new Error("not asked for")),
        read: (call) => Promise.resolve(call === id ? kept : undefined),
        answer: () => Promise.resolve(void done.push("answered")),
        keepEvents: async (_call, piece) => {
          expect(running).toBe(0);
          running += 1;
          await Bun.sleep(1);
          running -= 1;
          if (fails()) throw new Error("the database is away");
          pieces.push(piece);
        },
      },
    },
    chatJob({ job_id: id, api: "responses", background: true }),
    ONCE,
  );
  if (!background) throw new Error("it is there");
  return { background, pieces, done, response };
}

test("events are stored in order, without the end that the response replaces", async () => {
  const { background, pieces, done, response } = await open();
  background.write(event("response.in_progress", "") + event(DELTA, "a"));
  await Bun.sleep(150);
  background.write(event(DELTA, "b"));
  await background.answer(response, event("response.output_text.done", "ab") + END);
  expect(pieces.map(({ first, last }) => [first, last])).toEqual([[2, 3], [4, 5]]); // prettier-ignore
  expect(pieces.map(({ text }) => text).join("")).not.toContain("completed");
  expect(done.at(-1)).toBe("answered");
});

test("pieces that could not be stored are stored with the next ones", async () => {
  let [isAway, tries] = [true, 0];
  const fails = (): boolean => {
    tries += 1;
    return isAway;
  };
  const { background, pieces, response } = await open({ fails });
  background.write(event(DELTA, "a"));
  await eventually("they were to be kept", () => tries > 0);
  background.write(event(DELTA, "b"));
  isAway = false;
  await background.answer(response, END);
  expect(pieces.map(({ first, last }) => [first, last])).toEqual([[2, 3]]);
});

test("an answer is not stored if its events cannot be", async () => {
  const { background, done, response } = await open({ fails: () => true });
  background.write(event(DELTA, "a"));
  expect(await background.answer(response, END).catch(String)).toContain("away");
  expect(done).not.toContain("answered");
  await background.breakOff();
});

test("a large backlog delays the provider, and above the bound only the complete answer is stored", async () => {
  const { background, pieces } = await open();
  const large = "x".repeat(300_000);
  expect(background.waitForDrain()).toBeUndefined();
  for (let at = 0; at < 56; at += 1) {
    background.write(event(DELTA, large));
    await background.waitForDrain();
  }
  background.write(event(DELTA, large) + event("response.output_text.done", "whole"));
  await background.breakOff();
  const bytes = pieces.reduce((sum, { text }) => sum + text.length, 0);
  expect(bytes).toBeLessThan(17 * 1_048_576);
  expect(pieces.at(-1)).toMatchObject({ last: 2 + 57, text: event("response.output_text.done", "whole") });
});

test("nothing is stored of an unstreamed response", async () => {
  const { background, pieces, response } = await open({ keepsEvents: false });
  background.write(event(DELTA, "a"));
  await background.answer(response, END);
  expect(pieces).toEqual([]);
});

test("a conversation stays locked when the worker releases its background response: its job may be retried", async () => {
  const released: string[] = [];
  const conversations = { release: (_id: string, call: string) => Promise.resolve(void released.push(call)) };
  const context = { conversations, log: createLogger({ level: "silent", role: "test" }) } as never;
  const live = chatJob({ job_id: newId(), api: "responses" });
  const conversation = `conv_${newId().replaceAll("-", "")}`;
  const response = responseOf({ model: "m", input: "x", conversation }, newId(), 1_000);
  await releaseConversation(context, { ...live, job_id: newId(), background: true }, response);
  await releaseConversation(context, live, response);
  expect(released).toEqual([live.job_id]);
});

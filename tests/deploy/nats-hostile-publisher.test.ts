/** Effects that a publisher of one workspace can have on the rest by the reply subject and headers of its messages. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import { jetstream, type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { headers, type NatsConnection } from "nats";

import { newId } from "#shared/base/ids.ts";
import { BATCH_STREAM, streamName, workSubject } from "#shared/queue/subjects.ts";
import { ensureTopology } from "#shared/queue/topology.ts";
import { eventually } from "#tests/faults/wait.ts";
import {
  type ConfiguredNats,
  PUBLISHER_KEY,
  PUBLISHER_WORKSPACE,
  startConfiguredNats,
} from "#tests/support/configured-nats.ts";

const OWN = `batch.chat.${PUBLISHER_WORKSPACE}.${PUBLISHER_KEY}`;
/** Workspace and key of somebody else. */
const OTHER = newId();
const COLLEAGUE = `${PUBLISHER_WORKSPACE}.${newId()}`;
const JOB = newId();
/** Subjects of every family that means something to Sluice or to the server. */
const TARGETS = [
  `batch.chat.${OTHER}.${OTHER}`,
  `batch.chat.${COLLEAGUE}`,
  `_INBOX.ws.${COLLEAGUE}.answers`,
  `work.chat.live.${OTHER}`,
  `work.chat.batch.${PUBLISHER_WORKSPACE}`,
  `cancel.${JOB}`,
  `callback.${JOB}`,
  "breaker.chat",
  "source.reset.chat",
  "freed.chat.batch",
  `_INBOX.ws.${OTHER}.${OTHER}.answers`,
  `_INBOX.gw.in-1.${JOB}`,
  "_INBOX.wk.pull",
  "_INBOX.jn.pull",
  "$JS.API.STREAM.PURGE.POOL_chat",
  "$JS.API.STREAM.PURGE.BATCH_IN",
  "$JS.API.STREAM.DELETE.POOL_chat",
  "$JS.API.STREAM.MSG.DELETE.POOL_chat",
  "$JS.API.STREAM.UPDATE.POOL_chat",
  "$JS.API.CONSUMER.DELETE.POOL_chat.chat_live",
  "$JS.API.CONSUMER.MSG.NEXT.POOL_chat.chat_live",
  "$JS.ACK.POOL_chat.chat_live.1.1.1.1.0",
  "$JS.ACK.BATCH_IN.intake.1.1.1.1.0",
  "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.POOL_chat.chat_live",
] as const;
const HEADER_TRICKS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "a known message id": { "Nats-Msg-Id": "same" },
  "an expected stream": { "Nats-Expected-Stream": "POOL_chat" },
  "an expected sequence": { "Nats-Expected-Last-Sequence": "999999" },
  "an expected sequence of another subject": {
    "Nats-Expected-Last-Subject-Sequence": "9",
    "Nats-Expected-Last-Subject-Sequence-Subject": `batch.chat.${OTHER}.${OTHER}`,
  },
  "an expected message id": { "Nats-Expected-Last-Msg-Id": "none" },
  "a rollup of the stream": { "Nats-Rollup": "all" },
  "a rollup of a subject": { "Nats-Rollup": "sub" },
  "a life of its own": { "Nats-TTL": "1s" },
  "a schedule": { "Nats-Schedule": "@every 1s", "Nats-Schedule-Target": `work.chat.live.${OTHER}` },
  "a counter": { "Nats-Incr": "+1" },
  "a batch of the stream's own kind": {
    "Nats-Batch-Id": "b",
    "Nats-Batch-Sequence": "1",
    "Nats-Batch-Commit": "1",
  },
  "a required server": { "Nats-Required-Api-Level": "9999" },
  "a trace to a cancel": { "Nats-Trace-Dest": `cancel.${JOB}` },
  "a trace to another workspace": {
    "Nats-Trace-Dest": `_INBOX.ws.${OTHER}.${OTHER}.answers`,
    "Nats-Trace-Only": "true",
  },
};

let server: ConfiguredNats;
let witness: NatsConnection;
let publisher: NatsConnection;
let manager: JetStreamManager;
/** Every subject that anything was delivered on, in order. */
const heard: string[] = [];

beforeAll(async () => {
  // The floor of the server's versions is not strict unless told so; the publisher must not get through there either.
  server = await startConfiguredNats((text) => text.replaceAll("strict: true", "strict: false"));
  witness = (await server.open("witness")).connection;
  publisher = (await server.open("publisher")).connection;
  await ensureTopology(witness, 1);
  manager = await jetstreamManager(witness);
  await jetstream(witness).publish(workSubject("chat", "live", OTHER), "{}");
  witness.publish(`batch.chat.${OTHER}.${OTHER}`, "{}");
  await eventually("the other's message waits", async () => (await stored(BATCH_STREAM)) === 1);
  witness.subscribe(">", { callback: (_error, { subject }) => void heard.push(subject) });
  await witness.flush();
}, 60_000);

afterAll(async () => {
  await Promise.all([witness?.close(), publisher?.close()]);
  await server?.stop();
});

beforeEach(() => {
  heard.length = 0;
});

const stored = async (stream: string): Promise<number> => (await manager.streams.info(stream)).state.messages;

/** The server has dealt with everything before it: a last message of the publisher's is in the stream. */
async function settle(): Promise<void> {
  const last = newId();
  publisher.publish(OWN, last);
  await eventually("the last message is stored", async () => {
    const message = await manager.streams.getMessage(BATCH_STREAM, { last_by_subj: OWN });
    return message?.string() === last;
  });
  await witness.flush();
}

async function expectUnharmed(configs: unknown): Promise<void> {
  expect(await configsOf()).toEqual(configs);
  expect(await stored(streamName("chat"))).toBe(1);
  const others = await manager.streams.getMessage(BATCH_STREAM, { last_by_subj: `batch.chat.${OTHER}.${OTHER}` });
  expect(others?.seq).toBe(1);
}

const configsOf = async (): Promise<unknown> => {
  const streams = await manager.streams.list().next();
  const consumers = await Promise.all(streams.map(({ config }) => manager.consumers.list(config.name).next()));
  return [streams.map(({ config }) => config), consumers.flat().map(({ config }) => config)];
};

describe("a publisher", () => {
  test.each(TARGETS)("receives nothing on %s by naming it as its reply", async (reply) => {
    const configs = await configsOf();
    heard.length = 0;
    publisher.publish(OWN, '{"body":{}}', { reply });
    // Refused by the stream, for its size: the refusal goes nowhere either.
    publisher.publish(OWN, "x".repeat(600 * 1024), { reply });
    await settle();
    expect(heard.filter((subject) => subject === reply)).toEqual([]);
    await expectUnharmed(configs);
  });

  test.each(Object.entries(HEADER_TRICKS))("changes nothing with %s", async (_what, trick) => {
    const configs = await configsOf();
    heard.length = 0;
    const head = headers();
    for (const [name, value] of Object.entries(trick)) head.set(name, value);
    for (const reply of [`cancel.${JOB}`, "$JS.API.STREAM.PURGE.POOL_chat"]) {
      for (let at = 0; at < 2; at++) publisher.publish(OWN, '{"body":{}}', { reply, headers: head });
    }
    await settle();
    expect(heard.filter((subject) => !isOwn(subject))).toEqual([]);
    expect(heard).not.toContain("$JS.API.STREAM.PURGE.POOL_chat");
    await expectUnharmed(configs);
  });
});

/** The publisher's own messages, and the questions and answers of this test. */
// The role nats-auth asks for connections, and is answered.
const isOwn = (subject: string): boolean =>
  subject === OWN ||
  /^(_INBOX\.witness|_R_|\$SYS\.REQ\.ACCOUNT\.PING\.CONNZ|\$JS\.API|\$JS\.EVENT\.ADVISORY\.API)(\.|$)/.test(subject);

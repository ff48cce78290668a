import { describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import {
  batchTarget,
  CANCEL_FILTER,
  cancelSubject,
  durableName,
  isIngressReply,
  isPublisherReply,
  isWorkspaceReply,
  laneFilter,
  LANES,
  POOLS,
  replyPrefix,
  streamName,
  workspaceOfSubject,
  workSubject,
} from "#shared/queue/subjects.ts";

const WORKSPACE = newId();

/** NATS' own rule: `*` is one token, `>` is the rest. */
function matches(filter: string, subject: string): boolean {
  const wanted = filter.split(".");
  const tokens = subject.split(".");
  return wanted.every((token, at) => (token === ">" ? tokens.length > at : token === "*" ? at in tokens : token === tokens[at])) && (wanted.at(-1) === ">" || wanted.length === tokens.length); // prettier-ignore
}

describe("work subjects", () => {
  test("name the workspace, and match their lane's filter, and no other lane's", () => {
    for (const pool of POOLS) {
      for (const lane of LANES) {
        const subject = workSubject(pool, lane, WORKSPACE);
        expect(workspaceOfSubject(subject)).toBe(WORKSPACE);
        const takers = POOLS.flatMap((other) => LANES.map((otherLane) => laneFilter(other, otherLane))).filter(
          (filter) => matches(filter, subject),
        );
        expect(takers).toEqual([laneFilter(pool, lane)]);
      }
    }
  });

  test.each([
    `work.chat.live.${WORKSPACE}.more`,
    `work.chat.${WORKSPACE}`,
    `batch.chat.live.${WORKSPACE}`,
    `xwork.chat.live.${WORKSPACE}`,
    `work.chat.live.${WORKSPACE.toUpperCase()}`,
    "work.chat.live.default",
    "work.chat.live.*",
    "work.chat.live.",
    "work.chat.live",
    "",
  ])("%j names no workspace", (subject) => {
    expect(workspaceOfSubject(subject)).toBeUndefined();
  });

  test("streams and durables have one name each", () => {
    const names = POOLS.flatMap((pool) => LANES.map((lane) => `${streamName(pool)}/${durableName(pool, lane)}`));
    expect(new Set(names).size).toBe(names.length);
    for (const pool of POOLS) expect(streamName(pool)).toMatch(/^POOL_[a-z0-9]+$/);
  });

  test("cancels match their filter", () => {
    expect(matches(CANCEL_FILTER, cancelSubject(WORKSPACE))).toBe(true);
  });
});

describe("a reply address", () => {
  test("of an ingress is accepted", () => {
    expect(isIngressReply(`${replyPrefix(newId())}.${newId()}`)).toBe(true);
  });

  test.each([
    "",
    "_INBOX.gw",
    "_INBOX.gw.a",
    "_INBOX.gw.a.",
    "_INBOX.gw..b",
    "_INBOX.gw.a.b.c",
    "_INBOX.gw.a.*",
    "_INBOX.gw.a.>",
    "_INBOX.gw.>",
    "_INBOX.gw.a.b\n",
    "_INBOX.gw.a.b c",
    "_INBOX.gw.a.b\u0000",
    "_INBOX.gw.a.é",
    "_INBOX.wk.a.b",
    "_INBOX.jn.a.b",
    "_INBOX.ws.a.b",
    "_inbox.gw.a.b",
    "x_INBOX.gw.a.b",
    "work.chat.live.b",
    "$JS.API.STREAM.DELETE.POOL_chat",
    "cancel.b",
    `_INBOX.gw.${"a".repeat(65)}.b`,
    `_INBOX.gw.a.${"b".repeat(65)}`,
  ])("%j is rejected: a worker publishes to no address that a message merely names", (subject) => {
    expect(isIngressReply(subject)).toBe(false);
  });
});

describe("a batch subject", () => {
  const KEY = newId();

  test("names pool, workspace and key", () => {
    for (const pool of POOLS)
      expect(batchTarget(`batch.${pool}.${WORKSPACE}.${KEY}`)).toEqual({ pool, workspaceId: WORKSPACE, keyId: KEY });
  });

  test.each([
    `batch.nothing.${WORKSPACE}.${KEY}`,
    `batch.chat.${WORKSPACE.toUpperCase()}.${KEY}`,
    `batch.chat.${WORKSPACE}.${KEY.toUpperCase()}`,
    `batch.chat.${WORKSPACE}.${KEY}.more`,
    `batch.chat.${WORKSPACE}.more`,
    `batch.chat.${WORKSPACE}`,
    `work.chat.${WORKSPACE}.${KEY}`,
    "batch.chat.*",
    "batch.chat",
    "",
  ])("%j has no workspace", (subject) => {
    expect(batchTarget(subject)).toBeUndefined();
  });
});

test("a reply address of another key of the workspace is not the publisher's own", () => {
  const [keyId, other] = [newId(), newId()];
  const subject = `_INBOX.ws.${WORKSPACE}.${other}.answers`;
  expect(isPublisherReply(subject, { workspaceId: WORKSPACE, keyId })).toBe(false);
  expect(isPublisherReply(subject, { workspaceId: WORKSPACE, keyId: other })).toBe(true);
});

describe("a publisher's reply address", () => {
  const publisher = { workspaceId: WORKSPACE, keyId: newId() };
  const prefix = `_INBOX.ws.${WORKSPACE}.${publisher.keyId}`;

  test.each([`${prefix}.a`, `${prefix}.A-z_9.b.c`, `${prefix}.${"a".repeat(200 - prefix.length - 1)}`])(
    "%j is its own",
    (subject) => {
      expect([isPublisherReply(subject, publisher), isWorkspaceReply(subject, WORKSPACE)]).toEqual([true, true]);
    },
  );

  test.each([
    prefix,
    `${prefix}.`,
    `${prefix}.a.`,
    `${prefix}..a`,
    `${prefix}.*`,
    `${prefix}.>`,
    `${prefix}.a b`,
    `${prefix}.a\n`,
    `${prefix}.é`,
    `${prefix}.${"a".repeat(200 - prefix.length)}`,
    `x${prefix}.a`,
    `_INBOX.ws.${WORKSPACE}.a`,
    `_INBOX.ws.${newId()}.${publisher.keyId}.a`,
    `_INBOX.ws.*.a`,
    "_INBOX.gw.a.b",
    `work.chat.live.${WORKSPACE}`,
    "",
  ])("%j is not", (subject) => {
    expect([isPublisherReply(subject, publisher), isWorkspaceReply(subject, WORKSPACE)]).toEqual([false, false]);
  });
});

import { describe, expect, test } from "bun:test";

import { CHANGES_MAX, OthersCalls, OwnCalls } from "#ingress/wait/call-counts.ts";
import type { Pool } from "#shared/queue/subjects.ts";

const SENDER = { version: "1.2.0", startedAt: 0 };
const inFlight = (calls: Readonly<Record<string, number>>): Map<Pool, Map<string, number>> =>
  new Map([["chat", new Map(Object.entries(calls))]]);
const many = (count: number, calls: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`w${index}`, calls]));
const heardOf = (others: OthersCalls): Record<string, unknown> =>
  Object.fromEntries(Array.from(others.sum().get("chat") ?? [], ([id, { calls }]) => [id, calls]));

describe("a report of an ingress", () => {
  test("contains the changes since the previous one, and the end of a workspace's calls", () => {
    const own = new OwnCalls(SENDER);
    expect(own.takeChanges(inFlight({ a: 1, b: 2, waits: 0 }))).toEqual({ chat: { a: 1, b: 2, waits: 0 } });
    expect(own.takeChanges(inFlight({ a: 1, b: 2, waits: 0 }))).toEqual({});
    expect(own.takeChanges(inFlight({ a: 3, waits: 0 }))).toEqual({ chat: { a: 3, b: null } });
    expect(own.takeChanges(new Map())).toEqual({ chat: { a: null, waits: null } });
    expect(own.whole().calls).toEqual({ chat: {} });
  });

  test("has a bounded length: large changes come first, and all come eventually", () => {
    const own = new OwnCalls(SENDER);
    const others = new OthersCalls();
    others.receive("x", own.nextMessage({}));
    const asOften = { ...many(4 * CHANGES_MAX, 1), large: 50 };
    let words = 0;
    for (let turn = 0; Object.keys(heardOf(others)).length <= 4 * CHANGES_MAX; turn += 1) {
      // It changes all the time, and would be first all the time.
      const changes = own.takeChanges(inFlight({ ...asOften, large: 50 + (turn % 2), small: 1 }));
      expect(Object.keys(changes.chat ?? {}).length).toBeLessThanOrEqual(CHANGES_MAX);
      others.receive("x", own.nextMessage(changes));
      if (turn === 0) expect(heardOf(others)).toMatchObject({ large: 50 });
      words += 1;
    }
    expect(words).toBeLessThanOrEqual(6);
    expect(others.withHoles()).toEqual([]);
  });

  test("contains the thousand workspaces with the most calls", () => {
    const own = new OwnCalls(SENDER);
    const calls = inFlight({ ...many(1_500, 1), large: 9 });
    for (let turn = 0; turn < 10; turn += 1) own.takeChanges(calls);
    const told = own.whole().calls.chat ?? {};
    expect(Object.keys(told)).toHaveLength(1_000);
    expect(told["large"]).toBe(9);
  });

  test("contains everything periodically", () => {
    const own = new OwnCalls(SENDER);
    const words = Array.from({ length: 250 }, (_, turn) =>
      own.nextMessage(own.takeChanges(inFlight({ a: turn, b: 1 }))),
    );
    expect(words.filter(({ isWhole }) => isWhole).map(({ n }) => n)).toEqual([1, 101, 201]);
    expect(words[100]).toEqual({ n: 101, calls: { chat: { a: 100, b: 1 } }, isWhole: true, sender: SENDER });
    expect(words[101]).toEqual({ n: 102, calls: { chat: { a: 101 } } });
  });
});

describe("the reports of the others", () => {
  test("is added up, workspace by workspace", () => {
    const others = new OthersCalls();
    others.receive("x", { n: 1, calls: { chat: { a: 1, b: 2 } }, isWhole: true });
    others.receive("y", { n: 1, calls: { chat: { a: 5 } }, isWhole: true });
    expect(others.sum().get("chat")?.get("a")).toEqual({ calls: 6, ingresses: 2 });
    others.receive("x", { n: 2, calls: { chat: { a: null } } });
    expect(heardOf(others)).toEqual({ a: 5, b: 2 });
    others.forget("y");
    expect(heardOf(others)).toEqual({ b: 2 });
    expect(others.ingresses).toBe(1);
  });

  test("have a gap after a lost report, until a full one", () => {
    const others = new OthersCalls();
    others.receive("x", { n: 1, calls: { chat: { a: 1 } }, isWhole: true });
    expect(others.withHoles()).toEqual([]);
    others.receive("x", { n: 3, calls: { chat: { b: 2 } } });
    expect([others.withHoles(), heardOf(others)]).toEqual([["x"], { a: 1, b: 2 }]);
    others.receive("x", { n: 4, calls: {} });
    expect(others.withHoles()).toEqual(["x"]);
    others.receive("x", { n: 4, calls: { chat: { b: 2, c: 3 } }, isWhole: true });
    expect([others.withHoles(), heardOf(others)]).toEqual([[], { b: 2, c: 3 }]);
    // One that comes late says what is known better.
    others.receive("x", { n: 2, calls: { chat: { a: 9 } } });
    expect(heardOf(others)).toEqual({ b: 2, c: 3 });
  });

  test("have a gap if the first report of an ingress is not a full one", () => {
    const others = new OthersCalls();
    others.receive("x", { n: 7, calls: { chat: { a: 1 } } });
    expect(others.withHoles()).toEqual(["x"]);
  });

  test("ignore invalid counts, and are limited in number", () => {
    const others = new OthersCalls();
    const odd = JSON.parse('{"chat":{"a":-1,"b":1.5,"c":"7","d":2},"image":"text"}') as object;
    others.receive("x", { n: 1, calls: odd, isWhole: true });
    expect(heardOf(others)).toEqual({ d: 2 });
    others.receive("x", { n: 2, calls: { chat: many(5_000, 1) } });
    expect(Object.keys(heardOf(others))).toHaveLength(2_000);
  });
});

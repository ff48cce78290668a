/** A start whose answer is lost, in the hands of the worker that sent it, of the next one, and of one that asks late. */
import { describe, expect, test } from "bun:test";

import { jobAbort } from "#workers/job.ts";
import type { Artifact, Found, Polled, StartCall } from "#workers/providers/media.ts";
import { ProviderError } from "#workers/providers/provider.ts";

import { type Adapter, begun, run, SOUND } from "./run-bench.ts";

const DONE: Polled<Artifact> = { state: "done", output: SOUND, usage: {} };
const direct: Adapter = { run: () => Promise.resolve({ output: SOUND, usage: {} }) };
const unknown = new ProviderError("unknown", "a gateway lost the answer");

/** Loses its answers, and finds what it is told to, the last one for good. */
function losing(
  finds: readonly (Found | Error)[],
  { mark = {}, error = unknown }: { mark?: object | null; error?: ProviderError } = {},
) {
  const asked: string[] = [];
  const left = [...finds];
  const adapter = {
    start: async ({ noteStart }: StartCall<never>) => {
      asked.push("start");
      await noteStart(mark as null);
      throw error;
    },
    find: async () => {
      asked.push("find");
      const found = (left.length > 1 ? left.shift() : left[0]) ?? { state: "unknown", detail: "nothing is told" };
      if (found instanceof Error) throw found;
      return found;
    },
    poll: async () => {
      asked.push("poll");
      return DONE;
    },
    cancel: async () => void asked.push("cancel"),
  } as Adapter;
  return { adapter, asked };
}

const FOUND: Found = { state: "found", job: { id: "theirs" } };
const open = { id: "s", mark: {}, sent_ms: 1 };
const left = (start: object = open, job?: object) => {
  const { job: _none, ...record } = begun({}) as { job: object };
  return { ...record, ...(job ? { job } : {}), start, is_between: true };
};

describe("a start whose answer is lost", () => {
  test("was recorded before it was sent, counts against its source immediately, and continues under the found name", async () => {
    const { adapter, asked } = losing([FOUND]);
    const ran = await run([adapter], { kind: "images" });
    expect(ran.begins).toMatchObject([{ source: "one/m", start: { mark: {}, sent_ms: expect.any(Number) } }]);
    expect(ran.begins[0]).not.toHaveProperty("job");
    expect(ran.kept).toMatchObject([{ source: "one/m", job: { id: "theirs" } }]);
    expect(ran.kept[0]).not.toHaveProperty("start");
    expect(ran.recorded).toEqual(["one/m failed"]);
    expect([asked, ran.closed]).toEqual([
      ["start", "find", "poll"],
      [expect.objectContaining({ status: "succeeded" })],
    ]);
  });

  test("that was not accepted is dropped, and moves to the next source", async () => {
    const { adapter, asked } = losing([{ state: "none" }]);
    const ran = await run([adapter, direct], { kind: "images" });
    expect([asked, ran.kept]).toEqual([["start", "find"], [null]]);
    expect(ran.closed).toMatchObject([{ status: "succeeded", source: "two/m" }]);
    expect(ran.recorded).toEqual(["one/m failed", "two/m ok"]);
  });

  test("is looked up repeatedly while possible, and later if it takes long; no slot is used while only a callback helps", async () => {
    const { adapter, asked } = losing([new ProviderError("failed", "the list is down")]);
    const ran = await run([adapter, direct], { kind: "images" });
    expect(asked).toEqual(["start", "find"]);
    expect([ran.thrown, ran.closed]).toEqual([expect.objectContaining({ kind: "unknown" }), []]);
    const listing = losing([new ProviderError("failed", "the list is down"), FOUND]);
    const found = await run([{ ...listing.adapter, nameOf: () => "theirs" }], { kind: "images" });
    expect(listing.asked).toEqual(["start", "find", "find", "poll"]);
    expect(found.kept).toMatchObject([{ names: ["theirs"] }]);
  });

  test("without any report ends its job: it is neither repeated nor held for", async () => {
    const { adapter, asked } = losing([], { mark: null });
    const ran = await run([adapter, direct], { kind: "images" });
    expect(asked).toEqual(["start"]);
    expect(ran.closed).toMatchObject([{ status: "lost", usedNano: null }]);
    expect(ran.told).toContain("upstream_timeout");
  });

  test("is left to the next worker by one that stops", async () => {
    const stopping = new AbortController();
    const { adapter } = losing([], {});
    const find = async (): Promise<Found> => {
      stopping.abort(jobAbort("shutdown"));
      return { state: "unknown", detail: "not yet" };
    };
    const ran = await run([{ ...adapter, find, nameOf: () => "theirs" }], {
      kind: "images",
      signal: stopping.signal,
    });
    expect([ran.thrown, ran.closed]).toEqual([expect.objectContaining({ kind: "aborted" }), []]);
  });

  test("is dropped immediately if its provider reports that it was not accepted", async () => {
    const { adapter, asked } = losing([], { error: new ProviderError("busy", "full") });
    const ran = await run([adapter, direct], { kind: "images" });
    expect([asked, ran.kept]).toEqual([["start"], [null]]);
    expect(ran.closed).toMatchObject([{ status: "succeeded", source: "two/m" }]);
  });
});

describe("a start left open by another worker", () => {
  test("is looked up before anything else, and never sent again", async () => {
    const { adapter, asked } = losing([FOUND]);
    const ran = await run([adapter], { kind: "images", found: left() });
    expect(asked).toEqual(["find", "poll"]);
    expect(ran.closed).toMatchObject([{ status: "succeeded" }]);
  });

  test("that was not accepted moves to the next source", async () => {
    const { adapter, asked } = losing([{ state: "none" }]);
    const ran = await run([adapter, direct], { kind: "images", found: left() });
    expect(asked).toEqual(["find"]);
    expect(ran.closed).toMatchObject([{ status: "succeeded", source: "two/m" }]);
  });

  test("without any report ends its job", async () => {
    const { adapter, asked } = losing([FOUND]);
    const ran = await run([adapter, direct], { kind: "images", found: left({ ...open, mark: null }) });
    expect([asked, ran.closed]).toEqual([[], [expect.objectContaining({ status: "lost" })]]);
  });

  test("of a second phase that was not accepted leaves the first, which offers it again", async () => {
    const { adapter, asked } = losing([{ state: "none" }]);
    const ran = await run([adapter], { kind: "images", found: left(open, { id: "first" }) });
    expect([asked, ran.kept]).toMatchObject([["find", "poll"], [{ job: { id: "first" } }]]);
    expect(ran.kept[0]).not.toHaveProperty("start");
    expect(ran.closed).toMatchObject([{ status: "succeeded" }]);
  });

  test("of a second phase by an earlier release has an unknown outcome", async () => {
    const { adapter, asked } = losing([FOUND]);
    const ran = await run([adapter], { kind: "images", found: { ...begun({ id: "1" }), is_between: true } });
    expect([asked, ran.thrown]).toEqual([[], expect.objectContaining({ kind: "unknown" })]);
  });
});

describe("a list of a provider's jobs", () => {
  const NOW = Date.now();
  const one = (name: string, createdMs = NOW) => ({ name, createdMs, job: { id: name } });
  const listed = (alike: readonly string[], unclear: readonly string[] = [], mayRing = false): Found => ({
    state: "listed",
    alike: alike.map((name) => one(name)),
    unclear: unclear.map((name) => ({ name, createdMs: Number.NaN })),
    mayRing,
  });
  /** Long enough ago for the list to be whole. */
  const LONG = { lost_ms: NOW - 5_000 };
  const late = (finds: readonly Found[], around: object = {}) => {
    const { adapter, asked } = losing(finds);
    const lists = { ...adapter, nameOf: ({ id }: { readonly id: string }) => id } as Adapter;
    return { asked, ran: run([lists, direct], { kind: "images", found: left(), isLate: true, lost: LONG, ...around }) };
  };

  test("returns the first unassigned job", async () => {
    const { ran } = late([listed(["another's", "ours", "spare"])], { owned: { "another's": "taken" } });
    expect((await ran).kept).toMatchObject([{ job: { id: "ours" }, names: ["ours"] }]);
  });

  test.each<[string, Found, object, object]>([
    ["is not taken when it is whole and has none", listed([]), {}, { closed: [{ status: "failed" }] }],
    [
      "is not taken when all that may be it are others'",
      listed([], ["x"]),
      { owned: { x: "taken" } },
      { closed: [{ status: "failed" }] },
    ],
    [
      "may be taken while the list may not be whole",
      listed([]),
      // As the start is asked about: a slow machine comes to that late.
      {
        lost: {
          get lost_ms() {
            return Date.now();
          },
        },
      },
      { thrown: { kind: "unknown" } },
    ],
    [
      "may be the one that another start under way may be answered with",
      listed(["x"]),
      { owned: { x: "open" } },
      { thrown: { kind: "unknown" } },
    ],
    [
      "may be the one of two that another start under way may be answered with, whosever the other is",
      listed(["x", "y"]),
      { owned: { x: "open", y: "taken" } },
      { thrown: { kind: "unknown" } },
    ],
    ["may ring where one is unclear", listed([], ["x"], true), {}, { thrown: { kind: "unknown" } }],
    [
      "is lost for good where one is unclear and none will ring",
      listed([], ["x"]),
      {},
      { closed: [{ status: "lost" }] },
    ],
    [
      "is none that was made long after it was lost",
      {
        state: "listed",
        alike: [one("x", NOW + 60_000)],
        unclear: [{ name: "y", createdMs: NOW + 60_000 }],
        mayRing: false,
      },
      {},
      { closed: [{ status: "failed" }] },
    ],
  ])("reports that a start %s", async (_what, found, around, outcome) => {
    const { asked, ran } = late([found], around);
    expect(await ran).toMatchObject(outcome);
    expect(asked).toEqual(["find"]);
  });

  test("that is ambiguous is read again before it fails, since other answers may be pending", async () => {
    const { asked, ran } = late([listed([], ["x"]), listed([], ["x"]), listed(["ours"], ["x"])], { isLate: false });
    expect((await ran).closed).toMatchObject([{ status: "succeeded" }]);
    expect(asked).toEqual(["find", "find", "find", "poll"]);
  });
});

describe("a start that is looked up late", () => {
  test.each<[string, readonly Found[], string[], object]>([
    ["is collected when it is found", [FOUND], ["find", "poll"], { closed: [{ status: "succeeded" }] }],
    [
      "and was not taken fails, and is begun nowhere else",
      [{ state: "none" }],
      ["find"],
      { closed: [{ status: "failed", usedNano: null }] },
    ],
    ["stays unknown while nothing is told", [], ["find"], { closed: [], thrown: { kind: "unknown" } }],
  ])("%s", async (_how, finds, expected, outcome) => {
    const { adapter, asked } = losing(finds);
    const ran = await run([adapter, direct], { kind: "images", found: left(), isLate: true });
    expect(asked).toEqual(expected);
    expect(ran).toMatchObject(outcome);
  });

  test("is cancelled first if its caller requested it", async () => {
    const { adapter, asked } = losing([FOUND]);
    await run([adapter], { kind: "images", found: left(), isLate: true, wasCancelled: true });
    expect(asked).toEqual(["find", "cancel", "poll"]);
  });
});

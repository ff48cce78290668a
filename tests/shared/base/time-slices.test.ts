import { describe, expect, test } from "bun:test";

import { readJson, readJsonInSlices } from "#shared/json/parse.ts";
import { runWhole, TimeSlices, TIME_SLICE_MS } from "#shared/base/time-slices.ts";

/** Steps that each take as long as a slice. */
function* busy(steps: number, onStep: (step: number) => void = () => undefined): Generator<void, string> {
  for (let step = 0; step < steps; step += 1) {
    onStep(step);
    for (const until = performance.now() + TIME_SLICE_MS; performance.now() < until;);
    yield;
  }
  return "done";
}

/** Returns the error that the work fails with. */
const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => new Error("it did not fail"),
    (error: unknown) => error,
  );

describe("work in slices", () => {
  test("returns the same result as without slices", async () => {
    expect(await new TimeSlices().run(busy(3))).toBe("done");
    expect(runWhole(busy(3))).toBe("done");
  });

  test("yields to the event loop between them: timers fire, and requests are answered", async () => {
    const server = Bun.serve({ port: 0, fetch: () => new Response("hello") });
    let isOver = false;
    let timers = 0;
    const timer = setInterval(() => (timers += 1), 1);
    const work = new TimeSlices().run(busy(200)).then(() => (isOver = true));
    const answer = await fetch(`http://127.0.0.1:${server.port}`);
    expect(await answer.text()).toBe("hello");
    expect(isOver).toBe(false);
    await work;
    clearInterval(timer);
    expect(timers).toBeGreaterThan(10);
    await server.stop();
  });

  test("alternates with other work: no turn of the event loop has two slices", async () => {
    const order: string[] = [];
    let rounds = 0;
    const count = (): void => {
      rounds += 1;
      if (order.length < 20) setImmediate(count);
    };
    setImmediate(count);
    const roundOf: number[] = [];
    const one = (name: string) =>
      new TimeSlices().run(
        busy(10, () => {
          order.push(name);
          roundOf.push(rounds);
        }),
      );
    await Promise.all([one("a"), one("b")]);
    expect(order.join("")).toBe("ab".repeat(10));
    expect(new Set(roundOf).size).toBe(20);
  });

  test("pauses only after a full slice, or on request", async () => {
    const slices = new TimeSlices();
    await slices.next();
    let hasGoneRound = false;
    setImmediate(() => (hasGoneRound = true));
    for (let at = 0; at < 10 && !slices.isOver; at += 1) await slices.yieldIfOver();
    if (!slices.isOver) expect(hasGoneRound).toBe(false);
    await slices.next();
    expect(hasGoneRound).toBe(true);
  });

  test("ends with its exception, and leaves other work its turns", async () => {
    const other = new TimeSlices().run(busy(5));
    const broken = new TimeSlices().run(
      busy(5, (step) => {
        if (step === 2) throw new Error("broken");
      }),
    );
    expect(await faultOf(broken)).toMatchObject({ message: "broken" });
    expect(await other).toBe("done");
  });
});

test("JSON parsed in slices equals JSON parsed at once, including errors", async () => {
  const read = (text: string) => readJsonInSlices(Buffer.from(text), new TimeSlices());
  const large = JSON.stringify({ a: Array.from({ length: 30_000 }, (_one, at) => ({ at, text: "ä\n" })) });
  for (const text of ["{}", large]) expect(await read(text)).toEqual(readJson(Buffer.from(text)));
  const faults = [
    read(`${large.slice(0, -1)},}`),
    readJsonInSlices(Uint8Array.from([0x22, 0xff, 0x22]), new TimeSlices()),
  ];
  expect(await Promise.all(faults.map(faultOf))).toMatchObject([
    { message: expect.stringContaining("expected a member name in double quotes at character") as string },
    { message: "The body is not valid UTF-8." },
  ]);
});

import { describe, expect, test } from "bun:test";

import { SpoolTurns } from "#ingress/audio/spool-turns.ts";
import { ApiError } from "#shared/errors.ts";

const stays = new AbortController().signal;
/** Long enough for what ends by itself, and short for what does not. */
const LONG_MS = 60_000;

function turns(more: Partial<ConstructorParameters<typeof SpoolTurns>[0]> = {}): SpoolTurns {
  return new SpoolTurns({ max: 3, perWorkspaceMax: 2, waitingMax: 2, waitMs: LONG_MS, ...more });
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  return error instanceof ApiError ? error.code : `no error but ${String(error)}`;
}

describe("a turn", () => {
  test("is given in the order of asking, but past a workspace that has all it may have", async () => {
    const all = turns();
    const [first, second] = [await all.take("a", stays), await all.take("a", stays)];
    const given: string[] = [];
    const third = all.take("a", stays).then((free) => (given.push("a"), free));
    const other = await all.take("b", stays);
    const fourth = all.take("b", stays).then((free) => (given.push("b"), free));
    // All three are taken; what one of `a` gives back is `a`'s again, which waits for longer.
    first();
    (await third)();
    await fourth;
    expect(given).toEqual(["a", "b"]);
    second();
    other();
  });

  test("given back twice is given back once", async () => {
    const all = turns({ max: 1, waitMs: 1 });
    const free = await all.take("a", stays);
    free();
    free();
    await all.take("a", stays);
    expect(await codeOf(all.take("b", stays))).toBe("overloaded");
  });

  test("that is not free for too long is refused, and not given to who no longer waits", async () => {
    const all = turns({ max: 1, waitMs: 1 });
    const free = await all.take("a", stays);
    expect(await codeOf(all.take("b", stays))).toBe("overloaded");
    free();
    (await all.take("c", stays))();
  });

  test("is refused at once where many wait already", async () => {
    const all = turns({ max: 1 });
    const free = await all.take("a", stays);
    const waiting = [all.take("b", stays), all.take("c", stays)];
    expect(await codeOf(all.take("d", stays))).toBe("overloaded");
    free();
    for (const one of waiting) (await one)();
  });

  test("is not waited for by a caller who has left", async () => {
    const all = turns({ max: 1 });
    const free = await all.take("a", stays);
    const caller = new AbortController();
    const waiting = codeOf(all.take("b", caller.signal));
    caller.abort();
    free();
    expect(await waiting).toBe("request_timeout");
    expect(await codeOf(all.take("b", caller.signal))).toBe("request_timeout");
    (await all.take("c", stays))();
  });
});

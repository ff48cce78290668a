import { afterEach, expect, test } from "bun:test";

import { type KeyWatch, openKeyWatch } from "#shared/access/key-watch.ts";
import { createLogger } from "#shared/base/logger.ts";
import { eventually } from "#tests/faults/wait.ts";

const log = createLogger({ level: "silent", role: "test" });
let watch: KeyWatch | undefined;
afterEach(() => watch?.close());

/** A watch over these keys, with the questions that it asked. */
function open(active: Set<string>): { readonly watch: KeyWatch; readonly asked: string[][]; fault?: Error } {
  const made: { watch: KeyWatch; asked: string[][]; fault?: Error } = {
    asked: [],
    watch: openKeyWatch({
      log,
      everyMs: 1,
      activeKeys(ids) {
        made.asked.push([...ids]);
        return made.fault ? Promise.reject(made.fault) : Promise.resolve(new Set(ids.filter((id) => active.has(id))));
      },
    }),
  };
  watch = made.watch;
  return made;
}

test("everything that watches a key ends once with the key, and nothing of another key", async () => {
  const active = new Set(["mine", "other"]);
  const { watch: keys } = open(active);
  const ended: string[] = [];
  for (const name of ["a", "b"]) keys.watch("mine", () => void ended.push(name));
  keys.watch("other", () => void ended.push("other"));
  active.delete("mine");
  await eventually("both end", () => ended.length >= 2);
  await Bun.sleep(10);
  expect(ended).toEqual(["a", "b"]);
});

test("a key is queried once for any number of watchers, and not at all without one", async () => {
  const { watch: keys, asked } = open(new Set(["mine"]));
  const ends = Array.from({ length: 5 }, () => keys.watch("mine", () => undefined));
  await eventually("it is asked twice", () => asked.length >= 2);
  expect(asked[0]).toEqual(["mine"]);
  for (const end of ends) end();
  await Bun.sleep(10);
  const before = asked.length;
  await Bun.sleep(20);
  expect(asked.length - before).toBeLessThanOrEqual(0);
});

test("nothing ends while keys cannot be looked up, and it does afterwards", async () => {
  const made = open(new Set());
  made.fault = new Error("away");
  let isEnded = false;
  made.watch.watch("mine", () => {
    isEnded = true;
  });
  await eventually("it is asked", () => made.asked.length >= 3);
  expect(isEnded).toBe(false);
  delete made.fault;
  await eventually("it ends", () => isEnded);
});

test("a watcher that has ended receives no end", async () => {
  const active = new Set(["mine"]);
  const { watch: keys, asked } = open(active);
  let told = 0;
  const end = keys.watch("mine", () => void (told += 1));
  keys.watch("mine", () => undefined);
  end();
  active.clear();
  await eventually("the key was asked for", () => asked.length >= 1);
  await Bun.sleep(10);
  expect(told).toBe(0);
});

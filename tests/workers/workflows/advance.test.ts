/** Rules by which a run goes on, one by one. */
import { describe, expect, test } from "bun:test";

import { STEP_OUTPUT_BYTES_MAX } from "#shared/workflows/limits.ts";

import { begun, Play, say } from "./play.ts";

const TICK = { kind: "tick" } as const;
const started = (definition: object, more: Parameters<typeof begun>[0] = {}): Play => {
  const play = new Play(definition, begun(more));
  play.tell(TICK);
  return play;
};

describe("steps", () => {
  test("run immediately, or when their dependencies are done, and return the run's output", () => {
    const play = started({
      steps: [say("a", "1"), say("b", "2"), say("c", "${{ steps.a.output.text }} and ${{ steps.b.output.text }}")],
      output: { text: "${{ steps.c.output.text }}!" },
    });
    expect([...play.underWay.keys()]).toEqual(["a/1/0", "b/1/0"]);
    play.succeed("b/1/0");
    expect(play.underWay.size).toBe(1);
    play.succeed("a/1/0");
    expect(play.underWay.get("c/1/0")?.text).toBe("1 and 2");
    play.succeed("c/1/0");
    expect(play.state).toMatchObject({ status: "succeeded", output: { text: "1 and 2!" } });
    expect(play.events()).toEqual(["run.started", "run.succeeded"]);
  });

  test("give a run without an output block an empty object", () => {
    expect(started({ steps: [say("a", "1")] }).finish()).toMatchObject({ status: "succeeded", output: {} });
  });

  test("are skipped by a false condition, and read as null afterwards", () => {
    const play = started({
      steps: [
        say("a", "1", { if: false }),
        say("b", "got ${{ steps.a.output.text }}", { if: "${{ steps.a.status == 'skipped' }}" }),
      ],
      output: { a: "${{ steps.a.output }}" },
    });
    expect(play.underWay.get("b/1/0")?.text).toBe("got ");
    expect(play.finish()).toMatchObject({ status: "succeeded", output: { a: null } });
    expect(play.steps()).toBe("a:condition_false b:succeeded");
  });

  test.each<[string, object, string]>([
    ["a condition that gives no boolean", { if: "${{ inputs.n }}" }, "condition_error"],
    ["a condition that cannot be worked out", { if: "${{ inputs.o.missing == 1 }}" }, "condition_error"],
    ["a list that is none", { for_each: "${{ inputs.n }}" }, "binding_unresolved"],
    ["a list that is too long", { for_each: "${{ inputs.long }}" }, "binding_unresolved"],
    ["params that are not there", { params: { messages: "${{ inputs.o.missing }}" } }, "binding_unresolved"],
  ])("fail by %s, for any retry settings", (_name, more, code) => {
    const types = { n: { type: "integer" }, o: { type: "object" }, long: { type: "array" } };
    const inputs = { n: 1, o: {}, long: Array.from({ length: 1_001 }, () => 1) };
    const play = started(
      { inputs: types, steps: [say("a", "x", { retry: { max_attempts: 3 }, ...more })] },
      { inputs },
    );
    expect(play.state).toMatchObject({ status: "failed", error: { code, stepId: "a" } });
    expect(play.steps()).toBe("a:failed");
    expect(play.effects.filter(({ kind }) => kind === "start_work")).toEqual([]);
  });
});

describe("a failing step", () => {
  test("lets running steps end, starts nothing more, and fails the run with its error", () => {
    const play = started({
      steps: [
        say("a", "1"),
        say("b", "2"),
        say("c", "3", { depends_on: ["a"] }),
        say("d", "4", { depends_on: ["c"] }),
        say("e", "5", { depends_on: ["b"] }),
      ],
    });
    play.fail("a/1/0", "upstream_error");
    expect(play.state.status).toBe("running");
    play.succeed("b/1/0");
    expect(play.state).toMatchObject({
      status: "failed",
      error: { code: "upstream_error", message: "a/1/0 failed", stepId: "a" },
    });
    expect(play.steps()).toBe("a:failed b:succeeded c:dependency_failed d:dependency_failed");
    expect(play.state.output).toBeUndefined();
  });

  test("is skipped if the definition allows it, and reads as null", () => {
    const play = started({
      steps: [
        say("a", "1", { on_error: "continue" }),
        say("b", "${{ steps.a.status }}: ${{ steps.a.output.text }}", {}),
      ],
    });
    play.fail("a/1/0");
    expect(play.underWay.get("b/1/0")?.text).toBe("failed: ");
    expect(play.finish().status).toBe("succeeded");
  });

  test("is retried after its delay, up to its maximum", () => {
    const play = started({ steps: [say("a", "1", { retry: { max_attempts: 3, delay_seconds: 2 } })] });
    expect(play.fail("a/1/0")).toEqual([{ kind: "step_timer", stepId: "a", attempt: 2, seconds: 2 }]);
    expect(play.tell(TICK)).toEqual([]);
    play.tell({ kind: "step_due", stepId: "a", attempt: 2 });
    play.fail("a/2/0");
    play.tell({ kind: "step_due", stepId: "a", attempt: 3 });
    play.fail("a/3/0");
    expect(play.state).toMatchObject({ status: "failed", error: { message: "a/3/0 failed" } });
    expect(play.steps()).toBe("a:failed a/2:failed a/3:failed");
  });

  test("is retried only if that may help", () => {
    const play = started({ steps: [say("a", "1", { retry: { max_attempts: 3 } })] }, { maxAttempts: 3 });
    play.end("a/1/0", { status: "failed", error: { code: "invalid_request", message: "never", isFinal: true } });
    expect(play.state).toMatchObject({ status: "failed", attempt: 1 });
  });

  test("stops a step that becomes ready in the same pass from starting", () => {
    const play = started({
      steps: [
        say("a", "1"),
        say("bad", "2", { if: "${{ steps.a.output.json }}" }),
        say("c", "3", { depends_on: ["a"] }),
      ],
    });
    play.succeed("a/1/0");
    expect(play.underWay.size).toBe(0);
    expect(play.state).toMatchObject({ status: "failed", error: { code: "condition_error", stepId: "bad" } });
  });

  test("is reported as the run's error when it was the first in time, not in the definition", () => {
    const play = started({ steps: [say("a", "1"), say("b", "2")] });
    play.fail("b/1/0");
    play.fail("a/1/0");
    expect(play.state.error).toMatchObject({ stepId: "b", message: "b/1/0 failed" });
  });

  test("whose job was cancelled externally fails, and its run with it", () => {
    const play = started({ steps: [say("a", "1")] });
    play.end("a/1/0", { status: "cancelled" });
    expect(play.state).toMatchObject({ status: "failed", error: { code: "step_cancelled", stepId: "a" } });
  });

  test("times out after its limit, and its later work changes nothing except the cost", () => {
    const play = started({ steps: [say("a", "1", { timeout_seconds: 5, retry: { max_attempts: 2 } })] });
    const late = play.tell({ kind: "work_late", place: { stepId: "a", attempt: 1, index: 0 } });
    expect(late[0]).toEqual({ kind: "cancel_work", place: { stepId: "a", attempt: 1, index: 0 } });
    play.succeed("a/2/0", { text: "in time" });
    expect(play.state.status).toBe("succeeded");
    play.succeed("a/1/0", { text: "late" });
    expect(play.state.stepRuns[1]?.output).toEqual({ text: "in time" });
    expect(play.state.stepRuns.map(({ status, items }) => [status, items[0]?.creditsNano])).toEqual([
      ["failed", 1n],
      ["succeeded", 1n],
    ]);
  });
});

describe("a step for each item", () => {
  const each = (more: object = {}) => ({
    inputs: { list: { type: "array" } },
    steps: [say("a", "${{ index }}: ${{ item }}", { for_each: "${{ inputs.list }}", ...more })],
    output: { list: "${{ steps.a.output }}" },
  });
  const list = ["x", "y", "z"];

  test("runs a limited number concurrently, and returns their outputs in the order of the list", () => {
    const play = started(each({ concurrency: 2 }), { inputs: { list } });
    expect([...play.underWay.values()].map(({ text }) => text)).toEqual(["0: x", "1: y"]);
    play.succeed("a/1/1", "second");
    play.succeed("a/1/2", "third");
    play.succeed("a/1/0", "first");
    expect(play.state).toMatchObject({ status: "succeeded", output: { list: ["first", "second", "third"] } });
  });

  test.each([[[]], [null]])("of an empty list, or of null, returns an empty list", (none) => {
    expect(started(each(), { inputs: { list: none } }).state).toMatchObject({
      status: "succeeded",
      output: { list: [] },
    });
  });

  test("starts no further item after a failed one, and retries only missing ones", () => {
    const play = started(each({ concurrency: 2, retry: { max_attempts: 2 } }), { inputs: { list } });
    play.fail("a/1/0");
    expect(play.underWay.size).toBe(1);
    play.succeed("a/1/1", "kept");
    expect([...play.underWay.keys()]).toEqual(["a/2/0", "a/2/2"]);
    play.succeed("a/2/0", "first");
    play.succeed("a/2/2", "third");
    expect(play.state).toMatchObject({ status: "succeeded", output: { list: ["first", "kept", "third"] } });
  });

  test("reads null for failed items if it continues", () => {
    const play = started(each({ concurrency: 1, on_error: "continue" }), { inputs: { list } });
    play.fail("a/1/0");
    play.succeed("a/1/1", "second");
    play.fail("a/1/2");
    expect(play.state).toMatchObject({ status: "succeeded", output: { list: [null, "second", null] } });
  });

  test("retries failed items if it continues, but not those that would fail again", () => {
    const play = started(each({ concurrency: 3, on_error: "continue", retry: { max_attempts: 2 } }), {
      inputs: { list },
    });
    play.fail("a/1/0");
    play.end("a/1/1", { status: "failed", error: { code: "invalid_request", message: "never", isFinal: true } });
    play.succeed("a/1/2", "third");
    expect([...play.underWay.keys()]).toEqual(["a/2/0"]);
    play.succeed("a/2/0", "first");
    expect(play.state).toMatchObject({ status: "succeeded", output: { list: ["first", null, "third"] } });
  });

  test("loses only the item that is late", () => {
    const play = started(each({ concurrency: 3, on_error: "continue", timeout_seconds: 5 }), { inputs: { list } });
    play.tell({ kind: "work_late", place: { stepId: "a", attempt: 1, index: 1 } });
    play.succeed("a/1/0", "first");
    play.succeed("a/1/2", "third");
    expect(play.state).toMatchObject({ status: "succeeded", output: { list: ["first", null, "third"] } });
    play.succeed("a/1/1", "late");
    expect(play.state).toMatchObject({ status: "succeeded", output: { list: ["first", null, "third"] } });
  });

  test("reports the error of the item that failed first", () => {
    const play = started(each({ concurrency: 3 }), { inputs: { list } });
    play.fail("a/1/2");
    play.fail("a/1/0");
    play.succeed("a/1/1");
    expect(play.state.error).toMatchObject({ message: "a/1/2 failed" });
  });

  test("is limited to the open work of one run", () => {
    const long = Array.from({ length: 40 }, (_, at) => at);
    const steps = Array.from({ length: 8 }, (_, at) =>
      say(`s${at}`, "${{ item }}", { for_each: "${{ inputs.list }}", concurrency: 32 }),
    );
    const play = started({ inputs: { list: { type: "array" } }, steps }, { inputs: { list: long } });
    expect(play.underWay.size).toBe(200);
    expect(play.finish().status).toBe("succeeded");
  });
});

describe("a run that failed", () => {
  test("is retried as a whole: successful steps are kept, the others start again", () => {
    const definition = {
      steps: [say("a", "1"), say("b", "2", { depends_on: ["a"] }), say("c", "3", { depends_on: ["b"] })],
    };
    const play = started(definition, { maxAttempts: 2 });
    play.succeed("a/1/0");
    expect(play.fail("b/1/0")).toEqual([{ kind: "run_timer", attempt: 2 }]);
    expect(play.state).toMatchObject({ status: "queued", attempt: 2 });
    expect(play.tell(TICK)).toEqual([]);
    play.tell({ kind: "run_due", attempt: 2 });
    expect(play.finish().status).toBe("succeeded");
    expect(play.steps()).toBe("a:succeeded b:failed c:dependency_failed b/2:succeeded c/2:succeeded");
    expect(play.events()).toEqual(["run.started", "run.retrying", "run.succeeded"]);
  });

  test("fails for good after its last attempt", () => {
    const play = started({ steps: [say("a", "1")] }, { maxAttempts: 2 });
    play.fail("a/1/0");
    play.tell({ kind: "run_due", attempt: 2 });
    play.fail("a/2/0");
    expect(play.state).toMatchObject({ status: "failed", attempt: 2, error: { stepId: "a", message: "a/2/0 failed" } });
    expect(play.events()).toEqual(["run.started", "run.retrying", "run.failed"]);
  });

  test("keeps values that steps have read: also a failure that on_error allowed, and a skip", () => {
    const definition = {
      steps: [
        say("a", "1", { on_error: "continue" }),
        say("b", "${{ steps.a.status }}"),
        say("c", "3", { if: "${{ steps.a.status == 'succeeded' }}" }),
        say("d", "4", { depends_on: ["b"] }),
      ],
    };
    const play = started(definition, { maxAttempts: 2 });
    play.fail("a/1/0");
    play.succeed("b/1/0");
    play.fail("d/1/0");
    play.tell({ kind: "run_due", attempt: 2 });
    expect([...play.underWay.keys()]).toEqual(["d/2/0"]);
    expect(play.finish().status).toBe("succeeded");
  });

  test("fails when its output exceeds the limit", () => {
    const play = started({ steps: [say("a", "1")], output: { all: "${{ steps.a.output }}" } });
    play.succeed("a/1/0", "x".repeat(1_048_577));
    expect(play.state).toMatchObject({ status: "failed", error: { code: "output_too_large", stepId: "output" } });
  });

  test("fails when its output cannot be computed", () => {
    const play = started({ steps: [say("a", "1")], output: { none: "${{ steps.a.output.json }}" } });
    expect(play.finish()).toMatchObject({ status: "failed", error: { code: "binding_unresolved", stepId: "output" } });
  });
});

describe("a cancelled run", () => {
  test("ends immediately; open work is cancelled, is charged, and changes nothing", () => {
    const play = started({ steps: [say("a", "1"), say("b", "2"), say("c", "3", { depends_on: ["a"] })] });
    play.succeed("b/1/0");
    expect(play.tell({ kind: "cancel" })).toEqual([
      { kind: "event", event: "run.cancelled" },
      { kind: "cancel_work", place: { stepId: "a", attempt: 1, index: 0 } },
    ]);
    expect(play.state.status).toBe("cancelled");
    play.succeed("a/1/0");
    expect(play.steps()).toBe("a:cancelled b:succeeded");
    expect(play.state.stepRuns[0]?.items[0]).toMatchObject({ status: "cancelled", creditsNano: 1n });
    expect(play.state).not.toHaveProperty("output");
    expect(play.state).not.toHaveProperty("error");
  });

  test.each<[string, (play: Play) => void]>([
    ["before it began", () => undefined],
    ["while a step waits to be tried again", (play) => (play.tell(TICK), void play.fail("a/1/0"))],
    [
      "while it waits to be tried again",
      (play) => (
        play.tell(TICK),
        play.fail("a/1/0"),
        play.tell({ kind: "step_due", stepId: "a", attempt: 2 }),
        void play.fail("a/2/0")
      ),
    ],
  ])("starts nothing afterwards: %s", (_name, before) => {
    const play = new Play(
      { steps: [say("a", "1", { retry: { max_attempts: 2, delay_seconds: 1 } })] },
      begun({ maxAttempts: 2 }),
    );
    before(play);
    play.tell({ kind: "cancel" });
    const count = play.effects.length;
    play.tell({ kind: "run_due", attempt: 2 });
    play.tell({ kind: "step_due", stepId: "a", attempt: 2 });
    play.tell(TICK);
    play.tell({ kind: "cancel" });
    expect(play.effects).toHaveLength(count);
    expect(play.state.status).toBe("cancelled");
    expect(play.state.stepRuns.filter(({ status }) => status === "queued" || status === "running")).toEqual([]);
  });

  test("is unchanged when it had ended", () => {
    const play = started({ steps: [say("a", "1")] });
    play.finish();
    expect(play.tell({ kind: "cancel" })).toEqual([]);
    expect(play.state.status).toBe("succeeded");
  });
});

describe("a list that another step's failure interrupts", () => {
  const definition = {
    steps: [say("b", "${{ item }}", { for_each: [1, 2, 3, 4, 5], concurrency: 2 }), say("a", "x")],
    output: { list: "${{ steps.b.output.map(one, one.text) }}" },
    retry: { max_attempts: 2 },
  };

  test("is completed by the next attempt of the run", () => {
    const play = new Play(definition, begun({ maxAttempts: 2 }));
    play.tell({ kind: "tick" });
    play.fail("a/1/0");
    play.succeed("b/1/0");
    play.succeed("b/1/1");
    expect(play.steps()).toBe("b:cancelled a:failed");
    play.tell({ kind: "run_due", attempt: 2 });
    expect(play.finish()).toMatchObject({ status: "succeeded", output: { list: [1, 2, 3, 4, 5] } });
    expect(play.steps()).toBe("b:cancelled a:failed b/2:succeeded a/2:succeeded");
  });
});

test("late results of a nested run add to its cost, each time", () => {
  const play = new Play({ steps: [say("a", "x")] });
  play.tell({ kind: "tick" });
  const { place } = play.underWay.get("a/1/0") ?? {};
  if (!place) throw new Error("nothing is under way");
  play.end("a/1/0", { status: "cancelled" }, 0n);
  play.tell({ kind: "work_ended", place, end: { status: "cancelled" }, creditsNano: 7n });
  play.tell({ kind: "work_ended", place, end: { status: "cancelled" }, creditsNano: 9n });
  expect(play.state.stepRuns[0]?.items[0]?.creditsNano).toBe(9n);
});

test("a list whose items together exceed a step's maximum output fails, with the reason", () => {
  const play = new Play({ steps: [say("a", "${{ item }}", { for_each: [1, 2, 3], concurrency: 3 })] });
  play.tell({ kind: "tick" });
  const third = "x".repeat(Math.ceil(STEP_OUTPUT_BYTES_MAX / 3));
  for (const key of ["a/1/0", "a/1/1", "a/1/2"]) play.succeed(key, third);
  expect(play.state).toMatchObject({ status: "failed", error: { code: "output_too_large", stepId: "a" } });
});

test("expressions of many items are resolved in several passes, and nothing ends between them", () => {
  const heavy = "${{ inputs.list.map(x, inputs.list.filter(y, y < x).size()).size() }}";
  const play = new Play(
    {
      inputs: { list: { type: "array" } },
      steps: [say("a", heavy, { for_each: [1, 2, 3, 4, 5, 6, 7, 8], concurrency: 8 }), say("b", "x")],
    },
    begun({ inputs: { list: Array.from({ length: 200 }, (_, at) => at) } }),
  );
  let passes = 0;
  do {
    play.tell({ kind: "tick" });
    passes += 1;
  } while (play.isCut);
  expect(passes).toBeGreaterThan(1);
  expect(play.underWay.size).toBe(9);
  expect(play.finish().status).toBe("succeeded");
});

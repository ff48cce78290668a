/** Runs whose events come in any order, twice, late or after a death: every one ends once, and everything done is counted once. */
import { expect, test } from "bun:test";

import { seeded, sized, testSeed } from "#tests/support/seed.ts";
import { isEnded, type RunEvent, type RunState } from "#workers/workflows/state.ts";
import { begun, keyOf, Play, say } from "./play.ts";

/** 100,000 runs take 20 s: RUNS=100000. */
const RUNS = Number(process.env["RUNS"] ?? sized(1_000, 5_000));

type Chance = () => number;
const below = (chance: Chance, count: number): number => Math.floor(chance() * count);

/** Up to six steps that depend on earlier ones, with all that a definition may say of them. */
function anyDefinition(chance: Chance): object {
  const ids = Array.from({ length: 1 + below(chance, 6) }, (_, at) => `s${at}`);
  const steps = ids.map((id, at) => {
    const named = ids.slice(0, at).filter(() => chance() < 0.4);
    const isList = chance() < 0.3;
    return say(
      id,
      `${id} ${isList ? "${{ item }} " : ""}${named.map((one) => `\${{ steps.${one}.status }}`).join(" ")}`,
      {
        ...(isList
          ? { for_each: Array.from({ length: below(chance, 5) }, (_, item) => item), concurrency: 1 + below(chance, 3) }
          : {}),
        ...(chance() < 0.2
          ? { if: named[0] === undefined ? chance() < 0.5 : `\${{ steps.${named[0]}.status == 'succeeded' }}` }
          : {}),
        ...(chance() < 0.3 ? { on_error: "continue" } : {}),
        ...(chance() < 0.3 ? { retry: { max_attempts: 1 + below(chance, 3), delay_seconds: below(chance, 2) } } : {}),
      },
    );
  });
  return { steps, output: { all: ids.map((id) => `\${{ steps.${id}.output }}`) } };
}

/** Record of what was done in a run, as the world outside of it saw. */
class World {
  readonly started = new Set<string>();
  readonly succeededItems = new Set<string>();
  paid = 0n;

  /** Delivered once at least, in any order. */
  readonly waiting: RunEvent[] = [{ kind: "tick" }];
  private readonly play: Play;
  private readonly chance: Chance;

  constructor(play: Play, chance: Chance) {
    this.play = play;
    this.chance = chance;
  }

  tell(event: RunEvent): void {
    const wasEnded = isEnded(this.play.state.status);
    for (const effect of this.play.tell(event)) {
      if (effect.kind === "start_work") {
        expect(wasEnded).toBe(false);
        const { stepId, index } = effect.place;
        const key = keyOf(effect.place);
        // No work is begun twice, and none whose like has succeeded.
        expect(this.started.has(key)).toBe(false);
        expect(this.succeededItems.has(`${stepId}/${index}`)).toBe(false);
        this.started.add(key);
        this.waiting.push(this.endOf(effect.place));
        if (this.chance() < 0.1) this.waiting.push({ kind: "work_late", place: effect.place });
      }
      if (effect.kind === "step_timer")
        this.waiting.push({ kind: "step_due", stepId: effect.stepId, attempt: effect.attempt });
      if (effect.kind === "run_timer") this.waiting.push({ kind: "run_due", attempt: effect.attempt });
    }
    this.countSucceeded(this.play.state);
  }

  private endOf(place: Extract<RunEvent, { kind: "work_ended" }>["place"]): RunEvent {
    const creditsNano = BigInt(below(this.chance, 1_000));
    this.paid += creditsNano;
    const roll = this.chance();
    if (roll < 0.75)
      return { kind: "work_ended", place, end: { status: "succeeded", output: keyOf(place) }, creditsNano };
    const error = { code: "upstream_error", message: "no", ...(roll < 0.8 ? { isFinal: true } : {}) };
    return { kind: "work_ended", place, end: { status: "failed", error }, creditsNano };
  }

  private countSucceeded({ stepRuns }: RunState): void {
    for (const { stepId, items } of stepRuns) {
      for (const { index, status } of items) if (status === "succeeded") this.succeededItems.add(`${stepId}/${index}`);
    }
  }
}

function playOne(chance: Chance): Play {
  const play = new Play(anyDefinition(chance), begun({ maxAttempts: 1 + below(chance, 3) }));
  const world = new World(play, chance);
  const told: RunEvent[] = [];
  while (world.waiting.length > 0) {
    const roll = chance();
    if (roll < 0.1) world.tell({ kind: "tick" });
    else if (roll < 0.2 && told.length > 0) world.tell(told[below(chance, told.length)] as RunEvent);
    else if (roll < 0.22) world.tell({ kind: "cancel" });
    else {
      const [event] = world.waiting.splice(below(chance, world.waiting.length), 1);
      if (event === undefined) continue;
      world.tell(event);
      told.push(event);
    }
  }
  const { state } = play;
  expect(isEnded(state.status)).toBe(true);
  expect(state.stepRuns.filter(({ status }) => status === "queued" || status === "running")).toEqual([]);
  const events = play.events();
  expect(events.filter((event) => event !== "run.retrying" && event !== "run.started")).toEqual([
    `run.${state.status}`,
  ]);
  expect(events.filter((event) => event === "run.started").length).toBeLessThanOrEqual(1);
  const credits = state.stepRuns
    .flatMap(({ items }) => items)
    .reduce((sum, item) => sum + (item.creditsNano ?? 0n), 0n);
  expect(credits).toBe(world.paid);
  for (const { list, output, status, items } of state.stepRuns) {
    if (!list || status !== "succeeded") continue;
    expect(output).toHaveLength(list.length);
    expect(items.filter((item) => item.status === "cancelled")).toEqual([]);
  }
  return play;
}

test(`${RUNS} runs end once each, start no work twice, and count all charges`, () => {
  const chance = seeded(testSeed("interleavings"));
  const ends: Record<string, number> = {};
  for (let round = 0; round < RUNS; round += 1) {
    const { status } = playOne(chance).state;
    ends[status] = (ends[status] ?? 0) + 1;
  }
  // Each end was met: a world in which all runs fail proves little.
  expect(Object.keys(ends).toSorted()).toEqual(["cancelled", "failed", "succeeded"]);
}, 300_000);

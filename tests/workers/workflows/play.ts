/** Runs of workflows without a service: events are delivered in any order, twice, and late, and what came of them is counted. */
import { findCapability } from "#shared/calls/capabilities/list.ts";
import { loadCatalogue, loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { type CompiledDefinition, readDefinition } from "#shared/workflows/definition.ts";
import { advance } from "#workers/workflows/advance.ts";
import {
  type Effect,
  isEnded,
  type RunEvent,
  type RunState,
  type WorkEnd,
  type WorkPlace,
} from "#workers/workflows/state.ts";

const catalogue = await loadCatalogue(await loadOurLayers(), [], { sandbox: true, providerKey: () => undefined });

export const compile = (definition: object): CompiledDefinition =>
  readDefinition(definition, { catalogue, capability: findCapability });

/** A step that says its text. */
export const say = (id: string, text: string, more: object = {}) => ({
  id,
  type: "model",
  model: "sandbox-chat",
  params: { messages: [{ role: "user", content: text }] },
  ...more,
});

export const begun = (more: Partial<RunState> = {}): RunState => ({
  id: "01a208a8-74a2-74f4-b2d2-763ef695b360",
  status: "queued",
  attempt: 1,
  maxAttempts: 1,
  inputs: {},
  stepRuns: [],
  ends: 0,
  ...more,
});

export interface Work {
  readonly place: WorkPlace;
  readonly text: string;
}

export const keyOf = ({ stepId, attempt, index }: WorkPlace): string => `${stepId}/${attempt}/${index}`;

/** One run, its state as written last, and what it has asked for. */
export class Play {
  state: RunState;
  readonly effects: Effect[] = [];
  /** Started, and not yet told to have ended. */
  readonly underWay = new Map<string, Work>();
  /** The last event left more to begin. */
  isCut = false;
  private readonly compiled: CompiledDefinition;

  constructor(definition: object, state: RunState = begun()) {
    this.compiled = compile(definition);
    this.state = state;
  }

  /** @returns what it asks for */
  tell(event: RunEvent): readonly Effect[] {
    const { state, effects, isCut } = advance(this.compiled, this.state, [event]);
    this.isCut = isCut;
    // It is written and read again.
    this.state = structuredClone(state);
    this.effects.push(...effects);
    for (const effect of effects) {
      if (effect.kind !== "start_work") continue;
      const { messages } = effect.params as { messages: { content: string }[] };
      this.underWay.set(keyOf(effect.place), { place: effect.place, text: messages[0]?.content ?? "" });
    }
    return effects;
  }

  end(key: string, end: WorkEnd, creditsNano = 1n): readonly Effect[] {
    const work = this.underWay.get(key);
    if (!work) throw new Error(`nothing is under way at ${key}`);
    this.underWay.delete(key);
    return this.tell({ kind: "work_ended", place: work.place, end, creditsNano });
  }

  succeed(key: string, output: unknown = { text: this.underWay.get(key)?.text }): readonly Effect[] {
    return this.end(key, { status: "succeeded", output });
  }

  fail(key: string, code = "upstream_error"): readonly Effect[] {
    return this.end(key, { status: "failed", error: { code, message: `${key} failed` } });
  }

  /** Everything that is under way succeeds, until nothing is. */
  finish(): RunState {
    for (let [key] = this.underWay.keys(); key !== undefined; [key] = this.underWay.keys()) this.succeed(key);
    return this.state;
  }

  /** `a:succeeded b/2:failed`, attempts beyond the first named. */
  steps(): string {
    return this.state.stepRuns
      .map(
        ({ stepId, attempt, status, skippedReason }) =>
          `${stepId}${attempt > 1 ? `/${attempt}` : ""}:${skippedReason ?? status}`,
      )
      .join(" ");
  }

  get isEnded(): boolean {
    return isEnded(this.state.status);
  }

  events(): string[] {
    return this.effects.flatMap((effect) => (effect.kind === "event" ? [effect.event] : []));
  }
}

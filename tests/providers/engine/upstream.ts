/**
 * A local provider: the engine records, chooses and plays, the dialect refuses and writes. What becomes of a call is decided,
 * in this order, by what the vendor would refuse, the model name (`mock-<behaviour>`), the queue filled by `next`, and the
 * default.
 */
import type { RawServerOptions } from "../raw-server.ts";
import type { AnswerBehaviour, Behaviour, ReplyBehaviour } from "./behaviour.ts";
import { encodeFrames, type Framing } from "./frames.ts";
import { behaviourNamed, type Naming } from "./named.ts";
import type { Streamed } from "./play.ts";
import { type RecordedCall, type Recorder, startRecorder } from "./recorder.ts";

/** The wire format of one vendor. */
export interface Dialect extends Naming, Framing {
  /** Behind the origin. */
  readonly base: string;
  readonly headers?: (sequence: number) => Readonly<Record<string, string>>;
  /** The answer of a vendor that does not accept this call; null when it does. */
  refuse(call: RecordedCall): ReplyBehaviour | null;
  modelOf(call: RecordedCall): string;
  /** A whole answer to an accepted call, or the data of a stream's events, its end marker included. */
  answer(behaviour: AnswerBehaviour, call: RecordedCall, sequence: number): ReplyBehaviour | readonly string[];
}

export interface Upstream extends Recorder {
  /** Ends with the dialect's base path. */
  readonly url: string;
  /** Errors for requests that the vendor would not take: an adapter that asks right leaves this empty. */
  readonly refusals: readonly ReplyBehaviour[];
  /** Queues behaviours for the next calls, in order. */
  next(...behaviours: readonly Behaviour[]): void;
  setDefault(behaviour: Behaviour): void;
}

export interface UpstreamOptions extends RawServerOptions {
  readonly default?: Behaviour;
}

export function startUpstream(dialect: Dialect, options: UpstreamOptions = {}): Upstream {
  const queue: Behaviour[] = [];
  const refusals: ReplyBehaviour[] = [];
  let usual = options.default ?? {};
  const choose = (call: RecordedCall): Behaviour => {
    const refused = dialect.refuse(call);
    if (refused === null) return behaviourNamed(dialect.modelOf(call), dialect) ?? queue.shift() ?? usual;
    refusals.push(refused);
    return refused;
  };
  const recorder = startRecorder(
    (call, sequence) => {
      const behaviour = choose(call);
      return isAnswer(behaviour) ? written(dialect, behaviour, call, sequence) : behaviour;
    },
    { ...dialect, ...options },
  );
  return {
    ...recorder,
    url: `${recorder.origin}${dialect.base}`,
    refusals,
    next: (...behaviours) => void queue.push(...behaviours),
    setDefault: (behaviour) => {
      usual = behaviour;
    },
  };
}

function isAnswer(behaviour: Behaviour): behaviour is AnswerBehaviour {
  return typeof behaviour !== "string" && !("status" in behaviour) && behaviour.kind === undefined;
}

function written(
  dialect: Dialect,
  behaviour: AnswerBehaviour,
  call: RecordedCall,
  sequence: number,
): ReplyBehaviour | Streamed {
  const answer = dialect.answer(behaviour, call, sequence);
  if ("status" in answer) return { delayMs: behaviour.delayMs ?? 0, ...answer };
  return { frames: encodeFrames(behaviour, answer, dialect), play: behaviour };
}

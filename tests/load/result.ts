/** Everything that a load run measured. */
import { figures } from "./figures.ts";
import type { Plan } from "./plan.ts";
import type { Turn } from "./rounds.ts";
import type { SluiceName, TargetName, UpstreamProtocol } from "./targets.ts";
import type { Verification } from "./verify.ts";

export interface RunResult {
  readonly plan: Plan;
  readonly upstream: UpstreamProtocol;
  readonly targets: readonly TargetName[];
  /** Closed loop, plain answers, by calls in flight. */
  readonly plain: ReadonlyMap<number, readonly Turn[]>;
  /** Open loop, plain answers, at half of the peak of each target of Sluice. The turns include those of the upstream. */
  readonly open: ReadonlyMap<SluiceName, { readonly rate: number; readonly turns: readonly Turn[] }>;
  readonly streams: ReadonlyMap<number, readonly Turn[]>;
  /** Target and process → resident megabytes after warm-up and at the end. */
  readonly memory: Readonly<Record<string, { readonly before: number; readonly after: number }>>;
  /** Target and process → CPU milliseconds a second without load. */
  readonly idle: Readonly<Record<string, number>>;
  readonly verification: Verification | null;
}

/** Returns the calls a second at the best level. */
export function peak(plain: RunResult["plain"], target: TargetName): number {
  return Math.max(...[...plain.values()].map((turns) => figures(turns, target).perSecond));
}

/** Returns all turns of a run, by the name of their load. */
export function loadsOf({ plain, streams, open }: RunResult): (readonly [string, readonly Turn[]])[] {
  const openTurns = [...open.values()].flatMap(({ turns }) => turns);
  return [
    ...[...plain].map(([level, turns]) => [`plain, ${level}`, turns] as const),
    ...(openTurns.length > 0 ? [[`plain, open loop`, openTurns] as const] : []),
    ...[...streams].map(([level, turns]) => [`stream, ${level}`, turns] as const),
  ];
}

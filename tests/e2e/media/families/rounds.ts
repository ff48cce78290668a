/** A running service led to the local servers of all families, and rounds of jobs that have the fate they are given. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { eventually } from "#tests/faults/wait.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import type { StackOptions } from "#tests/support/stack.ts";

import { type Bench, CREDIT, startBench } from "../bench.ts";
import { catalogueOf, type Family, type Fate, startFamilies } from "./families.ts";

/** Ids of jobs, each with the family that does it. */
export type StartedJobs = readonly (readonly [id: string, family: Family])[];

export interface End {
  readonly status: string;
  readonly code: string | undefined;
  readonly settled: bigint | undefined;
}

export interface Rounds {
  readonly bench: Bench;
  readonly families: readonly Family[];
  /** A job of each family, one after the other. */
  begin(fate: Fate, of?: readonly Family[]): Promise<StartedJobs>;
  /** Waits until all have ended; returns how each of them did. */
  ends(begun: StartedJobs): Promise<(readonly [Family, End])[]>;
  /** Once all of them have ended. */
  expectEnds(begun: StartedJobs, expected: (family: Family) => End): Promise<void>;
  /** Waits until the outcome of all of them is unknown. */
  nobodyKnows(begun: StartedJobs): Promise<void>;
  /** Submissions that each family has taken money for since `mark`. */
  charged(mark?: ReadonlyMap<Family, number>): Map<Family, number>;
  /** Fails where the books do not add up or a family heard what its wire format does not know. */
  close(): Promise<void>;
}

/** @param options over a service with workers for video and meshes, which lets every caller collect its job */
export async function startRounds({ env, ...options }: StackOptions = {}): Promise<Rounds> {
  const folder = temporaryDirectory();
  const families = startFamilies();
  const catalogue = join(folder.directory, "catalogue.yaml");
  writeFileSync(catalogue, catalogueOf(families));
  const allowed = families.flatMap(({ delivery }) => (delivery === undefined ? [] : [new URL(delivery).host]));
  const bench = await startBench({
    pools: ["video", "3d"],
    env: {
      SLUICE_CATALOGUE: catalogue,
      SLUICE_OUTBOUND_ALLOW: allowed.join(","),
      SLUICE_MEDIA_WAIT_MS: "0",
      ...Object.fromEntries(families.map(({ provider: { variable, key } }) => [variable, key])),
      ...env,
    },
    ...options,
  });

  const ends: Rounds["ends"] = (begun) =>
    Promise.all(
      begun.map(async ([id, family]) => {
        const job = await bench.endOf(id, 120_000);
        const [usage] = await bench.usageOf(id);
        return [family, { status: job.status, code: job.error?.code, settled: usage?.settled }] as const;
      }),
    );

  return {
    bench,
    families,
    async begin(fate, of = families) {
      const begun: [string, Family][] = [];
      for (const family of of) {
        family.next(fate);
        const body = { model: family.model, prompt: "a small house", ...family.body };
        const response = await bench.call(family.path, body);
        begun.push([response.headers.get("x-request-id") ?? "", family]);
      }
      return begun;
    },
    ends,
    async expectEnds(begun, expected) {
      const ended = await ends(begun);
      expect(ended.map(([{ name }, end]) => [name, end])).toEqual(
        begun.map(([, family]) => [family.name, expected(family)]),
      );
    },
    nobodyKnows: (begun) =>
      eventually(
        "nobody knows what became of them",
        async () => {
          const rows = await bench.stack.query(
            `select 1 from job where id = any($1::uuid[]) and state = 'running' and unknown_since is not null
             and lease_until is null`,
            [idsOf(begun)],
          );
          return rows.length === begun.length;
        },
        60_000,
      ).then(() => undefined),
    charged: (mark) => new Map(families.map((family) => [family, family.charged() - (mark?.get(family) ?? 0)])),
    async close() {
      await bench.close();
      expect(families.flatMap((family) => family.faults())).toEqual([]);
      for (const family of families) family.close();
      folder.remove();
    },
  };
}

/** Ids of the jobs as a parameter of SQL. */
export const idsOf = (begun: StartedJobs): string => `{${begun.map(([id]) => id).join(",")}}`;

/** End of a job that was served: paid once. */
export const paid = (family: Family): End => ({
  status: "completed",
  code: undefined,
  settled: BigInt(Math.round(family.credits * 1_000)) * (CREDIT / 1_000n),
});

/** End of a job that was not served: free. */
export const free = (status: "failed" | "cancelled", code: string) => (): End => ({ status, code, settled: 0n });

/**
 * Notes that the owner of a durable job writes to its row: the intent to call a provider, the record of the job at its provider, and the
 * progress. The next owner reads from them which work may be repeated. If a note fails because another worker owns the job, all work stops.
 */
import {
  adoptProviderJob,
  noteLostStart,
  noteProviderJob,
  noteStart,
  type OpenStart,
  unknownNames,
} from "#shared/database/open-starts.ts";
import { commonNow } from "#shared/clock.ts";
import { type ClaimedJob, noteIntent, noteProgress } from "#shared/database/jobs.ts";
import { failpoint } from "#shared/failpoint.ts";
import { type Insist, insistOn } from "#shared/outage.ts";

import type { WorkerContext } from "../context.ts";
import { type ProviderJobSlot, START_CLOCKS_MS } from "../job.ts";
import { ProviderError } from "../providers/provider.ts";

import { type IntendedProviders, withIntent } from "./intent.ts";

export class JobNotes implements ProviderJobSlot {
  readonly found: unknown;
  readonly isLate: boolean;
  readonly wasCancelled: boolean;
  /** Providers that store the intent before the first request. */
  readonly intended: IntendedProviders;
  /** False after another worker has taken the lease, or after a cancel before the first request to a provider. */
  isOurs = true;
  hasIntent: boolean;
  isAtProvider: boolean;
  private readonly context: Pick<WorkerContext, "database" | "log">;
  private readonly job: ClaimedJob;
  private readonly insist: Insist;
  private told = 0;

  /** @param isIntended true if the row already contains the intent to call a provider without a queue */
  constructor(context: Pick<WorkerContext, "database" | "log" | "providers">, job: ClaimedJob, isIntended: boolean) {
    this.context = context;
    this.job = job;
    this.insist = insistOn({ log: context.log, about: { job_id: job.id } });
    this.found = job.provider_job;
    this.isLate = job.is_unknown;
    this.wasCancelled = job.cancel_requested;
    // A job with a record was started before; another provider may receive it now.
    this.hasIntent = job.provider_job !== null || isIntended;
    this.isAtProvider = job.provider_job !== null;
    this.intended = withIntent(context.providers, () => (isIntended ? Promise.resolve() : this.intend()));
  }

  async begin(record: object): Promise<void> {
    const { job } = this;
    this.claimOurs(await this.insist(() => noteStart(this.context.database, job.id, job.epoch, record)));
    [this.hasIntent, this.isAtProvider] = [true, true];
    this.intended.queued();
    failpoint("job.intended");
  }

  async lose(): Promise<OpenStart> {
    const { job } = this;
    const start = await this.insist(() => noteLostStart(this.context.database, job.id, job.epoch, commonNow()));
    this.claimOurs(start !== undefined);
    return start;
  }

  async adopt(
    listed: { readonly name: string; readonly madeMs: number },
    record: object,
  ): Promise<"adopted" | "taken" | "open"> {
    const clocksMs = START_CLOCKS_MS;
    const result = await this.insist(() =>
      adoptProviderJob(this.context.database, this.job, { ...listed, clocksMs }, record),
    );
    this.claimOurs(result !== "void");
    return result;
  }

  strangers(provider: string, names: readonly string[]): Promise<readonly string[]> {
    return unknownNames(this.context.database, provider, names);
  }

  progress(share: number): void {
    const { context, job } = this;
    const next = Math.floor(Math.min(0.99, share) * 100) / 100;
    if (!(next > this.told)) return;
    this.told = next;
    noteProgress(context.database, job.id, job.epoch, next).catch((error: unknown) =>
      context.log.warn({ err: error, job_id: job.id }, "a job's progress could not be saved"),
    );
  }

  async keep(kept: object | null): Promise<void> {
    this.claimOurs(await this.noteKept(kept));
    this.isAtProvider = kept !== null;
    if (this.isAtProvider) failpoint("job.noted");
  }

  private async intend(): Promise<void> {
    this.claimOurs(await noteIntent(this.context.database, this.job.id, this.job.epoch));
    this.hasIntent = true;
    failpoint("job.intended");
  }

  /** @throws Error when the note was not written because another worker owns the job */
  private claimOurs(noted: boolean): asserts noted {
    this.isOurs &&= noted;
    if (!noted) throw new Error("the job is not ours any more");
  }

  /** Returns false if another worker owns the job. @throws ProviderError `unknown` if the database is away: the provider may run the job */
  private async noteKept(kept: object | null): Promise<boolean> {
    const { job } = this;
    try {
      return await this.insist(() => noteProviderJob(this.context.database, job.id, job.epoch, kept));
    } catch (error) {
      throw new ProviderError("unknown", "what the job is called at its provider could not be noted", { cause: error });
    }
  }
}

/**
 * Records the reasons of failed calls, several in one statement. A failed call waits until its reason is recorded. Successful calls cost
 * nothing.
 */
import type { Database } from "#shared/database/client.ts";
import {
  type FailedAttempt,
  FAILURE_TEXT_CHARS_MAX,
  insertUsageFailures,
  type UsageFailure,
} from "#shared/database/usage-failures.ts";
import type { Logger } from "#shared/base/logger.ts";
import { createRedactor } from "#shared/base/redaction.ts";
import type { Code } from "#shared/base/errors.ts";
import type { SealedPlace, Sealer } from "#shared/secrets/sealed.ts";

import type { UsageStatus } from "./settle.ts";

export interface FailureLog {
  /**
   * Records the reason of a failed or lost call. Resolves when the record is written or abandoned. Never rejects, because the caller
   * receives the call's error in any case.
   */
  record(call: RecordedCall, outcome: RecordedFailure): Promise<void>;
}

type RecordedCall = Pick<UsageFailure, "workspaceId" | "jobId" | "attempt">;
interface RecordedFailure {
  readonly status: UsageStatus;
  readonly failure: { readonly code: Code };
  readonly attempts?: readonly FailedAttempt[];
  /** Error text of the provider, not yet encrypted. */
  readonly providerText?: string;
}

/** Maximum number of failures recorded by one statement. */
const BATCH_MAX = 200;
/** Maximum number of failures that wait to be recorded; further ones are not recorded. */
const WAITING_MAX = 2_000;
/** Maximum time that a failed call waits until its reason is recorded, in milliseconds. */
const WAIT_MS = 2_000;

/**
 * Opens a failure log.
 * @param options.secrets values that are redacted in stored texts
 */
export function openFailureLog(options: {
  readonly database: Pick<Database, "query">;
  /** Encrypts error texts of providers. Undefined in processes that call no provider. */
  readonly sealer: Pick<Sealer, "seal"> | undefined;
  readonly secrets: readonly string[];
  readonly log: Logger;
}): FailureLog {
  const { database, sealer, log } = options;
  const redactor = createRedactor(options.secrets);
  const waiting: { readonly failure: UsageFailure; readonly onWritten: () => void }[] = [];
  let isWriting = false;

  const write = async (): Promise<void> => {
    isWriting = true;
    for (;;) {
      const batch = waiting.splice(0, BATCH_MAX);
      if (batch.length === 0) break;
      try {
        await insertUsageFailures(
          database,
          batch.map(({ failure }) => failure),
        );
      } catch (error) {
        log.warn({ err: error, failures: batch.length }, "the causes of failed calls were not recorded");
      }
      for (const { onWritten } of batch) onWritten();
    }
    isWriting = false;
  };

  const sealed = (call: RecordedCall, text: string | undefined): string | null =>
    text === undefined
      ? null
      : (sealer?.seal(placeOfFailure(call), redactor.text(text, FAILURE_TEXT_CHARS_MAX)) ?? null);

  return {
    async record(call, { status, failure: { code }, attempts = [], providerText }) {
      if (status === "succeeded" || status === "cancelled") return;
      if (waiting.length >= WAITING_MAX) {
        log.warn({ failures: 1 }, "the causes of failed calls were not recorded");
        return;
      }
      const written = Promise.withResolvers<void>();
      const failure = { ...call, code, attempts, text: sealed(call, providerText) };
      waiting.push({ failure, onWritten: written.resolve });
      if (!isWriting) void write();
      const timer = setTimeout(written.resolve, WAIT_MS);
      await written.promise;
      clearTimeout(timer);
    },
  };
}

/** Returns the storage location to which the encrypted error text is bound. */
export function placeOfFailure({ workspaceId, jobId, attempt }: RecordedCall): SealedPlace {
  return { workspaceId, table: "usage_failure", row: `${jobId}:${attempt}`, field: "text" };
}

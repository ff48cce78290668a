/** The object store and the other servers that a process depends on. */
import { paced } from "#shared/pace.ts";

export const STORAGE_LIMITS = {
  /** A part on its way into the object store: 5 MiB at 256 KiB/s. */
  storagePartMs: paced(20_000),
  /** Bodies a process sends to the object store at once: each holds copies of what the socket has not taken. */
  storageSendsMax: 2,
  /** A body that a fault of the store's kept from arriving is sent again this often, after about this long. */
  storageAttempts: 3,
  storageRetryMs: 200,
  /** One attempt to store a claim: this long, and as long as its bytes take at 1 MiB/s. */
  storageAttemptMs: paced(3_000),
  storageBytesPerMs: 1_048,
  /** The object store joins thousands of parts. */
  storageJoinMs: 60_000,
  /** The object store sends nothing of an object for this long. */
  storageStallMs: paced(10_000),
  /** Each server that a process depends on is asked whether it is there this often, and not twice within this time. */
  dependencyCheckMs: 5_000,
  dependencyFreshMs: 1_000,
} as const;

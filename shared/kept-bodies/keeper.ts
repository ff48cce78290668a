/**
 * Stores requests and responses of callers that asked for it, after their response was sent. The queue and its memory have bounds: when
 * they are full, calls are dropped and counted. Nothing here delays or fails a call.
 */
import { TimeSlices } from "#shared/base/time-slices.ts";
import { beginBodies, type BodyId, expireBodies, markStored, type NewBody } from "#shared/database/kept-bodies.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { RedactionRules } from "#shared/base/body-setting.ts";
import { FairLimit, type Lease } from "#shared/limits/fair-limit.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { publishedSealer } from "#shared/secrets/open-sealer.ts";
import type { Sealer } from "#shared/secrets/sealed.ts";
import { storeBodies } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

import { assembleStream, reportsError } from "./assemble.ts";
import { type BodyCopy, CallCapture, type CapturedCall } from "./capture.ts";
import { redactingJson, redactsNothing, redactText } from "./redact.ts";
import { KEPT_BODY_BYTES_MAX, KEPT_BYTES_WORKSPACE_MAX, type KeptCall, type KeptPart, sealBodies } from "./store.ts";

export interface BodyKeeper {
  /** Returns the capture of a call; undefined if the operator allows no kept bodies. */
  capture(call: CapturedCall): CallCapture | undefined;
  /** Adds a call whose request and response are complete to the queue. */
  add(capture: CallCapture): void;
  /** Stores the waiting calls. Resolves when none are left, or after `allowedMs`. */
  close(allowedMs: number): Promise<void>;
}

export interface KeeperOptions {
  readonly database: Queryable;
  readonly storage: Storage;
  /** Encryption with the master key. Undefined in processes without the key: they encrypt with the published key. */
  readonly sealer: Pick<Sealer, "seal"> | undefined;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "bodiesKept">;
  /** Maximum retention that the operator allows, in hours. 0: no bodies are kept. */
  readonly hoursMax: number;
  readonly limits?: KeeperLimits;
}

interface KeeperLimits {
  /** Maximum number of calls that wait to be stored. */
  readonly queue: number;
  /** Maximum memory of all copies, in bytes. */
  readonly bytes: number;
  /** Maximum size of all kept bodies of a workspace, in bytes. */
  readonly workspaceBytes: number;
}

const LIMITS: KeeperLimits = { queue: 1_000, bytes: 134_217_728, workspaceBytes: KEPT_BYTES_WORKSPACE_MAX };
/** Maximum fraction of the memory that one workspace may use, from 0 to 1. */
const WORKSPACE_SHARE = 0.5;
/** Bounds of the calls that are stored together: their number, and the size of their copies in bytes. */
const BATCH = { calls: 50, bytes: 8_388_608 } as const;
/** Number of objects of a batch that are stored at the same time. */
const STORED_AT_ONCE = 8;
/** Number of characters that are removed from the end of a text that was cut off: they may contain half of a redacted value. */
const CUT_CHARS = 512;

/** Maximum time during shutdown in which waiting bodies of calls are stored, in milliseconds. Further ones are dropped. */
export const BODIES_STOP_MS = 5_000;

export function openBodyKeeper(options: KeeperOptions): BodyKeeper {
  return new Keeper(options);
}

interface SealedCall {
  readonly capture: CallCapture;
  /** Text of the object. */
  readonly text: string;
  readonly row: NewBody;
}

class Keeper implements BodyKeeper {
  private readonly options: KeeperOptions;
  private readonly limits: KeeperLimits;
  private readonly memory: FairLimit;
  private readonly queue: CallCapture[] = [];
  private working: Promise<void> | undefined;

  constructor(options: KeeperOptions) {
    const { limits = LIMITS } = options;
    this.options = options;
    this.limits = limits;
    this.memory = new FairLimit({
      max: limits.bytes,
      mayHave: ({ taken }, amount) => taken + amount <= limits.bytes * WORKSPACE_SHARE,
    });
  }

  capture(call: CapturedCall): CallCapture | undefined {
    if (this.options.hoursMax === 0) return undefined;
    const { metrics } = this.options;
    return new CallCapture({
      ...call,
      reserve: (amount) => this.reserve(call.workspaceId, amount),
      onDrop: (reason) => metrics.bodiesKept.inc(reason),
    });
  }

  async close(allowedMs: number): Promise<void> {
    if (this.working === undefined) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, allowedMs);
    await Promise.race([this.working, late]);
    clearTimeout(timer);
  }

  private reserve(owner: string, amount: number): Lease | undefined {
    const lease = this.memory.enter({ owner, amount });
    if (lease.entered === undefined) return lease;
    lease.release();
    return undefined;
  }

  add(capture: CallCapture): void {
    if (capture.isDropped) return;
    if (this.queue.length >= this.limits.queue) capture.drop("queue");
    else {
      this.queue.push(capture);
      this.working ??= this.work();
    }
  }

  private async work(): Promise<void> {
    const { log } = this.options;
    while (this.queue.length > 0) {
      const batch = this.takeBatch();
      try {
        await this.store(batch);
      } catch (error) {
        log.warn({ err: error, calls: batch.length }, "the bodies of calls were not kept");
        for (const capture of batch) capture.drop("store");
      }
      for (const capture of batch) capture.release();
    }
    this.working = undefined;
  }

  private takeBatch(): readonly CallCapture[] {
    let bytes = 0;
    const size = this.queue.findIndex((capture, index) => {
      bytes += capture.options.load === undefined ? capture.size : KEPT_BODY_BYTES_MAX;
      return index > 0 && (index >= BATCH.calls || bytes > BATCH.bytes);
    });
    return this.queue.splice(0, size < 0 ? this.queue.length : size);
  }

  private async store(batch: readonly CallCapture[]): Promise<void> {
    const { database, hoursMax } = this.options;
    const sealer = this.options.sealer ?? (await publishedSealer(database));
    const sealed: SealedCall[] = [];
    for (const capture of batch) {
      const { workspaceId, requestId, keyId, setting } = capture.options;
      await this.load(capture);
      const call = capture.isDropped ? undefined : await prepare(capture);
      if (call === undefined) continue;
      const id = { workspaceId, requestId };
      const { text, sealedKey } = sealBodies(sealer, id, call);
      const hours = Math.min(setting.retention_hours, hoursMax);
      sealed.push({ capture, text, row: { ...id, keyId, bytes: text.length, sealedKey, hours } });
    }
    if (sealed.length === 0) return;
    // The row comes first: an object without a row would never be deleted.
    const begun = await beginBodies(
      database,
      sealed.map(({ row }) => row),
      this.limits.workspaceBytes,
    );
    const isBegun = ({ row }: SealedCall): boolean => begun.has(row.requestId);
    for (const { capture } of sealed.filter((call) => !isBegun(call))) capture.drop("limit");
    await this.storeObjects(sealed.filter(isBegun));
  }

  private async load(capture: CallCapture): Promise<void> {
    const { load, requestId } = capture.options;
    if (load === undefined || capture.isDropped) return;
    try {
      await load(capture);
    } catch (error) {
      this.options.log.warn({ err: error, request_id: requestId }, "the bodies of a call could not be read");
      capture.drop("store");
    }
  }

  private async storeObjects(calls: readonly SealedCall[]): Promise<void> {
    const { database, storage, metrics, log } = this.options;
    const stored: (BodyId & { readonly reference: string })[] = [];
    const failed: SealedCall[] = [];
    const next = calls.values();
    const storeNext = async (): Promise<void> => {
      for (const call of next) {
        const { workspaceId, requestId } = call.row;
        try {
          stored.push({ workspaceId, requestId, reference: await storeBodies(storage, requestId, call.text) });
        } catch (error) {
          log.warn({ err: error, request_id: requestId }, "the bodies of a call could not be stored");
          failed.push(call);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(STORED_AT_ONCE, calls.length) }, storeNext));
    for (const { capture } of failed) capture.drop("store");
    // The object may exist although its request failed. The janitor deletes both.
    if (failed.length > 0)
      await expireBodies(
        database,
        failed.map(({ row }) => row),
      );
    if (stored.length === 0) return;
    await markStored(database, stored);
    metrics.bodiesKept.add(stored.length, "stored");
  }
}

/** Builds what is kept of a call; undefined if the call is not kept. */
async function prepare(capture: CallCapture): Promise<KeptCall | undefined> {
  const { options, status, isStream, request, response } = capture;
  const { setting, endpoint } = options;
  const slices = new TimeSlices();
  const asked = isText(request.mediaType) && request.copied > 0 ? request.text : null;
  if (isMcp(options) && !isToolCall(asked)) return undefined;
  let answer = isText(response.mediaType) ? response.text : null;
  let isFailed = status >= ERROR_STATUS;
  if (isStream) {
    const assembled = await assembleStream(answer ?? "", slices);
    isFailed ||= assembled.isFailed;
    answer = JSON.stringify(assembled.value);
  } else if (isMcp(options)) isFailed ||= reportsError(valueOf(answer));
  if (setting.keep === "errors" && !isFailed) return undefined;
  return {
    endpoint,
    status,
    request: await partOf(request, asked, setting.redact, slices),
    response: await partOf(response, answer, setting.redact, slices),
  };
}

async function partOf(
  { mediaType, bytes, isCut }: BodyCopy,
  text: string | null,
  rules: RedactionRules,
  slices: TimeSlices,
): Promise<KeptPart> {
  const part = { media_type: mediaType, bytes };
  if (text === null) return { ...part, text, is_cut: false };
  if (redactsNothing(rules)) return { ...part, ...withinLimit(text, isCut) };
  const isJson = mediaType === "text/event-stream" || isJsonType(mediaType);
  const redacted = isJson ? await slices.run(redactingJson(text, rules)) : redactText(text, rules);
  const isBeginning = isCut && mediaType !== "text/event-stream";
  return { ...part, ...withinLimit(isBeginning ? redacted.slice(0, -CUT_CHARS) : redacted, isCut) };
}

function withinLimit(text: string, isCut: boolean): Pick<KeptPart, "text" | "is_cut"> {
  const bytes = Buffer.from(text);
  if (bytes.length <= KEPT_BODY_BYTES_MAX) return { text, is_cut: isCut };
  return {
    text: bytes
      .subarray(0, KEPT_BODY_BYTES_MAX)
      .toString()
      .replace(/\uFFFD$/, ""),
    is_cut: true,
  };
}

export const ERROR_STATUS = 400;

/** True for messages of the Model Context Protocol, whose outcome is in their response. */
export const isMcp = ({ endpoint }: { readonly endpoint: string }): boolean => /^POST \/mcp(?:\/|$)/.test(endpoint);

/** True for an MCP message that calls a tool. Lists of tools and notices of the protocol are not kept. */
function isToolCall(text: string | null): boolean {
  const value = valueOf(text);
  return typeof value === "object" && value !== null && "method" in value && value.method === "tools/call";
}

function valueOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "null") as unknown;
  } catch {
    return undefined;
  }
}

const isJsonType = (type: string | null): boolean => type !== null && /^application\/(?:[\w.-]+\+)?json$/.test(type);
/** True for media types whose bodies are kept. */
export const isText = (type: string | null): boolean => isJsonType(type) || type?.startsWith("text/") === true;

/**
 * Stores requests and responses of callers that asked for it, after their response was sent. The queue and its memory have bounds: when
 * they are full, calls are dropped and counted. Nothing here delays or fails a call.
 */
import type { Code } from "#shared/base/errors.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";
import { beginBodies, type BodyId, expireBodies, markStored, type NewBody } from "#shared/database/kept-bodies.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { RedactionRules } from "#shared/base/body-setting.ts";
import { redactingJson, redactsNothing, redactText } from "#shared/kept-bodies/redact.ts";
import {
  KEPT_BODY_BYTES_MAX,
  KEPT_BYTES_WORKSPACE_MAX,
  type KeptCall,
  type KeptPart,
  sealBodies,
} from "#shared/kept-bodies/store.ts";
import { FairLimit, type Lease } from "#shared/limits/fair-limit.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import type { Sealer } from "#shared/secrets/sealed.ts";
import { storeBodies } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

import type { BodyCapture, BodyRecorder, CapturedAnswer } from "../core/body-capture.ts";

import { assembleStream, reportsError } from "./assemble.ts";
import { type BodyCopy, CallCapture, mediaTypeOf } from "./capture.ts";

export interface OpenBodyRecorder extends BodyRecorder {
  /** Stores the waiting calls. Resolves when none are left, or after `allowedMs`. */
  close(allowedMs: number): Promise<void>;
}

interface RecorderOptions {
  readonly database: Queryable;
  readonly storage: Storage;
  readonly sealer: Pick<Sealer, "seal">;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "bodiesKept">;
  /** Maximum retention that the operator allows, in hours. 0: no bodies are kept. */
  readonly hoursMax: number;
  readonly limits?: RecorderLimits;
}

interface RecorderLimits {
  /** Maximum number of calls that wait to be stored. */
  readonly queue: number;
  /** Maximum memory of all copies, in bytes. */
  readonly bytes: number;
  /** Maximum size of all kept bodies of a workspace, in bytes. */
  readonly workspaceBytes: number;
}

const LIMITS: RecorderLimits = { queue: 1_000, bytes: 134_217_728, workspaceBytes: KEPT_BYTES_WORKSPACE_MAX };
/** Maximum fraction of the memory that one workspace may use, from 0 to 1. */
const WORKSPACE_SHARE = 0.5;
/** Bounds of the calls that are stored together: their number, and the size of their copies in bytes. */
const BATCH = { calls: 50, bytes: 8_388_608 } as const;
/** Number of objects of a batch that are stored at the same time. */
const STORED_AT_ONCE = 8;
/** Number of characters that are removed from the end of a text that was cut off: they may contain half of a redacted value. */
const CUT_CHARS = 512;

export function openBodyRecorder(options: RecorderOptions): OpenBodyRecorder {
  return new Recorder(options);
}

interface SealedCall {
  readonly capture: CallCapture;
  /** Text of the object. */
  readonly text: string;
  readonly row: NewBody;
}

class Recorder implements OpenBodyRecorder {
  private readonly options: RecorderOptions;
  private readonly limits: RecorderLimits;
  private readonly memory: FairLimit;
  private readonly queue: CallCapture[] = [];
  private working: Promise<void> | undefined;

  constructor(options: RecorderOptions) {
    const { limits = LIMITS } = options;
    this.options = options;
    this.limits = limits;
    this.memory = new FairLimit({
      max: limits.bytes,
      mayHave: ({ taken }, amount) => taken + amount <= limits.bytes * WORKSPACE_SHARE,
    });
  }

  begin(...[caller, route, { requestId, request }]: Parameters<BodyRecorder["begin"]>): BodyCapture | undefined {
    const { bodies: setting, workspaceId } = caller;
    if (setting === undefined || route.countsItself !== true || this.options.hoursMax === 0) return undefined;
    const { metrics } = this.options;
    return new CallCapture({
      caller,
      setting,
      requestId,
      endpoint: `${route.method} ${route.path}`,
      headers: request.headers,
      reserve: (amount) => this.reserve(workspaceId, amount),
      onDrop: (reason) => metrics.bodiesKept.inc(reason),
    });
  }

  end(capture: BodyCapture, { response, body, code }: CapturedAnswer): void {
    if (!(capture instanceof CallCapture)) return;
    capture.status = response.status;
    const type = mediaTypeOf(response.headers);
    capture.response.mediaType = type;
    capture.isStream = type === "text/event-stream";
    if (isRefusedUnread(capture, code) || isSuperfluous(capture)) {
      capture.release();
      return;
    }
    if (body !== undefined && isText(type)) {
      body.observe({
        onPiece: (piece) => capture.onResponse(piece),
        onEnd: (isWhole) => {
          if (!isWhole) capture.response.isCut = true;
          this.add(capture);
        },
      });
    } else if (isText(type)) void this.addPlain(capture, response.clone() as Response);
    else this.add(capture);
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

  private async addPlain(capture: CallCapture, response: Response): Promise<void> {
    try {
      capture.onResponse(new Uint8Array(await response.arrayBuffer()));
    } catch {
      capture.drop("store");
    }
    this.add(capture);
  }

  private add(capture: CallCapture): void {
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
      bytes += capture.size;
      return index > 0 && (index >= BATCH.calls || bytes > BATCH.bytes);
    });
    return this.queue.splice(0, size < 0 ? this.queue.length : size);
  }

  private async store(batch: readonly CallCapture[]): Promise<void> {
    const { database, sealer, hoursMax } = this.options;
    const sealed: SealedCall[] = [];
    for (const capture of batch) {
      const { caller, requestId, setting } = capture.options;
      const call = capture.isDropped ? undefined : await prepare(capture);
      if (call === undefined) continue;
      const id = { workspaceId: caller.workspaceId, requestId };
      const { text, sealedKey } = sealBodies(sealer, id, call);
      const hours = Math.min(setting.retention_hours, hoursMax);
      sealed.push({ capture, text, row: { ...id, keyId: caller.keyId, bytes: text.length, sealedKey, hours } });
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

/** Returns true for a call that was refused by the rate limit, or before its body was read. Storing these would multiply the load. */
function isRefusedUnread({ request }: CallCapture, code: Code | undefined): boolean {
  if (code === undefined) return false;
  return code === "rate_limit_exceeded" || (request.copied === 0 && request.mediaType !== "multipart/form-data");
}

/** Returns true for a call of which only failures are kept, and that has not failed. The outcome of some calls is known only later. */
function isSuperfluous({ options, status, isStream }: CallCapture): boolean {
  return options.setting.keep === "errors" && status < ERROR_STATUS && !isStream && !isMcp(options);
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

const ERROR_STATUS = 400;

const isMcp = ({ endpoint }: { readonly endpoint: string }): boolean => /^POST \/mcp(?:\/|$)/.test(endpoint);

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
const isText = (type: string | null): boolean => isJsonType(type) || type?.startsWith("text/") === true;

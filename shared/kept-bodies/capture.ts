/** Copies of one call's request and response, with a bound, until they are stored. */
import type { BodyId } from "#shared/database/kept-bodies.ts";
import type { BodySetting } from "#shared/base/body-setting.ts";
import type { Lease } from "#shared/limits/fair-limit.ts";

import { KEPT_BODY_BYTES_MAX } from "./store.ts";

/** Maximum copied size of an event stream, in bytes. Its events are several times as long as the answer that they contain. */
const STREAM_BYTES_MAX = 4 * KEPT_BODY_BYTES_MAX;
/** Memory is reserved in units of this size, in bytes. */
const RESERVED_BYTES = 65_536;

/** Reason for which a call is not kept. */
export type Drop = "memory" | "queue" | "limit" | "store";

/** A call that is kept. */
export interface CapturedCall extends BodyId {
  readonly keyId: string;
  readonly setting: BodySetting;
  /** Method and path, such as `POST /v1/chat/completions`. */
  readonly endpoint: string;
  readonly mediaType: string | null;
  /** Size of the request, in bytes; null if unknown. */
  readonly requestBytes: number | null;
  /**
   * Loads bodies that are stored elsewhere, just before the call is stored. Absent if they are recorded when they arrive.
   * @throws Error if a body cannot be read; the call is then not kept
   */
  readonly load?: (capture: CallCapture) => Promise<void>;
  /** Called once when the call no longer needs the bodies that `load` reads. */
  readonly onReleased?: () => void;
}

interface CaptureOptions extends CapturedCall {
  /** Reserves memory; undefined if there is none. */
  readonly reserve: (bytes: number) => Lease | undefined;
  readonly onDrop: (reason: Drop) => void;
}

/** Copy of a body or of its beginning. */
export class BodyCopy {
  mediaType: string | null = null;
  /** Size of the original body, in bytes; null if unknown. */
  bytes: number | null = null;
  /** True if the copy lacks the end of the body. */
  isCut = false;
  pieces: Uint8Array[] = [];
  copied = 0;

  get text(): string {
    return new TextDecoder().decode(Buffer.concat(this.pieces, this.copied));
  }
}

export class CallCapture {
  readonly options: CaptureOptions;
  readonly request = new BodyCopy();
  readonly response = new BodyCopy();
  status = 0;
  isDropped = false;
  /** True if the response was an event stream. */
  isStream = false;
  private readonly leases: Lease[] = [];
  private reserved = 0;
  private isReleased = false;

  constructor(options: CaptureOptions) {
    this.options = options;
    this.request.mediaType = options.mediaType;
    this.request.bytes = options.requestBytes;
  }

  /** Size of the copies, in bytes. */
  get size(): number {
    return this.request.copied + this.response.copied;
  }

  onRequest(bytes: Uint8Array): void {
    if (this.request.copied > 0) return;
    this.request.bytes = bytes.length;
    this.add(this.request, bytes, KEPT_BODY_BYTES_MAX);
  }

  onResponse(bytes: Uint8Array): void {
    this.response.bytes = (this.response.bytes ?? 0) + bytes.length;
    if (!this.isStream) this.add(this.response, bytes, KEPT_BODY_BYTES_MAX);
    // Pieces of a stream are views of larger messages, whose memory is not counted here.
    else this.add(this.response, bytes.slice(), STREAM_BYTES_MAX);
  }

  /** Gives the call up and frees its memory. */
  drop(reason: Drop): void {
    if (this.isDropped) return;
    this.options.onDrop(reason);
    this.release();
  }

  /** Frees the memory of the call. */
  release(): void {
    this.isDropped = true;
    for (const lease of this.leases.splice(0)) lease.release();
    for (const copy of [this.request, this.response]) {
      copy.pieces = [];
      copy.copied = 0;
    }
    if (this.isReleased) return;
    this.isReleased = true;
    this.options.onReleased?.();
  }

  private add(copy: BodyCopy, bytes: Uint8Array, max: number): void {
    if (this.isDropped) return;
    const free = max - copy.copied;
    if (bytes.length > free) copy.isCut = true;
    if (free <= 0 || bytes.length === 0) return;
    // A view of a long body would keep the whole body in memory.
    const piece = bytes.length > free ? bytes.slice(0, free) : bytes;
    while (this.reserved < this.size + piece.length) {
      const amount = Math.max(RESERVED_BYTES, this.size + piece.length - this.reserved);
      const lease = this.options.reserve(amount);
      if (lease === undefined) {
        this.drop("memory");
        return;
      }
      this.leases.push(lease);
      this.reserved += amount;
    }
    copy.pieces.push(piece);
    copy.copied += piece.length;
  }
}

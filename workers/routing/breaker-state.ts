/**
 * State machine of a source's circuit, without clock, network or storage. All times come from the caller, in milliseconds of a monotonic
 * clock.
 *
 * A source is in rotation, or its circuit is open until a deadline. After the deadline, one call of all workers tries the source. This call
 * is the probe (breaker-store.ts). Success closes the circuit, failure extends the cooldown.
 */
import { BREAKER } from "./limits.ts";

/**
 * Change of a circuit. `opened`: the source was removed from rotation. `lengthened`: its cooldown was extended. `closed`: it is back in
 * rotation.
 */
export type Change = "opened" | "lengthened" | "closed";

/** Counts of ended calls that were not yet sent to other workers. */
export interface Counts {
  readonly ok: number;
  readonly failed: number;
  /** Number of consecutive failures since the last success. */
  readonly run: number;
}

/** Refusal by a source: mark of the refused key and address, and HTTP status of the response. */
export interface Refused {
  readonly mark: string;
  readonly status?: number | undefined;
}

const BUCKETS = BREAKER.windowMs / BREAKER.bucketMs;

export class SourceState {
  /** Name of the source, `provider/model`. */
  readonly name: string;
  /** Current cooldown without jitter, in milliseconds; 0 while the source is in rotation. */
  cooldownMs = 0;
  /** Time at which the current cooldown ends. */
  until = 0;
  /** Mark of the key and address that the source refused (key-marks.ts). Undefined after other failures. */
  refusedMark: string | undefined;
  /** HTTP status of the source's refusal; undefined if unknown. */
  refusedStatus: number | undefined;
  /**
   * Earliest time at which this process may request the right to probe the source. Set after a request was denied or another process became
   * the prober.
   */
  askAt = 0;
  /** True while a call of this process is the probe of all workers. */
  isProbing = false;
  /** Time at which the source last returned to rotation. */
  closedAt = Number.NEGATIVE_INFINITY;

  /**
   * Sequence number of the last use; the source with the lowest is evicted first. This field and the fields after it belong to other files,
   * because separate maps would cost look-ups.
   */
  usedAt = 0;
  readonly unsent = { ok: 0, failed: 0, run: 0 };
  isUnsent = false;
  /** Number of changes of the circuit that this process decided. `isUnsaved` is true until the last of them is written to Postgres. */
  changes = 0;
  isUnsaved = false;
  /** True when Postgres contains a row for this cooldown. */
  isNoted = false;

  private readonly oks = new Uint32Array(BUCKETS);
  private readonly fails = new Uint32Array(BUCKETS);
  private okSum = 0;
  private failedSum = 0;
  /** Number of consecutive failures since the last success. */
  private run = 0;
  private bucket = 0;

  constructor(name: string) {
    this.name = name;
  }

  get isOpen(): boolean {
    return this.cooldownMs !== 0;
  }

  /** Returns true if the cooldown is over and no worker is known to be probing the source. */
  isDue(now: number): boolean {
    return this.isOpen && now >= this.until && now >= this.askAt;
  }

  /** Returns the time until the source may be called, in milliseconds; 0 only while it is in rotation. */
  retryInMs(now: number): number {
    if (!this.isOpen) return 0;
    const wait = this.isProbing
      ? Math.max(this.until - now, BREAKER.probeAgainMs)
      : Math.max(this.until, this.askAt) - now;
    return Math.max(1, Math.ceil(wait));
  }

  /** Records the result of a call of this process. While the circuit is open, only the probe's result counts. */
  record(result: "ok" | "failed", now: number, random: () => number): Change | undefined {
    if (this.cooldownMs !== 0) return this.isProbing ? this.judge(result, now, random) : undefined;
    if (now >= (this.bucket + 1) * BREAKER.bucketMs) this.turn(now);
    const slot = this.bucket % BUCKETS;
    if (result === "ok") {
      this.oks[slot] = (this.oks[slot] ?? 0) + 1;
      this.okSum += 1;
      this.run = 0;
      this.unsent.ok += 1;
      this.unsent.run = 0;
      return undefined;
    }
    this.fails[slot] = (this.fails[slot] ?? 0) + 1;
    this.failedSum += 1;
    this.run += 1;
    this.unsent.failed += 1;
    this.unsent.run += 1;
    return this.openIfTripped(now, random);
  }

  /** Opens the circuit of a source that refuses our key or the model. @param refused mark of the refused key, and HTTP status */
  down(now: number, random: () => number, refused?: Refused): Change | undefined {
    const next = this.isProbing ? this.nextCooldownMs() : this.cooldownMs;
    // Concurrent calls return the same refusal as the first one.
    if (this.isOpen && !this.isProbing && this.cooldownMs >= BREAKER.downMs) return undefined;
    const change = this.open(Math.max(next, BREAKER.downMs), now, random);
    this.noteRefused(refused);
    return change;
  }

  /** Marks a call of this process as the probe. Further requests for the probe wait until its lease ends. */
  beginProbe(now: number): void {
    this.isProbing = true;
    this.askAt = now + BREAKER.probeLeaseMs;
  }

  /** Ends the probe without a result. Returns true if this process was probing; the caller must then release the probe in Postgres. */
  forgetProbe(): boolean {
    if (!this.isProbing) return false;
    this.isProbing = false;
    this.askAt = 0;
    return true;
  }

  /** Adds the call counts of another process. Returns "opened" if they open the circuit. */
  receiveCounts(counts: Counts, now: number, random: () => number): Change | undefined {
    if (this.isOpen) return undefined;
    if (now >= (this.bucket + 1) * BREAKER.bucketMs) this.turn(now);
    const slot = this.bucket % BUCKETS;
    this.oks[slot] = (this.oks[slot] ?? 0) + counts.ok;
    this.okSum += counts.ok;
    this.fails[slot] = (this.fails[slot] ?? 0) + counts.failed;
    this.failedSum += counts.failed;
    this.run = counts.ok > 0 ? counts.run : this.run + counts.failed;
    return counts.failed > 0 ? this.openIfTripped(now, random) : undefined;
  }

  /**
   * Records an open circuit that another process or Postgres reports. If both deadlines differ, the later one applies. Returns undefined if
   * the report changed nothing.
   */
  receiveOpening(remainingMs: number, cooldownMs: number, now: number, refused?: Refused): Change | undefined {
    const change = this.isOpen ? (now + remainingMs > this.until ? "lengthened" : undefined) : "opened";
    if (change !== undefined) this.noteRefused(refused);
    this.startCooldown(Math.max(this.cooldownMs, cooldownMs), Math.max(this.until, now + remainingMs));
    if (change !== undefined) this.isNoted = false;
    return change;
  }

  /** Records a successful probe of another process. A cooldown that was extended since that probe stays in effect. */
  receiveClosed(now: number): Change | undefined {
    if (!this.isOpen || this.until - now > BREAKER.probeAgainMs) return undefined;
    return this.close(now);
  }

  /** Closes the circuit immediately. Called when its row is gone, an operator has reset the source, or its key has changed. */
  closeNow(now: number): Change | undefined {
    return this.isOpen ? this.close(now) : undefined;
  }

  private judge(result: "ok" | "failed", now: number, random: () => number): Change | undefined {
    if (result === "failed") return this.open(this.nextCooldownMs(), now, random);
    this.isProbing = false;
    // The cooldown was extended while the probe ran, which is newer evidence.
    return this.until > now ? undefined : this.close(now);
  }

  private openIfTripped(now: number, random: () => number): Change | undefined {
    const calls = this.okSum + this.failedSum;
    const isMostlyFailing = calls >= BREAKER.ratioCallsMin && this.failedSum >= calls * BREAKER.ratioFailedMin;
    const runMax = BREAKER.runFailures + Math.floor(this.okSum / BREAKER.successesPerRunFailure);
    if (!isMostlyFailing && this.run < Math.min(runMax, BREAKER.runFailuresMax)) return undefined;
    return this.open(BREAKER.cooldownMs, now, random);
  }

  private nextCooldownMs(): number {
    return Math.min(Math.round(this.cooldownMs * BREAKER.cooldownGrowth), BREAKER.cooldownMsMax);
  }

  private open(cooldownMs: number, now: number, random: () => number): Change {
    const change = this.isOpen ? "lengthened" : "opened";
    const jittered = cooldownMs * (1 + BREAKER.cooldownJitter * (2 * random() - 1));
    this.startCooldown(cooldownMs, Math.max(this.until, now + jittered));
    this.noteRefused(undefined);
    this.isProbing = false;
    this.askAt = 0;
    return change;
  }

  private startCooldown(cooldownMs: number, until: number): void {
    this.cooldownMs = cooldownMs;
    this.until = until;
    this.clearCounts();
  }

  private noteRefused(refused: Refused | undefined): void {
    this.refusedMark = refused?.mark;
    this.refusedStatus = refused?.status;
  }

  private close(now: number): Change {
    this.noteRefused(undefined);
    this.cooldownMs = 0;
    this.until = 0;
    this.askAt = 0;
    this.isProbing = false;
    this.isNoted = false;
    this.closedAt = now;
    return "closed";
  }

  /** Clears all counts, including unsent ones. Calls before the opening say nothing about the time after it. */
  private clearCounts(): void {
    this.oks.fill(0);
    this.fails.fill(0);
    this.okSum = 0;
    this.failedSum = 0;
    this.run = 0;
    this.unsent.ok = 0;
    this.unsent.failed = 0;
    this.unsent.run = 0;
  }

  /** Moves the counting window to the current time and drops expired buckets. */
  private turn(now: number): void {
    const bucket = Math.floor(now / BREAKER.bucketMs);
    const passed = Math.min(BUCKETS, bucket - this.bucket);
    for (let step = 0; step < passed; step++) {
      const slot = (bucket - step) % BUCKETS;
      this.okSum -= this.oks[slot] ?? 0;
      this.failedSum -= this.fails[slot] ?? 0;
      this.oks[slot] = 0;
      this.fails[slot] = 0;
    }
    this.bucket = bucket;
  }
}

/** Sources that this process remembers, at most BREAKER.sourcesMax. The least recently used source is evicted. */
export class Sources {
  private readonly states = new Map<string, SourceState>();
  private readonly onForgotten: (state: SourceState) => void;
  private uses = 0;

  constructor(onForgotten: (state: SourceState) => void) {
    this.onForgotten = onForgotten;
  }

  /** Returns a remembered source and marks it as used; undefined if the source is not remembered. */
  used(name: string): SourceState | undefined {
    const state = this.states.get(name);
    if (state !== undefined) state.usedAt = ++this.uses;
    return state;
  }

  /** Returns a source and marks it as used. Adds the source if it is new. */
  use(name: string): SourceState {
    const state = this.states.get(name) ?? this.add(name);
    state.usedAt = ++this.uses;
    return state;
  }

  /** Returns a remembered source without marking it as used; undefined if the source is not remembered. */
  peek(name: string): SourceState | undefined {
    return this.states.get(name);
  }

  /**
   * Returns the state of a source that another worker reported. Adds the source without marking it as used, so that it is evicted first.
   */
  getOrAdd(name: string): SourceState {
    return this.states.get(name) ?? this.add(name);
  }

  all(): Iterable<SourceState> {
    return this.states.values();
  }

  private add(name: string): SourceState {
    if (this.states.size >= BREAKER.sourcesMax) this.forgetOldest();
    const state = new SourceState(name);
    this.states.set(name, state);
    return state;
  }

  private forgetOldest(): void {
    let oldest: SourceState | undefined;
    for (const state of this.states.values()) {
      if (oldest === undefined || state.usedAt < oldest.usedAt) oldest = state;
    }
    if (oldest === undefined) return;
    this.states.delete(oldest.name);
    this.onForgotten(oldest);
  }
}

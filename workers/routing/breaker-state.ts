/**
 * Rules of when a source is in rotation, without clocks, network or storage. Times are milliseconds of one clock
 * that never goes back; the caller says what time it is.
 *
 * A source is in rotation, or it is open until a deadline. After the deadline one call of the fleet tries it (the probe,
 * breaker-store.ts): a good one puts it back, a failed one lengthens the cooldown.
 */
import { BREAKER } from "./limits.ts";

/** `opened`: taken out of rotation. `lengthened`: stays out for longer than was known. `closed`: back in rotation. */
export type Change = "opened" | "lengthened" | "closed";

/** Calls that ended and were not published yet. */
export interface Counts {
  readonly ok: number;
  readonly failed: number;
  /** Failures after the last of the successes. */
  readonly run: number;
}

/** Mark of the key and address that a source refused, and the HTTP status of its answer. */
export interface Refused {
  readonly mark: string;
  readonly status?: number | undefined;
}

const BUCKETS = BREAKER.windowMs / BREAKER.bucketMs;

export class SourceState {
  /** `provider/model`. */
  readonly name: string;
  /** The cooldown it is in, without jitter; 0 while it is in rotation. */
  cooldownMs = 0;
  /** End of the cooldown. */
  until = 0;
  /** Mark of the key and address that the source refused (key-marks.ts); undefined: it failed in another way. */
  refusedMark: string | undefined;
  /** HTTP status with which it refused them. */
  refusedStatus: number | undefined;
  /** Before this the probe is not asked for again: it is out, or it was refused. */
  askAt = 0;
  /** The fleet's probe is a call of this process. */
  isProbing = false;
  /** Last time it came back into rotation. */
  closedAt = Number.NEGATIVE_INFINITY;

  /** Bookkeeping of Sources and of the breaker's files, kept here because a map each would cost look-ups. */
  usedAt = 0;
  readonly unsent = { ok: 0, failed: 0, run: 0 };
  isUnsent = false;
  /** Changes decided here, and whether Postgres lacks the last of them. */
  changes = 0;
  isUnsaved = false;
  /** Postgres is known to have a row for this cooldown. */
  isNoted = false;

  private readonly oks = new Uint32Array(BUCKETS);
  private readonly fails = new Uint32Array(BUCKETS);
  private okSum = 0;
  private failedSum = 0;
  /** Failures since the last success. */
  private run = 0;
  private bucket = 0;

  constructor(name: string) {
    this.name = name;
  }

  get isOpen(): boolean {
    return this.cooldownMs !== 0;
  }

  /** The cooldown is over and no worker is known to try the source. */
  isDue(now: number): boolean {
    return this.isOpen && now >= this.until && now >= this.askAt;
  }

  /** Milliseconds until it may be tried; 0 only when it is in rotation. */
  retryInMs(now: number): number {
    if (!this.isOpen) return 0;
    const wait = this.isProbing
      ? Math.max(this.until - now, BREAKER.probeAgainMs)
      : Math.max(this.until, this.askAt) - now;
    return Math.max(1, Math.ceil(wait));
  }

  /** A call of this process ended. Only a failure takes a source out, and while it is open only its probe is heard. */
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

  /** Our key or the model is refused there. @param refused the mark of what was refused, and the HTTP status */
  down(now: number, random: () => number, refused?: Refused): Change | undefined {
    const next = this.isProbing ? this.nextCooldownMs() : this.cooldownMs;
    // Calls that were under way come back with what the first one said already.
    if (this.isOpen && !this.isProbing && this.cooldownMs >= BREAKER.downMs) return undefined;
    const change = this.open(Math.max(next, BREAKER.downMs), now, random);
    this.noteRefused(refused);
    return change;
  }

  /** The probe is this process's for the length of its lease. */
  beginProbe(now: number): void {
    this.isProbing = true;
    this.askAt = now + BREAKER.probeLeaseMs;
  }

  /** The probe ended without a verdict. Returns whether there was one to give back. */
  forgetProbe(): boolean {
    if (!this.isProbing) return false;
    this.isProbing = false;
    this.askAt = 0;
    return true;
  }

  /** Calls of another process ended. */
  hearCounts(counts: Counts, now: number, random: () => number): Change | undefined {
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

  /** Another process, or Postgres, says that the circuit is open. The longer of two deadlines stands. */
  hearOpening(remainingMs: number, cooldownMs: number, now: number, refused?: Refused): Change | undefined {
    const change = this.isOpen ? (now + remainingMs > this.until ? "lengthened" : undefined) : "opened";
    if (change !== undefined) this.noteRefused(refused);
    this.startCooldown(Math.max(this.cooldownMs, cooldownMs), Math.max(this.until, now + remainingMs));
    if (change !== undefined) this.isNoted = false;
    return change;
  }

  /** Another process's probe went well. A cooldown that has long to go was lengthened since: it stands. */
  hearClosed(now: number): Change | undefined {
    if (!this.isOpen || this.until - now > BREAKER.probeAgainMs) return undefined;
    return this.close(now);
  }

  /** Closes at once: Postgres has no row any more, an operator has reset the source, or its key has changed. */
  closeNow(now: number): Change | undefined {
    return this.isOpen ? this.close(now) : undefined;
  }

  private judge(result: "ok" | "failed", now: number, random: () => number): Change | undefined {
    if (result === "failed") return this.open(this.nextCooldownMs(), now, random);
    this.isProbing = false;
    // Lengthened while the probe ran: that is the newer evidence.
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

  /** Forgets the counts, those not yet told to others included: calls before it opened say nothing about the time after. */
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

  /** Moves the window on; what falls out of it is forgotten. */
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

/** The sources this process remembers, at most BREAKER.sourcesMax: the one unused for longest is forgotten. */
export class Sources {
  private readonly states = new Map<string, SourceState>();
  private readonly onForgotten: (state: SourceState) => void;
  private uses = 0;

  constructor(onForgotten: (state: SourceState) => void) {
    this.onForgotten = onForgotten;
  }

  /** Counts as a use. */
  used(name: string): SourceState | undefined {
    const state = this.states.get(name);
    if (state !== undefined) state.usedAt = ++this.uses;
    return state;
  }

  /** Counts as a use; remembers the source when it is new. */
  use(name: string): SourceState {
    const state = this.states.get(name) ?? this.add(name);
    state.usedAt = ++this.uses;
    return state;
  }

  /** Without counting as a use. */
  peek(name: string): SourceState | undefined {
    return this.states.get(name);
  }

  /** Something others say of a source: not used here yet, it is the first to be forgotten. */
  heardOf(name: string): SourceState {
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

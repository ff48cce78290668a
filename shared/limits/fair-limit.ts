/**
 * A limited capacity, in permits or bytes, that owners such as workspaces share. A request for more than is free waits. Rules limit the
 * share of one owner, the order of owners and the amount that may wait. One owner's waiting requests therefore never block the others.
 *
 * Without ranks, requests are served in order of arrival. A request never overtakes one that needs more than is free, because small
 * requests would otherwise starve large ones. Requests do overtake an owner who has reached its share. With ranks, the owner of the lowest
 * rank is first, then the owner that was served least recently.
 */
export interface Ask {
  /** Owner of the request; requests without a name share one owner. */
  readonly owner?: string;
  /** Requested amount; default 1. An amount above the capacity is granted exclusively. */
  readonly amount?: number;
  /** Memory used by the request while it waits, in bytes. */
  readonly bytes?: number;
}

export interface Owner {
  readonly id: string;
  /** Amount that is granted to the owner and not yet released. */
  readonly taken: number;
  /** Number of waiting requests. */
  readonly waiting: number;
  readonly waitingBytes: number;
}

export interface FairRules<A extends Ask> {
  /** Capacity shared by all owners. */
  readonly max: number;
  /** Returns true if an owner may be granted the additional amount. If absent, always true. */
  readonly mayHave?: (owner: Owner, amount: number) => boolean;
  /** Returns true if a request may be granted. If absent, always true. Other requests of the owner overtake a blocked one. */
  readonly mayTake?: (ask: A) => boolean;
  /** Returns the rank of an owner; lower ranks are served first. If absent, requests are served in order of arrival. */
  readonly rank?: (owner: Owner) => number;
  /**
   * Returns true if an owner may keep its waiting requests, which already include the new one. If absent, always true. Otherwise the new
   * request is rejected.
   */
  readonly mayWait?: (owner: Owner) => boolean;
  /** Maximum wait of a request, in milliseconds. If absent, unlimited. */
  readonly waitMs?: number;
  /** Creates the error of a request that may not wait, or has waited too long. */
  readonly refusal?: () => Error;
  /** Creates the error of a request whose signal aborts while it waits. If absent, the error is the signal's reason. */
  readonly gone?: (reason: unknown) => Error;
  /** Called for each granted request, before the next one is considered. */
  readonly onTake?: (ask: A) => void;
}

export interface Lease {
  /**
   * Resolves when the request is granted. Never resolves if the request is released before. Undefined if the request was granted
   * immediately.
   */
  readonly entered: Promise<void> | undefined;
  /** Reduces the granted amount to `amount` and frees the difference. */
  readonly shrink: (amount: number) => void;
  /** Releases the remaining amount, or stops waiting. Can be called repeatedly. */
  readonly release: () => void;
}

interface Place<A> {
  readonly ask: A;
  readonly owner: OwnerState<A>;
  /** Sequence number of the request by arrival, across all owners. */
  readonly number: number;
  isWaiting: boolean;
  /** Granted amount. */
  held: number;
  entry: PromiseWithResolvers<void> | undefined;
}

class OwnerState<A> implements Owner {
  readonly id: string;
  readonly queue = new Set<Place<A>>();
  taken = 0;
  waiting = 0;
  waitingBytes = 0;
  rank = 0;
  /** Sequence number of the owner's last grant, across all owners. New owners are served after owners with earlier grants. */
  lastTurn: number;

  constructor(id: string, lastTurn: number) {
    this.id = id;
    this.lastTurn = lastTurn;
  }
}

export class FairLimit<A extends Ask = Ask> {
  private readonly rules: FairRules<A>;
  private readonly owners = new Map<string, OwnerState<A>>();
  /** Owners with waiting requests. */
  private readonly queues = new Set<OwnerState<A>>();
  /** Owners without granted amount or requests. They are kept because they were served after an owner that still waits. */
  private readonly idle = new Set<OwnerState<A>>();
  private all = 0;
  private asks = 0;
  private turns = 0;
  private over: Error | undefined;

  constructor(rules: FairRules<A>) {
    this.rules = rules;
  }

  /** Sum of the amounts granted to all owners. */
  get taken(): number {
    return this.all;
  }

  /** Number of owners with a granted amount or a waiting request. */
  get busy(): number {
    return this.owners.size - this.idle.size;
  }

  /** Number of waiting requests. */
  get waiting(): number {
    return this.queues.values().reduce((sum, { waiting }) => sum + waiting, 0);
  }

  get waitingBytes(): number {
    return this.queues.values().reduce((sum, { waitingBytes }) => sum + waitingBytes, 0);
  }

  /** Returns an owner; undefined if it has no granted amount and no waiting request. */
  ownerOf(id: string): Owner | undefined {
    const owner = this.owners.get(id);
    return owner && !this.idle.has(owner) ? owner : undefined;
  }

  /**
   * Adds a request, which is granted immediately or waits, and returns its lease.
   * @throws the error of `refusal` if the request may not wait
   */
  enter(ask: A): Lease {
    return this.leaseOf(this.add(ask));
  }

  /**
   * Waits until a request is granted, and returns its lease.
   * @throws the error of `refusal` if the request may not wait or waited too long; the error of `gone` if the signal aborts; the error
   * passed to `end`
   */
  async take(ask: A, signal?: AbortSignal): Promise<Lease> {
    if (this.over) throw this.over;
    if (signal?.aborted) throw this.gone(signal);
    const place = this.add(ask);
    if (place.entry) await this.wait(place, place.entry, signal);
    return this.leaseOf(place);
  }

  /** Returns a part of an owner's granted amount to the shared capacity. */
  giveBack(id: string, amount: number): void {
    const owner = this.owners.get(id);
    if (!owner) return;
    this.all -= amount;
    owner.taken -= amount;
    this.forget(owner);
    this.letIn();
  }

  /** Rejects all waiting calls of `take` with this error. Later calls throw it. */
  end(error: Error): void {
    this.over = error;
    for (const { queue } of this.queues) for (const place of queue) this.giveUp(place, error);
  }

  /** Grants waiting requests as far as the rules allow. Call this after a rule may have changed its result. */
  letIn(): void {
    for (let place = this.first(); place && this.isFree(amountOf(place)); place = this.first()) {
      this.dequeue(place);
      this.grant(place);
    }
  }

  private grant(place: Place<A>): void {
    const { owner, ask, entry } = place;
    place.isWaiting = false;
    place.held = amountOf(place);
    this.all += place.held;
    owner.taken += place.held;
    owner.lastTurn = ++this.turns;
    if (entry) this.forgetIdle();
    this.rules.onTake?.(ask);
    entry?.resolve();
  }

  private add(ask: A): Place<A> {
    const id = ask.owner ?? "";
    const owner = this.owners.get(id) ?? new OwnerState<A>(id, this.turns - 0.5);
    this.owners.set(id, owner);
    this.idle.delete(owner);
    const place: Place<A> = { ask, owner, number: ++this.asks, isWaiting: true, held: 0, entry: undefined };
    // Most requests are granted immediately, without an entry in sets that the collector would scan (shared/limits/in-flight.ts).
    if (this.queues.size === 0 && this.mayHave(place) && this.mayTake(place) && this.isFree(amountOf(place))) {
      this.grant(place);
      return place;
    }
    owner.queue.add(place);
    owner.waiting += 1;
    owner.waitingBytes += ask.bytes ?? 0;
    this.queues.add(owner);
    this.letIn();
    if (!place.isWaiting) return place;
    if (this.rules.mayWait?.(owner) === false) {
      this.removePlace(place);
      throw this.refusal();
    }
    place.entry = Promise.withResolvers();
    return place;
  }

  private leaseOf(place: Place<A>): Lease {
    const shrink = (amount: number): void => {
      const returned = place.held - amount;
      if (returned <= 0) return;
      place.held = amount;
      this.giveBack(place.owner.id, returned);
    };
    const release = (): void => {
      if (place.isWaiting) this.removePlace(place);
      else shrink(0);
    };
    return { entered: place.entry?.promise, shrink, release };
  }

  private async wait(place: Place<A>, entry: PromiseWithResolvers<void>, signal?: AbortSignal): Promise<void> {
    const { waitMs } = this.rules;
    const timer = waitMs === undefined ? undefined : setTimeout(() => this.giveUp(place, this.refusal()), waitMs);
    const onAbort = (): void => this.giveUp(place, this.gone(signal));
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      await entry.promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Removes a waiting request and rejects it with the error. Requests behind it may then fit. */
  private giveUp(place: Place<A>, error: Error): void {
    if (!place.isWaiting) return;
    place.entry?.reject(error);
    this.removePlace(place);
  }

  private removePlace(place: Place<A>): void {
    this.dequeue(place);
    this.forget(place.owner);
    if (place.entry) this.forgetIdle();
    this.letIn();
  }

  private dequeue(place: Place<A>): void {
    const { owner, ask } = place;
    place.isWaiting = false;
    owner.queue.delete(place);
    owner.waiting -= 1;
    owner.waitingBytes -= ask.bytes ?? 0;
    if (owner.waiting === 0) this.queues.delete(owner);
  }

  private isFree(amount: number): boolean {
    return !this.over && (this.all === 0 || this.all + amount <= this.rules.max);
  }

  private mayHave(place: Place<A>): boolean {
    return this.rules.mayHave?.(place.owner, amountOf(place)) !== false;
  }

  private mayTake({ ask }: Place<A>): boolean {
    return this.rules.mayTake?.(ask) !== false;
  }

  private first(): Place<A> | undefined {
    let first: Place<A> | undefined;
    for (const owner of this.queues) {
      const place = this.firstOf(owner);
      if (!place) continue;
      owner.rank = this.rules.rank?.(owner) ?? 0;
      if (!first || this.isBefore(place, first)) first = place;
    }
    return first;
  }

  private firstOf({ queue }: OwnerState<A>): Place<A> | undefined {
    const [head] = queue;
    if (!head || !this.mayHave(head)) return undefined;
    for (const place of queue) if (this.mayTake(place)) return place;
    return undefined;
  }

  private isBefore(one: Place<A>, other: Place<A>): boolean {
    const byComing = one.number - other.number;
    if (!this.rules.rank) return byComing < 0;
    return (one.owner.rank - other.owner.rank || one.owner.lastTurn - other.owner.lastTurn || byComing) < 0;
  }

  private forget(owner: OwnerState<A>): void {
    if (owner.taken > 0 || owner.waiting > 0) return;
    if (this.rules.rank && this.queues.size > 0) this.idle.add(owner);
    else this.owners.delete(owner.id);
  }

  /** Deletes idle owners that were served before every waiting owner. If such an owner returns as a new one, its position is the same. */
  private forgetIdle(): void {
    let least = Infinity;
    for (const { lastTurn } of this.queues) least = Math.min(least, lastTurn);
    for (const owner of this.idle) {
      if (owner.lastTurn > least) continue;
      this.idle.delete(owner);
      this.owners.delete(owner.id);
    }
  }

  private refusal(): Error {
    return this.rules.refusal?.() ?? new Error("expected to be let in, and may not wait");
  }

  private gone(signal: AbortSignal | undefined): Error {
    const reason: unknown = signal?.reason;
    return this.rules.gone?.(reason) ?? (reason as Error);
  }
}

function amountOf({ ask }: { readonly ask: Ask }): number {
  return ask.amount ?? 1;
}

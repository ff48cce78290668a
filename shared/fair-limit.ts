/**
 * A bounded whole, in places or in bytes, that owners such as workspaces share. Who asks for more than is free waits, and rules say how
 * much one owner may have, who comes first and how much may wait, so that what waits for one never keeps the whole from the others.
 *
 * In the order of coming, an ask that the whole has no room for is passed by none, or small ones would keep out a large one for ever;
 * others pass where its owner may have no more. By rank, the owner of the lowest comes first, then the one whose last turn is the
 * longest ago.
 */
export interface Ask {
  /** Asks that name none are of one owner. */
  readonly owner?: string;
  /** 1 if absent. What is more than the whole has it alone. */
  readonly amount?: number;
  /** Memory that it takes while it waits. */
  readonly bytes?: number;
}

export interface Owner {
  readonly id: string;
  /** Amount that it has. */
  readonly taken: number;
  /** Number of its asks that wait. */
  readonly waiting: number;
  readonly waitingBytes: number;
}

export interface FairRules<A extends Ask> {
  /** Most that all have together. */
  readonly max: number;
  /** True if an owner may have so much more; absent: always. */
  readonly mayHave?: (owner: Owner, amount: number) => boolean;
  /** True if an ask may be let in; absent: always. Others of its owner pass one that may not. */
  readonly mayTake?: (ask: A) => boolean;
  /** Rank of an owner; absent: asks are served in the order of coming. */
  readonly rank?: (owner: Owner) => number;
  /** True if an owner may wait with all that it has waiting now; absent: always. */
  readonly mayWait?: (owner: Owner) => boolean;
  /** Longest wait in milliseconds; absent: none. */
  readonly waitMs?: number;
  /** Error of an ask that may not wait, or waits for too long. */
  readonly refusal?: () => Error;
  /** Error of an ask whose signal aborts before it is let in; absent: the signal's reason. */
  readonly gone?: (reason: unknown) => Error;
  /** Told of each ask that is let in, before the next one is looked at. */
  readonly onTake?: (ask: A) => void;
}

export interface Lease {
  /** Absent: it was let in at once. Never resolves where the lease is released before. */
  readonly entered: Promise<void> | undefined;
  /** Keeps at most this much of what was asked for. */
  readonly shrink: (amount: number) => void;
  /** Gives back what is left, or waits no more. Safe to call twice. */
  readonly release: () => void;
}

interface Place<A> {
  readonly ask: A;
  readonly owner: OwnerState<A>;
  /** Number in the order of coming, of all. */
  readonly number: number;
  isWaiting: boolean;
  /** Amount that it has. */
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
  /** Number of its last turn, of all. One that comes anew stands behind those whose turn was before. */
  lastTurn: number;

  constructor(id: string, lastTurn: number) {
    this.id = id;
    this.lastTurn = lastTurn;
  }
}

export class FairLimit<A extends Ask = Ask> {
  private readonly rules: FairRules<A>;
  private readonly owners = new Map<string, OwnerState<A>>();
  /** Owners with asks that wait. */
  private readonly queues = new Set<OwnerState<A>>();
  /** Owners that have nothing and wait for nothing, but had a turn after another that waits. */
  private readonly idle = new Set<OwnerState<A>>();
  private all = 0;
  private asks = 0;
  private turns = 0;
  private over: Error | undefined;

  constructor(rules: FairRules<A>) {
    this.rules = rules;
  }

  /** Amount that all owners have. */
  get taken(): number {
    return this.all;
  }

  /** Number of owners that have something or wait for it. */
  get busy(): number {
    return this.owners.size - this.idle.size;
  }

  /** Number of asks that wait. */
  get waiting(): number {
    return this.queues.values().reduce((sum, { waiting }) => sum + waiting, 0);
  }

  get waitingBytes(): number {
    return this.queues.values().reduce((sum, { waitingBytes }) => sum + waitingBytes, 0);
  }

  /** Undefined for one that has nothing and waits for nothing. */
  ownerOf(id: string): Owner | undefined {
    const owner = this.owners.get(id);
    return owner && !this.idle.has(owner) ? owner : undefined;
  }

  /** @throws the refusal of the rules where it may not wait */
  enter(ask: A): Lease {
    return this.leaseOf(this.add(ask));
  }

  /** Resolves when it is let in. @throws the errors of the rules, or the signal's reason */
  async take(ask: A, signal?: AbortSignal): Promise<Lease> {
    if (this.over) throw this.over;
    if (signal?.aborted) throw this.gone(signal);
    const place = this.add(ask);
    if (place.entry) await this.wait(place, place.entry, signal);
    return this.leaseOf(place);
  }

  /** Takes back some of what an owner has. */
  giveBack(id: string, amount: number): void {
    const owner = this.owners.get(id);
    if (!owner) return;
    this.all -= amount;
    owner.taken -= amount;
    this.forget(owner);
    this.letIn();
  }

  /** Ends all waits of `take`, and lets it throw from now on. */
  end(error: Error): void {
    this.over = error;
    for (const { queue } of this.queues) for (const place of queue) this.giveUp(place, error);
  }

  /** Lets in whom the rules let in. To be called where they have changed their mind. */
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
    // Most are let in at once, without a place in sets that the collector would look through (shared/in-flight.ts).
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
      this.leave(place);
      throw this.refusal();
    }
    place.entry = Promise.withResolvers();
    return place;
  }

  private leaseOf(place: Place<A>): Lease {
    const shrink = (amount: number): void => {
      const given = place.held - amount;
      if (given <= 0) return;
      place.held = amount;
      this.giveBack(place.owner.id, given);
    };
    const release = (): void => {
      if (place.isWaiting) this.leave(place);
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

  /** At once, or a turn might yet be given to it; and who stands behind it may fit where it does not. */
  private giveUp(place: Place<A>, error: Error): void {
    if (!place.isWaiting) return;
    place.entry?.reject(error);
    this.leave(place);
  }

  private leave(place: Place<A>): void {
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

  /** One that comes anew has had no turn, so nothing is lost of an owner that would stand before all who wait. */
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

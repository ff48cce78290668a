/**
 * Keeps responses in the memory of their WebSocket connection, so that its next turn can continue them. Their total size is limited, and
 * the oldest is removed first.
 */
import type { ModelResponse, ResponsesItem } from "#schemas/generated/types.ts";
import type { Lease } from "#shared/limits/fair-limit.ts";
import { callOfResponse, responseId } from "#shared/responses/ids.ts";
import {
  CONVERSATION_BYTES_MAX,
  CONVERSATION_RESPONSES_MAX,
  type ResponseStore,
  type StoredResponse,
} from "#shared/responses/store.ts";

import { withParam } from "../../core/with-param.ts";

/** Completed turn of a WebSocket connection: one request and its response. */
export interface Turn {
  readonly response: ModelResponse;
  /** Items of the turn's request. */
  readonly input: readonly ResponsesItem[];
  /** Id of the call whose response this turn continued; undefined if none. */
  readonly previous: string | undefined;
  /** True if no model was called, because the turn only provided items for the next turn. */
  readonly isWarmUp: boolean;
}

interface Remembered extends Turn {
  readonly bytes: number;
  readonly lease: Lease;
}

type Message = Readonly<Record<string, unknown>>;

export class RememberedResponses {
  /** Turns by call id, oldest first. */
  private readonly kept = new Map<string, Remembered>();
  private readonly enter: (bytes: number) => Lease | undefined;

  /**
   * Creates an empty memory for the responses of one connection.
   * @param enter reserves memory, in bytes; returns undefined if not enough is available now
   */
  constructor(enter: (bytes: number) => Lease | undefined) {
    this.enter = enter;
  }

  /** Returns a store that finds the remembered responses first, and reads all others from `base`. */
  over(base: ResponseStore): Pick<ResponseStore, "find" | "findChain"> {
    const findChain: ResponseStore["findChain"] = async (viewer, callId, reserveMemory) => {
      const local: StoredResponse[] = [];
      let next: string | undefined = callId;
      for (let entry = this.kept.get(callId); entry; entry = this.kept.get(next ?? "")) {
        local.unshift(entry);
        next = entry.previous;
      }
      const earlier = next === undefined ? [] : await base.findChain(viewer, next, reserveMemory);
      if (typeof earlier === "string") return earlier;
      return earlier.length + local.length > CONVERSATION_RESPONSES_MAX ? "long" : [...earlier, ...local];
    };
    return {
      findChain,
      find: async (viewer, callIds, reserveMemory) => {
        const local = callIds.flatMap((id) => (this.kept.has(id) ? [[id, this.kept.get(id)] as const] : []));
        const others = callIds.filter((id) => !this.kept.has(id));
        const found = others.length === 0 ? [] : await base.find(viewer, others, reserveMemory);
        return new Map([...found, ...local.flatMap(([id, entry]) => (entry ? [[id, entry] as const] : []))]);
      },
    };
  }

  /**
   * Adds the items of a warm-up to the message that continues it. The stored response then contains all items, also for other connections.
   * `refused` converts an error about the extended message, so that it names a member of the caller's message.
   */
  unfold(message: Message): { readonly message: Message; readonly refused: (error: unknown) => unknown } {
    const { previous_response_id: id, input } = message;
    const warm = typeof id === "string" ? this.kept.get(callOfResponse(id) ?? "") : undefined;
    const own = typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
    if (warm?.isWarmUp !== true || !Array.isArray(own)) return { message, refused: (error) => error };
    const { previous } = warm;
    const whole = {
      ...message,
      input: [...warm.input, ...(own as unknown[])],
      previous_response_id: previous === undefined ? null : responseId(previous),
    };
    const place = (_whole: string, at: string): string => `input[${Math.max(0, Number(at) - warm.input.length)}]`;
    return { message: whole, refused: (error) => withParam(error, (param) => param.replace(/^input\[(\d+)\]/, place)) };
  }

  /** Remembers a turn if memory is available; otherwise does nothing. */
  keep(turn: Turn): void {
    const { response, input } = turn;
    const callId = callOfResponse(response.id);
    const bytes = Buffer.byteLength(JSON.stringify({ response, input }));
    if (callId === undefined || bytes > CONVERSATION_BYTES_MAX) return;
    // The response cache may return the same response again.
    this.forget(callId);
    let own = bytes;
    for (const entry of this.kept.values()) own += entry.bytes;
    for (const [oldest, entry] of this.kept) {
      if (own <= CONVERSATION_BYTES_MAX) break;
      own -= entry.bytes;
      this.forget(oldest);
    }
    const lease = this.enter(bytes);
    if (lease) this.kept.set(callId, { ...turn, bytes, lease });
  }

  forget(callId: string): void {
    this.kept.get(callId)?.lease.release();
    this.kept.delete(callId);
  }

  forgetAll(): void {
    for (const callId of this.kept.keys()) this.forget(callId);
  }
}

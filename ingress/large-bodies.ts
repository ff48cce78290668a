/**
 * Large JSON bodies that a process handles at once: read, parsed, checked and put aside, each takes about five times its
 * size meanwhile (measured: 145 MB for an edit of 27 MB). Small ones, which nearly all are, wait for nothing.
 */
import { ApiError } from "#shared/errors.ts";
import { LIMITS } from "#shared/limits.ts";

interface Waiting {
  readonly workspaceId: string;
  readonly bytes: number;
  readonly begin: () => void;
}

export interface LargeBodiesLimits {
  readonly bytesMax: number;
  /** Of one workspace: its flood leaves room for others. */
  readonly workspaceBytesMax: number;
  readonly waitMs: number;
}

export class LargeBodies {
  private readonly limits: LargeBodiesLimits;
  private readonly held = new Map<string, number>();
  private all = 0;
  private readonly waiting: Waiting[] = [];

  constructor(limits: LargeBodiesLimits) {
    this.limits = limits;
  }

  /**
   * Resolves when there is room, with what gives it back; that may be called twice.
   * @throws ApiError `overloaded` when there is none in time; Error when the caller leaves first
   */
  async take(workspaceId: string, bytes: number, signal: AbortSignal): Promise<() => void> {
    await this.turn(workspaceId, bytes, signal);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.count(workspaceId, -bytes);
      this.next();
    };
  }

  private turn(workspaceId: string, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = (error: Error): void => {
        end();
        this.waiting.splice(this.waiting.indexOf(entry), 1);
        reject(error);
      };
      const leave = (): void => stop(new Error("the caller left"));
      const timer = setTimeout(
        () =>
          stop(
            new ApiError("overloaded", "Too many large requests are handled at once; try again shortly.", {
              headers: { "retry-after": "2" },
            }),
          ),
        this.limits.waitMs,
      );
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
      };
      const begin = (): void => {
        end();
        resolve();
      };
      const entry: Waiting = { workspaceId, bytes, begin };
      this.waiting.push(entry);
      signal.addEventListener("abort", leave, { once: true });
      if (signal.aborted) leave();
      else this.next();
    });
  }

  /** Those who wait, in their order; a workspace at its limit does not hold up the others. */
  private next(): void {
    const { bytesMax, workspaceBytesMax } = this.limits;
    const isFull = new Set<string>();
    for (const entry of this.waiting.slice()) {
      const { workspaceId, bytes } = entry;
      const own = this.held.get(workspaceId) ?? 0;
      // What is larger than a limit is handled alone.
      if (own > 0 && own + bytes > workspaceBytesMax) isFull.add(workspaceId);
      if (isFull.has(workspaceId)) continue;
      if (this.all > 0 && this.all + bytes > bytesMax) return;
      this.waiting.splice(this.waiting.indexOf(entry), 1);
      this.count(workspaceId, bytes);
      entry.begin();
    }
  }

  private count(workspaceId: string, bytes: number): void {
    this.all += bytes;
    const own = (this.held.get(workspaceId) ?? 0) + bytes;
    if (own === 0) this.held.delete(workspaceId);
    else this.held.set(workspaceId, own);
  }
}

/** What a request may bring as JSON, where that is much; 0 where it is not. */
export function largeBodyBytes({ headers }: Request, bytesMax: number): number {
  // Its body is not looked at: that alone would make a stream of it.
  const declared = headers.get("content-length");
  if (declared === null && headers.get("transfer-encoding") === null) return 0;
  if (!/^application\/json\b/i.test(headers.get("content-type") ?? "")) return 0;
  const bytes = declared === null ? bytesMax : Number(declared);
  return bytes > LIMITS.smallBodyBytesMax ? Math.min(bytes, bytesMax) : 0;
}

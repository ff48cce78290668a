/** Calls without pause from several clients, plain and streamed in turn, over all ingresses. */
import { newId } from "#shared/base/ids.ts";

import type { OpenAiServer } from "../providers/openai-compatible/server.ts";
import { storm } from "../support/storm.ts";
import { ask, type Bed } from "./bed.ts";
import { type Answer, DONE } from "./client.ts";

export interface Load {
  /** Number of calls that have been answered well so far. */
  served(): number;
  /** Lets running calls end and returns every answer. */
  stop(): Promise<Answer[]>;
}

/** The suite's few leave some of the machine to the tests beside. */
const CLIENTS = storm(5, 16);
/** A refused client waits this long before its next call, as a polite one does. */
const PAUSE_AFTER_REFUSAL_MS = 50;

export function startLoad(bed: Bed): Load {
  const models = ["flat", "metered"];
  const answers: Answer[] = [];
  const stopping = new AbortController();
  let served = 0;
  let count = 0;
  const name = newId();
  const client = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      count += 1;
      // The upstream sees this name, so a call that is sent to it twice can be told.
      const user = `${name}-${count}`;
      const body = ask(models[count % models.length] ?? "flat", count % 3 === 0 ? { user, stream: true } : { user });
      const answer = await bed.client.chat(bed.target(count % bed.stack.baseUrls.length), body);
      answers.push(answer);
      if (isServed(answer)) served += 1;
      else await Bun.sleep(PAUSE_AFTER_REFUSAL_MS);
    }
  };
  const running = Array.from({ length: CLIENTS }, client);
  return {
    served: () => served,
    async stop() {
      stopping.abort();
      await Promise.all(running);
      return answers;
    },
  };
}

/** Names of calls that the upstream got more than once. */
export function sentTwice(upstream: OpenAiServer): string[] {
  const names = upstream.requests.map((request) => (request.body as { user?: string }).user ?? "");
  return names.filter((name, at) => name !== "" && names.indexOf(name) < at);
}

/** A whole answer: 200, and for a stream its end mark. */
export function isServed(answer: Answer): boolean {
  return answer.status === 200 && !answer.isCut && (!answer.isStream || answer.frames.at(-1) === DONE);
}

/** Counts the answers of each status, for a message that explains itself. */
export function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const name = answer.status === 200 && !isServed(answer) ? "broken stream" : String(answer.status);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

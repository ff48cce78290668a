/** A client that writes down everything it was told, so that the audit can hold the answers against the books. */

export interface Answer {
  /** 0 when there was no HTTP answer at all. */
  status: number;
  headers: Headers;
  /** The body as far as it came. */
  body: string;
  /** `data:` payloads of an event stream, `[DONE]` included. */
  readonly frames: string[];
  /** Comment lines of an event stream. */
  comments: number;
  readonly isStream: boolean;
  /** The connection ended before the answer was whole. */
  isCut: boolean;
  /** We left before its end. */
  hasLeft: boolean;
  /** performance.now() of the last byte. */
  endedAt: number;
}

export interface Live {
  readonly answer: Answer;
  /** Resolves when the answer is over, however it ended. */
  readonly ended: Promise<Answer>;
  /** Resolves when `count` frames have come. @throws when the answer ends before */
  frames(count: number): Promise<void>;
  /** Closes the connection. */
  leave(): void;
}

export interface Client {
  readonly answers: readonly Answer[];
  /** One call to its end. */
  chat(target: Target, body: Record<string, unknown>): Promise<Answer>;
  /** Resolves once the answer's head is here. */
  open(target: Target, body: Record<string, unknown>): Promise<Live>;
  /** A call whose head has not come yet, to be left early. */
  begin(target: Target, body: Record<string, unknown>): { head: Promise<Live>; leave: () => void };
}

export interface Target {
  readonly url: string;
  readonly key: string;
  /** Chat completions unless set. */
  readonly path?: string;
}

export const DONE = "[DONE]";
export const CHAT_PATH = "/v1/chat/completions";

/** The `x-request-id` of an answer, which is also the job's id. */
export function requestId(answer: Answer): string {
  return answer.headers.get("x-request-id") ?? "";
}

/** The error code of an envelope or of a stream's last frame; undefined when there is none. */
export function errorCode(answer: Answer): string | undefined {
  const text = answer.isStream ? (answer.frames.at(-1) ?? "") : answer.body;
  try {
    return (JSON.parse(text) as { error?: { code?: string } }).error?.code;
  } catch {
    return undefined;
  }
}

/** The text a stream has brought so far. */
export function streamedText(answer: Answer): string {
  return answer.frames
    .filter((frame) => frame !== DONE)
    .map((frame) => (JSON.parse(frame) as Chunk).choices?.[0]?.delta?.content ?? "")
    .join("");
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
}

export function createClient(): Client {
  const answers: Answer[] = [];
  const begin: Client["begin"] = (target, body) => {
    const controller = new AbortController();
    let live: Live | undefined;
    const leave = (): void => {
      if (live) live.answer.hasLeft = true;
      controller.abort();
    };
    const head = send(target, body, controller, answers).then((opened) => {
      live = { ...opened, leave };
      return live;
    });
    head.catch(() => undefined);
    return { head, leave };
  };
  return {
    answers,
    begin,
    open: (target, body) => begin(target, body).head,
    chat: async (target, body) => (await begin(target, body).head).ended,
  };
}

async function send(
  target: Target,
  body: Record<string, unknown>,
  controller: AbortController,
  answers: Answer[],
): Promise<Omit<Live, "leave">> {
  const isStream = body["stream"] === true;
  let response: Response;
  try {
    response = await fetch(target.url + (target.path ?? CHAT_PATH), {
      method: "POST",
      headers: { authorization: `Bearer ${target.key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: controller.signal,
      // A pooled connection to a process that was killed would fail the next call.
      keepalive: false,
    });
  } catch (error) {
    const answer = blank(0, new Headers(), isStream);
    answer.isCut = true;
    answer.hasLeft = controller.signal.aborted;
    answer.body = String(error);
    answers.push(answer);
    return { answer, ended: Promise.resolve(answer), frames: () => Promise.reject(new Error("no answer")) };
  }
  const isEvents = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const answer = blank(response.status, response.headers, isEvents);
  answers.push(answer);
  const waiters = new Set<() => void>();
  const wakeAll = (): void => {
    for (const wake of waiters) wake();
  };
  let isOver = false;
  const ended = read(response, answer, wakeAll).finally(() => {
    isOver = true;
    wakeAll();
  });
  return {
    answer,
    ended,
    frames: (count) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (answer.frames.length >= count) resolve();
          else if (isOver) reject(new Error(`the answer ended after ${answer.frames.length} frames: ${answer.body}`));
          else return;
          waiters.delete(check);
        };
        waiters.add(check);
        check();
      }),
  };
}

async function read(response: Response, answer: Answer, onData: () => void): Promise<Answer> {
  const decoder = new TextDecoder();
  let taken = 0;
  try {
    for await (const bytes of response.body ?? []) {
      answer.body += decoder.decode(bytes as Uint8Array, { stream: true });
      if (answer.isStream) taken = takeEvents(answer, taken);
      onData();
    }
  } catch {
    answer.isCut = true;
  }
  answer.endedAt = performance.now();
  return answer;
}

/** Reads whole events from `from` on; returns where the next one begins. */
function takeEvents(answer: Answer, from: number): number {
  let start = from;
  for (;;) {
    const end = answer.body.indexOf("\n\n", start);
    if (end < 0) return start;
    for (const line of answer.body.slice(start, end).split("\n")) {
      if (line.startsWith("data: ")) answer.frames.push(line.slice("data: ".length));
      else if (line.startsWith(":")) answer.comments += 1;
    }
    start = end + 2;
  }
}

function blank(status: number, headers: Headers, isStream: boolean): Answer {
  return { status, headers, body: "", frames: [], comments: 0, isStream, isCut: false, hasLeft: false, endedAt: 0 };
}

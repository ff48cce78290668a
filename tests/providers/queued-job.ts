/**
 * Contract of an adapter that queues jobs at a provider. The tests of a provider are its table: what it sends, what it makes of each
 * answer, and how its jobs are found and stopped. The questions that are the same for all are asked here.
 */
import { describe, expect, test } from "bun:test";

import type {
  Artifact,
  Found,
  LostStart,
  Polled,
  ProviderJob,
  QueuedAdapter,
  StartCall,
} from "#workers/providers/media.ts";
import type { ProviderErrorClass } from "#workers/providers/provider.ts";

import { jsonReply, type Members, ok, redirect, type Reply, VENDOR_MARK } from "./engine/behaviour.ts";
import { type CallChanges, failureOf, never, openOf, overriding, statesOf, stored } from "./engine/calls.ts";
import type { JobServer, Script } from "./engine/jobs.ts";
import type { RecordedCall } from "./engine/recorder.ts";
import { mp4Of, videoReply } from "./video-calls.ts";

type Made = readonly Artifact[];
type Poll<Own extends Script> = NonNullable<Own["polls"]>[number];
/** Members of the error that is expected. */
type Failure = Readonly<Record<string, unknown>> & { readonly kind?: ProviderErrorClass };

/** A server that plays scripts, and the adapter of it. */
export interface JobPlace<Input> {
  readonly server: Pick<
    JobServer<unknown, string, Script>,
    "requests" | "received" | "jobs" | "charged" | "url" | "filesUrl" | "nextLists" | "close"
  >;
  /** Another server that nothing may be asked of before a call is known to be right. */
  readonly beside?: { readonly requests: readonly RecordedCall[] };
  readonly adapter: QueuedAdapter<Input, Made>;
  /** Opens the adapter that another process would have. */
  readonly another: () => QueuedAdapter<Input, Made>;
}

/** A call, as far as a row says how it differs from the usual one. */
export type CallOf<Input> = CallChanges & { readonly input?: Partial<Input> };

/** Ways in which a job is found whose start went unanswered. */
export interface Finding<Input> {
  /** The job that a ring tells of, by its name; absent where nobody rings. */
  readonly rung?: (id: string) => ProviderJob;
  /** Addresses that nobody rings at, where only a ring finds it. */
  readonly unrung?: readonly (string | undefined)[];
  /** A call for something else, where jobs are listed. */
  readonly listedWith?: CallOf<Input>;
}

/** Facts that hold of every job of a vendor and kind, whatever is asked of it. */
export interface JobBase<Input, Own extends Script = Script> {
  open(this: void, ...scripts: readonly Own[]): JobPlace<Input>;
  readonly call: (asked: CallOf<Input>) => StartCall<Input>;
  /** Null: nothing finds it. */
  readonly find: Finding<Input> | null;
  /** Each start's, but for what a row says. */
  readonly request: object;
  readonly words: { readonly waits: Poll<Own>; readonly runs: Poll<Own>; readonly done: Poll<Own> };
  /** A status that nobody knows. */
  readonly strange: Poll<Own>;
  /** An answer about another job. */
  readonly another: Poll<Own>;
  /** Members of the first answer to a job of this name. */
  readonly receipt: (id: unknown) => Members;
  /** Names that are none, beside those that are none anywhere. */
  readonly noNames?: readonly unknown[];
  /** Stored jobs of others, or spoilt ones. */
  readonly strangers: readonly ProviderJob[];
  /** Requests that stop a job that waits, such as `PUT /jobs/1/cancel`; null where nothing can be stopped. */
  readonly cancel: ((job: ProviderJob) => readonly string[]) | null;
}

export interface JobTable<Input, Own extends Script = Script> extends JobBase<Input, Own> {
  /** Test "is asked for …": the call, its body, and what else holds of its request. The server here need not know what an unknown one names. */
  readonly sends: readonly (readonly [
    what: string,
    asked: CallOf<Input>,
    body: unknown,
    request?: object,
    isUnknown?: true,
  ])[];
  /** Test "is not asked for …": nothing is sent. The failure is `misconfigured` unless said. */
  readonly unsent: readonly (readonly [what: string, asked: CallOf<Input>, failure?: Failure])[];
  /** The whole life of a job. */
  readonly life: {
    readonly asked?: CallOf<Input>;
    readonly script?: Own;
    readonly told: (job: ProviderJob, place: JobPlace<Input>) => readonly Polled<Made>[];
    /** Requests after the start; those that read the file come last. */
    readonly requests: (job: ProviderJob) => readonly string[];
    readonly file: Uint8Array;
    /** It is read from the provider itself. */
    readonly isOwn?: true;
  };
  /** Test "whose start is answered with …". */
  readonly starts?: readonly (readonly [what: string, start: Reply, failure: Failure])[];
  /** Test "may come as …": artifacts and usage. */
  readonly done?: readonly (readonly [
    what: string,
    script: Own,
    output: readonly object[],
    usage?: object,
    asked?: CallOf<Input>,
  ])[];
  /** Test "that tells of … is waited for". */
  readonly pending?: readonly (readonly [what: string, script: Own, progress?: number])[];
  /** Test "that ended with … has failed". */
  readonly failed?: readonly (readonly [what: string, script: Own, failure: Failure, asked?: CallOf<Input>])[];
  /** Test "that tells of … is left open". */
  readonly unclear?: readonly (readonly [what: string, script: Own, asked?: CallOf<Input>])[];
}

/** Shorter words for what callers are told. */
export const badRequest = (param: string | null): Failure => ({ kind: "rejected", code: "invalid_request", param });
export const badValue = (param: string): Failure => ({ kind: "rejected", code: "unsupported_value", param });
export const badInput = (param: string): Failure => ({ kind: "rejected", code: "unprocessable_input", param });
export const fault = (kind: ProviderErrorClass): Failure => ({ kind });

/** Rows of starts for a family's named errors, by the class of each. */
export function namedErrors<Name extends string>(
  errors: Readonly<Record<Name, Reply>>,
  names: { readonly [Kind in ProviderErrorClass]?: readonly Name[] },
): (readonly [what: string, start: Reply, failure: Failure])[] {
  const kinds = Object.keys(names) as ProviderErrorClass[];
  return kinds.flatMap((kind) => (names[kind] ?? []).map((name) => [name, errors[name], fault(kind)] as const));
}

export function describeQueuedJob<Input, Own extends Script>(name: string, own: JobTable<Input, Own>): void {
  const table: JobTable<Input> = own;
  describe(name, () => {
    testRequests(table);
    testLife(table);
    testStarts(table);
    testPolls(table);
    testOutcomes(table);
    testReading(table);
    if (table.cancel) testCancel(table, table.cancel);
    else
      test("cannot be cancelled, and reports that", () => {
        expect(table.open().adapter).not.toHaveProperty("cancel");
      });
    if (table.find) testFinding(table, table.find);
    else
      test("stores nothing that finds a job whose start was not answered", async () => {
        for (const callbackUrl of [undefined, RING]) expect(await marksOf(table, callbackUrl)).toEqual([null]);
      });
  });
  describePaidStart(name, (start) => begin(table, { start }));
}

/** Asks for the finding alone, of jobs that have a longer life than the contract knows. */
export function describeFinding<Input, Own extends Script>(name: string, own: JobBase<Input, Own>): void {
  describe(name, () => testFinding(own, own.find ?? {}));
}

const RING = "https://sluice.example/v1/provider-callbacks/1/t?start=2";

/** An answer that would never end. */
export const endless: Reply = {
  kind: "custom",
  async play(_request, wire) {
    await wire.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999999999\r\n\r\n{");
    await wire.wait(Infinity);
  },
};

/** A failure in the words of any provider. */
const VERDICT = { id: "v1_a", name: "x", status: "failed", done: true, error: { code: 3, message: "no" } };

/** Answers that say nothing of a job, whoever it is asked of. */
const SILENT: readonly (readonly [string, Reply])[] = [
  ["no JSON", ok("<html>")],
  ["nothing", ok({})],
  ["a cut", "cut"],
  ["a reset", "reset"],
  ["bytes without end", endless],
];

function begin<Input>({ open, call }: JobTable<Input>, script: Script): Promise<ProviderJob> {
  return open(script).adapter.start(call({}));
}

/** A job that was begun where this script is played. */
async function begun<Input>({ open, call }: JobTable<Input>, script: Script, asked: CallOf<Input> = {}) {
  const place = open(script);
  const job = await place.adapter.start(call(asked));
  return { place, job, poll: (signal = never) => place.adapter.poll(job, signal) };
}

/** Returns the outcome of a job that is said to be done when it is first asked about. */
async function outcomeOf<Input>(table: JobTable<Input>, script: Script, asked?: CallOf<Input>): Promise<Polled<Made>> {
  const { poll } = await begun(table, { polls: [table.words.done], ...script }, asked);
  return poll();
}

const sentOf = ({ requests }: JobPlace<never>["server"]): string[] =>
  requests.map(({ method, path }) => `${method} ${path}`);

function testRequests<Input>(table: JobTable<Input>): void {
  for (const [what, asked, body, request, isUnknown] of table.sends) {
    test(`is requested with ${what}`, async () => {
      const { server, adapter } = table.open();
      const started = adapter.start(table.call(asked));
      if (isUnknown) await failureOf(started);
      else await started;
      expect(server.requests).toMatchObject([{ ...table.request, ...request }]);
      expect(server.requests[0]?.body).toEqual(body);
    });
  }

  test("is changed by its source last", async () => {
    const { server, adapter } = table.open();
    await adapter.start(table.call(overriding({ of_its_source: "vivid" }))).catch(() => undefined);
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain('"of_its_source":"vivid"');
  });

  for (const [what, asked, failure = fault("misconfigured")] of table.unsent) {
    test(`is not requested with ${what}`, async () => {
      const { server, beside, adapter } = table.open();
      expect(await failureOf(adapter.start(table.call(asked)))).toMatchObject(failure);
      expect([...server.requests, ...(beside?.requests ?? [])]).toEqual([]);
    });
  }

  test("is recorded just before it is sent, and not sent without the record", async () => {
    const { server, adapter } = table.open();
    const noted: unknown[] = [];
    const noteStart = async (mark: unknown): Promise<void> =>
      void noted.push([server.charged, mark === null || typeof mark === "object"]);
    await adapter.start(table.call({ noteStart }));
    expect([noted, server.charged]).toEqual([[[0, true]], 1]);
    const away = adapter.start(table.call({ noteStart: () => Promise.reject(new Error("the database is away")) }));
    expect(await away.catch((error: unknown) => String(error))).toBe("Error: the database is away");
    expect(server.charged).toBe(1);
  });

  test("is not started for a caller that has disconnected, nor at a server that has just answered", async () => {
    const { server, adapter } = table.open();
    await adapter.start(table.call({}));
    const sent = [...server.requests];
    expect(await failureOf(adapter.start(table.call({ signal: AbortSignal.abort() })))).toMatchObject({
      kind: "aborted",
      isUnsent: true,
    });
    expect(server.requests).toEqual(sent);
  });
}

function testLife<Input>(table: JobTable<Input>): void {
  const { asked, script = {}, told, requests, file } = table.life;

  test("is found by a process with the stored record only, and ends with its file", async () => {
    const { place, job } = await begun(table, script, asked);
    const [adapter, kept] = [place.another(), stored(job)];
    let last: Polled<Made> | undefined;
    for (const expected of told(job, place)) {
      last = await adapter.poll(kept, never);
      expect(last).toEqual(expected);
    }
    expect(file.length > 0 && Buffer.from(await readFile(last)).equals(file)).toBeTrue();
    expect(sentOf(place.server).slice(1)).toEqual([...requests(job)]);
    expect(place.server.charged).toBe(1);
  });
}

/** The bytes of what a job made: an address is read as any stranger would. */
async function readFile(polled: Polled<Made> | undefined): Promise<Uint8Array> {
  const artifact = polled?.state === "done" ? polled.output[0] : undefined;
  if (!artifact) throw new Error(`expected a job that is done, got ${JSON.stringify(polled)}`);
  if ("bytes" in artifact) return artifact.bytes;
  return "url" in artifact ? (await fetch(artifact.url)).bytes() : new Response(await artifact.open(never)).bytes();
}

function testStarts<Input>(table: JobTable<Input>): void {
  for (const [what, start, failure] of table.starts ?? []) {
    test(`whose start is answered with ${what} is ${failure.kind ?? "rejected"}`, async () => {
      const { server, adapter } = table.open({ start });
      const error = await failureOf(adapter.start(table.call({})));
      expect(error).toMatchObject({ isUnsent: false, ...failure });
      expect(`${error.message} ${error.say ?? ""}`).not.toContain(VENDOR_MARK);
      expect([server.requests.length, server.charged]).toEqual([1, 0]);
    });
  }

  test("contains the provider's retry time, if any", async () => {
    const start = jsonReply(429, {}, { "retry-after": "3" });
    expect(await failureOf(begin(table, { start }))).toMatchObject({ kind: "busy", retryAfterMs: 3_000 });
  });

  test.each(SILENT)("whose start is answered with %s may have started", async (_what, start) => {
    expect(await failureOf(begin(table, { start }))).toMatchObject({ kind: "unknown", isUnsent: false });
  });

  const none = [undefined, null, 7, "", "../../account", "..", "a?b", "a b", {}, ["a"], "x".repeat(999)];
  for (const id of [...none, ...(table.noNames ?? [])]) {
    const name = (id === undefined ? "none" : JSON.stringify(id)).slice(0, 40);
    test(`accepted under the name ${name} exists, and cannot be polled`, async () => {
      expect(await failureOf(begin(table, { receipt: table.receipt(id) }))).toMatchObject({ kind: "unknown" });
    });
  }

  test("whose start was lost may be charged: it is unknown, and not started again, on a reused connection either", async () => {
    const { server, adapter } = table.open({}, { start: "lost" });
    await adapter.start(table.call({}));
    const before = server.requests.length;
    const lost = await failureOf(adapter.start(table.call({})));
    expect(lost).toMatchObject({ kind: "unknown", isUnsent: false, status: undefined });
    expect([server.charged, server.requests.length]).toEqual([2, before + 1]);
  });

  test("whose caller disconnected after it was sent may have started", async () => {
    const { server, adapter } = table.open({ start: "hang" });
    const caller = new AbortController();
    const left = failureOf(adapter.start(table.call({ signal: caller.signal })));
    await server.received(1);
    caller.abort();
    expect(await left).toMatchObject({ kind: "unknown", isUnsent: false });
    expect(server.requests).toHaveLength(1);
  });

  test("whose start was never sent is reported as unsent", async () => {
    const { server, adapter } = table.open();
    server.close();
    expect(await failureOf(adapter.start(table.call({})))).toMatchObject({ kind: "failed", isUnsent: true });
  });

  test("whose start is redirected has failed, and is not followed", async () => {
    expect(await failureOf(begin(table, { start: redirect }))).toMatchObject({ kind: "failed", isUnsent: false });
  });
}

function testPolls<Input>(table: JobTable<Input>): void {
  const { waits, runs, done } = table.words;
  const gateway = jsonReply(502, "<html>");

  test.each<[string, Script["polls"]]>([
    ...SILENT.map(([what, reply]): [string, Script["polls"]] => [what, [reply]]),
    ["a list", [ok([])]],
    ["a fault", [jsonReply(500, { detail: "oops" })]],
    ["a verdict's shape beside a fault", [jsonReply(500, VERDICT)]],
    ["a gateway's page", [gateway]],
    ["a bad request", [jsonReply(400, { detail: "no", error: { code: "moderation_blocked", message: "no" } })]],
    ["a key that is no longer taken", [jsonReply(401, { detail: "no" })]],
    ["an empty account", [jsonReply(402, { title: "Insufficient credit" })]],
    ["not found", [jsonReply(404, { detail: "not found" })]],
    ["a wrong method", [jsonReply(405, { detail: "Method Not Allowed" })]],
    ["gone", [jsonReply(410, "")]],
    ["too many polls", [jsonReply(429, {})]],
    ["a redirect", [redirect]],
    ["a status that nobody knows", [table.strange]],
    ["another job", [table.another]],
  ])("stays open after a poll that is answered with %s", async (_what, polls = []) => {
    const { place, poll } = await begun(table, { polls });
    expect(await poll()).toMatchObject({ state: "unknown" });
    expect(place.server.charged).toBe(1);
  });

  test("stays open after a poll that its caller aborted", async () => {
    const { poll } = await begun(table, { polls: ["hang"] });
    expect(await poll(AbortSignal.timeout(20))).toMatchObject({ state: "unknown" });
  });

  test("continues through failed polls and invalid states, and is charged once", async () => {
    const polls = [runs, gateway, "cut", waits, table.strange, runs, done];
    const { place, poll } = await begun(table, { polls });
    const states = await statesOf(() => poll(), polls.length);
    expect(states).toEqual(["pending", "unknown", "unknown", "pending", "unknown", "pending", "done"]);
    expect(place.server.charged).toBe(1);
  });

  test("that never ends is pending each time", async () => {
    const { poll } = await begun(table, { polls: [runs] });
    expect(await statesOf(() => poll(), 3)).toEqual(["pending", "pending", "pending"]);
  });

  const others = [{}, { request_id: "x", status_path: "https://evil.example/" }, { id: "../../account" }];
  test.each([...others, ...table.strangers])("does not poll a foreign job: %j", async (job) => {
    const { server, beside, adapter } = table.open();
    expect(await adapter.poll(job, never)).toMatchObject({ state: "unknown" });
    await adapter.cancel?.(job, never);
    expect([...server.requests, ...(beside?.requests ?? [])]).toEqual([]);
  });
}

function testOutcomes<Input>(table: JobTable<Input>): void {
  for (const [what, script, output, usage = {}, asked] of table.done ?? []) {
    test(`may return ${what}`, async () => {
      expect(await outcomeOf(table, script, asked)).toEqual({ state: "done", output: output as Made, usage });
    });
  }

  for (const [what, script, progress] of table.pending ?? []) {
    test(`that reports ${what} continues`, async () => {
      const expected = { state: "pending", ...(progress === undefined ? {} : { progress }) } as const;
      expect(await outcomeOf(table, script)).toEqual(expected);
    });
  }

  for (const [what, script, failure, asked] of table.failed ?? []) {
    test(`that ended with ${what} has failed: ${failure.kind ?? "rejected"}`, async () => {
      const { place, poll } = await begun(table, { polls: [table.words.done], ...script }, asked);
      const polled = await poll();
      expect(polled).toMatchObject({ state: "failed", error: failure });
      const { message, say = "" } = polled.state === "failed" ? (polled.error as Error & { say?: string }) : {};
      expect(`${message} ${say}`).not.toContain(VENDOR_MARK);
      expect(place.server.jobs).toHaveLength(1);
    });
  }

  for (const [what, script, asked] of table.unclear ?? []) {
    test(`that reports ${what} stays open`, async () => {
      expect(await outcomeOf(table, script, asked)).toMatchObject({ state: "unknown" });
    });
  }
}

/** Questions to a file that is read from the provider itself; a public address is the reader's matter. */
function testReading<Input>(table: JobTable<Input>): void {
  if (!table.life.isOwn) return;
  const opened = async (file: Reply, signal = never): Promise<ReadableStream<Uint8Array>> =>
    openOf(await outcomeOf(table, { file }), signal);

  test.each<[string, Reply]>([
    ["gone", jsonReply(404, { error: { message: "expired" } })],
    ["refused", jsonReply(401, { error: { message: "no" } })],
    ["a page", { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body: "<html>" }],
    ["its description", ok({ name: "files/abc", state: "ACTIVE" })],
    ["an error inside a 200", ok({ error: { message: "no" } })],
    ["a redirect to nowhere", jsonReply(302, "")],
    ["a redirect inside, which is not followed", jsonReply(302, "", { location: "http://10.0.0.1/v" })],
    ["a reset", "reset"],
  ])("whose file is %s fails before its first byte", async (_what, file) => {
    expect((await failureOf(opened(file))).kind).toBe("failed");
  });

  test("whose file is truncated fails its stream", async () => {
    const stream = await opened(videoReply(mp4Of(4), { cut: { afterBytes: 100, how: "fin" } }));
    expect((await failureOf(new Response(stream).bytes())).kind).toBe("failed");
  });

  test("whose file has no reader any longer is aborted", async () => {
    expect((await failureOf(opened("hang", AbortSignal.timeout(50)))).kind).toBe("aborted");
  });
}

function testCancel<Input>(table: JobTable<Input>, requestsOf: (job: ProviderJob) => readonly string[]): void {
  const { waits, done } = table.words;

  test("is cancelled in its provider's way", async () => {
    const { place, job } = await begun(table, { polls: [waits] });
    await place.another().cancel?.(stored(job), never);
    expect(sentOf(place.server).slice(1)).toEqual([...requestsOf(job)]);
  });

  test.each<[string, Reply]>([
    ["comes too late", jsonReply(400, { status: "ALREADY_COMPLETED" })],
    ["is refused", jsonReply(403, { detail: "no" })],
    ["finds nothing", jsonReply(404, { detail: "not found" })],
    ["is answered with a conflict", jsonReply(409, { message: "Task is in progress" })],
    ["is answered with a fault", jsonReply(500, { error: { message: "oops" } })],
    ["leads elsewhere", redirect],
    ["is lost", "reset"],
  ])("leaves its outcome to the next poll when its cancel %s", async (_what, cancel) => {
    const { place, job, poll } = await begun(table, { polls: [waits, waits, done], cancel });
    const asked = place.adapter.cancel?.(job, never);
    // Nobody may be told that it was stopped; that it could not be asked may be said.
    if (cancel === "reset" && requestsOf(job).length > 0)
      expect((await failureOf(asked ?? Promise.resolve())).kind).toBe("failed");
    else expect(await asked).toBeUndefined();
    // Who looks before it cancels has read the first of them.
    const states = await statesOf(() => poll(), 3);
    expect([states[0], states.at(-1)]).toEqual(["pending", "done"]);
  });
}

/** Marks that a call's start is noted with. */
async function marksOf<Input>({ open, call }: JobBase<Input>, callbackUrl?: string): Promise<unknown[]> {
  const marks: unknown[] = [];
  const noteStart = async (mark: unknown): Promise<void> => void marks.push(mark);
  await open().adapter.start(call({ noteStart, ...(callbackUrl === undefined ? {} : { callbackUrl }) }));
  return marks;
}

/** Begins a job and returns what is left of it when its answer is lost: what was noted before it was sent. */
export async function lose<Input>(
  queue: Pick<QueuedAdapter<Input, unknown>, "start" | "find">,
  call: StartCall<Input>,
): Promise<LostStart & { readonly found: (told?: string) => Promise<Found> }> {
  let lost: LostStart | undefined;
  const noteStart = async (mark: ProviderJob | null): Promise<void> => {
    lost = { mark: stored(mark ?? {}), sentMs: Date.now() };
  };
  expect(await failureOf(queue.start({ ...call, noteStart }))).toMatchObject({ kind: "unknown" });
  if (!lost) throw new Error("nothing was noted");
  const known = lost;
  const found = async (callbackJobName?: string): Promise<Found> => {
    const asked = await queue.find?.(
      { ...known, ...(callbackJobName === undefined ? {} : { callbackJobName }) },
      never,
    );
    if (!asked) throw new Error("it cannot be looked for");
    return asked;
  };
  return { ...known, found };
}

function testFinding<Input>(table: JobBase<Input>, { rung, unrung = [], listedWith: other }: Finding<Input>): void {
  const call = table.call(rung ? { callbackUrl: RING } : {});
  const lost = async (...scripts: readonly Script[]) => {
    const { server, adapter } = table.open(...scripts);
    if (scripts.length > 1 && other) await adapter.start(table.call(other));
    return { server, adapter, ...(await lose(adapter, call)) };
  };

  if (rung) {
    test("whose start was lost is known by the name in its callback", async () => {
      const { server, adapter, mark, found } = await lost({ start: "lost" });
      const id = server.jobs[0]?.id ?? "";
      for (const text of textsOf(call.input)) expect(JSON.stringify(mark)).not.toContain(text);
      expect(await found(id)).toEqual({ state: "found", job: rung(id) });
      expect((await adapter.poll(rung(id), never)).state).toBe("pending");
      for (const told of [undefined, "", "../../account"]) {
        expect(await found(told)).toMatchObject({ state: other ? "listed" : "unknown" });
      }
    });
  }

  test.each(unrung)("without a callback address for %p stores nothing", async (address) => {
    expect(await marksOf(table, address)).toEqual([null]);
  });

  if (!other) return;
  test.each<[string, Script]>([
    ["was lost on the way", { start: "lost" }],
    ["a gateway has no answer of", { answer: jsonReply(502, "<html>") }],
  ])("whose start %s is found by its input, of which the record contains only a hash", async (_how, script) => {
    const { server, adapter, mark, found } = await lost({}, script);
    for (const text of textsOf(call.input)) expect(JSON.stringify(mark)).not.toContain(text);
    const { id: name = "", createdMs } = server.jobs[1] ?? {};
    const asked = await found();
    const alike = [{ name, createdMs: createdMs ?? 0 }];
    expect(asked).toMatchObject({ state: "listed", alike, unclear: [], mayRing: rung !== undefined });
    const job = asked.state === "listed" ? (asked.alike[0]?.job ?? {}) : {};
    expect([adapter.nameOf?.(job), (await adapter.poll(job, never)).state]).toEqual([name, "pending"]);
    // One list: the job is submitted once.
    expect(server.requests.filter(({ method }) => method === "POST")).toHaveLength(2);
  });

  test("whose start was not accepted is in no list, whatever else it contains", async () => {
    const { found } = await lost({}, { start: "reset" });
    expect(await found()).toMatchObject({ state: "listed", alike: [], unclear: [] });
  });

  test.each<[string, Reply]>([
    ["is down", jsonReply(502, "<html>")],
    ["has no room", jsonReply(503, {})],
    ["is cut", "cut"],
    ["is no JSON", ok("<html>")],
    ["has no results", ok({ next: null, tasks: [] })],
    ["wants another key", jsonReply(401, {})],
    ["leads elsewhere", redirect],
  ])("whose start was lost is neither found nor ended while the list %s", async (_how, reply) => {
    const { server, found } = await lost({}, { start: "lost" });
    server.nextLists(reply);
    expect(await found().catch(() => ({ state: "unknown" }))).toMatchObject({ state: "unknown" });
    expect(await found()).toMatchObject({ state: "listed", alike: [{}] });
  });
}

/** Texts of a call that its caller wrote. */
function textsOf(input: unknown): string[] {
  return Object.values(input as Members).filter((value) => typeof value === "string" && value.length > 4) as string[];
}

/** Statuses of a start that is paid for, in a queue or in one exchange. */
export function describePaidStart(name: string, start: (reply: Reply) => Promise<unknown>): void {
  describe(name, () => {
    test.each([408, 502, 504, 520, 522, 524])("that is answered with %i may have started", async (status) => {
      for (const body of ["<html>", "{}"]) {
        expect(await failureOf(start({ status, body }))).toMatchObject({ kind: "unknown", status, isUnsent: false });
      }
    });

    test.each([
      [500, "failed"],
      [501, "failed"],
      [503, "busy"],
      // Cloudflare's own: the vendor behind it took no connection.
      [521, "failed"],
      [523, "failed"],
      [429, "busy"],
      [402, "misconfigured"],
    ] as const)("that is answered with %i did not start: it is %s", async (status, kind) => {
      expect(await failureOf(start({ status, body: "{}" }))).toMatchObject({ kind, status, isUnsent: false });
    });
  });
}

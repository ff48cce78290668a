/**
 * Jobs at a local provider: submit, poll, result, cancel, and the files they lead to. Each submit takes the next script; a job
 * plays its own polls, of which the last one stays.
 */
import { type Fault, jsonReply, type Members, type Reply, type ReplyBehaviour } from "./behaviour.ts";
import { type RecordedCall, type Recorder, startRecorder } from "./recorder.ts";

export interface Script<Word extends string = string> {
  /** In place of taking the job; "lost" takes it and resets before the answer. */
  readonly start?: Reply | "lost";
  /** In place of the first answer of a job that was taken, such as a gateway's page. */
  readonly answer?: Reply;
  /** The number of lists without it before it shows. */
  readonly listedAfter?: number;
  /** Members of the first answer laid over the true ones; undefined leaves one out. */
  readonly receipt?: Members;
  /** In order; words are the vendor's statuses. Unset: as a flawless job goes. */
  readonly polls?: readonly (Reply | Word | Told)[];
  /** Members of every answer about the job laid over the true ones; Replicate's of its end alone. */
  readonly task?: Members;
  /** In place of what was made. */
  readonly result?: Reply;
  /** In place of the files that the result leads to. */
  readonly file?: Reply;
  readonly cancel?: Reply;
  /** In place of taking a file that comes before the start. */
  readonly upload?: Reply;
}

/** Members laid over what a job says of itself. */
interface Told {
  readonly members: Members;
}

export interface Job<Facts, Word extends string, Own extends Script<Word> = Script<Word>> {
  readonly id: string;
  readonly facts: Facts;
  readonly script: Own;
  /** Unix milliseconds. */
  readonly createdMs: number;
  /** Status that the vendor last reported. */
  status: Word;
  asked: number;
  /** The number of lists asked for since. */
  lists: number;
}

export interface JobBook<Facts, Word extends string, Own extends Script<Word>> {
  /** The jobs that were taken, by id. */
  readonly jobs: Map<string, Job<Facts, Word, Own>>;
  next(...scripts: readonly Own[]): void;
  /** Returns the next script's reply to the upload that precedes its start. */
  upload(): Reply | undefined;
  /** Takes the next script: its own answer, the check's refusal, or a job and its receipt. */
  start(
    check: () => ReplyBehaviour | { readonly facts: Facts },
    receiptOf: (job: Job<Facts, Word, Own>) => ReplyBehaviour,
  ): Reply;
  /** The next fault of lists, or those jobs that show, the newest first. */
  list(answerOf: (jobs: readonly Job<Facts, Word, Own>[]) => ReplyBehaviour): Reply;
  nextLists(...replies: readonly Reply[]): void;
  /** The next answer of a job; members stand for those of its last status. */
  poll(job: Job<Facts, Word, Own>, answerOf: (status: Word, more?: Members) => ReplyBehaviour): Reply;
}

export interface BookOptions<Word extends string> {
  /** Statuses of a flawless job, in order. */
  readonly plain: readonly [Word, ...Word[]];
  readonly newId?: () => string;
}

export function jobBook<Facts, Word extends string, Own extends Script<Word> = Script<Word>>({
  plain,
  newId = () => crypto.randomUUID(),
}: BookOptions<Word>): JobBook<Facts, Word, Own> {
  const scripts: Own[] = [];
  const jobs = new Map<string, Job<Facts, Word, Own>>();
  const lists: Reply[] = [];
  return {
    jobs,
    nextLists: (...next) => void lists.splice(0, lists.length, ...next),
    list(answerOf) {
      const fault = lists.shift();
      if (fault !== undefined) return fault;
      const shown = [...jobs.values()].filter((job) => job.lists++ >= (job.script.listedAfter ?? 0));
      return answerOf(shown.toReversed());
    },
    next: (...more) => void scripts.push(...more),
    upload: () => scripts[0]?.upload,
    start(check, receiptOf) {
      const script = scripts.shift() ?? ({} as Own);
      const { start } = script;
      if (start !== undefined && start !== "lost") return start;
      const checked = check();
      if ("status" in checked) return checked;
      const told = { status: plain[0], asked: 0, lists: 0 };
      const job: Job<Facts, Word, Own> = { id: newId(), facts: checked.facts, script, createdMs: Date.now(), ...told };
      jobs.set(job.id, job);
      return start === "lost" ? "reset" : (script.answer ?? receiptOf(job));
    },
    poll(job, answerOf) {
      const { polls = plain } = job.script;
      const poll = polls[Math.min(job.asked, polls.length - 1)] ?? job.status;
      job.asked += 1;
      if (typeof poll === "object" && !("members" in poll)) return poll;
      if (typeof poll === "string" && isFault(poll)) return poll;
      if (typeof poll === "object") return answerOf(plain.at(-1) ?? job.status, poll.members);
      job.status = poll;
      return answerOf(job.status);
    },
  };
}

const FAULTS: readonly string[] = ["hang", "hang-after-head", "reset", "reset-after-head", "cut"] satisfies Fault[];

function isFault(poll: string): poll is Fault {
  return FAULTS.includes(poll);
}

export interface JobServer<Facts, Word extends string, Own extends Script<Word>> extends Recorder {
  /** Ends with the vendor's base path. */
  readonly url: string;
  /** Address of the results; empty where the vendor hands them out itself. */
  readonly filesUrl: string;
  /** Those that were taken, in their order. */
  readonly jobs: readonly Job<Facts, Word, Own>[];
  /** Number of jobs that would be paid for. */
  readonly charged: number;
  next(...scripts: readonly Own[]): void;
  /** In place of the next lists of jobs, and of what was to be in their place before. */
  nextLists(...replies: readonly Reply[]): void;
}

export interface JobVendor {
  readonly base: string;
  readonly answer: (call: RecordedCall, at: { readonly url: string; readonly filesUrl: string }) => Reply;
  /** Returns the file at a public address. */
  readonly fileAt?: (path: string) => Reply | undefined;
}

/** Serves a vendor, and its files on a port of their own. */
export function startJobServer<Facts, Word extends string, Own extends Script<Word>>(
  book: JobBook<Facts, Word, Own>,
  { base, answer, fileAt }: JobVendor,
  isPaid: (job: Job<Facts, Word, Own>) => boolean = () => true,
): JobServer<Facts, Word, Own> {
  const files = fileAt && startFiles(fileAt);
  const at = { url: "", filesUrl: files?.origin ?? "" };
  const recorder = startRecorder((call) => answer(call, at));
  at.url = `${recorder.origin}${base}`;
  return {
    ...recorder,
    ...at,
    get jobs() {
      return [...book.jobs.values()];
    },
    get charged() {
      return [...book.jobs.values()].filter(isPaid).length;
    },
    get faults() {
      return [...recorder.faults, ...(files?.faults ?? [])];
    },
    next: (...scripts) => book.next(...scripts),
    nextLists: (...replies) => book.nextLists(...replies),
    close() {
      recorder.close();
      files?.close();
    },
  };
}

/** A public place: a caller that brings credentials has shown them to a stranger. */
function startFiles(fileAt: (path: string) => Reply | undefined): Recorder {
  return startRecorder(({ path, headers }) => {
    const hasKey = headers["authorization"] !== undefined;
    return hasKey ? jsonReply(400, "no key is wanted here") : (fileAt(path) ?? jsonReply(404, { detail: "Not Found" }));
  });
}

/** Finds the fault of a body: the name of the first member that is wrong or, of those that must be there, missing. */
export function faultIn(
  body: Members,
  takes: Readonly<Record<string, Check>>,
  needs: readonly string[],
): { readonly name: string; readonly how: "missing" | "unknown" | "wrong" } | undefined {
  const missing = needs.find((name) => body[name] === undefined);
  if (missing !== undefined) return { name: missing, how: "missing" };
  const name = Object.keys(body).find((member) => takes[member]?.(body[member]) !== true);
  return name === undefined ? undefined : { name, how: takes[name] ? "wrong" : "unknown" };
}

export type Check = (value: unknown) => boolean;

export const isText: Check = (value) => typeof value === "string" && value !== "";
export const isNumber: Check = (value) => typeof value === "number";
export const isFlag: Check = (value) => typeof value === "boolean";
export const whole =
  (min: number, max: number): Check =>
  (value) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
/** A number is no text among these. */
export const oneOf =
  (...values: readonly (string | number)[]): Check =>
  (value) =>
    values.some((known) => known === value);
export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
export const textUpTo =
  (length: number): Check =>
  (value) =>
    isText(value) && String(value).length <= length;
export const isSeed = whole(0, Number.MAX_SAFE_INTEGER);

/** Credits of the jobs that are paid for. */
export function creditsOf<Facts extends { readonly price: number }, Word extends string>(
  { jobs }: { readonly jobs: readonly Job<Facts, Word>[] },
  unpaid: readonly Word[] = [],
): number {
  return jobs.filter(({ status }) => !unpaid.includes(status)).reduce((sum, { facts }) => sum + facts.price, 0);
}

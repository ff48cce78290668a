/** Every family that works by itself, with a local server in its wire format and a model of our own catalogue. */
import { ok } from "#tests/providers/engine/behaviour.ts";
import type { JobServer } from "#tests/providers/engine/jobs.ts";
import { startFalServer, platformReply } from "#tests/providers/fal/server.ts";
import {
  doneInteraction,
  type Script as GeminiVideoScript,
  startGeminiVideoServer,
} from "#tests/providers/gemini/video-server.ts";
import { type Script as GoogleCloudScript, startGoogleCloudServer } from "#tests/providers/google-cloud/server.ts";
import { startMeshyServer } from "#tests/providers/meshy/server.ts";
import { startVideosServer } from "#tests/providers/openai-compatible/videos.ts";
import { startReplicateServer } from "#tests/providers/replicate/server.ts";
import { startTripoServer } from "#tests/providers/tripo/server.ts";

/** Fate of the next job. */
export type Fate = "done" | "slow" | "failed" | "hang" | "lost" | "private";

export interface Family {
  readonly name: string;
  /** A model that only it serves here. */
  readonly model: string;
  readonly path: "/v1/videos/generations" | "/v1/3d/generations";
  readonly body: Readonly<Record<string, unknown>>;
  /** Cost of a job in credits: by the length of the local server's clip where that tells its own, else by its hold. */
  readonly credits: number;
  /** Submissions that one job takes. */
  readonly submissions: number;
  /** A job is found in the provider's list where the answer to its start is lost. */
  readonly findsLost?: true;
  /** It can be told to stop, and says that it has. */
  readonly canStop: boolean;
  /** True if its results lie at an address that it names. */
  readonly namesAddresses: boolean;
  /** Under the id of the provider in our catalogue. */
  readonly provider: {
    readonly id: string;
    readonly url: string;
    readonly variable: string;
    readonly key: string;
    /** Family of a provider that is not in our catalogue. */
    readonly family?: string;
  };
  /** Address of its results, for the guard to let through. */
  readonly delivery: string | undefined;
  next(fate: Fate): void;
  /** Jobs that hang are done. */
  finish(): void;
  charged(): number;
  faults(): readonly unknown[];
  close(): void;
}

const KEY = "key-of-a-local-provider";
const PRIVATE = "http://169.254.169.254/latest/meta-data";
const POLLS = 4;

/** Answers to the questions about one job, of which the last one stays. */
class Answers {
  private readonly hanging: (() => void)[] = [];

  of<Word>(fate: Fate, { running, done, failed }: Words<Word>): Word[] {
    if (fate === "slow") return [...Array<Word>(POLLS).fill(running), done];
    const answers = [fate === "hang" ? running : fate === "failed" ? failed : done];
    if (fate === "hang") this.hanging.push(() => (answers[0] = done));
    return answers;
  }

  finish(): void {
    for (const finish of this.hanging.splice(0)) finish();
  }
}

/** A family's own words for how a job goes. */
interface Words<Word> {
  readonly running: Word;
  readonly done: Word;
  readonly failed: Word;
}

/** Particulars of a family: its place in the catalogue, and its server's scripts for a job of a given fate. */
interface Facts<Word, Own> extends Partial<
  Omit<Family, "provider" | "next" | "finish" | "charged" | "faults" | "close">
> {
  readonly name: string;
  readonly model: string;
  readonly credits: number;
  readonly provider: Pick<Family["provider"], "id"> & Partial<Family["provider"]>;
  readonly words: Words<Word>;
  /** The scripts of a job, of which `polls` are what its fate asks for. */
  readonly scripts: (fate: Fate, polls: Word[]) => readonly Own[];
}

type Server<Own> = Pick<JobServer<never, never, never>, "url" | "filesUrl" | "faults" | "charged" | "close"> & {
  next(...scripts: readonly Own[]): void;
};

function family<Word, Own>(server: Server<Own>, { words, scripts, provider, ...facts }: Facts<Word, Own>): Family {
  const answers = new Answers();
  return {
    path: "/v1/videos/generations",
    body: {},
    submissions: 1,
    canStop: false,
    namesAddresses: true,
    delivery: server.filesUrl === "" ? undefined : server.filesUrl,
    ...facts,
    provider: {
      url: server.url,
      key: KEY,
      variable: `${provider.id.toUpperCase().replaceAll("-", "_")}_API_KEY`,
      ...provider,
    },
    next: (fate) => server.next(...scripts(fate, answers.of(fate, words))),
    finish: () => answers.finish(),
    charged: () => server.charged,
    faults: () => server.faults,
    close: () => server.close(),
  };
}

const lostIf = (fate: Fate): { readonly start?: "lost" } => (fate === "lost" ? { start: "lost" } : {});

const fal = (): Family =>
  family(startFalServer({ apiKey: KEY }), {
    name: "fal",
    model: "hailuo-02-standard",
    credits: 9,
    provider: { id: "fal" },
    words: { running: "IN_PROGRESS", done: "COMPLETED", failed: "COMPLETED" } as const,
    scripts(fate, polls) {
      const elsewhere = ok({ video: { url: PRIVATE, content_type: "video/mp4" } });
      const result = { failed: platformReply("runner_disconnected", 503), private: elsewhere }[fate as "failed"];
      return [{ polls, ...(result ? { result } : {}), ...lostIf(fate) }];
    },
  });

const replicate = (): Family =>
  family(startReplicateServer({ token: KEY }), {
    name: "Replicate",
    model: "seedance-1.5-pro",
    body: { duration: 5 },
    credits: 5.2,
    canStop: true,
    findsLost: true,
    provider: { id: "replicate" },
    words: { running: "processing", done: "succeeded", failed: "failed" } as const,
    scripts: (fate, polls) => [
      { polls, ...(fate === "private" ? { task: { output: PRIVATE } } : {}), ...lostIf(fate) },
    ],
  });

type Operation = "running" | "done" | { readonly members: Readonly<Record<string, unknown>> };

const omni = (): Family =>
  family<Operation, GeminiVideoScript>(startGeminiVideoServer({ apiKey: KEY }), {
    name: "Google Omni",
    model: "gemini-omni-1.2-flash",
    body: { duration: 4 },
    credits: 28,
    provider: { id: "google", variable: "GEMINI_API_KEY" },
    words: {
      running: "running",
      done: "done",
      failed: { members: { status: "failed", error: { message: "an internal fault" } } },
    },
    scripts: (fate, polls) => [
      { polls: fate === "private" ? [{ members: doneInteraction(PRIVATE) }] : polls, ...lostIf(fate) },
    ],
  });

function veo(): Family {
  const { veo: server, identity, clock, credentials } = startGoogleCloudServer();
  // The service tells the true time.
  Object.defineProperty(clock, "now", { get: Date.now });
  return {
    ...family<Operation, GoogleCloudScript>(server, {
      name: "Veo on Google Cloud",
      model: "veo-3.1-fast",
      body: { duration: 4 },
      credits: 40,
      namesAddresses: false,
      provider: { id: "google-cloud", key: credentials },
      words: {
        running: "running",
        done: "done",
        failed: { members: { done: true, error: { code: 13, message: "an internal fault" } } },
      },
      scripts: (fate, polls) => [{ polls, ...lostIf(fate) }],
    }),
    faults: () => [...server.faults, ...identity.faults],
    close() {
      server.close();
      identity.close();
    },
  };
}

const openAiVideos = (): Family =>
  family(startVideosServer({ apiKey: KEY }), {
    name: "OpenAI videos",
    model: "local-videos",
    body: { duration: 4 },
    credits: 4,
    namesAddresses: false,
    provider: { id: "openai" },
    words: { running: "in_progress", done: "completed", failed: "failed" } as const,
    scripts: (fate, polls) => [{ polls, ...lostIf(fate) }],
  });

const MESHES = { path: "/v1/3d/generations" } as const;

const meshy = (): Family =>
  family(startMeshyServer({ apiKey: KEY }), {
    ...MESHES,
    name: "Meshy",
    model: "meshy-7.1",
    credits: 60,
    submissions: 2,
    provider: { id: "meshy" },
    words: { running: "IN_PROGRESS", done: "SUCCEEDED", failed: "FAILED" } as const,
    scripts: (fate, polls) => [
      { polls: ["SUCCEEDED" as const] },
      { polls, ...(fate === "private" ? { task: { model_urls: { glb: PRIVATE } } } : {}), ...lostIf(fate) },
    ],
  });

/** The same fates while the first half is made; what waits can be taken back. */
const meshyPreview = (): Family =>
  family(startMeshyServer({ apiKey: KEY }), {
    ...MESHES,
    name: "Meshy's preview",
    model: "local-preview",
    credits: 60,
    submissions: 2,
    findsLost: true,
    canStop: true,
    namesAddresses: false,
    provider: { id: "meshy-preview", family: "meshy" },
    words: { running: "PENDING", done: "SUCCEEDED", failed: "FAILED" } as const,
    scripts(fate, polls) {
      // Only of what goes on is a second half begun.
      const goesOn = fate === "done" || fate === "slow" || fate === "lost";
      return [{ polls, ...lostIf(fate) }, ...(goesOn ? [{ polls: ["SUCCEEDED"] as const }] : [])];
    },
  });

const tripo = (): Family =>
  family(startTripoServer({ apiKey: KEY }), {
    ...MESHES,
    name: "Tripo",
    model: "tripo-v3.1",
    credits: 20,
    provider: { id: "tripo" },
    words: { running: "running", done: "success", failed: "failed" } as const,
    scripts: (fate, polls) => [
      { polls, ...(fate === "private" ? { task: { output: { model_url: PRIVATE } } } : {}), ...lostIf(fate) },
    ],
  });

/** Whoever starts them closes them. */
export function startFamilies(): readonly Family[] {
  return [fal(), replicate(), omni(), veo(), openAiVideos(), meshy(), meshyPreview(), tripo()];
}

/** An operator's file that leads our own providers to the local servers. */
export function catalogueOf(families: readonly Family[]): string {
  const providers = families.map(({ provider: { id, url, variable, family } }) => {
    const rest = family === undefined ? "" : `, family: ${family}, api_key_env: ${variable}`;
    // No gateway here gives up what its vendor then takes.
    return `  - { id: ${id}, base_url: "${url}"${rest}, listed_within_seconds: 1 }`;
  });
  return `
providers:
${providers.join("\n")}
models:
  - slug: local-videos
    modality: video
    owned_by: local
    created: 1700000000
    pricing: { unit: per_second, second_price: "1" }
    allowed_params: { durations: [4, 8, 12], default_duration: 4, supported_inputs: [text] }
    sources: [{ provider: openai, model: local-videos }]
  - slug: local-preview
    modality: object_3d
    owned_by: local
    created: 1700000000
    pricing: { unit: per_request, request_price: "60" }
    allowed_params: { supported_inputs: [text] }
    sources: [{ provider: meshy-preview, model: text-to-3d/meshy-7.1 }]
`;
}

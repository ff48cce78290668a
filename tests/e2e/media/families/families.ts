/** Every family that works by itself, with a local server in its wire format and a model of our own catalogue. */
import { startFalServer, platformReply } from "#tests/providers/fal/server.ts";
import { doneInteraction, startGeminiVideoServer } from "#tests/providers/gemini/video-server.ts";
import { startGoogleCloudServer } from "#tests/providers/google-cloud/server.ts";
import { startMeshyServer } from "#tests/providers/meshy/server.ts";
import { startVideosServer } from "#tests/providers/openai-compatible/videos.ts";
import { startReplicateServer } from "#tests/providers/replicate/server.ts";
import { startTripoServer } from "#tests/providers/tripo/server.ts";

/** What becomes of the next job. */
export type Fate = "done" | "slow" | "failed" | "hang" | "lost" | "private";

export interface Family {
  readonly name: string;
  /** A model that only it serves here. */
  readonly model: string;
  readonly path: "/v1/videos/generations" | "/v1/3d/generations";
  readonly body: Readonly<Record<string, unknown>>;
  /** What a job costs in credits: by the length of the local server's clip where that tells its own, else by its hold. */
  readonly credits: number;
  /** Submissions that one job takes. */
  readonly submissions: number;
  /** Of one whose start is lost, where that ends it sooner. */
  readonly submissionsOfLost?: number;
  /** It can be told to stop, and says that it has. */
  readonly canStop: boolean;
  /** What it makes lies at an address that it names. */
  readonly namesAddresses: boolean;
  /** Under the id of the provider in our catalogue. */
  readonly provider: {
    readonly id: string;
    readonly url: string;
    readonly variable: string;
    readonly key: string;
    /** Of one that our catalogue has not. */
    readonly family?: string;
  };
  /** Where what it makes lies, for the guard to let through. */
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

  of<Word>(fate: Fate, words: { readonly running: Word; readonly done: Word; readonly failed: Word }): Word[] {
    const { running, done, failed } = words;
    if (fate === "slow") return [...Array<Word>(POLLS).fill(running), done];
    const answers = [fate === "hang" ? running : fate === "failed" ? failed : done];
    if (fate === "hang") this.hanging.push(() => (answers[0] = done));
    return answers;
  }

  finish(): void {
    for (const finish of this.hanging.splice(0)) finish();
  }
}

function fal(): Family {
  const server = startFalServer({ apiKey: KEY });
  const answers = new Answers();
  return {
    name: "fal",
    model: "hailuo-02-standard",
    path: "/v1/videos/generations",
    body: {},
    credits: 9,
    submissions: 1,
    canStop: false,
    namesAddresses: true,
    provider: { id: "fal", url: server.url, variable: "FAL_API_KEY", key: KEY },
    delivery: server.cdnUrl,
    next(fate) {
      const statuses = answers.of(fate, { running: "IN_PROGRESS", done: "COMPLETED", failed: "COMPLETED" } as const);
      const video = { video: { url: PRIVATE, content_type: "video/mp4" } };
      server.next({
        statuses,
        ...(fate === "failed" ? { result: platformReply("runner_disconnected", 503) } : {}),
        ...(fate === "private" ? { result: { status: 200, body: video } } : {}),
        ...(fate === "lost" ? { submit: "lost" } : {}),
      });
    },
    finish: () => answers.finish(),
    charged: () => server.charged,
    faults: () => server.faults,
    close: () => server.close(),
  };
}

function replicate(): Family {
  const server = startReplicateServer({ token: KEY });
  const answers = new Answers();
  return {
    name: "Replicate",
    model: "seedance-1.5-pro",
    path: "/v1/videos/generations",
    body: { duration: 5 },
    credits: 5.2,
    submissions: 1,
    canStop: true,
    namesAddresses: true,
    provider: { id: "replicate", url: server.url, variable: "REPLICATE_API_KEY", key: KEY },
    delivery: server.deliveryUrl,
    next(fate) {
      const polls = answers.of(fate, { running: "processing", done: "succeeded", failed: "failed" } as const);
      server.next({
        polls,
        ...(fate === "private" ? { end: { output: PRIVATE } } : {}),
        ...(fate === "lost" ? { start: "lost" } : {}),
      });
    },
    finish: () => answers.finish(),
    charged: () => server.charged,
    faults: () => server.faults,
    close: () => server.close(),
  };
}

function omni(): Family {
  const server = startGeminiVideoServer({ apiKey: KEY });
  const answers = new Answers();
  return {
    name: "Google Omni",
    model: "gemini-omni-1.2-flash",
    path: "/v1/videos/generations",
    body: { duration: 4 },
    credits: 28,
    submissions: 1,
    canStop: false,
    namesAddresses: true,
    provider: { id: "google", url: server.url, variable: "GEMINI_API_KEY", key: KEY },
    delivery: undefined,
    next(fate) {
      const failed = { members: { status: "failed", error: { message: "an internal fault" } } };
      const done = fate === "private" ? { members: doneInteraction(PRIVATE) } : ("done" as const);
      server.next({
        polls: answers.of<"running" | "done" | { readonly members: Readonly<Record<string, unknown>> }>(fate, {
          running: "running",
          done,
          failed,
        }),
        ...(fate === "lost" ? { start: "lost" } : {}),
      });
    },
    finish: () => answers.finish(),
    charged: () => server.charged,
    faults: () => server.faults,
    close: () => server.close(),
  };
}

function veo(): Family {
  const server = startGoogleCloudServer();
  // The service tells the true time.
  Object.defineProperty(server.clock, "now", { get: Date.now });
  const answers = new Answers();
  return {
    name: "Veo on Google Cloud",
    model: "veo-3.1-fast",
    path: "/v1/videos/generations",
    body: { duration: 4 },
    credits: 40,
    submissions: 1,
    canStop: false,
    namesAddresses: false,
    provider: { id: "google-cloud", url: server.url, variable: "GOOGLE_CLOUD_API_KEY", key: server.credentials },
    delivery: undefined,
    next(fate) {
      const failed = { members: { done: true, error: { code: 13, message: "an internal fault" } } };
      server.next({
        polls: answers.of<"running" | "done" | { readonly members: Readonly<Record<string, unknown>> }>(fate, {
          running: "running",
          done: "done",
          failed,
        }),
        ...(fate === "lost" ? { start: "lost" } : {}),
      });
    },
    finish: () => answers.finish(),
    charged: () => server.charged,
    faults: () => [...server.veo.faults, ...server.identity.faults],
    close() {
      server.veo.close();
      server.identity.close();
    },
  };
}

function openAiVideos(): Family {
  const server = startVideosServer({ apiKey: KEY });
  const answers = new Answers();
  return {
    name: "OpenAI videos",
    model: "local-videos",
    path: "/v1/videos/generations",
    body: { duration: 4 },
    credits: 4,
    submissions: 1,
    canStop: false,
    namesAddresses: false,
    provider: { id: "openai", url: server.url, variable: "OPENAI_API_KEY", key: KEY },
    delivery: undefined,
    next(fate) {
      server.next({
        statuses: answers.of(fate, { running: "in_progress", done: "completed", failed: "failed" } as const),
        ...(fate === "lost" ? { start: "lost" } : {}),
      });
    },
    finish: () => answers.finish(),
    charged: () => server.charged,
    faults: () => server.faults,
    close: () => server.close(),
  };
}

function meshy(): Family {
  const server = startMeshyServer({ apiKey: KEY });
  const answers = new Answers();
  return {
    name: "Meshy",
    model: "meshy-7.1",
    path: "/v1/3d/generations",
    body: {},
    credits: 60,
    submissions: 2,
    canStop: false,
    namesAddresses: true,
    provider: { id: "meshy", url: server.url, variable: "MESHY_API_KEY", key: KEY },
    delivery: server.storeUrl,
    next(fate) {
      const preview = { polls: ["SUCCEEDED"] as const };
      const polls = answers.of(fate, { running: "IN_PROGRESS", done: "SUCCEEDED", failed: "FAILED" } as const);
      server.next(preview, {
        polls,
        ...(fate === "private" ? { task: { model_urls: { glb: PRIVATE } } } : {}),
        ...(fate === "lost" ? { create: "lost" } : {}),
      });
    },
    finish: () => answers.finish(),
    charged: () => server.charged.previews + server.charged.refines,
    faults: () => server.faults,
    close: () => server.close(),
  };
}

/** The same fates while the first half is made; what waits can be taken back. */
function meshyPreview(): Family {
  const server = startMeshyServer({ apiKey: KEY });
  const answers = new Answers();
  return {
    name: "Meshy's preview",
    model: "local-preview",
    path: "/v1/3d/generations",
    body: {},
    credits: 60,
    submissions: 2,
    submissionsOfLost: 1,
    canStop: true,
    namesAddresses: false,
    provider: {
      id: "meshy-preview",
      url: server.url,
      variable: "MESHY_PREVIEW_API_KEY",
      key: KEY,
      family: "meshy",
    },
    delivery: server.storeUrl,
    next(fate) {
      const polls = answers.of(fate, {
        running: fate === "hang" ? "PENDING" : "IN_PROGRESS",
        done: "SUCCEEDED",
        failed: "FAILED",
      } as const);
      const preview = { polls, ...(fate === "lost" ? { create: "lost" as const } : {}) };
      // Only of what goes on is a second half begun.
      const goesOn = fate === "done" || fate === "slow";
      server.next(preview, ...(goesOn ? [{ polls: ["SUCCEEDED"] as const }] : []));
    },
    finish: () => answers.finish(),
    charged: () => server.charged.previews + server.charged.refines,
    faults: () => server.faults,
    close: () => server.close(),
  };
}

function tripo(): Family {
  const server = startTripoServer({ apiKey: KEY });
  const answers = new Answers();
  return {
    name: "Tripo",
    model: "tripo-v3.1",
    path: "/v1/3d/generations",
    body: {},
    credits: 20,
    submissions: 1,
    canStop: false,
    namesAddresses: true,
    provider: { id: "tripo", url: server.url, variable: "TRIPO_API_KEY", key: KEY },
    delivery: server.storeUrl,
    next(fate) {
      server.next({
        polls: answers.of(fate, { running: "running", done: "success", failed: "failed" } as const),
        ...(fate === "private" ? { task: { output: { model_url: PRIVATE } } } : {}),
        ...(fate === "lost" ? { start: "lost" } : {}),
      });
    },
    finish: () => answers.finish(),
    charged: () => server.charged,
    faults: () => server.faults,
    close: () => server.close(),
  };
}

/** Whoever starts them closes them. */
export function startFamilies(): readonly Family[] {
  return [fal(), replicate(), omni(), veo(), openAiVideos(), meshy(), meshyPreview(), tripo()];
}

/** An operator's file that leads our own providers to the local servers. */
export function catalogueOf(families: readonly Family[]): string {
  const providers = families.map(({ provider: { id, url, variable, family } }) => {
    const rest = family === undefined ? "" : `, family: ${family}, api_key_env: ${variable}`;
    return `  - { id: ${id}, base_url: "${url}"${rest} }`;
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

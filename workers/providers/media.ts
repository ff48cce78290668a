/**
 * Contract between media calls and provider adapters. Inputs are validated against the model's declared values before. An adapter sends the
 * inputs for which the source has a field. It omits others, as the spec says for each parameter.
 */
import type { ImageEditParams, ImageParams } from "#shared/calls/kinds/images.ts";
import type { MeshParams } from "#shared/calls/kinds/mesh.ts";
import type { MusicParams } from "#shared/calls/kinds/music.ts";
import type { SpeechParams } from "#shared/calls/kinds/speech.ts";
import type { TranscriptionParams } from "#shared/calls/kinds/transcription.ts";
import type { VideoParams } from "#shared/calls/kinds/video.ts";
import type { Trait } from "#shared/calls/model.ts";
import type { TokenUsage } from "#shared/calls/pricing/usage.ts";
import { paced } from "#shared/config/pace.ts";

import type { ReserveBytes } from "./http.ts";

/** Limits of each kind of media job: maximum duration at a provider, polling, and maximum size of one artifact. */
export const MEDIA_JOBS = {
  images: {
    totalMs: 600_000,
    pollMinMs: paced(500),
    pollMaxMs: paced(3_000),
    bytesMax: 64 * 1_048_576,
    fetchMs: 60_000,
  },
  speech: {
    totalMs: 300_000,
    pollMinMs: paced(500),
    pollMaxMs: paced(3_000),
    bytesMax: 256 * 1_048_576,
    fetchMs: 120_000,
  },
  music: {
    totalMs: 900_000,
    pollMinMs: paced(1_000),
    pollMaxMs: paced(5_000),
    bytesMax: 256 * 1_048_576,
    fetchMs: 120_000,
  },
  video: {
    totalMs: 3_600_000,
    pollMinMs: paced(2_000),
    pollMaxMs: paced(10_000),
    bytesMax: 1_024 * 1_048_576,
    fetchMs: 600_000,
  },
  mesh: {
    totalMs: 1_800_000,
    pollMinMs: paced(2_000),
    pollMaxMs: paced(10_000),
    bytesMax: 256 * 1_048_576,
    fetchMs: 300_000,
  },
} as const;

/** One result of a media call: its bytes, or the URL from which it is copied immediately. */
export type Artifact =
  | { readonly bytes: Uint8Array; readonly contentType: string }
  /** URL from the provider. It is fetched through the outbound guard without our credentials. */
  | { readonly url: string; readonly contentType?: string }
  /** Opens a download from the provider's own origin with our credentials. @throws ProviderError */
  | { readonly open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>; readonly contentType?: string };

/** Usage and output as reported by a provider. Missing values are measured by us. */
export interface MediaUsage {
  readonly images?: number;
  /** Duration of the generated or processed audio or video, in seconds. */
  readonly seconds?: number;
  /** Compute time of the provider, in seconds. */
  readonly computeSeconds?: number;
  readonly characters?: number;
  readonly tokens?: TokenUsage;
}

export interface MediaResult<Output> {
  readonly output: Output;
  readonly usage: MediaUsage;
}

export interface MediaCall<Input> {
  readonly input: Input;
  /** Name of the model at the source. */
  readonly sourceModel: string;
  readonly signal: AbortSignal;
  readonly traits: ReadonlySet<Trait>;
  /**
   * Maps supported inputs to their fields in the request, from `fields` of the source in the catalogue. Default: the fields of the source's
   * family.
   */
  readonly fields?: Readonly<Record<string, string>>;
  /** Adapts the finished body to the source, just before it is sent. Drops, renames and overrides parameters as the catalogue says. */
  readonly adapt: (body: Record<string, unknown>) => void;
  /**
   * Receives the text of a transcript chunk by chunk. All chunks together are the whole text or its beginning. Present only for streaming
   * callers. A source that returns complete responses never calls it.
   */
  readonly onText?: (piece: string) => void;
  /** Reserves memory while a response that contains the result is read. */
  readonly reserveBytes?: ReserveBytes;
  /** Callback URL for providers that report the progress of a job. A callback only triggers an earlier poll. */
  readonly callbackUrl?: string;
}

/** Adapter for a provider that returns the result in the response to one request. */
export interface DirectAdapter<Input, Output> {
  /** True if the provider fetches media itself. Callers' URLs are then passed on instead of bytes. */
  readonly takesUrls?: true;
  /** Performs the call and returns its result. @throws ProviderError */
  run(call: MediaCall<Input>): Promise<MediaResult<Output>>;
}

/**
 * JSON that identifies a job at its provider. It is stored as soon as the provider has accepted the job, so that the job can be polled
 * after a crash.
 */
export type ProviderJob = Readonly<Record<string, unknown>>;

/**
 * Stores a mark just before the start request of a job is sent. The mark finds the job if the response is lost. It is JSON without content
 * of the caller; null means that the job cannot be found again.
 * @throws Error if the mark cannot be stored; the start request must then not be sent
 */
export type NoteStart = (mark: ProviderJob | null) => Promise<void>;

/** Values of a call that are needed to start a job in a provider's queue. */
export type Starting = Pick<MediaCall<unknown>, "signal"> & { readonly noteStart: NoteStart };
export type StartCall<Input> = MediaCall<Input> & Starting;

/** A job at a provider whose start request was sent, but whose response was lost. */
export interface LostStart {
  readonly mark: ProviderJob;
  /** Time just before the request was sent, in Unix milliseconds. */
  readonly sentMs: number;
  /** Job name in the callback that the provider sent; absent without a callback. */
  readonly callbackJobName?: string;
}

/** A job in a provider's list. */
export interface Listed {
  /** The provider's name of the job. */
  readonly name: string;
  /** Creation time of the job by the provider's clock, in Unix milliseconds. NaN if unknown, which occurs only for jobs in `unclear`. */
  readonly createdMs: number;
}

export type Found =
  /** The job was found, because the provider named it in a callback. */
  | { readonly state: "found"; readonly job: ProviderJob }
  /** The job does not exist: the provider never accepted its start request. */
  | { readonly state: "none" }
  /**
   * Jobs that the provider has accepted since the start request was sent. `alike` are jobs with equal inputs, the most likely first.
   * `unclear` are jobs whose inputs cannot be compared. The caller decides which of them is its own.
   */
  | {
      readonly state: "listed";
      readonly alike: readonly (Listed & { readonly job: ProviderJob })[];
      readonly unclear: readonly Listed[];
      /** True if a callback of the provider may still name the job. */
      readonly mayRing: boolean;
    }
  | { readonly state: "unknown"; readonly detail: string };

export type Polled<Output> =
  /** The job has not ended. `progress` is the completed fraction, from 0 to 1; absent if unknown. */
  | { readonly state: "pending"; readonly progress?: number }
  /**
   * The first phase of the job is done. `start` sends the request of the next phase, whose job replaces this one. It is called once, after
   * the intent to start the phase is stored.
   */
  | { readonly state: "next"; readonly start: (starting: Starting) => Promise<ProviderJob> }
  | ({ readonly state: "done" } & MediaResult<Output>)
  /**
   * The job has definitely failed. A response that does not prove a failure (5xx, 404, unreadable response, unknown state) is `unknown`
   * instead.
   */
  | { readonly state: "failed"; readonly error: Error }
  | { readonly state: "unknown"; readonly detail: string };

/** Adapter for a provider that queues a job. The job is polled until it ends. */
export interface QueuedAdapter<Input, Output> {
  /** True if the provider fetches media itself, so that callers' URLs are passed on instead of bytes. */
  readonly takesUrls?: true;
  /** True if the provider supports long polling. Polls then follow each other without a pause. */
  readonly waits?: true;
  /** Timeout of one poll, in milliseconds, for a provider whose response contains the whole result. Default: POLL_MS. */
  readonly pollMs?: number;
  /**
   * Sends the request that starts a job at the provider, and returns the job's identification.
   * @throws ProviderError; `unknown` if the response was lost or is unreadable, because the job may exist; the errors of `noteStart`
   */
  start(call: StartCall<Input>): Promise<ProviderJob>;
  /**
   * Searches the provider's jobs for a job whose start response was lost, by its mark. Absent if the provider does not support such a
   * search.
   * @throws ProviderError
   */
  find?(lost: LostStart, signal: AbortSignal): Promise<Found>;
  /** Returns the provider's name of a job. Absent or undefined if the provider does not list its jobs. */
  nameOf?(job: ProviderJob): string | undefined;
  poll(job: ProviderJob, signal: AbortSignal): Promise<Polled<Output>>;
  /** Sends a cancellation of the job to the provider. The next poll returns whether the job was cancelled. */
  cancel?(job: ProviderJob, signal: AbortSignal): Promise<void>;
}

export type MediaAdapter<Input, Output> = DirectAdapter<Input, Output> | QueuedAdapter<Input, Output>;

export interface Media {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** Media input of a call: its bytes, or an address that the provider fetches. */
export type MediaInput = Media | { readonly url: string };

/** Input of an image generation (spec "POST /v1/images/generations"). */
export type ImageInput = ImageParams;

/** Input of an image edit (spec "POST /v1/images/edits"). */
export interface ImageEditInput extends ImageEditParams {
  readonly image: Media;
  /** Image whose transparent areas are repainted. */
  readonly mask?: Media;
}

export type SpeechFormat = "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm";

/** Input of a speech call (spec "POST /v1/audio/speech"). */
export type SpeechInput = SpeechParams;

export interface TranscriptionInput extends Omit<TranscriptionParams, "format"> {
  readonly audio: Media & { readonly filename: string };
}

/** Transcript of a call. All times are in seconds. */
export interface Transcript {
  readonly text: string;
  readonly language?: string;
  readonly seconds?: number;
  readonly words?: readonly { readonly word: string; readonly start: number; readonly end: number }[];
  readonly segments?: readonly {
    readonly text: string;
    readonly start: number;
    readonly end: number;
    /** Further values that a Whisper model reports for the segment, such as `avg_logprob`. */
    readonly details?: Readonly<Record<string, number | readonly number[]>>;
  }[];
}

/** Input of a video call (spec "POST /v1/videos/generations"). */
export interface VideoInput extends VideoParams {
  readonly image?: MediaInput;
  readonly video?: MediaInput;
}

/** Input of a music call (spec "POST /v1/music/generations"). */
export type MusicInput = MusicParams;

/** Input of a mesh call (spec "POST /v1/3d/generations"). */
export interface MeshInput extends MeshParams {
  readonly image?: MediaInput;
  /** Mesh to transform. */
  readonly mesh?: MediaInput;
}

/** Input and output of each kind of media call. */
export interface MediaKinds {
  readonly images: [ImageInput, readonly Artifact[]];
  readonly imageEdits: [ImageEditInput, readonly Artifact[]];
  readonly speech: [SpeechInput, Artifact];
  readonly transcription: [TranscriptionInput, Transcript];
  readonly video: [VideoInput, readonly Artifact[]];
  readonly music: [MusicInput, readonly Artifact[]];
  readonly mesh: [MeshInput, readonly Artifact[]];
}

export type MediaKind = keyof MediaKinds;

/** Media adapters of a provider, without chat and embeddings. An adapter is absent if the modality is not supported. */
export type MediaAdapters = {
  readonly [Kind in MediaKind]?: MediaAdapter<MediaKinds[Kind][0], MediaKinds[Kind][1]>;
};

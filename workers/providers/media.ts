/**
 * Contract between media calls and their providers. Inputs come checked against the model's declared sets; an adapter sends
 * what its family has a field for and leaves the rest out, as the spec says of each field.
 */
import type { ImageEditParams, ImageParams } from "#shared/calls/kinds/images.ts";
import type { MeshParams } from "#shared/calls/kinds/mesh.ts";
import type { MusicParams } from "#shared/calls/kinds/music.ts";
import type { SpeechParams } from "#shared/calls/kinds/speech.ts";
import type { TranscriptionParams } from "#shared/calls/kinds/transcription.ts";
import type { VideoParams } from "#shared/calls/kinds/video.ts";
import type { Trait } from "#shared/calls/model.ts";
import type { TokenUsage } from "#shared/calls/pricing/usage.ts";
import { paced } from "#shared/pace.ts";

import type { ReserveBytes } from "./http.ts";

/**
 * Bounds of each kind of media job: from its start at a provider (none takes longer), how it is asked
 * about, and how large one thing that it makes can be.
 */
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

/** Something made: its bytes, or where it is copied from at once. */
export type Artifact =
  | { readonly bytes: Uint8Array; readonly contentType: string }
  /** An address the provider told: fetched through the outbound guard, without our credentials. */
  | { readonly url: string; readonly contentType?: string }
  /** Read from the provider's own origin with our credentials. @throws ProviderError */
  | { readonly open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>; readonly contentType?: string };

/** Usage and output that a provider reports; we measure what it does not report. */
export interface MediaUsage {
  readonly images?: number;
  /** Length of the audio or video made or read. */
  readonly seconds?: number;
  /** That the provider computed. */
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
  /** The source's own name of the model. */
  readonly sourceModel: string;
  readonly signal: AbortSignal;
  readonly traits: ReadonlySet<Trait>;
  /** The source's `fields` from the catalogue: which inputs it takes, and where. Absent: its family's. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The source's gaps and defaults from the catalogue, applied to the finished body just before it is sent. */
  readonly adapt: (body: Record<string, unknown>) => void;
  /**
   * Takes a transcript's text piece by piece as it becomes known; together the pieces are the whole, or its beginning. Present
   * for a caller that reads along; a source that answers as a whole never calls it.
   */
  readonly onText?: (piece: string) => void;
  /** Waited for while an answer that brings what was made is read. */
  readonly reserveBytes?: ReserveBytes;
  /** Address that a provider may call when its job has moved, if it can; such a call only makes us poll sooner. */
  readonly callbackUrl?: string;
}

/** Answers in one exchange. */
export interface DirectAdapter<Input, Output> {
  /** The provider fetches media by itself: addresses of callers are passed on, not their bytes. */
  readonly takesUrls?: true;
  /** @throws ProviderError */
  run(call: MediaCall<Input>): Promise<MediaResult<Output>>;
}

/** JSON that finds a job again at its provider: stored before anything else happens. */
export type ProviderJob = Readonly<Record<string, unknown>>;

/**
 * Waited for just before a job is begun: what finds it again should the answer be lost, which is JSON and tells nothing of a
 * caller's. Null: nothing would. @throws Error when it cannot be noted: nothing is sent then
 */
export type NoteStart = (mark: ProviderJob | null) => Promise<void>;

/** The part of a call that begins a job at a provider's queue. */
export type Starting = Pick<MediaCall<unknown>, "signal"> & { readonly noteStart: NoteStart };
export type StartCall<Input> = MediaCall<Input> & Starting;

/** A job that was about to be begun, and of which no answer told. */
export interface LostStart {
  readonly mark: ProviderJob;
  /** Unix milliseconds, just before it was sent. */
  readonly sentMs: number;
  /** The name that the provider rang with. */
  readonly told?: string;
}

/** A job that a provider lists. */
export interface Listed {
  /** The provider's name for it. */
  readonly name: string;
  /** Unix milliseconds, by the provider's clock; NaN where it does not say, of those alone that are unclear. */
  readonly madeMs: number;
}

export type Found =
  /** The provider rang for it by its name. */
  | { readonly state: "found"; readonly job: ProviderJob }
  /** It was never taken. */
  | { readonly state: "none" }
  /**
   * All that the provider has taken since: those that were asked for alike, the likeliest first, and those of which it cannot be
   * told. Whose they are is for the caller to find out.
   */
  | {
      readonly state: "listed";
      readonly alike: readonly (Listed & { readonly job: ProviderJob })[];
      readonly unclear: readonly Listed[];
      /** The provider may ring for it later. */
      readonly mayRing: boolean;
    }
  | { readonly state: "unknown"; readonly detail: string };

export type Polled<Output> =
  /** progress: 0 to 1. */
  | { readonly state: "pending"; readonly progress?: number }
  /** The job's first half is done: what is begun now takes its place. Called once, after the intent is noted. */
  | { readonly state: "next"; readonly start: (starting: Starting) => Promise<ProviderJob> }
  | ({ readonly state: "done" } & MediaResult<Output>)
  /** A definite verdict. Whatever is not one (5xx, 404, an unreadable answer, an unknown word) is `unknown`. */
  | { readonly state: "failed"; readonly error: Error }
  | { readonly state: "unknown"; readonly detail: string };

/** Queues a job that is asked about until it ends. */
export interface QueuedAdapter<Input, Output> {
  /** Same as in DirectAdapter. */
  readonly takesUrls?: true;
  /** An answer waits for the end of the job for a while: there are no pauses between questions. */
  readonly waits?: true;
  /** Longest duration of one poll, in milliseconds, for a provider whose answer brings the whole result; else POLL_MS. */
  readonly pollMs?: number;
  /** @throws ProviderError; `unknown` when its answer was lost or cannot be read: the job may exist; what `noteStart` throws */
  start(call: StartCall<Input>): Promise<ProviderJob>;
  /** Looks for a job whose start was noted with a mark. Absent where none ever is. @throws ProviderError */
  find?(lost: LostStart, signal: AbortSignal): Promise<Found>;
  /** The provider's name for a job, where it lists its jobs. */
  nameOf?(job: ProviderJob): string | undefined;
  poll(job: ProviderJob, signal: AbortSignal): Promise<Polled<Output>>;
  /** Asks to stop it; what comes of that is told by the next poll. */
  cancel?(job: ProviderJob, signal: AbortSignal): Promise<void>;
}

export type MediaAdapter<Input, Output> = DirectAdapter<Input, Output> | QueuedAdapter<Input, Output>;

export interface Media {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** Media that comes with a call: its bytes, or an address that the provider is to fetch. */
export type MediaInput = Media | { readonly url: string };

/** Spec "POST /v1/images/generations". */
export type ImageInput = ImageParams;

/** Spec "POST /v1/images/edits". */
export interface ImageEditInput extends ImageEditParams {
  readonly image: Media;
  /** Transparent where it is to be repainted. */
  readonly mask?: Media;
}

export type SpeechFormat = "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm";

/** Spec "POST /v1/audio/speech". */
export type SpeechInput = SpeechParams;

export interface TranscriptionInput extends Omit<TranscriptionParams, "format"> {
  readonly audio: Media & { readonly filename: string };
}

/** Times in seconds. */
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

/** Design part 6, `POST /v1/videos/generations`. */
export interface VideoInput extends VideoParams {
  readonly image?: MediaInput;
  readonly video?: MediaInput;
}

/** Design part 6, `POST /v1/music/generations`. */
export type MusicInput = MusicParams;

/** Spec "POST /v1/3d/generations". */
export interface MeshInput extends MeshParams {
  readonly image?: MediaInput;
  /** To be transformed. */
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

/** Media adapters of a provider, beside chat and embeddings; an absent member is a modality it does not offer. */
export type MediaAdapters = {
  readonly [Kind in MediaKind]?: MediaAdapter<MediaKinds[Kind][0], MediaKinds[Kind][1]>;
};

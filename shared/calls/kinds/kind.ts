/** Description of one kind of call: the single source for routes, batch messages, estimates and workers. */
import type { BatchMessage, JobMessage, Modality, SchemaName } from "#schemas/generated/types.ts";
import type { Code } from "#shared/base/errors.ts";
import type { JsonBounds } from "#shared/json/parse.ts";
import type { Model } from "#shared/calls/model.ts";
import type { Price, PriceUnit } from "#shared/calls/pricing/price.ts";
import type { TokenUsage } from "#shared/calls/pricing/usage.ts";
import type { Pool } from "#shared/queue/subjects.ts";
import type { TimeSlices } from "#shared/base/time-slices.ts";
import type { Tokenizer } from "#shared/tokens/tokenizer.ts";

import type { CallBound } from "./call-bound.ts";
import type { StoredFiles } from "./chat/files.ts";
import type { InputMedia, StoredInputs } from "./input-media.ts";
import type { CheckedMedia } from "./media-check.ts";
import type { MeasuredAudio } from "./transcription.ts";

/** Kinds that a model of the catalogue serves. */
export type KindName = Exclude<JobMessage["kind"], "capability">;

/** Properties that the members of a request do not contain. */
export interface CallFacts {
  /** Size of the body: an upper bound of its tokens, since a token is at least one byte. */
  readonly bodyBytes: number;
  /** Stored files referenced by a chat request. */
  readonly files: StoredFiles;
  /** Length and size of the audio; undefined without audio. */
  readonly recording?: MeasuredAudio | undefined;
}

/** A request that its model accepts. */
export interface CheckedCall {
  readonly bound: CallBound;
  /** Price of the requested variant; absent: the model's price. */
  readonly price?: Price;
}

/** A multipart/form-data request: its fields are the members of the JSON request. */
export interface FormParts {
  /** Properties of the request's schema that a field may set. */
  readonly members: Readonly<Record<string, { readonly type: string }>>;
  /** Names of binary parts. `member`: the request's member that contains the bytes in base64; absent: they are stored on disk. */
  readonly files: Readonly<Record<string, { readonly isRequired?: true; readonly member?: string }>>;
}

/** HTTP endpoint of a kind: its documentation, and the form of its response. */
export interface KindRoute {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly request: { readonly schema: SchemaName; readonly form?: FormParts; readonly example?: object };
  /** `live`: the worker's response. `results`: results of a job. `audio`: raw bytes. `job`: the job itself, immediately. */
  readonly answers: "live" | "results" | "audio" | "job";
  /** Body of a successful response. */
  readonly answer: {
    readonly description: string;
    readonly schema?: SchemaName;
    readonly texts?: readonly string[];
    readonly bytes?: readonly string[];
    readonly stream?: SchemaName | readonly SchemaName[];
    /** Headers in addition to those for price and source. */
    readonly headers?: readonly ("x-cache" | "x-max-tokens-lowered" | "x-voice-used")[];
  };
  /** Actions of the endpoint besides reading its body, finding its model and holding credits; its error codes follow from them. */
  readonly does?: readonly ("reads_conversation" | "reads_files" | "fetches_addresses")[];
  /** Codes of this kind alone. */
  readonly codes?: readonly Code[];
  /** Bounds of its body, if they differ from the defaults. */
  readonly bounds?: JsonBounds;
  /** Place in which a caller requests a stream of job states: the body or the query. */
  readonly statesBy?: "member" | "query";
  /** With `response_format: b64_json`, results are returned inline instead of as links. */
  readonly answersInline?: true;
}

export interface Kind<Request = object, Checked extends CheckedCall = CheckedCall> {
  readonly name: KindName;
  /** Path of its HTTP endpoint, also used in batch messages. */
  readonly endpoint: Exclude<
    NonNullable<BatchMessage["endpoint"]>,
    "/v1/capabilities/{id}/run" | "/v1/workflows/{id}/runs"
  >;
  readonly pool: Pool;
  /** Handling of a job whose worker crashed during a provider's call: the provider is queried for it, or the call is lost. */
  readonly afterCrash: "resume" | "report_lost";
  /** True if its results are stored as files of the workspace. */
  readonly keepsFiles: boolean;
  /** True if a record of its jobs is stored. False for text calls: many of them should not write three objects each. */
  readonly keepsRecord: boolean;
  readonly route: KindRoute;
  /** True if its messages may reference stored files. */
  readonly namesFiles?: true;
  /** Nouns for its models in error messages. */
  readonly nouns: { readonly one: string; readonly all: string };
  /** Returns true if the model supports such calls, regardless of their params. */
  isOfKind(model: Model): boolean;
  /** Returns true if a call with these members is of this kind, for a model with several kinds; absent: unless it is of another. */
  isMeantBy?(model: Model, members: Readonly<Record<string, unknown>>): boolean;
  /** @param body parsed JSON. @throws ApiError naming the invalid member */
  read(body: unknown): Request & { readonly model: string };
  /** @throws ApiError naming the member that the model does not support */
  check(request: Request, model: Model, facts: CallFacts): Checked;
  /** Returns the typical tokens of such a call; absent: the price counts media, or the maximum output is used. */
  foresee?(request: Request, model: Model, checked: Checked, counting: Counting): Promise<TokenUsage>;
}

/** Tools for counting a request's tokens. */
export interface Counting {
  readonly files: StoredFiles;
  readonly tokenizer: Pick<Tokenizer, "counting">;
  /** Time slices for counting texts. */
  readonly slices: TimeSlices;
}

/** Kind of calls that create or transcribe media. */
export interface PricedKind<
  Request = object,
  Checked extends CheckedMedia<unknown> = CheckedMedia<unknown>,
> extends Kind<Request, Checked> {
  /** Models of this modality use this kind by default. */
  readonly modality: Modality;
  /** Possible price units. */
  readonly units: readonly PriceUnit[];
  /** True if the media has a length and is charged by it, unless the catalogue differs. */
  readonly hasLength: boolean;
  /** True if they contain audio, which is measured before the call is checked. */
  readonly bringsRecording?: true;
  /** Type of their output tokens, if tokens are charged. */
  readonly writes: keyof Pick<TokenUsage, "output" | "audioOutput" | "imageOutput">;
}

/** Price units that count the call itself, regardless of its result. */
export const CALL_UNITS = ["per_request", "per_operation"] as const satisfies readonly PriceUnit[];

/** Kind of calls that create media: their body contains everything except the input media. */
export interface MediaKind<
  Request = object,
  Checked extends CheckedMedia<unknown> = CheckedMedia<unknown>,
> extends PricedKind<Request, Checked> {
  check(request: Request, model: Model): Checked;
  /**
   * Returns the input media of the call; called at its entry point and by its worker, which reads it. Small media stays in the body.
   * @param kept media already stored for the call
   * @throws ApiError naming the invalid member
   */
  inputs(request: Request, model: Model, kept?: StoredInputs): Promise<readonly InputMedia[]>;
}

/** For kinds without input media. */
export const NO_INPUTS = (): Promise<readonly InputMedia[]> => Promise.resolve([]);

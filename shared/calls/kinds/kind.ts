/** Description of one kind of call, such as chat or images. Routes, batch messages, estimates and workers all use it. */
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
import type { ModelRoute } from "../model-choice.ts";
import type { StoredFiles } from "./chat/files.ts";
import type { CostMax } from "../max-credits.ts";
import type { InputMedia, StoredInputs } from "./input-media.ts";
import type { CheckedMedia } from "./media-check.ts";
import type { MeasuredAudio } from "./transcription.ts";

/** Names of the kinds of calls that models of the catalogue serve. */
export type KindName = Exclude<JobMessage["kind"], "capability">;

/** Properties of a call that are not members of its request. */
export interface CallFacts {
  /** Size of the body, in bytes. It limits the number of tokens, because a token has at least one byte. */
  readonly bodyBytes: number;
  /** Stored files that a chat request references. */
  readonly files: StoredFiles;
  /** Maximum cost of the call. A chat call without output limit gets the largest limit that fits; other kinds ignore it. */
  readonly max?: CostMax | undefined;
  /** Length and size of the call's audio; undefined without audio. */
  readonly recording?: MeasuredAudio | undefined;
}

/** Result of checking a request that the model accepts. */
export interface CheckedCall {
  readonly bound: CallBound;
  /** Fallbacks of the call; absent if the plain fallback chain of the model applies. */
  readonly route?: ModelRoute | undefined;
  /** Price of the requested variant; absent if the model's price applies. */
  readonly price?: Price;
}

/** Description of a multipart/form-data request. Its fields are the members of the JSON request. */
export interface FormParts {
  /** Members of the request that a field of the form may set. */
  readonly members: Readonly<Record<string, { readonly type: string }>>;
  /**
   * Names of the binary parts. `member` is the member of the request that receives the bytes in base64; if absent, the bytes are stored on
   * disk.
   */
  readonly files: Readonly<Record<string, { readonly isRequired?: true; readonly member?: string }>>;
}

/** HTTP endpoint of a kind of call: its documentation, and the format of its response. */
export interface KindRoute {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly request: { readonly schema: SchemaName; readonly form?: FormParts; readonly example?: object };
  /**
   * Content of the response. `live`: the worker's response. `results`: results of a job. `audio`: raw bytes. `job`: the job itself,
   * immediately.
   */
  readonly answers: "live" | "results" | "audio" | "job";
  /** Body of a successful response. */
  readonly answer: {
    readonly description: string;
    readonly schema?: SchemaName;
    readonly texts?: readonly string[];
    readonly bytes?: readonly string[];
    readonly stream?: SchemaName | readonly SchemaName[];
    /** Response headers in addition to those for price and source. */
    readonly headers?: readonly ("x-cache" | "x-max-tokens-lowered" | "x-voice-used")[];
  };
  /**
   * Additional actions of the endpoint. Every endpoint reads its body, finds its model and holds credits. The documented error codes follow
   * from the actions.
   */
  readonly does?: readonly ("reads_conversation" | "reads_files" | "fetches_addresses")[];
  /** Error codes that only this kind of call has. */
  readonly codes?: readonly Code[];
  /** Limits for the JSON of the body; absent if the defaults apply. */
  readonly bounds?: JsonBounds;
  /** Part of the request in which a caller asks for a stream of job states: the body or the query. */
  readonly statesBy?: "member" | "query";
  /** True if `response_format: b64_json` returns the results inline instead of as links. */
  readonly answersInline?: true;
}

export interface Kind<Request = object, Checked extends CheckedCall = CheckedCall> {
  readonly name: KindName;
  /** URL path of the HTTP endpoint. Batch messages contain the same path. */
  readonly endpoint: Exclude<
    NonNullable<BatchMessage["endpoint"]>,
    "/v1/capabilities/{id}/run" | "/v1/workflows/{id}/runs"
  >;
  readonly pool: Pool;
  /**
   * Action for a job whose worker crashed during a call to the provider. `resume`: another worker queries the provider for the result.
   * `report_lost`: the job fails, because its result cannot be queried.
   */
  readonly afterCrash: "resume" | "report_lost";
  /** True if the results are stored as files of the workspace. */
  readonly keepsFiles: boolean;
  /**
   * True if a record of each job is stored in the object store. False for text calls: they are many, and each would write three objects.
   */
  readonly keepsRecord: boolean;
  readonly route: KindRoute;
  /** True if requests of this kind may reference stored files in their messages. */
  readonly namesFiles?: true;
  /** Nouns for the models of this kind in error messages. */
  readonly nouns: { readonly one: string; readonly all: string };
  /** Returns true if the model serves calls of this kind, regardless of their params. */
  isOfKind(model: Model): boolean;
  /**
   * Returns true if a request with these members is of this kind; used for models that serve several kinds. If absent, the request is of
   * this kind unless another kind matches.
   */
  isMeantBy?(model: Model, members: Readonly<Record<string, unknown>>): boolean;
  /** Validates the body of a call. @param body parsed JSON. @throws ApiError that names the invalid member */
  read(body: unknown): Request & { readonly model: string };
  /** Checks a request against its model. @throws ApiError that names the member which the model does not support */
  check(request: Request, model: Model, facts: CallFacts): Checked;
  /** Returns the typical token usage of a call. Absent if the price counts media, or if the maximum output is used for estimates. */
  foresee?(request: Request, model: Model, checked: Checked, counting: Counting): Promise<TokenUsage>;
}

/** Tools for counting a request's tokens. */
export interface Counting {
  readonly files: StoredFiles;
  readonly tokenizer: Pick<Tokenizer, "counting">;
  /** Time slices for counting texts, so that other calls can use the thread. */
  readonly slices: TimeSlices;
}

/** Kind of call that creates or transcribes media. */
export interface PricedKind<
  Request = object,
  Checked extends CheckedMedia<unknown> = CheckedMedia<unknown>,
> extends Kind<Request, Checked> {
  /** Modality of the models that use this kind of call by default. */
  readonly modality: Modality;
  /** Price units that models of this kind may have. */
  readonly units: readonly PriceUnit[];
  /** True if the media has a length and is charged by its length. The catalogue can override this. */
  readonly hasLength: boolean;
  /** True if the calls contain audio, which is measured before the call is checked. */
  readonly bringsRecording?: true;
  /** Type of the output tokens, if tokens are charged. */
  readonly writes: keyof Pick<TokenUsage, "output" | "audioOutput" | "imageOutput">;
}

/** Price units that count the call itself, regardless of its result. */
export const CALL_UNITS = ["per_request", "per_operation"] as const satisfies readonly PriceUnit[];

/** Kind of call that creates media. Its body contains everything except the input media. */
export interface MediaKind<
  Request = object,
  Checked extends CheckedMedia<unknown> = CheckedMedia<unknown>,
> extends PricedKind<Request, Checked> {
  check(request: Request, model: Model): Checked;
  /**
   * Returns the input media of the call. The entry point calls this function, and the worker calls it again to read the media. Small media
   * stays in the body.
   * @param kept media that is already stored for the call
   * @throws ApiError that names the invalid member
   */
  inputs(request: Request, model: Model, kept?: StoredInputs): Promise<readonly InputMedia[]>;
}

/** Implementation of `inputs` for kinds of calls without input media. */
export const NO_INPUTS = (): Promise<readonly InputMedia[]> => Promise.resolve([]);

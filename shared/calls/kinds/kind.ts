/** Description of one kind of call: the only place where routes, batch messages, estimates and workers read about it. */
import type { BatchMessage, JobMessage, Modality, SchemaName } from "#schemas/generated/types.ts";
import type { Code } from "#shared/errors.ts";
import type { JsonBounds } from "#shared/json.ts";
import type { Model } from "#shared/calls/model.ts";
import type { Price, PriceUnit } from "#shared/calls/pricing/price.ts";
import type { TokenUsage } from "#shared/calls/pricing/usage.ts";
import type { Pool } from "#shared/queue/subjects.ts";
import type { TimeSlices } from "#shared/time-slices.ts";
import type { Tokenizer } from "#shared/tokens/tokenizer.ts";

import type { CallBound } from "./call-bound.ts";
import type { StoredFiles } from "./chat/files.ts";
import type { InputMedia, StoredInputs } from "./input-media.ts";
import type { CheckedMedia } from "./media-check.ts";
import type { MeasuredAudio } from "./transcription.ts";

/** Kinds that a model of the catalogue serves. */
export type KindName = Exclude<JobMessage["kind"], "capability">;

/** Facts that the members of a request do not tell. */
export interface CallFacts {
  /** Size of the body: a token is at least one byte. */
  readonly bodyBytes: number;
  /** The stored files that a chat request names. */
  readonly files: StoredFiles;
  /** Length and size of the audio; undefined: the call brings none. */
  readonly recording?: MeasuredAudio | undefined;
}

/** A request that its model takes. */
export interface CheckedCall {
  readonly bound: CallBound;
  /** Price of the variant that the call asks for; absent: the model's. */
  readonly price?: Price;
}

/** A request as multipart/form-data: its fields are the members of the request in JSON. */
export interface FormParts {
  /** Properties of the request's schema that a field may set. */
  readonly members: Readonly<Record<string, { readonly type: string }>>;
  /** Name of each part with bytes. `member`: the request's member that contains them in base64; absent: they go to disk. */
  readonly files: Readonly<Record<string, { readonly isRequired?: true; readonly member?: string }>>;
}

/** The endpoint of a kind over HTTP: the words that users read of it, and the form of its answer. */
export interface KindRoute {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly request: { readonly schema: SchemaName; readonly form?: FormParts; readonly example?: object };
  /** `live`: as its worker answers. `results`: what a job made. `audio`: its bytes. `job`: the job itself, at once. */
  readonly answers: "live" | "results" | "audio" | "job";
  /** The body of a good answer. */
  readonly answer: {
    readonly description: string;
    readonly schema?: SchemaName;
    readonly texts?: readonly string[];
    readonly bytes?: readonly string[];
    readonly stream?: SchemaName | readonly SchemaName[];
    /** Headers beside those that tell the price and who served. */
    readonly headers?: readonly ("x-cache" | "x-max-tokens-lowered" | "x-voice-used")[];
  };
  /** Acts of the endpoint beside reading its body, finding its model and holding credits; its error codes follow from them. */
  readonly does?: readonly ("reads_conversation" | "reads_files" | "fetches_addresses")[];
  /** Codes of this kind alone. */
  readonly codes?: readonly Code[];
  /** Bounds of its body, where they are not those of every body. */
  readonly bounds?: JsonBounds;
  /** Place at which a caller asks for the states of its job as they come: the body or the address. */
  readonly statesBy?: "member" | "query";
  /** With `response_format: b64_json` the results are answered as they are, in place of links to them. */
  readonly answersInline?: true;
}

export interface Kind<Request = object, Checked extends CheckedCall = CheckedCall> {
  readonly name: KindName;
  /** Path of its HTTP endpoint; batch messages name it too. */
  readonly endpoint: Exclude<
    NonNullable<BatchMessage["endpoint"]>,
    "/v1/capabilities/{id}/run" | "/v1/workflows/{id}/runs"
  >;
  readonly pool: Pool;
  /** After its worker was lost while a provider worked: the job is found there again, or the call is lost. */
  readonly afterCrash: "resume" | "report_lost";
  /** Its results are kept as files of the workspace. */
  readonly keepsFiles: boolean;
  /** A record of its jobs is kept in the object store. A flood of calls of words should not write three objects each. */
  readonly keepsRecord: boolean;
  readonly route: KindRoute;
  /** Its messages may name stored files. */
  readonly namesFiles?: true;
  /** Its models, for messages. */
  readonly nouns: { readonly one: string; readonly all: string };
  /** True if the model takes such calls, whatever it has against one of them. */
  isOfKind(model: Model): boolean;
  /** True if a call with these members, of a model that several kinds call, is of this kind; absent: unless it is of another. */
  isMeantBy?(model: Model, members: Readonly<Record<string, unknown>>): boolean;
  /** @param body parsed JSON. @throws ApiError naming the member at fault */
  read(body: unknown): Request & { readonly model: string };
  /** @throws ApiError naming the member that the model does not take */
  check(request: Request, model: Model, facts: CallFacts): Checked;
  /** Tokens that such a call typically uses; absent: what it makes or hears is priced, or the most that it writes. */
  foresee?(request: Request, model: Model, checked: Checked, counting: Counting): Promise<TokenUsage>;
}

/** Means to count what a request holds. */
export interface Counting {
  readonly files: StoredFiles;
  readonly tokenizer: Pick<Tokenizer, "counting">;
  /** Texts are counted in these. */
  readonly slices: TimeSlices;
}

/** Kind of calls that make or hear media. */
export interface PricedKind<
  Request = object,
  Checked extends CheckedMedia<unknown> = CheckedMedia<unknown>,
> extends Kind<Request, Checked> {
  /** Models of it are called here first of all. */
  readonly modality: Modality;
  /** Units of price that they can have. */
  readonly units: readonly PriceUnit[];
  /** The media that they make or hear has a length, and is paid by it unless the catalogue says otherwise. */
  readonly hasLength: boolean;
  /** They bring audio, which is measured before the call is checked. */
  readonly bringsRecording?: true;
  /** Type of the tokens that they write, where tokens are paid. */
  readonly writes: keyof Pick<TokenUsage, "output" | "audioOutput" | "imageOutput">;
}

/** Price units that count the call itself, whatever its result. */
export const CALL_UNITS = ["per_request", "per_operation"] as const satisfies readonly PriceUnit[];

/** Kind of calls that make media: all they need is in their body, except the media that comes with it. */
export interface MediaKind<
  Request = object,
  Checked extends CheckedMedia<unknown> = CheckedMedia<unknown>,
> extends PricedKind<Request, Checked> {
  check(request: Request, model: Model): Checked;
  /**
   * Media that comes with the call. Found at its entry, and once more by its worker, which reads it: small media stays in the body.
   * @param kept what was stored for the call already
   * @throws ApiError naming the member at fault
   */
  inputs(request: Request, model: Model, kept?: StoredInputs): Promise<readonly InputMedia[]>;
}

/** For kinds that take words alone. */
export const NO_INPUTS = (): Promise<readonly InputMedia[]> => Promise.resolve([]);

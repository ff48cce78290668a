/** Written by deploy/generate.ts from schemas/*.schema.json: edit those, then run `npm run generate`. */

/**
 * What a model makes or does.
 */
export type Modality =
  "text" | "image" | "audio" | "stt" | "video" | "music" | "embedding" | "upscale" | "vision" | "object_3d";
/**
 * What is counted.
 */
export type PriceUnit =
  | "per_token"
  | "per_request"
  | "per_image"
  | "per_second"
  | "per_minute"
  | "per_character"
  | "per_operation"
  | "per_megapixel";
/**
 * One turn of a conversation; `role` decides which other members it has.
 */
export type ChatMessage =
  DeveloperMessage | SystemMessage | UserMessage | AssistantMessage | ToolMessage | FunctionMessage;
/**
 * A content block where nothing but text is taken.
 */
export type TextOnlyBlock = TextBlock;
/**
 * One block of a user message.
 */
export type UserContentBlock = TextBlock | ImageBlock | AudioBlock | FileBlock;
/**
 * One block of an earlier answer.
 */
export type AssistantContentBlock = TextBlock | RefusalBlock;
/**
 * A call the model asks its client to make.
 */
export type ToolCall = FunctionToolCall | CustomToolCall;
/**
 * Something the model may ask its client to do.
 */
export type ChatTool = FunctionTool | CustomTool;
/**
 * What the text handed to a custom tool looks like.
 */
export type CustomToolFormat = TextToolFormat | GrammarToolFormat;
/**
 * Whether tools may, must or must not be called, or which one.
 */
export type ToolChoice = ToolChoiceMode | NamedToolChoice;
/**
 * `none` forbids, `auto` leaves it to the model, `required` demands at least one call.
 */
export type ToolChoiceMode = "none" | "auto" | "required";
/**
 * One named tool, or a subset of the tools.
 */
export type NamedToolChoice = FunctionToolChoice | CustomToolChoice | AllowedToolsChoice;
/**
 * Shape of the answer's text.
 */
export type ResponseFormat = TextFormat | JsonObjectFormat | JsonSchemaFormat;
/**
 * Why the model stopped.
 */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";

/**
 * Title → type, for every schema that has a validator.
 */
export interface SchemaTypes {
  AllowedParams: AllowedParams;
  CatalogueFile: CatalogueFile;
  ChatLogprobs: ChatLogprobs;
  ChatMessage: ChatMessage;
  ChatTool: ChatTool;
  ErrorEnvelope: ErrorEnvelope;
  JobMessage: JobMessage;
  ModelEntry: ModelEntry;
  PresetEntry: PresetEntry;
  Pricing: Pricing;
  ProviderEntry: ProviderEntry;
  ChatCompletionRequest: ChatCompletionRequest;
  ChatCompletionChunk: ChatCompletionChunk;
  ChatCompletion: ChatCompletion;
  Health: Health;
  ModelList: ModelList;
  TokenUsageReport: TokenUsageReport;
  UsageRecord: UsageRecord;
}
/**
 * The generation knobs a model accepts. A member that is absent is not constrained, or not offered.
 */
export interface AllowedParams {
  /**
   * Most results one call may ask for.
   */
  max_n?: number;
  aspect_ratios?: string[];
  /**
   * Size labels such as `1K`.
   */
  image_sizes?: string[];
  /**
   * Width and height, such as `1024x1024`.
   */
  sizes?: string[];
  /**
   * Video resolutions.
   */
  resolutions?: string[];
  qualities?: string[];
  styles?: string[];
  background?: string[];
  output_formats?: string[];
  response_formats?: string[];
  person_generation?: string[];
  voices?: string[];
  /**
   * Kinds of input taken. For chat models: `text`, `image`, `audio`, `file`.
   */
  supported_inputs?: string[];
  /**
   * A voice may be described in words.
   */
  accepts_voice_instructions?: boolean;
  /**
   * A voice must be described in words.
   */
  requires_voice_instructions?: boolean;
  /**
   * Lengths on offer, in seconds.
   */
  durations?: number[];
  /**
   * Seconds, when the call names none.
   */
  default_duration?: number;
  max_duration_seconds?: number;
  /**
   * Values used when the call leaves a parameter out.
   */
  default_params?: {
    [k: string]: unknown;
  };
  /**
   * How far an edit may go from its source image.
   */
  strength?: {
    min: number;
    max: number;
    required: boolean;
  };
  requires_input_image?: boolean;
  requires_input_video?: boolean;
  requires_input_audio?: boolean;
  requires_input_3d?: boolean;
  accepts_input_image?: boolean;
  accepts_input_video?: boolean;
  max_file_size_bytes?: number;
  max_image_size_bytes?: number;
  max_pdf_size_bytes?: number;
  max_pdf_pages?: number;
  max_audio_size_bytes?: number;
  max_audio_duration_seconds?: number;
  max_files?: number;
}
/**
 * A catalogue file, ours or an operator's. Files are laid over each other in order: an entry whose id is already known changes only what it names, so only the id is required here; what a whole model needs is checked after all files are read.
 */
export interface CatalogueFile {
  providers?: ProviderEntry[];
  presets?: PresetEntry[];
  models?: CatalogueModel[];
}
/**
 * A provider in a catalogue file: who answers, in which dialect, where, and which variable of the environment holds our key. An entry whose id is already known changes only the members it names.
 */
export interface ProviderEntry {
  /**
   * Name that sources use.
   */
  id: string;
  /**
   * Takes the provider out: sources that name it are passed over.
   */
  disabled?: boolean;
  /**
   * Dialect spoken. Needed once, in the first file that names the provider.
   */
  family?: "sandbox" | "openai-compatible";
  /**
   * Address in front of `/chat/completions`; http or https, without credentials, query or fragment.
   */
  base_url?: string;
  /**
   * Variable that holds the key; absent, no key is needed.
   */
  api_key_env?: string;
}
/**
 * A quota preset in a catalogue file. An entry whose name is already known changes only the members it gives.
 */
export interface PresetEntry {
  /**
   * Name that keys use.
   */
  name: string;
  /**
   * Takes the preset out.
   */
  disabled?: boolean;
  /**
   * Calls in any 60 seconds, for the whole workspace; null is no limit. The window remembers 4,096 calls, so larger limits cannot be kept exactly.
   */
  requests_per_minute?: number | null;
  /**
   * Tokens in a day that ends at midnight UTC; null is no limit.
   */
  daily_tokens?: number | null;
}
/**
 * A model, or changes to one.
 */
export interface CatalogueModel {
  /**
   * The value of `model` in a call. No slash: it is also one segment of a path.
   */
  slug: string;
  /**
   * Takes the model out.
   */
  disabled?: boolean;
  /**
   * Rows of kind `tool` are listed on request only.
   */
  kind?: "model" | "tool";
  modality?: Modality;
  /**
   * Whose model it is.
   */
  owned_by?: string;
  /**
   * Unix seconds.
   */
  created?: number;
  supports_chat?: boolean;
  supports_embeddings?: boolean;
  supports_streaming?: boolean;
  supports_tools?: boolean;
  /**
   * Answers can be bound to a JSON schema. Absent: not known, the source decides.
   */
  supports_json?: boolean;
  /**
   * Prompt and answer together.
   */
  max_context_tokens?: number;
  max_output_tokens?: number;
  /**
   * Most tokens one image of a prompt can cost: bounds what is held for a call with images.
   */
  tokens_per_image_max?: number;
  pricing?: PricingText;
  price_source?: PriceSource;
  allowed_params?: AllowedParams;
  /**
   * Who can serve the model, the preferred one first.
   *
   * @minItems 1
   */
  sources?: SourceEntry[];
}
/**
 * Prices in credits as decimal text in quotes, so that no digit is lost on the way. A token rate is per million tokens.
 */
export interface PricingText {
  currency?: "credits";
  unit?: PriceUnit;
  input_per_million?: string;
  output_per_million?: string;
  audio_input_per_million?: string;
  audio_output_per_million?: string;
  image_input_per_million?: string;
  image_output_per_million?: string;
  cached_input_per_million?: string;
  cache_write_per_million?: string;
  cache_write_1h_per_million?: string;
  request_price?: string;
  image_price?: string;
  second_price?: string;
  minute_price?: string;
  character_price?: string;
  operation_price?: string;
  megapixel_price?: string;
}
/**
 * Where the prices were read, and when.
 */
export interface PriceSource {
  source: string;
  date: string;
}
/**
 * A provider that serves the model, the name it knows it by, and how requests are adapted to it. Drops come first, then renames, then overrides.
 */
export interface SourceEntry {
  provider: string;
  model: string;
  /**
   * Request members that this source refuses and that may be left out without changing what the caller gets.
   */
  drop_params?: string[];
  /**
   * Our name of a request member → the name this source knows.
   */
  rename_params?: {
    [k: string]: string;
  };
  /**
   * Request members set whatever the caller sent.
   */
  overrides?: {
    [k: string]: unknown;
  };
}
/**
 * Log probabilities of the tokens of one choice.
 */
export interface ChatLogprobs {
  content?: TokenLogprob[] | null;
  refusal?: TokenLogprob[] | null;
  [k: string]: unknown;
}
/**
 * One token and what else might have stood there.
 */
export interface TokenLogprob {
  token: string;
  logprob: number;
  /**
   * The token's UTF-8 bytes.
   */
  bytes?: number[] | null;
  top_logprobs?: TokenAlternative[];
  [k: string]: unknown;
}
/**
 * A token that might have stood in the same place.
 */
export interface TokenAlternative {
  token: string;
  logprob: number;
  bytes?: number[] | null;
  [k: string]: unknown;
}
/**
 * Instructions of the application's author; newer models take these in place of a system message.
 */
export interface DeveloperMessage {
  role: "developer";
  /**
   * Text, or text blocks.
   *
   * @minItems 1
   */
  content: string | TextOnlyBlock[];
  /**
   * Tells apart participants that share a role.
   */
  name?: string;
  [k: string]: unknown;
}
/**
 * Plain text.
 */
export interface TextBlock {
  type: "text";
  text: string;
  [k: string]: unknown;
}
/**
 * Instructions that precede the conversation.
 */
export interface SystemMessage {
  role: "system";
  /**
   * Text, or text blocks.
   *
   * @minItems 1
   */
  content: string | TextOnlyBlock[];
  /**
   * Tells apart participants that share a role.
   */
  name?: string;
  [k: string]: unknown;
}
/**
 * What the end user said, showed or attached.
 */
export interface UserMessage {
  role: "user";
  /**
   * Text, or blocks of text, images, audio and files. The model's `allowed_params.supported_inputs` says which blocks it takes.
   *
   * @minItems 1
   */
  content: string | UserContentBlock[];
  /**
   * Tells apart participants that share a role.
   */
  name?: string;
  [k: string]: unknown;
}
/**
 * A picture the model should look at.
 */
export interface ImageBlock {
  type: "image_url";
  image_url: {
    /**
     * An http(s) address, or the picture itself as a data URL.
     */
    url: string;
    /**
     * How closely to look; decides how many tokens the picture costs.
     */
    detail?: "auto" | "low" | "high";
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A recording the model should listen to.
 */
export interface AudioBlock {
  type: "input_audio";
  input_audio: {
    /**
     * The recording in base64.
     */
    data: string;
    format: "wav" | "mp3";
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A document the model should read: sent along as `file_data`, or named by an address. `file_id` names a stored file, once there is a file store.
 */
export interface FileBlock {
  type: "file";
  file: {
    [k: string]: unknown;
  } & {
    /**
     * Id of a file in the workspace's file store.
     */
    file_id?: string;
    /**
     * The file as a data URL, or its http(s) address.
     */
    file_data?: string;
    /**
     * An http(s) address of the file.
     */
    file_url?: string;
    filename?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * An earlier answer of the model. `content` may be left out or null when the message carries tool calls, a function call, a refusal or audio.
 */
export interface AssistantMessage {
  role: "assistant";
  /**
   * Text, or text and refusal blocks.
   *
   * @minItems 1
   */
  content?: string | AssistantContentBlock[] | null;
  /**
   * What the model said when it declined.
   */
  refusal?: string | null;
  /**
   * Tells apart participants that share a role.
   */
  name?: string;
  /**
   * Names an earlier spoken answer.
   */
  audio?: {
    id: string;
    [k: string]: unknown;
  } | null;
  /**
   * The model's visible reasoning, returned to models that want it back.
   */
  reasoning_content?: string | null;
  /**
   * Calls the model asked for; each is answered by a tool message.
   */
  tool_calls?: ToolCall[];
  /**
   * @deprecated
   * Forerunner of `tool_calls`.
   */
  function_call?: {
    name: string;
    arguments: string;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * What the model said when it declined.
 */
export interface RefusalBlock {
  type: "refusal";
  refusal: string;
  [k: string]: unknown;
}
/**
 * A call of a function tool.
 */
export interface FunctionToolCall {
  /**
   * Repeated by the tool message that answers.
   */
  id: string;
  type: "function";
  function: {
    name: string;
    /**
     * JSON as text, written by the model: check it before use.
     */
    arguments: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A call of a custom tool.
 */
export interface CustomToolCall {
  /**
   * Repeated by the tool message that answers.
   */
  id: string;
  type: "custom";
  custom: {
    name: string;
    /**
     * Free text written by the model.
     */
    input: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * The result of one tool call.
 */
export interface ToolMessage {
  role: "tool";
  /**
   * Text, or text blocks.
   *
   * @minItems 1
   */
  content: string | TextOnlyBlock[];
  /**
   * `id` of the tool call this answers.
   */
  tool_call_id: string;
  [k: string]: unknown;
}
/**
 * @deprecated
 * Forerunner of the tool message.
 */
export interface FunctionMessage {
  role: "function";
  content: string | null;
  /**
   * Name of the function that was called.
   */
  name: string;
  [k: string]: unknown;
}
/**
 * A function called with JSON arguments.
 */
export interface FunctionTool {
  type: "function";
  function: FunctionDefinition;
  [k: string]: unknown;
}
/**
 * What the model is told about a function.
 */
export interface FunctionDefinition {
  name: string;
  /**
   * When and how to use it.
   */
  description?: string;
  /**
   * JSON Schema of the arguments; left out, the function takes none.
   */
  parameters?: {
    [k: string]: unknown;
  };
  /**
   * Hold the model to the schema exactly.
   */
  strict?: boolean | null;
  [k: string]: unknown;
}
/**
 * A tool called with free text, optionally bound by a grammar.
 */
export interface CustomTool {
  type: "custom";
  custom: {
    name: string;
    description?: string;
    format?: CustomToolFormat;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Any text.
 */
export interface TextToolFormat {
  type: "text";
  [k: string]: unknown;
}
/**
 * Text of a grammar.
 */
export interface GrammarToolFormat {
  type: "grammar";
  grammar: {
    definition: string;
    syntax: "lark" | "regex";
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Body of every answer that is not a success. Programs branch on `code`; `message` is for people and may be reworded.
 */
export interface ErrorEnvelope {
  error: {
    /**
     * One plain sentence.
     */
    message: string;
    type:
      | "invalid_request_error"
      | "authentication_error"
      | "permission_error"
      | "quota_exceeded"
      | "rate_limit_error"
      | "server_error";
    /**
     * Stable name of the condition; new ones may be added.
     */
    code: string | null;
    /**
     * Path of the offending request parameter, such as `messages[0].content`.
     */
    param: string | null;
    /**
     * Present when paid work exists under this id: collect its result, do not send the call again.
     */
    job_id?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Work message on `work.<pool>.<lane>.<workspace>`: published by our own processes for a job that is already admitted. Carries the request itself, or a claim check when that is large.
 */
export interface JobMessage {
  job_id: string;
  attempt: number;
  /**
   * Raised each time the job is put on the queue again.
   */
  dispatch: number;
  kind: "chat";
  /**
   * Id of the call as its client sees it.
   */
  request_id: string;
  workspace_id: string;
  /**
   * The API key that made the call.
   */
  key_id: string;
  /**
   * Slug the client asked for.
   */
  model: string;
  /**
   * Nano-credits held; digits, since JSON numbers lose precision.
   */
  hold_nano: string;
  /**
   * The settle may take more than the hold: a chat call that set no output limit.
   */
  may_exceed: boolean;
  /**
   * Output tokens the hold was made for.
   */
  output_tokens_max: number;
  /**
   * Price captured when the hold was placed.
   */
  price: {
    [k: string]: unknown;
  };
  /**
   * Unix milliseconds after which nobody waits any more.
   */
  deadline_ms: number;
  /**
   * The client's body.
   */
  request?: {
    [k: string]: unknown;
  };
  /**
   * Object-store key of the client's body.
   */
  request_ref?: string;
  [k: string]: unknown;
}
/**
 * One model of the catalogue. What is beyond the common model object of chat APIs stands under `_svc`.
 */
export interface ModelEntry {
  /**
   * Slug: the value of `model` in a call.
   */
  id: string;
  object: "model";
  /**
   * Unix seconds.
   */
  created: number;
  /**
   * Whose model it is.
   */
  owned_by: string;
  permission: unknown[];
  root: string;
  parent: string | null;
  _svc: ModelFacts;
  [k: string]: unknown;
}
export interface ModelFacts {
  modality: Modality;
  supports_chat: boolean;
  supports_embeddings: boolean;
  supports_streaming: boolean;
  supports_tools: boolean;
  /**
   * Prompt and answer together.
   */
  max_context_tokens: number;
  max_output_tokens: number;
  pricing: Pricing;
  allowed_params: AllowedParams;
  [k: string]: unknown;
}
/**
 * What a model or capability costs, in credits. Priced per token it has rates per million tokens; priced by any other unit it has exactly one price, named after the unit.
 */
export interface Pricing {
  /**
   * One credit is 0.01 US dollar.
   */
  currency: "credits";
  unit: PriceUnit;
  /**
   * Million text tokens read.
   */
  input_per_million?: number;
  /**
   * Million text tokens written, reasoning included.
   */
  output_per_million?: number;
  /**
   * Million audio tokens read; absent, they cost what text costs.
   */
  audio_input_per_million?: number;
  /**
   * Million audio tokens written.
   */
  audio_output_per_million?: number;
  /**
   * Million image tokens read; absent, they cost what text costs.
   */
  image_input_per_million?: number;
  /**
   * Million image tokens written.
   */
  image_output_per_million?: number;
  /**
   * Million tokens read from a prompt cache; absent, the input rate holds.
   */
  cached_input_per_million?: number;
  /**
   * Million tokens written to a prompt cache for five minutes.
   */
  cache_write_per_million?: number;
  /**
   * Million tokens written to a prompt cache for an hour.
   */
  cache_write_1h_per_million?: number;
  /**
   * One call.
   */
  request_price?: number;
  /**
   * One delivered image.
   */
  image_price?: number;
  /**
   * One second of compute.
   */
  second_price?: number;
  /**
   * One minute of audio.
   */
  minute_price?: number;
  /**
   * One character of input.
   */
  character_price?: number;
  /**
   * One operation.
   */
  operation_price?: number;
  /**
   * One million pixels.
   */
  megapixel_price?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/chat/completions. Members not named here are accepted and passed on to OpenAI-compatible sources.
 */
export interface ChatCompletionRequest {
  /**
   * Slug of a chat model from GET /v1/models.
   */
  model: string;
  /**
   * The conversation so far, oldest first.
   *
   * @minItems 1
   */
  messages: ChatMessage[];
  /**
   * Send the answer as server-sent events while it is written.
   */
  stream?: boolean | null;
  /**
   * Used with `stream` only.
   */
  stream_options?: {
    /**
     * End the stream with a chunk that has no choices and the token usage.
     */
    include_usage?: boolean;
    /**
     * Passed on to sources that pad their chunks.
     */
    include_obfuscation?: boolean;
    [k: string]: unknown;
  } | null;
  /**
   * Most tokens the answer may have, reasoning included.
   */
  max_completion_tokens?: number | null;
  /**
   * Older name of `max_completion_tokens`, which wins when both are sent.
   */
  max_tokens?: number | null;
  /**
   * Randomness; 0 is the most repeatable.
   */
  temperature?: number | null;
  /**
   * Sample from the most likely tokens that together reach this probability.
   */
  top_p?: number | null;
  /**
   * How many answers; each is billed.
   */
  n?: number | null;
  /**
   * Texts that end the answer when the model would write them.
   *
   * @maxItems 16
   */
  stop?: string | string[] | null;
  /**
   * Makes tokens less likely the more often they already occur.
   */
  frequency_penalty?: number | null;
  /**
   * Makes tokens less likely once they occur at all.
   */
  presence_penalty?: number | null;
  /**
   * Token id → bias from -100 to 100.
   */
  logit_bias?: {
    [k: string]: number;
  } | null;
  /**
   * Report the log probability of each token of the answer.
   */
  logprobs?: boolean | null;
  /**
   * Alternatives to report per token; needs `logprobs`.
   */
  top_logprobs?: number | null;
  /**
   * Asks for the same answer to the same call, as far as the model can.
   */
  seed?: number | null;
  /**
   * What the model may call.
   */
  tools?: ChatTool[];
  tool_choice?: ToolChoice;
  /**
   * Allow several tool calls in one answer.
   */
  parallel_tool_calls?: boolean;
  response_format?: ResponseFormat;
  /**
   * How much to think before answering, in the model's own steps, such as `low` or `high`.
   */
  reasoning_effort?: string | null;
  /**
   * How long answers should be.
   */
  verbosity?: "low" | "medium" | "high" | null;
  /**
   * Kinds of answer wanted.
   */
  modalities?: ("text" | "audio")[] | null;
  /**
   * Voice and format of a spoken answer; needs `audio` in `modalities`.
   */
  audio?: {
    /**
     * Name of a voice, or the id of a custom one.
     */
    voice:
      | string
      | {
          id: string;
          [k: string]: unknown;
        };
    format: "wav" | "aac" | "mp3" | "flac" | "opus" | "pcm16";
    [k: string]: unknown;
  } | null;
  /**
   * Text that much of the answer is expected to repeat; speeds up edits.
   */
  prediction?: {
    type: "content";
    /**
     * @minItems 1
     */
    content: string | TextOnlyBlock[];
    [k: string]: unknown;
  } | null;
  /**
   * For models that search the web by themselves.
   */
  web_search_options?: {
    search_context_size?: "low" | "medium" | "high";
    user_location?: {
      type: "approximate";
      approximate: {
        country?: string;
        region?: string;
        city?: string;
        timezone?: string;
        [k: string]: unknown;
      };
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  };
  /**
   * Processing tier of the source, passed on.
   */
  service_tier?: string | null;
  /**
   * Passed on; we keep no conversation either way.
   */
  store?: boolean | null;
  /**
   * Labels of the caller's own.
   */
  metadata?: {
    [k: string]: string;
  } | null;
  /**
   * The caller's name for its end user.
   */
  user?: string;
  /**
   * Stable pseudonym of the end user, for the source's abuse checks.
   */
  safety_identifier?: string | null;
  /**
   * Groups calls that share a long beginning, for sources that cache prompts.
   */
  prompt_cache_key?: string | null;
  /**
   * @deprecated
   * Forerunner of `tools`.
   */
  functions?: {
    name: string;
    [k: string]: unknown;
  }[];
  /**
   * @deprecated
   * Forerunner of `tool_choice`.
   */
  function_call?:
    | string
    | {
        name: string;
        [k: string]: unknown;
      };
  [k: string]: unknown;
}
/**
 * Calls this function.
 */
export interface FunctionToolChoice {
  type: "function";
  function: {
    name: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Calls this custom tool.
 */
export interface CustomToolChoice {
  type: "custom";
  custom: {
    name: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Narrows the tools for this call without resending the list.
 */
export interface AllowedToolsChoice {
  type: "allowed_tools";
  allowed_tools: {
    mode: "auto" | "required";
    tools: {
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Any text.
 */
export interface TextFormat {
  type: "text";
  [k: string]: unknown;
}
/**
 * One JSON object of no fixed shape; the messages should ask for JSON too.
 */
export interface JsonObjectFormat {
  type: "json_object";
  [k: string]: unknown;
}
/**
 * JSON that meets a schema.
 */
export interface JsonSchemaFormat {
  type: "json_schema";
  json_schema: {
    name: string;
    /**
     * Tells the model what the answer is for.
     */
    description?: string;
    /**
     * JSON Schema of the answer.
     */
    schema?: {
      [k: string]: unknown;
    };
    /**
     * Hold the model to the schema exactly.
     */
    strict?: boolean | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * One event of a streamed answer. All chunks of a stream share `id`, `created` and `model`; the stream ends with `data: [DONE]`, or with an error event and no `[DONE]`.
 */
export interface ChatCompletionChunk {
  id: string;
  object: "chat.completion.chunk";
  /**
   * Unix seconds.
   */
  created: number;
  /**
   * The model that serves the call.
   */
  model: string;
  /**
   * Empty in the usage chunk.
   */
  choices: ChatChunkChoice[];
  /**
   * Only when `stream_options.include_usage` was set: null until the last chunk.
   */
  usage?: TokenUsageReport | null;
  service_tier?: string | null;
  system_fingerprint?: string | null;
  [k: string]: unknown;
}
/**
 * What was added to one choice.
 */
export interface ChatChunkChoice {
  index: number;
  delta: ChatAnswerDelta;
  /**
   * Set in the choice's last chunk.
   */
  finish_reason: FinishReason | null;
  logprobs?: ChatLogprobs | null;
  [k: string]: unknown;
}
/**
 * Pieces to append; `role` comes once, in the first.
 */
export interface ChatAnswerDelta {
  role?: "developer" | "system" | "user" | "assistant" | "tool";
  content?: string | null;
  refusal?: string | null;
  reasoning_content?: string | null;
  tool_calls?: ToolCallDelta[];
  /**
   * @deprecated
   */
  function_call?: {
    name?: string;
    arguments?: string;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * A piece of a tool call. Pieces of one call share `index`; `id` and the name come in its first piece.
 */
export interface ToolCallDelta {
  index: number;
  id?: string;
  type?: string;
  function?: {
    name?: string;
    arguments?: string;
    [k: string]: unknown;
  };
  custom?: {
    name?: string;
    input?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Tokens a chat call used. The details are parts of the totals, not additions to them.
 */
export interface TokenUsageReport {
  /**
   * Everything the model read.
   */
  prompt_tokens: number;
  /**
   * Everything the model wrote, reasoning included.
   */
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: {
    /**
     * Read from the source's prompt cache.
     */
    cached_tokens?: number;
    /**
     * Written to the source's prompt cache.
     */
    cache_write_tokens?: number;
    audio_tokens?: number;
    image_tokens?: number;
    [k: string]: unknown;
  };
  completion_tokens_details?: {
    /**
     * Thought but not shown as content.
     */
    reasoning_tokens?: number;
    audio_tokens?: number;
    image_tokens?: number;
    accepted_prediction_tokens?: number;
    rejected_prediction_tokens?: number;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Answer to a chat call that was not streamed. Members the source adds are kept.
 */
export interface ChatCompletion {
  id: string;
  object: "chat.completion";
  /**
   * Unix seconds.
   */
  created: number;
  /**
   * The model that served the call.
   */
  model: string;
  choices: ChatChoice[];
  usage?: TokenUsageReport;
  service_tier?: string | null;
  system_fingerprint?: string | null;
  [k: string]: unknown;
}
/**
 * One of the `n` answers.
 */
export interface ChatChoice {
  index: number;
  message: ChatAnswer;
  finish_reason: FinishReason;
  logprobs?: ChatLogprobs | null;
  [k: string]: unknown;
}
/**
 * What the model wrote.
 */
export interface ChatAnswer {
  role: "assistant";
  content: string | null;
  refusal?: string | null;
  /**
   * Visible reasoning, from models that show it.
   */
  reasoning_content?: string | null;
  tool_calls?: ToolCall[];
  /**
   * @deprecated
   */
  function_call?: {
    name: string;
    arguments: string;
    [k: string]: unknown;
  } | null;
  /**
   * Sources the model cites.
   */
  annotations?: {
    [k: string]: unknown;
  }[];
  /**
   * The spoken answer.
   */
  audio?: {
    id: string;
    /**
     * Sound in base64.
     */
    data: string;
    transcript: string;
    /**
     * Unix seconds.
     */
    expires_at?: number;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * State of one process. Liveness has a status only; readiness names each thing the process depends on.
 */
export interface Health {
  status: "ok" | "unavailable";
  /**
   * Dependency → whether it answers.
   */
  checks?: {
    [k: string]: "ok" | "failed";
  };
  [k: string]: unknown;
}
/**
 * Every model that can be called now. There is no endpoint for a single model: the list carries everything.
 */
export interface ModelList {
  object: "list";
  data: ModelEntry[];
  [k: string]: unknown;
}
/**
 * What one call used and cost. `request_id` is the `x-request-id` of the call's answer.
 */
export interface UsageRecord {
  request_id: string;
  job_id: string;
  /**
   * What was called.
   */
  kind: "chat";
  /**
   * The model that served the call.
   */
  model: string;
  /**
   * The model the client asked for, when another one served.
   */
  requested_model?: string;
  /**
   * `lost`: the process that served the call died, and what had reached the client was settled.
   */
  status: "succeeded" | "failed" | "cancelled" | "lost";
  /**
   * Unit → amount; token kinds never overlap.
   */
  units: {
    [k: string]: number;
  };
  /**
   * Credits taken.
   */
  credits: number;
  /**
   * Credits due beyond what the balance held.
   */
  uncollected_credits?: number;
  /**
   * True when the source reported nothing usable and we counted ourselves.
   */
  estimated: boolean;
  /**
   * Unix seconds.
   */
  created: number;
  [k: string]: unknown;
}

export type SchemaName = keyof SchemaTypes;

/** Written by deploy/generate.ts from schemas/*.schema.json: edit those, then run `npm run generate`. */

export type CapabilityModality = "video" | "audio" | "image" | "document" | "text" | "archive" | "any";
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
 * What a model makes or does.
 */
export type Modality =
  "text" | "image" | "audio" | "stt" | "video" | "music" | "embedding" | "upscale" | "vision" | "object_3d";
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
export type ChatTool = FunctionTool | CustomTool | SluiceTool;
/**
 * What the text handed to a custom tool looks like.
 */
export type CustomToolFormat = TextToolFormat | GrammarToolFormat;
/**
 * `metadata` of the event `job.completed`. A durable job or a batch completed: an object with `jobId` is about a job, one with `batchId` about a batch.
 */
export type JobCompleted = JobCompletedOfJob | JobCompletedOfBatch;
/**
 * `metadata` of the event `job.failed`. A durable job failed, or a batch failed or expired: an object with `jobId` is about a job, one with `batchId` about a batch.
 */
export type JobFailed = JobFailedOfJob | JobFailedOfBatch;
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
 * Slug of a chat model from GET /v1/models.
 */
export type MessagesModel = string;
/**
 * One turn of a conversation.
 */
export type MessagesTurn = MessagesUserTurn | MessagesAssistantTurn | MessagesSystemTurn;
/**
 * One block of a user turn.
 */
export type MessagesUserBlock =
  MessagesText | MessagesImage | MessagesDocument | MessagesSearchResult | MessagesToolResult;
/**
 * Cache the prompt up to here, on sources that take such hints.
 */
export type MessagesCacheControl = {
  type: "ephemeral";
  ttl?: "5m" | "1h" | null;
  [k: string]: unknown;
} | null;
/**
 * The image itself, its address, or a stored file.
 */
export type MessagesImageSource = MessagesImageBytes | MessagesUrl | MessagesFile;
/**
 * The document itself, its address, or a stored file.
 */
export type MessagesDocumentSource =
  MessagesPdfBytes | MessagesPlainText | MessagesUrl | MessagesFile | MessagesInnerBlocks;
/**
 * Text or an image inside a document.
 */
export type MessagesInnerBlock = MessagesText | MessagesImage;
/**
 * A block where nothing but text is taken.
 */
export type MessagesTextOnlyBlock = MessagesText;
/**
 * One block of what a tool returned.
 */
export type MessagesResultBlock =
  MessagesText | MessagesImage | MessagesDocument | MessagesSearchResult | MessagesToolReference;
/**
 * One block of an earlier answer.
 */
export type MessagesAssistantBlock = MessagesText | MessagesThinkingBlock | MessagesRedactedThinking | MessagesToolUse;
/**
 * The conversation so far, oldest first.
 *
 * @minItems 1
 */
export type MessagesTurns = MessagesTurn[];
/**
 * Instructions that precede the conversation: text, or text blocks.
 */
export type MessagesSystem = string | MessagesTextOnlyBlock[] | null;
/**
 * What the model may ask its client to do.
 */
export type MessagesTools = MessagesTool[] | null;
/**
 * Whether tools may, must or must not be called, or which one.
 */
export type MessagesToolChoice = {
  /**
   * `any` demands at least one call, `tool` the one named.
   */
  type: "auto" | "any" | "tool" | "none";
  /**
   * With `tool`: which.
   */
  name?: string;
  /**
   * At most one call per answer.
   */
  disable_parallel_tool_use?: boolean | null;
  [k: string]: unknown;
} | null;
/**
 * How much to think. Becomes a step of effort: `disabled` none; `enabled` low for budgets under 4,096 tokens, medium under 16,384, high from there on; `adaptive` high. `output_config.effort` outweighs all but `disabled`.
 */
export type MessagesThinking = {
  type: "enabled" | "adaptive" | "disabled";
  /**
   * With `enabled`.
   */
  budget_tokens?: number | null;
  [k: string]: unknown;
} | null;
/**
 * Effort and shape of the answer.
 */
export type MessagesOutputConfig = {
  /**
   * In the model's own steps, such as `low` or `high`. Without `thinking` it asks Claude models for no thinking.
   */
  effort?: string | null;
  /**
   * JSON that meets a schema.
   */
  format?: {
    type: "json_schema";
    schema: {
      [k: string]: unknown;
    };
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
} | null;
/**
 * Something the model may call: its client does it, or the service.
 */
export type ResponsesTool =
  | ResponsesFunctionTool
  | ResponsesCustomTool
  | SluiceTool
  | ResponsesImageTool
  | ResponsesNamespaceTool
  | ResponsesSearchTool
  | ResponsesWebSearchTool;
/**
 * Form of the text handed to a custom tool.
 */
export type ResponsesCustomFormat = ResponsesTextInput | ResponsesGrammarInput;
/**
 * A tool in a namespace.
 */
export type ResponsesNamespacedTool = ResponsesFunctionTool | ResponsesCustomTool;
/**
 * Whether tools may, must or must not be called, or which one.
 */
export type ResponsesToolChoice = ResponsesToolChoiceMode | ResponsesNamedChoice;
/**
 * `none` forbids, `auto` leaves it to the model, `required` demands at least one call.
 */
export type ResponsesToolChoiceMode = "none" | "auto" | "required";
/**
 * One named tool, or a subset of the tools.
 */
export type ResponsesNamedChoice =
  | ResponsesFunctionChoice
  | ResponsesCustomChoice
  | ResponsesImageChoice
  | ResponsesSearchChoice
  | ResponsesAllowedTools;
/**
 * A tool by its name, the search for tools, or the tool that makes images.
 */
export type ResponsesAllowedTool =
  ResponsesFunctionChoice | ResponsesCustomChoice | ResponsesImageChoice | ResponsesSearchChoice;
/**
 * Shape of the answer's text.
 */
export type ResponsesFormat = ResponsesTextFormat | ResponsesJsonObject | ResponsesJsonSchema;
/**
 * One item of a conversation. An item without `type` is a message.
 */
export type ResponsesItem = ResponsesMessage | ResponsesTypedItem;
/**
 * One part of a message.
 */
export type ResponsesContentPart =
  | ResponsesInputText
  | ResponsesInputImage
  | ResponsesInputFile
  | ResponsesSealedPart
  | ResponsesOutputText
  | ResponsesRefusal;
/**
 * An item that is no message: calls of tools and their results, earlier reasoning, tools that are added. A type that is not described here is shown to the model as text.
 */
export type ResponsesTypedItem =
  | ResponsesReasoning
  | ResponsesFunctionCall
  | ResponsesFunctionCallOutput
  | ResponsesCustomCall
  | ResponsesCustomCallOutput
  | ResponsesItemReference
  | ResponsesCompaction
  | ResponsesSluiceCall
  | ResponsesImageCall
  | ResponsesToolSearchCall
  | ResponsesToolSearchOutput
  | ResponsesAdditionalTools
  | ResponsesForeignItem;
/**
 * One part of what a tool returned.
 */
export type ResponsesInputPart = ResponsesInputText | ResponsesInputImage | ResponsesInputFile | ResponsesSealedPart;
/**
 * Why the model stopped.
 */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";
/**
 * Of a call with a tool of type `sluice`: a run that begins or has ended, or in the last chunk what all came to.
 */
export type ChatSluiceEvent = SluiceCall | SluiceSummary;
/**
 * One event of a streamed answer; its `event:` line repeats `type`. Blocks come one after the other under indexes from 0. A stream that fails ends with an `error` event and without `message_stop`.
 */
export type MessageStreamEvent =
  | MessageStart
  | MessagePing
  | MessageBlockStart
  | MessageBlockDelta
  | MessageBlockStop
  | MessageDelta
  | MessageStop
  | MessageError;
/**
 * One block of what the model wrote.
 */
export type MessageBlock = MessageText | MessageThinking | MessageRedactedThinking | MessageToolUse;
/**
 * Why the model stopped.
 */
export type MessageStopReason = "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal";
/**
 * Text, JSON of a tool's input, thinking, or a thinking block's signature.
 */
export type MessagePiece = MessageTextPiece | MessageInputPiece | MessageThinkingPiece | MessageSignature;
/**
 * One event of a streamed answer; its `event:` line repeats `type`, and `sequence_number` rises by one from 0. Items come under indexes from 0. A stream ends with `data: [DONE]`; one that fails has `error` and `response.failed` before it.
 */
export type ResponseStreamEvent =
  | ResponseCreated
  | ResponseQueued
  | ResponseInProgress
  | ResponseCompleted
  | ResponseIncomplete
  | ResponseFailed
  | ResponseItemAdded
  | ResponseItemDone
  | ResponsePartAdded
  | ResponsePartDone
  | ResponseTextDelta
  | ResponseTextDone
  | ResponseAnnotationAdded
  | ResponseRefusalDelta
  | ResponseRefusalDone
  | ResponseReasoningDelta
  | ResponseReasoningDone
  | ResponseSummaryPartAdded
  | ResponseSummaryPartDone
  | ResponseSummaryDelta
  | ResponseSummaryDone
  | ResponseArgumentsDelta
  | ResponseArgumentsDone
  | ResponseCustomDelta
  | ResponseCustomDone
  | ResponseImageInProgress
  | ResponseImageGenerating
  | ResponseImageCompleted
  | ResponseError;
/**
 * One item of what the model wrote.
 */
export type ResponseItem =
  | ResponseMessage
  | ResponseReasoning
  | ResponseFunctionCall
  | ResponseCustomCall
  | ResponseToolSearchCall
  | SluiceCall
  | ResponseImageCall;
/**
 * One part of the words of an answer.
 */
export type ResponsePart = ResponseText | ResponseRefusal;
/**
 * A part of a message or of reasoning.
 */
export type ResponseAnyPart = ResponseText | ResponseRefusal | ResponseReasoningText;

/**
 * Title → type, for every schema that has a validator.
 */
export interface SchemaTypes {
  AllowedParams: AllowedParams;
  BatchAnswer: BatchAnswer;
  BatchMessage: BatchMessage;
  CapabilityEntry: CapabilityEntry;
  CatalogueFile: CatalogueFile;
  ChatLogprobs: ChatLogprobs;
  ChatMessage: ChatMessage;
  SluiceSummary: SluiceSummary;
  ChatTool: ChatTool;
  DurableMessage: DurableMessage;
  ErrorEnvelope: ErrorEnvelope;
  BudgetThresholdReached: BudgetThresholdReached;
  JobCompleted: JobCompleted;
  JobFailed: JobFailed;
  RunCancelled: RunCancelled;
  RunFailed: RunFailed;
  RunRetrying: RunRetrying;
  RunStarted: RunStarted;
  RunSucceeded: RunSucceeded;
  TemplateUnavailable: TemplateUnavailable;
  JobMessage: JobMessage;
  MediaOutcome: MediaOutcome;
  ModelEntry: ModelEntry;
  PresetEntry: PresetEntry;
  Pricing: Pricing;
  ProviderEntry: ProviderEntry;
  ApiKeyCreateRequest: ApiKeyCreateRequest;
  ApiKeyRotateRequest: ApiKeyRotateRequest;
  ApiKeyUpdateRequest: ApiKeyUpdateRequest;
  BatchRequest: BatchRequest;
  BudgetAlertCreateRequest: BudgetAlertCreateRequest;
  BudgetAlertUpdateRequest: BudgetAlertUpdateRequest;
  CapabilityRunRequest: CapabilityRunRequest;
  ChatCompletionRequest: ChatCompletionRequest;
  ConsoleSessionCreateRequest: ConsoleSessionCreateRequest;
  ConversationChange: ConversationChange;
  ConversationItemsRequest: ConversationItemsRequest;
  ConversationRequest: ConversationRequest;
  CountTokensRequest: CountTokensRequest;
  DeliveriesRecoverRequest: DeliveriesRecoverRequest;
  EmbeddingsRequest: EmbeddingsRequest;
  EstimateRequest: EstimateRequest;
  FallbackChainRequest: FallbackChainRequest;
  FileUpload: FileUpload;
  ImageEditRequest: ImageEditRequest;
  ImageGenerationRequest: ImageGenerationRequest;
  McpMessage: McpMessage;
  MemberCreateRequest: MemberCreateRequest;
  MemberUpdateRequest: MemberUpdateRequest;
  MeshGenerationRequest: MeshGenerationRequest;
  MessagesRequest: MessagesRequest;
  MusicGenerationRequest: MusicGenerationRequest;
  ChannelCreateRequest: ChannelCreateRequest;
  ChannelUpdateRequest: ChannelUpdateRequest;
  OperatorApiKeyUpdateRequest: OperatorApiKeyUpdateRequest;
  OperatorCatalogueCheckRequest: OperatorCatalogueCheckRequest;
  OperatorCreditMoveRequest: OperatorCreditMoveRequest;
  OperatorHoldCloseRequest: OperatorHoldCloseRequest;
  OperatorRedriveRequest: OperatorRedriveRequest;
  OperatorSettleFaultResolveRequest: OperatorSettleFaultResolveRequest;
  OperatorTokenCreateRequest: OperatorTokenCreateRequest;
  OperatorWorkspaceCreateRequest: OperatorWorkspaceCreateRequest;
  OperatorWorkspaceUpdateRequest: OperatorWorkspaceUpdateRequest;
  PipelineRunRequest: PipelineRunRequest;
  ResponsesCompactRequest: ResponsesCompactRequest;
  ResponsesRequest: ResponsesRequest;
  SpeechRequest: SpeechRequest;
  SubscriptionCreateRequest: SubscriptionCreateRequest;
  TranscriptionRequest: TranscriptionRequest;
  VideoGenerationRequest: VideoGenerationRequest;
  WorkflowCreateRequest: WorkflowCreateRequest;
  WorkflowEstimateRequest: WorkflowEstimateRequest;
  WorkflowRunRequest: WorkflowRunRequest;
  WorkflowUpdateRequest: WorkflowUpdateRequest;
  WorkspaceUpdateRequest: WorkspaceUpdateRequest;
  ResponsesItem: ResponsesItem;
  ResponsesMessage: ResponsesMessage;
  ResponsesText: ResponsesText;
  ResponsesTool: ResponsesTool;
  ResponsesTypedItem: ResponsesTypedItem;
  ApiKeyList: ApiKeyList;
  ApiKey: ApiKey;
  AuditLogEntry: AuditLogEntry;
  AuditLogList: AuditLogList;
  BatchLineList: BatchLineList;
  BatchList: BatchList;
  Batch: Batch;
  BudgetAlertList: BudgetAlertList;
  BudgetAlert: BudgetAlert;
  CapabilityEstimate: CapabilityEstimate;
  CapabilityList: CapabilityList;
  CapabilityRun: CapabilityRun;
  ChatCompletionChunk: ChatCompletionChunk;
  ChatCompletion: ChatCompletion;
  ConsoleSession: ConsoleSession;
  ConversationDeleted: ConversationDeleted;
  ConversationItemList: ConversationItemList;
  Conversation: Conversation;
  Credits: Credits;
  Deleted: Deleted;
  DeliveriesRecovered: DeliveriesRecovered;
  DeliveryAccepted: DeliveryAccepted;
  DeliveryList: DeliveryList;
  Delivery: Delivery;
  Embeddings: Embeddings;
  Estimate: Estimate;
  EventTypeList: EventTypeList;
  FallbackChainDeleted: FallbackChainDeleted;
  FallbackChainList: FallbackChainList;
  FallbackChain: FallbackChain;
  FileDeleted: FileDeleted;
  StoredFileList: StoredFileList;
  StoredFile: StoredFile;
  Health: Health;
  Job: Job;
  Key: Key;
  LedgerEntry: LedgerEntry;
  LedgerList: LedgerList;
  MediaState: MediaState;
  MediaResults: MediaResults;
  MemberList: MemberList;
  Member: Member;
  MessageStreamEvent: MessageStreamEvent;
  Message: Message;
  ModelList: ModelList;
  ChannelList: ChannelList;
  Channel: Channel;
  OperatorApiKeyList: OperatorApiKeyList;
  OperatorApiKey: OperatorApiKey;
  OperatorAuditLogEntry: OperatorAuditLogEntry;
  OperatorAuditLogList: OperatorAuditLogList;
  OperatorCatalogueCheck: OperatorCatalogueCheck;
  OperatorCatalogue: OperatorCatalogue;
  OperatorCreditMove: OperatorCreditMove;
  OperatorCredits: OperatorCredits;
  OperatorDeadLetterList: OperatorDeadLetterList;
  OperatorDeadLetter: OperatorDeadLetter;
  OperatorDeleted: OperatorDeleted;
  OperatorHoldClosed: OperatorHoldClosed;
  OperatorHoldList: OperatorHoldList;
  OperatorHold: OperatorHold;
  OperatorJob: OperatorJob;
  OperatorLedgerAudit: OperatorLedgerAudit;
  OperatorLedgerEntry: OperatorLedgerEntry;
  OperatorLedgerList: OperatorLedgerList;
  OperatorMemberList: OperatorMemberList;
  OperatorMember: OperatorMember;
  OperatorPoolList: OperatorPoolList;
  OperatorPresetList: OperatorPresetList;
  OperatorRedrive: OperatorRedrive;
  OperatorSettleFaultList: OperatorSettleFaultList;
  OperatorSettleFault: OperatorSettleFault;
  OperatorSourceList: OperatorSourceList;
  OperatorSourceTest: OperatorSourceTest;
  OperatorSource: OperatorSource;
  OperatorStatus: OperatorStatus;
  OperatorTokenList: OperatorTokenList;
  OperatorToken: OperatorToken;
  OperatorWorkspaceCreated: OperatorWorkspaceCreated;
  OperatorWorkspaceList: OperatorWorkspaceList;
  OperatorWorkspace: OperatorWorkspace;
  PresetList: PresetList;
  ResponseCompaction: ResponseCompaction;
  ModelResponseDeleted: ModelResponseDeleted;
  ResponseStreamEvent: ResponseStreamEvent;
  ResponseInputList: ResponseInputList;
  ResponseInputTokens: ResponseInputTokens;
  ModelResponse: ModelResponse;
  Service: Service;
  SigningSecret: SigningSecret;
  SpeechEvent: SpeechEvent;
  SubscriptionList: SubscriptionList;
  Subscription: Subscription;
  TokenCount: TokenCount;
  TokenUsageReport: TokenUsageReport;
  TranscriptionEvent: TranscriptionEvent;
  Transcription: Transcription;
  UsagePage: UsagePage;
  UsageRequestList: UsageRequestList;
  UsageRequest: UsageRequest;
  WorkflowDeleted: WorkflowDeleted;
  WorkflowEstimate: WorkflowEstimate;
  WorkflowList: WorkflowList;
  WorkflowRunCancelled: WorkflowRunCancelled;
  WorkflowRunFrame: WorkflowRunFrame;
  WorkflowRunList: WorkflowRunList;
  WorkflowRunSummary: WorkflowRunSummary;
  WorkflowRun: WorkflowRun;
  WorkflowStepRun: WorkflowStepRun;
  WorkflowSummary: WorkflowSummary;
  WorkflowTemplateList: WorkflowTemplateList;
  WorkflowVersionList: WorkflowVersionList;
  WorkflowWritten: WorkflowWritten;
  Workflow: Workflow;
  Workspace: Workspace;
  UsageRecord: UsageRecord;
  WorkflowDefinition: WorkflowDefinition;
  WorkflowTemplate: WorkflowTemplate;
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
   * Speeds of speech on offer, where they are fewer than 0.25 to 4.
   */
  speed?: {
    min: number;
    max: number;
  };
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
  /**
   * Absent: no least length is known.
   */
  min_duration_seconds?: number;
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
 * What a publisher hears: once when its message is accepted or refused, and once more, if it can be reached, when the job has ended. Before that, `waiting` when the workspace's window is full: the message lies in the queue and has no job yet. It is not accepted by that: when nothing more comes for an hour, it is to be published again. A message that was not answered at all is to be published again at once, under the same key; a repeat hears `waiting`, or how the job stands.
 */
export interface BatchAnswer {
  /**
   * The message's `Idempotency-Key`, null when it had none.
   */
  key: string | null;
  job_id: string;
  status: "waiting" | "queued" | "running" | "completed" | "failed" | "cancelled" | "refused";
  /**
   * The answer of the endpoint. Absent when it is too large for a message: the job has it.
   */
  result?: {
    [k: string]: unknown;
  };
  /**
   * As in the error envelope.
   */
  error?: {
    [k: string]: unknown;
  };
  credits_used?: number;
  [k: string]: unknown;
}
/**
 * A message that a publisher sends to `batch.<pool>.<workspace id>.<key id>`, with the id of the API key that it logged in with: the call is made for that key. Headers: `Idempotency-Key` names the job, and a repeat by the same member under the same name is the same job; `Sluice-Reply` is the subject of the answers, below `_INBOX.ws.<workspace id>.<key id>.`.
 */
export interface BatchMessage {
  /**
   * The HTTP endpoint that would take the body; absent: chat completions.
   */
  endpoint?:
    | "/v1/chat/completions"
    | "/v1/embeddings"
    | "/v1/images/generations"
    | "/v1/images/edits"
    | "/v1/audio/speech"
    | "/v1/audio/transcriptions"
    | "/v1/music/generations"
    | "/v1/videos/generations"
    | "/v1/3d/generations"
    | "/v1/capabilities/{id}/run"
    | "/v1/workflows/{id}/runs";
  /**
   * The `{id}` of a run.
   */
  capability?: string;
  /**
   * The request, as that endpoint takes it.
   */
  body: {
    [k: string]: unknown;
  };
  /**
   * The `{id}` of a run of a workflow.
   */
  workflow?: string;
  [k: string]: unknown;
}
/**
 * A deterministic operation that can be run alone or as a step of a workflow.
 */
export interface CapabilityEntry {
  /**
   * `<category>.<operation>`: the `{id}` of its run, and the `type` of a workflow step.
   */
  id: string;
  object: "capability";
  category: "video" | "audio" | "image" | "document" | "archive" | "web" | "code";
  display_name: string;
  /**
   * One line.
   */
  description: string;
  /**
   * Markdown.
   */
  long_description?: string;
  /**
   * What it takes; a list when it takes more than one kind.
   */
  input_modality: CapabilityModality | CapabilityModality[];
  output_modality: CapabilityModality;
  /**
   * Of pipelines, which chain a list of operations; absent from all others.
   */
  composite?: true;
  /**
   * JSON Schema draft-07 of `params`. Rules between several params are told in their descriptions.
   */
  params_schema: {
    [k: string]: unknown;
  };
  /**
   * JSON Schema draft-07 of `input`.
   */
  input_schema: {
    [k: string]: unknown;
  };
  /**
   * An `input` to try it with.
   */
  sample_input?: {
    [k: string]: unknown;
  };
  examples?: {
    title: string;
    params: {
      [k: string]: unknown;
    };
    [k: string]: unknown;
  }[];
  pricing?: Pricing;
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
 * A catalogue file, ours or an operator's. Files are laid over each other in order: an entry whose id is already known changes only what it names, so only the id is required here; what a whole model needs is checked after all files are read.
 */
export interface CatalogueFile {
  providers?: ProviderEntry[];
  presets?: PresetEntry[];
  models?: CatalogueModel[];
  capabilities?: CatalogueCapability[];
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
  family?:
    | "sandbox"
    | "openai-compatible"
    | "anthropic"
    | "gemini"
    | "google-cloud"
    | "fal"
    | "replicate"
    | "elevenlabs"
    | "deepgram"
    | "meshy"
    | "tripo";
  /**
   * Address in front of the dialect's own paths (`/chat/completions`, `/messages`, `/models/…`); http or https, without credentials, query or fragment.
   */
  base_url?: string;
  /**
   * Variable that holds the key; absent, no key is needed.
   */
  api_key_env?: string;
  /**
   * Whether a source of it that keeps failing is rested for a while; `on` unless said otherwise.
   */
  breaker?: "on" | "off";
  /**
   * When the client of a stream leaves: `abort` (the default) ends the call and bills what came, `drain` reads on to the end and bills the whole, for providers that charge for it anyway.
   */
  on_disconnect?: "abort" | "drain";
  /**
   * Of a provider whose queue keeps jobs: how long a job that it gives no verdict on is asked about and its credits are held, at most SLUICE_UNKNOWN_OUTCOME_HOURS. Its longest job and how long it keeps results, together: after that there is nothing to be had. Absent, the setting alone counts.
   */
  unknown_for_seconds?: number;
  /**
   * Of a provider that lists its jobs: by when the list shows what was taken, counted from when an answer was lost, so that what is not there by then was not taken. Longer than its gateways wait for what they gave up. Absent, the list finds jobs and never proves that there is none.
   */
  listed_within_seconds?: number;
  /**
   * Time limit for the first byte of a stream in place of the settings', whether another source could serve or not.
   */
  first_byte_ms?: number;
  /**
   * Images that a chat request names by address, for the family openai-compatible: `inline` (the default) fetches them here, behind our guard, and sends the bytes; `pass` sends the address, and the provider fetches it. Only for providers outside your own network: a server inside would fetch whatever a caller names. Files are always sent as bytes.
   */
  media?: "inline" | "pass";
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
  embedding?: EmbeddingFacts;
  /**
   * Time limit for the first byte of a stream in place of the provider's and the settings', such as for a model that thinks for long before it says anything.
   */
  first_byte_ms?: number;
  /**
   * Answers are kept this many seconds for exact repeats of a request, unless the request says otherwise. Absent: only requests that ask for it are cached.
   */
  cache_ttl_s?: number;
  pricing?: PricingText;
  /**
   * Other prices of the same unit, by what a call asks for; the first that fits is taken, `pricing` where none does. Not for models priced per token.
   *
   * @minItems 1
   */
  price_variants?: PriceVariant[];
  /**
   * Of what a model priced by the second counts the seconds: the audio or video it makes, or the provider's computing. Absent: media for video and music, else compute.
   */
  seconds_of?: "media" | "compute";
  /**
   * Most seconds a call is held and settled for, where computing is counted.
   */
  compute_seconds_max?: number;
  /**
   * What a call typically computes, for estimates; absent: half of the most.
   */
  compute_seconds_usual?: number;
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
 * What an embedding model takes and gives. Its `max_context_tokens` is the most one input may have.
 */
export interface EmbeddingFacts {
  /**
   * Length of its vectors when the caller asks for none.
   */
  dimensions?: number;
  /**
   * Shortest vectors a caller may ask for; absent: 1.
   */
  dimensions_min?: number;
  /**
   * Longest vectors a caller may ask for. Absent: the length cannot be chosen.
   */
  dimensions_max?: number;
  /**
   * Most inputs of one call; absent: 2048.
   */
  inputs_max?: number;
  /**
   * Token numbers run from 0 to one less. Absent: inputs must be text.
   */
  vocabulary?: number;
  /**
   * Most inputs its sources take in one request; calls with more are split. Absent: no limit.
   */
  source_inputs_max?: number;
  /**
   * Most tokens its sources take in one request, all inputs together; calls with more are split. Absent: no limit.
   */
  source_tokens_max?: number;
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
 * A price for calls that ask for all of `when`.
 */
export interface PriceVariant {
  /**
   * Request parameter → value, defaults of the model included. A call without the parameter does not fit, `prompt_extend` apart, which is true when it is absent.
   */
  when: {
    [k: string]: string | number | boolean;
  };
  /**
   * In credits per unit, as decimal text in quotes.
   */
  price: string;
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
  /**
   * What this source takes for images, video, music and meshes: our name of an input → its field, a dotted path where it lies deeper, `[]` behind it where a list of one is wanted; then `:text` for a number written as text, `:s` for seconds as `8s`, `:ms` for seconds in milliseconds. Inputs that are not named are not sent. Absent: the family's usual fields.
   */
  fields?: {
    [k: string]: string;
  };
  /**
   * Sources that stand side by side and have a weight are equals: calls are spread over them by their weights, and those of one conversation stay at one of them for its prompt cache. Absent: it is asked in its place in the list.
   */
  weight?: number;
  /**
   * Asked with messages that end in the beginning of an answer, this source goes on with that answer and does not begin another. Streams that broke off elsewhere may then go on here. Absent: false.
   */
  continues_assistant?: boolean;
  /**
   * Request members set, beside `overrides`, where this source goes on with an answer, such as vLLM's `continue_final_message`.
   */
  continue_overrides?: {
    [k: string]: unknown;
  };
  /**
   * Members set on the last message, the beginning of an answer with which this source goes on, such as Mistral's and DeepSeek's `prefix`.
   */
  continue_message?: {
    [k: string]: unknown;
  };
  /**
   * Its answer begins with the whole of what it was asked to go on with, which is left out. Absent: false.
   */
  continue_repeats?: boolean;
  /**
   * What this source does otherwise than its family's newest models; which ones a family reads stands in its folder under workers/providers.
   */
  traits?: (
    | "cache_control"
    | "reasoning_back"
    | "reasoning_details_back"
    | "no_sampling"
    | "temperature_or_top_p"
    | "json_by_tool"
    | "json_by_converted_schema"
    | "no_json_with_tools"
    | "no_reasoning"
    | "no_xhigh_effort"
    | "reasoning_by_budget"
    | "reasoning_always"
    | "system_first"
  )[];
}
/**
 * What an operator says of a capability; one that no file names has the price it ships with.
 */
export interface CatalogueCapability {
  /**
   * As `GET /v1/tools` lists it.
   */
  id: string;
  /**
   * Takes the capability out.
   */
  disabled?: boolean;
  pricing?: PricingText;
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
 * An image the model should look at.
 */
export interface ImageBlock {
  type: "image_url";
  image_url: {
    /**
     * An http(s) address, or the image itself as a data URL.
     */
    url: string;
    /**
     * How closely to look; decides how many tokens the image costs. `original` is served as `high`.
     */
    detail?: "auto" | "low" | "high" | "original";
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
 * A document the model should read: sent along as `file_data`, named by an address, or stored and named by `file_id`. A stored image or recording is shown as such.
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
   * Signed reasoning of models that want it back unchanged, as the answer had it; `after` tells its place in that answer, and `index` means nothing here.
   */
  thinking_blocks?:
    | {
        [k: string]: unknown;
      }[]
    | null;
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
 * What the turns and runs behind an answer came to.
 */
export interface SluiceSummary {
  /**
   * `answer`: the model answered; `handover`: it called functions of the caller; `error`: a turn failed, which the error tells; otherwise the limit that was reached.
   */
  ended_by: "answer" | "handover" | "max_rounds" | "max_credits" | "error";
  /**
   * Credits of all turns and runs together.
   */
  credits_used: number;
  /**
   * Calls of the model, each with a record of its own.
   */
  turns: SluiceTurn[];
  /**
   * Runs in their order; in answers of chat that were not streamed. Streams tell of each as it begins and ends, and responses have them in `output`.
   */
  calls?: SluiceCall[];
  /**
   * In answers of chat: the turns and results before the answer, as messages. Sent before the answer's message with the next call, they let the model remember them.
   */
  messages?: ChatMessage[];
  [k: string]: unknown;
}
/**
 * One call of the model.
 */
export interface SluiceTurn {
  request_id: string;
  credits_used: number;
  [k: string]: unknown;
}
/**
 * A run that the model asked for and the service made.
 */
export interface SluiceCall {
  id: string;
  type: "sluice_call";
  status: "in_progress" | "completed" | "failed";
  /**
   * The model's id of the call.
   */
  call_id: string;
  /**
   * Id of the capability or the workflow.
   */
  tool: string;
  /**
   * Name of the function that the model called.
   */
  name: string;
  /**
   * JSON as text, as the model wrote it.
   */
  arguments: string;
  /**
   * The turn of the model that asked for it.
   */
  round: number;
  /**
   * Id of the run, under which its job, its steps and its price are found; absent where it was not begun.
   */
  request_id?: string;
  /**
   * What the model was told, at most 16 KiB; null while it runs.
   */
  output: string | null;
  /**
   * Files that it made, kept in the workspace.
   */
  files: SluiceFile[];
  credits_used: number;
  [k: string]: unknown;
}
/**
 * A file that a run made.
 */
export interface SluiceFile {
  file_id: string;
  /**
   * Works for about an hour, without a key.
   */
  url: string;
  content_type: string;
  bytes: number;
  name?: string;
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
 * Capabilities and workflows that the service runs itself when the model calls them, until the model answers or a limit is reached. At most one stands among the tools. Served by POST /v1/chat/completions and /v1/responses alone.
 */
export interface SluiceTool {
  type: "sluice";
  /**
   * Ids of capabilities from GET /v1/tools. The model is shown each as a function, with `_` for the `.` of its id.
   *
   * @maxItems 32
   */
  capabilities?: string[];
  /**
   * Ids of workflows that the caller may run. The model is shown each as a function `workflow_` and the workflow's name.
   *
   * @maxItems 32
   */
  workflows?: string[];
  /**
   * How often the model is asked at most; left out, 8 times.
   */
  max_rounds?: number;
  /**
   * Once so many credits are used, by the model's turns and by runs, nothing more is begun. A run begins only if the most that it may cost fits into what is left; the model reads why where it does not. A turn of the model may go beyond the limit.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Work message of a durable job: which row to claim. The work itself stands in the row.
 */
export interface DurableMessage {
  durable: true;
  job_id: string;
  attempt: number;
  /**
   * Raised each time the job is put on the queue again; older messages are void.
   */
  dispatch: number;
  workspace_id: string;
  [k: string]: unknown;
}
/**
 * Body of every answer that is not a success. Programs branch on `code`; `message` is for people and may be reworded.
 */
export interface ErrorEnvelope {
  /**
   * Under `/v1/messages` only, for clients of Anthropic's API.
   */
  type?: "error";
  /**
   * Under `/v1/messages` only; what the header `x-request-id` says.
   */
  request_id?: string;
  error: {
    /**
     * One plain sentence.
     */
    message: string;
    /**
     * `not_found_error` with status 404 for clients of Anthropic's API only.
     */
    type:
      | "invalid_request_error"
      | "authentication_error"
      | "permission_error"
      | "quota_exceeded"
      | "rate_limit_error"
      | "server_error"
      | "not_found_error";
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
 * `metadata` of the event `budget.threshold_reached`. What a workspace spent in a period crossed the threshold of an alert; told once for an alert, period and threshold.
 */
export interface BudgetThresholdReached {
  /**
   * The alert.
   */
  alertId: string;
  /**
   * The period that the threshold is for.
   */
  period: "daily" | "weekly" | "monthly";
  /**
   * When the period began.
   */
  periodStart: string;
  /**
   * Credits that the alert names.
   */
  threshold: number;
  /**
   * Credits that were spent in the period when the threshold was crossed.
   */
  spent: number;
  [k: string]: unknown;
}
export interface JobCompletedOfJob {
  /**
   * Id of the job, as in `/v1/images/jobs/{job_id}`. Only events of jobs have it.
   */
  jobId: string;
  /**
   * What the job makes: `image`, `audio`, `video`, `3d`, `text` or `embedding`.
   */
  modality: string;
  /**
   * The model that the caller named.
   */
  model?: string;
  /**
   * Milliseconds from the job's start to its end; absent when no worker began it.
   */
  durationMs?: number;
  /**
   * Credits that were taken.
   */
  creditsUsed: number;
  [k: string]: unknown;
}
export interface JobCompletedOfBatch {
  /**
   * Id of the batch, as in `/v1/batches/{batch_id}`. Only events of batches have it.
   */
  batchId: string;
  /**
   * Path that the lines call.
   */
  endpoint: string;
  /**
   * Number of lines.
   */
  total: number;
  /**
   * Number of lines in the output file.
   */
  completed: number;
  /**
   * Number of lines that failed or were never made.
   */
  failed: number;
  /**
   * File of the results; absent when there is none.
   */
  outputFileId?: string;
  /**
   * File of the failed lines; absent when there is none.
   */
  errorFileId?: string;
  /**
   * Milliseconds from the creation of the batch to its end.
   */
  durationMs?: number;
  /**
   * Credits that were charged for the lines.
   */
  creditsUsed: number;
  [k: string]: unknown;
}
export interface JobFailedOfJob {
  /**
   * Id of the job, as in `/v1/images/jobs/{job_id}`. Only events of jobs have it.
   */
  jobId: string;
  /**
   * What the job makes: `image`, `audio`, `video`, `3d`, `text` or `embedding`.
   */
  modality: string;
  /**
   * The model that the caller named.
   */
  model?: string;
  /**
   * Milliseconds from the job's start to its end; absent when no worker began it.
   */
  durationMs?: number;
  /**
   * Credits that were taken.
   */
  creditsUsed: number;
  /**
   * Why it failed.
   */
  error: {
    code: string;
    message: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface JobFailedOfBatch {
  /**
   * Id of the batch, as in `/v1/batches/{batch_id}`. Only events of batches have it.
   */
  batchId: string;
  /**
   * Path that the lines call.
   */
  endpoint: string;
  /**
   * Number of lines.
   */
  total: number;
  /**
   * Number of lines in the output file.
   */
  completed: number;
  /**
   * Number of lines that failed or were never made.
   */
  failed: number;
  /**
   * File of the results; absent when there is none.
   */
  outputFileId?: string;
  /**
   * File of the failed lines; absent when there is none.
   */
  errorFileId?: string;
  /**
   * Milliseconds from the creation of the batch to its end.
   */
  durationMs?: number;
  /**
   * Credits that were charged for the lines.
   */
  creditsUsed: number;
  /**
   * The first error of the batch. Its code is `batch_expired` when the batch was not done in time.
   */
  error: {
    code: string;
    message: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * `metadata` of the event `run.cancelled`. A run was cancelled.
 */
export interface RunCancelled {
  /**
   * The run; stable over repeats, so receivers can tell a replay by it.
   */
  runId: string;
  /**
   * The stored workflow that ran; absent for a run of an inline definition.
   */
  workflowId?: string;
  /**
   * Milliseconds from the run's start to its end; absent when the run never started.
   */
  durationMs?: number;
  /**
   * Credits that were taken.
   */
  creditsUsed: number;
  [k: string]: unknown;
}
/**
 * `metadata` of the event `run.failed`. A run failed, with no attempt left.
 */
export interface RunFailed {
  /**
   * The run; stable over repeats, so receivers can tell a replay by it.
   */
  runId: string;
  /**
   * The stored workflow that ran; absent for a run of an inline definition.
   */
  workflowId?: string;
  /**
   * Milliseconds from the run's start to its end; absent when the run never started.
   */
  durationMs?: number;
  /**
   * Credits that were taken.
   */
  creditsUsed: number;
  /**
   * Why it failed.
   */
  error: {
    code: string;
    message: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * `metadata` of the event `run.retrying`. A further attempt of an async run began; it is told instead of `run.started`.
 */
export interface RunRetrying {
  /**
   * The run; stable over repeats, so receivers can tell a replay by it.
   */
  runId: string;
  /**
   * The stored workflow that ran; absent for a run of an inline definition.
   */
  workflowId?: string;
  /**
   * Number of this attempt.
   */
  attempt: number;
  /**
   * Attempts that the run may take.
   */
  maxAttempts: number;
  [k: string]: unknown;
}
/**
 * `metadata` of the event `run.started`. A run began.
 */
export interface RunStarted {
  /**
   * The run; stable over repeats, so receivers can tell a replay by it.
   */
  runId: string;
  /**
   * The stored workflow that ran; absent for a run of an inline definition.
   */
  workflowId?: string;
  /**
   * Number of this attempt.
   */
  attempt: number;
  [k: string]: unknown;
}
/**
 * `metadata` of the event `run.succeeded`. A run ended well.
 */
export interface RunSucceeded {
  /**
   * The run; stable over repeats, so receivers can tell a replay by it.
   */
  runId: string;
  /**
   * The stored workflow that ran; absent for a run of an inline definition.
   */
  workflowId?: string;
  /**
   * Milliseconds from the run's start to its end; absent when the run never started.
   */
  durationMs?: number;
  /**
   * Credits that were taken.
   */
  creditsUsed: number;
  [k: string]: unknown;
}
/**
 * `metadata` of the event `template.unavailable`. A stored workflow names a model or capability that is no longer offered. It is told to the operator's own workspace only.
 */
export interface TemplateUnavailable {
  /**
   * The workflow.
   */
  workflowId: string;
  /**
   * The step that cannot run.
   */
  stepId: string;
  /**
   * The model or capability that it names.
   */
  missing: string;
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
  kind:
    | "chat"
    | "embeddings"
    | "images"
    | "image_edits"
    | "speech"
    | "transcription"
    | "music"
    | "video"
    | "mesh"
    | "capability";
  /**
   * Whose format the answer has; absent: OpenAI's.
   */
  api?: "openai" | "anthropic" | "responses";
  /**
   * Of a call whose answer has the form of OpenAI's Responses: the object (ModelResponse) that the answer completes. In a durable job it stands in the request.
   */
  response?: {
    [k: string]: unknown;
  };
  /**
   * Name of the conversation that the call belongs to, where its request says none: its calls are to meet the same prompt cache.
   */
  affinity?: string;
  /**
   * Of a durable job whose answer has that form: the object stands in the row of the stored response, which the answer completes.
   */
  background?: boolean;
  /**
   * Of a chat call whose answer is worth nothing without text: it fails then, and is free.
   */
  needs_text?: boolean;
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
   * Credit line on which the call was admitted, and against which it is settled.
   */
  credit_line?: string;
  /**
   * It is a line of a batch, which tells of it.
   */
  batch_line?: {
    /**
     * Share of its price that is held and taken; amounts of this message, and of its worker, are the whole price.
     */
    price_millionths: number;
    [k: string]: unknown;
  };
  /**
   * Unix milliseconds after which nobody waits any more.
   */
  deadline_ms: number;
  /**
   * Of a live call: where its ingress waits for the answer.
   */
  reply?: string;
  /**
   * Of a live call: its ingress takes bundles, frames of several calls in one message.
   */
  frame_bundles?: boolean;
  /**
   * Sent before without a word from the queue: it may have been handed out then.
   */
  repeat?: boolean;
  /**
   * Slugs of the workspace's fallback chain for this model, as it stood at admission.
   *
   * @maxItems 10
   */
  fallbacks?: string[];
  /**
   * Of a chat stream that breaks off after its first words: the next model of the chain that can goes on with it.
   */
  continue_streams?: boolean;
  /**
   * Of a durable job whose caller is shown its states as they come: it ends when the caller leaves.
   */
  stream?: boolean;
  /**
   * The answer is kept under this key when it is whole.
   */
  cache?: {
    key: string;
    ttl_s: number;
    [k: string]: unknown;
  };
  /**
   * Media that came in the client's body and wait in the object store, by the names of their inputs.
   */
  stored_inputs?: {
    [k: string]: {
      reference: string;
      content_type: string;
      [k: string]: unknown;
    };
  };
  /**
   * SHA-256 of a batch message: a repeat under its key with another one is refused.
   */
  fingerprint?: string;
  /**
   * The request has beside the client's members, as `checked`, what the check by its model found: params, quantities. Absent where no worker needs it, and in jobs of earlier versions, whose `checked` would be the client's.
   */
  checked?: true;
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
  /**
   * Of a step's job whose run has nothing else under way: the worker that ends it may go on with the run.
   */
  goes_on?: true;
  /**
   * Of a chat call whose run is streamed: the step whose readers hear it as it comes.
   */
  step?: {
    run_id: string;
    step_id: string;
    attempt: number;
    /**
     * Of its list; absent where it has none.
     */
    index?: number;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * What a media job leaves in its row: what was made, by its files. Links and bytes are made of it when it is answered.
 */
export interface MediaOutcome {
  object: "media.outcome";
  /**
   * Unix seconds.
   */
  created: number;
  /**
   * The model that served.
   */
  model: string;
  /**
   * Present when another model was asked for.
   */
  fallback?: {
    from: string;
    depth: number;
    [k: string]: unknown;
  };
  /**
   * In the provider's order.
   */
  data: {
    file_id: string;
    content_type: string;
    bytes: number;
    /**
     * Of audio and video.
     */
    duration_seconds?: number;
    [k: string]: unknown;
  }[];
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
  /**
   * On rows of tools, which `include_tools` asks for; absent on models.
   */
  kind?: "tool";
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
 * Body of POST /workspaces/{workspaceId}/api-keys.
 */
export interface ApiKeyCreateRequest {
  /**
   * Made by the caller, so that a repeat makes no second key. A repeat is answered without the key.
   */
  id?: string;
  /**
   * What it is for.
   */
  name: string;
  /**
   * Whose key it is; the caller's own when absent.
   */
  member_id?: string;
  /**
   * A preset no wider than the caller's own, which is taken when absent.
   */
  preset?: string;
  /**
   * The key ends then. No later than the key that makes it: its end is taken when absent.
   */
  expires_at?: string;
  /**
   * Capabilities and workflows that it may run, wherever it asks: ids, whole categories such as `image.*`, or `workflow.*`. A key that lists its tools writes no workflows, and gives keys no others. Null: all; those of the key that makes it when absent.
   *
   * @maxItems 200
   */
  tools?: string[] | null;
  [k: string]: unknown;
}
/**
 * Body of POST /workspaces/{workspaceId}/api-keys/{keyId}/rotate.
 */
export interface ApiKeyRotateRequest {
  /**
   * The old key works on for so long; 0 when absent.
   */
  overlap_seconds?: number;
  [k: string]: unknown;
}
/**
 * Body of PATCH /workspaces/{workspaceId}/api-keys/{keyId}. What is absent stays.
 */
export interface ApiKeyUpdateRequest {
  /**
   * What it is for.
   */
  name?: string;
  /**
   * A preset no wider than the caller's own.
   */
  preset?: string;
  /**
   * Null: it does not end by itself.
   */
  expires_at?: string | null;
  /**
   * Capabilities and workflows that it may run, wherever it asks: ids, whole categories such as `image.*`, or `workflow.*`. A key that lists its tools writes no workflows, and gives keys no others. Null: all.
   *
   * @maxItems 200
   */
  tools?: string[] | null;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/batches.
 */
export interface BatchRequest {
  /**
   * A stored file of the purpose `batch`: JSON Lines of at most 50,000 calls and 200 MB. Each line is `{custom_id, method: "POST", url, body}`.
   */
  input_file_id: string;
  /**
   * Path that every line calls: `/v1/chat/completions`, `/v1/responses`, `/v1/embeddings`, an endpoint that makes media, `/v1/capabilities/{id}/run` or `/v1/workflows/{id}/runs` with an id.
   */
  endpoint: string;
  /**
   * Time within which lines are begun.
   */
  completion_window: "24h";
  /**
   * Up to 16 pairs: names of at most 64 characters, texts of at most 512.
   */
  metadata?: {
    [k: string]: string;
  } | null;
  /**
   * When the files that the batch writes are deleted; without it they stay.
   */
  output_expires_after?: {
    /**
     * Counted from the time at which a file is written.
     */
    anchor: "created_at";
    seconds: number;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * Body of POST /workspaces/{workspaceId}/budget-alerts.
 */
export interface BudgetAlertCreateRequest {
  /**
   * Made by the caller, so that a repeat makes no second one.
   */
  id?: string;
  /**
   * A name that no other alert of the workspace has.
   */
  name: string;
  /**
   * Credits; it fires once in a period, when the period's spend reaches them.
   */
  threshold_credits: number;
  /**
   * A day, a week from Monday or a month, UTC.
   */
  period: "daily" | "weekly" | "monthly";
  /**
   * Channels that hear of it, whatever their subscriptions; absent or empty: those that subscribe to `budget.threshold_reached`.
   *
   * @maxItems 20
   */
  channel_ids?: string[];
  /**
   * True when absent.
   */
  is_active?: boolean;
  /**
   * Further calls of the period are refused with 402 within seconds once the threshold is reached. False when absent.
   */
  stops_calls?: boolean;
  [k: string]: unknown;
}
/**
 * Body of PATCH /workspaces/{workspaceId}/budget-alerts/{alertId}. What is absent stays.
 */
export interface BudgetAlertUpdateRequest {
  /**
   * A name that no other alert of the workspace has.
   */
  name?: string;
  /**
   * Credits; it fires once in a period, when the period's spend reaches them.
   */
  threshold_credits?: number;
  /**
   * A day, a week from Monday or a month, UTC.
   */
  period?: "daily" | "weekly" | "monthly";
  /**
   * Channels that hear of it, whatever their subscriptions; absent or empty: those that subscribe to `budget.threshold_reached`.
   *
   * @maxItems 20
   */
  channel_ids?: string[];
  /**
   * True when absent.
   */
  is_active?: boolean;
  /**
   * Further calls of the period are refused with 402 within seconds once the threshold is reached. False when absent.
   */
  stops_calls?: boolean;
  [k: string]: unknown;
}
/**
 * `POST /v1/capabilities/{id}/run`.
 */
export interface CapabilityRunRequest {
  /**
   * As the capability's `input_schema` says. A file is given in exactly one way: `{file_id}`, `{url}`, `{base64, mime_type}` or, where text is taken, `{text}`.
   */
  input: {
    [k: string]: unknown;
  };
  /**
   * As its `params_schema` says; unknown members are refused.
   */
  params?: {
    [k: string]: unknown;
  };
  /**
   * Answers with the job instead of waiting for the result. Absent: false.
   */
  async?: boolean;
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
   * Forerunner of `tools`: read as those, and answered with `function_call`.
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
 * Body of POST /console/session.
 */
export interface ConsoleSessionCreateRequest {
  /**
   * A key of the member who signs in.
   */
  api_key: string;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/conversations/{conversation_id}.
 */
export interface ConversationChange {
  /**
   * Labels of the caller's own, at most 16, in place of those before.
   */
  metadata: {
    [k: string]: string;
  } | null;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/conversations/{conversation_id}/items.
 */
export interface ConversationItemsRequest {
  /**
   * Items in the form of `input`, the oldest first.
   *
   * @minItems 1
   * @maxItems 20
   */
  items: {
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Body of POST /v1/conversations.
 */
export interface ConversationRequest {
  /**
   * Items in the form of `input`, the oldest first.
   *
   * @maxItems 20
   */
  items?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  /**
   * Labels of the caller's own, at most 16.
   */
  metadata?: {
    [k: string]: string;
  } | null;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/messages/count_tokens: a body of POST /v1/messages, of which only what the model reads counts.
 */
export interface CountTokensRequest {
  model: MessagesModel;
  messages: MessagesTurns;
  system?: MessagesSystem;
  tools?: MessagesTools;
  tool_choice?: MessagesToolChoice;
  thinking?: MessagesThinking;
  output_config?: MessagesOutputConfig;
  [k: string]: unknown;
}
/**
 * What the end user said, showed or attached, and what tools returned.
 */
export interface MessagesUserTurn {
  role: "user";
  /**
   * Text, or blocks.
   *
   * @minItems 1
   */
  content: string | MessagesUserBlock[];
  [k: string]: unknown;
}
/**
 * Plain text.
 */
export interface MessagesText {
  type: "text";
  text: string;
  cache_control?: MessagesCacheControl;
  [k: string]: unknown;
}
/**
 * An image the model should look at.
 */
export interface MessagesImage {
  type: "image";
  source: MessagesImageSource;
  cache_control?: MessagesCacheControl;
  [k: string]: unknown;
}
/**
 * An image in base64.
 */
export interface MessagesImageBytes {
  type: "base64";
  media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
  data: string;
  [k: string]: unknown;
}
/**
 * An http(s) address.
 */
export interface MessagesUrl {
  type: "url";
  url: string;
  [k: string]: unknown;
}
/**
 * A file of the workspace's store; what it is decides how the model is shown it.
 */
export interface MessagesFile {
  type: "file";
  file_id: string;
  [k: string]: unknown;
}
/**
 * A document the model should read.
 */
export interface MessagesDocument {
  type: "document";
  source: MessagesDocumentSource;
  title?: string | null;
  /**
   * What the model is told about the document.
   */
  context?: string | null;
  cache_control?: MessagesCacheControl;
  [k: string]: unknown;
}
/**
 * A PDF in base64.
 */
export interface MessagesPdfBytes {
  type: "base64";
  media_type: "application/pdf";
  data: string;
  [k: string]: unknown;
}
/**
 * A document that is text.
 */
export interface MessagesPlainText {
  type: "text";
  media_type: "text/plain";
  data: string;
  [k: string]: unknown;
}
/**
 * A document made of text and images.
 */
export interface MessagesInnerBlocks {
  type: "content";
  content: string | MessagesInnerBlock[];
  [k: string]: unknown;
}
/**
 * A passage the caller found; reaches the model as text.
 */
export interface MessagesSearchResult {
  type: "search_result";
  source: string;
  title: string;
  content: MessagesTextOnlyBlock[];
  cache_control?: MessagesCacheControl;
  [k: string]: unknown;
}
/**
 * What one tool call returned. Images and files in it follow the texts of all results of the turn.
 */
export interface MessagesToolResult {
  type: "tool_result";
  /**
   * `id` of the tool_use block this answers.
   */
  tool_use_id: string;
  /**
   * Text, or blocks.
   */
  content?: string | MessagesResultBlock[] | null;
  /**
   * The call failed; the model is told so in words.
   */
  is_error?: boolean | null;
  cache_control?: MessagesCacheControl;
  [k: string]: unknown;
}
/**
 * A tool that the client's search for tools has found. Claude models at Anthropic are shown the tool of this name from here on if it has `defer_loading`. Left out for other models, which are shown every tool of the request.
 */
export interface MessagesToolReference {
  type: "tool_reference";
  tool_name: string;
  [k: string]: unknown;
}
/**
 * An earlier answer of the model; as the last turn, the beginning of the next one, where the source allows that.
 */
export interface MessagesAssistantTurn {
  role: "assistant";
  /**
   * Text, or blocks.
   */
  content: string | MessagesAssistantBlock[];
  [k: string]: unknown;
}
/**
 * Visible thinking, returned unchanged to models that want it back.
 */
export interface MessagesThinkingBlock {
  type: "thinking";
  thinking: string;
  /**
   * Empty where the source signs nothing.
   */
  signature?: string | null;
  [k: string]: unknown;
}
/**
 * Thinking that only its source can read.
 */
export interface MessagesRedactedThinking {
  type: "redacted_thinking";
  data: string;
  [k: string]: unknown;
}
/**
 * A tool call the model asked for.
 */
export interface MessagesToolUse {
  type: "tool_use";
  /**
   * Repeated by the tool_result block that answers.
   */
  id: string;
  name: string;
  input: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Instructions given in the middle of a conversation.
 */
export interface MessagesSystemTurn {
  role: "system";
  /**
   * Text, or text blocks.
   *
   * @minItems 1
   */
  content: string | MessagesTextOnlyBlock[];
  [k: string]: unknown;
}
/**
 * A tool of the client's own, with `name` and `input_schema`, or one of Anthropic's that runs at the client: `bash_…`, `memory_…`, `text_editor_…`, with `name`. Claude models at Anthropic receive the latter as they are, other models as functions. Tools that run at Anthropic, such as web search, are left out, and `x-tools-omitted` names their types; a `tool_choice` that names one is refused.
 */
export interface MessagesTool {
  /**
   * `custom`, null or left out; or the dated type of a tool of Anthropic's.
   */
  type?: string | null;
  /**
   * Required; as the model will call it.
   */
  name?: string;
  /**
   * When and how to use it.
   */
  description?: string | null;
  /**
   * Required without a dated type; JSON Schema of the arguments.
   */
  input_schema?: {
    [k: string]: unknown;
  };
  /**
   * With `text_editor_…`: most characters of a file that a view shows.
   */
  max_characters?: number | null;
  /**
   * Hold the model to the schema exactly.
   */
  strict?: boolean | null;
  /**
   * True when the model is shown the tool only after a `tool_reference` to it. Has an effect for Claude models at Anthropic, without a search for tools that runs at Anthropic. Other models are shown the tool at once.
   */
  defer_loading?: boolean | null;
  cache_control?: MessagesCacheControl;
  [k: string]: unknown;
}
/**
 * Body of POST /workspaces/{workspaceId}/notification-channels/{channelId}/recover.
 */
export interface DeliveriesRecoverRequest {
  /**
   * At most 14 days ago.
   */
  since: string;
  /**
   * Now when absent.
   */
  until?: string;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/embeddings. Members not named here are accepted and ignored.
 */
export interface EmbeddingsRequest {
  /**
   * Slug of an embedding model from GET /v1/models.
   */
  model: string;
  /**
   * What to embed: a text, a list of texts, the token numbers of one text, or a list of such. Every list is of one kind. No input may be empty or have more tokens than the model's `max_context_tokens`.
   *
   * @minItems 1
   */
  input: string | (string | number | number[])[];
  /**
   * Length of the vectors, for models that let it be chosen; without it the model's own.
   */
  dimensions?: number;
  /**
   * `float`: arrays of numbers; `base64`: the same numbers as little-endian 32-bit floats. Without it `float`.
   */
  encoding_format?: "float" | "base64";
  /**
   * Your name for the end user, passed on to sources that take it.
   */
  user?: string;
  [k: string]: unknown;
}
/**
 * The body of the call to be estimated, as its own endpoint takes it: a ChatCompletionRequest for a chat model, an EmbeddingsRequest for an embedding model.
 */
export interface EstimateRequest {
  /**
   * May be left out, since the path names the model; if sent, it must be the same.
   */
  model?: string;
  [k: string]: unknown;
}
/**
 * Body of PUT /workspaces/{workspaceId}/fallback-chains/{model}.
 */
export interface FallbackChainRequest {
  /**
   * Slugs of other chat models, in the order they are tried. A model whose own chain leads back to this one is refused.
   *
   * @minItems 1
   * @maxItems 10
   */
  fallbacks: string[];
  /**
   * A text stream that breaks off after its first words is continued by the next model of the chain that can continue an answer: one choice, no tools, no JSON mode, no log probabilities. The client sees one stream; both parts are billed, each at its own model's price. Absent: false.
   */
  continue_streams?: boolean;
  [k: string]: unknown;
}
/**
 * The form of an upload: at most 20 parts, fields of at most 64 KB in all; fields it does not know are ignored, up to 1 MB of them.
 */
export interface FileUpload {
  /**
   * The file, as a part with a filename.
   */
  file: string;
  /**
   * What the file is for. Absent: `user_data`.
   */
  purpose?: "assistants" | "batch" | "fine-tune" | "vision" | "user_data" | "evals";
  "expires_after[anchor]"?: "created_at";
  /**
   * The file is deleted so long after its creation.
   */
  "expires_after[seconds]"?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/images/edits: JSON with the images in base64, or a form with the parts `image` (or `image[]`) and `mask` and the other members as fields. What a model takes stands in its `allowed_params`: a value outside the declared set is refused, a field that the model has not is left out. A member that is null counts as absent; members not named here are accepted and ignored.
 */
export interface ImageEditRequest {
  /**
   * Slug of an image model that takes images, or of an upscaling model, from GET /v1/models.
   */
  model: string;
  /**
   * What is to be changed.
   */
  prompt: string;
  /**
   * The image, PNG, JPEG or WebP, in base64 or as a base64 data URL. It or `image_file_id` is needed.
   */
  image_base64?: string;
  /**
   * The image as a stored file.
   */
  image_file_id?: string;
  /**
   * Media type of `image_base64`. Optional: the type is read from the bytes.
   */
  image_mime_type?: string;
  /**
   * An image of the same size, transparent where the other is to be repainted; refused with 400 when no source of the model takes masks.
   */
  mask_base64?: string;
  /**
   * The mask as a stored file.
   */
  mask_file_id?: string;
  /**
   * Media type of `mask_base64`. Optional: the type is read from the bytes.
   */
  mask_mime_type?: string;
  /**
   * How many images, 1 unless told otherwise, at most the model's `max_n`.
   */
  n?: number;
  /**
   * Width and height, such as `1024x1024`, or `auto`.
   */
  size?: string;
  /**
   * Checked; no source is told.
   */
  quality?: string;
  /**
   * Such as `16:9`.
   */
  aspect_ratio?: string;
  /**
   * How far to go from the image; brought into the model's range, without effect where it has none.
   */
  strength?: number;
  /**
   * A label such as `1K`.
   */
  image_size?: string;
  /**
   * Checked; no source is told.
   */
  style?: "vivid" | "natural";
  /**
   * Checked; no source is told.
   */
  background?: "transparent" | "opaque" | "auto";
  /**
   * Checked; no source is told.
   */
  person_generation?: "dont_allow" | "allow_adult" | "allow_all";
  /**
   * `url`: links that work for an hour; `b64_json`: the bytes. Without it `url`.
   */
  response_format?: "url" | "b64_json";
  /**
   * Priced as on generation; no source is told.
   */
  steps?: number;
  /**
   * No source is told.
   */
  prompt_extend?: boolean;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/images/generations. What a model takes stands in its `allowed_params`: a value outside the declared set is refused, a field that the model has not is left out, but for `seed`, `negative_prompt` and `output_format`, which are refused. A member that is null counts as absent; members not named here are accepted and ignored.
 */
export interface ImageGenerationRequest {
  /**
   * Slug of an image model from GET /v1/models.
   */
  model: string;
  /**
   * What to make an image of.
   */
  prompt: string;
  /**
   * Answers with an event stream of states; the last one brings the images. No fallback stands in then, and nothing is kept beyond the hour that links work.
   */
  stream?: boolean;
  /**
   * How many images, 1 unless told otherwise, at most the model's `max_n`.
   */
  n?: number;
  /**
   * Width and height, such as `1024x1024`, or `auto`.
   */
  size?: string;
  quality?: string;
  style?: "vivid" | "natural";
  /**
   * `url`: links that work for an hour; `b64_json`: the bytes. Without it `url`.
   */
  response_format?: "url" | "b64_json";
  /**
   * Such as `16:9`.
   */
  aspect_ratio?: string;
  /**
   * A label such as `1K`.
   */
  image_size?: string;
  /**
   * Belongs to edits; without effect here.
   */
  strength?: number;
  person_generation?: "dont_allow" | "allow_adult" | "allow_all";
  background?: "transparent" | "opaque" | "auto";
  /**
   * Refused where the model has no choice of formats.
   */
  output_format?: "png" | "webp" | "jpeg";
  /**
   * Of JPEG and WebP; without effect on PNG.
   */
  output_compression?: number;
  input_fidelity?: "high" | "low";
  moderation?: "auto" | "low";
  /**
   * What is not to be seen. Refused where the model has no field for it.
   */
  negative_prompt?: string;
  /**
   * The same seed and prompt make the same image. Refused where the model has no field for it.
   */
  seed?: number;
  /**
   * Steps of rendering. Priced by the megapixel, an image costs more by as much as they exceed the model's default.
   */
  steps?: number;
  /**
   * Lets the model write the prompt out first, where it can.
   */
  prompt_extend?: boolean;
  /**
   * Your name for the end user, passed on to sources that take it.
   */
  user?: string;
  [k: string]: unknown;
}
/**
 * A message of JSON-RPC 2.0, as the Model Context Protocol has it: a request, a notification or an answer.
 */
export interface McpMessage {
  jsonrpc: "2.0";
  /**
   * Absent in notifications.
   */
  id?: string | number | null;
  method?: string;
  params?: {
    _meta?: {
      [k: string]: unknown;
    };
    /**
     * Of a tool that is called.
     */
    arguments?: {
      [k: string]: unknown;
    };
    /**
     * Of a list: its next page.
     */
    cursor?: string;
    [k: string]: unknown;
  };
  result?: {
    [k: string]: unknown;
  };
  error?: {
    code: number;
    message: string;
    data?: unknown;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Body of POST /workspaces/{workspaceId}/members.
 */
export interface MemberCreateRequest {
  /**
   * Made by the caller, so that a repeat adds nobody twice.
   */
  id?: string;
  /**
   * A name that no other member of the workspace has.
   */
  name: string;
  /**
   * One address, which no other member of the workspace has in whatever case.
   */
  email?: string;
  /**
   * owner: everything; admin: everything but owners; developer: calls, own keys and workflows; billing: credits and usage. Only an owner gives or takes the role owner.
   */
  role: "owner" | "admin" | "developer" | "billing";
  [k: string]: unknown;
}
/**
 * Body of PATCH /workspaces/{workspaceId}/members/{memberId}. What is absent stays.
 */
export interface MemberUpdateRequest {
  /**
   * A name that no other member of the workspace has.
   */
  name?: string;
  /**
   * One address, which no other member of the workspace has in whatever case; null: none.
   */
  email?: string | null;
  /**
   * owner: everything; admin: everything but owners; developer: calls, own keys and workflows; billing: credits and usage. Only an owner gives or takes the role owner.
   */
  role?: "owner" | "admin" | "developer" | "billing";
  /**
   * False: the member's keys are refused within a second.
   */
  is_active?: boolean;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/3d/generations. At least one of `prompt` and an image is needed; models that transform a mesh need one, models that make one refuse it. A member that is null counts as absent; members not named here are accepted and ignored.
 */
export interface MeshGenerationRequest {
  /**
   * Slug of a model of modality `object_3d` from GET /v1/models.
   */
  model: string;
  /**
   * What is to be made, at most 5000 characters.
   */
  prompt?: string;
  /**
   * An image to go by: a public http or https address, a link of this service, or a data URL. Left out where the model has no field for it.
   */
  image_url?: string;
  /**
   * The same as a stored file.
   */
  image_file_id?: string;
  /**
   * The mesh to transform: a public http or https address or a link of this service.
   */
  mesh_url?: string;
  /**
   * The same as a stored file.
   */
  mesh_file_id?: string;
  /**
   * The same seed makes the same mesh, where the model can; left out where it has no field for it.
   */
  seed?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/messages, in the form of Anthropic's Messages API, for any chat model of the catalogue. Accepted without effect: `top_k`, `service_tier`, `inference_geo`, `diagnostics`, members not named here, and the header `anthropic-version`.
 */
export interface MessagesRequest {
  model: MessagesModel;
  /**
   * Most tokens the answer may have, thinking included.
   */
  max_tokens: number;
  messages: MessagesTurns;
  system?: MessagesSystem;
  /**
   * Send the answer as server-sent events while it is written.
   */
  stream?: boolean | null;
  /**
   * Texts that end the answer when the model would write them.
   *
   * @maxItems 16
   */
  stop_sequences?: string[] | null;
  /**
   * Randomness; 0 is the most repeatable.
   */
  temperature?: number | null;
  /**
   * Sample from the most likely tokens that together reach this probability.
   */
  top_p?: number | null;
  /**
   * Accepted without effect: most models of the catalogue have no such setting.
   */
  top_k?: number | null;
  tools?: MessagesTools;
  tool_choice?: MessagesToolChoice;
  thinking?: MessagesThinking;
  output_config?: MessagesOutputConfig;
  metadata?: {
    /**
     * The caller's pseudonym of its end user, passed on as `user`; one of more than 64 characters as its SHA-256.
     */
    user_id?: string | null;
    [k: string]: unknown;
  } | null;
  cache_control?: MessagesCacheControl;
  /**
   * Accepted without effect, except that an edit that compacts the conversation is refused.
   */
  context_management?: {
    edits?:
      | {
          type?: string;
          [k: string]: unknown;
        }[]
      | null;
    [k: string]: unknown;
  } | null;
  /**
   * No other speed has a price here.
   */
  speed?: "standard" | null;
  /**
   * Code is not run here: null or left out.
   */
  container?: null;
  /**
   * No servers are called from here: empty or left out.
   *
   * @maxItems 0
   */
  mcp_servers?: unknown[] | null;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/music/generations. What a model takes stands in its `allowed_params`: a value outside the declared set is refused. A member that is null counts as absent; members not named here are accepted and ignored.
 */
export interface MusicGenerationRequest {
  /**
   * Slug of a music model from GET /v1/models.
   */
  model: string;
  /**
   * What is to be heard.
   */
  prompt: string;
  /**
   * Words to be sung, where the model can.
   */
  lyrics?: string;
  /**
   * Seconds, one of the model's `durations` where it declares them; without it `default_duration`.
   */
  duration?: number;
  /**
   * The same seed and prompt make the same music. Refused where the model has no field for it.
   */
  seed?: number;
  /**
   * `url`: links that work for an hour; `b64_json`: the bytes. Without it `url`.
   */
  response_format?: "url" | "b64_json";
  /**
   * Without it `mp3`. Another one is refused where the model has no choice of formats.
   */
  output_format?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm";
  [k: string]: unknown;
}
/**
 * Body of POST /workspaces/{workspaceId}/notification-channels.
 */
export interface ChannelCreateRequest {
  /**
   * Made by the caller, so that a repeat makes no second one. A repeat is answered without the signing secret.
   */
  id?: string;
  type: "email" | "slack" | "telegram" | "webhook";
  /**
   * A name that no other channel of the workspace has.
   */
  name: string;
  /**
   * By type. webhook: `url`, `authType` and what it needs; slack: `url`; telegram: `botToken`, `chatId`; email: `recipient`.
   */
  config: {
    /**
     * Where a webhook or Slack's incoming webhook listens. Shown as its origin and its last four characters.
     */
    url?: string;
    /**
     * How a webhook is signed in to, beside the signature: `none` (when absent), `bearer` with `authToken`, `basic` with `authUsername` and `authPassword`, `api_key` with `authApiKey` in `authHeaderName` or `x-api-key`, `custom_header` with `authHeaderName` and `authHeaderValue`.
     */
    authType?: "none" | "bearer" | "basic" | "api_key" | "custom_header";
    authUsername?: string;
    /**
     * An HTTP field name: not `Content-Type`, `x-webhook-signature`, `webhook-…` or one of the connection, such as `Host`.
     */
    authHeaderName?: string;
    /**
     * Never shown. At least 8 characters.
     */
    authToken?: string;
    /**
     * Never shown. At least 8 characters.
     */
    authPassword?: string;
    /**
     * Never shown. At least 8 characters.
     */
    authApiKey?: string;
    /**
     * Never shown. At least 8 characters.
     */
    authHeaderValue?: string;
    /**
     * Of the Telegram bot. Never shown.
     */
    botToken?: string;
    /**
     * Of a Telegram chat: digits, or `@name`.
     */
    chatId?: string;
    /**
     * Exactly one e-mail address.
     */
    recipient?: string;
    [k: string]: unknown;
  };
  /**
   * True when absent.
   */
  enabled?: boolean;
  [k: string]: unknown;
}
/**
 * Body of PATCH /workspaces/{workspaceId}/notification-channels/{channelId}. What is absent stays. Of a `config` that is sent, credentials and URLs that are left out keep their value, everything else is what was sent; an empty credential is cleared.
 */
export interface ChannelUpdateRequest {
  /**
   * A name that no other channel of the workspace has.
   */
  name?: string;
  /**
   * By type. webhook: `url`, `authType` and what it needs; slack: `url`; telegram: `botToken`, `chatId`; email: `recipient`.
   */
  config?: {
    /**
     * Where a webhook or Slack's incoming webhook listens. Shown as its origin and its last four characters.
     */
    url?: string;
    /**
     * How a webhook is signed in to, beside the signature: `none` (when absent), `bearer` with `authToken`, `basic` with `authUsername` and `authPassword`, `api_key` with `authApiKey` in `authHeaderName` or `x-api-key`, `custom_header` with `authHeaderName` and `authHeaderValue`.
     */
    authType?: "none" | "bearer" | "basic" | "api_key" | "custom_header";
    authUsername?: string;
    /**
     * An HTTP field name: not `Content-Type`, `x-webhook-signature`, `webhook-…` or one of the connection, such as `Host`.
     */
    authHeaderName?: string;
    /**
     * Never shown. At least 8 characters.
     */
    authToken?: string;
    /**
     * Never shown. At least 8 characters.
     */
    authPassword?: string;
    /**
     * Never shown. At least 8 characters.
     */
    authApiKey?: string;
    /**
     * Never shown. At least 8 characters.
     */
    authHeaderValue?: string;
    /**
     * Of the Telegram bot. Never shown.
     */
    botToken?: string;
    /**
     * Of a Telegram chat: digits, or `@name`.
     */
    chatId?: string;
    /**
     * Exactly one e-mail address.
     */
    recipient?: string;
    [k: string]: unknown;
  };
  /**
   * False: nothing is sent any more, subscriptions and history stay.
   */
  enabled?: boolean;
  [k: string]: unknown;
}
/**
 * Body of PATCH /operator/api-keys/{id}. Members that are absent stay as they are.
 */
export interface OperatorApiKeyUpdateRequest {
  /**
   * A preset of the catalogue, in force within a second.
   */
  preset?: string;
  /**
   * The key stops working everywhere within a second, for good.
   */
  is_revoked?: true;
  /**
   * Capabilities and workflows that it may run, wherever it asks: ids, whole categories such as `image.*`, or `workflow.*`. A key that lists its tools writes no workflows, and gives keys no others. Null: all.
   *
   * @maxItems 200
   */
  tools?: string[] | null;
  [k: string]: unknown;
}
/**
 * Body of POST /operator/catalogue/check.
 */
export interface OperatorCatalogueCheckRequest {
  /**
   * Laid over Sluice's own files in this order; at most 262,144 bytes in all.
   *
   * @minItems 1
   * @maxItems 50
   */
  files: {
    /**
     * As faults are to call it.
     */
    name: string;
    /**
     * YAML, as in a file of `SLUICE_CATALOGUE`.
     */
    text: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Body of POST /operator/workspaces/{id}/credits.
 */
export interface OperatorCreditMoveRequest {
  /**
   * Made by the caller: under the same id, workspace and kind credits move once, however often it is sent.
   */
  id: string;
  /**
   * A top-up adds; a correction adds, or takes when it is negative.
   */
  kind: "top_up" | "correction";
  /**
   * A number or its decimal text, with at most 9 places; not 0, and at most 1,000,000,000. Read exactly as written.
   */
  credits: number | string;
  /**
   * For the ledger and the audit log.
   */
  note?: string;
  [k: string]: unknown;
}
/**
 * Body of POST /operator/holds/{id}/close; may be absent: the hold is released.
 */
export interface OperatorHoldCloseRequest {
  /**
   * Credits to take, at most those held: a number or its decimal text, with at most 9 places. Absent: nothing, the hold is released.
   */
  credits?: number | string;
  /**
   * True closes it although its deadline is to come. A call that still runs has nothing held then.
   */
  before_deadline?: boolean;
  /**
   * For the audit log.
   */
  note?: string;
  [k: string]: unknown;
}
/**
 * Body of POST /operator/dead-letters/redrive.
 */
export interface OperatorRedriveRequest {
  /**
   * Ids of dead letters.
   *
   * @minItems 1
   * @maxItems 100
   */
  ids: string[];
  [k: string]: unknown;
}
/**
 * Body of POST /operator/settle-faults/{id}/resolve; may be absent.
 */
export interface OperatorSettleFaultResolveRequest {
  /**
   * For the audit log.
   */
  note?: string;
  [k: string]: unknown;
}
/**
 * Body of POST /operator/tokens.
 */
export interface OperatorTokenCreateRequest {
  /**
   * Made by the caller, so that a repeat makes no second token. A repeat is answered without the token.
   */
  id?: string;
  /**
   * A name that no other token has or had.
   */
  name: string;
  /**
   * `read` looks; `write` changes too; `money` also moves credits and makes tokens.
   */
  scope: "read" | "write" | "money";
  /**
   * The token ends then; absent: it does not end by itself.
   */
  expires_at?: string;
  [k: string]: unknown;
}
/**
 * Body of POST /operator/workspaces.
 */
export interface OperatorWorkspaceCreateRequest {
  /**
   * Made by the caller, so that a repeat makes no second workspace. A repeat is answered without the key.
   */
  id?: string;
  /**
   * A name that no other workspace has, and that is no UUID.
   */
  name: string;
  owner: {
    /**
     * Of the first member, whose role is owner.
     */
    name: string;
    /**
     * One address.
     */
    email?: string;
    [k: string]: unknown;
  };
  /**
   * Of the first key; absent: `standard`.
   */
  preset?: string;
  [k: string]: unknown;
}
/**
 * Body of PATCH /operator/workspaces/{id}. Members that are absent stay as they are.
 */
export interface OperatorWorkspaceUpdateRequest {
  /**
   * A name that no other workspace has, and that is no UUID.
   */
  name?: string;
  /**
   * false: its keys are refused within a second; nothing is lost.
   */
  is_active?: boolean;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/pipelines/runs.
 */
export interface PipelineRunRequest {
  /**
   * A WorkflowDefinition, which is not stored.
   */
  definition: {
    [k: string]: unknown;
  };
  /**
   * Values of the inputs that the definition declares.
   */
  input?: {
    [k: string]: unknown;
  };
  /**
   * `sync` waits for the end, `stream` tells of each step as server-sent events, `async` answers at once. Absent: `sync`.
   */
  mode?: "sync" | "stream" | "async";
  [k: string]: unknown;
}
/**
 * Body of POST /v1/responses/compact: a conversation as POST /v1/responses takes it. Members not named here are accepted without effect.
 */
export interface ResponsesCompactRequest {
  /**
   * Slug of a chat model from GET /v1/models; it writes the summary.
   */
  model: string;
  /**
   * The conversation, oldest item first; behind that of `previous_response_id`.
   */
  input?:
    | string
    | {
        [k: string]: unknown;
      }[]
    | null;
  /**
   * Instructions that preceded the conversation.
   */
  instructions?: string | null;
  /**
   * A stored response, whose conversation stands before `input`.
   */
  previous_response_id?: string | null;
  /**
   * Groups calls that share a long beginning, for sources that cache prompts.
   */
  prompt_cache_key?: string | null;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/responses, in the form of OpenAI's Responses API, for any chat model of the catalogue. Of OpenAI's own tools `image_generation` is offered here; search of the web is left out, and others are refused. Accepted without effect: `prompt_cache_retention`, `stream_options`, `truncation` (nothing is left out), and members not named here.
 */
export interface ResponsesRequest {
  /**
   * Slug of a chat model from GET /v1/models.
   */
  model: string;
  /**
   * What the user says, or the conversation so far, oldest item first. It may be empty where the call goes on from stored items.
   */
  input:
    | string
    | {
        [k: string]: unknown;
      }[];
  /**
   * Instructions that precede the conversation.
   */
  instructions?: string | null;
  /**
   * Send the answer as server-sent events while it is written.
   */
  stream?: boolean | null;
  /**
   * `false` in a message over a WebSocket asks for no answer: the response is complete at once, without output and free, and the next message goes on from it by `previous_response_id`. Refused over HTTP.
   */
  generate?: boolean | null;
  /**
   * Accepted without effect: events are not padded.
   */
  stream_options?: {
    [k: string]: unknown;
  } | null;
  /**
   * Most tokens the answer may have, reasoning included.
   */
  max_output_tokens?: number | null;
  /**
   * Randomness; 0 is the most repeatable.
   */
  temperature?: number | null;
  /**
   * Sample from the most likely tokens that together reach this probability.
   */
  top_p?: number | null;
  /**
   * Makes tokens less likely once they occur at all.
   */
  presence_penalty?: number | null;
  /**
   * Makes tokens less likely the more often they already occur.
   */
  frequency_penalty?: number | null;
  /**
   * Alternatives to report per token; asks for log probabilities.
   */
  top_logprobs?: number | null;
  /**
   * `message.output_text.logprobs` asks for log probabilities. The others have no effect: what a source needs back of its reasoning stands in `encrypted_content` in any case.
   */
  include?:
    | (
        | "file_search_call.results"
        | "web_search_call.results"
        | "web_search_call.action.sources"
        | "message.input_image.image_url"
        | "computer_call_output.output.image_url"
        | "code_interpreter_call.outputs"
        | "reasoning.encrypted_content"
        | "message.output_text.logprobs"
      )[]
    | null;
  /**
   * What the model may call.
   */
  tools?: ResponsesTool[] | null;
  tool_choice?: ResponsesToolChoice | null;
  /**
   * Allow several calls in one answer.
   */
  parallel_tool_calls?: boolean | null;
  /**
   * Most runs of tools of type `sluice` and images.
   */
  max_tool_calls?: number | null;
  text?: ResponsesText | null;
  reasoning?: {
    /**
     * How much to think before answering, in the model's own steps, such as `low` or `high`.
     */
    effort?: string | null;
    /**
     * Visible reasoning as a summary; left out, it is the text of a reasoning item.
     */
    summary?: "auto" | "concise" | "detailed" | null;
    /**
     * @deprecated
     * Older name of `summary`.
     */
    generate_summary?: "auto" | "concise" | "detailed" | null;
    [k: string]: unknown;
  } | null;
  /**
   * A conversation that is too long is refused, with `auto` too.
   */
  truncation?: "auto" | "disabled" | null;
  /**
   * Store the response, so that later calls go on from it; left out, it is stored.
   */
  store?: boolean | null;
  /**
   * Labels of the caller's own, at most 16; the answer repeats them.
   */
  metadata?: {
    [k: string]: string;
  } | null;
  /**
   * Processing tier of the source, passed on.
   */
  service_tier?: string | null;
  /**
   * The caller's name for its end user.
   */
  user?: string | null;
  /**
   * Stable pseudonym of the end user, for the source's abuse checks.
   */
  safety_identifier?: string | null;
  /**
   * Groups calls that share a long beginning, for sources that cache prompts.
   */
  prompt_cache_key?: string | null;
  /**
   * A stored response: its conversation stands before `input`, without its `instructions`.
   */
  previous_response_id?: string | null;
  /**
   * A conversation: its items stand before `input`, and input and output are added to it when the answer is whole. One call at a time goes on from it; not together with `previous_response_id`.
   */
  conversation?:
    | string
    | {
        id: string;
        [k: string]: unknown;
      }
    | null;
  /**
   * Prompts are not kept here: null or left out.
   */
  prompt?: null;
  /**
   * Not offered here: null or left out.
   */
  moderation?: null;
  /**
   * Not offered here: empty or left out.
   *
   * @maxItems 0
   */
  context_management?: unknown[] | null;
  /**
   * Answer at once with the response as `queued`, and do the work as a job that needs nobody to wait: `GET` tells of it. It must be stored. With `stream` the events follow, and can be read again from any of them.
   */
  background?: boolean | null;
  [k: string]: unknown;
}
/**
 * A function called with JSON arguments.
 */
export interface ResponsesFunctionTool {
  type: "function";
  name: string;
  /**
   * When and how to use it.
   */
  description?: string | null;
  /**
   * JSON Schema of the arguments; left out, the function takes none.
   */
  parameters?: {
    [k: string]: unknown;
  } | null;
  /**
   * Hold the model to the schema exactly.
   */
  strict?: boolean | null;
  /**
   * Accepted without effect: the model is shown the tool at once.
   */
  defer_loading?: boolean | null;
  [k: string]: unknown;
}
/**
 * A tool called with free text. Models are shown it as a function with one text; a grammar is told them in words.
 */
export interface ResponsesCustomTool {
  type: "custom";
  name: string;
  /**
   * When and how to use it.
   */
  description?: string | null;
  format?: ResponsesCustomFormat;
  [k: string]: unknown;
}
/**
 * Any text.
 */
export interface ResponsesTextInput {
  type: "text";
  [k: string]: unknown;
}
/**
 * Text of a grammar.
 */
export interface ResponsesGrammarInput {
  type: "grammar";
  syntax: "lark" | "regex";
  definition: string;
  [k: string]: unknown;
}
/**
 * Images that the service makes when the model asks for one, at most 4 for a response, by POST /v1/images/generations: a call of its own each, at the price of the image model. Beside it, the model may call other tools.
 */
export interface ResponsesImageTool {
  type: "image_generation";
  /**
   * Slug of an image model. Left out, it is the one whose image costs least at most, of those that do not refuse the other members; of several with the same price, the first by its slug.
   */
  model?: string | null;
  /**
   * Width and height as the image model has them, such as `1024x1024`. Left out or `auto`, the model that asks for the image says it, where there is a choice.
   */
  size?: string | null;
  /**
   * As the image model has it; `auto` is its own.
   */
  quality?: string | null;
  background?: "transparent" | "opaque" | "auto" | null;
  /**
   * Refused where the image model has no choice of formats.
   */
  output_format?: "png" | "webp" | "jpeg" | null;
  /**
   * Of JPEG and WebP; without effect on PNG.
   */
  output_compression?: number | null;
  moderation?: "auto" | "low" | null;
  /**
   * Images are made and not changed here: POST /v1/images/edits does that.
   */
  action?: "generate" | "auto" | null;
  /**
   * Not offered here: 0 or left out.
   */
  partial_images?: number | null;
  /**
   * Not offered here: null or left out.
   */
  input_image_mask?: null;
  /**
   * It belongs to edits, which are not offered here: null or left out.
   */
  input_fidelity?: null;
  /**
   * Not offered here: null or left out.
   */
  complexity?: null;
  [k: string]: unknown;
}
/**
 * Functions and custom tools with a name in common. Models are shown each as `<namespace>__<name>`, shortened where it is longer than 64 characters; calls name both again. Two tools whose joined names are the same are refused.
 */
export interface ResponsesNamespaceTool {
  type: "namespace";
  name: string;
  /**
   * What the tools are for; shown to the model with the first of them.
   */
  description?: string | null;
  tools: ResponsesNamespacedTool[];
  [k: string]: unknown;
}
/**
 * A search for tools, which the client makes: its call is a `tool_search_call`, and the tools of the `tool_search_output` may be called from there on. A search by the service (`execution` other than `client`) is left out, since the model is shown all tools at once.
 */
export interface ResponsesSearchTool {
  type: "tool_search";
  execution?: "server" | "client" | null;
  /**
   * When and how to use it.
   */
  description?: string | null;
  /**
   * JSON Schema of the arguments; left out, they are a `query`.
   */
  parameters?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * OpenAI's search of the web, which is not offered here: the tool is left out, and `x-tools-omitted` names it. A `tool_choice` that names it is refused.
 */
export interface ResponsesWebSearchTool {
  type: "web_search" | "web_search_2025_08_26" | "web_search_preview" | "web_search_preview_2025_03_11";
  [k: string]: unknown;
}
/**
 * Calls this function.
 */
export interface ResponsesFunctionChoice {
  type: "function";
  name: string;
  /**
   * Namespace of the tool. Left out, the tool has none, or is the only one of its name.
   */
  namespace?: string | null;
  [k: string]: unknown;
}
/**
 * Calls this custom tool.
 */
export interface ResponsesCustomChoice {
  type: "custom";
  name: string;
  /**
   * Namespace of the tool. Left out, the tool has none, or is the only one of its name.
   */
  namespace?: string | null;
  [k: string]: unknown;
}
/**
 * Makes an image.
 */
export interface ResponsesImageChoice {
  type: "image_generation";
  [k: string]: unknown;
}
/**
 * Searches for tools.
 */
export interface ResponsesSearchChoice {
  type: "tool_search";
  [k: string]: unknown;
}
/**
 * Narrows the tools for this call without resending the list.
 */
export interface ResponsesAllowedTools {
  type: "allowed_tools";
  mode: "auto" | "required";
  /**
   * @minItems 1
   * @maxItems 128
   */
  tools: ResponsesAllowedTool[];
  [k: string]: unknown;
}
/**
 * Form of the answer's text.
 */
export interface ResponsesText {
  format?: ResponsesFormat;
  /**
   * How long answers should be.
   */
  verbosity?: "low" | "medium" | "high" | null;
  [k: string]: unknown;
}
/**
 * Any text.
 */
export interface ResponsesTextFormat {
  type: "text";
  [k: string]: unknown;
}
/**
 * One JSON object of no fixed shape; the input should ask for JSON too.
 */
export interface ResponsesJsonObject {
  type: "json_object";
  [k: string]: unknown;
}
/**
 * JSON that meets a schema.
 */
export interface ResponsesJsonSchema {
  type: "json_schema";
  name: string;
  /**
   * Tells the model what the answer is for.
   */
  description?: string | null;
  /**
   * JSON Schema of the answer.
   */
  schema: {
    [k: string]: unknown;
  };
  /**
   * Hold the model to the schema exactly.
   */
  strict?: boolean | null;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/audio/speech. A member that is null counts as absent; members not named here are accepted and ignored.
 */
export interface SpeechRequest {
  /**
   * Slug of a model that speaks, from GET /v1/models.
   */
  model: string;
  /**
   * The text.
   */
  input: string;
  /**
   * One of the model's `voices`; without it, or with one that the model has not, the model's usual one speaks, which `x-voice-used` names.
   */
  voice?: string;
  /**
   * A voice, or a way to speak, in words; for models that take it, ignored by others.
   */
  instructions?: string;
  /**
   * Without it `mp3`. `pcm` is 16-bit little-endian at 24 kHz, one channel.
   */
  response_format?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm";
  /**
   * `audio`, as without it: the audio itself. `sse`: an event stream of its pieces in base64.
   */
  stream_format?: "audio" | "sse";
  /**
   * 1 is the voice's own.
   */
  speed?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /workspaces/{workspaceId}/notification-channels/{channelId}/subscriptions.
 */
export interface SubscriptionCreateRequest {
  /**
   * Made by the caller, so that a repeat makes no second one.
   */
  id?: string;
  event:
    | "run.started"
    | "run.retrying"
    | "run.succeeded"
    | "run.failed"
    | "run.cancelled"
    | "job.completed"
    | "job.failed"
    | "budget.threshold_reached"
    | "template.unavailable";
  /**
   * Only what this workflow does; everything when absent. For run events.
   */
  workflowId?: string;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/audio/transcriptions as JSON: the audio as `audio_base64`, or as a stored file by `file_id`. As a form the audio is the part `file`, and lists are `timestamp_granularities[]`. A member that is null counts as absent; members not named here are accepted and ignored.
 */
export interface TranscriptionRequest {
  /**
   * Slug of a model that transcribes, from GET /v1/models.
   */
  model: string;
  /**
   * The audio in base64, or as a base64 data URL.
   */
  audio_base64?: string;
  /**
   * What `audio_base64` is; its bytes decide.
   */
  mime_type?: string;
  /**
   * A stored file.
   */
  file_id?: string;
  /**
   * Of the audio, such as `en`; without it the model finds out.
   */
  language?: string;
  /**
   * Words that guide the model, where it takes any.
   */
  prompt?: string;
  /**
   * Without it `json`.
   */
  response_format?: "json" | "text" | "srt" | "verbose_json" | "vtt";
  temperature?: number;
  /**
   * What `verbose_json` has times for; without it `segment`.
   *
   * @maxItems 2
   */
  timestamp_granularities?: ("word" | "segment")[];
  /**
   * Answers with an event stream; of the formats `json` and `text`.
   */
  stream?: boolean;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/videos/generations. What a model takes stands in its `allowed_params`: a value outside the declared set is refused. A member that is null counts as absent; members not named here are accepted and ignored.
 */
export interface VideoGenerationRequest {
  /**
   * Slug of a video model from GET /v1/models.
   */
  model: string;
  /**
   * What is to be seen.
   */
  prompt: string;
  /**
   * An image to begin with: a public http or https address, a link of this service, or a data URL.
   */
  image_url?: string;
  /**
   * The same as a stored file.
   */
  image_file_id?: string;
  /**
   * A video to go on from: a public http or https address or a link of this service.
   */
  video_url?: string;
  /**
   * The same as a stored file.
   */
  video_file_id?: string;
  /**
   * Seconds, one of the model's `durations`; without it `default_duration`.
   */
  duration?: number;
  /**
   * One of the model's `resolutions`, such as `720p`.
   */
  resolution?: string;
  /**
   * One of the model's `aspect_ratios`, such as `16:9`.
   */
  aspect_ratio?: string;
  /**
   * The same seed and prompt make the same video. Refused where the model has no field for it.
   */
  seed?: number;
  /**
   * What is not to be seen. Refused where the model has no field for it.
   */
  negative_prompt?: string;
  person_generation?: "dont_allow" | "allow_adult" | "allow_all";
  [k: string]: unknown;
}
/**
 * Body of POST /v1/workflows.
 */
export interface WorkflowCreateRequest {
  /**
   * Need not be unique.
   */
  name: string;
  /**
   * Stored and shown, and passed to no step.
   */
  description?: string;
  /**
   * A WorkflowDefinition.
   */
  definition: {
    [k: string]: unknown;
  };
  /**
   * Who sees it beside its maker, owners and admins: nobody, or the workspace. Absent on a new one: `private`.
   */
  sharingScope?: "private" | "workspace";
  /**
   * What the workspace may do with one that it sees; each includes those before. Absent on a new one: `read`.
   */
  sharePermission?: "read" | "run" | "edit";
  [k: string]: unknown;
}
/**
 * Body of POST /v1/workflows/estimate: `workflow_id` or `definition`.
 */
export interface WorkflowEstimateRequest {
  workflow_id?: string;
  /**
   * A WorkflowDefinition.
   */
  definition?: {
    [k: string]: unknown;
  };
  /**
   * Of the stored workflow; absent: the latest.
   */
  version?: number;
  /**
   * As of a run.
   */
  input?: {
    [k: string]: unknown;
  };
  /**
   * As of a run; runs in mode async may be tried again. Absent: `sync`.
   */
  mode?: "sync" | "stream" | "async";
  [k: string]: unknown;
}
/**
 * Body of POST /v1/workflows/{id}/runs.
 */
export interface WorkflowRunRequest {
  /**
   * Values of the inputs that the definition declares.
   */
  input?: {
    [k: string]: unknown;
  };
  /**
   * Absent: the latest.
   */
  version?: number;
  /**
   * `sync` waits for the end, `stream` tells of each step as server-sent events, `async` answers at once. Absent: `sync`.
   */
  mode?: "sync" | "stream" | "async";
  [k: string]: unknown;
}
/**
 * Body of PUT /v1/workflows/{id}: members that are absent stay as they are.
 */
export interface WorkflowUpdateRequest {
  /**
   * Need not be unique.
   */
  name?: string;
  /**
   * Stored and shown, and passed to no step.
   */
  description?: string;
  /**
   * A WorkflowDefinition: the next version. Runs that began before keep theirs.
   */
  definition?: {
    [k: string]: unknown;
  };
  /**
   * Who sees it beside its maker, owners and admins: nobody, or the workspace. Absent on a new one: `private`.
   */
  sharingScope?: "private" | "workspace";
  /**
   * What the workspace may do with one that it sees; each includes those before. Absent on a new one: `read`.
   */
  sharePermission?: "read" | "run" | "edit";
  [k: string]: unknown;
}
/**
 * Body of PATCH /workspaces/{workspaceId}.
 */
export interface WorkspaceUpdateRequest {
  /**
   * A name that no other workspace has. Paths under /workspaces/ take it in place of the id.
   */
  name: string;
  [k: string]: unknown;
}
/**
 * Words of one side of the conversation.
 */
export interface ResponsesMessage {
  /**
   * May be left out.
   */
  type?: "message";
  role: "user" | "assistant" | "system" | "developer";
  /**
   * Text, or parts. Images and files stand in messages of the user only.
   */
  content: string | ResponsesContentPart[];
  /**
   * Id of the item, as an answer had it.
   */
  id?: string | null;
  /**
   * Accepted as answers have it, without effect.
   */
  status?: string | null;
  /**
   * Accepted as answers have it, without effect.
   */
  phase?: "commentary" | "final_answer" | null;
  [k: string]: unknown;
}
/**
 * Plain text.
 */
export interface ResponsesInputText {
  type: "input_text";
  text: string;
  [k: string]: unknown;
}
/**
 * An image the model should look at: `image_url` or `file_id`.
 */
export interface ResponsesInputImage {
  type: "input_image";
  /**
   * An http(s) address, or the image itself as a data URL.
   */
  image_url?: string | null;
  /**
   * Id of a file in the workspace's file store.
   */
  file_id?: string | null;
  /**
   * How closely to look; decides how many tokens the image costs. `original` is served as `high`.
   */
  detail?: "auto" | "low" | "high" | "original" | null;
  [k: string]: unknown;
}
/**
 * A document the model should read: one of `file_id`, `file_data` and `file_url`.
 */
export interface ResponsesInputFile {
  type: "input_file";
  /**
   * Id of a file in the workspace's file store.
   */
  file_id?: string | null;
  /**
   * The file as a data URL.
   */
  file_data?: string | null;
  /**
   * An http(s) address of the file.
   */
  file_url?: string | null;
  filename?: string | null;
  [k: string]: unknown;
}
/**
 * Text that a client keeps for its service alone. A text that is not encrypted is shown to the model.
 */
export interface ResponsesSealedPart {
  type: "encrypted_content";
  encrypted_content: string;
  [k: string]: unknown;
}
/**
 * Text of an earlier answer.
 */
export interface ResponsesOutputText {
  type: "output_text";
  text: string;
  /**
   * Accepted as answers have them, without effect.
   */
  annotations?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  /**
   * Accepted as answers have them, without effect.
   */
  logprobs?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  [k: string]: unknown;
}
/**
 * What the model said when it declined.
 */
export interface ResponsesRefusal {
  type: "refusal";
  refusal: string;
  [k: string]: unknown;
}
/**
 * Earlier reasoning, sent back as an answer had it, to models that want it.
 */
export interface ResponsesReasoning {
  type: "reasoning";
  /**
   * Id of the item, as an answer had it.
   */
  id?: string | null;
  /**
   * Accepted as answers have it, without effect.
   */
  status?: string | null;
  summary: ResponsesSummaryText[];
  content?: ResponsesReasoningText[] | null;
  /**
   * The form in which its source takes it back; of another service it has no effect.
   */
  encrypted_content?: string | null;
  [k: string]: unknown;
}
/**
 * Part of a summary of reasoning.
 */
export interface ResponsesSummaryText {
  type: "summary_text";
  text: string;
  [k: string]: unknown;
}
/**
 * Part of visible reasoning.
 */
export interface ResponsesReasoningText {
  type: "reasoning_text";
  text: string;
  [k: string]: unknown;
}
/**
 * A call of a function that the model asked for.
 */
export interface ResponsesFunctionCall {
  type: "function_call";
  /**
   * Id of the item, as an answer had it.
   */
  id?: string | null;
  /**
   * Accepted as answers have it, without effect.
   */
  status?: string | null;
  /**
   * Repeated by the item with the result. Left out, the `id` of the item is.
   */
  call_id?: string | null;
  name: string;
  /**
   * Namespace of the tool.
   */
  namespace?: string | null;
  /**
   * JSON as text.
   */
  arguments: string;
  [k: string]: unknown;
}
/**
 * Result of a function call.
 */
export interface ResponsesFunctionCallOutput {
  type: "function_call_output";
  /**
   * Id of the item, as an answer had it.
   */
  id?: string | null;
  /**
   * Accepted as answers have it, without effect.
   */
  status?: string | null;
  /**
   * `call_id` of the call, which is an earlier item, or its `id` where the call has none. Left out, the result is that of the earliest call without one.
   */
  call_id?: string | null;
  /**
   * Text, or parts. Images and files in it follow the texts of all results.
   */
  output: string | ResponsesInputPart[];
  /**
   * Name of the tool; shown to the model with a result of no call.
   */
  name?: string | null;
  [k: string]: unknown;
}
/**
 * A call of a custom tool that the model asked for.
 */
export interface ResponsesCustomCall {
  type: "custom_tool_call";
  /**
   * Id of the item, as an answer had it.
   */
  id?: string | null;
  /**
   * Accepted as answers have it, without effect.
   */
  status?: string | null;
  /**
   * Repeated by the item with the result. Left out, the `id` of the item is.
   */
  call_id?: string | null;
  name: string;
  /**
   * Namespace of the tool.
   */
  namespace?: string | null;
  /**
   * Free text.
   */
  input: string;
  [k: string]: unknown;
}
/**
 * Result of a custom tool call.
 */
export interface ResponsesCustomCallOutput {
  type: "custom_tool_call_output";
  /**
   * Id of the item, as an answer had it.
   */
  id?: string | null;
  /**
   * Accepted as answers have it, without effect.
   */
  status?: string | null;
  /**
   * `call_id` of the call, which is an earlier item, or its `id` where the call has none. Left out, the result is that of the earliest call without one.
   */
  call_id?: string | null;
  /**
   * Text, or parts. Images and files in it follow the texts of all results.
   */
  output: string | ResponsesInputPart[];
  /**
   * Name of the tool; shown to the model with a result of no call.
   */
  name?: string | null;
  [k: string]: unknown;
}
/**
 * An item of a stored response, of its input or its output.
 */
export interface ResponsesItemReference {
  type: "item_reference";
  /**
   * Id of the item.
   */
  id: string;
  [k: string]: unknown;
}
/**
 * A summary of what came before, as POST /v1/responses/compact wrote it. The model is told of one of another service, which cannot be read here.
 */
export interface ResponsesCompaction {
  type: "compaction";
  /**
   * Id of the item, as an answer had it.
   */
  id?: string | null;
  encrypted_content: string;
  [k: string]: unknown;
}
/**
 * A run that the service made for the model, as an answer had it.
 */
export interface ResponsesSluiceCall {
  type: "sluice_call";
  /**
   * Id of the item, as an answer had it.
   */
  id?: string | null;
  /**
   * Accepted as answers have it, without effect.
   */
  status?: string | null;
  call_id: string;
  name: string;
  /**
   * JSON as text.
   */
  arguments: string;
  /**
   * Calls of one round are shown to the model as one turn.
   */
  round?: number | null;
  /**
   * What the model was told.
   */
  output: string;
  [k: string]: unknown;
}
/**
 * An image that was made for the model, as an answer had it. The model reads what it asked for and was told; a picture that it is to see comes as `input_image`, with the `file_id`.
 */
export interface ResponsesImageCall {
  type: "image_generation_call";
  /**
   * Id of the item, as an answer had it.
   */
  id?: string | null;
  /**
   * Accepted as answers have it, without effect.
   */
  status?: string | null;
  /**
   * Not looked at, and not stored.
   */
  result?: string | null;
  /**
   * The image as a file of the workspace.
   */
  file_id?: string | null;
  /**
   * What it was made of; used where there are no `arguments`.
   */
  revised_prompt?: string | null;
  /**
   * The model's id of the call.
   */
  call_id?: string | null;
  /**
   * JSON as text, as the model wrote it.
   */
  arguments?: string | null;
  /**
   * Calls of one round are shown to the model as one turn.
   */
  round?: number | null;
  /**
   * What the model was told.
   */
  output?: string | null;
  [k: string]: unknown;
}
/**
 * A search for tools that the model asked for.
 */
export interface ResponsesToolSearchCall {
  type: "tool_search_call";
  /**
   * Id of the item, as an answer had it.
   */
  id?: string | null;
  /**
   * Accepted as answers have it, without effect.
   */
  status?: string | null;
  /**
   * Repeated by the item with the result. Left out, the `id` of the item is.
   */
  call_id?: string | null;
  /**
   * Accepted as answers have it, without effect.
   */
  execution?: "server" | "client" | null;
  /**
   * As the model wrote them.
   */
  arguments?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Tools that a search found: the model may call them from here on. A definition that this service does not know is left out.
 */
export interface ResponsesToolSearchOutput {
  type: "tool_search_output";
  /**
   * Id of the item, as an answer had it.
   */
  id?: string | null;
  /**
   * Accepted as answers have it, without effect.
   */
  status?: string | null;
  /**
   * `call_id` of the call, which is an earlier item, or its `id` where the call has none. Left out, the result is that of the earliest call without one.
   */
  call_id?: string | null;
  /**
   * Accepted as answers have it, without effect.
   */
  execution?: "server" | "client" | null;
  tools: {
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Tools beside those of the call. Tools that the service runs are left out.
 */
export interface ResponsesAdditionalTools {
  type: "additional_tools";
  /**
   * Id of the item, as an answer had it.
   */
  id?: string | null;
  role?: "developer" | null;
  tools: ResponsesTool[];
  [k: string]: unknown;
}
/**
 * What a tool of a client or of another service did, as the client kept it. The model reads calls with their results, and messages of agents with their author. Reasoning, and what is for the other service alone, is left out.
 */
export interface ResponsesForeignItem {
  type:
    | "agent_message"
    | "agent_reasoning"
    | "apply_patch_call"
    | "apply_patch_call_output"
    | "code_interpreter_call"
    | "compaction_trigger"
    | "computer_call"
    | "computer_call_output"
    | "configuration_update"
    | "context_compaction"
    | "file_search_call"
    | "ghost_snapshot"
    | "local_shell_call"
    | "local_shell_call_output"
    | "mcp_approval_request"
    | "mcp_approval_response"
    | "mcp_call"
    | "mcp_list_tools"
    | "other"
    | "program"
    | "program_output"
    | "shell_call"
    | "shell_call_output"
    | "web_search_call";
  /**
   * Id of the item, as an answer had it.
   */
  id?: string | null;
  call_id?: string | null;
  [k: string]: unknown;
}
/**
 * API keys, the newest first, revoked ones too.
 */
export interface ApiKeyList {
  object: "list";
  data: ApiKey[];
  /**
   * Of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Of the last one: what `after` of the next page takes.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * An API key, masked.
 */
export interface ApiKey {
  object: "api_key";
  /**
   * Not a secret.
   */
  id: string;
  name: string;
  /**
   * The key itself: in the answer that made it, and never again.
   */
  key?: string;
  /**
   * Its first characters.
   */
  hint: string;
  /**
   * Whose key it is; it acts with this member's role.
   */
  member: {
    id: string;
    name: string;
    role: "owner" | "admin" | "developer" | "billing";
    [k: string]: unknown;
  };
  preset: string;
  /**
   * Capabilities and workflows that it may run: ids, categories, or `workflow.*`. Null: all.
   */
  tools: string[] | null;
  /**
   * An expired or revoked key is refused, and so are those of a disabled member.
   */
  status: "active" | "expired" | "revoked" | "disabled";
  created_at: string;
  /**
   * Within a minute or so; null: never.
   */
  last_used_at: string | null;
  /**
   * Null: it does not end by itself.
   */
  expires_at: string | null;
  revoked_at: string | null;
  [k: string]: unknown;
}
/**
 * One change, and who made it.
 */
export interface AuditLogEntry {
  object: "audit_log.entry";
  id: string;
  at: string;
  /**
   * Who did it.
   */
  actor: {
    /**
     * system: Sluice by itself.
     */
    type: "member" | "operator" | "system";
    id: string;
    /**
     * Of a member, as it is called now.
     */
    name: string | null;
    [k: string]: unknown;
  };
  key_id: string | null;
  ip: string | null;
  request_id: string | null;
  /**
   * `noun.verb`.
   */
  action: string;
  /**
   * Id of what was changed.
   */
  subject: string;
  /**
   * What it was, without secrets; null where there was nothing.
   */
  before: {
    [k: string]: unknown;
  } | null;
  /**
   * What it is since.
   */
  after: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * The audit log, the newest first.
 */
export interface AuditLogList {
  object: "list";
  data: AuditLogEntry[];
  /**
   * Of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Of the last one: what `after` of the next page takes.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A page of lines that have ended, in the order of their ends, as the output and error file have them.
 */
export interface BatchLineList {
  object: "list";
  data: {
    id: string;
    custom_id: string;
    /**
     * The answer of the line's call, also where it was refused; null for a line that was never made.
     */
    response: {
      status_code: number;
      /**
       * Id of the line's job or run.
       */
      request_id: string;
      /**
       * As the endpoint would have answered, in JSON. Media are files of the workspace.
       */
      body: {
        [k: string]: unknown;
      };
      [k: string]: unknown;
    } | null;
    /**
     * Why a line was never made: `batch_expired` or `batch_cancelled`.
     */
    error: {
      code: string;
      message: string;
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  }[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A page of batches, the newest first.
 */
export interface BatchList {
  object: "list";
  data: Batch[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A batch, as OpenAI describes one.
 */
export interface Batch {
  /**
   * `batch_` and 32 hex digits.
   */
  id: string;
  object: "batch";
  endpoint: string;
  /**
   * The model that all its lines name; absent when they name several.
   */
  model?: string;
  /**
   * Faults for which no line was made. The first 100 are told.
   */
  errors?: {
    object: "list";
    data: {
      code: string;
      message: string;
      /**
       * Path of the value at fault within its line.
       */
      param: string | null;
      /**
       * Line of the input file, from 1.
       */
      line: number | null;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  input_file_id: string;
  completion_window: "24h";
  status: "validating" | "failed" | "in_progress" | "finalizing" | "completed" | "expired" | "cancelling" | "cancelled";
  /**
   * File with the answers of lines that succeeded; absent while there is none.
   */
  output_file_id?: string;
  /**
   * File with the lines that were refused, failed or were never made; absent while there is none.
   */
  error_file_id?: string;
  /**
   * Its creation. Unix seconds.
   */
  created_at: number;
  /**
   * The end of its validation. Unix seconds.
   */
  in_progress_at?: number;
  /**
   * No line is begun after it. Unix seconds.
   */
  expires_at: number;
  /**
   * All lines had ended, or its time was over. Unix seconds.
   */
  finalizing_at?: number;
  /**
   * Its end. Unix seconds.
   */
  completed_at?: number;
  /**
   * Its end. Unix seconds.
   */
  failed_at?: number;
  /**
   * Its end. Unix seconds.
   */
  expired_at?: number;
  /**
   * The call that cancelled it. Unix seconds.
   */
  cancelling_at?: number;
  /**
   * Its end. Unix seconds.
   */
  cancelled_at?: number;
  request_counts: {
    /**
     * Lines; 0 until they are validated.
     */
    total: number;
    /**
     * Lines in the output file.
     */
    completed: number;
    /**
     * Lines in the error file; of a batch that has failed, all lines that have not completed.
     */
    failed: number;
    [k: string]: unknown;
  };
  /**
   * Sums over lines that have ended.
   */
  usage: {
    input_tokens: number;
    input_tokens_details: {
      cached_tokens: number;
      [k: string]: unknown;
    };
    output_tokens: number;
    output_tokens_details: {
      reasoning_tokens: number;
      [k: string]: unknown;
    };
    total_tokens: number;
    [k: string]: unknown;
  };
  /**
   * Credits that were taken for lines that have ended.
   */
  credits_used: number;
  metadata?: {
    [k: string]: string;
  } | null;
  [k: string]: unknown;
}
/**
 * Budget alerts, the newest first.
 */
export interface BudgetAlertList {
  object: "list";
  data: BudgetAlert[];
  /**
   * Of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Of the last one: what `after` of the next page takes.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * An alert on what the workspace spends.
 */
export interface BudgetAlert {
  object: "budget_alert";
  id: string;
  name: string;
  threshold_credits: number;
  /**
   * A day, a week from Monday or a month, UTC.
   */
  period: "daily" | "weekly" | "monthly";
  channel_ids: string[];
  is_active: boolean;
  stops_calls: boolean;
  /**
   * Credits of the present period.
   */
  spent: number;
  period_start: string;
  last_fired_at: string | null;
  created_at: string;
  updated_at: string;
  [k: string]: unknown;
}
/**
 * What a run would cost.
 */
export interface CapabilityEstimate {
  capability: string;
  currency: "credits";
  unit: PriceUnit;
  /**
   * What such a run usually comes to.
   */
  estimated_credits: number;
  /**
   * What it would hold.
   */
  max_credits: number;
  [k: string]: unknown;
}
/**
 * Every capability, ordered by category: video, audio, image, document, archive, web, code.
 */
export interface CapabilityList {
  object: "list";
  data: CapabilityEntry[];
  [k: string]: unknown;
}
/**
 * What a run made.
 */
export interface CapabilityRun {
  /**
   * Of its job.
   */
  id: string;
  object: "capability.run";
  capability: string;
  status: "completed";
  /**
   * Facts and texts.
   */
  output: {
    /**
     * Sentences about what the result leaves out or changes. Absent if there are none.
     */
    notes?: string[];
    [k: string]: unknown;
  };
  /**
   * Kept as files of the workspace.
   */
  files: {
    file_id: string;
    /**
     * Works for about an hour, without a key.
     */
    url: string;
    content_type: string;
    bytes: number;
    name?: string;
    [k: string]: unknown;
  }[];
  credits_used: number;
  /**
   * From the first input to the last file.
   */
  duration_ms: number;
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
   * Empty in the usage chunk, and in those with `sluice`.
   */
  choices: ChatChunkChoice[];
  /**
   * Only when `stream_options.include_usage` was set: null until the last chunk.
   */
  usage?: TokenUsageReport | null;
  service_tier?: string | null;
  system_fingerprint?: string | null;
  sluice?: ChatSluiceEvent;
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
  sluice?: SluiceSummary;
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
     * Audio in base64.
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
 * The person who is signed in, and the key that the session acts for.
 */
export interface ConsoleSession {
  object: "console_session";
  /**
   * The workspace of the member.
   */
  workspace: {
    id: string;
    name: string;
    [k: string]: unknown;
  };
  /**
   * The member who is signed in.
   */
  member: {
    id: string;
    name: string;
    [k: string]: unknown;
  };
  role: "owner" | "admin" | "developer" | "billing";
  /**
   * The key whose limits count, and with which the session ends.
   */
  key: {
    id: string;
    name: string;
    [k: string]: unknown;
  };
  /**
   * Quota preset of the key.
   */
  preset: string;
  /**
   * The latest end; an hour without a request ends it before.
   */
  ends_at: string;
  [k: string]: unknown;
}
/**
 * Answer of DELETE /v1/conversations/{conversation_id}.
 */
export interface ConversationDeleted {
  id: string;
  object: "conversation.deleted";
  deleted: true;
  [k: string]: unknown;
}
/**
 * A page of the items of a conversation.
 */
export interface ConversationItemList {
  object: "list";
  data: ResponsesItem[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Items that are kept here, and grow with each call that goes on from them.
 */
export interface Conversation {
  id: string;
  object: "conversation";
  /**
   * Unix seconds.
   */
  created_at: number;
  metadata: {
    [k: string]: string;
  };
  [k: string]: unknown;
}
/**
 * The balance of the workspace, in credits.
 */
export interface Credits {
  object: "credits";
  credits: number;
  /**
   * Reserved for calls that run now.
   */
  held: number;
  /**
   * What a new call can hold: `credits` without `held`.
   */
  available: number;
  [k: string]: unknown;
}
/**
 * A thing that is no more.
 */
export interface Deleted {
  id: string;
  deleted: true;
  [k: string]: unknown;
}
/**
 * Attempts follow at once.
 */
export interface DeliveriesRecovered {
  /**
   * Deliveries that are sent again.
   */
  count: number;
  [k: string]: unknown;
}
/**
 * An attempt follows at once.
 */
export interface DeliveryAccepted {
  deliveryId: string;
  [k: string]: unknown;
}
/**
 * Deliveries, the newest first.
 */
export interface DeliveryList {
  object: "list";
  data: Delivery[];
  /**
   * Of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Of the last one: what `after` of the next page takes.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * One event on its way to one channel. It arrives at least once, and not in order: tell repeats by the id.
 */
export interface Delivery {
  /**
   * `webhook-id` and `deliveryId` of every attempt.
   */
  id: string;
  /**
   * Null: mail to a member about a channel.
   */
  channelId: string | null;
  event: string;
  /**
   * pending: an attempt is due or under way; skipped: its channel was disabled; cancelled: its channel was deleted.
   */
  status: "pending" | "succeeded" | "failed" | "skipped" | "cancelled";
  attemptCount: number;
  nextAttemptAt: string | null;
  createdAt: string;
  endedAt: string | null;
  /**
   * What a webhook is sent. Only when one delivery is read.
   */
  body?: string;
  /**
   * Only when one delivery is read.
   */
  attempts?: {
    number: number;
    at: string;
    ms: number;
    /**
     * Of an HTTP or SMTP answer.
     */
    status: number | null;
    /**
     * Null: it was delivered.
     */
    error: string | null;
    /**
     * The answer's first kilobyte.
     */
    responseStart: string | null;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Answer of POST /v1/embeddings.
 */
export interface Embeddings {
  object: "list";
  /**
   * One vector for each input, in their order.
   */
  data: {
    object: "embedding";
    index: number;
    /**
     * Numbers, or base64 of little-endian 32-bit floats, as `encoding_format` asked.
     */
    embedding: number[] | string;
    [k: string]: unknown;
  }[];
  /**
   * Slug of the model.
   */
  model: string;
  usage: {
    /**
     * Tokens of all inputs.
     */
    prompt_tokens: number;
    /**
     * The same: vectors are no tokens.
     */
    total_tokens: number;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * What a call would cost. Nothing is held or billed for asking.
 */
export interface Estimate {
  /**
   * Slug of the model.
   */
  model: string;
  currency: "credits";
  unit: PriceUnit;
  /**
   * What such a call typically settles at. Input: texts by our own tokenizer (of more than a million characters a part is counted), an image at the most one can cost, a recording or file by its size. Output, for each choice: 512 tokens, or the call's own limit when that is lower. Cached input and tokens a provider adds are not foreseen.
   */
  estimated_credits: number;
  /**
   * What the call would hold, to the nano-credit. A chat call that sets no output limit may settle at more, if the model writes more than it was held for.
   */
  max_credits: number;
  /**
   * The parts of `estimated_credits`, which is their sum.
   */
  breakdown: {
    /**
     * What is counted, such as `input_tokens`, `output_tokens` or `requests`.
     */
    kind: string;
    quantity: number;
    /**
     * Credits for one of them.
     */
    unit_credits: number;
    /**
     * Credits for all of them; a fraction of a nano-credit is rounded up once, in their sum.
     */
    credits: number;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Events that a channel can be subscribed to.
 */
export interface EventTypeList {
  object: "list";
  data: {
    name:
      | "run.started"
      | "run.retrying"
      | "run.succeeded"
      | "run.failed"
      | "run.cancelled"
      | "job.completed"
      | "job.failed"
      | "budget.threshold_reached"
      | "template.unavailable";
    group: "runs" | "jobs" | "budgets" | "operator";
    description: string;
    /**
     * Path of the schema of `metadata`.
     */
    schema: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * The chain is gone.
 */
export interface FallbackChainDeleted {
  /**
   * Slug of the model whose chain it was.
   */
  model: string;
  deleted: true;
  [k: string]: unknown;
}
/**
 * All fallback chains of a workspace, by model.
 */
export interface FallbackChainList {
  object: "list";
  data: FallbackChain[];
  [k: string]: unknown;
}
/**
 * Which models serve, in order, when the providers of a model fail.
 */
export interface FallbackChain {
  /**
   * Slug of the model asked for.
   */
  model: string;
  /**
   * Slugs in the order they are tried; one that is no longer in the catalogue is passed over.
   *
   * @minItems 1
   * @maxItems 10
   */
  fallbacks: string[];
  /**
   * A text stream that breaks off after its first words is continued by the next model of the chain that can.
   */
  continue_streams: boolean;
  /**
   * When it was last changed.
   */
  updated_at: string;
  [k: string]: unknown;
}
/**
 * The file is gone.
 */
export interface FileDeleted {
  id: string;
  object: "file";
  deleted: true;
  [k: string]: unknown;
}
/**
 * A page of files.
 */
export interface StoredFileList {
  object: "list";
  data: StoredFile[];
  first_id: string | null;
  /**
   * Give it as `after` to get the next page.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A stored file, as OpenAI describes one.
 */
export interface StoredFile {
  /**
   * `file-` and 32 hex digits, sorted by time of creation; `file-sample-` and a word for a sample of the service.
   */
  id: string;
  object: "file";
  bytes: number;
  /**
   * Unix seconds.
   */
  created_at: number;
  /**
   * Unix seconds; absent when it is kept until it is deleted.
   */
  expires_at?: number;
  /**
   * The last element of the name it was sent under.
   */
  filename: string;
  /**
   * `batch_output` of a file that a batch has written.
   */
  purpose: "assistants" | "batch" | "batch_output" | "fine-tune" | "vision" | "user_data" | "evals";
  /**
   * A file can be used as soon as it can be seen.
   */
  status: "processed";
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
 * A job that goes on without its caller.
 */
export interface Job {
  id: string;
  object: "job";
  /**
   * Of its model, or what its capability makes.
   */
  modality: string;
  status: "queued" | "processing" | "completed" | "failed" | "cancelled";
  progress: number;
  /**
   * The model or capability asked for; null when the message was refused before it was known.
   */
  model: string | null;
  /**
   * Unix seconds.
   */
  created: number;
  /**
   * Unix seconds.
   */
  started?: number;
  /**
   * Unix seconds of its end, however it ended.
   */
  completed?: number;
  /**
   * What it made. Of a text job one element: the chat completion, as its endpoint would have answered. Of a media job one element for each thing made, with `file_id` and a `url` that works for about an hour. Of a capability one element: the run, as its endpoint would have answered.
   */
  data?: {
    [k: string]: unknown;
  }[];
  credits_used?: number;
  /**
   * As in the error envelope.
   */
  error?: {
    message: string;
    type: string;
    code: string;
    param: string | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * The API key that asks: whom it calls for, what it may spend and what is left of its limits.
 */
export interface Key {
  object: "key";
  /**
   * Id of the key; not a secret.
   */
  id: string;
  name: string;
  /**
   * Who calls and pays. Paths under `/workspaces/` take either.
   */
  workspace: {
    id: string;
    name: string;
    [k: string]: unknown;
  };
  /**
   * Of the member whose key it is.
   */
  role: "owner" | "admin" | "developer" | "billing";
  /**
   * Quota preset of the key: it sets the limits below.
   */
  preset: string;
  /**
   * Capabilities and workflows that it may run: ids, categories, or `workflow.*`. Null: all.
   */
  tools: string[] | null;
  /**
   * Of the workspace, in credits.
   */
  balance: {
    credits: number;
    /**
     * Reserved for calls that run now.
     */
    held: number;
    /**
     * What a new call can hold: `credits` without `held`.
     */
    available: number;
    [k: string]: unknown;
  };
  /**
   * Calls of the workspace in the last 60 seconds, refused ones and this one included.
   */
  window: {
    seconds: 60;
    /**
     * Most of them for this key; null is no limit.
     */
    limit: number | null;
    used: number;
    /**
     * Calls that would pass now; null without a limit.
     */
    left: number | null;
    [k: string]: unknown;
  };
  /**
   * Tokens of the workspace on this day, which ends at midnight UTC, those reserved by running calls included.
   */
  daily_tokens: {
    /**
     * Most of them for this key; null is no limit.
     */
    limit: number | null;
    used: number;
    /**
     * null without a limit.
     */
    left: number | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * One movement of credits. The balance is the sum of all of them.
 */
export interface LedgerEntry {
  object: "ledger_entry";
  id: string;
  kind: "settle" | "top_up" | "correction";
  /**
   * Negative when they left.
   */
  credits: number;
  /**
   * Of a settle, the call; of the others, the operator's id for it.
   */
  source_id: string;
  attempt: number;
  note: string | null;
  at: string;
  [k: string]: unknown;
}
/**
 * The ledger, the newest first.
 */
export interface LedgerList {
  object: "list";
  data: LedgerEntry[];
  /**
   * Of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Of the last one: what `after` of the next page takes.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * What each event of a streamed media call holds: `queued`, `processing`, then `completed` with what was made or `failed` with why, and behind it `[DONE]`.
 */
export interface MediaState {
  status: "queued" | "processing" | "completed" | "failed";
  /**
   * Unix seconds, once it is made.
   */
  created?: number;
  data?: MediaResult[];
  /**
   * As in the error envelope.
   */
  error?: {
    message: string;
    type: string;
    code: string;
    param: string | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface MediaResult {
  /**
   * Downloads it, without a key, for about an hour.
   */
  url?: string;
  /**
   * Its bytes in base64, when `response_format` asked for them.
   */
  b64_json?: string;
  /**
   * It in the file store of the workspace, for good. Absent in streams.
   */
  file_id?: string;
  content_type?: string;
  /**
   * Of music and video.
   */
  duration_seconds?: number;
  [k: string]: unknown;
}
/**
 * Answer of the endpoints that make images, music and meshes.
 */
export interface MediaResults {
  /**
   * Unix seconds.
   */
  created: number;
  /**
   * One element for each thing made, in the provider's order.
   */
  data: MediaResult[];
  /**
   * Credits the call cost.
   */
  credits_used: number;
  [k: string]: unknown;
}
/**
 * Members, the newest first, disabled ones too.
 */
export interface MemberList {
  object: "list";
  data: Member[];
  /**
   * Of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Of the last one: what `after` of the next page takes.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A member of the workspace.
 */
export interface Member {
  object: "member";
  id: string;
  name: string;
  /**
   * Where the member hears of the workspace's trouble.
   */
  email: string | null;
  role: "owner" | "admin" | "developer" | "billing";
  /**
   * Keys of a disabled member are refused.
   */
  is_active: boolean;
  created_at: string;
  [k: string]: unknown;
}
/**
 * The message, still empty; its token counts are zero where the source tells them at the end only.
 */
export interface MessageStart {
  type: "message_start";
  message: Message;
  [k: string]: unknown;
}
/**
 * Answer of POST /v1/messages that was not streamed.
 */
export interface Message {
  id: string;
  type: "message";
  role: "assistant";
  /**
   * The model that served the call.
   */
  model: string;
  content: MessageBlock[];
  /**
   * Null in `message_start` only.
   */
  stop_reason: MessageStopReason | null;
  /**
   * The text that ended the answer, from sources that name it.
   */
  stop_sequence: string | null;
  /**
   * Said of a refusal.
   */
  stop_details?: {
    type: "refusal";
    category?: string | null;
    explanation?: string | null;
    [k: string]: unknown;
  } | null;
  container?: null;
  usage: MessageUsage;
  [k: string]: unknown;
}
/**
 * Text of the answer.
 */
export interface MessageText {
  type: "text";
  text: string;
  citations?: null;
  [k: string]: unknown;
}
/**
 * Visible thinking. Send it back unchanged with the next turn.
 */
export interface MessageThinking {
  type: "thinking";
  thinking: string;
  /**
   * Empty where the source signs nothing.
   */
  signature: string;
  [k: string]: unknown;
}
/**
 * Thinking that only its source can read. Send it back unchanged with the next turn.
 */
export interface MessageRedactedThinking {
  type: "redacted_thinking";
  data: string;
  [k: string]: unknown;
}
/**
 * A tool the client is asked to call.
 */
export interface MessageToolUse {
  type: "tool_use";
  id: string;
  name: string;
  /**
   * Written by the model: check it before use. What is no JSON object stands as text under `INVALID_JSON`.
   */
  input: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Tokens the call used; the first three never overlap.
 */
export interface MessageUsage {
  /**
   * Read, and neither from nor into the prompt cache.
   */
  input_tokens: number;
  /**
   * Written to the prompt cache.
   */
  cache_creation_input_tokens: number;
  /**
   * Read from the prompt cache.
   */
  cache_read_input_tokens: number;
  /**
   * Cache writes by how long they last.
   */
  cache_creation?: {
    ephemeral_5m_input_tokens: number;
    ephemeral_1h_input_tokens: number;
    [k: string]: unknown;
  };
  /**
   * Everything the model wrote, thinking included.
   */
  output_tokens: number;
  output_tokens_details?: {
    thinking_tokens: number;
    [k: string]: unknown;
  };
  server_tool_use?: null;
  service_tier?: "standard";
  [k: string]: unknown;
}
/**
 * Means nothing.
 */
export interface MessagePing {
  type: "ping";
  [k: string]: unknown;
}
/**
 * A block begins, still empty; redacted thinking is whole.
 */
export interface MessageBlockStart {
  type: "content_block_start";
  index: number;
  content_block: MessageBlock;
  [k: string]: unknown;
}
/**
 * A piece to append to the open block.
 */
export interface MessageBlockDelta {
  type: "content_block_delta";
  index: number;
  delta: MessagePiece;
  [k: string]: unknown;
}
/**
 * Text to append.
 */
export interface MessageTextPiece {
  type: "text_delta";
  text: string;
  [k: string]: unknown;
}
/**
 * JSON text to append; whole at the block's end only.
 */
export interface MessageInputPiece {
  type: "input_json_delta";
  partial_json: string;
  [k: string]: unknown;
}
/**
 * Thinking to append.
 */
export interface MessageThinkingPiece {
  type: "thinking_delta";
  thinking: string;
  [k: string]: unknown;
}
/**
 * The signature of the open thinking block, whole.
 */
export interface MessageSignature {
  type: "signature_delta";
  signature: string;
  [k: string]: unknown;
}
/**
 * The open block is whole.
 */
export interface MessageBlockStop {
  type: "content_block_stop";
  index: number;
  [k: string]: unknown;
}
/**
 * Why the model stopped, and the tokens of the whole call.
 */
export interface MessageDelta {
  type: "message_delta";
  delta: {
    stop_reason: MessageStopReason;
    stop_sequence: string | null;
    stop_details?: {
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  };
  usage: MessageUsage;
  [k: string]: unknown;
}
/**
 * The answer is whole.
 */
export interface MessageStop {
  type: "message_stop";
  [k: string]: unknown;
}
/**
 * The answer broke off.
 */
export interface MessageError {
  type: "error";
  error: {
    type: string;
    message: string;
    [k: string]: unknown;
  };
  request_id?: string;
  [k: string]: unknown;
}
/**
 * Every model that can be called now.
 */
export interface ModelList {
  object: "list";
  data: ModelEntry[];
  [k: string]: unknown;
}
/**
 * Notification channels, the newest first.
 */
export interface ChannelList {
  object: "list";
  data: Channel[];
  /**
   * Of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Of the last one: what `after` of the next page takes.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Where notifications go.
 */
export interface Channel {
  id: string;
  type: "email" | "slack" | "telegram" | "webhook";
  name: string;
  enabled: boolean;
  /**
   * Without credentials; URLs as origin and last four characters.
   */
  config: {
    [k: string]: string;
  };
  /**
   * Names of the credentials that are stored.
   */
  credentials: string[];
  /**
   * Webhooks without one are sent unsigned, until one is made.
   */
  hasSigningSecret: boolean;
  /**
   * Of a new webhook: in the answer that made it, and never again by a creation.
   */
  signingSecret?: string;
  /**
   * Why it was disabled by itself: `gone` (the receiver said so, or refuses us for good) or `failing` (five days of failures); null otherwise.
   */
  disabledReason: "gone" | "failing" | null;
  /**
   * Since when every attempt failed.
   */
  failingSince: string | null;
  /**
   * Null when the operator made it.
   */
  createdByUserId: string | null;
  createdAt: string;
  updatedAt: string;
  [k: string]: unknown;
}
/**
 * Keys of a workspace, revoked ones too, the newest first.
 */
export interface OperatorApiKeyList {
  object: "list";
  data: OperatorApiKey[];
  first_id: string | null;
  /**
   * Give it as `after` to get the next page.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * An API key, masked.
 */
export interface OperatorApiKey {
  object: "api_key";
  /**
   * Not a secret.
   */
  id: string;
  name: string;
  /**
   * The key itself: in the answer that made it, and never again.
   */
  key?: string;
  /**
   * Its first characters.
   */
  hint: string;
  /**
   * Whose key it is; it acts with this member's role.
   */
  member: {
    id: string;
    name: string;
    role: "owner" | "admin" | "developer" | "billing";
    [k: string]: unknown;
  };
  preset: string;
  /**
   * Capabilities and workflows that it may run: ids, categories, or `workflow.*`. Null: all.
   */
  tools: string[] | null;
  created_at: string;
  /**
   * Within a minute or so; null: never.
   */
  last_used_at: string | null;
  /**
   * Null: it does not end by itself.
   */
  expires_at: string | null;
  /**
   * Null: it is not revoked.
   */
  revoked_at: string | null;
  [k: string]: unknown;
}
/**
 * One change, and who made it.
 */
export interface OperatorAuditLogEntry {
  object: "audit_log.entry";
  id: string;
  /**
   * Null: it concerns no workspace.
   */
  workspace_id: string | null;
  at: string;
  /**
   * Who did it.
   */
  actor: {
    /**
     * system: Sluice by itself.
     */
    type: "member" | "operator" | "system";
    /**
     * Of an operator the name of the token, or `command`.
     */
    id: string;
    /**
     * Of a member, as it is called now.
     */
    name: string | null;
    [k: string]: unknown;
  };
  key_id: string | null;
  ip: string | null;
  request_id: string | null;
  /**
   * `noun.verb`.
   */
  action: string;
  /**
   * Id of what was changed.
   */
  subject: string;
  /**
   * What it was, without secrets; null where there was nothing.
   */
  before: {
    [k: string]: unknown;
  } | null;
  /**
   * What it is since.
   */
  after: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * Who changed what in all workspaces, the newest first.
 */
export interface OperatorAuditLogList {
  object: "list";
  data: OperatorAuditLogEntry[];
  first_id: string | null;
  /**
   * Give it as `after` to get the next page.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * What a process would make of the files.
 */
export interface OperatorCatalogueCheck {
  is_valid: boolean;
  /**
   * Of the catalogue that they would make.
   */
  version: string | null;
  /**
   * How many models could be served.
   */
  models: number;
  /**
   * Models that could not, and why.
   */
  unroutable: {
    model: string;
    reason: string;
    [k: string]: unknown;
  }[];
  faults: {
    file: string;
    line: number | null;
    /**
     * Path within the file, such as `models[3].pricing.input_per_million`.
     */
    place: string;
    message: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * The catalogue in force.
 */
export interface OperatorCatalogue {
  object: "list";
  /**
   * Equal in all processes that read the same files with the same keys.
   */
  version: string;
  data: {
    model: string;
    /**
     * It is offered.
     */
    is_routable: boolean;
    /**
     * Why it is not.
     */
    reason: string | null;
    /**
     * Null of a model that is not offered.
     */
    modality: string | null;
    /**
     * Those that can be called, in the order of trying.
     */
    sources: {
      provider: string;
      /**
       * The provider's own name of it.
       */
      model: string;
      [k: string]: unknown;
    }[];
    pricing: Pricing | null;
    /**
     * Where the price is from, and when it was read there.
     */
    price_source: {
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * A top-up or correction, and the balance now.
 */
export interface OperatorCreditMove {
  object: "credit_move";
  /**
   * Its idempotency key, with workspace and kind.
   */
  id: string;
  workspace_id: string;
  kind: "top_up" | "correction";
  /**
   * Negative when they left.
   */
  credits: number;
  note: string | null;
  at: string;
  balance: OperatorCredits;
  [k: string]: unknown;
}
/**
 * The balance of a workspace, in credits.
 */
export interface OperatorCredits {
  object: "credits";
  workspace_id: string;
  /**
   * In credits, what calls hold included.
   */
  credits: number;
  /**
   * Set aside for calls that run now.
   */
  held: number;
  /**
   * What a new call can hold: `credits` without `held`.
   */
  available: number;
  [k: string]: unknown;
}
/**
 * Dead letters that nobody has dealt with, the newest first.
 */
export interface OperatorDeadLetterList {
  object: "list";
  data: OperatorDeadLetter[];
  first_id: string | null;
  /**
   * Give it as `after` to get the next page.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A message or job that no worker could end. Its body is a caller's and is not shown.
 */
export interface OperatorDeadLetter {
  object: "dead_letter";
  id: string;
  stream: string;
  stream_seq: string;
  subject: string;
  workspace_id: string | null;
  message_id: string | null;
  /**
   * Null: of a call, which cannot be sent again.
   */
  job_id: string | null;
  reason: string;
  deliveries: number;
  body_bytes: number;
  at: string;
  [k: string]: unknown;
}
/**
 * A thing that is no more.
 */
export interface OperatorDeleted {
  id: string;
  deleted: true;
  [k: string]: unknown;
}
/**
 * A hold that an operator closed.
 */
export interface OperatorHoldClosed {
  object: "hold_closed";
  /**
   * The job's id and the attempt, with a dot between.
   */
  id: string;
  job_id: string;
  attempt: number;
  workspace_id: string;
  /**
   * Credits that were held.
   */
  held: number;
  /**
   * Credits that were taken.
   */
  credits: number;
  [k: string]: unknown;
}
/**
 * Open holds of all workspaces, the newest first.
 */
export interface OperatorHoldList {
  object: "list";
  data: OperatorHold[];
  first_id: string | null;
  /**
   * Give it as `after` to get the next page.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Credits set aside for a call or job that has not ended.
 */
export interface OperatorHold {
  object: "hold";
  /**
   * The job's id and the attempt, with a dot between.
   */
  id: string;
  /**
   * Of a call, its `x-request-id`.
   */
  job_id: string;
  attempt: number;
  workspace_id: string;
  /**
   * Its name.
   */
  workspace: string;
  key_id: string;
  /**
   * A model, or a capability.
   */
  model: string;
  credits: number;
  created_at: string;
  /**
   * The janitor releases it after that.
   */
  deadline: string;
  /**
   * Its deadline is past.
   */
  is_overdue: boolean;
  /**
   * Since when it is not known what became of the job's paid work; null: that is no question.
   */
  unknown_since: string | null;
  [k: string]: unknown;
}
/**
 * Facts of a job, without what was asked and what came of it.
 */
export interface OperatorJob {
  object: "job";
  id: string;
  workspace_id: string;
  /**
   * Null when it was refused before a key was found.
   */
  key_id: string | null;
  pool: string;
  lane: "live" | "batch";
  kind: string;
  modality: string;
  model: string | null;
  state: "queued" | "running" | "completed" | "failed" | "cancelled" | "refused";
  progress: number;
  attempt: number;
  /**
   * How often it was put on the queue.
   */
  dispatch: number;
  /**
   * How often a worker took this attempt.
   */
  claims: number;
  /**
   * How often no source was free for it.
   */
  rests: number;
  /**
   * Who has it, or had it last.
   */
  worker: string | null;
  /**
   * It is that worker's until then; null: nobody's.
   */
  lease_until: string | null;
  /**
   * A provider works on it, and can be asked about it.
   */
  is_at_provider: boolean;
  is_cancel_requested: boolean;
  /**
   * Since when it is not known what became of its paid work.
   */
  unknown_since: string | null;
  error_code: string | null;
  /**
   * What it cost; null until it has ended.
   */
  credits: number | null;
  /**
   * Its open holds.
   */
  held: {
    attempt: number;
    credits: number;
    deadline: string;
    [k: string]: unknown;
  }[];
  /**
   * The run that it is a step of.
   */
  run_id: string | null;
  step_id: string | null;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  deadline: string;
  [k: string]: unknown;
}
/**
 * Whether every balance is the sum of its entries and holds.
 */
export interface OperatorLedgerAudit {
  ok: boolean;
  faults: {
    workspace_id: string;
    fault: string;
    /**
     * Nano-credits.
     */
    expected: string;
    /**
     * Nano-credits.
     */
    found: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * One movement of credits. The balance is the sum of all of them.
 */
export interface OperatorLedgerEntry {
  object: "ledger_entry";
  id: string;
  kind: "settle" | "top_up" | "correction";
  /**
   * Negative when they left.
   */
  credits: number;
  /**
   * Of a settle, the call; of the others, the operator's id for it.
   */
  source_id: string;
  attempt: number;
  note: string | null;
  at: string;
  [k: string]: unknown;
}
/**
 * The ledger of a workspace, the newest entry first.
 */
export interface OperatorLedgerList {
  object: "list";
  data: OperatorLedgerEntry[];
  first_id: string | null;
  /**
   * Give it as `after` to get the next page.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Members of a workspace, the newest first.
 */
export interface OperatorMemberList {
  object: "list";
  data: OperatorMember[];
  first_id: string | null;
  /**
   * Give it as `after` to get the next page.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A member of a workspace.
 */
export interface OperatorMember {
  object: "member";
  id: string;
  name: string;
  /**
   * Where the member hears of the workspace's trouble.
   */
  email: string | null;
  role: "owner" | "admin" | "developer" | "billing";
  /**
   * Keys of a disabled member are refused.
   */
  is_active: boolean;
  created_at: string;
  [k: string]: unknown;
}
/**
 * What waits and what runs, by pool and lane.
 */
export interface OperatorPoolList {
  object: "list";
  data: {
    pool: string;
    lane: "live" | "batch";
    /**
     * Jobs that no worker has begun, those that wait for a source included, and calls beyond the slots there are. In the pool `workflow`: runs that wait to begin.
     */
    queued: number;
    /**
     * Jobs that a worker does, and calls whose callers wait, as far as there are slots for them. In the pool `workflow`: runs that have begun.
     */
    running: number;
    /**
     * What the processes take at once.
     */
    slots: number;
    /**
     * Those that were heard of in the last 45 seconds and take work.
     */
    processes: number;
    /**
     * How long the oldest queued job has waited; 0 where none does. Calls without a job do not tell.
     */
    oldest_waiting_seconds: number;
    /**
     * `queued` and `running` over three quarters of the slots of a process, rounded up; while no process tells its slots, one for any work. Of the pool `workflow` only `queued` counts, since a run holds a slot for milliseconds at a time, and one is wanted while a run has not ended.
     */
    wanted_processes: number;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Quota presets of the catalogue.
 */
export interface OperatorPresetList {
  object: "list";
  data: {
    name: string;
    /**
     * Calls in any 60 seconds, for the whole workspace; null is no limit.
     */
    requests_per_minute: number | null;
    /**
     * Tokens in a day that ends at midnight UTC; null is no limit.
     */
    daily_tokens: number | null;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * What became of each dead letter, in the order given.
 */
export interface OperatorRedrive {
  object: "list";
  data: {
    id: string;
    /**
     * `done`: its job is on its way again. `unknown`: there is no such letter, or it was sent before. `over`: there is no job that could be run again. `funds`: the workspace's credits do not cover it any more.
     */
    result: "done" | "unknown" | "over" | "funds";
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Holds that were closed without being settled, that no operator has dealt with, the newest first.
 */
export interface OperatorSettleFaultList {
  object: "list";
  data: OperatorSettleFault[];
  first_id: string | null;
  /**
   * Give it as `after` to get the next page.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A hold that was closed without being settled at what was used.
 */
export interface OperatorSettleFault {
  object: "settle_fault";
  id: string;
  workspace_id: string;
  /**
   * Of a call, its `x-request-id`.
   */
  job_id: string;
  attempt: number;
  /**
   * `usage_record` or `ledger_entry`: the call had been settled before. Else the SQLSTATE with which its figures were refused.
   */
  fault: string;
  /**
   * The call's outcome; null where its figures were refused.
   */
  status: string | null;
  /**
   * `provider/model` that served.
   */
  source: string | null;
  /**
   * Credits that were held.
   */
  held: number;
  /**
   * Credits that the call used, as decimal text; null: nothing was to be taken.
   */
  used: string | null;
  /**
   * Credits that the books have for the call.
   */
  settled: number;
  at: string;
  [k: string]: unknown;
}
/**
 * All sources of the catalogue, by name.
 */
export interface OperatorSourceList {
  object: "list";
  data: OperatorSource[];
  [k: string]: unknown;
}
/**
 * A provider's model that serves models of the catalogue.
 */
export interface OperatorSource {
  object: "source";
  /**
   * `provider/model`.
   */
  id: string;
  provider: string;
  /**
   * Models of the catalogue that the source serves.
   */
  models: string[];
  /**
   * Environment variable of the provider's key. null: the provider needs none.
   */
  setting: string | null;
  /**
   * `available`: calls are sent to it. `disabled`: no calls are sent for a while, after errors. `not_configured`: a setting is missing.
   */
  state: "available" | "disabled" | "not_configured";
  /**
   * Why no calls are sent to it. null: it is available.
   */
  reason: string | null;
  /**
   * HTTP status with which the provider refused our key, account or model name.
   */
  provider_status: number | null;
  /**
   * Pools whose workers have disabled it.
   */
  disabled_in: string[];
  /**
   * null: it is not disabled.
   */
  disabled_since: string | null;
  /**
   * Seconds until the next call is sent to it. null: it is not disabled.
   */
  next_attempt_seconds: number | null;
  [k: string]: unknown;
}
/**
 * Result of a smallest call to a source.
 */
export interface OperatorSourceTest {
  object: "source.test";
  /**
   * `provider/model`.
   */
  source: string;
  /**
   * Model of the catalogue with which it was tested.
   */
  model: string;
  /**
   * True when the provider answered the call.
   */
  is_working: boolean;
  /**
   * Class of the error: `misconfigured` (the provider refuses our key, account or model name), `rejected`, `refused`, `busy`, `failed`, `timeout` or `unknown`. null: it works.
   */
  error: string | null;
  /**
   * HTTP status of the provider's error.
   */
  provider_status: number | null;
  /**
   * Error text of the provider, at most 1,000 characters, without keys.
   */
  provider_text: string | null;
  /**
   * Duration of the call, in milliseconds.
   */
  duration_ms: number;
  [k: string]: unknown;
}
/**
 * Versions, what the process that answers can reach, and how much there is.
 */
export interface OperatorStatus {
  /**
   * What is needed to accept a call can be reached.
   */
  ok: boolean;
  /**
   * Null: it could not be asked.
   */
  versions: {
    sluice: string;
    /**
     * The newest migration of the database.
     */
    schema: string | null;
    postgres: string | null;
    nats: string | null;
    [k: string]: unknown;
  };
  dependencies: {
    name: string;
    ok: boolean;
    detail: string;
    [k: string]: unknown;
  }[];
  /**
   * Null: Postgres could not be asked.
   */
  counts: {
    workspaces: number;
    /**
     * Estimated beyond 10,000.
     */
    open_holds: number;
    /**
     * Whose paid work is not accounted for yet.
     */
    unknown_jobs: number;
    dead_letters: number;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * Tokens for `/operator`, the newest first; that of the settings is not among them.
 */
export interface OperatorTokenList {
  object: "list";
  data: OperatorToken[];
  first_id: string | null;
  /**
   * Give it as `after` to get the next page.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A token for `/operator`.
 */
export interface OperatorToken {
  object: "operator_token";
  id: string;
  /**
   * The audit log calls whoever uses it so.
   */
  name: string;
  /**
   * `read` looks; `write` changes too; `money` also moves credits and makes tokens.
   */
  scope: "read" | "write" | "money";
  /**
   * The token itself: in the answer that made it, and never again.
   */
  token?: string;
  created_at: string;
  /**
   * Null: it does not end by itself.
   */
  expires_at: string | null;
  revoked_at: string | null;
  [k: string]: unknown;
}
/**
 * What was made: a workspace, its owner and the owner's first key.
 */
export interface OperatorWorkspaceCreated {
  workspace: OperatorWorkspace;
  owner: OperatorMember;
  api_key: OperatorApiKey;
  [k: string]: unknown;
}
/**
 * A workspace and its balance, in credits.
 */
export interface OperatorWorkspace {
  object: "workspace";
  id: string;
  /**
   * No other workspace has it.
   */
  name: string;
  /**
   * Keys of a workspace that is not are refused.
   */
  is_active: boolean;
  /**
   * What calls hold included.
   */
  balance: number;
  /**
   * Set aside for calls that run now.
   */
  held: number;
  /**
   * What a new call can hold: `balance` without `held`.
   */
  available: number;
  created_at: string;
  [k: string]: unknown;
}
/**
 * Workspaces, the newest first.
 */
export interface OperatorWorkspaceList {
  object: "list";
  data: OperatorWorkspace[];
  first_id: string | null;
  /**
   * Give it as `after` to get the next page.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Limits that a key can have.
 */
export interface PresetList {
  object: "list";
  data: {
    name: string;
    /**
     * null is no limit.
     */
    requests_per_minute: number | null;
    /**
     * null is no limit.
     */
    daily_tokens: number | null;
    /**
     * Whether the key that asks may give it: it is no wider than its own.
     */
    can_be_given: boolean;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Answer of POST /v1/responses/compact: its `output` stands for the conversation as the beginning of a new `input`.
 */
export interface ResponseCompaction {
  id: string;
  object: "response.compaction";
  /**
   * Unix seconds.
   */
  created_at: number;
  output: ResponseCompactionItem[];
  usage: ResponseUsage;
  [k: string]: unknown;
}
/**
 * A summary of the conversation.
 */
export interface ResponseCompactionItem {
  id: string;
  type: "compaction";
  encrypted_content: string;
  [k: string]: unknown;
}
/**
 * Tokens the call used; totals contain their details.
 */
export interface ResponseUsage {
  input_tokens: number;
  input_tokens_details: {
    cached_tokens: number;
    cache_write_tokens: number;
    [k: string]: unknown;
  };
  output_tokens: number;
  output_tokens_details: {
    reasoning_tokens: number;
    [k: string]: unknown;
  };
  total_tokens: number;
  [k: string]: unknown;
}
/**
 * Answer of DELETE /v1/responses/{response_id}.
 */
export interface ModelResponseDeleted {
  id: string;
  object: "response";
  deleted: true;
  [k: string]: unknown;
}
/**
 * It begins.
 */
export interface ResponseCreated {
  type: "response.created";
  sequence_number: number;
  response: ModelResponse;
  [k: string]: unknown;
}
/**
 * Answer of POST /v1/responses. Settings of the request stand in it as they were applied; every member is always there.
 */
export interface ModelResponse {
  id: string;
  object: "response";
  /**
   * Unix seconds.
   */
  created_at: number;
  /**
   * Unix seconds; null unless it is completed.
   */
  completed_at: number | null;
  status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
  /**
   * Why it failed.
   */
  error: {
    code: string;
    message: string;
    [k: string]: unknown;
  } | null;
  /**
   * Why it is incomplete.
   */
  incomplete_details: {
    reason: "max_output_tokens" | "content_filter" | "max_rounds" | "max_credits";
    [k: string]: unknown;
  } | null;
  /**
   * The model that served the call.
   */
  model: string;
  output: ResponseItem[];
  /**
   * Null before its end.
   */
  usage: ResponseUsage | null;
  instructions: string | null;
  previous_response_id: string | null;
  /**
   * The conversation that it belongs to.
   */
  conversation?: {
    id: string;
    [k: string]: unknown;
  } | null;
  tools: ResponsesTool[];
  tool_choice: ResponsesToolChoice;
  parallel_tool_calls: boolean;
  max_tool_calls: number | null;
  text: ResponsesText;
  reasoning: {
    effort: string | null;
    summary: string | null;
    [k: string]: unknown;
  };
  temperature: number;
  top_p: number;
  presence_penalty: number;
  frequency_penalty: number;
  top_logprobs: number;
  max_output_tokens: number | null;
  truncation: "disabled";
  store: boolean;
  background: boolean;
  service_tier: string;
  metadata: {
    [k: string]: string;
  };
  user: string | null;
  safety_identifier: string | null;
  prompt_cache_key: string | null;
  sluice?: SluiceSummary;
  [k: string]: unknown;
}
/**
 * Words of the answer.
 */
export interface ResponseMessage {
  id: string;
  type: "message";
  role: "assistant";
  status: "in_progress" | "completed" | "incomplete";
  content: ResponsePart[];
  [k: string]: unknown;
}
/**
 * Text.
 */
export interface ResponseText {
  type: "output_text";
  text: string;
  /**
   * Sources the model cites.
   */
  annotations: {
    [k: string]: unknown;
  }[];
  /**
   * Empty unless asked for.
   */
  logprobs: ResponseLogprob[];
  [k: string]: unknown;
}
/**
 * Log probability of one token.
 */
export interface ResponseLogprob {
  token: string;
  logprob: number;
  bytes?: number[] | null;
  top_logprobs?: {
    token: string;
    logprob: number;
    bytes?: number[] | null;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * What the model said when it declined.
 */
export interface ResponseRefusal {
  type: "refusal";
  refusal: string;
  [k: string]: unknown;
}
/**
 * Visible reasoning: as `summary` where the request asked for one, else as `content`. Send it back unchanged with the next turn.
 */
export interface ResponseReasoning {
  id: string;
  type: "reasoning";
  status: "in_progress" | "completed" | "incomplete";
  summary: ResponseSummaryText[];
  content?: ResponseReasoningText[];
  /**
   * The form in which its source takes it back; absent where it takes none.
   */
  encrypted_content?: string;
  [k: string]: unknown;
}
/**
 * Part of a summary.
 */
export interface ResponseSummaryText {
  type: "summary_text";
  text: string;
  [k: string]: unknown;
}
/**
 * Part of visible reasoning.
 */
export interface ResponseReasoningText {
  type: "reasoning_text";
  text: string;
  [k: string]: unknown;
}
/**
 * A function the client is asked to call.
 */
export interface ResponseFunctionCall {
  id: string;
  type: "function_call";
  status: "in_progress" | "completed" | "incomplete";
  /**
   * Repeated by the item with its result.
   */
  call_id: string;
  name: string;
  /**
   * Namespace of the tool; absent where it has none.
   */
  namespace?: string;
  /**
   * JSON as text, written by the model: check it before use.
   */
  arguments: string;
  /**
   * Members of the source's own, to be sent back with the call.
   */
  extra_content?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A custom tool the client is asked to call.
 */
export interface ResponseCustomCall {
  id: string;
  type: "custom_tool_call";
  status: "in_progress" | "completed" | "incomplete";
  /**
   * Repeated by the item with its result.
   */
  call_id: string;
  name: string;
  /**
   * Namespace of the tool; absent where it has none.
   */
  namespace?: string;
  /**
   * Free text written by the model.
   */
  input: string;
  /**
   * Members of the source's own, to be sent back with the call.
   */
  extra_content?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A search for tools that the client is asked to make.
 */
export interface ResponseToolSearchCall {
  id: string;
  type: "tool_search_call";
  status: "in_progress" | "completed" | "incomplete";
  /**
   * Repeated by the item with the tools.
   */
  call_id: string;
  execution: "client";
  /**
   * As the model wrote them: an object, or a text where it wrote no JSON. An empty object until they are whole.
   */
  arguments:
    | {
        [k: string]: unknown;
      }
    | string;
  /**
   * Members of the source's own, to be sent back with the call.
   */
  extra_content?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * An image that the model asked for and the service made.
 */
export interface ResponseImageCall {
  id: string;
  type: "image_generation_call";
  status: "in_progress" | "generating" | "completed" | "failed";
  /**
   * The image in base64, in the answer itself: a response that is stored has it as `file_id` alone. Null, too, where the images of one response come to more than 8 MiB.
   */
  result: string | null;
  /**
   * The prompt that the model wrote; null where it wrote none.
   */
  revised_prompt: string | null;
  /**
   * The image as a file of the workspace, whose bytes `GET /v1/files/{id}/content` has; null until it is made.
   */
  file_id: string | null;
  /**
   * The image model that served.
   */
  model?: string;
  /**
   * Such as `png`.
   */
  output_format?: string;
  /**
   * As it was asked for.
   */
  size?: string;
  /**
   * As it was asked for.
   */
  quality?: string;
  /**
   * As it was asked for.
   */
  background?: string;
  /**
   * Why it was not made.
   */
  error?: {
    code: string;
    message: string;
    param: string | null;
    type: string;
    [k: string]: unknown;
  };
  /**
   * The model's id of the call.
   */
  call_id: string;
  /**
   * JSON as text, as the model wrote it.
   */
  arguments: string;
  /**
   * The turn of the model that asked for it.
   */
  round: number;
  /**
   * Id of the call that made it, under which its job and its price are found; absent where it was not begun.
   */
  request_id?: string;
  /**
   * What the model was told; null until it is made.
   */
  output: string | null;
  credits_used: number;
  [k: string]: unknown;
}
/**
 * It waits for a worker; background calls alone tell it.
 */
export interface ResponseQueued {
  type: "response.queued";
  sequence_number: number;
  response: ModelResponse;
  [k: string]: unknown;
}
/**
 * The model is at work.
 */
export interface ResponseInProgress {
  type: "response.in_progress";
  sequence_number: number;
  response: ModelResponse;
  [k: string]: unknown;
}
/**
 * It is whole.
 */
export interface ResponseCompleted {
  type: "response.completed";
  sequence_number: number;
  response: ModelResponse;
  [k: string]: unknown;
}
/**
 * It ended at a limit.
 */
export interface ResponseIncomplete {
  type: "response.incomplete";
  sequence_number: number;
  response: ModelResponse;
  [k: string]: unknown;
}
/**
 * It broke off.
 */
export interface ResponseFailed {
  type: "response.failed";
  sequence_number: number;
  response: ModelResponse;
  [k: string]: unknown;
}
/**
 * An item begins, still empty.
 */
export interface ResponseItemAdded {
  type: "response.output_item.added";
  sequence_number: number;
  output_index: number;
  item: ResponseItem;
  [k: string]: unknown;
}
/**
 * An item is whole.
 */
export interface ResponseItemDone {
  type: "response.output_item.done";
  sequence_number: number;
  output_index: number;
  item: ResponseItem;
  [k: string]: unknown;
}
/**
 * A part begins, still empty.
 */
export interface ResponsePartAdded {
  type: "response.content_part.added";
  sequence_number: number;
  item_id: string;
  output_index: number;
  content_index: number;
  part: ResponseAnyPart;
  [k: string]: unknown;
}
/**
 * A part is whole.
 */
export interface ResponsePartDone {
  type: "response.content_part.done";
  sequence_number: number;
  item_id: string;
  output_index: number;
  content_index: number;
  part: ResponseAnyPart;
  [k: string]: unknown;
}
/**
 * Text to append.
 */
export interface ResponseTextDelta {
  type: "response.output_text.delta";
  sequence_number: number;
  item_id: string;
  output_index: number;
  content_index: number;
  delta: string;
  logprobs: ResponseLogprob[];
  [k: string]: unknown;
}
/**
 * The text is whole.
 */
export interface ResponseTextDone {
  type: "response.output_text.done";
  sequence_number: number;
  item_id: string;
  output_index: number;
  content_index: number;
  text: string;
  logprobs: ResponseLogprob[];
  [k: string]: unknown;
}
/**
 * The text cites a source.
 */
export interface ResponseAnnotationAdded {
  type: "response.output_text.annotation.added";
  sequence_number: number;
  item_id: string;
  output_index: number;
  content_index: number;
  annotation_index: number;
  annotation: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Refusal to append.
 */
export interface ResponseRefusalDelta {
  type: "response.refusal.delta";
  sequence_number: number;
  item_id: string;
  output_index: number;
  content_index: number;
  delta: string;
  [k: string]: unknown;
}
/**
 * The refusal is whole.
 */
export interface ResponseRefusalDone {
  type: "response.refusal.done";
  sequence_number: number;
  item_id: string;
  output_index: number;
  content_index: number;
  refusal: string;
  [k: string]: unknown;
}
/**
 * Reasoning to append.
 */
export interface ResponseReasoningDelta {
  type: "response.reasoning_text.delta";
  sequence_number: number;
  item_id: string;
  output_index: number;
  content_index: number;
  delta: string;
  [k: string]: unknown;
}
/**
 * The reasoning is whole.
 */
export interface ResponseReasoningDone {
  type: "response.reasoning_text.done";
  sequence_number: number;
  item_id: string;
  output_index: number;
  content_index: number;
  text: string;
  [k: string]: unknown;
}
/**
 * A part of a summary begins, still empty.
 */
export interface ResponseSummaryPartAdded {
  type: "response.reasoning_summary_part.added";
  sequence_number: number;
  item_id: string;
  output_index: number;
  summary_index: number;
  part: ResponseSummaryText;
  [k: string]: unknown;
}
/**
 * A part of a summary is whole.
 */
export interface ResponseSummaryPartDone {
  type: "response.reasoning_summary_part.done";
  sequence_number: number;
  item_id: string;
  output_index: number;
  summary_index: number;
  part: ResponseSummaryText;
  [k: string]: unknown;
}
/**
 * Summary to append.
 */
export interface ResponseSummaryDelta {
  type: "response.reasoning_summary_text.delta";
  sequence_number: number;
  item_id: string;
  output_index: number;
  summary_index: number;
  delta: string;
  [k: string]: unknown;
}
/**
 * The summary is whole.
 */
export interface ResponseSummaryDone {
  type: "response.reasoning_summary_text.done";
  sequence_number: number;
  item_id: string;
  output_index: number;
  summary_index: number;
  text: string;
  [k: string]: unknown;
}
/**
 * JSON text to append; whole at the item's end only.
 */
export interface ResponseArgumentsDelta {
  type: "response.function_call_arguments.delta";
  sequence_number: number;
  item_id: string;
  output_index: number;
  delta: string;
  [k: string]: unknown;
}
/**
 * The arguments are whole.
 */
export interface ResponseArgumentsDone {
  type: "response.function_call_arguments.done";
  sequence_number: number;
  item_id: string;
  output_index: number;
  name: string;
  arguments: string;
  [k: string]: unknown;
}
/**
 * Input of a custom tool to append.
 */
export interface ResponseCustomDelta {
  type: "response.custom_tool_call_input.delta";
  sequence_number: number;
  item_id: string;
  output_index: number;
  delta: string;
  [k: string]: unknown;
}
/**
 * The input is whole.
 */
export interface ResponseCustomDone {
  type: "response.custom_tool_call_input.done";
  sequence_number: number;
  item_id: string;
  output_index: number;
  input: string;
  [k: string]: unknown;
}
/**
 * An image was asked for.
 */
export interface ResponseImageInProgress {
  type: "response.image_generation_call.in_progress";
  sequence_number: number;
  item_id: string;
  output_index: number;
  [k: string]: unknown;
}
/**
 * It is being made.
 */
export interface ResponseImageGenerating {
  type: "response.image_generation_call.generating";
  sequence_number: number;
  item_id: string;
  output_index: number;
  [k: string]: unknown;
}
/**
 * It is made; the end of its item has it.
 */
export interface ResponseImageCompleted {
  type: "response.image_generation_call.completed";
  sequence_number: number;
  item_id: string;
  output_index: number;
  [k: string]: unknown;
}
/**
 * The answer broke off; `response.failed` follows.
 */
export interface ResponseError {
  type: "error";
  sequence_number: number;
  code: string;
  message: string;
  param: string | null;
  /**
   * The same, as other answers have it.
   */
  error: {
    type: string;
    code: string;
    message: string;
    param: string | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A page of the items that a stored response was asked with.
 */
export interface ResponseInputList {
  object: "list";
  data: ResponsesItem[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Answer of POST /v1/responses/input_tokens.
 */
export interface ResponseInputTokens {
  object: "response.input_tokens";
  input_tokens: number;
  [k: string]: unknown;
}
/**
 * What answers at this address, and where it is described. Links are paths of the same address.
 */
export interface Service {
  name: "Sluice";
  description: string;
  version: string;
  /**
   * The API as a page.
   */
  docs: string;
  /**
   * The API for programs.
   */
  openapi: string;
  /**
   * What can be called, with prices; without a key.
   */
  models: string;
  [k: string]: unknown;
}
/**
 * The secret that signs what a webhook is sent.
 */
export interface SigningSecret {
  signingSecret: string;
  /**
   * Standard Webhooks signatures of the secret before are sent beside until then.
   */
  previousUntil?: string;
  [k: string]: unknown;
}
/**
 * What each event of speech with `stream_format: sse` holds: pieces of the audio, then `speech.audio.done`. Speech that breaks off ends with an `error` instead.
 */
export interface SpeechEvent {
  type?: "speech.audio.delta" | "speech.audio.done";
  /**
   * A piece of the audio in base64, to be decoded by itself.
   */
  audio?: string;
  /**
   * Of the last event.
   */
  usage?: {
    /**
     * 0 where the price counts no tokens.
     */
    input_tokens: number;
    output_tokens: number;
    total_tokens: number;
    /**
     * Billed, where the price counts them.
     */
    characters?: number;
    [k: string]: unknown;
  };
  /**
   * As in the error envelope.
   */
  error?: {
    message: string;
    type: string;
    code: string;
    param: string | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Subscriptions of a channel, the newest first.
 */
export interface SubscriptionList {
  object: "list";
  data: Subscription[];
  /**
   * Of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Of the last one: what `after` of the next page takes.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * One event that goes to one channel.
 */
export interface Subscription {
  id: string;
  channelId: string;
  event:
    | "run.started"
    | "run.retrying"
    | "run.succeeded"
    | "run.failed"
    | "run.cancelled"
    | "job.completed"
    | "job.failed"
    | "budget.threshold_reached"
    | "template.unavailable";
  /**
   * Null: everything.
   */
  workflowId: string | null;
  createdByUserId: string | null;
  createdAt: string;
  [k: string]: unknown;
}
/**
 * What a conversation would count as input. Our own count: a source may count a little differently.
 */
export interface TokenCount {
  input_tokens: number;
  [k: string]: unknown;
}
/**
 * What each event of a streamed transcription holds; the last one has the whole text.
 */
export interface TranscriptionEvent {
  type: "transcript.text.delta" | "transcript.text.done";
  delta?: string;
  text?: string;
  usage?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Answer of POST /v1/audio/transcriptions in the formats `json` and `verbose_json`; of the others it is text.
 */
export interface Transcription {
  task?: "transcribe";
  /**
   * Its name, such as `english`; empty when the source does not tell.
   */
  language?: string;
  /**
   * Seconds.
   */
  duration?: number;
  text: string;
  words?: TranscriptionWord[];
  segments?: TranscriptionSegment[];
  /**
   * What was billed: seconds, or tokens.
   */
  usage?: {
    type: "duration" | "tokens";
    seconds?: number;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface TranscriptionWord {
  word: string;
  /**
   * Seconds.
   */
  start: number;
  /**
   * Seconds.
   */
  end: number;
  [k: string]: unknown;
}
export interface TranscriptionSegment {
  id: number;
  /**
   * Seconds.
   */
  start: number;
  /**
   * Seconds.
   */
  end: number;
  text: string;
  [k: string]: unknown;
}
/**
 * What was used and spent, by bucket of time.
 */
export interface UsagePage {
  object: "page";
  data: {
    object: "bucket";
    start_time: string;
    end_time: string;
    results: {
      model?: string;
      key_id?: string;
      member_id?: string;
      /**
       * null: calls of no stored workflow.
       */
      workflow_id?: string | null;
      status?: "succeeded" | "failed" | "cancelled" | "lost";
      /**
       * Calls that have ended.
       */
      calls: number;
      /**
       * Of those, how many failed or were lost.
       */
      failed: number;
      /**
       * Credits taken.
       */
      credits: number;
      tokens: number;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  }[];
  has_more: boolean;
  /**
   * `page` of the next request; null on the last page.
   */
  next_page: string | null;
  [k: string]: unknown;
}
/**
 * Calls that have ended, the newest first. A call that was refused holds nothing and is not listed.
 */
export interface UsageRequestList {
  object: "list";
  data: UsageRequest[];
  /**
   * Of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Of the last one: what `after` of the next page takes.
   */
  last_id: string | null;
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * What one call used and paid.
 */
export interface UsageRequest {
  object: "usage.request";
  /**
   * `x-request-id` of the call, or the id of its job or run.
   */
  request_id: string;
  attempt: number;
  key_id: string;
  /**
   * The model that served, or was to; null: the call was a run, which is the sum of its steps.
   */
  model: string | null;
  /**
   * `provider/model`; null when none was asked.
   */
  source: string | null;
  status: "succeeded" | "failed" | "cancelled" | "lost";
  /**
   * Error code that the caller received. null: the call did not fail, or the reason is not recorded.
   */
  error_code: string | null;
  /**
   * Attempts at providers that failed. Absent: the call did not fail, or the reason is not recorded.
   */
  failure?: {
    /**
     * HTTP status of the provider that was asked last. null: no provider was asked, or it did not answer.
     */
    provider_status: number | null;
    /**
     * Class of the last error: `misconfigured` (the provider refuses our key, account or model name), `rejected`, `refused`, `busy`, `failed`, `timeout` or `unknown`. null: no provider was asked.
     */
    provider_error: string | null;
    /**
     * Error text of the provider that was asked last, at most 1,000 characters, without keys. Returned for a single call to owners and admins for seven days; null afterwards, or if the provider sent none.
     */
    provider_text?: string | null;
    /**
     * Failed attempts in order, at most 20.
     */
    attempts: {
      /**
       * `provider/model`.
       */
      source: string;
      /**
       * Class of the error, as in `provider_error`.
       */
      error: string;
      /**
       * HTTP status of the provider; null when it did not answer.
       */
      status: number | null;
      /**
       * Duration of the attempt, in milliseconds.
       */
      duration_ms: number;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  /**
   * What was measured, by unit.
   */
  units: {
    [k: string]: number;
  };
  /**
   * The provider did not say what was used.
   */
  is_estimated: boolean;
  tokens: number;
  /**
   * Credits set aside before the call ran.
   */
  held: number;
  /**
   * Credits taken.
   */
  credits: number;
  /**
   * Credits used beyond the hold that could not be taken.
   */
  uncollected: number;
  /**
   * null: the call of no stored workflow, or its job is not kept any more.
   */
  workflow_id: string | null;
  /**
   * The run whose step it was, as long as the step's job is kept, or that it was itself; null for none.
   */
  run_id: string | null;
  started_at: string;
  ended_at: string;
  /**
   * Of a stream that another model continued: what the earlier models took of `credits`.
   */
  parts?: {
    model: string;
    source: string;
    credits: number;
    /**
     * Class of the failure in which it broke off, such as `failed`, `timeout` or `busy`.
     */
    fault: string;
    /**
     * What was measured of it, by unit. Operators are told.
     */
    units?: {
      [k: string]: number;
    };
    /**
     * The provider did not say what it used. Operators are told.
     */
    is_estimated?: boolean;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * The workflow is gone; runs of it go on.
 */
export interface WorkflowDeleted {
  id: string;
  deleted: true;
  [k: string]: unknown;
}
/**
 * What a run would cost. Nothing is held for it.
 */
export interface WorkflowEstimate {
  currency: "credits";
  /**
   * What a run usually settles at.
   */
  estimated_credits: number;
  /**
   * What no run of the same input exceeds.
   */
  max_credits: number;
  steps: {
    id: string;
    estimated_credits: number;
    max_credits: number;
    /**
     * What was assumed, in words.
     */
    assumption: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Workflows that the key may see, newest first.
 */
export interface WorkflowList {
  items: WorkflowSummary[];
  /**
   * Of all pages.
   */
  total: number;
  /**
   * As applied.
   */
  limit: number;
  /**
   * As applied.
   */
  offset: number;
  [k: string]: unknown;
}
/**
 * A workflow without its definition.
 */
export interface WorkflowSummary {
  id: string;
  workspaceId: string;
  name: string;
  description: string;
  latestVersion: number;
  /**
   * It can be run.
   */
  isActive: boolean;
  createdAt: string;
  updatedAt: string;
  deletedAt: string | null;
  /**
   * The member whose key made it.
   */
  createdByUserId: string;
  sharingScope: "private" | "workspace";
  sharePermission: "read" | "run" | "edit";
  [k: string]: unknown;
}
/**
 * Answer to the cancel of a run.
 */
export interface WorkflowRunCancelled {
  id: string;
  /**
   * `cancelled`, or the status that the run had ended with before.
   */
  status: "succeeded" | "failed" | "cancelled";
  [k: string]: unknown;
}
/**
 * `data` of one server-sent event of a run. The last frame is followed by `[DONE]`. Frames have an `id`, but deltas do not: a reader that comes back with `Last-Event-ID` is told all frames behind it. `stepRun` stands in `step.started` and `step.finished`, `run` in `run.finished`.
 */
export interface WorkflowRunFrame {
  type: "run.started" | "step.started" | "step.delta" | "step.finished" | "run.finished";
  runId?: string;
  stepRun?: WorkflowStepRun;
  /**
   * Of a delta.
   */
  stepId?: string;
  /**
   * Of a delta.
   */
  attempt?: number;
  /**
   * Of a delta of a step with `for_each`: its item.
   */
  index?: number;
  /**
   * A piece of a chat step's answer.
   */
  delta?: {
    content?: string;
    [k: string]: unknown;
  };
  run?: WorkflowRun;
  [k: string]: unknown;
}
/**
 * One attempt of one step.
 */
export interface WorkflowStepRun {
  /**
   * Of the step.
   */
  id: string;
  /**
   * `model`, `sub_pipeline` or the id of a capability.
   */
  type: string;
  status: "queued" | "running" | "succeeded" | "failed" | "skipped" | "cancelled";
  attempt: number;
  /**
   * Runs that the step started, in the order of its list.
   */
  childRunIds?: string[];
  creditsUsed: number;
  durationMs: number;
  /**
   * Any JSON; of a step with `for_each` a list in the order of its items.
   */
  output?:
    | {
        [k: string]: unknown;
      }
    | unknown[]
    | string
    | number
    | boolean
    | null;
  /**
   * Path under which a large output is read, in place of `output`.
   */
  outputRef?: string;
  error?: {
    code: string;
    message: string;
    [k: string]: unknown;
  };
  skippedReason?: "condition_false" | "dependency_failed";
  [k: string]: unknown;
}
/**
 * A run of a workflow, as far as it has come.
 */
export interface WorkflowRun {
  id: string;
  /**
   * `partial` is never told.
   */
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "partial";
  /**
   * Absent for an inline definition.
   */
  workflowId?: string;
  /**
   * Of the workflow, kept through the run.
   */
  version?: number;
  mode: "sync" | "stream" | "async";
  /**
   * The run whose step it is.
   */
  parentRunId?: string;
  /**
   * From 1; only runs in mode async have more.
   */
  attempt: number;
  maxAttempts: number;
  /**
   * Credits settled so far, over all steps.
   */
  creditsUsed: number;
  /**
   * One entry for each attempt of a step. In the answer of a run that was waited for in the order in which steps became ready, else by step id and attempt.
   */
  stepRuns: WorkflowStepRun[];
  /**
   * From its start to its end; 0 where it has not ended, or never started.
   */
  durationMs: number;
  createdAt: string;
  /**
   * With defaults; absent where nothing was given, and in the fresh answer of a run.
   */
  input?: {
    [k: string]: unknown;
  };
  /**
   * What the definition's `output` gives, `{}` where it has none; absent where the run failed or was cancelled.
   */
  output?: {
    [k: string]: unknown;
  };
  /**
   * Of a run that failed.
   */
  error?: {
    code: string;
    message: string;
    /**
     * The step that failed first; `output` where the output could not be worked out.
     */
    stepId: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Runs that the key may see, newest first, without their steps, inputs and outputs.
 */
export interface WorkflowRunList {
  items: WorkflowRunSummary[];
  /**
   * Of all pages.
   */
  total: number;
  /**
   * As applied.
   */
  limit: number;
  /**
   * As applied.
   */
  offset: number;
  [k: string]: unknown;
}
/**
 * A run in a list.
 */
export interface WorkflowRunSummary {
  id: string;
  /**
   * `partial` is never told.
   */
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "partial";
  /**
   * Absent for an inline definition.
   */
  workflowId?: string;
  /**
   * Of the workflow, kept through the run.
   */
  version?: number;
  mode: "sync" | "stream" | "async";
  /**
   * The run whose step it is.
   */
  parentRunId?: string;
  /**
   * From 1; only runs in mode async have more.
   */
  attempt: number;
  maxAttempts: number;
  /**
   * Credits settled so far, over all steps.
   */
  creditsUsed: number;
  /**
   * From its start to its end; 0 where it has not ended, or never started.
   */
  durationMs: number;
  createdAt: string;
  [k: string]: unknown;
}
/**
 * Workflows to begin with.
 */
export interface WorkflowTemplateList {
  object: "list";
  data: WorkflowTemplate[];
  [k: string]: unknown;
}
/**
 * A workflow to begin with: a file of deploy/examples.
 */
export interface WorkflowTemplate {
  id: string;
  name: string;
  description: string;
  /**
   * A WorkflowDefinition. Replace the sandbox's models by those that are to do the work.
   */
  definition: {
    [k: string]: unknown;
  };
  /**
   * An input to try it on.
   */
  input: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Versions of a workflow, newest first.
 */
export interface WorkflowVersionList {
  items: {
    version: number;
    createdAt: string;
    createdByUserId: string;
    [k: string]: unknown;
  }[];
  total: number;
  limit: number;
  offset: number;
  [k: string]: unknown;
}
/**
 * A workflow that was written.
 */
export interface WorkflowWritten {
  id: string;
  /**
   * Its latest.
   */
  version: number;
  name: string;
  [k: string]: unknown;
}
/**
 * A workflow with one version of its definition.
 */
export interface Workflow {
  id: string;
  workspaceId: string;
  name: string;
  description: string;
  latestVersion: number;
  /**
   * It can be run.
   */
  isActive: boolean;
  createdAt: string;
  updatedAt: string;
  deletedAt: string | null;
  /**
   * The member whose key made it.
   */
  createdByUserId: string;
  sharingScope: "private" | "workspace";
  sharePermission: "read" | "run" | "edit";
  /**
   * Of the definition shown.
   */
  version: number;
  definition: WorkflowDefinition;
  [k: string]: unknown;
}
/**
 * Steps, what they are given, and what comes of them. Texts may hold expressions in CEL between ${{ and }}: one that stands alone keeps its type, others are inserted; $${{ stands for ${{. A step runs as soon as the steps are done that its expressions name.
 */
export interface WorkflowDefinition {
  /**
   * What a run may be given, by name.
   */
  inputs?: {
    [k: string]: WorkflowInput;
  };
  /**
   * @minItems 1
   * @maxItems 100
   */
  steps: WorkflowStep[];
  /**
   * What a run gives: an object whose values may hold expressions. Absent: a run gives `{}`.
   */
  output?: {
    [k: string]: unknown;
  };
  /**
   * Of a run that failed; runs that are waited for, or streamed, are tried once.
   */
  retry?: {
    /**
     * Clamped to 1 to 5.
     */
    max_attempts: number;
  };
  /**
   * Kept and shown, and read by nothing.
   */
  metadata?: {
    [k: string]: unknown;
  };
}
export interface WorkflowInput {
  type: "string" | "integer" | "number" | "boolean" | "array" | "object";
  /**
   * Absent: false.
   */
  required?: boolean;
  /**
   * Of its type.
   */
  default?: {
    [k: string]: unknown;
  };
  description?: string;
}
export interface WorkflowStep {
  id: string;
  /**
   * `model`, `sub_pipeline`, or the id of a capability.
   */
  type: string;
  /**
   * Slug of the model, where the type is `model`.
   */
  model?: string;
  /**
   * Where the type is `sub_pipeline`.
   */
  workflow_id?: string;
  /**
   * Of that workflow; absent: its latest when the run starts.
   */
  version?: number;
  /**
   * Of the model's call, less `model` and `stream`; or of the capability.
   */
  params?: {
    [k: string]: unknown;
  };
  /**
   * Of the capability, or of the workflow that is run.
   */
  input?: {
    [k: string]: unknown;
  };
  /**
   * One expression that gives true or false; false skips the step.
   */
  if?: string | boolean;
  /**
   * One expression that gives a list, or a list: the step runs for each `item` of it, with its `index`.
   *
   * @maxItems 1000
   */
  for_each?: string | unknown[];
  /**
   * Items at once; absent: 4.
   */
  concurrency?: number;
  /**
   * Ids of steps that are to be done before, besides those that expressions name.
   *
   * @maxItems 100
   */
  depends_on?: string[];
  /**
   * `continue`: the run goes on, and the step's output is null. Absent: `fail`.
   */
  on_error?: "fail" | "continue";
  retry?: {
    max_attempts: number;
    /**
     * Absent: 0.
     */
    delay_seconds?: number;
  };
  /**
   * Of one attempt.
   */
  timeout_seconds?: number;
  /**
   * Kept and shown, and read by nothing.
   */
  metadata?: {
    [k: string]: unknown;
  };
}
/**
 * The workspace, and how far its limits are used.
 */
export interface Workspace {
  object: "workspace";
  id: string;
  name: string;
  created_at: string;
  /**
   * Calls in the last 60 seconds, refused ones and this one included.
   */
  window: {
    seconds: 60;
    /**
     * Most of them for the key that asks; null is no limit.
     */
    limit: number | null;
    used: number;
    [k: string]: unknown;
  };
  /**
   * Bytes of files.
   */
  storage: {
    used_bytes: number;
    limit_bytes: number;
    [k: string]: unknown;
  };
  /**
   * A budget that stops calls is spent until then; null when none is.
   */
  calls_stopped_until: string | null;
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

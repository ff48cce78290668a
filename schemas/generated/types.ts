/** Written by deploy/generate.ts from schemas/*.schema.json: edit those, then run `npm run generate`. */

/**
 * Type of input or output.
 */
export type CapabilityModality = "video" | "audio" | "image" | "document" | "text" | "archive" | "any";
/**
 * Unit of the price.
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
 * Main input or output type of a model.
 */
export type Modality =
  "text" | "image" | "audio" | "stt" | "video" | "music" | "embedding" | "upscale" | "vision" | "object_3d";
/**
 * One message of a conversation. `role` selects its other members.
 */
export type ChatMessage =
  DeveloperMessage | SystemMessage | UserMessage | AssistantMessage | ToolMessage | FunctionMessage;
/**
 * A content block where only text is accepted.
 */
export type TextOnlyBlock = TextBlock;
/**
 * One content block of a user message.
 */
export type UserContentBlock = TextBlock | ImageBlock | AudioBlock | FileBlock;
/**
 * One content block of an earlier answer.
 */
export type AssistantContentBlock = TextBlock | RefusalBlock;
/**
 * A tool call that the model requests from the client.
 */
export type ToolCall = FunctionToolCall | CustomToolCall;
/**
 * A tool that the model may call.
 */
export type ChatTool = FunctionTool | CustomTool | SluiceTool;
/**
 * Format of the input of a custom tool.
 */
export type CustomToolFormat = TextToolFormat | GrammarToolFormat;
/**
 * `metadata` of the event `job.completed`: a durable job or a batch completed. `jobId` identifies a job, `batchId` a batch.
 */
export type JobCompleted = JobCompletedOfJob | JobCompletedOfBatch;
/**
 * `metadata` of the event `job.failed`: a durable job failed, or a batch failed or expired. `jobId` identifies a job, `batchId` a batch.
 */
export type JobFailed = JobFailedOfJob | JobFailedOfBatch;
/**
 * Limits of a key or member: models, endpoints, addresses and spend. A key must satisfy its own limits and those of its member. An absent or null member sets no limit. Null: no limits.
 */
export type Limits = {
  credits?: LimitCredits;
  /**
   * Names of models that may be called; `*` matches any characters. Not empty.
   *
   * @maxItems 100
   */
  models?: string[] | null;
  /**
   * APIs that may be called: `chat`, `responses`, `messages`, `embeddings`, `images`, `speech`, `transcriptions`, `videos`, `music`, `3d`, `capabilities`, `workflows`, `batches`, `files`, `mcp`, `settings`. Batch lines, NATS messages, tools and workflow steps need the API that they call, too. Not empty.
   *
   * @maxItems 32
   */
  endpoints?: string[] | null;
  /**
   * IP addresses and CIDR ranges from which the key may be used. Not empty.
   *
   * @maxItems 100
   */
  ips?: string[] | null;
  /**
   * Percentages of each credit limit at which a warning is sent.
   *
   * @maxItems 5
   */
  warn_at?: number[] | null;
  raise?: LimitRaise;
} | null;
/**
 * Maximum spend in credits per period in UTC, with at most 9 decimal places. An absent or null member sets no limit.
 */
export type LimitCredits = {
  /**
   * Credits per day.
   */
  day?: number | null;
  /**
   * Credits per week from Monday.
   */
  week?: number | null;
  /**
   * Credits per month.
   */
  month?: number | null;
  /**
   * Credits in total, since the limit was first set.
   */
  total?: number | null;
} | null;
/**
 * Temporary raise of credit limits; null when there is none.
 */
export type LimitRaise = {
  credits: LimitCredits;
  /**
   * End of the raise, in the future when it is set.
   */
  until: string;
} | null;
/**
 * Controls tool calls: a mode, a named tool, or a subset of the tools.
 */
export type ToolChoice = ToolChoiceMode | NamedToolChoice;
/**
 * `none`: no tool calls. `auto`: the model decides. `required`: at least one tool call.
 */
export type ToolChoiceMode = "none" | "auto" | "required";
/**
 * A named tool, or a subset of the tools.
 */
export type NamedToolChoice = FunctionToolChoice | CustomToolChoice | AllowedToolsChoice;
/**
 * Format of the answer.
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
 * One content block of a user turn.
 */
export type MessagesUserBlock =
  MessagesText | MessagesImage | MessagesDocument | MessagesSearchResult | MessagesToolResult;
/**
 * Cache breakpoint: the prompt up to this point is cached, for providers that support it.
 */
export type MessagesCacheControl = {
  /**
   * Always `ephemeral`.
   */
  type: "ephemeral";
  /**
   * Lifetime of the cache entry. Default: `5m`.
   */
  ttl?: "5m" | "1h" | null;
  [k: string]: unknown;
} | null;
/**
 * Source of the image: base64 data, a URL, or a stored file.
 */
export type MessagesImageSource = MessagesImageBytes | MessagesUrl | MessagesFile;
/**
 * Source of the document: inline content, a URL, or a stored file.
 */
export type MessagesDocumentSource =
  MessagesPdfBytes | MessagesPlainText | MessagesUrl | MessagesFile | MessagesInnerBlocks;
/**
 * A text or image block of a document.
 */
export type MessagesInnerBlock = MessagesText | MessagesImage;
/**
 * A content block where only text is accepted.
 */
export type MessagesTextOnlyBlock = MessagesText;
/**
 * One content block of a tool result.
 */
export type MessagesResultBlock =
  MessagesText | MessagesImage | MessagesDocument | MessagesSearchResult | MessagesToolReference;
/**
 * One content block of an earlier answer.
 */
export type MessagesAssistantBlock = MessagesText | MessagesThinkingBlock | MessagesRedactedThinking | MessagesToolUse;
/**
 * Turns of the conversation, oldest first.
 *
 * @minItems 1
 */
export type MessagesTurns = MessagesTurn[];
/**
 * Instructions before the conversation: a string, or a list of text blocks.
 */
export type MessagesSystem = string | MessagesTextOnlyBlock[] | null;
/**
 * Tools that the model may call; null when there are none.
 */
export type MessagesTools = MessagesTool[] | null;
/**
 * Controls tool calls: a mode, or a named tool. Default: `auto`.
 */
export type MessagesToolChoice = {
  /**
   * `auto`: the model decides. `any`: at least one call. `tool`: a call of the named tool. `none`: no calls.
   */
  type: "auto" | "any" | "tool" | "none";
  /**
   * Name of the tool. Required with `tool`.
   */
  name?: string;
  /**
   * True to receive at most one tool call per answer. Default: false.
   */
  disable_parallel_tool_use?: boolean | null;
  [k: string]: unknown;
} | null;
/**
 * Thinking budget, converted to a reasoning effort. `disabled`: none. `enabled`: low for budgets below 4,096 tokens, medium below 16,384, otherwise high. `adaptive`: high. `output_config.effort` overrides all but `disabled`.
 */
export type MessagesThinking = {
  /**
   * Thinking mode.
   */
  type: "enabled" | "adaptive" | "disabled";
  /**
   * Thinking budget in tokens; used with `enabled`.
   */
  budget_tokens?: number | null;
  [k: string]: unknown;
} | null;
/**
 * Effort and format of the answer.
 */
export type MessagesOutputConfig = {
  /**
   * Reasoning effort in the model's own levels, such as `low` or `high`. Without `thinking`, Claude models do not think.
   */
  effort?: string | null;
  /**
   * JSON format of the answer. Default: unrestricted text.
   */
  format?: {
    /**
     * Always `json_schema`.
     */
    type: "json_schema";
    /**
     * JSON Schema of the answer.
     */
    schema: {
      [k: string]: unknown;
    };
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
} | null;
/**
 * A tool that the model may call. The client or the service executes it.
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
 * Format of the input of a custom tool.
 */
export type ResponsesCustomFormat = ResponsesTextInput | ResponsesGrammarInput;
/**
 * A tool in a namespace.
 */
export type ResponsesNamespacedTool = ResponsesFunctionTool | ResponsesCustomTool;
/**
 * Controls tool calls: a mode, a named tool, or a subset of the tools.
 */
export type ResponsesToolChoice = ResponsesToolChoiceMode | ResponsesNamedChoice;
/**
 * `none`: no tool calls. `auto`: the model decides. `required`: at least one tool call.
 */
export type ResponsesToolChoiceMode = "none" | "auto" | "required";
/**
 * A named tool, or a subset of the tools.
 */
export type ResponsesNamedChoice =
  | ResponsesFunctionChoice
  | ResponsesCustomChoice
  | ResponsesImageChoice
  | ResponsesSearchChoice
  | ResponsesAllowedTools;
/**
 * An allowed tool: a named tool, the tool search, or image generation.
 */
export type ResponsesAllowedTool =
  ResponsesFunctionChoice | ResponsesCustomChoice | ResponsesImageChoice | ResponsesSearchChoice;
/**
 * Format of the answer.
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
 * An item other than a message: a tool call, its result, earlier reasoning, or added tools. Items of unknown types are sent to the model as text.
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
 * One part of a tool result.
 */
export type ResponsesInputPart = ResponsesInputText | ResponsesInputImage | ResponsesInputFile | ResponsesSealedPart;
/**
 * Spend in each period that has a credit limit; null for the others. Null: no credit limit, or the spend of another member that the caller may not see.
 */
export type LimitUsage = LimitPeriods | null;
/**
 * Spend of one period.
 */
export type LimitPeriodUsage = {
  /**
   * Credits charged in the period.
   */
  credits_used: number;
  /**
   * Credits reserved for running calls.
   */
  credits_held: number;
  /**
   * Credits that new calls may reserve: the limit, with its raise, minus the used and the reserved credits.
   */
  credits_left: number;
  /**
   * Start of the next period; null for `total`.
   */
  resets_at: string | null;
  [k: string]: unknown;
} | null;
/**
 * Reason for the end of the choice. `length`: the output limit was reached.
 */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";
/**
 * Progress of a call with a `sluice` tool: a run that starts or has ended, or the summary in the last chunk.
 */
export type ChatSluiceEvent = SluiceCall | SluiceSummary;
/**
 * Limit of one period; null when there is none.
 */
export type KeyCreditsLimit = {
  /**
   * Maximum credits of the period. A temporary raise is included.
   */
  credits: number;
  /**
   * Credits charged in the period.
   */
  credits_used: number;
  /**
   * Credits reserved for running calls.
   */
  credits_held: number;
  /**
   * Credits that new calls may reserve: `credits` minus `credits_used` and `credits_held`, at least 0.
   */
  credits_left: number;
  /**
   * End of the period; null for `total`.
   */
  resets_at: string | null;
  [k: string]: unknown;
} | null;
/**
 * Event of a streamed message; its `event:` line repeats `type`. Blocks follow each other with indexes from 0. A failed stream ends with an `error` event and without `message_stop`.
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
 * One content block of the answer.
 */
export type MessageBlock = MessageText | MessageThinking | MessageRedactedThinking | MessageToolUse;
/**
 * Reason for the end of the answer. `max_tokens`: the output limit was reached.
 */
export type MessageStopReason = "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal";
/**
 * Part of a block: text, tool input as JSON text, thinking, or a signature.
 */
export type MessagePiece = MessageTextPiece | MessageInputPiece | MessageThinkingPiece | MessageSignature;
/**
 * Event of a streamed response; its `event:` line repeats `type`, and `sequence_number` increases by one from 0. Output items have indexes from 0. A stream ends with `data: [DONE]`; a failed stream sends `error` and `response.failed` before it.
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
 * One output item.
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
 * One content part of a message.
 */
export type ResponsePart = ResponseText | ResponseRefusal;
/**
 * A content part of a message or of reasoning.
 */
export type ResponseAnyPart = ResponseText | ResponseRefusal | ResponseReasoningText;

/**
 * Title → type, for every schema that has a validator.
 */
export interface SchemaTypes {
  AllowedParams: AllowedParams;
  BatchAnswer: BatchAnswer;
  BatchMessage: BatchMessage;
  BodySetting: BodySetting;
  CapabilityEntry: CapabilityEntry;
  CatalogueFile: CatalogueFile;
  ChatLogprobs: ChatLogprobs;
  ChatMessage: ChatMessage;
  SluiceSummary: SluiceSummary;
  ChatTool: ChatTool;
  DurableMessage: DurableMessage;
  ErrorEnvelope: ErrorEnvelope;
  BalanceLow: BalanceLow;
  BudgetThresholdReached: BudgetThresholdReached;
  BudgetWarning: BudgetWarning;
  JobCompleted: JobCompleted;
  JobFailed: JobFailed;
  LimitReached: LimitReached;
  LimitWarning: LimitWarning;
  RunCancelled: RunCancelled;
  RunFailed: RunFailed;
  RunRetrying: RunRetrying;
  RunStarted: RunStarted;
  RunSucceeded: RunSucceeded;
  TemplateUnavailable: TemplateUnavailable;
  JobMessage: JobMessage;
  Limits: Limits;
  MediaOutcome: MediaOutcome;
  ModelEntry: ModelEntry;
  PresetEntry: PresetEntry;
  Pricing: Pricing;
  ProviderEntry: ProviderEntry;
  ApiKeyCreateRequest: ApiKeyCreateRequest;
  ApiKeyRotateRequest: ApiKeyRotateRequest;
  ApiKeyUpdateRequest: ApiKeyUpdateRequest;
  BalanceAlertCreateRequest: BalanceAlertCreateRequest;
  BalanceAlertUpdateRequest: BalanceAlertUpdateRequest;
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
  LabelLimitsRequest: LabelLimitsRequest;
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
  OperatorSessionCreateRequest: OperatorSessionCreateRequest;
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
  BalanceAlertList: BalanceAlertList;
  BalanceAlert: BalanceAlert;
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
  EndUserLimitsDeleted: EndUserLimitsDeleted;
  EndUserLimitsList: EndUserLimitsList;
  EndUserLimits: EndUserLimits;
  Estimate: Estimate;
  EventTypeList: EventTypeList;
  FallbackChainDeleted: FallbackChainDeleted;
  FallbackChainList: FallbackChainList;
  FallbackChain: FallbackChain;
  FileDeleted: FileDeleted;
  StoredFileList: StoredFileList;
  StoredFile: StoredFile;
  Health: Health;
  JobList: JobList;
  Job: Job;
  KeyCredits: KeyCredits;
  KeyUsage: KeyUsage;
  Key: Key;
  LedgerEntry: LedgerEntry;
  LedgerList: LedgerList;
  LimitAmounts: LimitAmounts;
  LimitPeriods: LimitPeriods;
  LimitUsage: LimitUsage;
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
  OperatorSession: OperatorSession;
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
  RequestBodies: RequestBodies;
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
  TagLimitsDeleted: TagLimitsDeleted;
  TagLimitsList: TagLimitsList;
  TagLimits: TagLimits;
  TokenCount: TokenCount;
  TokenUsageReport: TokenUsageReport;
  TranscriptionEvent: TranscriptionEvent;
  Transcription: Transcription;
  UnavailableModelList: UnavailableModelList;
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
 * Generation parameters that a model accepts. An absent member means that the parameter is not restricted, or not supported.
 */
export interface AllowedParams {
  /**
   * Maximum number of results per call.
   */
  max_n?: number;
  /**
   * Accepted aspect ratios, such as `16:9`.
   */
  aspect_ratios?: string[];
  /**
   * Accepted size labels, such as `1K`.
   */
  image_sizes?: string[];
  /**
   * Accepted sizes as width and height in pixels, such as `1024x1024`.
   */
  sizes?: string[];
  /**
   * Accepted video resolutions, such as `720p`.
   */
  resolutions?: string[];
  /**
   * Accepted values of `quality`.
   */
  qualities?: string[];
  /**
   * Accepted values of `style`.
   */
  styles?: string[];
  /**
   * Accepted values of `background`.
   */
  background?: string[];
  /**
   * Accepted values of `output_format`.
   */
  output_formats?: string[];
  /**
   * Accepted values of `response_format`.
   */
  response_formats?: string[];
  /**
   * Accepted values of `person_generation`.
   */
  person_generation?: string[];
  /**
   * Names of the model's voices.
   */
  voices?: string[];
  /**
   * Accepted input types. Chat models: `text`, `image`, `audio`, `file`.
   */
  supported_inputs?: string[];
  /**
   * Range of the speaking rate, when it is narrower than 0.25 to 4.
   */
  speed?: {
    /**
     * Minimum speaking rate.
     */
    min: number;
    /**
     * Maximum speaking rate.
     */
    max: number;
  };
  /**
   * True when `instructions` may describe the voice.
   */
  accepts_voice_instructions?: boolean;
  /**
   * True when `instructions` must describe the voice.
   */
  requires_voice_instructions?: boolean;
  /**
   * Accepted lengths in seconds.
   */
  durations?: number[];
  /**
   * Length in seconds of calls without `duration`.
   */
  default_duration?: number;
  /**
   * Minimum length in seconds; absent when unknown.
   */
  min_duration_seconds?: number;
  /**
   * Maximum length in seconds; absent when unknown.
   */
  max_duration_seconds?: number;
  /**
   * Values of parameters that a call omits.
   */
  default_params?: {
    [k: string]: unknown;
  };
  /**
   * Range of `strength` of image edits.
   */
  strength?: {
    /**
     * Minimum strength.
     */
    min: number;
    /**
     * Maximum strength.
     */
    max: number;
    /**
     * True when `strength` is required.
     */
    required: boolean;
  };
  /**
   * True when an input image is required.
   */
  requires_input_image?: boolean;
  /**
   * True when an input video is required.
   */
  requires_input_video?: boolean;
  /**
   * True when input audio is required.
   */
  requires_input_audio?: boolean;
  /**
   * True when an input mesh is required.
   */
  requires_input_3d?: boolean;
  /**
   * True when an input image is accepted.
   */
  accepts_input_image?: boolean;
  /**
   * True when an input video is accepted.
   */
  accepts_input_video?: boolean;
  /**
   * Maximum size of an input file, in bytes.
   */
  max_file_size_bytes?: number;
  /**
   * Maximum size of an input image, in bytes.
   */
  max_image_size_bytes?: number;
  /**
   * Maximum size of an input PDF, in bytes.
   */
  max_pdf_size_bytes?: number;
  /**
   * Maximum number of pages of an input PDF.
   */
  max_pdf_pages?: number;
  /**
   * Maximum size of input audio, in bytes.
   */
  max_audio_size_bytes?: number;
  /**
   * Maximum length of input audio, in seconds.
   */
  max_audio_duration_seconds?: number;
  /**
   * Maximum number of input files per call.
   */
  max_files?: number;
}
/**
 * Reply to a publisher on NATS: once when the message is accepted or rejected, and again when the job has ended. `waiting` means that the workspace's rate limit window is full and the queued message has no job yet. Publish it again when no further reply arrives within an hour. Publish a message without any reply again immediately, with the same key.
 */
export interface BatchAnswer {
  /**
   * `Idempotency-Key` of the message; null when it had none.
   */
  key: string | null;
  /**
   * Id of the job.
   */
  job_id: string;
  /**
   * State of the message or job.
   */
  status: "waiting" | "queued" | "running" | "completed" | "failed" | "cancelled" | "refused";
  /**
   * Response of the endpoint. Absent when it exceeds the size of a message; read it from the job then.
   */
  result?: {
    [k: string]: unknown;
  };
  /**
   * Error in the format of ErrorEnvelope.
   */
  error?: {
    [k: string]: unknown;
  };
  /**
   * Credits charged.
   */
  credits_used?: number;
  [k: string]: unknown;
}
/**
 * Message of a publisher on `batch.<pool>.<workspace id>.<key id>`. The last token is the id of the API key used to log in, and the call is made for that key. The header `Idempotency-Key` identifies the job; a repeat by the same member refers to the same job. The header `Sluice-Reply` is the subject of the replies, below `_INBOX.ws.<workspace id>.<key id>.`.
 */
export interface BatchMessage {
  /**
   * HTTP endpoint that accepts the body. Default: `/v1/chat/completions`.
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
   * `{id}` of a capability run.
   */
  capability?: string;
  /**
   * Request body in the format of the endpoint.
   */
  body: {
    [k: string]: unknown;
  };
  /**
   * `{id}` of a workflow run.
   */
  workflow?: string;
  [k: string]: unknown;
}
/**
 * Setting for kept requests and responses of calls: which ones, for how long, and with which values replaced.
 */
export interface BodySetting {
  /**
   * Calls whose request and response are kept: `none`, `errors` (calls that failed) or `all`.
   */
  keep: "none" | "errors" | "all";
  /**
   * Hours after which a kept body is deleted. The operator may allow fewer.
   */
  retention_hours?: number;
  /**
   * Values that are replaced by `[redacted]` before a body is stored. Default: none.
   */
  redact?: {
    /**
     * Names of JSON members whose values are replaced, at any depth and also in JSON inside of strings. Case is ignored.
     *
     * @maxItems 50
     */
    members?: string[];
    /**
     * Kinds of values that are replaced in all texts. `card_numbers` must have a valid check digit, `phone_numbers` the international form.
     *
     * @maxItems 3
     */
    patterns?: ("emails" | "card_numbers" | "phone_numbers")[];
  };
}
/**
 * A deterministic operation, run alone or as a workflow step.
 */
export interface CapabilityEntry {
  /**
   * Id in the form `<category>.<operation>`: the `{id}` of the run endpoint and the `type` of a workflow step.
   */
  id: string;
  /**
   * Always `capability`.
   */
  object: "capability";
  /**
   * Category of the capability.
   */
  category: "video" | "audio" | "image" | "document" | "archive" | "web" | "code";
  /**
   * Name for display.
   */
  display_name: string;
  /**
   * Description in one line.
   */
  description: string;
  /**
   * Documentation in Markdown; absent when there is none.
   */
  long_description?: string;
  /**
   * Accepted input type, or a list of types in the order of the members of `input_schema`.
   */
  input_modality: CapabilityModality | CapabilityModality[];
  output_modality: CapabilityModality;
  /**
   * Always true for pipelines, which run a list of operations; absent for all other capabilities.
   */
  composite?: true;
  /**
   * JSON Schema draft-07 of `params`. Rules across several parameters are in their descriptions.
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
   * A valid `input` for a first run.
   */
  sample_input?: {
    [k: string]: unknown;
  };
  /**
   * Examples of `params`.
   */
  examples?: {
    /**
     * Title of the example.
     */
    title: string;
    /**
     * Parameters of the example.
     */
    params: {
      [k: string]: unknown;
    };
    [k: string]: unknown;
  }[];
  pricing?: Pricing;
  /**
   * Smallest number of megapixels for which a run is charged; absent for other units of the price.
   */
  minimum_megapixels?: number;
  [k: string]: unknown;
}
/**
 * Price of a model or capability in credits. Prices per token have rates per million tokens. All other units have exactly one price, named after the unit.
 */
export interface Pricing {
  /**
   * Always `credits`. One credit is 0.01 US dollars.
   */
  currency: "credits";
  unit: PriceUnit;
  /**
   * Credits per million text input tokens.
   */
  input_per_million?: number;
  /**
   * Credits per million text output tokens, reasoning included.
   */
  output_per_million?: number;
  /**
   * Credits per million audio input tokens. Default: the text rate.
   */
  audio_input_per_million?: number;
  /**
   * Credits per million audio output tokens.
   */
  audio_output_per_million?: number;
  /**
   * Credits per million image input tokens. Default: the text rate.
   */
  image_input_per_million?: number;
  /**
   * Credits per million image output tokens.
   */
  image_output_per_million?: number;
  /**
   * Credits per million input tokens read from a prompt cache. Default: the input rate.
   */
  cached_input_per_million?: number;
  /**
   * Credits per million tokens written to a prompt cache for five minutes.
   */
  cache_write_per_million?: number;
  /**
   * Credits per million tokens written to a prompt cache for an hour.
   */
  cache_write_1h_per_million?: number;
  /**
   * Credits per call.
   */
  request_price?: number;
  /**
   * Credits per delivered image.
   */
  image_price?: number;
  /**
   * Credits per second.
   */
  second_price?: number;
  /**
   * Credits per minute of audio.
   */
  minute_price?: number;
  /**
   * Credits per input character.
   */
  character_price?: number;
  /**
   * Credits per operation.
   */
  operation_price?: number;
  /**
   * Credits per million pixels.
   */
  megapixel_price?: number;
  long_context?: LongContextRates;
  service_tiers?: ServiceTiers;
  /**
   * Share of the price that a line of a batch pays. Default: the factor of the deployment, normally 1.
   */
  batch_factor?: number;
  [k: string]: unknown;
}
/**
 * Rates of calls with a long input. They apply to all tokens of such a call.
 */
export interface LongContextRates {
  /**
   * Threshold of input tokens, cached tokens included. A call with more input tokens is charged at these rates, with all its tokens.
   */
  above_tokens: number;
  /**
   * Credits per million text input tokens.
   */
  input_per_million: number;
  /**
   * Credits per million text output tokens, reasoning included.
   */
  output_per_million?: number;
  /**
   * Credits per million audio input tokens. Default: the text rate.
   */
  audio_input_per_million?: number;
  /**
   * Credits per million audio output tokens.
   */
  audio_output_per_million?: number;
  /**
   * Credits per million image input tokens. Default: the text rate.
   */
  image_input_per_million?: number;
  /**
   * Credits per million image output tokens.
   */
  image_output_per_million?: number;
  /**
   * Credits per million input tokens read from a prompt cache. Default: the input rate.
   */
  cached_input_per_million?: number;
  /**
   * Credits per million tokens written to a prompt cache for five minutes.
   */
  cache_write_per_million?: number;
  /**
   * Credits per million tokens written to a prompt cache for an hour.
   */
  cache_write_1h_per_million?: number;
}
/**
 * Rates of service tiers, by the name of the tier. A call pays the rates of the tier that its provider reports.
 */
export interface ServiceTiers {
  flex?: ServiceTierRates;
  priority?: ServiceTierRates;
}
/**
 * Rates of calls that a provider serves in a service tier.
 */
export interface ServiceTierRates {
  /**
   * Credits per million text input tokens.
   */
  input_per_million: number;
  /**
   * Credits per million text output tokens, reasoning included.
   */
  output_per_million?: number;
  /**
   * Credits per million audio input tokens. Default: the text rate.
   */
  audio_input_per_million?: number;
  /**
   * Credits per million audio output tokens.
   */
  audio_output_per_million?: number;
  /**
   * Credits per million image input tokens. Default: the text rate.
   */
  image_input_per_million?: number;
  /**
   * Credits per million image output tokens.
   */
  image_output_per_million?: number;
  /**
   * Credits per million input tokens read from a prompt cache. Default: the input rate.
   */
  cached_input_per_million?: number;
  /**
   * Credits per million tokens written to a prompt cache for five minutes.
   */
  cache_write_per_million?: number;
  /**
   * Credits per million tokens written to a prompt cache for an hour.
   */
  cache_write_1h_per_million?: number;
  long_context?: LongContextRates;
}
/**
 * A catalogue file, built-in or of an operator. Files are merged in order: an entry with a known id changes only the members that it contains. Completeness of models is checked after the merge.
 */
export interface CatalogueFile {
  /**
   * Providers.
   */
  providers?: ProviderEntry[];
  /**
   * Quota presets.
   */
  presets?: PresetEntry[];
  /**
   * Models.
   */
  models?: CatalogueModel[];
  /**
   * Changes of capabilities.
   */
  capabilities?: CatalogueCapability[];
}
/**
 * A provider of a catalogue file: its API format, base URL and key variable. An entry with a known id changes only the members that it contains.
 */
export interface ProviderEntry {
  /**
   * Id of the provider, used by sources.
   */
  id: string;
  /**
   * True to remove the provider. Its sources are skipped.
   */
  disabled?: boolean;
  /**
   * API format of the provider. Required once, in the first file that names the provider.
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
   * http or https URL before the paths of the API format (`/chat/completions`, `/messages`, `/models/…`), without credentials, query and fragment.
   */
  base_url?: string;
  /**
   * Environment variable of the API key. Default: no key is needed.
   */
  api_key_env?: string;
  /**
   * `on` to disable a failing source temporarily. Default: `on`.
   */
  breaker?: "on" | "off";
  /**
   * Action when the client of a stream disconnects. `abort`: cancel the call and bill the received part. `drain`: read to the end and bill the whole answer, for providers that charge for it anyway. Default: `abort`.
   */
  on_disconnect?: "abort" | "drain";
  /**
   * Providers with a job queue: time in seconds during which a job without a result is polled and its credits are held, at most SLUICE_UNKNOWN_OUTCOME_HOURS. Use the longest job plus the retention of results. Default: the setting.
   */
  unknown_for_seconds?: number;
  /**
   * Providers that list their jobs: seconds after a lost response within which the list contains the accepted job. A job that is missing afterwards was not accepted. It must exceed the timeout of the provider's gateways. Default: the list never proves absence.
   */
  listed_within_seconds?: number;
  /**
   * Timeout for the first byte of a stream in milliseconds. It replaces the settings, whether or not another source can serve.
   */
  first_byte_ms?: number;
  /**
   * Image URLs in chat requests, for the family `openai-compatible`. `inline`: the service downloads them and sends the bytes. `pass`: the provider downloads them; use it only for providers outside your network. Files are always sent as bytes. Default: `inline`.
   */
  media?: "inline" | "pass";
}
/**
 * A quota preset of a catalogue file. An entry with a known name changes only the members that it contains.
 */
export interface PresetEntry {
  /**
   * Name of the preset.
   */
  name: string;
  /**
   * True to remove the preset.
   */
  disabled?: boolean;
  /**
   * Maximum number of calls of the workspace in any 60 seconds; null: no limit. The maximum is 4,095, because the window stores 4,096 calls.
   */
  requests_per_minute?: number | null;
  /**
   * Maximum number of tokens per day in UTC; null: no limit.
   */
  daily_tokens?: number | null;
}
/**
 * A model, or changes to one.
 */
export interface CatalogueModel {
  /**
   * Slug of the model, used as `model` in calls. It contains no slash, because it is also a path segment.
   */
  slug: string;
  /**
   * True to remove the model.
   */
  disabled?: boolean;
  /**
   * `tool` for rows that are listed only on request. Default: `model`.
   */
  kind?: "model" | "tool";
  modality?: Modality;
  /**
   * Owner of the model.
   */
  owned_by?: string;
  /**
   * Creation time of the model in Unix seconds.
   */
  created?: number;
  /**
   * True when the model serves chat completions.
   */
  supports_chat?: boolean;
  /**
   * True when the model serves embeddings.
   */
  supports_embeddings?: boolean;
  /**
   * True when the model streams answers.
   */
  supports_streaming?: boolean;
  /**
   * True when the model supports tool calls.
   */
  supports_tools?: boolean;
  /**
   * True when answers can be constrained by a JSON schema. Default: unknown; the source decides.
   */
  supports_json?: boolean;
  /**
   * Maximum number of tokens of prompt and answer together.
   */
  max_context_tokens?: number;
  /**
   * Maximum number of output tokens.
   */
  max_output_tokens?: number;
  /**
   * Maximum number of tokens of one input image. It limits the hold of calls with images.
   */
  tokens_per_image_max?: number;
  embedding?: EmbeddingFacts;
  /**
   * Timeout for the first byte of a stream in milliseconds, for models with long reasoning. It replaces those of the provider and the settings.
   */
  first_byte_ms?: number;
  /**
   * Lifetime of cached answers in seconds, for exact repeats of a request. Requests can override it. Default: only requests that ask for caching are cached.
   */
  cache_ttl_s?: number;
  pricing?: PricingText;
  /**
   * Prices for certain parameters, with the same unit as `pricing`. The first match applies, otherwise `pricing`. Not for prices per token.
   *
   * @minItems 1
   */
  price_variants?: PriceVariant[];
  /**
   * Seconds counted by a price per second: length of the media, or compute time of the provider. Default: `media` for video and music, otherwise `compute`.
   */
  seconds_of?: "media" | "compute";
  /**
   * Maximum number of compute seconds held and charged per call.
   */
  compute_seconds_max?: number;
  /**
   * Typical compute seconds of a call, for estimates. Default: half of the maximum.
   */
  compute_seconds_usual?: number;
  price_source?: PriceSource;
  allowed_params?: AllowedParams;
  /**
   * Sources of the model, in order of preference.
   *
   * @minItems 1
   */
  sources?: SourceEntry[];
}
/**
 * Limits of an embedding model. `max_context_tokens` of the model limits each input.
 */
export interface EmbeddingFacts {
  /**
   * Default length of the vectors.
   */
  dimensions?: number;
  /**
   * Minimum length of the vectors. Default: 1.
   */
  dimensions_min?: number;
  /**
   * Maximum length of the vectors. Default: the length is fixed.
   */
  dimensions_max?: number;
  /**
   * Maximum number of inputs per call. Default: 2048.
   */
  inputs_max?: number;
  /**
   * Number of token ids. Default: only text inputs are accepted.
   */
  vocabulary?: number;
  /**
   * Maximum number of inputs per provider request; larger calls are split. Default: no limit.
   */
  source_inputs_max?: number;
  /**
   * Maximum number of tokens per provider request; larger calls are split. Default: no limit.
   */
  source_tokens_max?: number;
}
/**
 * Prices in credits as quoted decimal text, which keeps every digit. Token rates are per million tokens.
 */
export interface PricingText {
  /**
   * Always `credits`.
   */
  currency?: "credits";
  unit?: PriceUnit;
  /**
   * Credits per million text input tokens.
   */
  input_per_million?: string;
  /**
   * Credits per million text output tokens, reasoning included.
   */
  output_per_million?: string;
  /**
   * Credits per million audio input tokens. Default: the text rate.
   */
  audio_input_per_million?: string;
  /**
   * Credits per million audio output tokens.
   */
  audio_output_per_million?: string;
  /**
   * Credits per million image input tokens. Default: the text rate.
   */
  image_input_per_million?: string;
  /**
   * Credits per million image output tokens.
   */
  image_output_per_million?: string;
  /**
   * Credits per million input tokens read from a prompt cache. Default: the input rate.
   */
  cached_input_per_million?: string;
  /**
   * Credits per million tokens written to a prompt cache for five minutes.
   */
  cache_write_per_million?: string;
  /**
   * Credits per million tokens written to a prompt cache for an hour.
   */
  cache_write_1h_per_million?: string;
  /**
   * Credits per call.
   */
  request_price?: string;
  /**
   * Credits per delivered image.
   */
  image_price?: string;
  /**
   * Credits per second.
   */
  second_price?: string;
  /**
   * Credits per minute of audio.
   */
  minute_price?: string;
  /**
   * Credits per input character.
   */
  character_price?: string;
  /**
   * Credits per operation.
   */
  operation_price?: string;
  /**
   * Credits per million pixels.
   */
  megapixel_price?: string;
  long_context?: LongContextRatesText;
  service_tiers?: ServiceTiersText;
  /**
   * Share of the price that a line of a batch pays, above 0 and at most 1, such as `0.5`. Default: `SLUICE_BATCH_PRICE_FACTOR`.
   */
  batch_factor?: string;
}
/**
 * Rates of calls with a long input. They apply to all tokens of such a call. They list every rate of the price.
 */
export interface LongContextRatesText {
  /**
   * Threshold of input tokens, cached tokens included. A call with more input tokens is charged at these rates, with all its tokens.
   */
  above_tokens?: number;
  /**
   * Credits per million text input tokens.
   */
  input_per_million?: string;
  /**
   * Credits per million text output tokens, reasoning included.
   */
  output_per_million?: string;
  /**
   * Credits per million audio input tokens. Default: the text rate.
   */
  audio_input_per_million?: string;
  /**
   * Credits per million audio output tokens.
   */
  audio_output_per_million?: string;
  /**
   * Credits per million image input tokens. Default: the text rate.
   */
  image_input_per_million?: string;
  /**
   * Credits per million image output tokens.
   */
  image_output_per_million?: string;
  /**
   * Credits per million input tokens read from a prompt cache. Default: the input rate.
   */
  cached_input_per_million?: string;
  /**
   * Credits per million tokens written to a prompt cache for five minutes.
   */
  cache_write_per_million?: string;
  /**
   * Credits per million tokens written to a prompt cache for an hour.
   */
  cache_write_1h_per_million?: string;
}
/**
 * Rates of service tiers, by the name of the tier. A call pays the rates of the tier that its provider reports.
 */
export interface ServiceTiersText {
  flex?: ServiceTierRatesText;
  priority?: ServiceTierRatesText;
}
/**
 * Rates of calls that a provider serves in a service tier. They list every rate of the price.
 */
export interface ServiceTierRatesText {
  /**
   * Credits per million text input tokens.
   */
  input_per_million?: string;
  /**
   * Credits per million text output tokens, reasoning included.
   */
  output_per_million?: string;
  /**
   * Credits per million audio input tokens. Default: the text rate.
   */
  audio_input_per_million?: string;
  /**
   * Credits per million audio output tokens.
   */
  audio_output_per_million?: string;
  /**
   * Credits per million image input tokens. Default: the text rate.
   */
  image_input_per_million?: string;
  /**
   * Credits per million image output tokens.
   */
  image_output_per_million?: string;
  /**
   * Credits per million input tokens read from a prompt cache. Default: the input rate.
   */
  cached_input_per_million?: string;
  /**
   * Credits per million tokens written to a prompt cache for five minutes.
   */
  cache_write_per_million?: string;
  /**
   * Credits per million tokens written to a prompt cache for an hour.
   */
  cache_write_1h_per_million?: string;
  long_context?: LongContextRatesText;
}
/**
 * A price for calls that match all parameters of `when`.
 */
export interface PriceVariant {
  /**
   * Request parameters and values, model defaults included. A call without the parameter does not match, except `prompt_extend`, whose default is true.
   */
  when: {
    [k: string]: string | number | boolean;
  };
  /**
   * Credits per unit as quoted decimal text.
   */
  price: string;
}
/**
 * Source and date of the prices.
 */
export interface PriceSource {
  /**
   * Source of the prices, such as a URL.
   */
  source: string;
  /**
   * Date of the prices.
   */
  date: string;
}
/**
 * A provider that serves the model, its name of the model, and the changes of requests. Drops are applied first, then renames, then overrides.
 */
export interface SourceEntry {
  /**
   * Id of the provider.
   */
  provider: string;
  /**
   * Name of the model at the provider.
   */
  model: string;
  /**
   * Request members to remove because the source rejects them and they do not affect the answer.
   */
  drop_params?: string[];
  /**
   * Map from a request member to its name at the source.
   */
  rename_params?: {
    [k: string]: string;
  };
  /**
   * Request members with fixed values.
   */
  overrides?: {
    [k: string]: unknown;
  };
  /**
   * Media models: map from an input name to a field of the source, as a dotted path. Suffixes: `[]` sends a list of one, `:text` a number as text, `:s` seconds as `8s`, `:ms` seconds in milliseconds. Inputs without an entry are not sent. Default: the fields of the family.
   */
  fields?: {
    [k: string]: string;
  };
  /**
   * Weight of the source. Calls are distributed over adjacent sources with weights; calls of one conversation use the same source for its prompt cache. Default: the source is used in list order.
   */
  weight?: number;
  /**
   * True when the source continues an answer whose start is the last message. Interrupted streams can then continue here. Default: false.
   */
  continues_assistant?: boolean;
  /**
   * Request members with fixed values, in addition to `overrides`, when the source continues an answer, such as vLLM's `continue_final_message`.
   */
  continue_overrides?: {
    [k: string]: unknown;
  };
  /**
   * Members of the last message when the source continues an answer, such as `prefix` of Mistral and DeepSeek.
   */
  continue_message?: {
    [k: string]: unknown;
  };
  /**
   * True when the source repeats the start of the answer that it continues. The repetition is removed. Default: false.
   */
  continue_repeats?: boolean;
  /**
   * Differences of the source from the newest models of its family. The folder of the family below workers/providers documents them.
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
 * Change of a capability. Capabilities without an entry keep their built-in price.
 */
export interface CatalogueCapability {
  /**
   * Id of the capability, as listed by GET /v1/tools.
   */
  id: string;
  /**
   * True to remove the capability.
   */
  disabled?: boolean;
  pricing?: PricingText;
}
/**
 * Log probabilities of the tokens of one choice.
 */
export interface ChatLogprobs {
  /**
   * Log probabilities of the text tokens; null when the choice has no text.
   */
  content?: TokenLogprob[] | null;
  /**
   * Log probabilities of the refusal tokens; null when the model did not refuse.
   */
  refusal?: TokenLogprob[] | null;
  [k: string]: unknown;
}
/**
 * One token of the answer with its most likely alternatives.
 */
export interface TokenLogprob {
  /**
   * Text of the token.
   */
  token: string;
  /**
   * Natural logarithm of the token's probability.
   */
  logprob: number;
  /**
   * UTF-8 bytes of the token, each from 0 to 255; null when the provider does not report them.
   */
  bytes?: number[] | null;
  /**
   * Most likely tokens at this position, at most `top_logprobs` of the request.
   */
  top_logprobs?: TokenAlternative[];
  [k: string]: unknown;
}
/**
 * A likely token at the same position.
 */
export interface TokenAlternative {
  /**
   * Text of the token.
   */
  token: string;
  /**
   * Natural logarithm of the token's probability.
   */
  logprob: number;
  /**
   * UTF-8 bytes of the token, each from 0 to 255; null when the provider does not report them.
   */
  bytes?: number[] | null;
  [k: string]: unknown;
}
/**
 * Instructions of the application's author. Newer models accept them in place of a system message.
 */
export interface DeveloperMessage {
  /**
   * Always `developer`.
   */
  role: "developer";
  /**
   * A string, or a list of text blocks.
   *
   * @minItems 1
   */
  content: string | TextOnlyBlock[];
  /**
   * Name that distinguishes participants with the same role.
   */
  name?: string;
  [k: string]: unknown;
}
/**
 * Plain text.
 */
export interface TextBlock {
  /**
   * Always `text`.
   */
  type: "text";
  /**
   * Text of the block.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * Instructions that precede the conversation.
 */
export interface SystemMessage {
  /**
   * Always `system`.
   */
  role: "system";
  /**
   * A string, or a list of text blocks.
   *
   * @minItems 1
   */
  content: string | TextOnlyBlock[];
  /**
   * Name that distinguishes participants with the same role.
   */
  name?: string;
  [k: string]: unknown;
}
/**
 * Input of the end user.
 */
export interface UserMessage {
  /**
   * Always `user`.
   */
  role: "user";
  /**
   * A string, or a list of text, image, audio and file blocks. `allowed_params.supported_inputs` of the model lists the block types that it accepts.
   *
   * @minItems 1
   */
  content: string | UserContentBlock[];
  /**
   * Name that distinguishes participants with the same role.
   */
  name?: string;
  [k: string]: unknown;
}
/**
 * An image for the model.
 */
export interface ImageBlock {
  /**
   * Always `image_url`.
   */
  type: "image_url";
  /**
   * Location of the image and the level of detail.
   */
  image_url: {
    /**
     * http or https URL of the image, or the image as a data URL.
     */
    url: string;
    /**
     * Level of detail, which determines the number of tokens of the image. `original` is treated as `high`.
     */
    detail?: "auto" | "low" | "high" | "original";
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * An audio recording for the model. Models without audio input fail with `audio_not_supported_by_model`.
 */
export interface AudioBlock {
  /**
   * Always `input_audio`.
   */
  type: "input_audio";
  /**
   * The recording and its format.
   */
  input_audio: {
    /**
     * The recording in base64.
     */
    data: string;
    /**
     * Audio format of `data`.
     */
    format: "wav" | "mp3";
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A document for the model: inline as `file_data`, by URL, or as a stored file. Stored images and recordings are sent as image and audio input.
 */
export interface FileBlock {
  /**
   * Always `file`.
   */
  type: "file";
  /**
   * Source of the document.
   */
  file: {
    [k: string]: unknown;
  } & {
    /**
     * Id of a stored file of the workspace.
     */
    file_id?: string;
    /**
     * The file as a data URL, or its http or https URL.
     */
    file_data?: string;
    /**
     * http or https URL of the file.
     */
    file_url?: string;
    /**
     * File name that the model receives.
     */
    filename?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * An earlier answer of the model. `content` may be absent or null when the message has tool calls, a function call, a refusal or audio.
 */
export interface AssistantMessage {
  /**
   * Always `assistant`.
   */
  role: "assistant";
  /**
   * A string, or a list of text and refusal blocks; null when the message has none.
   *
   * @minItems 1
   */
  content?: string | AssistantContentBlock[] | null;
  /**
   * Text with which the model refused the request; null when it did not refuse.
   */
  refusal?: string | null;
  /**
   * Name that distinguishes participants with the same role.
   */
  name?: string;
  /**
   * Reference to an earlier audio answer.
   */
  audio?: {
    /**
     * Id of the audio, as returned in the earlier answer.
     */
    id: string;
    [k: string]: unknown;
  } | null;
  /**
   * Visible reasoning of the earlier answer. It is sent to models that require it.
   */
  reasoning_content?: string | null;
  /**
   * Signed reasoning blocks, unchanged, as returned in the earlier answer. `after` is the position of a block in that answer; `index` has no effect here.
   */
  thinking_blocks?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  /**
   * Tool calls of the model. Each one needs a tool message with its result.
   */
  tool_calls?: ToolCall[];
  /**
   * @deprecated
   * Deprecated predecessor of `tool_calls`.
   */
  function_call?: {
    /**
     * Name of the called function.
     */
    name: string;
    /**
     * Arguments as JSON text.
     */
    arguments: string;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * Text with which the model refused a request.
 */
export interface RefusalBlock {
  /**
   * Always `refusal`.
   */
  type: "refusal";
  /**
   * Text of the refusal.
   */
  refusal: string;
  [k: string]: unknown;
}
/**
 * A call of a function tool.
 */
export interface FunctionToolCall {
  /**
   * Id of the call. The tool message with the result repeats it.
   */
  id: string;
  /**
   * Always `function`.
   */
  type: "function";
  /**
   * Function and arguments of the call.
   */
  function: {
    /**
     * Name of the called function.
     */
    name: string;
    /**
     * Arguments as JSON text, written by the model. Validate them before use.
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
   * Id of the call. The tool message with the result repeats it.
   */
  id: string;
  /**
   * Always `custom`.
   */
  type: "custom";
  /**
   * Custom tool and input of the call.
   */
  custom: {
    /**
     * Name of the called tool.
     */
    name: string;
    /**
     * Free text input, written by the model.
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
  /**
   * Always `tool`.
   */
  role: "tool";
  /**
   * A string, or a list of text blocks.
   *
   * @minItems 1
   */
  content: string | TextOnlyBlock[];
  /**
   * `id` of the tool call that this message answers.
   */
  tool_call_id: string;
  [k: string]: unknown;
}
/**
 * @deprecated
 * Result of a function call. Deprecated predecessor of the tool message.
 */
export interface FunctionMessage {
  /**
   * Always `function`.
   */
  role: "function";
  /**
   * Result of the function; null when it returned nothing.
   */
  content: string | null;
  /**
   * Name of the called function.
   */
  name: string;
  [k: string]: unknown;
}
/**
 * Summary of the model turns and tool runs of an answer with a `sluice` tool.
 */
export interface SluiceSummary {
  /**
   * Reason why the tool loop ended. `answer`: the model answered. `handover`: the model called functions of the caller. `error`: a turn failed. `max_rounds` and `max_credits`: that limit was reached.
   */
  ended_by: "answer" | "handover" | "max_rounds" | "max_credits" | "error";
  /**
   * Credits of all turns and runs together.
   */
  credits_used: number;
  /**
   * Calls of the model, in order. Each has its own usage record.
   */
  turns: SluiceTurn[];
  /**
   * Tool runs in order. Present in chat answers that are not streamed. Streams report each run as it starts and ends; responses list runs in `output`.
   */
  calls?: SluiceCall[];
  /**
   * Chat answers only: the messages of the turns and tool results before the final answer. Send them before the answer's message in the next call to keep them in context.
   */
  messages?: ChatMessage[];
  [k: string]: unknown;
}
/**
 * One call of the model.
 */
export interface SluiceTurn {
  /**
   * Request id of the turn; its usage record has the same id.
   */
  request_id: string;
  /**
   * Credits of the turn.
   */
  credits_used: number;
  [k: string]: unknown;
}
/**
 * A tool run that the model requested and the service executed.
 */
export interface SluiceCall {
  /**
   * Id of the tool run.
   */
  id: string;
  /**
   * Always `sluice_call`.
   */
  type: "sluice_call";
  /**
   * State of the run.
   */
  status: "in_progress" | "completed" | "failed";
  /**
   * Id that the model gave the call.
   */
  call_id: string;
  /**
   * Id of the capability or workflow.
   */
  tool: string;
  /**
   * Name of the function that the model called.
   */
  name: string;
  /**
   * Arguments as JSON text, written by the model.
   */
  arguments: string;
  /**
   * Number of the model turn that requested the run, from 1.
   */
  round: number;
  /**
   * Request id of the run; its job, steps and usage record have the same id. Absent when the run did not start.
   */
  request_id?: string;
  /**
   * Result that the model received, at most 16 KiB; null while the run is in progress.
   */
  output: string | null;
  /**
   * Files that the run created, stored in the workspace.
   */
  files: SluiceFile[];
  /**
   * Credits of the run.
   */
  credits_used: number;
  [k: string]: unknown;
}
/**
 * A file that a run created.
 */
export interface SluiceFile {
  /**
   * Id of the stored file.
   */
  file_id: string;
  /**
   * Download link that needs no key and is valid for about an hour.
   */
  url: string;
  /**
   * Media type of the file.
   */
  content_type: string;
  /**
   * File size in bytes.
   */
  bytes: number;
  /**
   * File name; absent when the file has none.
   */
  name?: string;
  [k: string]: unknown;
}
/**
 * A function with JSON arguments, executed by the client.
 */
export interface FunctionTool {
  /**
   * Always `function`.
   */
  type: "function";
  function: FunctionDefinition;
  [k: string]: unknown;
}
/**
 * Name, description and parameters of a function.
 */
export interface FunctionDefinition {
  /**
   * Function name.
   */
  name: string;
  /**
   * Purpose of the function, for the model.
   */
  description?: string;
  /**
   * JSON Schema of the arguments. Default: the function has no parameters.
   */
  parameters?: {
    [k: string]: unknown;
  };
  /**
   * True when the arguments must match the schema exactly.
   */
  strict?: boolean | null;
  [k: string]: unknown;
}
/**
 * A tool with free text input, optionally restricted by a grammar.
 */
export interface CustomTool {
  /**
   * Always `custom`.
   */
  type: "custom";
  /**
   * Definition of the custom tool.
   */
  custom: {
    /**
     * Tool name.
     */
    name: string;
    /**
     * Purpose of the tool, for the model.
     */
    description?: string;
    format?: CustomToolFormat;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Unrestricted text.
 */
export interface TextToolFormat {
  /**
   * Always `text`.
   */
  type: "text";
  [k: string]: unknown;
}
/**
 * Text that matches a grammar.
 */
export interface GrammarToolFormat {
  /**
   * Always `grammar`.
   */
  type: "grammar";
  /**
   * The grammar.
   */
  grammar: {
    /**
     * Text of the grammar, in `syntax`.
     */
    definition: string;
    /**
     * Language of the grammar.
     */
    syntax: "lark" | "regex";
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Capabilities and workflows that the service executes when the model calls them. The loop ends when the model answers or a limit is reached. A request has at most one tool of this type. Only POST /v1/chat/completions and /v1/responses accept it.
 */
export interface SluiceTool {
  /**
   * Always `sluice`.
   */
  type: "sluice";
  /**
   * Capability ids from GET /v1/tools, at most 32. The model receives each as a function, with `_` in place of `.`.
   *
   * @maxItems 32
   */
  capabilities?: string[];
  /**
   * Ids of workflows that the caller may run, at most 32. The model receives each as a function named `workflow_` and the workflow's name.
   *
   * @maxItems 32
   */
  workflows?: string[];
  /**
   * Maximum number of model turns. Default: 8.
   */
  max_rounds?: number;
  /**
   * Credit limit of all turns and runs. No turn or run starts once the limit is used. A run starts only if its maximum price fits into the remaining credits; otherwise the model receives the reason. A model turn may exceed the limit. Default: no limit.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Work message of a durable job. The job itself is in its database row.
 */
export interface DurableMessage {
  /**
   * Always `true`.
   */
  durable: true;
  /**
   * Id of the job.
   */
  job_id: string;
  /**
   * Attempt of the job, from 1.
   */
  attempt: number;
  /**
   * Number of times the job was queued. Messages with a lower number are ignored.
   */
  dispatch: number;
  /**
   * Id of the workspace.
   */
  workspace_id: string;
  [k: string]: unknown;
}
/**
 * Body of every error response. Branch on `code`; `message` may be reworded.
 */
export interface ErrorEnvelope {
  /**
   * Only below `/v1/messages`: always `error`.
   */
  type?: "error";
  /**
   * Only below `/v1/messages`: value of the header `x-request-id`.
   */
  request_id?: string;
  /**
   * The error.
   */
  error: {
    /**
     * Human-readable description of the error. It may be reworded.
     */
    message: string;
    /**
     * Category of the error. `not_found_error` is only used below `/v1/messages`.
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
     * Stable code of the error condition. New codes may be added.
     */
    code: string | null;
    /**
     * Path of the request parameter at fault, such as `messages[0].content`; null when there is none.
     */
    param: string | null;
    /**
     * Id of a job that continues or has a result. Read the job instead of repeating the request. Absent otherwise.
     */
    job_id?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * `metadata` of the event `balance.low`: the available credits have fallen below the threshold of a balance alert. It is sent again only after they have been a tenth above the threshold.
 */
export interface BalanceLow {
  /**
   * Id of the alert.
   */
  alertId: string;
  /**
   * Available credits of the workspace: its balance less the credits held for running calls.
   */
  available: number;
  /**
   * Threshold of the alert in credits; absent for a threshold in days.
   */
  belowCredits?: number;
  /**
   * Threshold of the alert in days; absent for a threshold in credits.
   */
  belowDays?: number;
  /**
   * Days that the available credits last at the mean spend of the last 7 days; absent without spend.
   */
  daysLeft?: number;
  [k: string]: unknown;
}
/**
 * `metadata` of the event `budget.threshold_reached`: the spend of a period has crossed the threshold of an alert. It is sent once per alert, period and threshold.
 */
export interface BudgetThresholdReached {
  /**
   * Id of the alert.
   */
  alertId: string;
  /**
   * Period of the threshold.
   */
  period: "daily" | "weekly" | "monthly";
  /**
   * Start of the period.
   */
  periodStart: string;
  /**
   * Threshold of the alert in credits.
   */
  threshold: number;
  /**
   * Credits spent in the period when the threshold was crossed.
   */
  spent: number;
  [k: string]: unknown;
}
/**
 * `metadata` of the event `budget.warning`: the spend of a period has reached a percentage of the threshold of an alert. It is sent once per alert, period, threshold and percentage.
 */
export interface BudgetWarning {
  /**
   * Id of the alert.
   */
  alertId: string;
  /**
   * Period of the threshold.
   */
  period: "daily" | "weekly" | "monthly";
  /**
   * Start of the period.
   */
  periodStart: string;
  /**
   * Percentage of `warn_at` that the spend reached.
   */
  percent: number;
  /**
   * Threshold of the alert in credits.
   */
  threshold: number;
  /**
   * Credits spent in the period when the percentage was reached.
   */
  spent: number;
  [k: string]: unknown;
}
/**
 * Metadata of a completed job.
 */
export interface JobCompletedOfJob {
  /**
   * Id of the job, as in `/v1/images/jobs/{job_id}`. Only in events of jobs.
   */
  jobId: string;
  /**
   * Output type of the job: `image`, `audio`, `video`, `3d`, `text` or `embedding`.
   */
  modality: string;
  /**
   * Slug of the requested model.
   */
  model?: string;
  /**
   * Milliseconds from the start of the job to its end; absent when it never started.
   */
  durationMs?: number;
  /**
   * Credits charged.
   */
  creditsUsed: number;
  [k: string]: unknown;
}
/**
 * Metadata of a completed batch.
 */
export interface JobCompletedOfBatch {
  /**
   * Id of the batch, as in `/v1/batches/{batch_id}`. Only in events of batches.
   */
  batchId: string;
  /**
   * Path that every line calls.
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
   * Number of lines that failed or were not made.
   */
  failed: number;
  /**
   * Id of the output file; absent when there is none.
   */
  outputFileId?: string;
  /**
   * Id of the error file; absent when there is none.
   */
  errorFileId?: string;
  /**
   * Milliseconds from the creation of the batch to its end.
   */
  durationMs?: number;
  /**
   * Credits charged for the lines.
   */
  creditsUsed: number;
  [k: string]: unknown;
}
/**
 * Metadata of a failed job.
 */
export interface JobFailedOfJob {
  /**
   * Id of the job, as in `/v1/images/jobs/{job_id}`. Only in events of jobs.
   */
  jobId: string;
  /**
   * Output type of the job: `image`, `audio`, `video`, `3d`, `text` or `embedding`.
   */
  modality: string;
  /**
   * Slug of the requested model.
   */
  model?: string;
  /**
   * Milliseconds from the start of the job to its end; absent when it never started.
   */
  durationMs?: number;
  /**
   * Credits charged.
   */
  creditsUsed: number;
  /**
   * Error of the job.
   */
  error: {
    /**
     * Stable error code.
     */
    code: string;
    /**
     * Human-readable description of the error. It may be reworded.
     */
    message: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Metadata of a failed batch.
 */
export interface JobFailedOfBatch {
  /**
   * Id of the batch, as in `/v1/batches/{batch_id}`. Only in events of batches.
   */
  batchId: string;
  /**
   * Path that every line calls.
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
   * Number of lines that failed or were not made.
   */
  failed: number;
  /**
   * Id of the output file; absent when there is none.
   */
  outputFileId?: string;
  /**
   * Id of the error file; absent when there is none.
   */
  errorFileId?: string;
  /**
   * Milliseconds from the creation of the batch to its end.
   */
  durationMs?: number;
  /**
   * Credits charged for the lines.
   */
  creditsUsed: number;
  /**
   * First error of the batch. The code of an expired batch is `batch_expired`.
   */
  error: {
    /**
     * Stable error code.
     */
    code: string;
    /**
     * Human-readable description of the error. It may be reworded.
     */
    message: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * `metadata` of the event `limit.reached`: a subject has spent its whole spend limit. It is sent once per limit and period.
 */
export interface LimitReached {
  /**
   * Subject of the limit: `key`, `member`, `end_user`, `tag`, `run`, `batch` or `response`.
   */
  kind: "key" | "member" | "end_user" | "tag" | "run" | "batch" | "response";
  /**
   * Id of the subject. Keys that replaced each other by rotation share the id of the first.
   */
  id: string;
  /**
   * Name of the key or member, the value of `user` of the end user, or the tag such as `project=alpha`; absent for other subjects.
   */
  name?: string;
  /**
   * Period of the limit, in UTC.
   */
  period: "day" | "week" | "month" | "total";
  /**
   * Always 100.
   */
  percent: 100;
  /**
   * Credits spent in the period.
   */
  spent: number;
  /**
   * Limit of the period in credits, a temporary raise included.
   */
  limit: number;
  /**
   * End of the period; absent for `total`.
   */
  resetsAt?: string;
  [k: string]: unknown;
}
/**
 * `metadata` of the event `limit.warning`: a subject has spent a percentage of its spend limit. It is sent once per limit, period and percentage.
 */
export interface LimitWarning {
  /**
   * Subject of the limit: `key`, `member`, `end_user`, `tag`, `run`, `batch` or `response`.
   */
  kind: "key" | "member" | "end_user" | "tag" | "run" | "batch" | "response";
  /**
   * Id of the subject. Keys that replaced each other by rotation share the id of the first.
   */
  id: string;
  /**
   * Name of the key or member, the value of `user` of the end user, or the tag such as `project=alpha`; absent for other subjects.
   */
  name?: string;
  /**
   * Period of the limit, in UTC.
   */
  period: "day" | "week" | "month" | "total";
  /**
   * Percentage of `warn_at` that the spend reached.
   */
  percent: number;
  /**
   * Credits spent in the period.
   */
  spent: number;
  /**
   * Limit of the period in credits, a temporary raise included.
   */
  limit: number;
  /**
   * End of the period; absent for `total`.
   */
  resetsAt?: string;
  [k: string]: unknown;
}
/**
 * `metadata` of the event `run.cancelled`: a run was cancelled.
 */
export interface RunCancelled {
  /**
   * Id of the run. Receivers can use it to detect repeated deliveries.
   */
  runId: string;
  /**
   * Id of the workflow; absent for runs of an inline definition.
   */
  workflowId?: string;
  /**
   * Milliseconds from the run's start to its end; absent when the run never started.
   */
  durationMs?: number;
  /**
   * Credits charged.
   */
  creditsUsed: number;
  [k: string]: unknown;
}
/**
 * `metadata` of the event `run.failed`: a run failed and has no attempts left.
 */
export interface RunFailed {
  /**
   * Id of the run. Receivers can use it to detect repeated deliveries.
   */
  runId: string;
  /**
   * Id of the workflow; absent for runs of an inline definition.
   */
  workflowId?: string;
  /**
   * Milliseconds from the run's start to its end; absent when the run never started.
   */
  durationMs?: number;
  /**
   * Credits charged.
   */
  creditsUsed: number;
  /**
   * Error of the run.
   */
  error: {
    /**
     * Stable error code.
     */
    code: string;
    /**
     * Human-readable description of the error. It may be reworded.
     */
    message: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * `metadata` of the event `run.retrying`: a further attempt of an `async` run started. It is sent instead of `run.started`.
 */
export interface RunRetrying {
  /**
   * Id of the run. Receivers can use it to detect repeated deliveries.
   */
  runId: string;
  /**
   * Id of the workflow; absent for runs of an inline definition.
   */
  workflowId?: string;
  /**
   * Number of the attempt, from 1.
   */
  attempt: number;
  /**
   * Maximum number of attempts.
   */
  maxAttempts: number;
  [k: string]: unknown;
}
/**
 * `metadata` of the event `run.started`: a run started.
 */
export interface RunStarted {
  /**
   * Id of the run. Receivers can use it to detect repeated deliveries.
   */
  runId: string;
  /**
   * Id of the workflow; absent for runs of an inline definition.
   */
  workflowId?: string;
  /**
   * Number of the attempt, from 1.
   */
  attempt: number;
  [k: string]: unknown;
}
/**
 * `metadata` of the event `run.succeeded`: a run succeeded.
 */
export interface RunSucceeded {
  /**
   * Id of the run. Receivers can use it to detect repeated deliveries.
   */
  runId: string;
  /**
   * Id of the workflow; absent for runs of an inline definition.
   */
  workflowId?: string;
  /**
   * Milliseconds from the run's start to its end; absent when the run never started.
   */
  durationMs?: number;
  /**
   * Credits charged.
   */
  creditsUsed: number;
  [k: string]: unknown;
}
/**
 * `metadata` of the event `template.unavailable`: a stored workflow uses a model or capability that is no longer available. It is sent only to the operator's workspace.
 */
export interface TemplateUnavailable {
  /**
   * Id of the workflow.
   */
  workflowId: string;
  /**
   * Id of the step that cannot run.
   */
  stepId: string;
  /**
   * Model or capability that is no longer available.
   */
  missing: string;
  [k: string]: unknown;
}
/**
 * Work message on `work.<pool>.<lane>.<workspace>`, published by the service for an admitted job. It contains the request, or a claim check of a large request.
 */
export interface JobMessage {
  /**
   * Id of the job.
   */
  job_id: string;
  /**
   * Attempt of the job, from 1.
   */
  attempt: number;
  /**
   * Number of times the job was queued.
   */
  dispatch: number;
  /**
   * Kind of the call.
   */
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
   * Format of the answer. Default: `openai`.
   */
  api?: "openai" | "anthropic" | "responses";
  /**
   * Only for the Responses format: the ModelResponse that the answer completes. Durable jobs have it in the request.
   */
  response?: {
    [k: string]: unknown;
  };
  /**
   * Conversation of a call whose request names none. Calls of a conversation prefer the same source, for its prompt cache.
   */
  affinity?: string;
  /**
   * True for a durable job in the Responses format. The stored response contains the object that the answer completes.
   */
  background?: boolean;
  /**
   * True for a chat call that fails, free of charge, when the answer has no text.
   */
  needs_text?: boolean;
  /**
   * Request id of the call.
   */
  request_id: string;
  /**
   * Id of the workspace.
   */
  workspace_id: string;
  /**
   * Id of the API key of the call.
   */
  key_id: string;
  /**
   * Slug of the requested model.
   */
  model: string;
  /**
   * Held nano-credits as digits, because JSON numbers lose precision.
   */
  hold_nano: string;
  /**
   * True when the charge may exceed the hold: a chat call without an output limit.
   */
  may_exceed: boolean;
  /**
   * Maximum cost of the call with any model, in nano-credits as digits. Models that could cost more are skipped.
   */
  max_nano?: string;
  /**
   * Number of output tokens that the hold covers.
   */
  output_tokens_max: number;
  /**
   * Price at the time of the hold.
   */
  price: {
    [k: string]: unknown;
  };
  /**
   * Id of the credit line that admitted the call and is charged.
   */
  credit_line?: string;
  /**
   * Labels of a call on a credit line, for its usage record: tags, end user and chain, by name.
   */
  labels?: {
    [k: string]: string;
  };
  /**
   * Present for a line of a batch.
   */
  batch_line?: {
    /**
     * Charged share of the price, in millionths. Other amounts of the message are full prices.
     */
    price_millionths: number;
    [k: string]: unknown;
  };
  /**
   * Unix milliseconds at which the caller stops waiting.
   */
  deadline_ms: number;
  /**
   * Live calls only: subject on which the ingress waits for the answer.
   */
  reply?: string;
  /**
   * True when the ingress of a live call accepts several frames in one message.
   */
  frame_bundles?: boolean;
  /**
   * True when the message was sent before without an acknowledgement, so that it may be a duplicate.
   */
  repeat?: boolean;
  /**
   * Slugs of the call's fallback models at the time of admission, from its request or from the workspace's fallback chain.
   *
   * @maxItems 10
   */
  fallbacks?: string[];
  /**
   * True when the next model of the chain continues an interrupted chat stream.
   */
  continue_streams?: boolean;
  /**
   * True for a durable job whose states are streamed to its caller. It ends when the caller disconnects.
   */
  stream?: boolean;
  /**
   * Cache entry for a complete answer.
   */
  cache?: {
    /**
     * Key of the cache entry.
     */
    key: string;
    /**
     * Lifetime of the cache entry in seconds.
     */
    ttl_s: number;
    [k: string]: unknown;
  };
  /**
   * Inline media of the request in the object store, by input name.
   */
  stored_inputs?: {
    [k: string]: {
      /**
       * Object-store key of the media.
       */
      reference: string;
      /**
       * Media type.
       */
      content_type: string;
      [k: string]: unknown;
    };
  };
  /**
   * SHA-256 of a batch message. A repeat with the same key and another fingerprint is rejected.
   */
  fingerprint?: string;
  /**
   * True when the request has a member `checked` with the params and quantities of the model check. Absent when no worker needs it, and in jobs of earlier versions, whose `checked` is a member of the client.
   */
  checked?: true;
  /**
   * Body of the client.
   */
  request?: {
    [k: string]: unknown;
  };
  /**
   * Object-store key of the client's body.
   */
  request_ref?: string;
  /**
   * True when the step's job is the only work of its run, so that the worker that ends it may continue the run.
   */
  goes_on?: true;
  /**
   * Present for durable work whose request and response are kept: the setting of its workspace or key at admission.
   */
  bodies?: {
    /**
     * Calls that are kept.
     */
    keep: "errors" | "all";
    /**
     * Hours after which the bodies are deleted.
     */
    retention_hours: number;
    /**
     * Values that are replaced before the bodies are stored.
     */
    redact: {
      /**
       * Lower-case names of JSON members.
       *
       * @maxItems 50
       */
      members: string[];
      /**
       * Kinds of values.
       *
       * @maxItems 3
       */
      patterns: ("emails" | "card_numbers" | "phone_numbers")[];
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
  /**
   * Present for a chat call of a streamed run: the step whose readers receive the answer as it arrives.
   */
  step?: {
    /**
     * Id of the run.
     */
    run_id: string;
    /**
     * Id of the step.
     */
    step_id: string;
    /**
     * Attempt of the step, from 1.
     */
    attempt: number;
    /**
     * Index of the item of a step with `for_each`; absent otherwise.
     */
    index?: number;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Result of a media job in its database row: the created files. Responses add links or bytes.
 */
export interface MediaOutcome {
  /**
   * Always `media.outcome`.
   */
  object: "media.outcome";
  /**
   * Creation time in Unix seconds.
   */
  created: number;
  /**
   * Slug of the model that served the call.
   */
  model: string;
  /**
   * Present when a fallback served the call.
   */
  fallback?: {
    /**
     * Slug of the requested model.
     */
    from: string;
    /**
     * Number of fallbacks tried.
     */
    depth: number;
    [k: string]: unknown;
  };
  /**
   * Created files in the order of the provider.
   */
  data: {
    /**
     * Id of the stored file.
     */
    file_id: string;
    /**
     * Media type of the file.
     */
    content_type: string;
    /**
     * File size in bytes.
     */
    bytes: number;
    /**
     * Length of audio and video in seconds.
     */
    duration_seconds?: number;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * A model of the catalogue. `_svc` contains the members beyond the common model object.
 */
export interface ModelEntry {
  /**
   * Slug of the model, used as `model` in calls.
   */
  id: string;
  /**
   * Always `model`.
   */
  object: "model";
  /**
   * Creation time of the model in Unix seconds.
   */
  created: number;
  /**
   * Owner of the model.
   */
  owned_by: string;
  /**
   * Always empty; present for compatibility.
   */
  permission: unknown[];
  /**
   * Slug of the base model; equal to `id`.
   */
  root: string;
  /**
   * Slug of the parent model; always null.
   */
  parent: string | null;
  _svc: ModelFacts;
  [k: string]: unknown;
}
/**
 * Members beyond the common model object.
 */
export interface ModelFacts {
  /**
   * Always `tool`, for rows of capabilities; absent for models.
   */
  kind?: "tool";
  modality: Modality;
  /**
   * True when the model serves chat completions.
   */
  supports_chat: boolean;
  /**
   * True when the model serves embeddings.
   */
  supports_embeddings: boolean;
  /**
   * True when the model streams answers.
   */
  supports_streaming: boolean;
  /**
   * True when the model supports tool calls.
   */
  supports_tools: boolean;
  /**
   * Maximum number of tokens of prompt and answer together.
   */
  max_context_tokens: number;
  /**
   * Maximum number of output tokens.
   */
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
   * Id of the new key. A repeated request with the same id creates no second key and returns no secret. Default: generated.
   */
  id?: string;
  /**
   * Name of the key.
   */
  name: string;
  /**
   * Id of the key's owner. Default: the caller.
   */
  member_id?: string;
  /**
   * Quota preset, at most as wide as the caller's. Default: the caller's preset.
   */
  preset?: string;
  /**
   * Time of expiry, not later than the expiry of the caller's key. Default: the expiry of the caller's key.
   */
  expires_at?: string;
  limits?: Limits;
  /**
   * Capabilities and workflows that the key may run: ids, categories such as `image.*`, or `workflow.*`. Such a key cannot write workflows or create keys with more tools. Null: all. Default: the tools of the caller's key.
   *
   * @maxItems 200
   */
  tools?: string[] | null;
  /**
   * Replaces the workspace's setting for calls of this key. Null: the workspace's setting applies. Only owners may change it.
   */
  bodies?: BodySetting | null;
}
/**
 * Body of POST /workspaces/{workspaceId}/api-keys/{keyId}/rotate.
 */
export interface ApiKeyRotateRequest {
  /**
   * Time during which the old key remains valid, in seconds. Default: 0.
   */
  overlap_seconds?: number;
}
/**
 * Body of PATCH /workspaces/{workspaceId}/api-keys/{keyId}. Absent members keep their value.
 */
export interface ApiKeyUpdateRequest {
  /**
   * Name of the key.
   */
  name?: string;
  /**
   * Quota preset, at most as wide as the caller's.
   */
  preset?: string;
  /**
   * Time of expiry; null when the key does not expire.
   */
  expires_at?: string | null;
  limits?: Limits;
  /**
   * Capabilities and workflows that the key may run: ids, categories such as `image.*`, or `workflow.*`. Such a key cannot write workflows or create keys with more tools. Null: all.
   *
   * @maxItems 200
   */
  tools?: string[] | null;
  /**
   * Replaces the workspace's setting for calls of this key. Null: the workspace's setting applies. Only owners may change it.
   */
  bodies?: BodySetting | null;
}
/**
 * Body of POST /workspaces/{workspaceId}/balance-alerts. Exactly one of `below_credits` and `below_days` is required.
 */
export interface BalanceAlertCreateRequest {
  /**
   * Id of the new alert. A repeated request with the same id creates no second alert. Default: generated.
   */
  id?: string;
  /**
   * Name, unique in the workspace.
   */
  name: string;
  /**
   * The alert fires when fewer credits than this are available.
   */
  below_credits?: number;
  /**
   * The alert fires when the available credits last fewer days than this at the mean spend of the last 7 days.
   */
  below_days?: number;
  /**
   * Ids of channels to notify regardless of their subscriptions. Empty: the channels subscribed to `balance.low`. Default: empty.
   *
   * @maxItems 20
   */
  channel_ids?: string[];
  /**
   * False to create a disabled alert. Default: true.
   */
  is_active?: boolean;
}
/**
 * Body of PATCH /workspaces/{workspaceId}/balance-alerts/{alertId}. Absent members keep their value.
 */
export interface BalanceAlertUpdateRequest {
  /**
   * Name, unique in the workspace.
   */
  name?: string;
  /**
   * The alert fires when fewer credits than this are available. Replaces a threshold in days.
   */
  below_credits?: number;
  /**
   * The alert fires when the available credits last fewer days than this at the mean spend of the last 7 days. Replaces a threshold in credits.
   */
  below_days?: number;
  /**
   * Ids of channels to notify regardless of their subscriptions. Empty: the channels subscribed to `balance.low`.
   *
   * @maxItems 20
   */
  channel_ids?: string[];
  /**
   * False to disable the alert.
   */
  is_active?: boolean;
}
/**
 * Body of POST /v1/batches.
 */
export interface BatchRequest {
  /**
   * Id of a stored file with the purpose `batch`: JSON Lines, at most 50,000 lines and 200 MB. Each line is `{custom_id, method: "POST", url, body}`.
   */
  input_file_id: string;
  /**
   * Path that every line calls: `/v1/chat/completions`, `/v1/responses`, `/v1/embeddings`, a media endpoint, `/v1/capabilities/{id}/run` or `/v1/workflows/{id}/runs`.
   */
  endpoint: string;
  /**
   * Time within which all lines start.
   */
  completion_window: "24h";
  /**
   * Up to 16 labels: keys of at most 64 characters, values of at most 512 characters.
   */
  metadata?: {
    [k: string]: string;
  } | null;
  /**
   * Expiry of the output and error files. Default: the files do not expire.
   */
  output_expires_after?: {
    /**
     * Time from which `seconds` is counted: always `created_at`, the creation of the file.
     */
    anchor: "created_at";
    /**
     * Lifetime of the files in seconds, from 1 hour to 30 days.
     */
    seconds: number;
    [k: string]: unknown;
  } | null;
  /**
   * Maximum cost of all lines of the batch in credits, with at most 9 decimal places. Lines that could exceed it end in the error file with `max_credits_exceeded`.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /workspaces/{workspaceId}/budget-alerts.
 */
export interface BudgetAlertCreateRequest {
  /**
   * Id of the new alert. A repeated request with the same id creates no second alert. Default: generated.
   */
  id?: string;
  /**
   * Name, unique in the workspace.
   */
  name: string;
  /**
   * Threshold in credits. The alert fires once per period, when the spend of the period reaches it.
   */
  threshold_credits: number;
  /**
   * Period in UTC: a day, a week from Monday, or a month.
   */
  period: "daily" | "weekly" | "monthly";
  /**
   * Ids of channels to notify regardless of their subscriptions. Empty: the channels subscribed to `budget.threshold_reached`. Default: empty.
   *
   * @maxItems 20
   */
  channel_ids?: string[];
  /**
   * False to create a disabled alert. Default: true.
   */
  is_active?: boolean;
  /**
   * True to reject further calls of the period with 402 once the threshold is reached. It takes effect within seconds. Default: false.
   */
  stops_calls?: boolean;
  /**
   * Percentages of the threshold at which the event `budget.warning` is sent, once per period. Default: none.
   *
   * @maxItems 5
   */
  warn_at?: number[];
}
/**
 * Body of PATCH /workspaces/{workspaceId}/budget-alerts/{alertId}. Absent members keep their value.
 */
export interface BudgetAlertUpdateRequest {
  /**
   * Name, unique in the workspace.
   */
  name?: string;
  /**
   * Threshold in credits. The alert fires once per period, when the spend of the period reaches it.
   */
  threshold_credits?: number;
  /**
   * Period in UTC: a day, a week from Monday, or a month.
   */
  period?: "daily" | "weekly" | "monthly";
  /**
   * Ids of channels to notify regardless of their subscriptions. Empty: the channels subscribed to `budget.threshold_reached`.
   *
   * @maxItems 20
   */
  channel_ids?: string[];
  /**
   * False to disable the alert.
   */
  is_active?: boolean;
  /**
   * True to reject further calls of the period with 402 once the threshold is reached. It takes effect within seconds.
   */
  stops_calls?: boolean;
  /**
   * Percentages of the threshold at which the event `budget.warning` is sent, once per period. Empty: none.
   *
   * @maxItems 5
   */
  warn_at?: number[];
}
/**
 * Body of POST /v1/capabilities/{id}/run.
 */
export interface CapabilityRunRequest {
  /**
   * Input that matches the capability's `input_schema`. Each file has exactly one source: `{file_id}`, `{url}`, `{base64, mime_type}` or, where text is accepted, `{text}`.
   */
  input: {
    [k: string]: unknown;
  };
  /**
   * Parameters that match the capability's `params_schema`. Unknown members are rejected.
   */
  params?: {
    [k: string]: unknown;
  };
  /**
   * True to receive the job immediately instead of waiting for the result. Default: false.
   */
  async?: boolean;
  /**
   * Maximum cost of the call in credits, with at most 9 decimal places. A call that could cost more is refused with `max_credits_exceeded`.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/chat/completions. Other members are accepted and forwarded to OpenAI-compatible providers.
 */
export interface ChatCompletionRequest {
  /**
   * Slug of a chat model from GET /v1/models.
   */
  model: string;
  /**
   * Slugs of chat models that are tried in order when the providers of `model` fail, at most 10. They replace the workspace's fallback chain for this call. The first may repeat `model`; without `model`, the first is the requested model.
   *
   * @minItems 1
   * @maxItems 10
   */
  models?: string[];
  /**
   * Messages of the conversation, oldest first.
   *
   * @minItems 1
   */
  messages: ChatMessage[];
  /**
   * True to receive the answer as server-sent events. Default: false.
   */
  stream?: boolean | null;
  /**
   * Options of a streamed answer; used only with `stream`.
   */
  stream_options?: {
    /**
     * True to receive a final chunk with the token usage and no choices. Default: false.
     */
    include_usage?: boolean;
    /**
     * Forwarded to providers that pad their chunks.
     */
    include_obfuscation?: boolean;
    [k: string]: unknown;
  } | null;
  /**
   * Maximum number of output tokens, reasoning included. Default: the model's limit.
   */
  max_completion_tokens?: number | null;
  /**
   * Deprecated name of `max_completion_tokens`, which takes precedence.
   */
  max_tokens?: number | null;
  /**
   * Sampling temperature from 0 to 2. Lower values are more deterministic. Default: the model's.
   */
  temperature?: number | null;
  /**
   * Nucleus sampling: cumulative probability of the tokens considered, from 0 to 1. Default: the model's.
   */
  top_p?: number | null;
  /**
   * Number of choices. Every choice is billed. Default: 1.
   */
  n?: number | null;
  /**
   * Up to 16 sequences at which the answer ends. The answer does not contain the sequence.
   *
   * @maxItems 16
   */
  stop?: string | string[] | null;
  /**
   * Penalty from -2 to 2 for each token by its number of occurrences. Default: 0.
   */
  frequency_penalty?: number | null;
  /**
   * Penalty from -2 to 2 for tokens that have occurred. Default: 0.
   */
  presence_penalty?: number | null;
  /**
   * Map from token id to a bias between -100 and 100.
   */
  logit_bias?: {
    [k: string]: number;
  } | null;
  /**
   * True to receive the log probability of each output token. Default: false.
   */
  logprobs?: boolean | null;
  /**
   * Number of alternatives per token, from 0 to 20. Requires `logprobs`.
   */
  top_logprobs?: number | null;
  /**
   * Seed for best-effort deterministic sampling.
   */
  seed?: number | null;
  /**
   * Tools that the model may call.
   */
  tools?: ChatTool[];
  tool_choice?: ToolChoice;
  /**
   * False to receive at most one tool call per answer. Default: the model's.
   */
  parallel_tool_calls?: boolean;
  response_format?: ResponseFormat;
  /**
   * Reasoning effort in the model's own levels, such as `low` or `high`.
   */
  reasoning_effort?: string | null;
  /**
   * Length of the answer.
   */
  verbosity?: "low" | "medium" | "high" | null;
  /**
   * Output types. Default: `["text"]`.
   */
  modalities?: ("text" | "audio")[] | null;
  /**
   * Voice and format of an audio answer. Requires `audio` in `modalities`.
   */
  audio?: {
    /**
     * Name of a voice, or an object with the id of a custom voice.
     */
    voice:
      | string
      | {
          /**
           * Id of a custom voice.
           */
          id: string;
          [k: string]: unknown;
        };
    /**
     * Format of the returned audio.
     */
    format: "wav" | "aac" | "mp3" | "flac" | "opus" | "pcm16";
    [k: string]: unknown;
  } | null;
  /**
   * Predicted text of the answer. It speeds up answers that repeat most of it.
   */
  prediction?: {
    /**
     * Always `content`.
     */
    type: "content";
    /**
     * Predicted text: a string, or a list of text blocks.
     *
     * @minItems 1
     */
    content: string | TextOnlyBlock[];
    [k: string]: unknown;
  } | null;
  /**
   * Options of models with built-in web search.
   */
  web_search_options?: {
    /**
     * Amount of search results in the context.
     */
    search_context_size?: "low" | "medium" | "high";
    /**
     * Location for the search.
     */
    user_location?: {
      /**
       * Always `approximate`.
       */
      type: "approximate";
      /**
       * Approximate location of the user.
       */
      approximate: {
        /**
         * Two-letter country code (ISO 3166-1).
         */
        country?: string;
        /**
         * Region in free text, such as `California`.
         */
        region?: string;
        /**
         * City in free text.
         */
        city?: string;
        /**
         * IANA time zone, such as `Europe/Berlin`.
         */
        timezone?: string;
        [k: string]: unknown;
      };
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  };
  /**
   * Service tier: `auto`, `default`, `flex`, or `priority` if the price of the model lists it. The call pays the rates of the tier that the provider reports. `auto` allows every listed tier. Default: `default` for a model that lists tiers, otherwise the choice of the provider.
   */
  service_tier?: string | null;
  /**
   * Forwarded. This endpoint stores no conversation.
   */
  store?: boolean | null;
  /**
   * Labels of the caller.
   */
  metadata?: {
    [k: string]: string;
  } | null;
  /**
   * Caller's identifier of the end user.
   */
  user?: string;
  /**
   * Stable pseudonym of the end user, for the provider's abuse detection.
   */
  safety_identifier?: string | null;
  /**
   * Key that groups calls with the same prefix, for providers with a prompt cache.
   */
  prompt_cache_key?: string | null;
  /**
   * @deprecated
   * Deprecated predecessor of `tools`. Calls are returned as `function_call`.
   */
  functions?: {
    /**
     * Function name.
     */
    name: string;
    [k: string]: unknown;
  }[];
  /**
   * @deprecated
   * Deprecated predecessor of `tool_choice`: a mode, or an object with the function's name.
   */
  function_call?:
    | string
    | {
        /**
         * Function name.
         */
        name: string;
        [k: string]: unknown;
      };
  /**
   * Maximum cost of the call in credits, with at most 9 decimal places. A call that could cost more is refused with `max_credits_exceeded`. A call without an output limit gets the largest output limit that fits. With tools that the service runs, the maximum covers all turns and runs together.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Requires a call of the named function.
 */
export interface FunctionToolChoice {
  /**
   * Always `function`.
   */
  type: "function";
  /**
   * The required function.
   */
  function: {
    /**
     * Function name.
     */
    name: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Requires a call of the named custom tool.
 */
export interface CustomToolChoice {
  /**
   * Always `custom`.
   */
  type: "custom";
  /**
   * The required custom tool.
   */
  custom: {
    /**
     * Tool name.
     */
    name: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Limits this call to a subset of `tools`.
 */
export interface AllowedToolsChoice {
  /**
   * Always `allowed_tools`.
   */
  type: "allowed_tools";
  /**
   * The subset and the mode.
   */
  allowed_tools: {
    /**
     * `auto`: the model decides. `required`: at least one call of an allowed tool.
     */
    mode: "auto" | "required";
    /**
     * Allowed tools, each with `type` and name.
     */
    tools: {
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Unrestricted text.
 */
export interface TextFormat {
  /**
   * Always `text`.
   */
  type: "text";
  [k: string]: unknown;
}
/**
 * A JSON object without a schema. The messages should also ask for JSON.
 */
export interface JsonObjectFormat {
  /**
   * Always `json_object`.
   */
  type: "json_object";
  [k: string]: unknown;
}
/**
 * JSON that matches a schema.
 */
export interface JsonSchemaFormat {
  /**
   * Always `json_schema`.
   */
  type: "json_schema";
  /**
   * The schema with its name.
   */
  json_schema: {
    /**
     * Name of the schema.
     */
    name: string;
    /**
     * Purpose of the format, for the model.
     */
    description?: string;
    /**
     * JSON Schema of the answer.
     */
    schema?: {
      [k: string]: unknown;
    };
    /**
     * True when the answer must match the schema exactly.
     */
    strict?: boolean | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Body of POST /console/session: either an API key or a sign-in code.
 */
export interface ConsoleSessionCreateRequest {
  /**
   * API key of the member.
   */
  api_key?: string;
  /**
   * Sign-in code, which `npm start` and `admin console link` print. It is valid once, for 15 minutes.
   */
  code?: string;
}
/**
 * Body of POST /v1/conversations/{conversation_id}.
 */
export interface ConversationChange {
  /**
   * Up to 16 labels that replace the existing labels; null removes all labels.
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
   * Items to append, oldest first, at most 20. They have the format of `input` of POST /v1/responses.
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
   * First items, oldest first, at most 20. They have the format of `input` of POST /v1/responses.
   *
   * @maxItems 20
   */
  items?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  /**
   * Up to 16 labels of the caller.
   */
  metadata?: {
    [k: string]: string;
  } | null;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/messages/count_tokens: the members of POST /v1/messages that count as input tokens.
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
 * Input of the end user, and results of tools.
 */
export interface MessagesUserTurn {
  /**
   * Always `user`.
   */
  role: "user";
  /**
   * A string, or a list of content blocks.
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
  /**
   * Always `text`.
   */
  type: "text";
  /**
   * Text of the block.
   */
  text: string;
  cache_control?: MessagesCacheControl;
  [k: string]: unknown;
}
/**
 * An image for the model.
 */
export interface MessagesImage {
  /**
   * Always `image`.
   */
  type: "image";
  source: MessagesImageSource;
  cache_control?: MessagesCacheControl;
  [k: string]: unknown;
}
/**
 * An image in base64.
 */
export interface MessagesImageBytes {
  /**
   * Always `base64`.
   */
  type: "base64";
  /**
   * Media type of `data`.
   */
  media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
  /**
   * The image in base64.
   */
  data: string;
  [k: string]: unknown;
}
/**
 * A source by URL.
 */
export interface MessagesUrl {
  /**
   * Always `url`.
   */
  type: "url";
  /**
   * http or https URL.
   */
  url: string;
  [k: string]: unknown;
}
/**
 * A stored file of the workspace. Its media type determines how the model receives it.
 */
export interface MessagesFile {
  /**
   * Always `file`.
   */
  type: "file";
  /**
   * Id of the stored file.
   */
  file_id: string;
  [k: string]: unknown;
}
/**
 * A document for the model.
 */
export interface MessagesDocument {
  /**
   * Always `document`.
   */
  type: "document";
  source: MessagesDocumentSource;
  /**
   * Title of the document, for the model.
   */
  title?: string | null;
  /**
   * Context about the document, for the model.
   */
  context?: string | null;
  cache_control?: MessagesCacheControl;
  [k: string]: unknown;
}
/**
 * A PDF in base64.
 */
export interface MessagesPdfBytes {
  /**
   * Always `base64`.
   */
  type: "base64";
  /**
   * Always `application/pdf`.
   */
  media_type: "application/pdf";
  /**
   * The PDF in base64.
   */
  data: string;
  [k: string]: unknown;
}
/**
 * A plain text document.
 */
export interface MessagesPlainText {
  /**
   * Always `text`.
   */
  type: "text";
  /**
   * Always `text/plain`.
   */
  media_type: "text/plain";
  /**
   * Text of the document.
   */
  data: string;
  [k: string]: unknown;
}
/**
 * A document made of text and image blocks.
 */
export interface MessagesInnerBlocks {
  /**
   * Always `content`.
   */
  type: "content";
  /**
   * A string, or a list of text and image blocks.
   */
  content: string | MessagesInnerBlock[];
  [k: string]: unknown;
}
/**
 * A search result of the caller. The model receives it as text.
 */
export interface MessagesSearchResult {
  /**
   * Always `search_result`.
   */
  type: "search_result";
  /**
   * Source of the result, such as its URL.
   */
  source: string;
  /**
   * Title of the result.
   */
  title: string;
  /**
   * Text blocks of the result.
   */
  content: MessagesTextOnlyBlock[];
  cache_control?: MessagesCacheControl;
  [k: string]: unknown;
}
/**
 * Result of one tool call. Its images and files follow the texts of all results of the turn.
 */
export interface MessagesToolResult {
  /**
   * Always `tool_result`.
   */
  type: "tool_result";
  /**
   * `id` of the `tool_use` block that this result answers.
   */
  tool_use_id: string;
  /**
   * A string, or a list of content blocks; null when the tool returned nothing.
   */
  content?: string | MessagesResultBlock[] | null;
  /**
   * True when the tool call failed. The model is informed of the failure.
   */
  is_error?: boolean | null;
  cache_control?: MessagesCacheControl;
  [k: string]: unknown;
}
/**
 * A tool that the client's tool search found. Claude models at Anthropic see a tool with `defer_loading` from this point on. Ignored for other models, which see every tool.
 */
export interface MessagesToolReference {
  /**
   * Always `tool_reference`.
   */
  type: "tool_reference";
  /**
   * Name of the tool.
   */
  tool_name: string;
  [k: string]: unknown;
}
/**
 * An earlier answer of the model. As the last turn, it is the start of the next answer, for providers that support prefilling.
 */
export interface MessagesAssistantTurn {
  /**
   * Always `assistant`.
   */
  role: "assistant";
  /**
   * A string, or a list of content blocks.
   */
  content: string | MessagesAssistantBlock[];
  [k: string]: unknown;
}
/**
 * Visible thinking of an earlier answer, returned unchanged for models that require it.
 */
export interface MessagesThinkingBlock {
  /**
   * Always `thinking`.
   */
  type: "thinking";
  /**
   * Text of the thinking.
   */
  thinking: string;
  /**
   * Signature of the provider; empty when the provider signs nothing.
   */
  signature?: string | null;
  [k: string]: unknown;
}
/**
 * Encrypted thinking that only its provider can read.
 */
export interface MessagesRedactedThinking {
  /**
   * Always `redacted_thinking`.
   */
  type: "redacted_thinking";
  /**
   * Encrypted data.
   */
  data: string;
  [k: string]: unknown;
}
/**
 * A tool call of the model.
 */
export interface MessagesToolUse {
  /**
   * Always `tool_use`.
   */
  type: "tool_use";
  /**
   * Id of the call. The `tool_result` block repeats it.
   */
  id: string;
  /**
   * Name of the called tool.
   */
  name: string;
  /**
   * Arguments of the call.
   */
  input: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Instructions in the middle of a conversation.
 */
export interface MessagesSystemTurn {
  /**
   * Always `system`.
   */
  role: "system";
  /**
   * A string, or a list of text blocks.
   *
   * @minItems 1
   */
  content: string | MessagesTextOnlyBlock[];
  [k: string]: unknown;
}
/**
 * A tool of the client with `name` and `input_schema`, or an Anthropic tool that runs at the client: `bash_…`, `memory_…` or `text_editor_…`. Claude models at Anthropic receive Anthropic tools unchanged, other models as functions. Tools that run at Anthropic are omitted and listed in `x-tools-omitted`; a `tool_choice` of an omitted tool is rejected.
 */
export interface MessagesTool {
  /**
   * `custom`, null or absent for a tool of the client, or the dated type of an Anthropic tool.
   */
  type?: string | null;
  /**
   * Required. Name under which the model calls the tool.
   */
  name?: string;
  /**
   * Purpose of the tool, for the model.
   */
  description?: string | null;
  /**
   * JSON Schema of the arguments. Required for tools of the client.
   */
  input_schema?: {
    [k: string]: unknown;
  };
  /**
   * For `text_editor_…`: maximum number of characters of a file view.
   */
  max_characters?: number | null;
  /**
   * True when the arguments must match the schema exactly.
   */
  strict?: boolean | null;
  /**
   * True to hide the tool from the model until a `tool_reference` names it. Effective for Claude models at Anthropic, unless the tool search runs at Anthropic. Other models see the tool immediately.
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
   * Start of the period, at most 14 days ago.
   */
  since: string;
  /**
   * End of the period. Default: now.
   */
  until?: string;
}
/**
 * Body of POST /v1/embeddings. Other members are accepted and ignored.
 */
export interface EmbeddingsRequest {
  /**
   * Slug of an embedding model from GET /v1/models.
   */
  model: string;
  /**
   * Slugs of embedding models that are tried in order when the providers of `model` fail, at most 10. They replace the workspace's fallback chain for this call. The first may repeat `model`; without `model`, the first is the requested model.
   *
   * @minItems 1
   * @maxItems 10
   */
  models?: string[];
  /**
   * Input to embed: a string, a list of strings, a list of token ids, or a list of token id lists. Inputs may not be empty or exceed the model's `max_context_tokens`.
   *
   * @minItems 1
   */
  input: string | (string | number | number[])[];
  /**
   * Length of the vectors, for models that support it. Default: the model's.
   */
  dimensions?: number;
  /**
   * `float`: arrays of numbers. `base64`: the same numbers as little-endian 32-bit floats. Default: `float`.
   */
  encoding_format?: "float" | "base64";
  /**
   * Caller's identifier of the end user, forwarded to providers that accept it.
   */
  user?: string;
  /**
   * Maximum cost of the call in credits, with at most 9 decimal places. A call that could cost more is refused with `max_credits_exceeded`.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of the call to estimate, as its endpoint accepts it. Chat models take a ChatCompletionRequest, embedding models an EmbeddingsRequest.
 */
export interface EstimateRequest {
  /**
   * Optional, because the path names the model. When present, it must be the same slug.
   */
  model?: string;
  [k: string]: unknown;
}
/**
 * Body of PUT /workspaces/{workspaceId}/fallback-chains/{model}.
 */
export interface FallbackChainRequest {
  /**
   * Other models of the same kind in the order of use, at most 10: slugs, or objects with a slug and a weight. A slug without a weight is never drawn as the first model. Chains that lead back to this model are rejected.
   *
   * @minItems 1
   * @maxItems 10
   */
  fallbacks: (
    | string
    | {
        /**
         * Slug of the model.
         */
        model: string;
        /**
         * Share of the calls for which this model is tried first, relative to the sum of all weights of the chain.
         */
        weight: number;
      }
  )[];
  /**
   * Share of the calls for which the requested model itself is tried first. Required if a fallback has a weight. Without weights, the requested model is always tried first.
   */
  weight?: number;
  /**
   * `user`: calls with the same `user` draw the same model. `conversation`: calls of one conversation draw the same model. Null: each call draws. Requires weights. Default: null.
   */
  sticky?: "user" | "conversation" | null;
  /**
   * True to let the next model of the chain continue an interrupted text stream. This applies to streams with one choice and without tools, JSON mode or log probabilities. The client receives one stream; each part is billed at its model's price. Default: false.
   */
  continue_streams?: boolean;
}
/**
 * Multipart form of an upload: at most 20 parts and 64 KB of fields. Unknown fields are ignored, up to 1 MB.
 */
export interface FileUpload {
  /**
   * The file, as a part with a file name.
   */
  file: string;
  /**
   * Purpose of the file. Default: `user_data`.
   */
  purpose?: "assistants" | "batch" | "fine-tune" | "vision" | "user_data" | "evals";
  /**
   * Time from which `expires_after[seconds]` is counted: always `created_at`.
   */
  "expires_after[anchor]"?: "created_at";
  /**
   * Lifetime of the file in seconds, from 1 hour to 30 days. Default: the file does not expire.
   */
  "expires_after[seconds]"?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/images/edits: JSON with base64 images, or a form with the parts `image` (or `image[]`) and `mask`. Values outside the model's `allowed_params` are rejected; members that the model does not support are ignored. Null counts as absent; unknown members are ignored.
 */
export interface ImageEditRequest {
  /**
   * Slug of an image model with image input, or of an upscaling model, from GET /v1/models.
   */
  model: string;
  /**
   * Description of the edit.
   */
  prompt: string;
  /**
   * Image (PNG, JPEG or WebP) in base64 or as a base64 data URL. Either this member or `image_file_id` is required.
   */
  image_base64?: string;
  /**
   * Id of a stored image. Either this member or `image_base64` is required.
   */
  image_file_id?: string;
  /**
   * Media type of `image_base64`. Optional: the type is detected from the bytes.
   */
  image_mime_type?: string;
  /**
   * Mask of the same size as the image, in base64; its transparent areas are repainted. Rejected with 400 when no provider of the model supports masks.
   */
  mask_base64?: string;
  /**
   * Id of a stored mask.
   */
  mask_file_id?: string;
  /**
   * Media type of `mask_base64`. Optional: the type is detected from the bytes.
   */
  mask_mime_type?: string;
  /**
   * Number of images, at most the model's `max_n`. Default: 1.
   */
  n?: number;
  /**
   * Width and height in pixels, such as `1024x1024`, or `auto`. One of the model's `sizes`; rejected for models without them.
   */
  size?: string;
  /**
   * Image quality, one of the model's `qualities`. Validated, not forwarded to providers.
   */
  quality?: string;
  /**
   * Ratio of width to height, such as `16:9`. One of the model's `aspect_ratios`.
   */
  aspect_ratio?: string;
  /**
   * Strength of the change, clamped to the model's range. No effect for models without a range.
   */
  strength?: number;
  /**
   * Size label, such as `1K`. One of the model's `image_sizes`.
   */
  image_size?: string;
  /**
   * Image style. Validated, not forwarded to providers.
   */
  style?: "vivid" | "natural";
  /**
   * Background of the image. Validated, not forwarded to providers.
   */
  background?: "transparent" | "opaque" | "auto";
  /**
   * Policy for persons in images. Validated, not forwarded to providers.
   */
  person_generation?: "dont_allow" | "allow_adult" | "allow_all";
  /**
   * `url`: links that are valid for an hour. `b64_json`: the images in base64. Default: `url`.
   */
  response_format?: "url" | "b64_json";
  /**
   * Number of rendering steps. Affects the price as for generations; not forwarded to providers.
   */
  steps?: number;
  /**
   * Accepted, not forwarded to providers.
   */
  prompt_extend?: boolean;
  /**
   * Caller's identifier of the end user. Not forwarded to providers.
   */
  user?: string;
  /**
   * Maximum cost of the call in credits, with at most 9 decimal places. A call that could cost more is refused with `max_credits_exceeded`.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/images/generations. Values outside the model's `allowed_params` are rejected. Members that the model does not support are ignored, but `seed`, `negative_prompt` and `output_format` are rejected. Null counts as absent; unknown members are ignored.
 */
export interface ImageGenerationRequest {
  /**
   * Slug of an image model from GET /v1/models.
   */
  model: string;
  /**
   * Description of the image.
   */
  prompt: string;
  /**
   * True to receive states as server-sent events; the last event contains the images. Streams use no fallback and store no files: links are valid for an hour. Default: false.
   */
  stream?: boolean;
  /**
   * Number of images, at most the model's `max_n`. Default: 1.
   */
  n?: number;
  /**
   * Width and height in pixels, such as `1024x1024`, or `auto`. One of the model's `sizes`; rejected for models without them.
   */
  size?: string;
  /**
   * Image quality, one of the model's `qualities`. Default: the model's.
   */
  quality?: string;
  /**
   * Image style, one of the model's `styles`. Default: the model's.
   */
  style?: "vivid" | "natural";
  /**
   * `url`: links that are valid for an hour. `b64_json`: the images in base64. Default: `url`.
   */
  response_format?: "url" | "b64_json";
  /**
   * Ratio of width to height, such as `16:9`. One of the model's `aspect_ratios`.
   */
  aspect_ratio?: string;
  /**
   * Size label, such as `1K`. One of the model's `image_sizes`.
   */
  image_size?: string;
  /**
   * No effect here; used by edits.
   */
  strength?: number;
  /**
   * Policy for persons in images, one of the model's `person_generation` values.
   */
  person_generation?: "dont_allow" | "allow_adult" | "allow_all";
  /**
   * Background of the image, for models that support it.
   */
  background?: "transparent" | "opaque" | "auto";
  /**
   * File format of the images. Rejected for models without a choice of formats.
   */
  output_format?: "png" | "webp" | "jpeg";
  /**
   * Compression level of JPEG and WebP from 0 to 100. No effect on PNG.
   */
  output_compression?: number;
  /**
   * Fidelity to input images, for models that support it.
   */
  input_fidelity?: "high" | "low";
  /**
   * Strictness of the provider's content moderation, for models that support it.
   */
  moderation?: "auto" | "low";
  /**
   * Description of what the image must not contain. Rejected for models without this parameter.
   */
  negative_prompt?: string;
  /**
   * Seed of the random generator. The same seed and prompt produce the same image. Rejected for models without this parameter.
   */
  seed?: number;
  /**
   * Number of rendering steps. Models with a price per megapixel cost more in proportion to steps above the model's default.
   */
  steps?: number;
  /**
   * True to let the model rewrite the prompt before generation. Ignored by models without this parameter.
   */
  prompt_extend?: boolean;
  /**
   * Caller's identifier of the end user, forwarded to providers that accept it.
   */
  user?: string;
  /**
   * Maximum cost of the call in credits, with at most 9 decimal places. A call that could cost more is refused with `max_credits_exceeded`.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of PUT /workspaces/{workspaceId}/end-users/{user}/limits and /workspaces/{workspaceId}/tags/{tag}/{value}/limits. It replaces all limits of the end user or the tag.
 */
export interface LabelLimitsRequest {
  /**
   * Maximum spend in credits per period in UTC, with at most 9 decimal places. At least one; an absent or null member sets no limit.
   */
  credits: {
    /**
     * Credits per day.
     */
    day?: number | null;
    /**
     * Credits per week from Monday.
     */
    week?: number | null;
    /**
     * Credits per month.
     */
    month?: number | null;
    /**
     * Credits in total, since the limit was first set.
     */
    total?: number | null;
  };
  /**
   * Percentages of each limit at which a warning is sent. Default: none.
   *
   * @maxItems 5
   */
  warn_at?: number[] | null;
}
/**
 * A JSON-RPC 2.0 message of the Model Context Protocol: a request, a notification or a response.
 */
export interface McpMessage {
  /**
   * Always `2.0`.
   */
  jsonrpc: "2.0";
  /**
   * Id of the request; absent in notifications.
   */
  id?: string | number | null;
  /**
   * Method name, such as `tools/call`; absent in responses.
   */
  method?: string;
  /**
   * Parameters of the method.
   */
  params?: {
    /**
     * Protocol metadata, such as a progress token.
     */
    _meta?: {
      [k: string]: unknown;
    };
    /**
     * Arguments of the called tool.
     */
    arguments?: {
      [k: string]: unknown;
    };
    /**
     * Cursor of the next page of a list.
     */
    cursor?: string;
    [k: string]: unknown;
  };
  /**
   * Result of a request; present in successful responses.
   */
  result?: {
    [k: string]: unknown;
  };
  /**
   * Error of a request; present in failed responses.
   */
  error?: {
    /**
     * JSON-RPC error code.
     */
    code: number;
    /**
     * Error message.
     */
    message: string;
    /**
     * Additional information about the error.
     */
    data?: {
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Body of POST /workspaces/{workspaceId}/members.
 */
export interface MemberCreateRequest {
  /**
   * Id of the new member. A repeated request with the same id creates no second member. Default: generated.
   */
  id?: string;
  /**
   * Name, unique in the workspace.
   */
  name: string;
  /**
   * E-mail address, unique in the workspace regardless of case.
   */
  email?: string;
  limits?: Limits;
  /**
   * `owner`: everything. `admin`: everything except owners. `developer`: calls, own keys and workflows. `billing`: credits and usage. Only owners assign or remove the role `owner`.
   */
  role: "owner" | "admin" | "developer" | "billing";
}
/**
 * Body of PATCH /workspaces/{workspaceId}/members/{memberId}. Absent members keep their value.
 */
export interface MemberUpdateRequest {
  /**
   * Name, unique in the workspace.
   */
  name?: string;
  /**
   * E-mail address, unique in the workspace regardless of case; null removes it.
   */
  email?: string | null;
  limits?: Limits;
  /**
   * `owner`: everything. `admin`: everything except owners. `developer`: calls, own keys and workflows. `billing`: credits and usage. Only owners assign or remove the role `owner`.
   */
  role?: "owner" | "admin" | "developer" | "billing";
  /**
   * False to disable the member: the service rejects the member's keys within a second.
   */
  is_active?: boolean;
}
/**
 * Body of POST /v1/3d/generations. A prompt or an image is required. Models that transform a mesh also require a mesh; all other models reject it. Null counts as absent; unknown members are ignored.
 */
export interface MeshGenerationRequest {
  /**
   * Slug of a model with the modality `object_3d` from GET /v1/models.
   */
  model: string;
  /**
   * Description of the mesh, at most 5,000 characters.
   */
  prompt?: string;
  /**
   * Input image: a public http or https URL, a link of this service, or a data URL. Ignored by models without image input.
   */
  image_url?: string;
  /**
   * Id of a stored input image.
   */
  image_file_id?: string;
  /**
   * Mesh to transform: a public http or https URL or a link of this service.
   */
  mesh_url?: string;
  /**
   * Id of a stored mesh to transform.
   */
  mesh_file_id?: string;
  /**
   * Seed of the random generator. Ignored by models without this parameter.
   */
  seed?: number;
  /**
   * Maximum cost of the call in credits, with at most 9 decimal places. A call that could cost more is refused with `max_credits_exceeded`.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/messages in the format of Anthropic's Messages API, for every chat model. Accepted without effect: `top_k`, `inference_geo`, `diagnostics`, unknown members, and the header `anthropic-version`.
 */
export interface MessagesRequest {
  model: MessagesModel;
  /**
   * Slugs of chat models that are tried in order when the providers of `model` fail, at most 10. They replace the workspace's fallback chain for this call. The first may repeat `model`; without `model`, the first is the requested model.
   *
   * @minItems 1
   * @maxItems 10
   */
  models?: string[];
  /**
   * Maximum number of output tokens, thinking included.
   */
  max_tokens: number;
  messages: MessagesTurns;
  system?: MessagesSystem;
  /**
   * True to receive the answer as server-sent events. Default: false.
   */
  stream?: boolean | null;
  /**
   * Up to 16 sequences at which the answer ends. The answer does not contain the sequence.
   *
   * @maxItems 16
   */
  stop_sequences?: string[] | null;
  /**
   * Sampling temperature from 0 to 1. Lower values are more deterministic. Default: the model's.
   */
  temperature?: number | null;
  /**
   * Nucleus sampling: cumulative probability of the tokens considered, from 0 to 1. Default: the model's.
   */
  top_p?: number | null;
  /**
   * Accepted without effect: most models have no such setting.
   */
  top_k?: number | null;
  tools?: MessagesTools;
  tool_choice?: MessagesToolChoice;
  thinking?: MessagesThinking;
  output_config?: MessagesOutputConfig;
  /**
   * Information about the request.
   */
  metadata?: {
    /**
     * Caller's pseudonym of the end user, forwarded as `user`. Values longer than 64 characters are forwarded as their SHA-256.
     */
    user_id?: string | null;
    [k: string]: unknown;
  } | null;
  /**
   * Service tier. `standard_only` excludes tiers with a higher price. `auto` allows the tiers that the price of the model lists. Default: `standard_only` for a model that lists tiers, otherwise the choice of the provider.
   */
  service_tier?: "auto" | "standard_only" | null;
  cache_control?: MessagesCacheControl;
  /**
   * Accepted without effect. Edits that compact the conversation are rejected.
   */
  context_management?: {
    /**
     * Edits of the conversation.
     */
    edits?:
      | {
          /**
           * Type of the edit.
           */
          type?: string;
          [k: string]: unknown;
        }[]
      | null;
    [k: string]: unknown;
  } | null;
  /**
   * Inference speed. Only `standard` is supported.
   */
  speed?: "standard" | null;
  /**
   * Not supported: null or absent. The service executes no code.
   */
  container?: null;
  /**
   * Not supported: empty or absent. The service calls no MCP servers.
   *
   * @maxItems 0
   */
  mcp_servers?: unknown[] | null;
  /**
   * Maximum cost of the call in credits, with at most 9 decimal places. A call that could cost more is refused with `max_credits_exceeded`. A call without an output limit gets the largest output limit that fits.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/music/generations. Values outside the model's `allowed_params` are rejected. Null counts as absent; unknown members are ignored.
 */
export interface MusicGenerationRequest {
  /**
   * Slug of a music model from GET /v1/models.
   */
  model: string;
  /**
   * Description of the music.
   */
  prompt: string;
  /**
   * Lyrics to sing. Rejected for models without this parameter.
   */
  lyrics?: string;
  /**
   * Length in seconds, one of the model's `durations` where declared. Default: `default_duration`.
   */
  duration?: number;
  /**
   * Seed of the random generator. The same seed and prompt produce the same music. Rejected for models without this parameter.
   */
  seed?: number;
  /**
   * `url`: links that are valid for an hour. `b64_json`: the audio in base64. Default: `url`.
   */
  response_format?: "url" | "b64_json";
  /**
   * Audio format. Default: `mp3`. Other formats are rejected for models without a choice.
   */
  output_format?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm";
  /**
   * Maximum cost of the call in credits, with at most 9 decimal places. A call that could cost more is refused with `max_credits_exceeded`.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /workspaces/{workspaceId}/notification-channels.
 */
export interface ChannelCreateRequest {
  /**
   * Id of the new channel. A repeated request with the same id creates no second channel and returns no signing secret. Default: generated.
   */
  id?: string;
  /**
   * Type of the channel.
   */
  type: "email" | "slack" | "telegram" | "webhook";
  /**
   * Name, unique in the workspace.
   */
  name: string;
  /**
   * Configuration by type. webhook: `url`, `authType` and its members. slack: `url`. telegram: `botToken`, `chatId`. email: `recipient`.
   */
  config: {
    /**
     * URL of the webhook or of the Slack incoming webhook. Responses show its origin and last four characters.
     */
    url?: string;
    /**
     * Authentication of webhook requests, in addition to the signature. `none` (default). `bearer`: `authToken`. `basic`: `authUsername` and `authPassword`. `api_key`: `authApiKey` in `authHeaderName` or `x-api-key`. `custom_header`: `authHeaderName` and `authHeaderValue`.
     */
    authType?: "none" | "bearer" | "basic" | "api_key" | "custom_header";
    /**
     * User name for `basic`.
     */
    authUsername?: string;
    /**
     * HTTP header name for `api_key` and `custom_header`. Not allowed: `Content-Type`, `x-webhook-signature`, `webhook-…`, and connection headers such as `Host`.
     */
    authHeaderName?: string;
    /**
     * Bearer token, at least 8 characters. Never returned.
     */
    authToken?: string;
    /**
     * Password for `basic`, at least 8 characters. Never returned.
     */
    authPassword?: string;
    /**
     * API key for `api_key`, at least 8 characters. Never returned.
     */
    authApiKey?: string;
    /**
     * Header value for `custom_header`, at least 8 characters. Never returned.
     */
    authHeaderValue?: string;
    /**
     * Token of the Telegram bot. Never returned.
     */
    botToken?: string;
    /**
     * Id of the Telegram chat: digits, or `@name`.
     */
    chatId?: string;
    /**
     * One e-mail address.
     */
    recipient?: string;
  };
  /**
   * False to create a disabled channel. Default: true.
   */
  enabled?: boolean;
}
/**
 * Body of PATCH /workspaces/{workspaceId}/notification-channels/{channelId}. Absent members keep their value. A `config` replaces the stored configuration, except credentials and URLs that it omits. An empty string removes a credential.
 */
export interface ChannelUpdateRequest {
  /**
   * Name, unique in the workspace.
   */
  name?: string;
  /**
   * Configuration by type. webhook: `url`, `authType` and its members. slack: `url`. telegram: `botToken`, `chatId`. email: `recipient`.
   */
  config?: {
    /**
     * URL of the webhook or of the Slack incoming webhook. Responses show its origin and last four characters.
     */
    url?: string;
    /**
     * Authentication of webhook requests, in addition to the signature. `none` (default). `bearer`: `authToken`. `basic`: `authUsername` and `authPassword`. `api_key`: `authApiKey` in `authHeaderName` or `x-api-key`. `custom_header`: `authHeaderName` and `authHeaderValue`.
     */
    authType?: "none" | "bearer" | "basic" | "api_key" | "custom_header";
    /**
     * User name for `basic`.
     */
    authUsername?: string;
    /**
     * HTTP header name for `api_key` and `custom_header`. Not allowed: `Content-Type`, `x-webhook-signature`, `webhook-…`, and connection headers such as `Host`.
     */
    authHeaderName?: string;
    /**
     * Bearer token, at least 8 characters. Never returned.
     */
    authToken?: string;
    /**
     * Password for `basic`, at least 8 characters. Never returned.
     */
    authPassword?: string;
    /**
     * API key for `api_key`, at least 8 characters. Never returned.
     */
    authApiKey?: string;
    /**
     * Header value for `custom_header`, at least 8 characters. Never returned.
     */
    authHeaderValue?: string;
    /**
     * Token of the Telegram bot. Never returned.
     */
    botToken?: string;
    /**
     * Id of the Telegram chat: digits, or `@name`.
     */
    chatId?: string;
    /**
     * One e-mail address.
     */
    recipient?: string;
  };
  /**
   * False to stop deliveries. Subscriptions and delivery history are kept.
   */
  enabled?: boolean;
}
/**
 * Body of PATCH /operator/api-keys/{id}. Absent members keep their value.
 */
export interface OperatorApiKeyUpdateRequest {
  /**
   * Name of a quota preset of the catalogue. It takes effect within a second.
   */
  preset?: string;
  /**
   * True to revoke the key permanently. It stops working within a second.
   */
  is_revoked?: true;
  limits?: Limits;
  /**
   * Capabilities and workflows that the key may run: ids, categories such as `image.*`, or `workflow.*`. Such a key cannot write workflows or create keys with more tools. Null: all.
   *
   * @maxItems 200
   */
  tools?: string[] | null;
}
/**
 * Body of POST /operator/catalogue/check.
 */
export interface OperatorCatalogueCheckRequest {
  /**
   * Catalogue files in the order of application over the built-in files, at most 262,144 bytes in total.
   *
   * @minItems 1
   * @maxItems 50
   */
  files: {
    /**
     * File name used in reported faults.
     */
    name: string;
    /**
     * YAML content in the format of a `SLUICE_CATALOGUE` file.
     */
    text: string;
  }[];
}
/**
 * Body of POST /operator/workspaces/{id}/credits.
 */
export interface OperatorCreditMoveRequest {
  /**
   * Idempotency id: repeated requests with the same id, workspace and kind move the credits once.
   */
  id: string;
  /**
   * `top_up` adds credits. `correction` adds credits, or removes them when `credits` is negative.
   */
  kind: "top_up" | "correction";
  /**
   * Number of credits, or its decimal text, with at most 9 decimal places. Not 0, at most 1,000,000,000. Read exactly as written.
   */
  credits: number | string;
  /**
   * Note for the ledger and the audit log.
   */
  note?: string;
}
/**
 * Optional body of POST /operator/holds/{id}/close. Without a body the hold is released.
 */
export interface OperatorHoldCloseRequest {
  /**
   * Credits to charge, at most the held amount: a number or its decimal text, with at most 9 decimal places. Default: nothing is charged, the hold is released.
   */
  credits?: number | string;
  /**
   * True to close a hold before its deadline. A call that still runs then has no hold.
   */
  before_deadline?: boolean;
  /**
   * Note for the audit log.
   */
  note?: string;
}
/**
 * Body of POST /operator/dead-letters/redrive.
 */
export interface OperatorRedriveRequest {
  /**
   * Ids of dead letters, at most 100.
   *
   * @minItems 1
   * @maxItems 100
   */
  ids: string[];
}
/**
 * Body of POST /console/operator-session.
 */
export interface OperatorSessionCreateRequest {
  /**
   * Operator token.
   */
  token: string;
}
/**
 * Optional body of POST /operator/settle-faults/{id}/resolve.
 */
export interface OperatorSettleFaultResolveRequest {
  /**
   * Note for the audit log.
   */
  note?: string;
}
/**
 * Body of POST /operator/tokens.
 */
export interface OperatorTokenCreateRequest {
  /**
   * Id of the new token. A repeated request with the same id creates no second token and returns no secret. Default: generated.
   */
  id?: string;
  /**
   * Name, never used by another token.
   */
  name: string;
  /**
   * `read`: read only. `write`: also change. `money`: also move credits and create tokens.
   */
  scope: "read" | "write" | "money";
  /**
   * Expiry of the token. Default: it does not expire.
   */
  expires_at?: string;
}
/**
 * Body of POST /operator/workspaces.
 */
export interface OperatorWorkspaceCreateRequest {
  /**
   * Id of the new workspace. A repeated request with the same id creates no second workspace and returns no key. Default: generated.
   */
  id?: string;
  /**
   * Unique name that is not a UUID.
   */
  name: string;
  /**
   * First member of the workspace.
   */
  owner: {
    /**
     * Name of the first member, with the role `owner`.
     */
    name: string;
    /**
     * E-mail address of the first member.
     */
    email?: string;
  };
  /**
   * Quota preset of the first key. Default: `standard`.
   */
  preset?: string;
}
/**
 * Body of PATCH /operator/workspaces/{id}. Absent members keep their value.
 */
export interface OperatorWorkspaceUpdateRequest {
  /**
   * Unique name that is not a UUID.
   */
  name?: string;
  /**
   * False to disable the workspace: the service rejects its keys within a second. All data is kept.
   */
  is_active?: boolean;
}
/**
 * Body of POST /v1/pipelines/runs.
 */
export interface PipelineRunRequest {
  /**
   * A WorkflowDefinition. It is not stored.
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
   * Caller's identifier of the end user, who becomes the end user of every call of the run.
   */
  user?: string | null;
  /**
   * Labels of the caller. The tags of the workspace among them become tags of every call of the run.
   */
  metadata?: {
    [k: string]: string;
  } | null;
  /**
   * `sync`: wait for the end. `stream`: receive server-sent events for each step. `async`: receive the queued run immediately. Default: `sync`.
   */
  mode?: "sync" | "stream" | "async";
  /**
   * Maximum cost of the run and its sub-workflows in credits, with at most 9 decimal places. A step that could exceed it fails with `max_credits_exceeded`.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/responses/compact: a conversation in the format of POST /v1/responses. Other members are accepted and ignored.
 */
export interface ResponsesCompactRequest {
  /**
   * Slug of a chat model from GET /v1/models. The model writes the summary.
   */
  model: string;
  /**
   * Items of the conversation, oldest first, after those of `previous_response_id`.
   */
  input?:
    | string
    | {
        [k: string]: unknown;
      }[]
    | null;
  /**
   * Instructions of the conversation.
   */
  instructions?: string | null;
  /**
   * Id of a stored response. Its conversation precedes `input`.
   */
  previous_response_id?: string | null;
  /**
   * Key that groups calls with the same prefix, for providers with a prompt cache.
   */
  prompt_cache_key?: string | null;
  /**
   * Maximum cost of the call in credits, with at most 9 decimal places. A call that could cost more is refused with `max_credits_exceeded`. The summary gets the largest output limit that fits.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/responses in the format of OpenAI's Responses API, for every chat model. Of OpenAI's hosted tools only `image_generation` is supported; web search is omitted and other hosted tools are rejected. Accepted without effect: `prompt_cache_retention`, `stream_options`, `truncation`, and unknown members.
 */
export interface ResponsesRequest {
  /**
   * Slug of a chat model from GET /v1/models.
   */
  model: string;
  /**
   * Slugs of chat models that are tried in order when the providers of `model` fail, at most 10. They replace the workspace's fallback chain for this call. The first may repeat `model`; without `model`, the first is the requested model.
   *
   * @minItems 1
   * @maxItems 10
   */
  models?: string[];
  /**
   * Text of the user, or the items of the conversation, oldest first. It may be empty when the call continues from stored items.
   */
  input:
    | string
    | {
        [k: string]: unknown;
      }[];
  /**
   * Instructions before the conversation.
   */
  instructions?: string | null;
  /**
   * True to receive the answer as server-sent events. Default: false.
   */
  stream?: boolean | null;
  /**
   * WebSocket only: false to store the input without an answer. The response is complete immediately, free and without output; the next message continues from it with `previous_response_id`. Rejected over HTTP.
   */
  generate?: boolean | null;
  /**
   * Accepted without effect: events are not padded.
   */
  stream_options?: {
    [k: string]: unknown;
  } | null;
  /**
   * Maximum number of output tokens, reasoning included. Default: the model's limit.
   */
  max_output_tokens?: number | null;
  /**
   * Sampling temperature from 0 to 2. Lower values are more deterministic. Default: the model's.
   */
  temperature?: number | null;
  /**
   * Nucleus sampling: cumulative probability of the tokens considered, from 0 to 1. Default: the model's.
   */
  top_p?: number | null;
  /**
   * Penalty from -2 to 2 for tokens that have occurred. Default: 0.
   */
  presence_penalty?: number | null;
  /**
   * Penalty from -2 to 2 for each token by its number of occurrences. Default: 0.
   */
  frequency_penalty?: number | null;
  /**
   * Number of alternatives per token, from 0 to 20. Returns log probabilities.
   */
  top_logprobs?: number | null;
  /**
   * Additional output. `message.output_text.logprobs` returns log probabilities. The other values have no effect; reasoning always has its `encrypted_content`.
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
   * Tools that the model may call.
   */
  tools?: ResponsesTool[] | null;
  /**
   * Controls tool calls. Default: `auto`.
   */
  tool_choice?: ResponsesToolChoice | null;
  /**
   * False to receive at most one tool call per turn. Default: the model's.
   */
  parallel_tool_calls?: boolean | null;
  /**
   * Maximum number of runs of `sluice` tools and image generations.
   */
  max_tool_calls?: number | null;
  /**
   * Format and verbosity of the answer.
   */
  text?: ResponsesText | null;
  /**
   * Reasoning options.
   */
  reasoning?: {
    /**
     * Reasoning effort in the model's own levels, such as `low` or `high`.
     */
    effort?: string | null;
    /**
     * Level of the reasoning summary. Default: visible reasoning is returned as the text of a reasoning item.
     */
    summary?: "auto" | "concise" | "detailed" | null;
    /**
     * @deprecated
     * Deprecated name of `summary`.
     */
    generate_summary?: "auto" | "concise" | "detailed" | null;
    [k: string]: unknown;
  } | null;
  /**
   * Accepted without effect: a conversation that exceeds the context is rejected, also with `auto`.
   */
  truncation?: "auto" | "disabled" | null;
  /**
   * False to not store the response. Later calls can continue only from stored responses. Default: true.
   */
  store?: boolean | null;
  /**
   * Up to 16 labels of the caller, repeated in the response.
   */
  metadata?: {
    [k: string]: string;
  } | null;
  /**
   * Service tier: `auto`, `default`, `flex`, or `priority` if the price of the model lists it. The call pays the rates of the tier that the provider reports. `auto` allows every listed tier. Default: `default` for a model that lists tiers, otherwise the choice of the provider.
   */
  service_tier?: string | null;
  /**
   * Caller's identifier of the end user.
   */
  user?: string | null;
  /**
   * Stable pseudonym of the end user, for the provider's abuse detection.
   */
  safety_identifier?: string | null;
  /**
   * Key that groups calls with the same prefix, for providers with a prompt cache.
   */
  prompt_cache_key?: string | null;
  /**
   * Id of a stored response. Its conversation precedes `input`; its `instructions` are not used.
   */
  previous_response_id?: string | null;
  /**
   * Id of a conversation, or an object with the id. Its items precede `input`; input and output are appended when the response is complete. One call at a time may use it. It excludes `previous_response_id`.
   */
  conversation?:
    | string
    | {
        /**
         * Id of the conversation.
         */
        id: string;
        [k: string]: unknown;
      }
    | null;
  /**
   * Not supported: null or absent.
   */
  prompt?: null;
  /**
   * Not supported: null or absent.
   */
  moderation?: null;
  /**
   * Not supported: empty or absent.
   *
   * @maxItems 0
   */
  context_management?: unknown[] | null;
  /**
   * True to receive the response immediately with the status `queued` while a job creates it. GET /v1/responses/{response_id} returns its state. Requires `store`. With `stream`, the events can be read again from any position. Default: false.
   */
  background?: boolean | null;
  /**
   * Maximum cost of the call in credits, with at most 9 decimal places. A call that could cost more is refused with `max_credits_exceeded`. A call without an output limit gets the largest output limit that fits. With tools that the service runs, the maximum covers all turns and runs together.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * A function with JSON arguments, executed by the client.
 */
export interface ResponsesFunctionTool {
  /**
   * Always `function`.
   */
  type: "function";
  /**
   * Name of the tool.
   */
  name: string;
  /**
   * Purpose of the tool, for the model.
   */
  description?: string | null;
  /**
   * JSON Schema of the arguments. Default: the function has no parameters.
   */
  parameters?: {
    [k: string]: unknown;
  } | null;
  /**
   * True when the output must match the schema exactly.
   */
  strict?: boolean | null;
  /**
   * Accepted without effect: the model is shown the tool at once.
   */
  defer_loading?: boolean | null;
  [k: string]: unknown;
}
/**
 * A tool with free text input. Models receive it as a function with one string parameter; a grammar is part of its description.
 */
export interface ResponsesCustomTool {
  /**
   * Always `custom`.
   */
  type: "custom";
  /**
   * Name of the tool.
   */
  name: string;
  /**
   * Purpose of the tool, for the model.
   */
  description?: string | null;
  format?: ResponsesCustomFormat;
  [k: string]: unknown;
}
/**
 * Unrestricted text.
 */
export interface ResponsesTextInput {
  /**
   * Always `text`.
   */
  type: "text";
  [k: string]: unknown;
}
/**
 * Text that matches a grammar.
 */
export interface ResponsesGrammarInput {
  /**
   * Always `grammar`.
   */
  type: "grammar";
  /**
   * Language of the grammar.
   */
  syntax: "lark" | "regex";
  /**
   * Text of the grammar, in `syntax`.
   */
  definition: string;
  [k: string]: unknown;
}
/**
 * Image generation by the service, at most 4 images per response. Each image is a separate call of POST /v1/images/generations at the price of the image model. The model may call other tools too.
 */
export interface ResponsesImageTool {
  /**
   * Always `image_generation`.
   */
  type: "image_generation";
  /**
   * Slug of an image model. Default: the model with the lowest maximum price that supports the other members, then the first by slug.
   */
  model?: string | null;
  /**
   * Width and height in pixels, such as `1024x1024`. Default or `auto`: the chat model chooses, if the image model has several sizes.
   */
  size?: string | null;
  /**
   * Image quality of the image model. `auto`: the model's default.
   */
  quality?: string | null;
  /**
   * Background of the image, for models that support it.
   */
  background?: "transparent" | "opaque" | "auto" | null;
  /**
   * File format. Rejected for models without a choice of formats.
   */
  output_format?: "png" | "webp" | "jpeg" | null;
  /**
   * Compression level of JPEG and WebP from 0 to 100. No effect on PNG.
   */
  output_compression?: number | null;
  /**
   * Strictness of the provider's content moderation, for models that support it.
   */
  moderation?: "auto" | "low" | null;
  /**
   * Always generation. POST /v1/images/edits edits images.
   */
  action?: "generate" | "auto" | null;
  /**
   * Not supported: 0, null or absent.
   */
  partial_images?: number | null;
  /**
   * Not supported: null or absent.
   */
  input_image_mask?: null;
  /**
   * Not supported, because the tool does not edit images: null or absent.
   */
  input_fidelity?: null;
  /**
   * Not supported: null or absent.
   */
  complexity?: null;
  [k: string]: unknown;
}
/**
 * A group of functions and custom tools. Models receive each tool as `<namespace>__<name>`, shortened to 64 characters; calls return namespace and name. Tools with equal combined names are rejected.
 */
export interface ResponsesNamespaceTool {
  /**
   * Always `namespace`.
   */
  type: "namespace";
  /**
   * Name of the namespace.
   */
  name: string;
  /**
   * Purpose of the group. The model receives it with the first tool.
   */
  description?: string | null;
  /**
   * Tools of the namespace.
   */
  tools: ResponsesNamespacedTool[];
  [k: string]: unknown;
}
/**
 * A tool search that the client executes. The call is a `tool_search_call`; the model may call the tools of the `tool_search_output` that answers it. A search with another `execution` than `client` is omitted, because the model receives all tools.
 */
export interface ResponsesSearchTool {
  /**
   * Always `tool_search`.
   */
  type: "tool_search";
  /**
   * Executor of the search. Only `client` has an effect.
   */
  execution?: "server" | "client" | null;
  /**
   * Purpose of the tool, for the model.
   */
  description?: string | null;
  /**
   * JSON Schema of the arguments. Default: one string, `query`.
   */
  parameters?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * OpenAI's hosted web search. It is not supported: the tool is omitted and listed in `x-tools-omitted`. A `tool_choice` that names it is rejected.
 */
export interface ResponsesWebSearchTool {
  /**
   * Type of the tool.
   */
  type: "web_search" | "web_search_2025_08_26" | "web_search_preview" | "web_search_preview_2025_03_11";
  [k: string]: unknown;
}
/**
 * Requires a call of the named function.
 */
export interface ResponsesFunctionChoice {
  /**
   * Always `function`.
   */
  type: "function";
  /**
   * Name of the tool.
   */
  name: string;
  /**
   * Namespace of the tool. Optional when the name is unique or the tool has no namespace.
   */
  namespace?: string | null;
  [k: string]: unknown;
}
/**
 * Requires a call of the named custom tool.
 */
export interface ResponsesCustomChoice {
  /**
   * Always `custom`.
   */
  type: "custom";
  /**
   * Name of the tool.
   */
  name: string;
  /**
   * Namespace of the tool. Optional when the name is unique or the tool has no namespace.
   */
  namespace?: string | null;
  [k: string]: unknown;
}
/**
 * Requires an image generation.
 */
export interface ResponsesImageChoice {
  /**
   * Always `image_generation`.
   */
  type: "image_generation";
  [k: string]: unknown;
}
/**
 * Requires a tool search.
 */
export interface ResponsesSearchChoice {
  /**
   * Always `tool_search`.
   */
  type: "tool_search";
  [k: string]: unknown;
}
/**
 * Limits this call to a subset of `tools`.
 */
export interface ResponsesAllowedTools {
  /**
   * Always `allowed_tools`.
   */
  type: "allowed_tools";
  /**
   * `auto`: the model decides. `required`: at least one call of an allowed tool.
   */
  mode: "auto" | "required";
  /**
   * Allowed tools.
   *
   * @minItems 1
   * @maxItems 128
   */
  tools: ResponsesAllowedTool[];
  [k: string]: unknown;
}
/**
 * Format and verbosity of the answer.
 */
export interface ResponsesText {
  format?: ResponsesFormat;
  /**
   * Length of the answer.
   */
  verbosity?: "low" | "medium" | "high" | null;
  [k: string]: unknown;
}
/**
 * Unrestricted text.
 */
export interface ResponsesTextFormat {
  /**
   * Always `text`.
   */
  type: "text";
  [k: string]: unknown;
}
/**
 * A JSON object without a schema. The input should also ask for JSON.
 */
export interface ResponsesJsonObject {
  /**
   * Always `json_object`.
   */
  type: "json_object";
  [k: string]: unknown;
}
/**
 * JSON that matches a schema.
 */
export interface ResponsesJsonSchema {
  /**
   * Always `json_schema`.
   */
  type: "json_schema";
  /**
   * Name of the schema.
   */
  name: string;
  /**
   * Purpose of the format, for the model.
   */
  description?: string | null;
  /**
   * JSON Schema of the answer.
   */
  schema: {
    [k: string]: unknown;
  };
  /**
   * True when the output must match the schema exactly.
   */
  strict?: boolean | null;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/audio/speech. Null counts as absent; unknown members are ignored.
 */
export interface SpeechRequest {
  /**
   * Slug of a speech model from GET /v1/models.
   */
  model: string;
  /**
   * Text to speak, at most 4,096 characters.
   */
  input: string;
  /**
   * One of the model's `voices`. The default voice replaces an unknown voice; `x-voice-used` returns the voice used. Default: the model's default voice.
   */
  voice?: string;
  /**
   * Description of a voice or a way of speaking. Ignored by models without this parameter.
   */
  instructions?: string;
  /**
   * Audio format. `pcm` is 16-bit little-endian mono at 24 kHz. Default: `mp3`.
   */
  response_format?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm";
  /**
   * `audio`: the audio bytes. `sse`: server-sent events with audio in base64. Default: `audio`.
   */
  stream_format?: "audio" | "sse";
  /**
   * Speaking rate from 0.25 to 4. Default: 1.
   */
  speed?: number;
  /**
   * Maximum cost of the call in credits, with at most 9 decimal places. A call that could cost more is refused with `max_credits_exceeded`.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /workspaces/{workspaceId}/notification-channels/{channelId}/subscriptions.
 */
export interface SubscriptionCreateRequest {
  /**
   * Id of the new subscription. A repeated request with the same id creates no second subscription. Default: generated.
   */
  id?: string;
  /**
   * Event type to deliver.
   */
  event:
    | "run.started"
    | "run.retrying"
    | "run.succeeded"
    | "run.failed"
    | "run.cancelled"
    | "job.completed"
    | "job.failed"
    | "budget.threshold_reached"
    | "budget.warning"
    | "balance.low"
    | "limit.warning"
    | "limit.reached"
    | "template.unavailable";
  /**
   * Run events only: deliver only events of this workflow. Default: events of all workflows.
   */
  workflowId?: string;
}
/**
 * Body of POST /v1/audio/transcriptions. JSON has the audio as `audio_base64` or `file_id`; a form has it as the part `file` and lists as `timestamp_granularities[]`. Null counts as absent; unknown members are ignored.
 */
export interface TranscriptionRequest {
  /**
   * Slug of a transcription model from GET /v1/models.
   */
  model: string;
  /**
   * The audio in base64 or as a base64 data URL.
   */
  audio_base64?: string;
  /**
   * Media type of `audio_base64`. Optional: the type is detected from the bytes.
   */
  mime_type?: string;
  /**
   * Id of a stored audio file.
   */
  file_id?: string;
  /**
   * Language of the audio, such as `en`. Default: detected by the model.
   */
  language?: string;
  /**
   * Text that guides the model, such as names and terms. Ignored by models without this parameter.
   */
  prompt?: string;
  /**
   * Format of the transcription. Default: `json`.
   */
  response_format?: "json" | "text" | "srt" | "verbose_json" | "vtt";
  /**
   * Sampling temperature from 0 to 1. Default: the model's.
   */
  temperature?: number;
  /**
   * Timestamps of `verbose_json`. Default: `["segment"]`.
   *
   * @maxItems 2
   */
  timestamp_granularities?: ("word" | "segment")[];
  /**
   * True to receive the transcription as server-sent events; supported for `json` and `text`. Default: false.
   */
  stream?: boolean;
  /**
   * Maximum cost of the call in credits, with at most 9 decimal places. A call that could cost more is refused with `max_credits_exceeded`.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/videos/generations. Values outside the model's `allowed_params` are rejected. Null counts as absent; unknown members are ignored.
 */
export interface VideoGenerationRequest {
  /**
   * Slug of a video model from GET /v1/models.
   */
  model: string;
  /**
   * Description of the video.
   */
  prompt: string;
  /**
   * First frame: a public http or https URL, a link of this service, or a data URL.
   */
  image_url?: string;
  /**
   * Id of a stored image for the first frame.
   */
  image_file_id?: string;
  /**
   * Video to continue: a public http or https URL or a link of this service.
   */
  video_url?: string;
  /**
   * Id of a stored video to continue.
   */
  video_file_id?: string;
  /**
   * Length in seconds, one of the model's `durations`. Default: `default_duration`.
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
   * Seed of the random generator. The same seed and prompt produce the same video. Rejected for models without this parameter.
   */
  seed?: number;
  /**
   * Description of what the video must not contain. Rejected for models without this parameter.
   */
  negative_prompt?: string;
  /**
   * Policy for persons in videos, one of the model's `person_generation` values.
   */
  person_generation?: "dont_allow" | "allow_adult" | "allow_all";
  /**
   * Maximum cost of the call in credits, with at most 9 decimal places. A call that could cost more is refused with `max_credits_exceeded`.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/workflows.
 */
export interface WorkflowCreateRequest {
  /**
   * Name of the workflow. It need not be unique.
   */
  name: string;
  /**
   * Description for readers. It is not passed to steps.
   */
  description?: string;
  /**
   * A WorkflowDefinition.
   */
  definition: {
    [k: string]: unknown;
  };
  /**
   * Visibility. `private`: the creator, owners and admins. `workspace`: all members. Default: `private`.
   */
  sharingScope?: "private" | "workspace";
  /**
   * Permission of the workspace's members on a shared workflow; each includes the previous one. Default: `read`.
   */
  sharePermission?: "read" | "run" | "edit";
  [k: string]: unknown;
}
/**
 * Body of POST /v1/workflows/estimate, with either `workflow_id` or `definition`.
 */
export interface WorkflowEstimateRequest {
  /**
   * Id of a stored workflow.
   */
  workflow_id?: string;
  /**
   * A WorkflowDefinition.
   */
  definition?: {
    [k: string]: unknown;
  };
  /**
   * Version of the stored workflow. Default: the latest.
   */
  version?: number;
  /**
   * Values of the inputs that the definition declares.
   */
  input?: {
    [k: string]: unknown;
  };
  /**
   * Mode of the run. Runs in mode `async` can be retried, which raises the maximum. Default: `sync`.
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
   * Version of the workflow. Default: the latest.
   */
  version?: number;
  /**
   * Caller's identifier of the end user, who becomes the end user of every call of the run.
   */
  user?: string | null;
  /**
   * Labels of the caller. The tags of the workspace among them become tags of every call of the run.
   */
  metadata?: {
    [k: string]: string;
  } | null;
  /**
   * `sync`: wait for the end. `stream`: receive server-sent events for each step. `async`: receive the queued run immediately. Default: `sync`.
   */
  mode?: "sync" | "stream" | "async";
  /**
   * Maximum cost of the run and its sub-workflows in credits, with at most 9 decimal places. A step that could exceed it fails with `max_credits_exceeded`. Default: `max_credits` of the definition.
   */
  max_credits?: number;
  [k: string]: unknown;
}
/**
 * Body of PUT /v1/workflows/{id}. Absent members keep their value.
 */
export interface WorkflowUpdateRequest {
  /**
   * Name of the workflow. It need not be unique.
   */
  name?: string;
  /**
   * Description for readers. It is not passed to steps.
   */
  description?: string;
  /**
   * A WorkflowDefinition, stored as the next version. Runs that have started keep their version.
   */
  definition?: {
    [k: string]: unknown;
  };
  /**
   * Visibility. `private`: the creator, owners and admins. `workspace`: all members. Default: `private`.
   */
  sharingScope?: "private" | "workspace";
  /**
   * Permission of the workspace's members on a shared workflow; each includes the previous one. Default: `read`.
   */
  sharePermission?: "read" | "run" | "edit";
  [k: string]: unknown;
}
/**
 * Body of PATCH /workspaces/{workspaceId}. Absent members keep their value.
 */
export interface WorkspaceUpdateRequest {
  /**
   * Unique name. Paths below /workspaces/ accept it in place of the id.
   */
  name?: string;
  /**
   * Members of a request's `metadata` that the usage of a call keeps, such as `project`. The names `user` and `chain` are reserved. An empty list keeps none. Default: unchanged.
   *
   * @maxItems 3
   */
  tags?: string[];
  bodies?: BodySetting;
}
/**
 * A message of a conversation.
 */
export interface ResponsesMessage {
  /**
   * Always `message`. Optional.
   */
  type?: "message";
  /**
   * Author of the message.
   */
  role: "user" | "assistant" | "system" | "developer";
  /**
   * A string, or a list of parts. Only messages of the user contain images and files.
   */
  content: string | ResponsesContentPart[];
  /**
   * Id of the item, as returned in the response.
   */
  id?: string | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  status?: string | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  phase?: "commentary" | "final_answer" | null;
  [k: string]: unknown;
}
/**
 * Plain text.
 */
export interface ResponsesInputText {
  /**
   * Always `input_text`.
   */
  type: "input_text";
  /**
   * Text of the part.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * An image for the model, as `image_url` or `file_id`.
 */
export interface ResponsesInputImage {
  /**
   * Always `input_image`.
   */
  type: "input_image";
  /**
   * http or https URL of the image, or the image as a data URL.
   */
  image_url?: string | null;
  /**
   * Id of a stored file of the workspace.
   */
  file_id?: string | null;
  /**
   * Level of detail, which determines the number of tokens of the image. `original` is treated as `high`.
   */
  detail?: "auto" | "low" | "high" | "original" | null;
  [k: string]: unknown;
}
/**
 * A document for the model, as `file_id`, `file_data` or `file_url`.
 */
export interface ResponsesInputFile {
  /**
   * Always `input_file`.
   */
  type: "input_file";
  /**
   * Id of a stored file of the workspace.
   */
  file_id?: string | null;
  /**
   * The file as a data URL.
   */
  file_data?: string | null;
  /**
   * http or https URL of the file.
   */
  file_url?: string | null;
  /**
   * File name that the model receives.
   */
  filename?: string | null;
  [k: string]: unknown;
}
/**
 * Text that a client encrypts for its own service. The model receives texts that are not encrypted.
 */
export interface ResponsesSealedPart {
  /**
   * Always `encrypted_content`.
   */
  type: "encrypted_content";
  /**
   * The encrypted text.
   */
  encrypted_content: string;
  [k: string]: unknown;
}
/**
 * Text of an earlier answer.
 */
export interface ResponsesOutputText {
  /**
   * Always `output_text`.
   */
  type: "output_text";
  /**
   * Text of the part.
   */
  text: string;
  /**
   * Accepted as returned in the response, without effect.
   */
  annotations?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  logprobs?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  [k: string]: unknown;
}
/**
 * Text with which the model refused the request.
 */
export interface ResponsesRefusal {
  /**
   * Always `refusal`.
   */
  type: "refusal";
  /**
   * Text of the refusal.
   */
  refusal: string;
  [k: string]: unknown;
}
/**
 * Earlier reasoning as returned in the response, for models that require it.
 */
export interface ResponsesReasoning {
  /**
   * Always `reasoning`.
   */
  type: "reasoning";
  /**
   * Id of the item, as returned in the response.
   */
  id?: string | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  status?: string | null;
  /**
   * Parts of the summary.
   */
  summary: ResponsesSummaryText[];
  /**
   * Parts of the visible reasoning.
   */
  content?: ResponsesReasoningText[] | null;
  /**
   * Reasoning in the provider's own format. It has no effect at other providers.
   */
  encrypted_content?: string | null;
  [k: string]: unknown;
}
/**
 * One part of a reasoning summary.
 */
export interface ResponsesSummaryText {
  /**
   * Always `summary_text`.
   */
  type: "summary_text";
  /**
   * Text of the part.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * One part of visible reasoning.
 */
export interface ResponsesReasoningText {
  /**
   * Always `reasoning_text`.
   */
  type: "reasoning_text";
  /**
   * Text of the part.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * A function call of the model.
 */
export interface ResponsesFunctionCall {
  /**
   * Always `function_call`.
   */
  type: "function_call";
  /**
   * Id of the item, as returned in the response.
   */
  id?: string | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  status?: string | null;
  /**
   * Id of the call. The item with the result repeats it. Default: the `id` of the item.
   */
  call_id?: string | null;
  /**
   * Name of the called tool.
   */
  name: string;
  /**
   * Namespace of the tool.
   */
  namespace?: string | null;
  /**
   * Arguments as JSON text.
   */
  arguments: string;
  [k: string]: unknown;
}
/**
 * Result of a function call.
 */
export interface ResponsesFunctionCallOutput {
  /**
   * Always `function_call_output`.
   */
  type: "function_call_output";
  /**
   * Id of the item, as returned in the response.
   */
  id?: string | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  status?: string | null;
  /**
   * `call_id` of the call, or its `id` when it has none. The call is an earlier item. Default: the earliest call without a result.
   */
  call_id?: string | null;
  /**
   * A string, or a list of parts. Images and files follow the texts of all results.
   */
  output: string | ResponsesInputPart[];
  /**
   * Name of the tool. The model receives it with results whose call is missing.
   */
  name?: string | null;
  [k: string]: unknown;
}
/**
 * A custom tool call of the model.
 */
export interface ResponsesCustomCall {
  /**
   * Always `custom_tool_call`.
   */
  type: "custom_tool_call";
  /**
   * Id of the item, as returned in the response.
   */
  id?: string | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  status?: string | null;
  /**
   * Id of the call. The item with the result repeats it. Default: the `id` of the item.
   */
  call_id?: string | null;
  /**
   * Name of the called tool.
   */
  name: string;
  /**
   * Namespace of the tool.
   */
  namespace?: string | null;
  /**
   * Free text input.
   */
  input: string;
  [k: string]: unknown;
}
/**
 * Result of a custom tool call.
 */
export interface ResponsesCustomCallOutput {
  /**
   * Always `custom_tool_call_output`.
   */
  type: "custom_tool_call_output";
  /**
   * Id of the item, as returned in the response.
   */
  id?: string | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  status?: string | null;
  /**
   * `call_id` of the call, or its `id` when it has none. The call is an earlier item. Default: the earliest call without a result.
   */
  call_id?: string | null;
  /**
   * A string, or a list of parts. Images and files follow the texts of all results.
   */
  output: string | ResponsesInputPart[];
  /**
   * Name of the tool. The model receives it with results whose call is missing.
   */
  name?: string | null;
  [k: string]: unknown;
}
/**
 * A reference to an item of a stored response: of its input or its output.
 */
export interface ResponsesItemReference {
  /**
   * Always `item_reference`.
   */
  type: "item_reference";
  /**
   * Id of the item.
   */
  id: string;
  [k: string]: unknown;
}
/**
 * A summary of the earlier conversation, created by POST /v1/responses/compact. For a compaction of another service, the model receives a notice, because it cannot be decrypted.
 */
export interface ResponsesCompaction {
  /**
   * Always `compaction`.
   */
  type: "compaction";
  /**
   * Id of the item, as returned in the response.
   */
  id?: string | null;
  /**
   * The encrypted summary.
   */
  encrypted_content: string;
  [k: string]: unknown;
}
/**
 * A tool run of the service, as returned in the response.
 */
export interface ResponsesSluiceCall {
  /**
   * Always `sluice_call`.
   */
  type: "sluice_call";
  /**
   * Id of the item, as returned in the response.
   */
  id?: string | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  status?: string | null;
  /**
   * Id that the model gave the call.
   */
  call_id: string;
  /**
   * Name of the called tool.
   */
  name: string;
  /**
   * Arguments as JSON text.
   */
  arguments: string;
  /**
   * Number of the model turn that requested the call. Calls with the same number form one turn.
   */
  round?: number | null;
  /**
   * Result that the model received.
   */
  output: string;
  [k: string]: unknown;
}
/**
 * An image generation, as returned in the response. The model receives its arguments and result text. To show the image to the model, add an `input_image` with the `file_id`.
 */
export interface ResponsesImageCall {
  /**
   * Always `image_generation_call`.
   */
  type: "image_generation_call";
  /**
   * Id of the item, as returned in the response.
   */
  id?: string | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  status?: string | null;
  /**
   * Ignored and not stored.
   */
  result?: string | null;
  /**
   * Id of the stored image.
   */
  file_id?: string | null;
  /**
   * Prompt of the image; used when `arguments` is absent.
   */
  revised_prompt?: string | null;
  /**
   * Id that the model gave the call.
   */
  call_id?: string | null;
  /**
   * Arguments as JSON text, written by the model.
   */
  arguments?: string | null;
  /**
   * Number of the model turn that requested the call. Calls with the same number form one turn.
   */
  round?: number | null;
  /**
   * Result that the model received.
   */
  output?: string | null;
  [k: string]: unknown;
}
/**
 * A tool search call of the model.
 */
export interface ResponsesToolSearchCall {
  /**
   * Always `tool_search_call`.
   */
  type: "tool_search_call";
  /**
   * Id of the item, as returned in the response.
   */
  id?: string | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  status?: string | null;
  /**
   * Id of the call. The item with the result repeats it. Default: the `id` of the item.
   */
  call_id?: string | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  execution?: "server" | "client" | null;
  /**
   * Arguments written by the model.
   */
  arguments?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Result of a tool search: tools that the model may call from this point on. Unknown definitions are ignored.
 */
export interface ResponsesToolSearchOutput {
  /**
   * Always `tool_search_output`.
   */
  type: "tool_search_output";
  /**
   * Id of the item, as returned in the response.
   */
  id?: string | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  status?: string | null;
  /**
   * `call_id` of the call, or its `id` when it has none. The call is an earlier item. Default: the earliest call without a result.
   */
  call_id?: string | null;
  /**
   * Accepted as returned in the response, without effect.
   */
  execution?: "server" | "client" | null;
  /**
   * Definitions of the found tools.
   */
  tools: {
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Tools in addition to those of the request. Tools that the service executes are ignored.
 */
export interface ResponsesAdditionalTools {
  /**
   * Always `additional_tools`.
   */
  type: "additional_tools";
  /**
   * Id of the item, as returned in the response.
   */
  id?: string | null;
  /**
   * Author of the item.
   */
  role?: "developer" | null;
  /**
   * The additional tools.
   */
  tools: ResponsesTool[];
  [k: string]: unknown;
}
/**
 * An item of another service or client. The model receives calls with their results, and messages of agents with their author. Reasoning and items for the other service alone are ignored.
 */
export interface ResponsesForeignItem {
  /**
   * Type of the item.
   */
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
   * Id of the item, as returned in the response.
   */
  id?: string | null;
  /**
   * Id of the call; null when there is none.
   */
  call_id?: string | null;
  [k: string]: unknown;
}
/**
 * A page of API keys, newest first, including revoked ones.
 */
export interface ApiKeyList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: ApiKey[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * An API key without its secret.
 */
export interface ApiKey {
  /**
   * Always `api_key`.
   */
  object: "api_key";
  /**
   * Id of the key. It is not a secret.
   */
  id: string;
  /**
   * Name of the key.
   */
  name: string;
  /**
   * Secret key. Returned only in the response that created the key.
   */
  key?: string;
  /**
   * First characters of the key.
   */
  hint: string;
  /**
   * Owner of the key. The key has the permissions of the member's role.
   */
  member: {
    /**
     * Id of the member.
     */
    id: string;
    /**
     * Name of the member.
     */
    name: string;
    /**
     * Role of the member.
     */
    role: "owner" | "admin" | "developer" | "billing";
    [k: string]: unknown;
  };
  /**
   * Name of the key's quota preset.
   */
  preset: string;
  /**
   * Capabilities and workflows that the key may run: ids, categories such as `image.*`, or `workflow.*`. Null: all.
   */
  tools: string[] | null;
  limits: Limits;
  limit_usage: LimitUsage;
  /**
   * State of the key. Expired and revoked keys are rejected, and so are keys of a disabled member.
   */
  status: "active" | "expired" | "revoked" | "disabled";
  /**
   * Time of creation.
   */
  created_at: string;
  /**
   * Time of the last use, accurate to about a minute; null when the key was never used. Requests of a console session are uses of the key that signed in.
   */
  last_used_at: string | null;
  /**
   * Time of expiry; null when it does not expire.
   */
  expires_at: string | null;
  /**
   * Time of revocation; null when the key is not revoked.
   */
  revoked_at: string | null;
  /**
   * Replaces the workspace's setting for calls of this key. Null: the workspace's setting applies.
   */
  bodies: BodySetting | null;
  [k: string]: unknown;
}
/**
 * Spend in each period that has a credit limit; null for the others.
 */
export interface LimitPeriods {
  day: LimitPeriodUsage;
  week: LimitPeriodUsage;
  month: LimitPeriodUsage;
  total: LimitPeriodUsage;
  [k: string]: unknown;
}
/**
 * A change and its author.
 */
export interface AuditLogEntry {
  /**
   * Always `audit_log.entry`.
   */
  object: "audit_log.entry";
  /**
   * Id of the entry. Ids increase with time.
   */
  id: string;
  /**
   * Time of the change.
   */
  at: string;
  /**
   * Author of the change.
   */
  actor: {
    /**
     * `member`, `operator`, or `system` for changes made by the service.
     */
    type: "member" | "operator" | "system";
    /**
     * Id of the member or operator.
     */
    id: string;
    /**
     * Current name of the member; null for operators and the system.
     */
    name: string | null;
    [k: string]: unknown;
  };
  /**
   * Id of the API key used; null when none was used.
   */
  key_id: string | null;
  /**
   * IP address of the caller; null when unknown.
   */
  ip: string | null;
  /**
   * Request id of the call; null when the change was not made by a request.
   */
  request_id: string | null;
  /**
   * Action in the form `noun.verb`, such as `key.create`.
   */
  action: string;
  /**
   * Id of the changed object.
   */
  subject: string;
  /**
   * Current name of the changed workspace, member or key, or of the workspace of a top-up or correction; null for other objects.
   */
  subject_name: string | null;
  /**
   * State before the change, without secrets; null when the object did not exist.
   */
  before: {
    [k: string]: unknown;
  } | null;
  /**
   * State after the change, without secrets; null when the object no longer exists.
   */
  after: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * A page of the audit log, newest first.
 */
export interface AuditLogList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: AuditLogEntry[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A page of balance alerts, newest first.
 */
export interface BalanceAlertList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: BalanceAlert[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * An alert on the available credits of the workspace.
 */
export interface BalanceAlert {
  /**
   * Always `balance_alert`.
   */
  object: "balance_alert";
  /**
   * Id of the alert.
   */
  id: string;
  /**
   * Name of the alert.
   */
  name: string;
  /**
   * Threshold in credits; null for a threshold in days.
   */
  below_credits: number | null;
  /**
   * Threshold in days; null for a threshold in credits.
   */
  below_days: number | null;
  /**
   * Ids of channels to notify. Empty: the channels subscribed to `balance.low`.
   */
  channel_ids: string[];
  /**
   * True when the alert is active.
   */
  is_active: boolean;
  /**
   * True after the alert has fired, until the credits or days left are a tenth above the threshold. The alert does not fire meanwhile.
   */
  is_low: boolean;
  /**
   * Available credits of the workspace: its balance less the credits held for running calls.
   */
  available: number;
  /**
   * Days that the available credits last at the mean spend of the last 7 days; null without spend.
   */
  days_left: number | null;
  /**
   * Time of the last notification; null when the alert has never fired.
   */
  last_fired_at: string | null;
  /**
   * Events of the alert that no enabled channel receives.
   */
  events_without_channel: "balance.low"[];
  /**
   * Time of creation.
   */
  created_at: string;
  /**
   * Time of the last change.
   */
  updated_at: string;
  [k: string]: unknown;
}
/**
 * A page of ended batch lines in the order of their end, as in the output and error files.
 */
export interface BatchLineList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: {
    /**
     * Id of the line.
     */
    id: string;
    /**
     * `custom_id` of the line.
     */
    custom_id: string;
    /**
     * Response of the line's call, also when it failed; null when the call was never made.
     */
    response: {
      /**
       * HTTP status of the response.
       */
      status_code: number;
      /**
       * Id of the line's job or run.
       */
      request_id: string;
      /**
       * Response body of the endpoint as JSON. Media are stored files.
       */
      body: {
        [k: string]: unknown;
      };
      [k: string]: unknown;
    } | null;
    /**
     * Reason why the call was never made: `batch_expired` or `batch_cancelled`; null otherwise.
     */
    error: {
      /**
       * Stable error code.
       */
      code: string;
      /**
       * Human-readable description of the error. It may be reworded.
       */
      message: string;
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  }[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A page of batches, newest first.
 */
export interface BatchList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: Batch[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A batch in OpenAI's format.
 */
export interface Batch {
  /**
   * Id of the batch: `batch_` and 32 hex digits.
   */
  id: string;
  /**
   * Always `batch`.
   */
  object: "batch";
  /**
   * Path that every line calls.
   */
  endpoint: string;
  /**
   * Slug of the model when all lines name the same; absent otherwise.
   */
  model?: string;
  /**
   * Validation errors of lines that were not created; absent when there are none.
   */
  errors?: {
    /**
     * Always `list`.
     */
    object: "list";
    /**
     * The first 100 errors.
     */
    data: {
      /**
       * Stable error code.
       */
      code: string;
      /**
       * Human-readable description of the error.
       */
      message: string;
      /**
       * Path of the value at fault in the line; null when there is none.
       */
      param: string | null;
      /**
       * Line of the input file, from 1; null when the error concerns the whole file.
       */
      line: number | null;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  /**
   * Id of the input file.
   */
  input_file_id: string;
  /**
   * Always `24h`: time within which all lines start.
   */
  completion_window: "24h";
  /**
   * State of the batch.
   */
  status: "validating" | "failed" | "in_progress" | "finalizing" | "completed" | "expired" | "cancelling" | "cancelled";
  /**
   * Id of the file with the successful responses; absent while there is none.
   */
  output_file_id?: string;
  /**
   * Id of the file with rejected, failed and unmade lines; absent while there is none.
   */
  error_file_id?: string;
  /**
   * Creation of the batch in Unix seconds.
   */
  created_at: number;
  /**
   * End of validation in Unix seconds; absent before.
   */
  in_progress_at?: number;
  /**
   * Time after which no line starts, in Unix seconds.
   */
  expires_at: number;
  /**
   * Time at which all lines had ended or the batch had expired, in Unix seconds; absent before.
   */
  finalizing_at?: number;
  /**
   * Completion in Unix seconds; absent unless the status is `completed`.
   */
  completed_at?: number;
  /**
   * Failure in Unix seconds; absent unless the status is `failed`.
   */
  failed_at?: number;
  /**
   * Expiry in Unix seconds; absent unless the status is `expired`.
   */
  expired_at?: number;
  /**
   * Cancel request in Unix seconds; absent unless the batch was cancelled.
   */
  cancelling_at?: number;
  /**
   * End of cancellation in Unix seconds; absent unless the status is `cancelled`.
   */
  cancelled_at?: number;
  /**
   * Number of lines by state.
   */
  request_counts: {
    /**
     * Number of lines; 0 until validation ends.
     */
    total: number;
    /**
     * Number of lines in the output file.
     */
    completed: number;
    /**
     * Number of lines in the error file. For a failed batch: all lines that did not complete.
     */
    failed: number;
    [k: string]: unknown;
  };
  /**
   * Token usage of all lines that have ended.
   */
  usage: {
    /**
     * Number of input tokens.
     */
    input_tokens: number;
    /**
     * Details of the input tokens.
     */
    input_tokens_details: {
      /**
       * Number of input tokens read from a prompt cache.
       */
      cached_tokens: number;
      [k: string]: unknown;
    };
    /**
     * Number of output tokens.
     */
    output_tokens: number;
    /**
     * Details of the output tokens.
     */
    output_tokens_details: {
      /**
       * Number of reasoning tokens.
       */
      reasoning_tokens: number;
      [k: string]: unknown;
    };
    /**
     * Number of input and output tokens.
     */
    total_tokens: number;
    [k: string]: unknown;
  };
  /**
   * Credits charged for lines that have ended.
   */
  credits_used: number;
  /**
   * Maximum cost of the batch in credits. Absent when there is none.
   */
  max_credits?: number;
  /**
   * Labels of the caller; null when there are none.
   */
  metadata?: {
    [k: string]: string;
  } | null;
  [k: string]: unknown;
}
/**
 * A page of budget alerts, newest first.
 */
export interface BudgetAlertList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: BudgetAlert[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A budget alert of the workspace.
 */
export interface BudgetAlert {
  /**
   * Always `budget_alert`.
   */
  object: "budget_alert";
  /**
   * Id of the alert.
   */
  id: string;
  /**
   * Name of the alert.
   */
  name: string;
  /**
   * Threshold in credits.
   */
  threshold_credits: number;
  /**
   * Period in UTC: a day, a week from Monday, or a month.
   */
  period: "daily" | "weekly" | "monthly";
  /**
   * Ids of channels to notify. Empty: the channels subscribed to `budget.threshold_reached`.
   */
  channel_ids: string[];
  /**
   * True when the alert is active.
   */
  is_active: boolean;
  /**
   * True when calls are rejected with 402 after the threshold is reached, until the period ends.
   */
  stops_calls: boolean;
  /**
   * Percentages of the threshold at which the event `budget.warning` is sent, ascending.
   */
  warn_at: number[];
  /**
   * Credits spent in the current period.
   */
  spent: number;
  /**
   * Start of the current period.
   */
  period_start: string;
  /**
   * Time of the last notification, including warnings; null when the alert has never fired.
   */
  last_fired_at: string | null;
  /**
   * Events of the alert that no enabled channel receives.
   */
  events_without_channel: ("budget.threshold_reached" | "budget.warning")[];
  /**
   * Time of creation.
   */
  created_at: string;
  /**
   * Time of the last change.
   */
  updated_at: string;
  [k: string]: unknown;
}
/**
 * Estimated price of a capability run.
 */
export interface CapabilityEstimate {
  /**
   * Id of the capability.
   */
  capability: string;
  /**
   * Always `credits`.
   */
  currency: "credits";
  unit: PriceUnit;
  /**
   * Typical price of such a run in credits.
   */
  estimated_credits: number;
  /**
   * Maximum price in credits, which a run holds.
   */
  max_credits: number;
  [k: string]: unknown;
}
/**
 * All capabilities in the order of their categories: video, audio, image, document, archive, web, code.
 */
export interface CapabilityList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * The capabilities.
   */
  data: CapabilityEntry[];
  [k: string]: unknown;
}
/**
 * Result of a capability run.
 */
export interface CapabilityRun {
  /**
   * Id of the run's job.
   */
  id: string;
  /**
   * Always `capability.run`.
   */
  object: "capability.run";
  /**
   * Id of the capability.
   */
  capability: string;
  /**
   * Always `completed`.
   */
  status: "completed";
  /**
   * Structured results, such as texts and measurements.
   */
  output: {
    /**
     * Notices about omitted or changed parts of the result; absent when there are none.
     */
    notes?: string[];
    [k: string]: unknown;
  };
  /**
   * Created files, stored in the workspace.
   */
  files: {
    /**
     * Id of the stored file.
     */
    file_id: string;
    /**
     * Download link that needs no key and is valid for about an hour.
     */
    url: string;
    /**
     * Media type of the file.
     */
    content_type: string;
    /**
     * File size in bytes.
     */
    bytes: number;
    /**
     * File name; absent when the file has none.
     */
    name?: string;
    [k: string]: unknown;
  }[];
  /**
   * Credits charged.
   */
  credits_used: number;
  /**
   * Milliseconds from reading the first input to storing the last file.
   */
  duration_ms: number;
  [k: string]: unknown;
}
/**
 * One event of a streamed chat completion. All chunks share `id`, `created` and `model`. The stream ends with `data: [DONE]`, or with an error event and no `[DONE]`.
 */
export interface ChatCompletionChunk {
  /**
   * Id of the chat completion.
   */
  id: string;
  /**
   * Always `chat.completion.chunk`.
   */
  object: "chat.completion.chunk";
  /**
   * Creation time in Unix seconds.
   */
  created: number;
  /**
   * Slug of the model that serves the call.
   */
  model: string;
  /**
   * Changes of the choices. Empty in the chunk with `usage` and in chunks with `sluice`.
   */
  choices: ChatChunkChoice[];
  /**
   * Token usage. Only with `stream_options.include_usage`: null until the last chunk.
   */
  usage?: TokenUsageReport | null;
  /**
   * Service tier of the provider; null or absent when not reported.
   */
  service_tier?: string | null;
  /**
   * Fingerprint of the provider's configuration; null or absent when not reported.
   */
  system_fingerprint?: string | null;
  sluice?: ChatSluiceEvent;
  [k: string]: unknown;
}
/**
 * Change of one choice.
 */
export interface ChatChunkChoice {
  /**
   * Index of the choice, from 0.
   */
  index: number;
  delta: ChatAnswerDelta;
  /**
   * Reason for the end of the choice; null before its last chunk.
   */
  finish_reason: FinishReason | null;
  /**
   * Log probabilities of the new tokens; null when not requested.
   */
  logprobs?: ChatLogprobs | null;
  [k: string]: unknown;
}
/**
 * Parts to append to the message. The first chunk contains `role`.
 */
export interface ChatAnswerDelta {
  /**
   * Role of the message; only in the first chunk.
   */
  role?: "developer" | "system" | "user" | "assistant" | "tool";
  /**
   * Text to append.
   */
  content?: string | null;
  /**
   * Refusal text to append.
   */
  refusal?: string | null;
  /**
   * Visible reasoning to append.
   */
  reasoning_content?: string | null;
  /**
   * Parts of tool calls to append.
   */
  tool_calls?: ToolCallDelta[];
  /**
   * @deprecated
   * Part of a function call to append. Deprecated predecessor of `tool_calls`.
   */
  function_call?: {
    /**
     * Name of the called function.
     */
    name?: string;
    /**
     * JSON text to append to the arguments.
     */
    arguments?: string;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * Part of a tool call. Parts of one call share `index`; the first part has `id` and the name.
 */
export interface ToolCallDelta {
  /**
   * Index of the tool call, from 0.
   */
  index: number;
  /**
   * Id of the call; only in the first part.
   */
  id?: string;
  /**
   * Type of the call; only in the first part.
   */
  type?: string;
  /**
   * Part of a function call.
   */
  function?: {
    /**
     * Name of the called function; only in the first part.
     */
    name?: string;
    /**
     * JSON text to append to the arguments.
     */
    arguments?: string;
    [k: string]: unknown;
  };
  /**
   * Part of a custom tool call.
   */
  custom?: {
    /**
     * Name of the called tool; only in the first part.
     */
    name?: string;
    /**
     * Text to append to the input.
     */
    input?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Token usage of a chat call. Totals include their details.
 */
export interface TokenUsageReport {
  /**
   * Number of input tokens.
   */
  prompt_tokens: number;
  /**
   * Number of output tokens, reasoning included.
   */
  completion_tokens: number;
  /**
   * Number of input and output tokens.
   */
  total_tokens: number;
  /**
   * Details of the input tokens; absent when not reported.
   */
  prompt_tokens_details?: {
    /**
     * Number of input tokens read from the provider's prompt cache.
     */
    cached_tokens?: number;
    /**
     * Number of input tokens written to the provider's prompt cache.
     */
    cache_write_tokens?: number;
    /**
     * Number of audio input tokens.
     */
    audio_tokens?: number;
    /**
     * Number of image input tokens.
     */
    image_tokens?: number;
    [k: string]: unknown;
  };
  /**
   * Details of the output tokens; absent when not reported.
   */
  completion_tokens_details?: {
    /**
     * Number of reasoning tokens.
     */
    reasoning_tokens?: number;
    /**
     * Number of audio output tokens.
     */
    audio_tokens?: number;
    /**
     * Number of image output tokens.
     */
    image_tokens?: number;
    /**
     * Number of tokens of `prediction` that the answer contains.
     */
    accepted_prediction_tokens?: number;
    /**
     * Number of tokens of `prediction` that the answer does not contain.
     */
    rejected_prediction_tokens?: number;
    [k: string]: unknown;
  };
  /**
   * Credits charged for the call; 0 when the answer comes from the response cache.
   */
  credits?: number;
  [k: string]: unknown;
}
/**
 * Response of a chat completion that is not streamed. Additional members of the provider are kept.
 */
export interface ChatCompletion {
  /**
   * Id of the chat completion.
   */
  id: string;
  /**
   * Always `chat.completion`.
   */
  object: "chat.completion";
  /**
   * Creation time in Unix seconds.
   */
  created: number;
  /**
   * Slug of the model that served the call.
   */
  model: string;
  /**
   * The `n` choices.
   */
  choices: ChatChoice[];
  usage?: TokenUsageReport;
  /**
   * Service tier of the provider; null or absent when not reported.
   */
  service_tier?: string | null;
  /**
   * Fingerprint of the provider's configuration; null or absent when not reported.
   */
  system_fingerprint?: string | null;
  sluice?: SluiceSummary;
  [k: string]: unknown;
}
/**
 * One choice of the answer.
 */
export interface ChatChoice {
  /**
   * Index of the choice, from 0.
   */
  index: number;
  message: ChatAnswer;
  finish_reason: FinishReason;
  /**
   * Log probabilities of the tokens; null when not requested.
   */
  logprobs?: ChatLogprobs | null;
  [k: string]: unknown;
}
/**
 * Message of the model.
 */
export interface ChatAnswer {
  /**
   * Always `assistant`.
   */
  role: "assistant";
  /**
   * Text of the answer; null when the message has none.
   */
  content: string | null;
  /**
   * Text with which the model refused the request; null when it did not refuse.
   */
  refusal?: string | null;
  /**
   * Visible reasoning; null or absent when the model shows none.
   */
  reasoning_content?: string | null;
  /**
   * Tool calls that the model requests.
   */
  tool_calls?: ToolCall[];
  /**
   * @deprecated
   * Function call of the model. Deprecated predecessor of `tool_calls`.
   */
  function_call?: {
    /**
     * Name of the called function.
     */
    name: string;
    /**
     * Arguments as JSON text.
     */
    arguments: string;
    [k: string]: unknown;
  } | null;
  /**
   * Sources that the model cites.
   */
  annotations?: {
    [k: string]: unknown;
  }[];
  /**
   * Audio of the answer; null when there is none.
   */
  audio?: {
    /**
     * Id of the audio, for later messages.
     */
    id: string;
    /**
     * Audio in base64.
     */
    data: string;
    /**
     * Transcript of the audio.
     */
    transcript: string;
    /**
     * Time in Unix seconds after which the id is invalid.
     */
    expires_at?: number;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * Session of the console: the member, the role and the key.
 */
export interface ConsoleSession {
  /**
   * Always `console_session`.
   */
  object: "console_session";
  /**
   * Workspace of the member.
   */
  workspace: {
    /**
     * Id of the workspace.
     */
    id: string;
    /**
     * Name of the workspace.
     */
    name: string;
    [k: string]: unknown;
  };
  /**
   * Signed-in member.
   */
  member: {
    /**
     * Id of the member.
     */
    id: string;
    /**
     * Name of the member.
     */
    name: string;
    /**
     * Mail address of the member. Null: none.
     */
    email: string | null;
    [k: string]: unknown;
  };
  /**
   * Role of the member.
   */
  role: "owner" | "admin" | "developer" | "billing";
  /**
   * API key of the session. Its limits apply, and the session ends with it.
   */
  key: {
    /**
     * Id of the key.
     */
    id: string;
    /**
     * Name of the key.
     */
    name: string;
    /**
     * Capabilities and workflows that the key may run: ids, categories such as `image.*`, or `workflow.*`. Null: all.
     */
    tools: string[] | null;
    [k: string]: unknown;
  };
  /**
   * Quota preset of the key.
   */
  preset: string;
  /**
   * Latest end of the session. It also ends after an hour without a request.
   */
  ends_at: string;
  /**
   * Current time of the service.
   */
  time: string;
  /**
   * Version of the service.
   */
  version: string;
  [k: string]: unknown;
}
/**
 * Confirmation of DELETE /v1/conversations/{conversation_id}.
 */
export interface ConversationDeleted {
  /**
   * Id of the conversation.
   */
  id: string;
  /**
   * Always `conversation.deleted`.
   */
  object: "conversation.deleted";
  /**
   * Always `true`.
   */
  deleted: true;
  [k: string]: unknown;
}
/**
 * A page of the items of a conversation.
 */
export interface ConversationItemList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: ResponsesItem[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A stored conversation. Each call that uses it appends its input and output.
 */
export interface Conversation {
  /**
   * Id of the conversation.
   */
  id: string;
  /**
   * Always `conversation`.
   */
  object: "conversation";
  /**
   * Creation time in Unix seconds.
   */
  created_at: number;
  /**
   * Labels of the caller.
   */
  metadata: {
    [k: string]: string;
  };
  [k: string]: unknown;
}
/**
 * Balance of the workspace in credits.
 */
export interface Credits {
  /**
   * Always `credits`.
   */
  object: "credits";
  /**
   * Balance in credits, reserved credits included.
   */
  credits: number;
  /**
   * Credits reserved for running calls.
   */
  held: number;
  /**
   * Credits available to new calls: `credits` minus `held`.
   */
  available: number;
  /**
   * Mean spend per day since midnight UTC seven days ago, or since the workspace was created.
   */
  credits_per_day: number;
  /**
   * Days that the available credits last at `credits_per_day`; null without spend.
   */
  days_left: number | null;
  [k: string]: unknown;
}
/**
 * Confirmation of a deletion.
 */
export interface Deleted {
  /**
   * Id of the deleted object.
   */
  id: string;
  /**
   * Always `true`.
   */
  deleted: true;
  [k: string]: unknown;
}
/**
 * Result of a recovery. The deliveries are attempted immediately.
 */
export interface DeliveriesRecovered {
  /**
   * Number of deliveries that are sent again.
   */
  count: number;
  [k: string]: unknown;
}
/**
 * Confirmation of a repeated delivery. It is attempted immediately.
 */
export interface DeliveryAccepted {
  /**
   * Id of the delivery.
   */
  deliveryId: string;
  [k: string]: unknown;
}
/**
 * A page of deliveries, newest first.
 */
export interface DeliveryList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: Delivery[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Delivery of an event to a channel. Deliveries arrive at least once and in any order; use the id to detect repeats.
 */
export interface Delivery {
  /**
   * Id of the delivery: `webhook-id` and `deliveryId` of every attempt.
   */
  id: string;
  /**
   * Id of the channel; null for mail to a member about a channel.
   */
  channelId: string | null;
  /**
   * Event type.
   */
  event: string;
  /**
   * State of the delivery. `pending`: an attempt is due or in progress. `skipped`: the channel was disabled. `cancelled`: the channel was deleted.
   */
  status: "pending" | "succeeded" | "failed" | "skipped" | "cancelled";
  /**
   * Number of attempts.
   */
  attemptCount: number;
  /**
   * Time of the next attempt; null when none is planned.
   */
  nextAttemptAt: string | null;
  /**
   * Time of creation.
   */
  createdAt: string;
  /**
   * Time of the end; null while the delivery is pending.
   */
  endedAt: string | null;
  /**
   * Body of the webhook request; only in the response for a single delivery.
   */
  body?: string;
  /**
   * Attempts in order; only in the response for a single delivery.
   */
  attempts?: {
    /**
     * Number of the attempt, from 1.
     */
    number: number;
    /**
     * Time of the attempt.
     */
    at: string;
    /**
     * Duration of the attempt in milliseconds.
     */
    ms: number;
    /**
     * Status code of the HTTP or SMTP response; null when there was no response.
     */
    status: number | null;
    /**
     * Error of the attempt; null when the attempt succeeded.
     */
    error: string | null;
    /**
     * First kilobyte of the response; null when there was none.
     */
    responseStart: string | null;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Response of POST /v1/embeddings.
 */
export interface Embeddings {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * One vector per input, in the order of the inputs.
   */
  data: {
    /**
     * Always `embedding`.
     */
    object: "embedding";
    /**
     * Index of the input, from 0.
     */
    index: number;
    /**
     * Vector as a list of numbers, or in base64 as little-endian 32-bit floats, according to `encoding_format`.
     */
    embedding: number[] | string;
    [k: string]: unknown;
  }[];
  /**
   * Slug of the model.
   */
  model: string;
  /**
   * Token usage and charge.
   */
  usage: {
    /**
     * Number of tokens of all inputs.
     */
    prompt_tokens: number;
    /**
     * Equal to `prompt_tokens`, because vectors have no tokens.
     */
    total_tokens: number;
    /**
     * Credits charged for the call; 0 when the answer comes from the response cache.
     */
    credits?: number;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Confirmation of the deletion of an end user's spend limits.
 */
export interface EndUserLimitsDeleted {
  /**
   * Value of `user` in the calls.
   */
  user: string;
  /**
   * Always `true`.
   */
  deleted: true;
  [k: string]: unknown;
}
/**
 * A page of end users with spend limits, sorted by `user`.
 */
export interface EndUserLimitsList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: EndUserLimits[];
  /**
   * `user` of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * `user` of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Spend limits of an end user, and what they leave.
 */
export interface EndUserLimits {
  /**
   * Always `end_user.limits`.
   */
  object: "end_user.limits";
  /**
   * Value of `user` in the calls.
   */
  user: string;
  credits: LimitAmounts;
  /**
   * Percentages of each limit at which a warning is sent.
   */
  warn_at: number[];
  limit_usage: LimitPeriods;
  [k: string]: unknown;
}
/**
 * Maximum spend in credits per period in UTC; null: no limit.
 */
export interface LimitAmounts {
  /**
   * Credits per day.
   */
  day: number | null;
  /**
   * Credits per week from Monday.
   */
  week: number | null;
  /**
   * Credits per month.
   */
  month: number | null;
  /**
   * Credits in total, since the limit was first set.
   */
  total: number | null;
  [k: string]: unknown;
}
/**
 * Estimated price of a call. An estimate is free and holds nothing.
 */
export interface Estimate {
  /**
   * Slug of the model.
   */
  model: string;
  /**
   * Always `credits`.
   */
  currency: "credits";
  unit: PriceUnit;
  /**
   * Typical price in credits. Input texts are counted with the service's tokenizer, extrapolated above one million characters. Images count at their maximum, recordings and files by size. Output counts 512 tokens per choice, or the lower limit of the call. Prompt cache and provider-added tokens are not included.
   */
  estimated_credits: number;
  /**
   * Credits that the call would hold, to the nano-credit. A chat call without an output limit can cost more if the model writes more than was held.
   */
  max_credits: number;
  /**
   * Output tokens of all choices that `max_credits` covers; only for a chat call without an output limit.
   */
  assumed_output_tokens?: number;
  /**
   * Parts of `estimated_credits`.
   */
  breakdown: {
    /**
     * Counted unit, such as `input_tokens`, `output_tokens` or `requests`.
     */
    kind: string;
    /**
     * Number of units.
     */
    quantity: number;
    /**
     * Credits per unit.
     */
    unit_credits: number;
    /**
     * Credits of all units. Fractions of a nano-credit are rounded up once, in the sum.
     */
    credits: number;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Event types that a channel can subscribe to.
 */
export interface EventTypeList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * The event types.
   */
  data: {
    /**
     * Name of the event type.
     */
    name:
      | "run.started"
      | "run.retrying"
      | "run.succeeded"
      | "run.failed"
      | "run.cancelled"
      | "job.completed"
      | "job.failed"
      | "budget.threshold_reached"
      | "budget.warning"
      | "balance.low"
      | "limit.warning"
      | "limit.reached"
      | "template.unavailable";
    /**
     * Group of the event type.
     */
    group: "runs" | "jobs" | "budgets" | "balance" | "limits" | "operator";
    /**
     * Description of the event.
     */
    description: string;
    /**
     * Path of the JSON Schema of `metadata`.
     */
    schema: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Confirmation of the deletion of a fallback chain.
 */
export interface FallbackChainDeleted {
  /**
   * Slug of the model of the deleted chain.
   */
  model: string;
  /**
   * Always `true`.
   */
  deleted: true;
  [k: string]: unknown;
}
/**
 * All fallback chains of the workspace, ordered by model.
 */
export interface FallbackChainList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * The fallback chains.
   */
  data: FallbackChain[];
  [k: string]: unknown;
}
/**
 * Models that serve calls in order when the providers of a model fail.
 */
export interface FallbackChain {
  /**
   * Slug of the requested model.
   */
  model: string;
  /**
   * Fallback models in order: slugs, or objects if the chain has weights. Models that are no longer in the catalogue are skipped.
   *
   * @minItems 1
   * @maxItems 10
   */
  fallbacks: (
    | string
    | {
        /**
         * Slug of the model.
         */
        model: string;
        /**
         * Share of the calls for which this model is tried first, relative to the sum of all weights.
         */
        weight: number;
        [k: string]: unknown;
      }
  )[];
  /**
   * Share of the calls for which the requested model itself is tried first. Present if the chain has weights.
   */
  weight?: number;
  /**
   * Part of the request that determines the draw; null if each call draws. Present if the chain has weights.
   */
  sticky?: "user" | "conversation" | null;
  /**
   * True when the next model of the chain that supports it continues an interrupted text stream.
   */
  continue_streams: boolean;
  /**
   * Time of the last change.
   */
  updated_at: string;
  [k: string]: unknown;
}
/**
 * Confirmation of the deletion of a file.
 */
export interface FileDeleted {
  /**
   * Id of the file.
   */
  id: string;
  /**
   * Always `file`.
   */
  object: "file";
  /**
   * Always `true`.
   */
  deleted: true;
  [k: string]: unknown;
}
/**
 * A page of files.
 */
export interface StoredFileList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: StoredFile[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A stored file in OpenAI's format.
 */
export interface StoredFile {
  /**
   * Id of the file: `file-` and 32 hex digits that sort by creation time, or `file-sample-` and a word for samples of the service.
   */
  id: string;
  /**
   * Always `file`.
   */
  object: "file";
  /**
   * File size in bytes.
   */
  bytes: number;
  /**
   * Creation time in Unix seconds.
   */
  created_at: number;
  /**
   * Expiry in Unix seconds; absent when the file does not expire.
   */
  expires_at?: number;
  /**
   * File name without folders.
   */
  filename: string;
  /**
   * Purpose of the file. `batch_output`: result of a batch.
   */
  purpose: "assistants" | "batch" | "batch_output" | "fine-tune" | "vision" | "user_data" | "evals";
  /**
   * Always `processed`: a listed file is ready for use.
   */
  status: "processed";
  [k: string]: unknown;
}
/**
 * State of one process. Readiness also lists the dependencies of the process.
 */
export interface Health {
  /**
   * `ok` when the process is live or ready.
   */
  status: "ok" | "unavailable";
  /**
   * State of each dependency by name.
   */
  checks?: {
    [k: string]: "ok" | "failed";
  };
  [k: string]: unknown;
}
/**
 * A page of jobs without their results, newest first.
 */
export interface JobList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: Job[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * An asynchronous job.
 */
export interface Job {
  /**
   * Id of the job.
   */
  id: string;
  /**
   * Always `job`.
   */
  object: "job";
  /**
   * Modality of the model, or output type of the capability.
   */
  modality: string;
  /**
   * State of the job.
   */
  status: "queued" | "processing" | "completed" | "failed" | "cancelled";
  /**
   * Progress from 0 to 1.
   */
  progress: number;
  /**
   * Requested model or capability; null when the message was rejected before it was read.
   */
  model: string | null;
  /**
   * Creation time in Unix seconds.
   */
  created: number;
  /**
   * Start in Unix seconds; absent before.
   */
  started?: number;
  /**
   * End in Unix seconds, also of failed and cancelled jobs; absent before.
   */
  completed?: number;
  /**
   * Results; absent before completion. Text: the chat completion. Media: one element per result, with `file_id` and a `url` that is valid for about an hour. Capability: the run.
   */
  data?: {
    [k: string]: unknown;
  }[];
  /**
   * Credits charged; absent before the end.
   */
  credits_used?: number;
  /**
   * Error in the format of ErrorEnvelope; absent unless the job failed.
   */
  error?: {
    /**
     * Human-readable description of the error. It may be reworded.
     */
    message: string;
    /**
     * Category of the error.
     */
    type: string;
    /**
     * Stable error code.
     */
    code: string;
    /**
     * Path of the request parameter at fault; null when there is none.
     */
    param: string | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Credits of the API key of the request: balance, spend and spend limits.
 */
export interface KeyCredits {
  /**
   * Always `key.credits`.
   */
  object: "key.credits";
  /**
   * Id of the key.
   */
  key_id: string;
  /**
   * Balance of the workspace in credits.
   */
  balance: {
    /**
     * Balance in credits, reserved credits included.
     */
    credits: number;
    /**
     * Credits reserved for running calls.
     */
    held: number;
    /**
     * Credits available to new calls: `credits` minus `held`.
     */
    available: number;
    [k: string]: unknown;
  };
  /**
   * Credits charged since the first call of the key, equal to `total.credits` of GET /v1/usage.
   */
  credits_used: number;
  /**
   * Spend limits that apply to the calls of the key.
   */
  limits: {
    /**
     * Limits of the key; null when it has none.
     */
    key: KeyCreditsLimits | null;
    /**
     * Limits of the member that the key belongs to; null when there are none.
     */
    member: KeyCreditsLimits | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Limits by period in UTC. A week begins on Monday, and `total` never resets.
 */
export interface KeyCreditsLimits {
  day: KeyCreditsLimit;
  week: KeyCreditsLimit;
  month: KeyCreditsLimit;
  total: KeyCreditsLimit;
  [k: string]: unknown;
}
/**
 * Usage and spend of the API key of the request. `today` and `month` are in UTC. `total` begins with the first call of the key; calls of a key that it replaced are not included.
 */
export interface KeyUsage {
  /**
   * Always `key.usage`.
   */
  object: "key.usage";
  /**
   * Id of the key.
   */
  key_id: string;
  today: KeyUsageSum;
  month: KeyUsageSum;
  total: KeyUsageSum;
  /**
   * Usage of the current month by model, highest spend first. At most 100 models.
   *
   * @maxItems 100
   */
  models: KeyUsageSum[];
  /**
   * True when the key used more than 100 models in the month.
   */
  has_more_models: boolean;
  [k: string]: unknown;
}
/**
 * Sums of ended calls.
 */
export interface KeyUsageSum {
  /**
   * Start of the period; only in `today` and `month`.
   */
  start_time?: string;
  /**
   * Slug of the model that served or was requested, or id of the capability; only in `models`.
   */
  model?: string;
  /**
   * Number of ended calls.
   */
  calls: number;
  /**
   * Number of failed and lost calls.
   */
  failed: number;
  /**
   * Credits charged.
   */
  credits: number;
  /**
   * Number of tokens.
   */
  tokens: number;
  [k: string]: unknown;
}
/**
 * The API key of the request: its workspace, balance and limits.
 */
export interface Key {
  /**
   * Always `key`.
   */
  object: "key";
  /**
   * Id of the key. It is not a secret.
   */
  id: string;
  /**
   * Name of the key.
   */
  name: string;
  /**
   * Workspace that makes and pays the calls. Paths below `/workspaces/` accept its id or name.
   */
  workspace: {
    /**
     * Id of the workspace.
     */
    id: string;
    /**
     * Name of the workspace.
     */
    name: string;
    [k: string]: unknown;
  };
  /**
   * Role of the key's owner.
   */
  role: "owner" | "admin" | "developer" | "billing";
  /**
   * Quota preset of the key. It sets the limits below.
   */
  preset: string;
  /**
   * Capabilities and workflows that the key may run: ids, categories such as `image.*`, or `workflow.*`. Null: all.
   */
  tools: string[] | null;
  limits: Limits;
  limit_usage: LimitUsage;
  /**
   * Owner of the key, whose limits apply to the key, too.
   */
  member: {
    /**
     * Id of the member.
     */
    id: string;
    limits: Limits;
    limit_usage: LimitUsage;
    [k: string]: unknown;
  };
  /**
   * Balance of the workspace in credits.
   */
  balance: {
    /**
     * Balance in credits, reserved credits included.
     */
    credits: number;
    /**
     * Credits reserved for running calls.
     */
    held: number;
    /**
     * Credits available to new calls: `credits` minus `held`.
     */
    available: number;
    [k: string]: unknown;
  };
  /**
   * Calls of the workspace in the last 60 seconds, including rejected calls and this one.
   */
  window: {
    /**
     * Length of the window in seconds: always 60.
     */
    seconds: 60;
    /**
     * Maximum number of calls for this key; null: no limit.
     */
    limit: number | null;
    /**
     * Number of calls in the window.
     */
    used: number;
    /**
     * Number of calls that are allowed now; null without a limit.
     */
    left: number | null;
    [k: string]: unknown;
  };
  /**
   * Tokens of the workspace on the current day in UTC, including tokens reserved by running calls.
   */
  daily_tokens: {
    /**
     * Maximum number of tokens for this key; null: no limit.
     */
    limit: number | null;
    /**
     * Number of used and reserved tokens.
     */
    used: number;
    /**
     * Number of remaining tokens; null without a limit.
     */
    left: number | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A movement of credits. The balance of a workspace is the sum of its entries.
 */
export interface LedgerEntry {
  /**
   * Always `ledger_entry`.
   */
  object: "ledger_entry";
  /**
   * Id of the entry. Ids increase with time.
   */
  id: string;
  /**
   * `settle`: charge of a call. `top_up`: credits added by an operator. `correction`: credits added or removed by an operator.
   */
  kind: "settle" | "top_up" | "correction";
  /**
   * Credits of the movement; negative when credits were removed.
   */
  credits: number;
  /**
   * Id of the settled call, or the operator's id of the top-up or correction.
   */
  source_id: string;
  /**
   * Attempt of the call; 0 for top-ups and corrections.
   */
  attempt: number;
  /**
   * Note of the operator; null when there is none.
   */
  note: string | null;
  /**
   * Time of the movement.
   */
  at: string;
  [k: string]: unknown;
}
/**
 * A page of the ledger, newest first.
 */
export interface LedgerList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: LedgerEntry[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Event of a streamed media call: `queued`, `processing`, then `completed` with the results or `failed` with the error. `[DONE]` follows the last event.
 */
export interface MediaState {
  /**
   * State of the job.
   */
  status: "queued" | "processing" | "completed" | "failed";
  /**
   * Creation time of the results in Unix seconds; only when completed.
   */
  created?: number;
  /**
   * Results; only when completed.
   */
  data?: MediaResult[];
  /**
   * Error in the format of ErrorEnvelope; only when failed.
   */
  error?: {
    /**
     * Human-readable description of the error. It may be reworded.
     */
    message: string;
    /**
     * Category of the error.
     */
    type: string;
    /**
     * Stable error code.
     */
    code: string;
    /**
     * Path of the request parameter at fault; null when there is none.
     */
    param: string | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * One image, piece of music, video or mesh.
 */
export interface MediaResult {
  /**
   * Download link that needs no key and is valid for about an hour. Absent with `b64_json`.
   */
  url?: string;
  /**
   * Content in base64; only with `response_format: b64_json`.
   */
  b64_json?: string;
  /**
   * Id of the permanently stored file. Absent in streams.
   */
  file_id?: string;
  /**
   * Media type of the content.
   */
  content_type?: string;
  /**
   * Length of music and video in seconds.
   */
  duration_seconds?: number;
  [k: string]: unknown;
}
/**
 * Response of the endpoints for images, music and meshes.
 */
export interface MediaResults {
  /**
   * Creation time in Unix seconds.
   */
  created: number;
  /**
   * Results in the order of the provider.
   */
  data: MediaResult[];
  /**
   * Credits charged.
   */
  credits_used: number;
  [k: string]: unknown;
}
/**
 * A page of members, newest first, including disabled ones.
 */
export interface MemberList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: Member[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A member of the workspace.
 */
export interface Member {
  /**
   * Always `member`.
   */
  object: "member";
  /**
   * Id of the member.
   */
  id: string;
  /**
   * Name of the member.
   */
  name: string;
  /**
   * E-mail address for notices about the workspace; null when none is set.
   */
  email: string | null;
  /**
   * Role of the member.
   */
  role: "owner" | "admin" | "developer" | "billing";
  /**
   * False when the member is disabled: the member's keys are rejected.
   */
  is_active: boolean;
  limits: Limits;
  limit_usage: LimitUsage;
  /**
   * Time of creation.
   */
  created_at: string;
  [k: string]: unknown;
}
/**
 * Start of the message, without content. Token counts are 0 when the provider reports them only at the end.
 */
export interface MessageStart {
  /**
   * Always `message_start`.
   */
  type: "message_start";
  message: Message;
  [k: string]: unknown;
}
/**
 * Response of POST /v1/messages that is not streamed.
 */
export interface Message {
  /**
   * Id of the message.
   */
  id: string;
  /**
   * Always `message`.
   */
  type: "message";
  /**
   * Always `assistant`.
   */
  role: "assistant";
  /**
   * Slug of the model that served the call.
   */
  model: string;
  /**
   * Content blocks of the answer.
   */
  content: MessageBlock[];
  /**
   * Reason for the end of the answer; null only in `message_start`.
   */
  stop_reason: MessageStopReason | null;
  /**
   * Stop sequence that ended the answer; null when none did or the provider does not report it.
   */
  stop_sequence: string | null;
  /**
   * Details of a refusal; null otherwise.
   */
  stop_details?: {
    /**
     * Always `refusal`.
     */
    type: "refusal";
    /**
     * Category of the refusal; null when not reported.
     */
    category?: string | null;
    /**
     * Explanation of the refusal; null when not reported.
     */
    explanation?: string | null;
    [k: string]: unknown;
  } | null;
  /**
   * Always null.
   */
  container?: null;
  usage: MessageUsage;
  [k: string]: unknown;
}
/**
 * Text of the answer.
 */
export interface MessageText {
  /**
   * Always `text`.
   */
  type: "text";
  /**
   * Text of the block.
   */
  text: string;
  /**
   * Always null.
   */
  citations?: null;
  [k: string]: unknown;
}
/**
 * Visible thinking. Send it back unchanged in the next turn.
 */
export interface MessageThinking {
  /**
   * Always `thinking`.
   */
  type: "thinking";
  /**
   * Text of the thinking.
   */
  thinking: string;
  /**
   * Signature of the provider; empty when the provider signs nothing.
   */
  signature: string;
  [k: string]: unknown;
}
/**
 * Encrypted thinking that only its provider can read. Send it back unchanged in the next turn.
 */
export interface MessageRedactedThinking {
  /**
   * Always `redacted_thinking`.
   */
  type: "redacted_thinking";
  /**
   * Encrypted data.
   */
  data: string;
  [k: string]: unknown;
}
/**
 * Tool call that the model requests from the client.
 */
export interface MessageToolUse {
  /**
   * Always `tool_use`.
   */
  type: "tool_use";
  /**
   * Id of the call. The `tool_result` block repeats it.
   */
  id: string;
  /**
   * Name of the called tool.
   */
  name: string;
  /**
   * Arguments written by the model. Validate them before use. Invalid JSON is returned as text under `INVALID_JSON`.
   */
  input: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Token usage of the call. The three input counts do not overlap.
 */
export interface MessageUsage {
  /**
   * Number of input tokens outside the prompt cache.
   */
  input_tokens: number;
  /**
   * Number of input tokens written to the prompt cache.
   */
  cache_creation_input_tokens: number;
  /**
   * Number of input tokens read from the prompt cache.
   */
  cache_read_input_tokens: number;
  /**
   * Cache writes by lifetime; absent when not reported.
   */
  cache_creation?: {
    /**
     * Number of tokens cached for five minutes.
     */
    ephemeral_5m_input_tokens: number;
    /**
     * Number of tokens cached for an hour.
     */
    ephemeral_1h_input_tokens: number;
    [k: string]: unknown;
  };
  /**
   * Number of output tokens, thinking included.
   */
  output_tokens: number;
  /**
   * Details of the output tokens; absent when not reported.
   */
  output_tokens_details?: {
    /**
     * Number of thinking tokens.
     */
    thinking_tokens: number;
    [k: string]: unknown;
  };
  /**
   * Always null.
   */
  server_tool_use?: null;
  /**
   * Service tier that served the call: `priority`, or `standard` for every other tier.
   */
  service_tier?: "standard" | "priority";
  /**
   * Credits charged for the call; 0 when the answer comes from the response cache. Absent in `message_start`.
   */
  credits?: number;
  [k: string]: unknown;
}
/**
 * Keep-alive event without content.
 */
export interface MessagePing {
  /**
   * Always `ping`.
   */
  type: "ping";
  [k: string]: unknown;
}
/**
 * Start of a block, without content, except for redacted thinking.
 */
export interface MessageBlockStart {
  /**
   * Always `content_block_start`.
   */
  type: "content_block_start";
  /**
   * Index of the block, from 0.
   */
  index: number;
  content_block: MessageBlock;
  [k: string]: unknown;
}
/**
 * Part to append to the current block.
 */
export interface MessageBlockDelta {
  /**
   * Always `content_block_delta`.
   */
  type: "content_block_delta";
  /**
   * Index of the block, from 0.
   */
  index: number;
  delta: MessagePiece;
  [k: string]: unknown;
}
/**
 * Text to append.
 */
export interface MessageTextPiece {
  /**
   * Always `text_delta`.
   */
  type: "text_delta";
  /**
   * Text to append.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * JSON text to append to the tool input. It is complete only at the end of the block.
 */
export interface MessageInputPiece {
  /**
   * Always `input_json_delta`.
   */
  type: "input_json_delta";
  /**
   * JSON text to append.
   */
  partial_json: string;
  [k: string]: unknown;
}
/**
 * Thinking to append.
 */
export interface MessageThinkingPiece {
  /**
   * Always `thinking_delta`.
   */
  type: "thinking_delta";
  /**
   * Thinking text to append.
   */
  thinking: string;
  [k: string]: unknown;
}
/**
 * Complete signature of the current thinking block.
 */
export interface MessageSignature {
  /**
   * Always `signature_delta`.
   */
  type: "signature_delta";
  /**
   * The signature.
   */
  signature: string;
  [k: string]: unknown;
}
/**
 * End of the current block.
 */
export interface MessageBlockStop {
  /**
   * Always `content_block_stop`.
   */
  type: "content_block_stop";
  /**
   * Index of the block, from 0.
   */
  index: number;
  [k: string]: unknown;
}
/**
 * Stop reason, and the token usage of the whole call.
 */
export interface MessageDelta {
  /**
   * Always `message_delta`.
   */
  type: "message_delta";
  /**
   * Changed members of the message.
   */
  delta: {
    stop_reason: MessageStopReason;
    /**
     * Stop sequence that ended the answer; null when none did or the provider does not report it.
     */
    stop_sequence: string | null;
    /**
     * Details of a refusal; null otherwise.
     */
    stop_details?: {
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  };
  usage: MessageUsage;
  [k: string]: unknown;
}
/**
 * End of the message.
 */
export interface MessageStop {
  /**
   * Always `message_stop`.
   */
  type: "message_stop";
  [k: string]: unknown;
}
/**
 * Failure of the stream.
 */
export interface MessageError {
  /**
   * Always `error`.
   */
  type: "error";
  /**
   * The error.
   */
  error: {
    /**
     * Category of the error.
     */
    type: string;
    /**
     * Human-readable description of the error. It may be reworded.
     */
    message: string;
    [k: string]: unknown;
  };
  /**
   * Request id of the call.
   */
  request_id?: string;
  [k: string]: unknown;
}
/**
 * All models that can be called now.
 */
export interface ModelList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * The models.
   */
  data: ModelEntry[];
  [k: string]: unknown;
}
/**
 * A page of notification channels, newest first.
 */
export interface ChannelList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: Channel[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A notification channel.
 */
export interface Channel {
  /**
   * Id of the channel.
   */
  id: string;
  /**
   * Type of the channel.
   */
  type: "email" | "slack" | "telegram" | "webhook";
  /**
   * Name of the channel.
   */
  name: string;
  /**
   * False when the channel is disabled: nothing is delivered.
   */
  enabled: boolean;
  /**
   * Configuration without credentials. URLs are shown as origin and last four characters.
   */
  config: {
    [k: string]: string;
  };
  /**
   * Names of the stored credentials.
   */
  credentials: string[];
  /**
   * False when webhooks are sent unsigned because the channel has no signing secret.
   */
  hasSigningSecret: boolean;
  /**
   * Signing secret of a webhook; only in the response that created the channel.
   */
  signingSecret?: string;
  /**
   * Reason why the service disabled the channel. `gone`: the receiver permanently rejects deliveries. `failing`: all attempts failed for five days. Null otherwise.
   */
  disabledReason: "gone" | "failing" | null;
  /**
   * Time since which every attempt has failed; null otherwise.
   */
  failingSince: string | null;
  /**
   * Id of the member who created the channel; null when an operator created it.
   */
  createdByUserId: string | null;
  /**
   * Time of creation.
   */
  createdAt: string;
  /**
   * Time of the last change.
   */
  updatedAt: string;
  [k: string]: unknown;
}
/**
 * A page of the workspace's API keys, newest first, including revoked ones.
 */
export interface OperatorApiKeyList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: OperatorApiKey[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * An API key without its secret.
 */
export interface OperatorApiKey {
  /**
   * Always `api_key`.
   */
  object: "api_key";
  /**
   * Id of the key. It is not a secret.
   */
  id: string;
  /**
   * Name of the key.
   */
  name: string;
  /**
   * Secret key. Returned only in the response that created the key.
   */
  key?: string;
  /**
   * First characters of the key.
   */
  hint: string;
  /**
   * Owner of the key. The key has the permissions of the member's role.
   */
  member: {
    /**
     * Id of the member.
     */
    id: string;
    /**
     * Name of the member.
     */
    name: string;
    /**
     * Role of the member.
     */
    role: "owner" | "admin" | "developer" | "billing";
    [k: string]: unknown;
  };
  /**
   * Name of the key's quota preset.
   */
  preset: string;
  /**
   * Capabilities and workflows that the key may run: ids, categories such as `image.*`, or `workflow.*`. Null: all.
   */
  tools: string[] | null;
  limits: Limits;
  limit_usage: LimitUsage;
  /**
   * Time of creation.
   */
  created_at: string;
  /**
   * Time of the last use, accurate to about a minute; null when the key was never used. Requests of a console session are uses of the key that signed in.
   */
  last_used_at: string | null;
  /**
   * Time of expiry; null when it does not expire.
   */
  expires_at: string | null;
  /**
   * Time of revocation; null when the key is not revoked.
   */
  revoked_at: string | null;
  [k: string]: unknown;
}
/**
 * A change and its author.
 */
export interface OperatorAuditLogEntry {
  /**
   * Always `audit_log.entry`.
   */
  object: "audit_log.entry";
  /**
   * Id of the entry. Ids increase with time.
   */
  id: string;
  /**
   * Id of the workspace; null when the change concerns none.
   */
  workspace_id: string | null;
  /**
   * Time of the change.
   */
  at: string;
  /**
   * Author of the change.
   */
  actor: {
    /**
     * `member`, `operator`, or `system` for changes made by the service.
     */
    type: "member" | "operator" | "system";
    /**
     * Id of the member. For an operator: name of the token, or `command`.
     */
    id: string;
    /**
     * Current name of the member; null for operators and the system.
     */
    name: string | null;
    [k: string]: unknown;
  };
  /**
   * Id of the API key used; null when none was used.
   */
  key_id: string | null;
  /**
   * IP address of the caller; null when unknown.
   */
  ip: string | null;
  /**
   * Request id of the call; null when the change was not made by a request.
   */
  request_id: string | null;
  /**
   * Action in the form `noun.verb`, such as `key.create`.
   */
  action: string;
  /**
   * Id of the changed object.
   */
  subject: string;
  /**
   * Current name of the changed workspace, member or key, or of the workspace of a top-up or correction; null for other objects.
   */
  subject_name: string | null;
  /**
   * State before the change, without secrets; null when the object did not exist.
   */
  before: {
    [k: string]: unknown;
  } | null;
  /**
   * State after the change, without secrets; null when the object no longer exists.
   */
  after: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * A page of the audit log of all workspaces, newest first.
 */
export interface OperatorAuditLogList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: OperatorAuditLogEntry[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Result of a check of catalogue files.
 */
export interface OperatorCatalogueCheck {
  /**
   * True when the files are valid.
   */
  is_valid: boolean;
  /**
   * Version of the resulting catalogue; null when the files are invalid.
   */
  version: string | null;
  /**
   * Number of models that could be served.
   */
  models: number;
  /**
   * Models that could not be served.
   */
  unroutable: {
    /**
     * Slug of the model.
     */
    model: string;
    /**
     * Reason why the model could not be served.
     */
    reason: string;
    [k: string]: unknown;
  }[];
  /**
   * Faults of the files.
   */
  faults: {
    /**
     * Name of the file.
     */
    file: string;
    /**
     * Line in the file, from 1; null when unknown.
     */
    line: number | null;
    /**
     * Path in the file, such as `models[3].pricing.input_per_million`.
     */
    place: string;
    /**
     * Description of the fault.
     */
    message: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * The current catalogue.
 */
export interface OperatorCatalogue {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Version of the catalogue. Processes with the same files and keys have the same version.
   */
  version: string;
  /**
   * Models of the catalogue.
   */
  data: {
    /**
     * Slug of the model.
     */
    model: string;
    /**
     * True when the model can be called.
     */
    is_routable: boolean;
    /**
     * Reason why the model cannot be called; null when it can.
     */
    reason: string | null;
    /**
     * Modality of the model; null when it cannot be called.
     */
    modality: string | null;
    /**
     * Available sources in the order of use.
     */
    sources: {
      /**
       * Id of the provider.
       */
      provider: string;
      /**
       * Name of the model at the provider.
       */
      model: string;
      [k: string]: unknown;
    }[];
    /**
     * Price of the model; null when it cannot be called.
     */
    pricing: Pricing | null;
    /**
     * Source and date of the price; null when unknown.
     */
    price_source: {
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * A top-up or correction, and the balance after it.
 */
export interface OperatorCreditMove {
  /**
   * Always `credit_move`.
   */
  object: "credit_move";
  /**
   * Idempotency id of the movement, together with workspace and kind.
   */
  id: string;
  /**
   * Id of the workspace.
   */
  workspace_id: string;
  /**
   * `top_up` or `correction`.
   */
  kind: "top_up" | "correction";
  /**
   * Credits of the movement; negative when credits were removed.
   */
  credits: number;
  /**
   * Note of the operator; null when there is none.
   */
  note: string | null;
  /**
   * Time of the movement.
   */
  at: string;
  balance: OperatorCredits;
  [k: string]: unknown;
}
/**
 * Balance of a workspace in credits.
 */
export interface OperatorCredits {
  /**
   * Always `credits`.
   */
  object: "credits";
  /**
   * Id of the workspace.
   */
  workspace_id: string;
  /**
   * Balance in credits, reserved credits included.
   */
  credits: number;
  /**
   * Credits reserved for running calls.
   */
  held: number;
  /**
   * Credits available to new calls: `credits` minus `held`.
   */
  available: number;
  [k: string]: unknown;
}
/**
 * A page of open dead letters, newest first.
 */
export interface OperatorDeadLetterList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: OperatorDeadLetter[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A message or job that no worker could process. Its body is not returned.
 */
export interface OperatorDeadLetter {
  /**
   * Always `dead_letter`.
   */
  object: "dead_letter";
  /**
   * Id of the dead letter.
   */
  id: string;
  /**
   * Name of the NATS stream.
   */
  stream: string;
  /**
   * Sequence number in the stream.
   */
  stream_seq: string;
  /**
   * NATS subject of the message.
   */
  subject: string;
  /**
   * Id of the workspace; null when unknown.
   */
  workspace_id: string | null;
  /**
   * Id of the message; null when it had none.
   */
  message_id: string | null;
  /**
   * Id of the job; null for a call, which cannot be redriven.
   */
  job_id: string | null;
  /**
   * Reason why the message became a dead letter.
   */
  reason: string;
  /**
   * Number of deliveries to workers.
   */
  deliveries: number;
  /**
   * Size of the message body in bytes.
   */
  body_bytes: number;
  /**
   * Time at which the message became a dead letter.
   */
  at: string;
  [k: string]: unknown;
}
/**
 * Confirmation of a deletion.
 */
export interface OperatorDeleted {
  /**
   * Id of the deleted object.
   */
  id: string;
  /**
   * Always `true`.
   */
  deleted: true;
  [k: string]: unknown;
}
/**
 * A hold closed by an operator.
 */
export interface OperatorHoldClosed {
  /**
   * Always `hold_closed`.
   */
  object: "hold_closed";
  /**
   * Id of the hold: job id and attempt, joined by a dot.
   */
  id: string;
  /**
   * Id of the job.
   */
  job_id: string;
  /**
   * Attempt of the job, from 1.
   */
  attempt: number;
  /**
   * Id of the workspace.
   */
  workspace_id: string;
  /**
   * Held credits.
   */
  held: number;
  /**
   * Charged credits.
   */
  credits: number;
  [k: string]: unknown;
}
/**
 * A page of open holds of all workspaces, newest first.
 */
export interface OperatorHoldList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: OperatorHold[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Credits reserved for a call or job that has not ended.
 */
export interface OperatorHold {
  /**
   * Always `hold`.
   */
  object: "hold";
  /**
   * Id of the hold: job id and attempt, joined by a dot.
   */
  id: string;
  /**
   * Id of the job; for a call without a job, its `x-request-id`.
   */
  job_id: string;
  /**
   * Attempt of the job, from 1.
   */
  attempt: number;
  /**
   * Id of the workspace.
   */
  workspace_id: string;
  /**
   * Name of the workspace.
   */
  workspace: string;
  /**
   * Id of the API key.
   */
  key_id: string;
  /**
   * Slug of the model, or id of the capability.
   */
  model: string;
  /**
   * Held credits.
   */
  credits: number;
  /**
   * Time of creation.
   */
  created_at: string;
  /**
   * Time after which the janitor releases the hold.
   */
  deadline: string;
  /**
   * True when the deadline has passed.
   */
  is_overdue: boolean;
  /**
   * Time since which the result of the job's paid work is unknown; null when it is known.
   */
  unknown_since: string | null;
  [k: string]: unknown;
}
/**
 * State of a job, without its request and result.
 */
export interface OperatorJob {
  /**
   * Always `job`.
   */
  object: "job";
  /**
   * Id of the job.
   */
  id: string;
  /**
   * Id of the workspace.
   */
  workspace_id: string;
  /**
   * Id of the API key; null when the message was rejected before the key was found.
   */
  key_id: string | null;
  /**
   * Pool of the job.
   */
  pool: string;
  /**
   * Lane of the job.
   */
  lane: "live" | "batch";
  /**
   * Kind of the call.
   */
  kind: string;
  /**
   * Modality of the job.
   */
  modality: string;
  /**
   * Requested model or capability; null when unknown.
   */
  model: string | null;
  /**
   * State of the job.
   */
  state: "queued" | "running" | "completed" | "failed" | "cancelled" | "refused";
  /**
   * Progress from 0 to 1.
   */
  progress: number;
  /**
   * Current attempt, from 1.
   */
  attempt: number;
  /**
   * Number of times the job was queued.
   */
  dispatch: number;
  /**
   * Number of times a worker started this attempt.
   */
  claims: number;
  /**
   * Number of times the job was deferred because no source was available.
   */
  rests: number;
  /**
   * Id of the current or last worker; null before the first.
   */
  worker: string | null;
  /**
   * End of the worker's lease; null when no worker has the job.
   */
  lease_until: string | null;
  /**
   * True when a provider works on the job and can be polled.
   */
  is_at_provider: boolean;
  /**
   * True when the job is to be cancelled.
   */
  is_cancel_requested: boolean;
  /**
   * Time since which the result of the job's paid work is unknown; null when it is known.
   */
  unknown_since: string | null;
  /**
   * Error code of a failed job; null otherwise.
   */
  error_code: string | null;
  /**
   * Credits charged; null before the end.
   */
  credits: number | null;
  /**
   * Open holds of the job.
   */
  held: {
    /**
     * Attempt of the hold, from 1.
     */
    attempt: number;
    /**
     * Held credits.
     */
    credits: number;
    /**
     * Time after which the janitor releases the hold.
     */
    deadline: string;
    [k: string]: unknown;
  }[];
  /**
   * Id of the workflow run of which the job is a step; null otherwise.
   */
  run_id: string | null;
  /**
   * Id of the step; null otherwise.
   */
  step_id: string | null;
  /**
   * Time of creation.
   */
  created_at: string;
  /**
   * Time of the start; null before.
   */
  started_at: string | null;
  /**
   * Time of the end; null before.
   */
  ended_at: string | null;
  /**
   * Time at which the job fails if it has not ended.
   */
  deadline: string;
  [k: string]: unknown;
}
/**
 * Comparison of all balances with the sums of their ledger entries and holds.
 */
export interface OperatorLedgerAudit {
  /**
   * True when there are no faults.
   */
  ok: boolean;
  /**
   * Differences found.
   */
  faults: {
    /**
     * Id of the workspace.
     */
    workspace_id: string;
    /**
     * Type of the difference.
     */
    fault: string;
    /**
     * Expected amount in nano-credits.
     */
    expected: string;
    /**
     * Stored amount in nano-credits.
     */
    found: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * A movement of credits. The balance of a workspace is the sum of its entries.
 */
export interface OperatorLedgerEntry {
  /**
   * Always `ledger_entry`.
   */
  object: "ledger_entry";
  /**
   * Id of the entry. Ids increase with time.
   */
  id: string;
  /**
   * `settle`: charge of a call. `top_up`: credits added by an operator. `correction`: credits added or removed by an operator.
   */
  kind: "settle" | "top_up" | "correction";
  /**
   * Credits of the movement; negative when credits were removed.
   */
  credits: number;
  /**
   * Id of the settled call, or the operator's id of the top-up or correction.
   */
  source_id: string;
  /**
   * Attempt of the call; 0 for top-ups and corrections.
   */
  attempt: number;
  /**
   * Note of the operator; null when there is none.
   */
  note: string | null;
  /**
   * Time of the movement.
   */
  at: string;
  [k: string]: unknown;
}
/**
 * A page of the workspace's ledger, newest first.
 */
export interface OperatorLedgerList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: OperatorLedgerEntry[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A page of the workspace's members, newest first.
 */
export interface OperatorMemberList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: OperatorMember[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A member of a workspace.
 */
export interface OperatorMember {
  /**
   * Always `member`.
   */
  object: "member";
  /**
   * Id of the member.
   */
  id: string;
  /**
   * Name of the member.
   */
  name: string;
  /**
   * E-mail address for notices about the workspace; null when none is set.
   */
  email: string | null;
  /**
   * Role of the member.
   */
  role: "owner" | "admin" | "developer" | "billing";
  /**
   * False when the member is disabled: the member's keys are rejected.
   */
  is_active: boolean;
  limits: Limits;
  limit_usage: LimitUsage;
  /**
   * Time of creation.
   */
  created_at: string;
  [k: string]: unknown;
}
/**
 * Queued and running work by pool and lane.
 */
export interface OperatorPoolList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Pools and lanes.
   */
  data: {
    /**
     * Name of the pool.
     */
    pool: string;
    /**
     * Name of the lane.
     */
    lane: "live" | "batch";
    /**
     * Number of queued jobs, including deferred jobs and calls beyond the number of slots. Pool `workflow`: runs that have not started.
     */
    queued: number;
    /**
     * Number of running jobs, and of waiting calls within the number of slots. Pool `workflow`: runs that have started.
     */
    running: number;
    /**
     * Number of tasks that the processes run at the same time.
     */
    slots: number;
    /**
     * Number of processes that accept work and reported within the last 45 seconds.
     */
    processes: number;
    /**
     * Waiting time of the oldest queued job in seconds; 0 when none waits. Calls without a job are not included.
     */
    oldest_waiting_seconds: number;
    /**
     * Recommended number of processes: `queued` and `running` divided by three quarters of a process's slots, rounded up. While no process reports slots: 1 when there is work. Pool `workflow`: only `queued` counts, and at least 1 while a run has not ended.
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
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * The presets.
   */
  data: {
    /**
     * Name of the preset.
     */
    name: string;
    /**
     * Maximum number of calls of the workspace in any 60 seconds; null: no limit.
     */
    requests_per_minute: number | null;
    /**
     * Maximum number of tokens per day in UTC; null: no limit.
     */
    daily_tokens: number | null;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Result for each dead letter, in the order of the request.
 */
export interface OperatorRedrive {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * The results.
   */
  data: {
    /**
     * Id of the dead letter.
     */
    id: string;
    /**
     * `done`: the job is queued again. `unknown`: no such dead letter, or it was already redriven. `over`: no job that can run again. `funds`: the credits of the workspace do not cover the job. `limit`: a spend limit of the key, its member or the end user leaves less than the job may cost.
     */
    result: "done" | "unknown" | "over" | "funds" | "limit";
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Session of an operator in the console.
 */
export interface OperatorSession {
  /**
   * Always `operator_session`.
   */
  object: "operator_session";
  /**
   * Name of the operator token; `settings` for the token in `SLUICE_OPERATOR_TOKEN`.
   */
  name: string;
  /**
   * Scope of the operator token.
   */
  scope: "read" | "write" | "money";
  /**
   * Latest end of the session. It also ends after fifteen minutes without a request.
   */
  ends_at: string;
  [k: string]: unknown;
}
/**
 * A page of open settle faults, newest first.
 */
export interface OperatorSettleFaultList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: OperatorSettleFault[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A hold that was closed without a settle of the used amount.
 */
export interface OperatorSettleFault {
  /**
   * Always `settle_fault`.
   */
  object: "settle_fault";
  /**
   * Id of the settle fault.
   */
  id: string;
  /**
   * Id of the workspace.
   */
  workspace_id: string;
  /**
   * Id of the job; for a call without a job, its `x-request-id`.
   */
  job_id: string;
  /**
   * Attempt of the job, from 1.
   */
  attempt: number;
  /**
   * `usage_record` or `ledger_entry`: the call had been settled before. Otherwise the SQLSTATE of the rejected values.
   */
  fault: string;
  /**
   * Result of the call; null when its values were rejected.
   */
  status: string | null;
  /**
   * Source that served the call as `provider/model`; null when unknown.
   */
  source: string | null;
  /**
   * Held credits.
   */
  held: number;
  /**
   * Credits used by the call, as decimal text; null when nothing was to be charged.
   */
  used: string | null;
  /**
   * Credits recorded for the call.
   */
  settled: number;
  /**
   * Time of the fault.
   */
  at: string;
  [k: string]: unknown;
}
/**
 * All sources of the catalogue, ordered by name.
 */
export interface OperatorSourceList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * The sources.
   */
  data: OperatorSource[];
  [k: string]: unknown;
}
/**
 * A model of a provider that serves models of the catalogue.
 */
export interface OperatorSource {
  /**
   * Always `source`.
   */
  object: "source";
  /**
   * Source as `provider/model`.
   */
  id: string;
  /**
   * Id of the provider.
   */
  provider: string;
  /**
   * Slugs of the models that the source serves.
   */
  models: string[];
  /**
   * Environment variable of the provider's key; null when the provider needs none.
   */
  setting: string | null;
  /**
   * `available`: receives calls. `disabled`: receives no calls for a while after errors. `not_configured`: a setting is missing.
   */
  state: "available" | "disabled" | "not_configured";
  /**
   * Reason why the source receives no calls; null when it is available.
   */
  reason: string | null;
  /**
   * HTTP status with which the provider rejected key, account or model name; null otherwise.
   */
  provider_status: number | null;
  /**
   * Pools whose workers have disabled the source.
   */
  disabled_in: string[];
  /**
   * Time since which the source is disabled; null when it is not.
   */
  disabled_since: string | null;
  /**
   * Seconds until the next call is sent to the source; null when it is not disabled.
   */
  next_attempt_seconds: number | null;
  [k: string]: unknown;
}
/**
 * Result of a minimal test call to a source.
 */
export interface OperatorSourceTest {
  /**
   * Always `source.test`.
   */
  object: "source.test";
  /**
   * Source as `provider/model`.
   */
  source: string;
  /**
   * Slug of the model used for the test.
   */
  model: string;
  /**
   * True when the provider answered the call.
   */
  is_working: boolean;
  /**
   * Error class: `misconfigured` (the provider rejects key, account or model name), `rejected`, `refused`, `busy`, `failed`, `timeout` or `unknown`; null when the call succeeded.
   */
  error: string | null;
  /**
   * HTTP status of the provider's error; null when the call succeeded or there was no response.
   */
  provider_status: number | null;
  /**
   * Error text of the provider without keys, at most 1,000 characters; null when the call succeeded or the provider sent none.
   */
  provider_text: string | null;
  /**
   * Duration of the call, in milliseconds.
   */
  duration_ms: number;
  [k: string]: unknown;
}
/**
 * Versions, processes, dependencies of the answering process, and counts.
 */
export interface OperatorStatus {
  /**
   * True when all dependencies needed to accept a call are reachable.
   */
  ok: boolean;
  /**
   * Versions of the installation.
   */
  versions: {
    /**
     * Version of the answering process.
     */
    sluice: string;
    /**
     * Latest migration of the database; null when Postgres was not reachable.
     */
    schema: string | null;
    /**
     * Version of Postgres; null when it was not reachable.
     */
    postgres: string | null;
    /**
     * Version of NATS; null when it was not reachable.
     */
    nats: string | null;
    [k: string]: unknown;
  };
  /**
   * Running ingresses, and workers of each pool, by version. A process that runs several pools is counted in each. Workers are missing when Postgres was not reachable. Janitors and workers of the pool webhook do not report themselves.
   */
  processes: {
    /**
     * `ingress` or `worker`.
     */
    role: "ingress" | "worker";
    /**
     * Pool of the workers; null for ingresses.
     */
    pool: string | null;
    /**
     * Version of Sluice; null when the processes do not report it.
     */
    version: string | null;
    /**
     * Number of processes.
     */
    count: number;
    /**
     * Start of the process that has run longest; null when unknown.
     */
    first_started_at: string | null;
    /**
     * Start of the newest process; null when unknown.
     */
    last_started_at: string | null;
    [k: string]: unknown;
  }[];
  /**
   * Dependencies of the process.
   */
  dependencies: {
    /**
     * Name of the dependency.
     */
    name: string;
    /**
     * True when the dependency is reachable.
     */
    ok: boolean;
    /**
     * Details, such as a response time or an error.
     */
    detail: string;
    [k: string]: unknown;
  }[];
  /**
   * Counts; null when Postgres was not reachable.
   */
  counts: {
    /**
     * Number of workspaces.
     */
    workspaces: number;
    /**
     * Number of open holds; an estimate above 10,000.
     */
    open_holds: number;
    /**
     * Number of jobs whose paid work has no known result.
     */
    unknown_jobs: number;
    /**
     * Number of open dead letters.
     */
    dead_letters: number;
    /**
     * Number of unresolved settle faults.
     */
    settle_faults: number;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * A page of operator tokens, newest first, without the token of the settings.
 */
export interface OperatorTokenList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: OperatorToken[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * A token for `/operator`.
 */
export interface OperatorToken {
  /**
   * Always `operator_token`.
   */
  object: "operator_token";
  /**
   * Id of the token.
   */
  id: string;
  /**
   * Name of the token, used as the author in the audit log.
   */
  name: string;
  /**
   * `read`: read only. `write`: also change. `money`: also move credits and create tokens.
   */
  scope: "read" | "write" | "money";
  /**
   * Secret token. Returned only in the response that created it.
   */
  token?: string;
  /**
   * Time of creation.
   */
  created_at: string;
  /**
   * Time of expiry; null when it does not expire.
   */
  expires_at: string | null;
  /**
   * Time of revocation; null when the token is not revoked.
   */
  revoked_at: string | null;
  [k: string]: unknown;
}
/**
 * The created workspace, its owner and the owner's first key.
 */
export interface OperatorWorkspaceCreated {
  workspace: OperatorWorkspace;
  owner: OperatorMember;
  api_key: OperatorApiKey;
  [k: string]: unknown;
}
/**
 * A workspace and its balance in credits.
 */
export interface OperatorWorkspace {
  /**
   * Always `workspace`.
   */
  object: "workspace";
  /**
   * Id of the workspace.
   */
  id: string;
  /**
   * Name of the workspace, unique in the installation.
   */
  name: string;
  /**
   * False when the workspace is disabled: its keys are rejected.
   */
  is_active: boolean;
  /**
   * Balance in credits, reserved credits included.
   */
  balance: number;
  /**
   * Credits reserved for running calls.
   */
  held: number;
  /**
   * Credits available to new calls: `balance` minus `held`.
   */
  available: number;
  /**
   * Time of creation.
   */
  created_at: string;
  [k: string]: unknown;
}
/**
 * A page of workspaces, newest first.
 */
export interface OperatorWorkspaceList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: OperatorWorkspace[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Quota presets that keys can have.
 */
export interface PresetList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * The presets.
   */
  data: {
    /**
     * Name of the preset.
     */
    name: string;
    /**
     * Maximum number of calls of the workspace in any 60 seconds; null: no limit.
     */
    requests_per_minute: number | null;
    /**
     * Maximum number of tokens per day in UTC; null: no limit.
     */
    daily_tokens: number | null;
    /**
     * True when the requesting key may assign the preset, because it is not wider than its own.
     */
    can_be_given: boolean;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * The kept request and response of one call.
 */
export interface RequestBodies {
  /**
   * Always `usage.request.bodies`.
   */
  object: "usage.request.bodies";
  /**
   * `x-request-id` of the call, or the id of its job.
   */
  request_id: string;
  /**
   * Id of the API key that made the call.
   */
  key_id: string;
  /**
   * Method and path of the endpoint, such as `POST /v1/chat/completions`.
   */
  endpoint: string;
  /**
   * HTTP status of the response. A stream that failed later has the status 200. Durable work has the status of its error, or 200.
   */
  status: number;
  /**
   * Time at which the bodies were stored.
   */
  created_at: string;
  /**
   * Time at which the bodies are deleted.
   */
  expires_at: string;
  request: KeptBody;
  response: KeptBody;
  [k: string]: unknown;
}
/**
 * A kept body after redaction.
 */
export interface KeptBody {
  /**
   * Media type of the body, without parameters; null when there was none. A stream has `text/event-stream`.
   */
  media_type: string | null;
  /**
   * Size of the original body in bytes; null when unknown.
   */
  bytes: number | null;
  /**
   * Text of the body, usually JSON. For a stream, the answer assembled from its events. Null when the body is neither JSON nor text: audio, images and forms are not kept.
   */
  text: string | null;
  /**
   * True when the body was longer than the limit of 1 MiB, or a stream ended before its last event: `text` is its beginning.
   */
  is_cut: boolean;
  [k: string]: unknown;
}
/**
 * Response of POST /v1/responses/compact. Use `output` as the start of the next `input`, in place of the conversation.
 */
export interface ResponseCompaction {
  /**
   * Id of the compaction.
   */
  id: string;
  /**
   * Always `response.compaction`.
   */
  object: "response.compaction";
  /**
   * Creation time in Unix seconds.
   */
  created_at: number;
  /**
   * Items that replace the conversation.
   */
  output: ResponseCompactionItem[];
  usage: ResponseUsage;
  [k: string]: unknown;
}
/**
 * A summary of the conversation.
 */
export interface ResponseCompactionItem {
  /**
   * Id of the item.
   */
  id: string;
  /**
   * Always `compaction`.
   */
  type: "compaction";
  /**
   * The encrypted summary.
   */
  encrypted_content: string;
  [k: string]: unknown;
}
/**
 * Token usage of the call. Totals include their details.
 */
export interface ResponseUsage {
  /**
   * Number of input tokens.
   */
  input_tokens: number;
  /**
   * Details of the input tokens.
   */
  input_tokens_details: {
    /**
     * Number of input tokens read from a prompt cache.
     */
    cached_tokens: number;
    /**
     * Number of input tokens written to a prompt cache.
     */
    cache_write_tokens: number;
    [k: string]: unknown;
  };
  /**
   * Number of output tokens, reasoning included.
   */
  output_tokens: number;
  /**
   * Details of the output tokens.
   */
  output_tokens_details: {
    /**
     * Number of reasoning tokens.
     */
    reasoning_tokens: number;
    [k: string]: unknown;
  };
  /**
   * Number of input and output tokens.
   */
  total_tokens: number;
  /**
   * Credits charged for the call; 0 when the answer comes from the response cache.
   */
  credits?: number;
  [k: string]: unknown;
}
/**
 * Confirmation of DELETE /v1/responses/{response_id}.
 */
export interface ModelResponseDeleted {
  /**
   * Id of the response.
   */
  id: string;
  /**
   * Always `response`.
   */
  object: "response";
  /**
   * Always `true`.
   */
  deleted: true;
  [k: string]: unknown;
}
/**
 * The response was created.
 */
export interface ResponseCreated {
  /**
   * Always `response.created`.
   */
  type: "response.created";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  response: ModelResponse;
  [k: string]: unknown;
}
/**
 * Response of POST /v1/responses. It repeats the settings of the request as they were applied.
 */
export interface ModelResponse {
  /**
   * Id of the response.
   */
  id: string;
  /**
   * Always `response`.
   */
  object: "response";
  /**
   * Creation time in Unix seconds.
   */
  created_at: number;
  /**
   * Completion in Unix seconds; null unless the status is `completed`.
   */
  completed_at: number | null;
  /**
   * State of the response.
   */
  status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
  /**
   * Error; null unless the status is `failed`.
   */
  error: {
    /**
     * Stable error code.
     */
    code: string;
    /**
     * Human-readable description of the error. It may be reworded.
     */
    message: string;
    [k: string]: unknown;
  } | null;
  /**
   * Reason for an incomplete response; null unless the status is `incomplete`.
   */
  incomplete_details: {
    /**
     * Limit that ended the response.
     */
    reason: "max_output_tokens" | "content_filter" | "max_rounds" | "max_credits";
    [k: string]: unknown;
  } | null;
  /**
   * Slug of the model that served the call.
   */
  model: string;
  /**
   * Output items.
   */
  output: ResponseItem[];
  /**
   * Token usage; null before the end.
   */
  usage: ResponseUsage | null;
  /**
   * Instructions of the request; null when there are none.
   */
  instructions: string | null;
  /**
   * Id of the response from which this one continued; null when there is none.
   */
  previous_response_id: string | null;
  /**
   * Conversation of the response; null or absent when there is none.
   */
  conversation?: {
    /**
     * Id of the conversation.
     */
    id: string;
    [k: string]: unknown;
  } | null;
  /**
   * Tools of the request.
   */
  tools: ResponsesTool[];
  tool_choice: ResponsesToolChoice;
  /**
   * Value of the request.
   */
  parallel_tool_calls: boolean;
  /**
   * Value of the request; null when it has none.
   */
  max_tool_calls: number | null;
  text: ResponsesText;
  /**
   * Reasoning options of the request.
   */
  reasoning: {
    /**
     * Value of the request; null when it has none.
     */
    effort: string | null;
    /**
     * Value of the request; null when it has none.
     */
    summary: string | null;
    [k: string]: unknown;
  };
  /**
   * Applied value.
   */
  temperature: number;
  /**
   * Applied value.
   */
  top_p: number;
  /**
   * Applied value.
   */
  presence_penalty: number;
  /**
   * Applied value.
   */
  frequency_penalty: number;
  /**
   * Applied value.
   */
  top_logprobs: number;
  /**
   * Value of the request; null when it has none.
   */
  max_output_tokens: number | null;
  /**
   * Always `disabled`.
   */
  truncation: "disabled";
  /**
   * True when the response is stored.
   */
  store: boolean;
  /**
   * True when a job created the response.
   */
  background: boolean;
  /**
   * Service tier of the call.
   */
  service_tier: string;
  /**
   * Labels of the request.
   */
  metadata: {
    [k: string]: string;
  };
  /**
   * Value of the request; null when it has none.
   */
  user: string | null;
  /**
   * Value of the request; null when it has none.
   */
  safety_identifier: string | null;
  /**
   * Value of the request; null when it has none.
   */
  prompt_cache_key: string | null;
  sluice?: SluiceSummary;
  [k: string]: unknown;
}
/**
 * A message of the answer.
 */
export interface ResponseMessage {
  /**
   * Id of the item.
   */
  id: string;
  /**
   * Always `message`.
   */
  type: "message";
  /**
   * Always `assistant`.
   */
  role: "assistant";
  /**
   * State of the item.
   */
  status: "in_progress" | "completed" | "incomplete";
  /**
   * Content parts of the message.
   */
  content: ResponsePart[];
  [k: string]: unknown;
}
/**
 * Text of the answer.
 */
export interface ResponseText {
  /**
   * Always `output_text`.
   */
  type: "output_text";
  /**
   * Text of the part.
   */
  text: string;
  /**
   * Sources the model cites.
   */
  annotations: {
    [k: string]: unknown;
  }[];
  /**
   * Log probabilities of the tokens; empty when not requested.
   */
  logprobs: ResponseLogprob[];
  [k: string]: unknown;
}
/**
 * Log probability of one token.
 */
export interface ResponseLogprob {
  /**
   * Text of the token.
   */
  token: string;
  /**
   * Natural logarithm of the token's probability.
   */
  logprob: number;
  /**
   * UTF-8 bytes of the token, each from 0 to 255; null when not reported.
   */
  bytes?: number[] | null;
  /**
   * Most likely tokens at this position.
   */
  top_logprobs?: {
    /**
     * Text of the token.
     */
    token: string;
    /**
     * Natural logarithm of the token's probability.
     */
    logprob: number;
    /**
     * UTF-8 bytes of the token, each from 0 to 255; null when not reported.
     */
    bytes?: number[] | null;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Text with which the model refused the request.
 */
export interface ResponseRefusal {
  /**
   * Always `refusal`.
   */
  type: "refusal";
  /**
   * Text of the refusal.
   */
  refusal: string;
  [k: string]: unknown;
}
/**
 * Visible reasoning: as `summary` if the request asked for one, otherwise as `content`. Send it back unchanged in the next turn.
 */
export interface ResponseReasoning {
  /**
   * Id of the item.
   */
  id: string;
  /**
   * Always `reasoning`.
   */
  type: "reasoning";
  /**
   * State of the item.
   */
  status: "in_progress" | "completed" | "incomplete";
  /**
   * Parts of the summary.
   */
  summary: ResponseSummaryText[];
  /**
   * Parts of the visible reasoning; absent when there is a summary.
   */
  content?: ResponseReasoningText[];
  /**
   * Reasoning in the provider's own format; absent when the provider has none.
   */
  encrypted_content?: string;
  [k: string]: unknown;
}
/**
 * One part of a reasoning summary.
 */
export interface ResponseSummaryText {
  /**
   * Always `summary_text`.
   */
  type: "summary_text";
  /**
   * Text of the part.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * One part of visible reasoning.
 */
export interface ResponseReasoningText {
  /**
   * Always `reasoning_text`.
   */
  type: "reasoning_text";
  /**
   * Text of the part.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * A function call that the model requests from the client.
 */
export interface ResponseFunctionCall {
  /**
   * Id of the item.
   */
  id: string;
  /**
   * Always `function_call`.
   */
  type: "function_call";
  /**
   * State of the item.
   */
  status: "in_progress" | "completed" | "incomplete";
  /**
   * Id of the call. The item with the result repeats it.
   */
  call_id: string;
  /**
   * Name of the called function.
   */
  name: string;
  /**
   * Namespace of the tool; absent when it has none.
   */
  namespace?: string;
  /**
   * Arguments as JSON text, written by the model. Validate them before use.
   */
  arguments: string;
  /**
   * Provider-specific members. Send them back unchanged with the call.
   */
  extra_content?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A custom tool call that the model requests from the client.
 */
export interface ResponseCustomCall {
  /**
   * Id of the item.
   */
  id: string;
  /**
   * Always `custom_tool_call`.
   */
  type: "custom_tool_call";
  /**
   * State of the item.
   */
  status: "in_progress" | "completed" | "incomplete";
  /**
   * Id of the call. The item with the result repeats it.
   */
  call_id: string;
  /**
   * Name of the called tool.
   */
  name: string;
  /**
   * Namespace of the tool; absent when it has none.
   */
  namespace?: string;
  /**
   * Free text input, written by the model.
   */
  input: string;
  /**
   * Provider-specific members. Send them back unchanged with the call.
   */
  extra_content?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A tool search that the model requests from the client.
 */
export interface ResponseToolSearchCall {
  /**
   * Id of the item.
   */
  id: string;
  /**
   * Always `tool_search_call`.
   */
  type: "tool_search_call";
  /**
   * State of the item.
   */
  status: "in_progress" | "completed" | "incomplete";
  /**
   * Id of the call. The item with the found tools repeats it.
   */
  call_id: string;
  /**
   * Always `client`.
   */
  execution: "client";
  /**
   * Arguments written by the model: an object, or a string when the model wrote no JSON. An empty object until they are complete.
   */
  arguments:
    | {
        [k: string]: unknown;
      }
    | string;
  /**
   * Provider-specific members. Send them back unchanged with the call.
   */
  extra_content?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * An image that the model requested and the service generated.
 */
export interface ResponseImageCall {
  /**
   * Id of the item.
   */
  id: string;
  /**
   * Always `image_generation_call`.
   */
  type: "image_generation_call";
  /**
   * State of the item.
   */
  status: "in_progress" | "generating" | "completed" | "failed";
  /**
   * The image in base64. Null in stored responses, which have only `file_id`, and when the images of the response exceed 8 MiB.
   */
  result: string | null;
  /**
   * Prompt written by the model; null when it wrote none.
   */
  revised_prompt: string | null;
  /**
   * Id of the stored image for GET /v1/files/{file_id}/content; null until it is generated.
   */
  file_id: string | null;
  /**
   * Slug of the image model that served the call.
   */
  model?: string;
  /**
   * File format, such as `png`.
   */
  output_format?: string;
  /**
   * Value of the request.
   */
  size?: string;
  /**
   * Value of the request.
   */
  quality?: string;
  /**
   * Value of the request.
   */
  background?: string;
  /**
   * Error of the generation; absent when it succeeded.
   */
  error?: {
    /**
     * Stable error code.
     */
    code: string;
    /**
     * Human-readable description of the error. It may be reworded.
     */
    message: string;
    /**
     * Path of the request parameter at fault; null when there is none.
     */
    param: string | null;
    /**
     * Category of the error.
     */
    type: string;
    [k: string]: unknown;
  };
  /**
   * Id that the model gave the call.
   */
  call_id: string;
  /**
   * Arguments as JSON text, written by the model.
   */
  arguments: string;
  /**
   * Number of the model turn that requested the image, from 1.
   */
  round: number;
  /**
   * Request id of the image call; its job and usage record have the same id. Absent when the call did not start.
   */
  request_id?: string;
  /**
   * Result text that the model received; null until the image is generated.
   */
  output: string | null;
  /**
   * Credits charged for the image.
   */
  credits_used: number;
  [k: string]: unknown;
}
/**
 * The response waits for a worker. Only for background responses.
 */
export interface ResponseQueued {
  /**
   * Always `response.queued`.
   */
  type: "response.queued";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  response: ModelResponse;
  [k: string]: unknown;
}
/**
 * The model has started.
 */
export interface ResponseInProgress {
  /**
   * Always `response.in_progress`.
   */
  type: "response.in_progress";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  response: ModelResponse;
  [k: string]: unknown;
}
/**
 * The response is complete.
 */
export interface ResponseCompleted {
  /**
   * Always `response.completed`.
   */
  type: "response.completed";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  response: ModelResponse;
  [k: string]: unknown;
}
/**
 * The response ended at a limit.
 */
export interface ResponseIncomplete {
  /**
   * Always `response.incomplete`.
   */
  type: "response.incomplete";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  response: ModelResponse;
  [k: string]: unknown;
}
/**
 * The response failed.
 */
export interface ResponseFailed {
  /**
   * Always `response.failed`.
   */
  type: "response.failed";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  response: ModelResponse;
  [k: string]: unknown;
}
/**
 * An item starts, without content.
 */
export interface ResponseItemAdded {
  /**
   * Always `response.output_item.added`.
   */
  type: "response.output_item.added";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  item: ResponseItem;
  [k: string]: unknown;
}
/**
 * An item is complete.
 */
export interface ResponseItemDone {
  /**
   * Always `response.output_item.done`.
   */
  type: "response.output_item.done";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  item: ResponseItem;
  [k: string]: unknown;
}
/**
 * A content part starts, without text.
 */
export interface ResponsePartAdded {
  /**
   * Always `response.content_part.added`.
   */
  type: "response.content_part.added";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Index of the part in the item's content, from 0.
   */
  content_index: number;
  part: ResponseAnyPart;
  [k: string]: unknown;
}
/**
 * A content part is complete.
 */
export interface ResponsePartDone {
  /**
   * Always `response.content_part.done`.
   */
  type: "response.content_part.done";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Index of the part in the item's content, from 0.
   */
  content_index: number;
  part: ResponseAnyPart;
  [k: string]: unknown;
}
/**
 * Text to append.
 */
export interface ResponseTextDelta {
  /**
   * Always `response.output_text.delta`.
   */
  type: "response.output_text.delta";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Index of the part in the item's content, from 0.
   */
  content_index: number;
  /**
   * Text to append.
   */
  delta: string;
  /**
   * Log probabilities of the new tokens; empty when not requested.
   */
  logprobs: ResponseLogprob[];
  [k: string]: unknown;
}
/**
 * The text is complete.
 */
export interface ResponseTextDone {
  /**
   * Always `response.output_text.done`.
   */
  type: "response.output_text.done";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Index of the part in the item's content, from 0.
   */
  content_index: number;
  /**
   * The complete text.
   */
  text: string;
  /**
   * Log probabilities of all tokens; empty when not requested.
   */
  logprobs: ResponseLogprob[];
  [k: string]: unknown;
}
/**
 * The text cites a source.
 */
export interface ResponseAnnotationAdded {
  /**
   * Always `response.output_text.annotation.added`.
   */
  type: "response.output_text.annotation.added";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Index of the part in the item's content, from 0.
   */
  content_index: number;
  /**
   * Index of the annotation, from 0.
   */
  annotation_index: number;
  /**
   * The annotation.
   */
  annotation: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Refusal text to append.
 */
export interface ResponseRefusalDelta {
  /**
   * Always `response.refusal.delta`.
   */
  type: "response.refusal.delta";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Index of the part in the item's content, from 0.
   */
  content_index: number;
  /**
   * Refusal text to append.
   */
  delta: string;
  [k: string]: unknown;
}
/**
 * The refusal is complete.
 */
export interface ResponseRefusalDone {
  /**
   * Always `response.refusal.done`.
   */
  type: "response.refusal.done";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Index of the part in the item's content, from 0.
   */
  content_index: number;
  /**
   * The complete refusal.
   */
  refusal: string;
  [k: string]: unknown;
}
/**
 * Reasoning text to append.
 */
export interface ResponseReasoningDelta {
  /**
   * Always `response.reasoning_text.delta`.
   */
  type: "response.reasoning_text.delta";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Index of the part in the item's content, from 0.
   */
  content_index: number;
  /**
   * Reasoning text to append.
   */
  delta: string;
  [k: string]: unknown;
}
/**
 * The reasoning is complete.
 */
export interface ResponseReasoningDone {
  /**
   * Always `response.reasoning_text.done`.
   */
  type: "response.reasoning_text.done";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Index of the part in the item's content, from 0.
   */
  content_index: number;
  /**
   * The complete reasoning text.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * A part of the summary starts, without text.
 */
export interface ResponseSummaryPartAdded {
  /**
   * Always `response.reasoning_summary_part.added`.
   */
  type: "response.reasoning_summary_part.added";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Index of the part in the item's summary, from 0.
   */
  summary_index: number;
  part: ResponseSummaryText;
  [k: string]: unknown;
}
/**
 * A part of the summary is complete.
 */
export interface ResponseSummaryPartDone {
  /**
   * Always `response.reasoning_summary_part.done`.
   */
  type: "response.reasoning_summary_part.done";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Index of the part in the item's summary, from 0.
   */
  summary_index: number;
  part: ResponseSummaryText;
  [k: string]: unknown;
}
/**
 * Summary text to append.
 */
export interface ResponseSummaryDelta {
  /**
   * Always `response.reasoning_summary_text.delta`.
   */
  type: "response.reasoning_summary_text.delta";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Index of the part in the item's summary, from 0.
   */
  summary_index: number;
  /**
   * Summary text to append.
   */
  delta: string;
  [k: string]: unknown;
}
/**
 * The summary text is complete.
 */
export interface ResponseSummaryDone {
  /**
   * Always `response.reasoning_summary_text.done`.
   */
  type: "response.reasoning_summary_text.done";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Index of the part in the item's summary, from 0.
   */
  summary_index: number;
  /**
   * The complete summary text.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * JSON text to append to the arguments. They are complete only at the end of the item.
 */
export interface ResponseArgumentsDelta {
  /**
   * Always `response.function_call_arguments.delta`.
   */
  type: "response.function_call_arguments.delta";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * JSON text to append.
   */
  delta: string;
  [k: string]: unknown;
}
/**
 * The arguments are complete.
 */
export interface ResponseArgumentsDone {
  /**
   * Always `response.function_call_arguments.done`.
   */
  type: "response.function_call_arguments.done";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Name of the called function.
   */
  name: string;
  /**
   * The complete arguments as JSON text.
   */
  arguments: string;
  [k: string]: unknown;
}
/**
 * Input text of a custom tool to append.
 */
export interface ResponseCustomDelta {
  /**
   * Always `response.custom_tool_call_input.delta`.
   */
  type: "response.custom_tool_call_input.delta";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * Input text to append.
   */
  delta: string;
  [k: string]: unknown;
}
/**
 * The input of a custom tool is complete.
 */
export interface ResponseCustomDone {
  /**
   * Always `response.custom_tool_call_input.done`.
   */
  type: "response.custom_tool_call_input.done";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  /**
   * The complete input.
   */
  input: string;
  [k: string]: unknown;
}
/**
 * An image was requested.
 */
export interface ResponseImageInProgress {
  /**
   * Always `response.image_generation_call.in_progress`.
   */
  type: "response.image_generation_call.in_progress";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  [k: string]: unknown;
}
/**
 * The image is being generated.
 */
export interface ResponseImageGenerating {
  /**
   * Always `response.image_generation_call.generating`.
   */
  type: "response.image_generation_call.generating";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  [k: string]: unknown;
}
/**
 * The image is complete. The following `response.output_item.done` contains it.
 */
export interface ResponseImageCompleted {
  /**
   * Always `response.image_generation_call.completed`.
   */
  type: "response.image_generation_call.completed";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Id of the item.
   */
  item_id: string;
  /**
   * Index of the item in `output`, from 0.
   */
  output_index: number;
  [k: string]: unknown;
}
/**
 * The response failed. `response.failed` follows.
 */
export interface ResponseError {
  /**
   * Always `error`.
   */
  type: "error";
  /**
   * Position of the event in the stream, from 0.
   */
  sequence_number: number;
  /**
   * Stable error code.
   */
  code: string;
  /**
   * Human-readable description of the error. It may be reworded.
   */
  message: string;
  /**
   * Path of the request parameter at fault; null when there is none.
   */
  param: string | null;
  /**
   * The same error in the format of ErrorEnvelope.
   */
  error: {
    /**
     * Category of the error.
     */
    type: string;
    /**
     * Stable error code.
     */
    code: string;
    /**
     * Human-readable description of the error. It may be reworded.
     */
    message: string;
    /**
     * Path of the request parameter at fault; null when there is none.
     */
    param: string | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A page of the input items of a stored response.
 */
export interface ResponseInputList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: ResponsesItem[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Response of POST /v1/responses/input_tokens.
 */
export interface ResponseInputTokens {
  /**
   * Always `response.input_tokens`.
   */
  object: "response.input_tokens";
  /**
   * Number of input tokens.
   */
  input_tokens: number;
  [k: string]: unknown;
}
/**
 * Name, version and links of the service. Links are paths on the same host.
 */
export interface Service {
  /**
   * Always `Sluice`.
   */
  name: "Sluice";
  /**
   * Description of the service.
   */
  description: string;
  /**
   * Version of the service.
   */
  version: string;
  /**
   * Path of the documentation.
   */
  docs: string;
  /**
   * Path of the OpenAPI document.
   */
  openapi: string;
  /**
   * Path of the public model list.
   */
  models: string;
  /**
   * True if people can sign in to the console at the operator's OpenID Connect issuer.
   */
  has_issuer: boolean;
  [k: string]: unknown;
}
/**
 * Signing secret of a webhook channel.
 */
export interface SigningSecret {
  /**
   * The secret.
   */
  signingSecret: string;
  /**
   * Time until which requests also carry a Standard Webhooks signature of the previous secret.
   */
  previousUntil?: string;
  [k: string]: unknown;
}
/**
 * Event of streamed speech (`stream_format: sse`): audio chunks, then `speech.audio.done`. A failed stream ends with `error` instead.
 */
export interface SpeechEvent {
  /**
   * Type of the event; absent in an error.
   */
  type?: "speech.audio.delta" | "speech.audio.done";
  /**
   * Audio chunk in base64. Each chunk is decoded separately.
   */
  audio?: string;
  /**
   * Usage of the call; only in the last event.
   */
  usage?: {
    /**
     * Number of input tokens; 0 when the price does not count tokens.
     */
    input_tokens: number;
    /**
     * Number of output tokens; 0 when the price does not count tokens.
     */
    output_tokens: number;
    /**
     * Number of input and output tokens.
     */
    total_tokens: number;
    /**
     * Number of billed characters; absent when the price does not count characters.
     */
    characters?: number;
    /**
     * Credits charged for the call.
     */
    credits?: number;
    [k: string]: unknown;
  };
  /**
   * Error in the format of ErrorEnvelope.
   */
  error?: {
    /**
     * Human-readable description of the error. It may be reworded.
     */
    message: string;
    /**
     * Category of the error.
     */
    type: string;
    /**
     * Stable error code.
     */
    code: string;
    /**
     * Path of the request parameter at fault; null when there is none.
     */
    param: string | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A page of the channel's subscriptions, newest first.
 */
export interface SubscriptionList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: Subscription[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Subscription of a channel to an event type.
 */
export interface Subscription {
  /**
   * Id of the subscription.
   */
  id: string;
  /**
   * Id of the channel.
   */
  channelId: string;
  /**
   * Event type.
   */
  event:
    | "run.started"
    | "run.retrying"
    | "run.succeeded"
    | "run.failed"
    | "run.cancelled"
    | "job.completed"
    | "job.failed"
    | "budget.threshold_reached"
    | "budget.warning"
    | "balance.low"
    | "limit.warning"
    | "limit.reached"
    | "template.unavailable";
  /**
   * Id of the workflow whose events are delivered; null: all.
   */
  workflowId: string | null;
  /**
   * Id of the member who created the subscription; null when an operator created it.
   */
  createdByUserId: string | null;
  /**
   * Time of creation.
   */
  createdAt: string;
  [k: string]: unknown;
}
/**
 * Confirmation of the deletion of a tag's spend limits.
 */
export interface TagLimitsDeleted {
  /**
   * Name of the tag.
   */
  tag: string;
  /**
   * Value of the tag in the calls.
   */
  value: string;
  /**
   * Always `true`.
   */
  deleted: true;
  [k: string]: unknown;
}
/**
 * A page of tags with spend limits, sorted by name and value.
 */
export interface TagLimitsList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: TagLimits[];
  /**
   * Tag of the first entry, such as `project=alpha`; null on an empty page.
   */
  first_id: string | null;
  /**
   * Tag of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Spend limits of the calls with one value of a tag, and what they leave.
 */
export interface TagLimits {
  /**
   * Always `tag.limits`.
   */
  object: "tag.limits";
  /**
   * Name of the tag.
   */
  tag: string;
  /**
   * Value of the tag in the calls.
   */
  value: string;
  credits: LimitAmounts;
  /**
   * Percentages of each limit at which a warning is sent.
   */
  warn_at: number[];
  limit_usage: LimitPeriods;
  [k: string]: unknown;
}
/**
 * Number of input tokens of a conversation, counted by the service. The count of a provider may differ slightly.
 */
export interface TokenCount {
  /**
   * Number of input tokens.
   */
  input_tokens: number;
  [k: string]: unknown;
}
/**
 * Event of a streamed transcription. The last event contains the whole text.
 */
export interface TranscriptionEvent {
  /**
   * Type of the event.
   */
  type: "transcript.text.delta" | "transcript.text.done";
  /**
   * Text to append; only in `transcript.text.delta`.
   */
  delta?: string;
  /**
   * The whole text; only in `transcript.text.done`.
   */
  text?: string;
  /**
   * Usage of the call, with the charged `credits`; only in `transcript.text.done`.
   */
  usage?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Response of POST /v1/audio/transcriptions in the formats `json` and `verbose_json`. Other formats are text.
 */
export interface Transcription {
  /**
   * Always `transcribe`.
   */
  task?: "transcribe";
  /**
   * Name of the language, such as `english`; empty when the provider does not report it.
   */
  language?: string;
  /**
   * Length of the audio in seconds.
   */
  duration?: number;
  /**
   * The whole text.
   */
  text: string;
  /**
   * Words with timestamps; only with the granularity `word`.
   */
  words?: TranscriptionWord[];
  /**
   * Segments with timestamps; only with the granularity `segment`.
   */
  segments?: TranscriptionSegment[];
  /**
   * Billed usage: seconds or tokens.
   */
  usage?: {
    /**
     * Type of the usage.
     */
    type: "duration" | "tokens";
    /**
     * Billed seconds; only with the type `duration`.
     */
    seconds?: number;
    /**
     * Credits charged for the call.
     */
    credits?: number;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A word with timestamps.
 */
export interface TranscriptionWord {
  /**
   * The word.
   */
  word: string;
  /**
   * Start in seconds.
   */
  start: number;
  /**
   * End in seconds.
   */
  end: number;
  [k: string]: unknown;
}
/**
 * A segment with timestamps.
 */
export interface TranscriptionSegment {
  /**
   * Number of the segment.
   */
  id: number;
  /**
   * Start in seconds.
   */
  start: number;
  /**
   * End in seconds.
   */
  end: number;
  /**
   * Text of the segment.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * Models whose calls are refused for now, because every provider of the model is temporarily disabled after errors.
 */
export interface UnavailableModelList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * The models, sorted by slug.
   */
  data: {
    /**
     * Always `unavailable_model`.
     */
    object: "unavailable_model";
    /**
     * Slug of the model.
     */
    model: string;
    /**
     * Time from which a call is sent to a provider again.
     */
    next_attempt_at: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Usage and spend by time bucket.
 */
export interface UsagePage {
  /**
   * Always `page`.
   */
  object: "page";
  /**
   * The time buckets.
   */
  data: {
    /**
     * Always `bucket`.
     */
    object: "bucket";
    /**
     * Start of the bucket.
     */
    start_time: string;
    /**
     * End of the bucket, exclusive.
     */
    end_time: string;
    /**
     * Number of calls refused before they held credits. They have no model, status, workflow and label: 0 with a filter of these. Above 120 a minute, further ones are not counted.
     */
    refused: number;
    /**
     * Sum of the groups that are not in the top; only with `top`, when there are such groups.
     */
    others?: {
      /**
       * Number of ended calls.
       */
      calls: number;
      /**
       * Number of failed and lost calls.
       */
      failed: number;
      /**
       * Credits charged.
       */
      credits: number;
      /**
       * Number of tokens.
       */
      tokens: number;
      [k: string]: unknown;
    };
    /**
     * Usage of the bucket, one element per group.
     */
    results: {
      /**
       * Slug of the model; only when grouped by `model`.
       */
      model?: string;
      /**
       * Id of the API key; only when grouped by `key`.
       */
      key_id?: string;
      /**
       * Id of the member; only when grouped by `member`.
       */
      member_id?: string;
      /**
       * Id of the workflow, null for calls without one; only when grouped by `workflow`.
       */
      workflow_id?: string | null;
      /**
       * Result of the calls; only when grouped by `status`.
       */
      status?: "succeeded" | "failed" | "cancelled" | "lost";
      /**
       * End user, null for calls without one; only when grouped by `user`. A day has sums for at most 1,000 users; further ones are counted as `other`.
       */
      user?: string | null;
      /**
       * Requested model of calls whose model a fallback chain chose, null for other calls; only when grouped by `chain`.
       */
      chain?: string | null;
      /**
       * Value of the tag by its name, null for calls without it; only when grouped by a tag. A day has sums for at most 1,000 values of a tag; further ones are counted as `other`.
       */
      tags?: {
        [k: string]: string | null;
      };
      /**
       * Number of ended calls.
       */
      calls: number;
      /**
       * Number of failed and lost calls.
       */
      failed: number;
      /**
       * Credits charged.
       */
      credits: number;
      /**
       * Number of tokens.
       */
      tokens: number;
      /**
       * Time from admission to end in milliseconds that 95 % of the succeeded calls did not exceed, within 10 % of the exact value; null when no call succeeded. With `top` also null for calls without a value of the group.
       */
      latency_p95_ms: number | null;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  }[];
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  /**
   * Value of `page` for the next page; null on the last page.
   */
  next_page: string | null;
  [k: string]: unknown;
}
/**
 * A page of ended calls, newest first. Rejected calls are not listed, because they hold no credits.
 */
export interface UsageRequestList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * Entries of the page.
   */
  data: UsageRequest[];
  /**
   * Id of the first entry; null on an empty page.
   */
  first_id: string | null;
  /**
   * Id of the last entry, used as `after` of the next page; null on an empty page.
   */
  last_id: string | null;
  /**
   * True when more entries follow.
   */
  has_more: boolean;
  [k: string]: unknown;
}
/**
 * Usage and cost of one call.
 */
export interface UsageRequest {
  /**
   * Always `usage.request`.
   */
  object: "usage.request";
  /**
   * `x-request-id` of the call, or the id of its job or run.
   */
  request_id: string;
  /**
   * Attempt of the job, from 1.
   */
  attempt: number;
  /**
   * Id of the API key.
   */
  key_id: string;
  /**
   * Slug of the model that served or was requested; null for a run, which is the sum of its steps, and for a refused call that names none or an unknown one.
   */
  model: string | null;
  /**
   * Last source as `provider/model`; null when no provider was called.
   */
  source: string | null;
  /**
   * Result of the call. `lost`: the serving process crashed, and the delivered part was charged. `refused`: the call was refused before it held credits.
   */
  status: "succeeded" | "failed" | "cancelled" | "lost" | "refused";
  /**
   * Path of the called endpoint, with `{name}` for parameters. Lines of batches, steps of runs and calls over MCP or NATS have the endpoint of their kind. Null when the process that closed the hold of a lost call did not know it.
   */
  endpoint: string | null;
  /**
   * HTTP status of the response, or the status that a caller who waits for the job would receive. 200 for a stream that failed after its beginning. Null for cancelled calls, for runs, and when no reason of a failure is recorded.
   */
  http_status: number | null;
  /**
   * Error code that the caller received; null when the call did not fail or no reason is recorded.
   */
  error_code: string | null;
  /**
   * Failed provider attempts; absent when the call did not fail or no reason is recorded.
   */
  failure?: {
    /**
     * HTTP status of the last provider; null when no provider was called or it did not respond.
     */
    provider_status: number | null;
    /**
     * Class of the last error: `misconfigured` (the provider rejects key, account or model name), `rejected`, `refused`, `busy`, `failed`, `timeout` or `unknown`; null when no provider was called.
     */
    provider_error: string | null;
    /**
     * Error text of the last provider without keys, at most 1,000 characters. Returned only for a single call, to owners and admins, for seven days; null otherwise.
     */
    provider_text?: string | null;
    /**
     * Failed attempts in order, at most 20.
     */
    attempts: {
      /**
       * Source as `provider/model`.
       */
      source: string;
      /**
       * Error class, as in `provider_error`.
       */
      error: string;
      /**
       * HTTP status of the provider; null when it did not respond.
       */
      status: number | null;
      /**
       * Time of the request.
       */
      started_at: string;
      /**
       * Duration of the attempt in milliseconds.
       */
      duration_ms: number;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  /**
   * Request of a refused call; absent for other calls.
   */
  refusal?: {
    /**
     * Path of the called route.
     */
    endpoint: string;
    /**
     * Parameter that the error names; null when it names none.
     */
    param: string | null;
    /**
     * Reason of the refusal. For errors of the request's content, which repeat parts of it, the general sentence of the error code. The sentence of a spend limit contains its amounts, but no end user and no tag.
     */
    message: string;
    [k: string]: unknown;
  };
  /**
   * Measured amount by unit. `flex_requests`, `priority_requests` and `long_context_requests` are 1 when the rates of this service tier or of long inputs were charged.
   */
  units: {
    [k: string]: number;
  };
  /**
   * True when the provider reported no usage and the service measured it.
   */
  is_estimated: boolean;
  /**
   * Number of tokens.
   */
  tokens: number;
  /**
   * Credits held before the call.
   */
  held: number;
  /**
   * Credits charged.
   */
  credits: number;
  /**
   * Credits of the used units that were not charged. A charge ends at the hold; a chat call without an output limit is also charged from the available balance. 0: everything was charged.
   */
  uncollected: number;
  /**
   * Id of the stored workflow; null when there is none or the job has been deleted.
   */
  workflow_id: string | null;
  /**
   * Id of the run, or of the run of which the call was a step while the step's job is kept; null otherwise.
   */
  run_id: string | null;
  /**
   * End user of the call; null when it has none.
   */
  user: string | null;
  /**
   * Requested model, when a fallback chain chose the model of the call; otherwise null.
   */
  chain: string | null;
  /**
   * Values of the workspace's tags in the `metadata` of the call or in its header `x-tags`.
   */
  tags: {
    [k: string]: string;
  };
  /**
   * Time of the start.
   */
  started_at: string;
  /**
   * Time at which the first part of a streamed response was sent; null for other calls.
   */
  first_token_at: string | null;
  /**
   * Time of the end.
   */
  ended_at: string;
  /**
   * Attempts at providers in order, at most 21: the failed ones, then the attempt that served the call.
   */
  provider_attempts: {
    /**
     * Source as `provider/model`.
     */
    source: string;
    /**
     * Error class, as in `failure.provider_error`; null for the attempt that served the call.
     */
    error: string | null;
    /**
     * HTTP status of the provider's error; null when it did not respond, and for the attempt that served the call.
     */
    status: number | null;
    /**
     * Time of the request.
     */
    started_at: string;
    /**
     * Duration of the attempt in milliseconds.
     */
    duration_ms: number;
    [k: string]: unknown;
  }[];
  /**
   * True when the request and the response of the call are kept and can be read at `…/usage/requests/{request_id}/bodies`.
   */
  has_bodies: boolean;
  /**
   * Streams continued by another model: shares of the earlier models in `credits`.
   */
  parts?: {
    /**
     * Slug of the model.
     */
    model: string;
    /**
     * Source as `provider/model`.
     */
    source: string;
    /**
     * Credits charged for the part.
     */
    credits: number;
    /**
     * Class of the interruption, such as `failed`, `timeout` or `busy`.
     */
    fault: string;
    /**
     * Measured amount by unit; only for operators.
     */
    units?: {
      [k: string]: number;
    };
    /**
     * True when the provider reported no usage and the service measured it; only for operators.
     */
    is_estimated?: boolean;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Confirmation of the deletion of a workflow. Its runs continue.
 */
export interface WorkflowDeleted {
  /**
   * Id of the workflow.
   */
  id: string;
  /**
   * Always `true`.
   */
  deleted: true;
  [k: string]: unknown;
}
/**
 * Estimated price of a run. An estimate is free and holds nothing.
 */
export interface WorkflowEstimate {
  /**
   * Always `credits`.
   */
  currency: "credits";
  /**
   * Typical price of a run in credits.
   */
  estimated_credits: number;
  /**
   * Maximum price of a run with the same input, in credits.
   */
  max_credits: number;
  /**
   * Estimates of the steps.
   */
  steps: {
    /**
     * Id of the step.
     */
    id: string;
    /**
     * Typical price of the step in credits.
     */
    estimated_credits: number;
    /**
     * Maximum price of the step in credits.
     */
    max_credits: number;
    /**
     * Assumptions of the estimate, as text.
     */
    assumption: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * A page of the workflows that the key may see, newest first.
 */
export interface WorkflowList {
  /**
   * Entries of the page.
   */
  items: WorkflowSummary[];
  /**
   * Number of entries on all pages.
   */
  total: number;
  /**
   * Value applied to this page.
   */
  limit: number;
  /**
   * Value applied to this page.
   */
  offset: number;
  [k: string]: unknown;
}
/**
 * A workflow without its definition.
 */
export interface WorkflowSummary {
  /**
   * Id of the workflow.
   */
  id: string;
  /**
   * Id of the workspace.
   */
  workspaceId: string;
  /**
   * Name of the workflow.
   */
  name: string;
  /**
   * Description of the workflow.
   */
  description: string;
  /**
   * Latest version of the definition.
   */
  latestVersion: number;
  /**
   * True when the workflow can be run.
   */
  isActive: boolean;
  /**
   * Time of creation.
   */
  createdAt: string;
  /**
   * Time of the last change.
   */
  updatedAt: string;
  /**
   * Time of deletion; null when the workflow is not deleted.
   */
  deletedAt: string | null;
  /**
   * Id of the member who created the workflow.
   */
  createdByUserId: string;
  /**
   * Visibility. `private`: the creator, owners and admins. `workspace`: all members.
   */
  sharingScope: "private" | "workspace";
  /**
   * Permission of the workspace's members on a shared workflow.
   */
  sharePermission: "read" | "run" | "edit";
  [k: string]: unknown;
}
/**
 * Result of a cancel request.
 */
export interface WorkflowRunCancelled {
  /**
   * Id of the run.
   */
  id: string;
  /**
   * `cancelled`, or the final status when the run had already ended.
   */
  status: "succeeded" | "failed" | "cancelled";
  [k: string]: unknown;
}
/**
 * `data` of one server-sent event of a run. `[DONE]` follows the last event. All events except `step.delta` have an `id`; a client that reconnects with `Last-Event-ID` receives all events after it. `stepRun` is in `step.started` and `step.finished`, `run` in `run.finished`.
 */
export interface WorkflowRunFrame {
  /**
   * Type of the event.
   */
  type: "run.started" | "step.started" | "step.delta" | "step.finished" | "run.finished";
  /**
   * Id of the run.
   */
  runId?: string;
  stepRun?: WorkflowStepRun;
  /**
   * Id of the step; only in `step.delta`.
   */
  stepId?: string;
  /**
   * Attempt of the step, from 1; only in `step.delta`.
   */
  attempt?: number;
  /**
   * Index of the list element of a step with `for_each`; only in `step.delta`.
   */
  index?: number;
  /**
   * Part of the answer of a chat step; only in `step.delta`.
   */
  delta?: {
    /**
     * Text to append.
     */
    content?: string;
    [k: string]: unknown;
  };
  run?: WorkflowRun;
  [k: string]: unknown;
}
/**
 * One attempt of a step.
 */
export interface WorkflowStepRun {
  /**
   * Id of the step.
   */
  id: string;
  /**
   * `model`, `sub_pipeline` or the id of a capability.
   */
  type: string;
  /**
   * State of the attempt.
   */
  status: "queued" | "running" | "succeeded" | "failed" | "skipped" | "cancelled";
  /**
   * Number of the attempt, from 1.
   */
  attempt: number;
  /**
   * Ids of the runs that the step started, in list order.
   */
  childRunIds?: string[];
  /**
   * Credits charged.
   */
  creditsUsed: number;
  /**
   * Time of the start; absent when the attempt never started.
   */
  startedAt?: string;
  /**
   * Milliseconds from start to end; 0 while the attempt has not ended, or when it never started.
   */
  durationMs: number;
  /**
   * Output of the step as JSON; with `for_each` a list in the order of the elements.
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
   * Path of a large output, in place of `output`.
   */
  outputRef?: string;
  /**
   * Error of a failed attempt; absent otherwise.
   */
  error?: {
    /**
     * Stable error code.
     */
    code: string;
    /**
     * Human-readable description of the error. It may be reworded.
     */
    message: string;
    [k: string]: unknown;
  };
  /**
   * Reason why the step was skipped; absent otherwise.
   */
  skippedReason?: "condition_false" | "dependency_failed";
  [k: string]: unknown;
}
/**
 * Current state of a workflow run.
 */
export interface WorkflowRun {
  /**
   * Id of the run.
   */
  id: string;
  /**
   * State of the run. `partial` is reserved and never returned.
   */
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "partial";
  /**
   * Id of the workflow; absent for runs of an inline definition.
   */
  workflowId?: string;
  /**
   * Version of the workflow. It does not change during the run.
   */
  version?: number;
  /**
   * Mode of the run.
   */
  mode: "sync" | "stream" | "async";
  /**
   * Id of the run whose step started this run; absent otherwise.
   */
  parentRunId?: string;
  /**
   * Current attempt, from 1. Only runs in mode `async` have more than one.
   */
  attempt: number;
  /**
   * Maximum number of attempts.
   */
  maxAttempts: number;
  /**
   * Credits charged so far, over all steps.
   */
  creditsUsed: number;
  /**
   * Credits held for calls in progress, including those of child runs. Absent when the run has ended, and in the response of a new run.
   */
  creditsHeld?: number;
  /**
   * Maximum cost of the run in credits (`max_credits` of the request or definition). Absent when there is none.
   */
  maxCredits?: number;
  /**
   * One entry per attempt of a step. Ordered by readiness in the response of a new `sync` run, otherwise by step id and attempt.
   */
  stepRuns: WorkflowStepRun[];
  /**
   * Milliseconds from start to end; 0 while the run has not ended, or when it never started.
   */
  durationMs: number;
  /**
   * Time of creation.
   */
  createdAt: string;
  /**
   * Input with defaults; absent when the run has none, and in the response of a new run.
   */
  input?: {
    [k: string]: unknown;
  };
  /**
   * Output according to the definition, `{}` when it has none; absent when the run failed or was cancelled.
   */
  output?: {
    [k: string]: unknown;
  };
  /**
   * Error of a failed run; absent otherwise.
   */
  error?: {
    /**
     * Stable error code.
     */
    code: string;
    /**
     * Human-readable description of the error. It may be reworded.
     */
    message: string;
    /**
     * Id of the step that failed first, or `output` when the output could not be evaluated.
     */
    stepId: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A page of the runs that the key may see, newest first, without steps, inputs and outputs.
 */
export interface WorkflowRunList {
  /**
   * Entries of the page.
   */
  items: WorkflowRunSummary[];
  /**
   * Number of entries on all pages.
   */
  total: number;
  /**
   * Value applied to this page.
   */
  limit: number;
  /**
   * Value applied to this page.
   */
  offset: number;
  [k: string]: unknown;
}
/**
 * Summary of a run.
 */
export interface WorkflowRunSummary {
  /**
   * Id of the run.
   */
  id: string;
  /**
   * State of the run. `partial` is reserved and never returned.
   */
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "partial";
  /**
   * Id of the workflow; absent for runs of an inline definition.
   */
  workflowId?: string;
  /**
   * Version of the workflow. It does not change during the run.
   */
  version?: number;
  /**
   * Mode of the run.
   */
  mode: "sync" | "stream" | "async";
  /**
   * Id of the run whose step started this run; absent otherwise.
   */
  parentRunId?: string;
  /**
   * Current attempt, from 1. Only runs in mode `async` have more than one.
   */
  attempt: number;
  /**
   * Maximum number of attempts.
   */
  maxAttempts: number;
  /**
   * Credits charged so far, over all steps.
   */
  creditsUsed: number;
  /**
   * Maximum cost of the run in credits (`max_credits` of the request or definition). Absent when there is none.
   */
  maxCredits?: number;
  /**
   * Milliseconds from start to end; 0 while the run has not ended, or when it never started.
   */
  durationMs: number;
  /**
   * Time of creation.
   */
  createdAt: string;
  [k: string]: unknown;
}
/**
 * Workflow templates.
 */
export interface WorkflowTemplateList {
  /**
   * Always `list`.
   */
  object: "list";
  /**
   * The templates.
   */
  data: WorkflowTemplate[];
  [k: string]: unknown;
}
/**
 * A template of a workflow.
 */
export interface WorkflowTemplate {
  /**
   * Id of the template.
   */
  id: string;
  /**
   * Name of the workflow.
   */
  name: string;
  /**
   * Description of the workflow.
   */
  description: string;
  /**
   * A WorkflowDefinition with test models. Replace them by real models before production use.
   */
  definition: {
    [k: string]: unknown;
  };
  /**
   * A valid input for a first run.
   */
  input: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A page of the versions of a workflow, newest first.
 */
export interface WorkflowVersionList {
  /**
   * Entries of the page.
   */
  items: {
    /**
     * Number of the version.
     */
    version: number;
    /**
     * Time of creation.
     */
    createdAt: string;
    /**
     * Id of the member who created the version.
     */
    createdByUserId: string;
    [k: string]: unknown;
  }[];
  /**
   * Number of entries on all pages.
   */
  total: number;
  /**
   * Value applied to this page.
   */
  limit: number;
  /**
   * Value applied to this page.
   */
  offset: number;
  [k: string]: unknown;
}
/**
 * A created or updated workflow.
 */
export interface WorkflowWritten {
  /**
   * Id of the workflow.
   */
  id: string;
  /**
   * Latest version of the workflow.
   */
  version: number;
  /**
   * Name of the workflow.
   */
  name: string;
  [k: string]: unknown;
}
/**
 * A workflow with one version of its definition.
 */
export interface Workflow {
  /**
   * Id of the workflow.
   */
  id: string;
  /**
   * Id of the workspace.
   */
  workspaceId: string;
  /**
   * Name of the workflow.
   */
  name: string;
  /**
   * Description of the workflow.
   */
  description: string;
  /**
   * Latest version of the definition.
   */
  latestVersion: number;
  /**
   * True when the workflow can be run.
   */
  isActive: boolean;
  /**
   * Time of creation.
   */
  createdAt: string;
  /**
   * Time of the last change.
   */
  updatedAt: string;
  /**
   * Time of deletion; null when the workflow is not deleted.
   */
  deletedAt: string | null;
  /**
   * Id of the member who created the workflow.
   */
  createdByUserId: string;
  /**
   * Visibility. `private`: the creator, owners and admins. `workspace`: all members.
   */
  sharingScope: "private" | "workspace";
  /**
   * Permission of the workspace's members on a shared workflow.
   */
  sharePermission: "read" | "run" | "edit";
  /**
   * Version of the returned definition.
   */
  version: number;
  definition: WorkflowDefinition;
  [k: string]: unknown;
}
/**
 * Steps of a workflow with their inputs and outputs. Strings may contain CEL expressions between ${{ and }}. A string that is one expression keeps the type of its value; $${{ is a literal ${{. A step starts when all steps that its expressions name are done.
 */
export interface WorkflowDefinition {
  /**
   * Inputs of a run by name.
   */
  inputs?: {
    [k: string]: WorkflowInput;
  };
  /**
   * Steps, at most 100. Their order has no effect.
   *
   * @minItems 1
   * @maxItems 100
   */
  steps: WorkflowStep[];
  /**
   * Output of a run: an object whose values may contain expressions. Default: `{}`.
   */
  output?: {
    [k: string]: unknown;
  };
  /**
   * Retry of failed runs. Runs in the modes `sync` and `stream` have one attempt.
   */
  retry?: {
    /**
     * Maximum number of attempts, clamped to 1 to 5.
     */
    max_attempts: number;
  };
  /**
   * Maximum cost of a run in credits, with at most 9 decimal places, for runs whose request has no `max_credits`.
   */
  max_credits?: number;
  /**
   * Free-form data of the author. The service stores and returns it without effect.
   */
  metadata?: {
    [k: string]: unknown;
  };
}
/**
 * Declaration of an input.
 */
export interface WorkflowInput {
  /**
   * JSON type of the value.
   */
  type: "string" | "integer" | "number" | "boolean" | "array" | "object";
  /**
   * True when every run must contain the input. Default: false.
   */
  required?: boolean;
  /**
   * Value of runs without the input.
   */
  default?: {
    [k: string]: unknown;
  };
  /**
   * Description for readers.
   */
  description?: string;
}
/**
 * A step: a model call, a capability run or a workflow run.
 */
export interface WorkflowStep {
  /**
   * Id of the step, unique in the definition. Expressions name the step by it.
   */
  id: string;
  /**
   * `model`, `sub_pipeline`, or the id of a capability.
   */
  type: string;
  /**
   * Slug of the model. Required for the type `model`.
   */
  model?: string;
  /**
   * Id of the workflow to run. Required for the type `sub_pipeline`.
   */
  workflow_id?: string;
  /**
   * Version of that workflow. Default: the latest at the start of the run.
   */
  version?: number;
  /**
   * Request body of the model call without `model` and `stream`, or parameters of the capability.
   */
  params?: {
    [k: string]: unknown;
  };
  /**
   * Input of the capability or of the workflow to run.
   */
  input?: {
    [k: string]: unknown;
  };
  /**
   * Condition: one boolean expression or a boolean. The step is skipped when it is false.
   */
  if?: string | boolean;
  /**
   * A list, or one expression with a list value. The step runs once for each element, available as `item` with its `index`.
   *
   * @maxItems 1000
   */
  for_each?: string | unknown[];
  /**
   * Maximum number of list elements processed in parallel. Default: 4.
   */
  concurrency?: number;
  /**
   * Ids of steps that must be done first, in addition to those that expressions name.
   *
   * @maxItems 100
   */
  depends_on?: string[];
  /**
   * `continue`: the run continues and the output of the step is null. `fail`: the run fails. Default: `fail`.
   */
  on_error?: "fail" | "continue";
  /**
   * Retry of the failed step.
   */
  retry?: {
    /**
     * Maximum number of attempts, from 1 to 5.
     */
    max_attempts: number;
    /**
     * Delay between attempts in seconds. Default: 0.
     */
    delay_seconds?: number;
  };
  /**
   * Timeout of one attempt in seconds.
   */
  timeout_seconds?: number;
  /**
   * Free-form data of the author. The service stores and returns it without effect.
   */
  metadata?: {
    [k: string]: unknown;
  };
}
/**
 * The workspace and the usage of its limits.
 */
export interface Workspace {
  /**
   * Always `workspace`.
   */
  object: "workspace";
  /**
   * Id of the workspace.
   */
  id: string;
  /**
   * Name of the workspace.
   */
  name: string;
  /**
   * Time of creation.
   */
  created_at: string;
  /**
   * Members of a request's `metadata` that the usage of a call keeps.
   */
  tags: string[];
  /**
   * Calls in the last 60 seconds, including rejected calls and this one.
   */
  window: {
    /**
     * Length of the window in seconds: always 60.
     */
    seconds: 60;
    /**
     * Maximum number of calls for the requesting key; null: no limit.
     */
    limit: number | null;
    /**
     * Number of calls in the window.
     */
    used: number;
    [k: string]: unknown;
  };
  /**
   * Storage of files.
   */
  storage: {
    /**
     * Used bytes.
     */
    used_bytes: number;
    /**
     * Maximum number of bytes.
     */
    limit_bytes: number;
    [k: string]: unknown;
  };
  /**
   * End of the period in which a spent budget stops calls; null when no budget stops calls.
   */
  calls_stopped_until: string | null;
  bodies: BodySetting;
  /**
   * Storage of kept requests and responses. At the limit, further ones are not kept.
   */
  kept_bodies: {
    /**
     * Used bytes.
     */
    used_bytes: number;
    /**
     * Maximum number of bytes.
     */
    limit_bytes: number;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Usage and cost of one call.
 */
export interface UsageRecord {
  /**
   * Request id of the call (`x-request-id`).
   */
  request_id: string;
  /**
   * Id of the job.
   */
  job_id: string;
  /**
   * Kind of the call.
   */
  kind: "chat";
  /**
   * Slug of the model that served the call.
   */
  model: string;
  /**
   * Slug of the requested model; absent when it served the call.
   */
  requested_model?: string;
  /**
   * Result of the call. `lost`: the serving process crashed, and the delivered part was charged.
   */
  status: "succeeded" | "failed" | "cancelled" | "lost";
  /**
   * Amount by unit. Token types do not overlap.
   */
  units: {
    [k: string]: number;
  };
  /**
   * Credits charged.
   */
  credits: number;
  /**
   * Credits of the used units that were not charged, because they exceeded the hold or the balance; absent when there are none.
   */
  uncollected_credits?: number;
  /**
   * True when the provider reported no usable usage and the service counted the tokens.
   */
  estimated: boolean;
  /**
   * End of the call in Unix seconds.
   */
  created: number;
  [k: string]: unknown;
}

export type SchemaName = keyof SchemaTypes;

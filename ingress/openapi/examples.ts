/**
 * Examples of requests and successful responses in the OpenAPI document. Routes and kinds of calls that declare their own `example` are not
 * listed here.
 */
import chat from "./examples/chat.json" with { type: "json" };
import files from "./examples/files.json" with { type: "json" };
import media from "./examples/media.json" with { type: "json" };
import models from "./examples/models.json" with { type: "json" };
import notifications from "./examples/notifications.json" with { type: "json" };
import operatorWork from "./examples/operator-work.json" with { type: "json" };
import operator from "./examples/operator.json" with { type: "json" };
import service from "./examples/service.json" with { type: "json" };
import usage from "./examples/usage.json" with { type: "json" };
import workflows from "./examples/workflows.json" with { type: "json" };
import workspace from "./examples/workspace.json" with { type: "json" };

export interface OperationExamples {
  readonly request?: object;
  /** Example responses by status: the JSON body, or the data of one event when the response is only an event stream. */
  readonly responses?: Readonly<Record<string, unknown>>;
}

/** Examples by operationId. */
export const EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  ...chat,
  ...media,
  ...models,
  ...files,
  ...workflows,
  ...workspace,
  ...usage,
  ...notifications,
  ...operator,
  ...operatorWork,
  ...service,
};

/** Settings of the demonstration: the service and models to call, and the folder for results. */
export interface Plan {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly key: string;
  readonly out: string;
  /** Other models than the sandbox's, by the call's name. */
  readonly models: Readonly<Record<string, string>>;
}

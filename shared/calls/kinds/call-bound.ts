/** The most a call can use, known before it runs: what its hold is made of. */
export interface CallBound {
  readonly holdNano: bigint;
  /** 0 for calls that write no tokens. */
  readonly outputTokensMax: number;
  /** True for a chat call that set no output limit of its own: its settle may take more than the hold. */
  readonly mayExceed: boolean;
  /** Most tokens the call can use, in and out. */
  readonly tokensMax: number;
}

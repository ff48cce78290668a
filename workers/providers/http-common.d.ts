/** Node's llhttp as its own client uses it; neither Node's nor Bun's types have it. */
declare module "node:_http_common" {
  type Head = [
    major: number,
    minor: number,
    headers: string[] | undefined,
    method: undefined,
    url: undefined,
    status: number,
    reason: string,
    isUpgrade: boolean,
    isKept: boolean,
  ];

  export class HTTPParser {
    static readonly RESPONSE: number;
    static readonly kOnMessageBegin: 0;
    static readonly kOnHeaders: 1;
    static readonly kOnHeadersComplete: 2;
    static readonly kOnBody: 3;
    static readonly kOnMessageComplete: 4;
    0: () => void;
    /** Headers beyond 32, and trailers: names and values in turns. */
    1: (pairs: string[]) => void;
    2: (...head: Head) => number;
    3: (piece: Buffer<ArrayBuffer>) => void;
    4: () => void;
    initialize(kind: number, resource: object, headBytesMax: number): void;
    execute(bytes: Buffer): number | Error;
    /** The connection has ended. */
    finish(): Error | undefined;
  }
}

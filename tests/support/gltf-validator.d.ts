/** Types of the functions of Khronos' validator that the tests use. The package has no types. */
declare module "gltf-validator" {
  export interface Report {
    readonly mimeType: string;
    readonly issues: {
      readonly numErrors: number;
      readonly messages: readonly { readonly code: string; readonly message: string; readonly severity: number }[];
    };
    readonly info: { readonly version: string; readonly totalTriangleCount: number; readonly materialCount: number };
  }
  export function validateBytes(
    bytes: Uint8Array,
    options?: { readonly maxIssues?: number; readonly format?: "glb" | "gltf" },
  ): Promise<Report>;
}
